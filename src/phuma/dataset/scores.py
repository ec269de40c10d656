"""Summarise how well clips went on a robot: the five metrics, what is reported beside them, and the worst clips."""

from __future__ import annotations

from collections import Counter
from typing import Any

from phuma.core.dataset_summary import Distribution, Histogram, RobotSummary, WorstClip
from phuma.core.metric import Metric
from phuma.core.robot_metrics import BESIDE, FIVE, HUMAN, MAIN, flag_word
from phuma.dataset.binning import counted, percent_bins
from phuma.dataset.dataset import Dataset
from phuma.dataset.manifest import ask

KEPT = "(SELECT * FROM manifest WHERE kept AND robot = ?)"
PERFECT = 99.95
"""Percent from which on a score is shown as 100.0"""


def robot_summary(dataset: Dataset, robot: str, worst: int) -> RobotSummary:
    """Return everything about the kept clips of one robot."""
    five = {metric.name: distribution(dataset, robot, metric) for metric in MAIN}
    histograms = (histogram(dataset, robot, about) for about in five.values() if about is not None)
    beside = (distribution(dataset, robot, metric) for metric in (*BESIDE, *HUMAN))
    flags = [own for (own,) in _ask(dataset, robot, f"SELECT flags FROM {KEPT} WHERE len(flags) > 0")]
    words = Counter(word for own in flags for word in {flag_word(flag) for flag in own})
    return RobotSummary(
        name=robot,
        clips=_ask(dataset, robot, f"SELECT count(*) FROM {KEPT}")[0][0],
        five={name: found.mean if found else None for name, found in five.items()},
        histograms=tuple(histograms),
        beside=tuple(s for s in beside if s is not None),
        worst={metric.name: worst_clips(dataset, robot, metric, worst) for metric in MAIN},
        flags=tuple(sorted(words.items(), key=lambda item: (-item[1], item[0]))),
        flagged=len(flags),
        known={name: found.clips if found else 0 for name, found in five.items()},
    )


def distribution(dataset: Dataset, robot: str, metric: Metric) -> Distribution | None:
    """Return the mean over all samples and quantiles over clips; None where no clip has the number."""
    tail, worst = (0.95, "max") if metric.better == "low" else (0.05, "min")
    name, weight = metric.name, metric.weight
    sql = f"""SELECT sum({name} * {weight}) / nullif(sum({weight}), 0), quantile_cont({name}, [0.5, {tail}]),
        {worst}({name}), count(*) FROM {KEPT} WHERE {name} IS NOT NULL"""
    mean, quantiles, *rest = _ask(dataset, robot, sql)[0]
    return None if mean is None else Distribution(metric, mean, *quantiles, *rest)


def histogram(dataset: Dataset, robot: str, about: Distribution) -> Histogram:
    """Return the bars of one of the five metrics: the same bars for all robots, so that pictures can be compared."""
    metric, name = about.metric, about.metric.name
    rows = dataset.query(f"SELECT quantile_cont({name}, 0.02) FROM manifest WHERE kept AND {name} IS NOT NULL")[1]
    bins = percent_bins(rows[0][0])
    counts = counted(dataset, bins, name, KEPT, "'kept'", [robot])
    return Histogram(
        metric, bins.edges, counts, about.worst < bins.first, False,
        median=about.median, tail=about.tail, worst=about.worst,
    )  # fmt: skip


def worst_clips(dataset: Dataset, robot: str, metric: Metric, count: int) -> tuple[WorstClip, ...]:
    """Return the worst clips by one of the five metrics: the lowest first, of equal ones by id."""
    columns = "clip, robot, recording, start, \"end\", coalesce(category, '')"
    sql = f"""SELECT {columns}, {metric.name}, {", ".join(FIVE)} FROM {KEPT}
        WHERE {metric.name} < {PERFECT} ORDER BY {metric.name}, clip LIMIT {int(count)}"""
    rows = [[*row[:7], dict(zip(FIVE, row[7:]))] for row in _ask(dataset, robot, sql)]
    return tuple(WorstClip(*row) for row in rows)


def _ask(dataset: Dataset, robot: str, sql: str) -> list[tuple[Any, ...]]:
    return ask(dataset.database, sql, [robot])[1]

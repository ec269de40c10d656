"""How well clips went on a robot: the five metrics, what stands beside them, and the worst clips."""

from __future__ import annotations

from typing import Any, NamedTuple

from phuma.dataset.binning import counted, percent_bins
from phuma.dataset.dataset import Dataset
from phuma.dataset.manifest import ask
from phuma.summary import Histogram, RobotSummary, Spread, WorstClip

KEPT = "(SELECT * FROM manifest WHERE kept AND robot = ?)"
PERFECT = 99.95
"""percent: shown as 100.0"""


class Score(NamedTuple):
    """A column of the retargeting report."""

    name: str
    label: str
    unit: str = "%"
    worse: str = "low"
    """the end of the scale at which a motion is bad"""
    weight: str = "frames"
    """the column that says on how many samples it was measured"""


FIVE = (
    Score("fidelity", "motion fidelity"),
    Score("feasibility", "joint feasibility"),
    Score("non_floating", "non-floating", weight="contact_samples"),
    Score("non_penetration", "non-penetration", weight="contact_samples"),
    Score("non_skating", "non-skating", weight="step_samples"),
)
BESIDE = (
    Score("position_error_cm", "distance to the human's joints", "cm", "high"),
    Score("direction_error_deg", "angle to the human's limbs", "°", "high"),
    Score("fidelity_aligned", "fidelity, pelvis on pelvis"),
    Score("fidelity_every", "fidelity of every joint at once"),
    Score("non_penetration_all", "non-penetration, also out of contact"),
    Score("height_mm_p99", "99th percentile of sole heights in contact", "mm", "high"),
    Score("slip_cm_s_median", "median slip in contact", "cm/s", "high"),
    Score("slip_cm_s_p99", "99th percentile of slip in contact", "cm/s", "high"),
    Score("stance_roll_deg", "sideways lean of standing soles", "°", "high"),
    Score("self_penetration", "frames with limbs over 1 cm inside each other", "%", "high"),
    Score("torque_peak", "greatest torque, of the motor's limit", "%", "high"),
    Score("torque_over", "frames that ask more than the motors have", "%", "high"),
    Score("residual_contact", "force that nothing supplies, on the ground", "body weights", "high"),
    Score("residual_flight", "force that nothing supplies, in the air", "body weights", "high"),
    Score("joint_jerk", "joint jerk", "rad/s³", "high"),
    Score("human_non_floating", "the human's own non-floating", weight="contact_samples"),
    Score("human_non_penetration", "the human's own non-penetration", weight="contact_samples"),
    Score("human_non_skating", "the human's own non-skating", weight="step_samples"),
)


def robot_summary(dataset: Dataset, robot: str, worst: int) -> RobotSummary:
    """Everything about the kept clips of one robot."""
    histograms = (histogram(dataset, robot, score) for score in FIVE)
    spreads = (spread(dataset, robot, score) for score in BESIDE)
    remark = "regexp_replace(one, '^([a-z_]+) [0-9.]+ %$', 'low \\1')"  # alike, whatever the number
    each = f"(SELECT unnest(flags) AS one FROM {KEPT})"
    flags = _ask(dataset, robot, f"SELECT {remark} AS flag, count(*) AS n FROM {each} GROUP BY 1 ORDER BY n DESC, flag")
    five = {score.name: spread(dataset, robot, score) for score in FIVE}
    return RobotSummary(
        name=robot,
        clips=_ask(dataset, robot, f"SELECT count(*) FROM {KEPT}")[0][0],
        five={name: found.mean if found else None for name, found in five.items()},
        histograms=tuple(h for h in histograms if h is not None),
        beside=tuple(s for s in spreads if s is not None),
        worst={score.name: worst_clips(dataset, robot, score, worst) for score in FIVE},
        flags=tuple((str(flag), int(n)) for flag, n in flags),
    )


def spread(dataset: Dataset, robot: str, score: Score) -> Spread | None:
    """Mean over all samples and quantiles over clips; None where no clip has the number."""
    tail, worst = (0.95, "max") if score.worse == "high" else (0.05, "min")
    name, weight = score.name, score.weight
    sql = f"""SELECT sum({name} * {weight}) / nullif(sum({weight}), 0), median({name}), quantile_cont({name}, {tail}),
        {worst}({name}) FROM {KEPT} WHERE {name} IS NOT NULL"""
    mean, *rest = _ask(dataset, robot, sql)[0]
    if rest[0] is None:
        return None
    # Where nothing ever stands, nothing fails.
    return Spread(name, score.label, score.unit, 100.0 if mean is None else mean, *rest)


def histogram(dataset: Dataset, robot: str, score: Score) -> Histogram | None:
    """One of the five; the same bars for all robots, so that pictures can be compared."""
    name = score.name
    rows = dataset.query(f"SELECT quantile_cont({name}, 0.02) FROM manifest WHERE kept AND {name} IS NOT NULL")[1]
    about = spread(dataset, robot, score)
    if rows[0][0] is None or about is None:
        return None
    bins = percent_bins(rows[0][0])
    counts = counted(dataset, bins, name, KEPT, "'kept'", [robot])
    return Histogram(
        name, score.label, "%", bins.edges, counts, about.worst < bins.first, False,
        median=about.median, tail=about.tail, worst=about.worst, bound="above",
    )  # fmt: skip


def worst_clips(dataset: Dataset, robot: str, score: Score, count: int) -> tuple[WorstClip, ...]:
    """The lowest first; of equal ones by id."""
    columns = "clip, robot, recording, start, \"end\", coalesce(category, '')"
    sql = f"""SELECT {columns}, {score.name}, {", ".join(s.name for s in FIVE)} FROM {KEPT}
        WHERE {score.name} < {PERFECT} ORDER BY {score.name}, clip LIMIT {int(count)}"""
    names = [s.name for s in FIVE]
    rows = [[*row[:7], dict(zip(names, row[7:]))] for row in _ask(dataset, robot, sql)]
    return tuple(WorstClip(*row) for row in rows)


def _ask(dataset: Dataset, robot: str, sql: str) -> list[tuple[Any, ...]]:
    return ask(dataset.database, sql, [robot])[1]

"""What each filter of curation does to the clips, and how their values are spread."""

from __future__ import annotations

from typing import NamedTuple

from phuma.dataset.binning import Bins, bins_around, counted
from phuma.dataset.dataset import Dataset
from phuma.dataset.rows import JUDGED
from phuma.summary import Bound, Filter, Histogram


class Rule(NamedTuple):
    """A filter, by the column of its metric; its limit is in the column `NAME_limit`."""

    name: str
    bound: Bound
    unit: str
    label: str

    @property
    def passed(self) -> str:
        """SQL. What was not measured is not held against a clip."""
        sign = "<" if self.bound == "below" else ">"
        return f"coalesce({self.name} {sign} {self.name}_limit, true)"


RULES = (
    Rule("root_jerk", "below", "m/s³", "root jerk"),
    Rule("contact_score", "above", "", "foot contact score"),
    Rule("pelvis_min", "above", "m", "lowest pelvis height"),
    Rule("pelvis_max", "below", "m", "greatest pelvis height"),
    Rule("pelvis_support", "below", "m", "pelvis to base of support"),
    Rule("spine_support", "below", "m", "spine1 to base of support"),
    Rule("helping_force", "below", "body weights", "helping force"),
    Rule("sole_slide", "below", "m/s", "sliding of loaded soles"),
    Rule("ground_drift", "below", "m/s", "drift of the ground"),
    Rule("ground_tilt", "below", "°", "tilt of the ground"),
    Rule("shake", "below", "mm", "shake of the pelvis"),
    Rule("duration", "above", "s", "length of the clip"),
)
"""Those of preset `paper` in its order (jitter, contact, height, support), those of preset `dynamic`, and length, which
is only measured of recordings that are too short"""


def filters(dataset: Dataset) -> tuple[Filter, ...]:
    """Each filter after those before it, each by itself, and what it alone rejects; those that measured anything."""
    rules = [r for r in RULES if limits_of(dataset, r)]
    if not rules:
        return ()
    parts = []
    for i, rule in enumerate(rules):
        others = [r.passed for r in rules if r is not rule]
        parts += [
            " AND ".join(r.passed for r in rules[: i + 1]),
            f"NOT {rule.passed}",
            " AND ".join([f"NOT {rule.passed}", *others]),
        ]
    columns = ", ".join(f"count(*) FILTER ({part})" for part in parts)
    counts = dataset.query(f"SELECT {columns} FROM {JUDGED}")[1][0]
    return tuple(
        Filter(r.name, r.label, r.bound, limits_of(dataset, r), r.unit, *counts[3 * i : 3 * i + 3])
        for i, r in enumerate(rules)
    )


def limits_of(dataset: Dataset, rule: Rule) -> tuple[float, ...]:
    """The thresholds that clips were held against."""
    sql = f"SELECT DISTINCT {rule.name}_limit FROM {JUDGED} WHERE {rule.name} IS NOT NULL"
    return tuple(sorted(row[0] for row in dataset.query(sql)[1] if row[0] is not None))


def curation_histograms(dataset: Dataset) -> tuple[Histogram, ...]:
    """The filters' metrics: clips that were kept, that another filter rejected, and that this one rejected."""
    rules = [r for r in RULES if r.name != "duration"]  # measured on the rejected alone
    return tuple(_histogram(dataset, r, limits[0]) for r in rules if (limits := limits_of(dataset, r)))


def _histogram(dataset: Dataset, rule: Rule, limit: float) -> Histogram:
    name = rule.name
    tail = 0.95 if rule.bound == "below" else 0.05
    worst = "max" if rule.bound == "below" else "min"
    sql = f"""SELECT min({name}), max({name}), quantile_cont({name}, [0.02, 0.98]), median({name}),
        quantile_cont({name}, {tail}), {worst}({name}) FROM {JUDGED}"""
    low, high, (q02, q98), median, tail, worst = dataset.query(sql)[1][0]
    bins = bins_around(limit, q02, q98)
    fate = f"CASE WHEN NOT {rule.passed} THEN 'this' WHEN kept THEN 'kept' ELSE 'other' END"
    counts = counted(dataset, bins, name, JUDGED, fate)
    none = (0,) * bins.count
    return Histogram(
        name, rule.label, rule.unit, bins.edges, {k: counts.get(k, none) for k in ("kept", "other", "this")},
        *_open(bins, low, high), limit, rule.bound, median, tail, worst,
    )  # fmt: skip


def _open(bins: Bins, low: float, high: float) -> tuple[bool, bool]:
    return low < bins.edges[0], high > bins.edges[-1]

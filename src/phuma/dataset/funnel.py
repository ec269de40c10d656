"""Count what each filter of curation does to the clips, and how their values are distributed."""

from __future__ import annotations

from phuma.core.curation_metrics import CURATION, DURATION
from phuma.core.dataset_summary import Filter, Histogram
from phuma.core.metric import Metric
from phuma.dataset.binning import Bins, bins_around, counted
from phuma.dataset.dataset import Dataset
from phuma.dataset.rows import judged


def passed(metric: Metric) -> str:
    """Return the SQL of whether a row passes a filter. What was not measured is not held against a clip."""
    return f"coalesce({metric.name} {metric.sign} {metric.name}_limit, true)"


def filters(dataset: Dataset) -> tuple[Filter, ...]:
    """Return each filter that measured anything: after those before it, by itself, and what it alone rejects."""
    metrics = [metric for metric in CURATION if limits_of(dataset, metric)]
    if not metrics:
        return ()
    parts = []
    for i, metric in enumerate(metrics):
        others = [passed(m) for m in metrics if m is not metric]
        parts += [
            " AND ".join(passed(m) for m in metrics[: i + 1]),
            f"NOT {passed(metric)}",
            " AND ".join([f"NOT {passed(metric)}", *others]),
        ]
    columns = ", ".join(f"count(*) FILTER ({part})" for part in parts)
    counts = dataset.query(f"SELECT {columns} FROM {judged(dataset)}")[1][0]
    return tuple(
        Filter(metric, limits_of(dataset, metric), *counts[3 * i : 3 * i + 3]) for i, metric in enumerate(metrics)
    )


def limits_of(dataset: Dataset, metric: Metric) -> tuple[float, ...]:
    """Return the thresholds that clips were held against, ascending."""
    sql = f"SELECT DISTINCT {metric.name}_limit FROM {judged(dataset)} WHERE {metric.name} IS NOT NULL"
    return tuple(sorted(row[0] for row in dataset.query(sql)[1] if row[0] is not None))


def curation_histograms(dataset: Dataset) -> tuple[Histogram, ...]:
    """Return, for each filter, how many clips were kept, rejected by another filter, and rejected by this one."""
    metrics = [metric for metric in CURATION if metric is not DURATION]  # which is measured on the rejected alone
    return tuple(_histogram(dataset, metric, limits[0]) for metric in metrics if (limits := limits_of(dataset, metric)))


def _histogram(dataset: Dataset, metric: Metric, limit: float) -> Histogram:
    name = metric.name
    tail, worst = (0.95, "max") if metric.better == "low" else (0.05, "min")
    sql = f"""SELECT min({name}), max({name}), quantile_cont({name}, [0.02, 0.98, 0.5, {tail}]), {worst}({name})
        FROM {judged(dataset)}"""
    low, high, (q02, q98, median, tail), worst = dataset.query(sql)[1][0]
    bins = bins_around(limit, q02, q98)
    fate = f"CASE WHEN NOT {passed(metric)} THEN 'this' WHEN kept THEN 'kept' ELSE 'other' END"
    counts = counted(dataset, bins, name, judged(dataset), fate)
    none = (0,) * bins.count
    return Histogram(
        metric, bins.edges, {k: counts.get(k, none) for k in ("kept", "other", "this")},
        *_open(bins, low, high), limit, median, tail, worst,
    )  # fmt: skip


def _open(bins: Bins, low: float, high: float) -> tuple[bool, bool]:
    return low < bins.edges[0], high > bins.edges[-1]

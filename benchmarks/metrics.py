"""Write docs/tables/metrics.md: every metric as it is declared, with its column, unit, limit and what it is."""

from __future__ import annotations

from collections.abc import Sequence

from phuma.core.curation_metrics import DURATION, DYNAMIC, MENDING, PAPER
from phuma.core.metric import Metric, Rejection, quantity
from phuma.core.robot_metrics import BESIDE, HUMAN, MAIN
from tables import TABLES

FILTERS = {
    "Preset `paper`": PAPER,
    "Preset `dynamic`": DYNAMIC,
    "Mending: sizes of what was taken out": MENDING,
    "Both, only of what is too short for a clip": (DURATION,),
}
SCORES = {
    "The five that matter most": MAIN,
    "Beside them": BESIDE,
    "The source human's own scores, by the same definitions": HUMAN,
}


def page() -> str:
    """Return the page in Markdown; it depends on the declarations alone."""
    parts = [
        "# Metrics",
        "Each is a column of a dataset's manifest. They are declared in `core/curation_metrics.py` and "
        "`core/robot_metrics.py`; `python benchmarks/metrics.py` writes this page.",
        "## Of a clip: the filters of curation",
        "Each has its limit beside it, in a column with `_limit` behind its name. A clip is kept where every value is "
        "on the good side of its limit. Columns of the other preset are null.",
    ]
    for title, metrics in FILTERS.items():
        parts += [f"### {title}", _filters(metrics)]
    parts += [
        "## Of a robot's motion",
        "Motions are put together as if they were one long one: by the count in the last column, over those in which "
        "the metric is known. It is null, which is unknown, where there is nothing to measure it on. A motion is "
        "flagged where a value is not what it needs to be: [how many are](flags.md).",
    ]
    for title, metrics in SCORES.items():
        parts += [f"### {title}", _scores(metrics)]
    return "\n\n".join(parts) + "\n"


def _filters(metrics: Sequence[Metric]) -> str:
    lines = ["| column | unit | needs | what | a rejection in words |", "| --- | --- | --- | --- | --- |"]
    for m in metrics:
        needs = f"{m.sign} {m.limit:g}" if m.limit is not None else f"{m.sign} the configured length"
        said = _said(m.rejection) if m.rejection else ""
        lines.append(f"| `{m.name}`, `{m.name}_limit` | {m.unit or '0 to 1'} | {needs} | {m.about} | {said} |")
    return "\n".join(lines)


def _said(rejection: Rejection) -> str:
    return rejection.text.format(value=quantity("...", rejection.unit))


def _scores(metrics: Sequence[Metric]) -> str:
    head = ["column", "unit", "better", "needs", "what", "a flag in words", "weighed by"]
    lines = [f"| {' | '.join(head)} |", "|" + " --- |" * len(head)]
    for m in metrics:
        needs = "" if m.limit is None else f"{m.sign} {m.limit:g}"
        said = f"{m.flag or m.name}: {_said(m.rejection)}" if m.rejection else ""
        lines.append(f"| `{m.name}` | {m.unit} | {m.better} | {needs} | {m.about} | {said} | `{m.weight}` |")
    return "\n".join(lines)


if __name__ == "__main__":
    (TABLES / "metrics.md").write_text(page(), encoding="utf-8")

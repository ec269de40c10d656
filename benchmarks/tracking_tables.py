"""The tables of docs/tables/tracking_*.md, from the results of tracking.py."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tables import markdown, save
from tracking import JUDGED, KINDS, library_of_motions, studies

Rows = dict[str, list[dict[str, Any]]]
LAST = 3
"""Judgements that a figure is the mean of where trainings are compared: single ones jump"""


def write(results: Rows) -> None:
    """All tables for which there are results of finished trainings."""
    by_study: dict[str, Rows] = {}
    for training in (t for study in studies().values() for t in study):
        rows = results.get(training.key)
        if rows and rows[-1]["part"] == JUDGED:
            by_study.setdefault(training.study, {})[training.key] = rows
    for study, table in TABLES.items():
        if study in by_study:
            table(by_study[study])


def of_types(results: Rows) -> None:
    head = [
        "type",
        "seed",
        "steps, M",
        "CPU s",
        "progress",
        "tracked",
        "SR@0.5",
        "SR@0.15",
        "at 10 ms: SR@0.5",
        "global, mm",
        "local, mm",
        "100 % first at, M",
    ]
    rows = []
    for key, parts in sorted(results.items(), key=lambda item: (KINDS.index(item[0].split("/")[1]), item[0])):
        last = parts[-1]
        total, coarse = last["seen"]["total"], last.get("seen_training_physics", {}).get("total")
        first = next((p["steps"] / 1e6 for p in parts if p["seen"]["total"]["success_0.5"] == 100), None)
        rows.append([
            *key.split("/")[1:], f"{last['steps'] / 1e6:.2f}", round(last["cpu_seconds"]),
            *(percent(total[n]) for n in ("progress", "tracked", "success_0.5", "success_0.15")),
            percent(coarse["success_0.5"]) if coarse else "-",
            number(total["mpjpe_global_mm"]), number(total["mpjpe_local_mm"]), f"{first:.1f}" if first else "-",
        ])  # fmt: skip
    save("tracking_types", "One policy a type of motion", markdown(head, rows), NOTE.format(32))


def compared(name: str, title: str, label: str, groups: Sequence[str], types: bool = False) -> Callable[[Rows], None]:
    """What writes the tables of a comparison: in total, and by type of motion if wanted."""

    def write_tables(results: Rows) -> None:
        parts = [comparison(results, label, groups), SEEDS]
        if types:
            parts += ["SR@0.5 and progress by type of motion:", by_type(results, label, groups)]
        save(name, title, *parts)

    return write_tables


def of_methods(results: Rows) -> None:
    """The comparison, and what each way of retargeting asks of the robot."""
    names = "fidelity", "feasibility", "non_floating", "non_penetration", "non_skating", "residual_contact"
    rows = []
    for kind in by_kind(results):
        motion, _, method = kind.partition(" by ")
        _, made = library_of_motions(((motion, 1),), method)
        metrics = made[f"{motion}_1"][0].report["metrics"]
        rows.append([kind, *(f"{metrics[name]:.1f}" for name in names[:-1]), f"{metrics[names[-1]]:.2f}"])
    head = ["motion and method", *(name.replace("_", "-") for name in names[:-1]), "residual on the ground"]
    save(
        "tracking_methods",
        "Retargeting judged by tracking",
        comparison(results, "motion and method", ("seen",)),
        SEEDS,
        ASKED,
        markdown(head, rows),
    )


def comparison(results: Rows, label: str, groups: Sequence[str]) -> str:
    """A table with a row a kind of training: means over seeds and over the last judgements of each."""
    errors = "mpjpe_global_mm", "mpjpe_local_mm"
    head = [label, "judged on", "seeds", "rollouts", "steps, M", "SR@0.5", "of seeds", "SR@0.15", "progress"]
    rows = []
    for kind, own in by_kind(results).items():
        for group in groups:
            totals = [[p[group]["total"] for p in parts[-LAST:]] for parts in own]
            by_seed = [mean_of(seed, "success_0.5") for seed in totals]
            steps = min(parts[-1]["steps"] for parts in own) / 1e6
            rows.append([
                kind, group, len(own), totals[0][0]["rollouts"], f"{steps:.2f}",
                interval(by_seed), " ".join(f"{s:.0f}" for s in by_seed),
                *(interval([mean_of(seed, n) for seed in totals]) for n in ("success_0.15", "progress", *errors)),
            ])  # fmt: skip
    return markdown([*head, "global, mm", "local, mm"], rows)


def by_type(results: Rows, label: str, groups: Sequence[str]) -> str:
    """SR@0.5 / progress of a kind of training by type of motion."""
    motions = next(iter(results.values()))[-1][groups[0]]["motions"]
    types = list(dict.fromkeys(sorted(m.split("_")[0] for m in motions)))
    rows = []
    for kind, own in by_kind(results).items():
        for group in groups:
            last = [p[group]["motions"] for parts in own for p in parts[-LAST:]]
            found = [[v for judged in last for m, v in judged.items() if m.split("_")[0] == t] for t in types]
            pairs = [[mean_of(values, n) for n in ("success_0.5", "progress")] for values in found]
            rows.append([kind, group, *(f"{success:.0f} / {progress:.0f}" for success, progress in pairs)])
    return markdown([label, "judged on", *types], rows)


def by_kind(results: Rows) -> dict[str, list[list[dict[str, Any]]]]:
    """Trainings of several seeds together."""
    out: dict[str, list[list[dict[str, Any]]]] = {}
    for key, parts in results.items():
        out.setdefault(key.split("/")[1], []).append(parts)
    return out


def mean_of(totals: list[dict[str, Any]], name: str) -> float:
    values = [t[name] for t in totals if t[name] is not None]
    return float(np.mean(values)) if values else float("nan")


def interval(values: list[float]) -> str:
    """Mean over seeds with twice its standard error."""
    known = [v for v in values if np.isfinite(v)]
    if not known:
        return "-"
    if len(known) == 1:
        return f"{known[0]:.0f}"
    return f"{np.mean(known):.0f} ± {2 * np.std(known, ddof=1) / np.sqrt(len(known)):.0f}"


def percent(value: float) -> str:
    return f"{value:.0f}"


def number(value: float | None) -> str:
    return "-" if value is None else f"{value:.0f}"


NOTE = (
    "Shares in percent of {} rollouts, from the motion's first frame with a first state a fifth of the paper's ranges "
    "off; judged at 5 ms with all collision shapes, trained at 10 ms. Errors are of successful rollouts (0.5 m). Steps "
    "are environment steps, CPU seconds those of one thread."
)
SEEDS = (
    f"Means over seeds of the mean over the last {LAST} of ten judgements, ± twice the standard error over seeds; "
    "shares in percent. Judged at 5 ms with all collision shapes. Errors are of successful rollouts (0.5 m)."
)
ASKED = (
    "What each way asks of the robot: the metrics of retargeting in percent, and the mean unactuated root residual "
    "while a foot is on the ground, in body weights. Errors above are against that motion, not against "
    "the person."
)
TABLES: dict[str, Callable[[Rows], None]] = {
    "types": of_types,
    "many": compared(
        "tracking_many",
        "One policy for sixteen motions, with and without the future",
        "policy",
        ("seen", "unseen"),
        True,
    ),
    "methods": of_methods,
    "divergence": compared(
        "tracking_divergence", "How far the policy may change in an update", "divergence", ("seen",)
    ),
    "disturbed": compared(
        "tracking_disturbed", "Trained with and without randomization", "training", ("seen", "disturbed")
    ),
}

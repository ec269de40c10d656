"""Format the metrics of many robot motions as lines for a terminal: the five, what physics says, and the flags."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from phuma.cli.table import number
from phuma.core.metric import quantity
from phuma.core.robot_metrics import FIVE, LEAP, ROBOT_METRICS, flag_word
from phuma.retargeting.measure import combine, known_in

RATIO = "ankle_speed_ratio"
PHYSICAL = ("torque_over", "residual_contact")
"""Metrics that are shown below the five: a motion can have those at 100 % and still be impossible"""


def score_lines(scores: Sequence[dict[str, Any]], flags: Sequence[Sequence[str]]) -> list[str]:
    """Return lines of the metrics of motions, as of one long one, and of the flags that they have."""
    total, known = combine(scores), known_in(scores)
    lines = []
    for name in (n for n in (*FIVE, *PHYSICAL) if n in total):
        some = f", known in {known[name]} of {len(scores)}" if known[name] < len(scores) and name in FIVE else ""
        unit = "" if total[name] is None else ROBOT_METRICS[name].unit
        shown = quantity(f"{score(name, total[name]):>7}", unit)
        lines.append(f"  {name.replace('_', '-'):16}{shown}{some}")
    leaps = flag_counts(flags).get(LEAP, 0)
    if known.get(RATIO):
        lines.append(f"  {'leaps':16}{leaps:7} of {known[RATIO]}")
    return [*lines, flag_line(flags)]


def score(name: str, value: float | None) -> str:
    """Return the value of a metric: percent with two places, forces with four, as a hundredth of a weight is much."""
    return number(value, 4 if ROBOT_METRICS[name].unit == "body weights" else 2)


def flag_line(flags: Sequence[Sequence[str]]) -> str:
    """Return a line of how many motions are flagged, and for what."""
    said = ", ".join(f"{word} {n}" for word, n in flag_counts(flags).items())
    return f"  {'flagged':16}{sum(map(bool, flags)):7} of {len(flags)}{f': {said}' if said else ''}"


def flag_counts(flags: Sequence[Sequence[str]]) -> dict[str, int]:
    """Return in how many motions each flag is, by the word that it begins with, the commonest first."""
    counts = Counter(word for own in flags for word in {flag_word(flag) for flag in own})
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def unknown_lines(known: Mapping[str, int], clips: int) -> list[str]:
    """Return a line for each of the five metrics that is not known in all clips, and a mean over the others."""
    return [
        f"{name.replace('_', '-')} is over the {known[name]} of {clips} clips in which it is known"
        for name in FIVE
        if known.get(name, clips) < clips
    ]

"""What is said of the clips of a library: how many they are, and which are left out and why."""

from __future__ import annotations

from collections import Counter

from phuma.core.words import harmless
from phuma.learning.motions.library import MotionLibrary
from phuma.robots.locked_motion import MUCH, REMEDY, loss_words
from phuma.sim.model import CONTROL_RATE

SHOWN = 5
"""Clips that are named per reason for which they are left out"""


def described(library: MotionLibrary) -> list[str]:
    """Return lines on the clips of a library, and on those that are left out and why."""
    seconds = library.frames / CONTROL_RATE
    lines = [f"Clips of {library.robot.name}: {len(library)}, {seconds / 60:.1f} minutes"]
    lines += lost_lines(library)
    if library.left_out:
        lines.append(f"Left out: {len(library.left_out)} of {len(library) + len(library.left_out)}")
        kinds = Counter(kind_of(reason) for _, reason in library.left_out)
        for kind, count in kinds.most_common():
            own = [(name, reason) for name, reason in library.left_out if kind_of(reason) == kind]
            lines += [harmless(f"  {name}: {reason}") for name, reason in own[:SHOWN]]
            if count > SHOWN:
                lines.append(harmless(f"  ... and {count - SHOWN} more that {kind}"))
    return lines


def lost_lines(library: MotionLibrary) -> list[str]:
    """Return lines on the clips of a free robot that use what is locked, the worst first."""
    most = {name: max(lost.values()) for name in library.names if (lost := library.lost.get(name))}
    if not most:
        return []
    much = sorted((name for name, angle in most.items() if angle >= MUCH), key=lambda name: -most[name])
    lines = [f"Made with the locked joints free: {len(most)} clips; {len(much)} use them by {MUCH:g} degrees or more"]
    lines += [harmless(f"  {name}: {loss_words(library.lost[name], MUCH)}") for name in much[:SHOWN]]
    if much:
        lines.append(f"  {REMEDY} {library.robot.name}")
    return lines


def kind_of(reason: str) -> str:
    """Return the words of a reason without its numbers."""
    return " ".join(word for word in reason.split(":")[0].split() if not any(c.isdigit() for c in word))

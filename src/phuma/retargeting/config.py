"""Methods of the PhySINK family and how they are solved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum


class Loss(Enum):
    """The losses of the PhySINK family; `objective.py` lists the terms of each."""

    FIDELITY = "fidelity"
    """Follow the human, smoothly"""
    FEASIBILITY = "feasibility"
    """Joint and speed limits"""
    GROUND = "ground"
    """Soles on the ground while they stand, never below it, not leaning sideways"""
    SKATE = "skate"
    """Soles at rest while they stand"""
    COLLISION = "collision"
    """Links apart from each other"""
    DYNAMICS = "dynamics"
    """Forces that the ground can give: a pass of its own after the others"""


_SINK = frozenset({Loss.FIDELITY})
_FEASIBILITY = _SINK | {Loss.FEASIBILITY}
_GROUND = _FEASIBILITY | {Loss.GROUND}
_PHYSINK = _GROUND | {Loss.SKATE}

FAMILY: Mapping[str, frozenset[Loss]] = {
    "sink": _SINK,
    "sink+feasibility": _FEASIBILITY,
    "sink+ground": _GROUND,
    "physink": _PHYSINK,
    "physink+collision": _PHYSINK | {Loss.COLLISION},
    "physink+dynamics": _PHYSINK | {Loss.COLLISION, Loss.DYNAMICS},
}
"""The losses of each method"""
DEFAULT_METHOD = "physink+dynamics"


@dataclass(frozen=True)
class SolveCfg:
    """Limits and the schedule; the weights are in `objective.py`."""

    range_share: float = 0.98
    """Joints are kept within this share of their range"""
    within: float = 1.0
    """Joints are kept within this share of their range around its middle, too, for trainers that clip them to it"""
    speed_share: float = 0.93
    """Speeds beyond this share of their limit are penalised"""
    anneal: tuple[float, ...] = (100.0, 10.0, 1.0)
    """Smoothness in the first steps, as a multiple of its weight: the whole clip is moved before its details"""
    rise: int = 3
    """Steps in which contact weights rise to their values"""
    max_steps: int = 40
    """Steps after that, at most"""
    tolerance: float = 5e-3
    """Relative decrease of the cost below which the solver stops"""
    window: int = 1000
    """Frames solved at once; longer clips are solved piece by piece"""
    overlap: int = 60
    """Frames by which a piece looks ahead into the next"""

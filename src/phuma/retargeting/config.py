"""Methods of the PhySINK family and the weights of their terms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf


@dataclass(frozen=True)
class Terms:
    """Which terms a method has; each method adds one to the one before."""

    feasibility: bool = False
    """Joint and speed limits"""
    ground: bool = False
    """Soles on the ground while they stand, never below it, not leaning sideways"""
    skate: bool = False
    """Soles at rest while they stand"""
    collision: bool = False
    """Links apart from each other"""


FAMILY: Mapping[str, Terms] = {
    "sink": Terms(),
    "sink+feasibility": Terms(feasibility=True),
    "sink+ground": Terms(feasibility=True, ground=True),
    "physink": Terms(feasibility=True, ground=True, skate=True),
    "physink+collision": Terms(feasibility=True, ground=True, skate=True, collision=True),
}
DEFAULT_METHOD = "physink+collision"


@dataclass(frozen=True)
class SolveCfg:
    """Weights of the terms, for residuals in metres and radians, and the schedule. The paper gives none: ours."""

    position: float = 400.0
    position_width: float = 0.02
    direction: float = 100.0
    direction_width: float = 0.1
    foot_direction: float = 20.0
    roll: float = 1000.0
    roll_swing: float = 5.0
    ground: float = 3e5
    skate: float = 1e6
    skate_width: float = 0.03
    collision: float = 2e5
    smooth_path: float = 2000.0
    smooth_path_width: float = 0.09
    smooth_turn: float = 100.0
    smooth_joint: float = 20.0
    smooth_angle_width: float = 0.3
    posture_turn: float = 0.2
    posture_joint: float = 0.05
    speed: float = 1e5
    range_share: float = 0.98
    """Joints are kept within this share of their range"""
    speed_share: float = 0.93
    """Speeds beyond this share of their limit are penalised"""
    contact_speed: float = inf
    """m/s: a region that the human moves faster than this is not held to stand, though curation's contact says so"""
    contact_start: float = 1e3
    """Weight of contact terms in the first steps"""
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


def solving(contact_speed: float | None) -> SolveCfg:
    """The defaults, with contacts let go from a speed on; None holds them all."""
    return SolveCfg() if contact_speed is None else SolveCfg(contact_speed=contact_speed)

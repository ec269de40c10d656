"""The PhySINK objective: every term with its weight, its width and the loss that it belongs to.

The paper's L_PhySINK = L_Fidelity + L_Feasibility + L_Ground + L_Skate (its appendix B, which gives no weights: ours),
with terms of our own between the paper's and a loss of our own, collision. A new term is a function in `costs.py` and a
line in `TERMS`, from which the loops are made; whoever edits this file waits once for the compiler.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from phuma.core.rotations import Array
from phuma.retargeting import collision, costs
from phuma.retargeting.config import Loss
from phuma.retargeting.loops import ACCELERATION, ANKLE_STEP, FOOT, LINK, POINT, POSE, SOLE, STEP, VALUE, VELOCITY, Kind


class Stage(NamedTuple):
    """A stage says how far the solver is in its schedule."""

    rise: float = 1.0
    """0 to 1: how far contact weights have risen"""
    anneal: float = 1.0
    """Smoothness, as a multiple of its weight"""


def constant(weight: float, stage: Stage) -> float:
    """Return the weight as it is."""
    return weight


def annealed(weight: float, stage: Stage) -> float:
    """Return a multiple of the weight that falls to one."""
    return stage.anneal * weight


def from_thousand(weight: float, stage: Stage) -> float:
    """Return a weight that rises from 1,000 to its value, on a logarithmic scale."""
    return 1e3 * (weight / 1e3) ** stage.rise


def from_hundredth(weight: float, stage: Stage) -> float:
    """Return a weight that rises from a hundredth of its value to its value, on a logarithmic scale."""
    return weight * 0.01 ** (1 - stage.rise)


@dataclass(frozen=True)
class Term:
    """A term is a line of the objective: `weight` times the sum of its function over all that its kind stands for."""

    name: str
    function: Callable[..., float]
    """Compiled; it is given what its parameters name (`loops.py`)"""
    kind: Kind
    weight: float | Mapping[str, float]
    """For residuals in metres and radians; by case where it differs, and none in a case that is left out"""
    width: float | Mapping[str, float] = 1.0
    """Residual beyond which a pseudo-Huber term grows linearly"""
    when: Loss = Loss.FIDELITY
    """The term counts in methods that have this loss"""
    schedule: Callable[[float, Stage], float] = constant
    """The weight at a stage of the solver"""


# The paper's L_pos-violation is no term: with FEASIBILITY, joint limits are bounds that the solver never leaves.
TERMS = (
    Term("global match", costs.keypoint_position, POINT, weight=400.0, width=0.02),
    Term("local match", costs.link_direction, LINK, weight=100.0, width=0.1),
    Term("foot direction", costs.link_direction, FOOT, weight={"swing": 20.0}),
    Term(
        "smooth",
        costs.smoothness,
        ACCELERATION,
        weight={"pos": 2000.0, "rot": 100.0, "joint": 20.0},
        width={"pos": 0.09, "rot": 0.3, "joint": 0.3},
        schedule=annealed,
    ),
    Term("posture", costs.posture, VALUE, weight={"rot": 0.2, "joint": 0.05}),
    Term("vel violation", costs.joint_speed, VELOCITY, weight={"joint": 1e4}, when=Loss.FEASIBILITY),
    Term("ground", costs.sole_height, SOLE, weight={"stance": 3e5}, when=Loss.GROUND, schedule=from_thousand),
    Term("penetration", costs.sole_penetration, SOLE, weight={"swing": 3e5}, when=Loss.GROUND, schedule=from_thousand),
    Term("foot roll", costs.foot_roll, FOOT, weight={"swing": 5.0, "stance": 1005.0}, when=Loss.GROUND),
    Term("leg roll", costs.leg_roll, FOOT, weight={"stiff stance": 2e4}, width=0.0175, when=Loss.GROUND),
    Term("skate", costs.sole_step, STEP, weight={"stance": 1e6}, width=0.03, when=Loss.SKATE, schedule=from_thousand),
    Term("ankle step", costs.keypoint_step, ANKLE_STEP, weight=1e4, width=0.03, when=Loss.COLLISION),
    Term("collision", collision.self_collision, POSE, weight=2e5, when=Loss.COLLISION, schedule=from_hundredth),
)


class Weights(NamedTuple):
    """Weights and widths are (terms, cases), terms in the order of TERMS, cases in that of their kind."""

    weight: Array
    width: Array


@lru_cache(maxsize=256)  # the same few for every clip
def weights_at(stage: Stage, losses: frozenset[Loss]) -> Weights:
    """Return the weights of a method with these losses at a stage; terms that it does not have weigh nothing."""
    shape = len(TERMS), max(len(term.kind.cases) for term in TERMS)
    weight, width = np.zeros(shape), np.ones(shape)
    for k, term in enumerate(TERMS):
        for c, case in enumerate(term.kind.cases):
            value = term.weight.get(case, 0.0) if isinstance(term.weight, Mapping) else term.weight
            width[k, c] = term.width[case] if isinstance(term.width, Mapping) else term.width
            if term.when in losses and value > 0:
                weight[k, c] = term.schedule(value, stage)
    return Weights(weight, width)

"""Events of episodes that make a policy robust: first states off the reference and pushes, by the paper's table of
randomization. What differs between robots is in `sim.randomization`, sensor noise with each observation.

Ranges are half widths of uniform distributions about zero.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from phuma.core import rotations as rot
from phuma.core.rotations import Array
from phuma.core.tensors import Tensor, like, namespace, to_numpy
from phuma.sim.state import State

PUSH_EVERY = (1.0, 3.0)  # s
PUSH_LINEAR = (0.5, 0.5, 0.2)  # m/s
PUSH_ANGULAR = (0.52, 0.52, 0.78)  # rad/s
START_JOINTS = 0.1  # rad
START_POS = (0.05, 0.05, 0.01)  # m
START_ROT = (0.1, 0.1, 0.2)  # rad
START_LINEAR = (0.1, 0.1, 0.05)  # m/s
START_ANGULAR = (0.1, 0.1, 0.1)  # rad/s


@dataclass(frozen=True, eq=False)
class EventsCfg:
    """Settings of the paper's table of randomization that act during episodes."""

    noise: float = 0.0
    """Factor on the table's noise of what the actor observes."""
    pushes: bool = False
    start: float = 0.0
    """Factor on the table's ranges of first states."""
    joint_bias: Array | None = None
    """(E, N) rad by which joint encoders read too much."""
    delay: int | Array = 0
    """Control steps after which the motors are told what was decided, the same for all environments or (E,)."""
    torque: float = 0.0
    """Largest torque that is added to a motor's in a control step, as a share of its limit."""
    facts: Array | None = None
    """(E, 5 + 2 N) `Randomization.facts` of the robots; None where they are as their model."""
    push_every: tuple[float, float] | None = None
    """Seconds from one push to the next; None for the table's, and so are the other two."""
    push_linear: tuple[float, float, float] | None = None
    """Half widths of pushes in m/s."""
    push_angular: tuple[float, float, float] | None = None
    """Half widths of pushes in rad/s."""


def milder(cfg: EventsCfg, share: float) -> EventsCfg:
    """Return events with first states and pushes of a share of their size."""
    linear, angular = cfg.push_linear or PUSH_LINEAR, cfg.push_angular or PUSH_ANGULAR
    return replace(cfg, start=share * cfg.start, push_linear=_times(share, linear), push_angular=_times(share, angular))


def _times(share: float, half: tuple[float, float, float]) -> tuple[float, float, float]:
    x, y, z = half
    return share * x, share * y, share * z


def within(rng: np.random.Generator, half: float | tuple[float, ...], shape: tuple[int, ...]) -> Array:
    """Return single-precision numbers that are uniform between -half and half."""
    return ((2 * rng.random(shape) - 1) * np.array(half)).astype(np.float32)


def pushes(rng: np.random.Generator, count: int, cfg: EventsCfg | None = None) -> tuple[Array, Array]:
    """Return (E, 3) m/s and (E, 3) rad/s to add to the roots' velocities, by the table unless `cfg` says otherwise."""
    linear, angular = (cfg and cfg.push_linear) or PUSH_LINEAR, (cfg and cfg.push_angular) or PUSH_ANGULAR
    return within(rng, linear, (count, 3)), within(rng, angular, (count, 3))


def push_waits(rng: np.random.Generator, count: int, cfg: EventsCfg | None = None) -> Array:
    """Return (E,) s until the next push, by the table unless `cfg` says otherwise."""
    return rng.uniform(*((cfg and cfg.push_every) or PUSH_EVERY), size=count)


def perturbed(rng: np.random.Generator, start: State, scale: float, lower: Tensor, upper: Tensor) -> State:
    """Return first states off the reference by `scale` times the table's ranges: root and joints, as `reset` needs.

    No joint is put beyond its limits (N,), nor farther beyond them than the reference is."""
    count, joints = start.joint_pos.shape
    xp = namespace(start.joint_pos)

    def off(half: float | tuple[float, ...], width: int) -> Tensor:
        return like(start.root_pos, scale * within(rng, half, (count, width)))

    rotated = rot.multiply(rot.from_rotvec(scale * within(rng, START_ROT, (count, 3))), to_numpy(start.root_quat))
    return replace(
        start,
        root_pos=start.root_pos + off(START_POS, 3),
        root_quat=like(start.root_pos, rotated.astype(np.float32)),
        root_linvel=start.root_linvel + off(START_LINEAR, 3),
        root_angvel=start.root_angvel + off(START_ANGULAR, 3),
        joint_pos=xp.clip(
            start.joint_pos + off(START_JOINTS, joints),
            xp.minimum(start.joint_pos, lower),
            xp.maximum(start.joint_pos, upper),
        ),
    )

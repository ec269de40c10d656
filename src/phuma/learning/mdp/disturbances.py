"""What makes life hard for a policy, so that it survives on a real robot: rows of the paper's table of randomisation
that act during an attempt. What differs between robots is in `simulation.variation`.

Ranges are half widths of uniform distributions about zero; noise is normal.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from phuma import rotations as rot
from phuma.learning.state import State
from phuma.learning.tensors import Tensor, like, namespace, to_numpy
from phuma.rotations import Array

PUSH_EVERY = (1.0, 3.0)  # s
PUSH_LINEAR = (0.5, 0.5, 0.2)  # m/s
PUSH_ANGULAR = (0.52, 0.52, 0.78)  # rad/s
START_JOINTS = 0.1  # rad
START_PLACE = (0.05, 0.05, 0.01)  # m
START_TURN = (0.1, 0.1, 0.2)  # rad
START_LINEAR = (0.1, 0.1, 0.05)  # m/s
START_ANGULAR = (0.1, 0.1, 0.1)  # rad/s
NOISE_ANGULAR, NOISE_JOINTS, NOISE_SPEEDS, NOISE_TURN = 0.2, 0.01, 0.5, 0.05  # rad/s, rad, rad/s, rad


def within(rng: np.random.Generator, half: float | tuple[float, ...], shape: tuple[int, ...]) -> Array:
    """Uniform between -half and half, single precision."""
    return ((2 * rng.random(shape) - 1) * np.array(half)).astype(np.float32)


def pushes(rng: np.random.Generator, count: int) -> tuple[Array, Array]:
    """(E, 3) m/s and (E, 3) rad/s to add to the roots' velocities."""
    return within(rng, PUSH_LINEAR, (count, 3)), within(rng, PUSH_ANGULAR, (count, 3))


def push_waits(rng: np.random.Generator, count: int) -> Array:
    """(E,) s until the next push."""
    return rng.uniform(*PUSH_EVERY, size=count)


def perturbed(rng: np.random.Generator, start: State, scale: float, lower: Tensor, upper: Tensor) -> State:
    """First states off the reference, by `scale` times the table's ranges; root and joints alone, as `reset` needs.
    No joint is put beyond its limits (N,), nor farther beyond them than the reference is."""
    count, joints = start.joint_pos.shape
    xp = namespace(start.joint_pos)

    def off(half: float | tuple[float, ...], width: int) -> Tensor:
        return like(start.root_pos, scale * within(rng, half, (count, width)))

    turned = rot.multiply(rot.from_rotvec(scale * within(rng, START_TURN, (count, 3))), to_numpy(start.root_quat))
    return replace(
        start,
        root_pos=start.root_pos + off(START_PLACE, 3),
        root_quat=like(start.root_pos, turned.astype(np.float32)),
        root_linvel=start.root_linvel + off(START_LINEAR, 3),
        root_angvel=start.root_angvel + off(START_ANGULAR, 3),
        joint_pos=xp.clip(
            start.joint_pos + off(START_JOINTS, joints),
            xp.minimum(start.joint_pos, lower),
            xp.maximum(start.joint_pos, upper),
        ),
    )


def noise(rng: np.random.Generator, shape: tuple[int, ...], spread: float) -> Array:
    """Normal with this standard deviation, single precision."""
    return spread * rng.standard_normal(shape, dtype=np.float32)

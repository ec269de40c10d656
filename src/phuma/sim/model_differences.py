"""How a maker's model file differs from the model that a policy learned with, in what may make it fall."""

from __future__ import annotations

import mujoco
import numpy as np

from phuma.core.rotations import Array
from phuma.robots.robot import Robot
from phuma.sim.maker_model import joint_columns
from phuma.sim.model import simulation_model

DEEP = 0.005  # m: how far standing feet, which are not quite level, are pressed into the floor
SHORTER, HEAVIER, FURTHER = 0.005, 0.01, 1.0
"""From so many m of a sole, so large a share of the mass and so many degrees of a joint's range on it is told"""


def model_differences(theirs: mujoco.MjModel, robot: Robot) -> tuple[str, ...]:
    """Return what differs between a model of the robot on a floor and ours, in words; nothing where all is alike."""
    ours = simulation_model(robot, 1)
    return (*_soles(theirs, ours, robot), *_mass(theirs, ours), *_ranges(theirs, robot))


def standing_area(model: mujoco.MjModel, robot: Robot) -> Array:
    """Return (2,) m, over what length and width each foot touches the floor when the robot stands; zero where no foot
    does."""
    data = mujoco.MjData(model)
    data.qpos[3] = 1.0
    data.qpos[7 + joint_columns(model, robot)] = robot.default_pose
    low, high = 0.0, 2 * robot.default_height
    for _ in range(20):
        data.qpos[2] = middle = (low + high) / 2
        low, high = (middle, high) if len(_on_floor(model, data)[0]) else (low, middle)
    data.qpos[2] = low - DEEP
    places, bodies = _on_floor(model, data)
    feet = [model.body(robot.body_names[body]).id for body in robot.sole_body[::2]]
    own = [places[bodies == foot, :2] for foot in feet]
    return np.mean([np.ptp(points, axis=0) if len(points) else np.zeros(2) for points in own], axis=0)


def _on_floor(model: mujoco.MjModel, data: mujoco.MjData) -> tuple[Array, Array]:
    """Return (C, 3) m, where bodies touch the floor, and (C,) which bodies these are."""
    mujoco.mj_forward(model, data)
    pairs = model.geom_bodyid[data.contact.geom].reshape(-1, 2)
    floor = (pairs == 0).any(axis=1)
    return data.contact.pos.reshape(-1, 3)[floor], pairs.max(axis=1)[floor]


def _soles(theirs: mujoco.MjModel, ours: mujoco.MjModel, robot: Robot) -> list[str]:
    area, own = standing_area(theirs, robot), standing_area(ours, robot)
    if np.abs(area - own).max() < SHORTER:
        return []
    words = [f"{100 * length:.1f} x {100 * width:.1f} cm" for length, width in (area, own)]
    return [f"each sole stands on {words[0]}, ours on {words[1]}"]


def _mass(theirs: mujoco.MjModel, ours: mujoco.MjModel) -> list[str]:
    mass, own = (mujoco.mj_getTotalmass(model) for model in (theirs, ours))
    return [f"it weighs {mass:.1f} kg, ours {own:.1f} kg"] if abs(mass / own - 1) >= HEAVIER else []


def _ranges(theirs: mujoco.MjModel, robot: Robot) -> list[str]:
    limited = [bool(theirs.joint(name).limited[0]) for name in robot.joint_names]
    given = np.degrees([theirs.joint(name).range for name in robot.joint_names])
    ranges = np.where(np.array(limited)[:, None], given, [-np.inf, np.inf])
    own = np.degrees(np.stack([robot.lower, robot.upper], axis=1))
    off = np.abs(ranges - own).max(axis=1)
    if off.max() < FURTHER:
        return []
    worst = int(off.argmax())
    words = [
        "freely" if np.isinf(low) else f"from {low:.0f} to {high:.0f}" for low, high in (ranges[worst], own[worst])
    ]
    return [
        f"{int((off >= FURTHER).sum())} joints have other ranges, most {robot.joint_names[worst]}: it moves {words[0]} "
        f"degrees, ours {words[1]}"
    ]

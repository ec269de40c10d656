"""BeyondMimic's motion `.npz` (whole_body_tracking): 50 Hz, joints and bodies breadth-first as PhysX has them.

As in IsaacLab, `body_lin_vel_w` is the velocity of a body's centre of mass, while `body_pos_w` is the position of its
frame's origin, both in the world. Quaternions are wxyz.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from phuma.core.robot_motion import RobotMotion
from phuma.core.rotations import Array
from phuma.dataset.exchange.format import Format, Names
from phuma.dataset.exchange.tracking import RATE, save_tracking
from phuma.robots.order import breadth_first
from phuma.robots.robot import Robot


def write(motion: RobotMotion, robot: Robot, path: Path) -> None:
    """Write a motion at 50 Hz."""
    save_tracking(path, motion, robot, breadth_first(robot), np.array([RATE]), mass_centres(robot))


def mass_centres(robot: Robot) -> Array:
    """Return (B, 3) the centres of mass of the robot's model, in the bodies' frames."""
    import mujoco  # here, not above: only this format needs it

    return mujoco.MjModel.from_xml_path(str(robot.model_file)).body_ipos[1:].copy()


def names(robot: Robot) -> Names:
    """Return the names of joints and bodies in PhysX's order."""
    joints, bodies = breadth_first(robot)
    return Names(tuple(robot.joint_names[j] for j in joints), tuple(robot.body_names[b] for b in bodies))


FORMAT = Format(
    "beyondmimic", ".npz", "BeyondMimic's motions (whole_body_tracking), 50 Hz, IsaacLab's order", write,
    names=names, rate=lambda _: RATE, library="mujoco", within=0.9, all_joints=True,
)  # fmt: skip

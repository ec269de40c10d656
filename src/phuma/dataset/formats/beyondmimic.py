"""BeyondMimic's motion `.npz` (whole_body_tracking): 50 Hz, joints and bodies breadth-first as PhysX has them.

A body's linear velocity is that of its centre of mass, in the world: IsaacLab's `body_lin_vel_w` is, while
`body_pos_w` is where its frame is. Quaternions are wxyz.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from phuma.dataset.formats.bodies import breadth_first
from phuma.dataset.formats.format import Format, Names
from phuma.dataset.formats.tracking import RATE, save_tracking
from phuma.robot_motion import RobotMotion
from phuma.robots.robot import Robot
from phuma.rotations import Array


def write(motion: RobotMotion, robot: Robot, path: Path) -> None:
    save_tracking(path, motion, robot, breadth_first(robot), np.array([RATE]), mass_centres(robot))


def mass_centres(robot: Robot) -> Array:
    """(B, 3) in the bodies' frames, from the robot's model."""
    import mujoco  # here, not above: only this format needs it

    return mujoco.MjModel.from_xml_path(str(robot.model_file)).body_ipos[1:].copy()


def names(robot: Robot) -> Names:
    joints, bodies = breadth_first(robot)
    return Names(tuple(robot.joint_names[j] for j in joints), tuple(robot.body_names[b] for b in bodies))


FORMAT = Format(
    "beyondmimic", ".npz", "BeyondMimic's motions (whole_body_tracking), 50 Hz, IsaacLab's order", write,
    names=names, rate=lambda _: RATE,
)  # fmt: skip

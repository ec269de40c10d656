"""holosoma's motion `.npz`: the keys of mjlab's, 50 Hz, the root inside `joint_pos`, and the world among the bodies.

`joint_pos` (T, 7 + N) and `joint_vel` (T, 6 + N) are MuJoCo's coordinates and velocities, quaternions wxyz. A body's
linear velocity is that of its centre of mass, in the world. Names are always stored.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from phuma.core.robot_motion import RobotMotion
from phuma.dataset.exchange.beyondmimic import mass_centres
from phuma.dataset.exchange.format import Format
from phuma.dataset.exchange.locomujoco import WORLD, body_names
from phuma.dataset.exchange.tracking import RATE, has_root, load_tracking, tracking_arrays
from phuma.io.atomic import save_npz
from phuma.robots.order import depth_first
from phuma.robots.robot import Robot


def write(motion: RobotMotion, robot: Robot, path: Path) -> None:
    """Write a motion at 50 Hz."""
    arrays = tracking_arrays(motion, robot, depth_first(robot), np.array([RATE]), mass_centres(robot))
    root_vel = arrays["root_vel"]
    root = [arrays[f"body_{name}_w"][:, 0] for name in ("pos", "quat")]
    still = {"pos": (0, 0, 0), "quat": (1, 0, 0, 0), "lin_vel": (0, 0, 0), "ang_vel": (0, 0, 0)}
    for name, value in still.items():
        bodies = arrays[f"body_{name}_w"]
        world = np.tile(np.array(value, np.float32), (len(bodies), 1, 1))
        arrays[f"body_{name}_w"] = np.concatenate([world, bodies], axis=1)
    arrays["body_names"] = np.array([WORLD, *robot.body_names])
    arrays["joint_pos"] = np.concatenate([*root, arrays["joint_pos"]], axis=1)
    arrays["joint_vel"] = np.concatenate([root_vel, arrays["joint_vel"]], axis=1)
    del arrays["root_vel"]
    save_npz(path, arrays)


def read(path: Path, robot: Robot) -> list[RobotMotion]:
    """Read a file by its names; its kinematics tell whether it is of this robot."""
    return [load_tracking(path, robot, FORMAT.name)]


FORMAT = Format(
    "holosoma", ".npz", "holosoma's motions, 50 Hz, MuJoCo's order", write, read, has_root,
    names=body_names, rate=lambda _: RATE, library="mujoco", all_joints=True,
)  # fmt: skip

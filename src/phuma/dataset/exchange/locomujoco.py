"""LocoMuJoCo's `Trajectory` as an `.npz`: MuJoCo's coordinates and what follows from them, of several trajectories.

`qpos` (T, 7 + N) wxyz, `qvel` (T, 6 + N), `xpos` (T, B, 3), `xquat` (T, B, 4), `cvel` (T, B, 6), `subtree_com`
(T, B, 3) with the world as the first body, `site_xpos`, `site_xmat`, `split_points` (K + 1,) where the K trajectories
begin and end, `frequency`, `joint_names` with the root's first, `body_names`, `site_names`, and fields of MuJoCo's
model.
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from phuma.core.performed_motion import PerformedMotion
from phuma.core.robot_motion import RobotMotion
from phuma.core.rotations import Array
from phuma.dataset.exchange.bodies import differences
from phuma.dataset.exchange.format import Format, Names
from phuma.dataset.exchange.imported import consecutive, number
from phuma.dataset.exchange.layout import prepared
from phuma.dataset.exchange.mujoco_qpos import by_name
from phuma.errors import ReadError
from phuma.io.atomic import save_npz
from phuma.io.npz import load_npz
from phuma.io.probe import Probe
from phuma.robots.robot import Robot
from phuma.robots.welding import robot_model

NEEDED = ("qpos", "joint_names", "frequency", "split_points")
ROOT, WORLD = "root", "world"
"""The names of the free joint and of the first body in its models"""
MODEL = ("body_rootid", "body_weldid", "body_mocapid", "body_pos", "body_quat", "body_ipos", "body_iquat")
STATE = ("xpos", "xquat", "cvel", "subtree_com")


def write(motion: RobotMotion, robot: Robot, path: Path) -> None:
    """Write a file of one trajectory, at the motion's own rate."""
    motion = prepared(motion, robot)
    recorded = motion.velocity if isinstance(motion, PerformedMotion) else None
    velocity = differences(motion) if recorded is None else recorded
    model = robot_model(robot)
    qpos = np.concatenate([motion.root_pos, motion.root_quat, motion.joint_pos], axis=1)
    names = body_names(robot)
    save_npz(
        path,
        {
            "qpos": qpos.astype(np.float32), "qvel": velocity.astype(np.float32), **_carried(model, qpos, velocity),
            "site_xpos": np.zeros((len(motion), 0, 3), np.float32), "split_points": np.array([0, len(motion)]),
            "site_xmat": np.zeros((len(motion), 0, 9), np.float32), "frequency": np.array(float(motion.fps)),
            "joint_names": np.array([ROOT, *robot.joint_names]), "body_names": np.array(names.bodies),
            "site_names": np.array([], dtype="U1"), "njnt": np.array(model.njnt), "jnt_type": model.jnt_type.copy(),
            "nbody": np.array(model.nbody), **{name: getattr(model, name).copy() for name in MODEL},
            "nsite": np.array(0), "site_bodyid": np.zeros(0, np.int32), "site_pos": np.zeros((0, 3)),
            "site_quat": np.zeros((0, 4)),
        },
    )  # fmt: skip


def _carried(model: Any, qpos: Array, qvel: Array) -> dict[str, Array]:
    """Return what MuJoCo makes of coordinates and velocities, frame by frame."""
    import mujoco

    data, out = mujoco.MjData(model), {name: [] for name in STATE}  # type: ignore[var-annotated]
    for position, velocity in zip(qpos, qvel):
        data.qpos[:], data.qvel[:] = position, velocity
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_comVel(model, data)
        for name, values in out.items():
            values.append(getattr(data, name).astype(np.float32))
    return {name: np.array(values) for name, values in out.items()}


def read(path: Path, robot: Robot) -> list[RobotMotion]:
    """Read all trajectories of a file, by the names of its joints; the rest follows from them."""
    data = load_npz(path, NEEDED)
    fps, splits = number(path, "frequency", data["frequency"]), data["split_points"].reshape(-1)
    frames = len(data["qpos"]) if data["qpos"].ndim else 0
    whole = splits.dtype.kind in "iuf" and len(splits) > 1 and np.isfinite(splits).all()
    if not whole or splits[0] != 0 or splits[-1] != frames or (np.diff(splits) < 1).any() or (splits % 1).any():
        raise ReadError(path, f"split_points are {splits[:8].tolist()}; expected rising numbers from 0 to {frames}")
    parts = [slice(int(a), int(b)) for a, b in pairwise(splits)]
    notes = [[f"trajectory {k + 1} of {len(parts)} of the file"] if len(parts) > 1 else [] for k in range(len(parts))]
    return consecutive([
        by_name(path, FORMAT.name, robot, fps, data["qpos"][part], data["joint_names"], note)
        for part, note in zip(parts, notes)
    ])  # fmt: skip


def recognises(probe: Probe) -> bool:
    """Tell whether a file has the arrays of a trajectory."""
    return probe.kind == "npz" and set(NEEDED) <= set(probe.arrays)


def body_names(robot: Robot) -> Names:
    """Return the joints in the robot's own order, and the bodies with the world as the first."""
    return Names(robot.joint_names, (WORLD, *robot.body_names))


FORMAT = Format(
    "locomujoco", ".npz", "LocoMuJoCo's trajectories", write, read, recognises, names=body_names, library="mujoco"
)

"""GMR's `.pkl`: fps, root_pos, root_rot (xyzw), dof_pos, and the positions of the bodies in the frame of the root."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from phuma.core.robot_motion import RobotMotion
from phuma.dataset.exchange import pbhc
from phuma.dataset.exchange.format import Format, Names
from phuma.dataset.exchange.layout import prepared, recorded, single, to_xyzw
from phuma.dataset.exchange.phuma_npy import read_dictionary
from phuma.dataset.exchange.pickled import dumps
from phuma.io.atomic import write_atomic
from phuma.io.probe import Probe
from phuma.io.safe_pickle import load_pickle
from phuma.robots.fixed_bodies import Bodies, Fixed, with_fixed
from phuma.robots.kinematics import local_body_poses
from phuma.robots.robot import Robot

KEYS = ("root_pos", "root_rot", "dof_pos")
EXTRA: dict[str, tuple[Fixed, ...]] = {
    "g1": (
        Fixed("left_toe_link", "left_ankle_roll_link", (0.1, 0.0, -0.02)),
        Fixed("pelvis_contour_link", "pelvis", (0.0, 0.0, 0.0), after="left_ankle_roll_link"),
        Fixed("right_toe_link", "right_ankle_roll_link", (0.1, 0.0, -0.02)),
        Fixed("head_link", "torso_link", (0.0039635, 0.0, -0.044)),
        Fixed("head_mocap", "torso_link", (0.0, 0.0, 0.4)),
        Fixed("imu_in_torso", "torso_link", (-0.03959, -0.00224, 0.14792)),
        Fixed("left_rubber_hand", "left_wrist_yaw_link", (0.0415, 0.003, 0.0)),
        Fixed("right_rubber_hand", "right_wrist_yaw_link", (0.0415, -0.003, 0.0)),
    ),
}
"""The added bodies by robot, from g1_mocap_29dof.xml of GMR; TWIST looks for hands, toes and head by these names"""


def write(motion: RobotMotion, robot: Robot, path: Path) -> None:
    """Write a motion at its own rate."""
    motion = prepared(motion, robot)
    bodies = theirs(robot)
    pos, turn = local_body_poses(robot, motion.joint_pos)
    local = pos[:, bodies.of] + np.einsum("tbij,bj->tbi", turn[:, bodies.of], bodies.offset)
    content = {
        "fps": motion.fps,
        "root_pos": single(motion.root_pos),
        "root_rot": single(to_xyzw(motion.root_quat)),
        "dof_pos": single(motion.joint_pos),
        "local_body_pos": single(local),
        "link_body_list": list(bodies.names),
        **recorded(motion),
    }
    write_atomic(path, lambda f: f.write(dumps(content)))


def theirs(robot: Robot) -> Bodies:
    """Return the bodies of GMR's model."""
    return with_fixed(robot, EXTRA.get(robot.name, ()))


def names(robot: Robot) -> Names:
    """Return the names of joints and of GMR's bodies."""
    return Names(robot.joint_names, theirs(robot).names)


def read(path: Path, robot: Robot) -> list[RobotMotion]:
    """Read the root and the joints only: bodies follow from them, and some of GMR's scripts store none."""
    return [read_dictionary(path, robot, FORMAT.name, load_pickle(path), KEYS)]


def recognises(probe: Probe) -> bool:
    """Tell whether a file is a pickle, and none of PBHC's."""
    return probe.kind == "pickle" and not pbhc.recognises(probe)


FORMAT = Format("gmr", ".pkl", "GMR's retargeted motions", write, read, recognises, names=names, all_joints=True)

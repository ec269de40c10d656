"""GMR's `.pkl`: fps, root_pos, root_rot (xyzw), dof_pos, and the bodies as seen from the root."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from phuma import rotations as rot
from phuma.dataset.formats.bodies import pose_bodies
from phuma.dataset.formats.format import Format, all_bodies
from phuma.dataset.formats.layout import prepared, single, to_xyzw
from phuma.dataset.formats.phuma_npy import read_dictionary
from phuma.dataset.formats.pickled import dumps
from phuma.files.atomic import write_atomic
from phuma.files.pickles import load_pickle
from phuma.files.probe import Probe
from phuma.robot_motion import RobotMotion
from phuma.robots.robot import Robot

KEYS = ("root_pos", "root_rot", "dof_pos")


def write(motion: RobotMotion, robot: Robot, path: Path) -> None:
    motion = prepared(motion, robot)
    # As seen from the root: it stands at the origin and does not turn.
    still = np.tile(rot.IDENTITY, (len(motion), 1))
    local = pose_bodies(robot, np.zeros((len(motion), 3)), still, motion.joint_pos).pos
    content = {
        "fps": motion.fps,
        "root_pos": single(motion.root_pos),
        "root_rot": single(to_xyzw(motion.root_quat)),
        "dof_pos": single(motion.joint_pos),
        "local_body_pos": single(local),
        "link_body_list": list(robot.body_names),
    }
    write_atomic(path, lambda f: f.write(dumps(content)))


def read(path: Path, robot: Robot) -> RobotMotion:
    """Only the root and the joints: bodies follow from them, and some of GMR's scripts store none."""
    return read_dictionary(path, robot, FORMAT.name, load_pickle(path), KEYS)


def recognises(probe: Probe) -> bool:
    return probe.kind == "pickle"


FORMAT = Format("gmr", ".pkl", "GMR's retargeted motions", write, read, recognises, names=all_bodies)

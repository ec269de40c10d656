"""GMR's `.pkl`: fps, root_pos, root_rot (xyzw), dof_pos, and the positions of the bodies in the frame of the root."""

from __future__ import annotations

from pathlib import Path

from phuma.core.robot_motion import RobotMotion
from phuma.dataset.exchange.format import Format, all_bodies
from phuma.dataset.exchange.layout import prepared, recorded, single, to_xyzw
from phuma.dataset.exchange.phuma_npy import read_dictionary
from phuma.dataset.exchange.pickled import dumps
from phuma.io.atomic import write_atomic
from phuma.io.probe import Probe
from phuma.io.safe_pickle import load_pickle
from phuma.robots.kinematics import local_body_poses
from phuma.robots.robot import Robot

KEYS = ("root_pos", "root_rot", "dof_pos")


def write(motion: RobotMotion, robot: Robot, path: Path) -> None:
    """Write a motion at its own rate."""
    motion = prepared(motion, robot)
    local, _ = local_body_poses(robot, motion.joint_pos)
    content = {
        "fps": motion.fps,
        "root_pos": single(motion.root_pos),
        "root_rot": single(to_xyzw(motion.root_quat)),
        "dof_pos": single(motion.joint_pos),
        "local_body_pos": single(local),
        "link_body_list": list(robot.body_names),
        **recorded(motion),
    }
    write_atomic(path, lambda f: f.write(dumps(content)))


def read(path: Path, robot: Robot) -> list[RobotMotion]:
    """Read the root and the joints only: bodies follow from them, and some of GMR's scripts store none."""
    return [read_dictionary(path, robot, FORMAT.name, load_pickle(path), KEYS)]


def recognises(probe: Probe) -> bool:
    """Tell whether a file is a pickle."""
    return probe.kind == "pickle"


FORMAT = Format("gmr", ".pkl", "GMR's retargeted motions", write, read, recognises, names=all_bodies)

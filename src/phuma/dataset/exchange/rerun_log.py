"""rerun's recording, `.rrd`: the robot as bones that move, every body's frame, and curves of joints and contacts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from phuma.core.robot_motion import RobotMotion
from phuma.core.skeleton import REGIONS
from phuma.dataset.exchange.bodies import pose_bodies
from phuma.dataset.exchange.format import Format, all_bodies
from phuma.dataset.exchange.layout import prepared, single, to_xyzw
from phuma.io.atomic import write_atomic
from phuma.robots.robot import Robot

TIMELINE = "motion"
"""The name of the timeline, in seconds from the first frame"""


def write(motion: RobotMotion, robot: Robot, path: Path) -> None:
    """Write a motion at its own rate."""
    import rerun as rr  # here, not above: only this format needs it

    motion = prepared(motion, robot)
    part = path.with_name(f".{path.name}.rerun")
    try:
        stream = rr.RecordingStream(f"phuma {robot.name}", recording_id=motion.provenance.source)
        stream.save(part)
        _log(stream, motion, robot)
        stream.disconnect()  # which writes what is left
        write_atomic(path, lambda f: f.write(part.read_bytes()))
    finally:
        part.unlink(missing_ok=True)


def _log(stream: Any, motion: RobotMotion, robot: Robot) -> None:
    """Log everything, on one timeline alone."""
    import rerun as rr

    poses = pose_bodies(robot, motion)
    stream.set_log_time_enabled(False)
    stream.set_log_tick_enabled(False)
    when = [rr.TimeColumn(TIMELINE, duration=np.arange(len(motion)) / motion.fps)]
    stream.log("world", rr.ViewCoordinates.RIGHT_HAND_Z_UP, static=True)
    for b, name in enumerate(robot.body_names):
        turned = to_xyzw(poses.quat[:, b])
        columns = rr.Transform3D.columns(translation=single(poses.pos[:, b]), quaternion=single(turned))
        stream.send_columns(f"world/{robot.name}/{name}", when, columns)
    child = np.flatnonzero(robot.parents >= 0)
    bones = single(np.stack([poses.pos[:, robot.parents[child]], poses.pos[:, child]], axis=2))
    for t in range(len(motion)):
        stream.set_time(TIMELINE, duration=t / motion.fps)
        stream.log("world/bones", rr.LineStrips3D(bones[t], radii=0.02))
    curves = {f"joints/{name}": motion.joint_pos[:, j] for j, name in enumerate(robot.joint_names)}
    curves |= {f"contact/{name}": motion.contact[:, k] for k, name in enumerate(REGIONS)}
    for name, values in curves.items():
        stream.send_columns(name, when, rr.Scalars.columns(scalars=values))


FORMAT = Format("rerun", ".rrd", "rerun's recordings, to be looked at", write, names=all_bodies, library="rerun")

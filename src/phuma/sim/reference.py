"""What a robot is to follow under physics: a motion at control rate, and whether one can be asked to follow it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from phuma.core import rotations as rot
from phuma.core.rotations import Array
from phuma.core.trajectory import Trajectory, split_qpos
from phuma.robots.robot import Robot
from phuma.sim.model import CONTROL_RATE

SHORTEST = 0.5  # s
TOO_FAST = 2.0
"""Factor on a joint's speed limit: no retargeted motion comes near it, a jump between two frames goes far beyond"""
ROOT_SPEED, ROOT_SPIN = 12.0, 30.0  # m/s, rad/s: faster than any runner, than any somersault


def at_control_rate(motion: Trajectory) -> Trajectory:
    """Return the motion in single precision, from the first frame to the last, as a cubic B-spline.

    The frames are the spline's control points, so that accelerations are the second differences of the frames, and
    between two frames they go over into one another along a line: what the ground can give in both, it can give on the
    way. A spline through the frames would swing about every take-off and landing. It lies h^2 a / 6 beside the frames,
    with h the time between them and a the acceleration: a millimetre or two.
    """
    values = replace(motion, root_quat=rot.continuous(motion.root_quat)).qpos
    last = (len(motion) - 1) / motion.fps
    time = np.arange(int(last * CONTROL_RATE + 1e-9) + 1) / CONTROL_RATE
    if motion.fps != CONTROL_RATE:
        from scipy.interpolate import BSpline  # takes a while to load: not for `--help`

        knots = np.arange(-3, len(motion) + 3) / motion.fps
        values = BSpline(knots, _continued(values), 3)(np.minimum(time, last))
    root_pos, root_quat, joint_pos = split_qpos(values)
    arrays = (v.astype(np.float32) for v in (root_pos, rot.normalize(root_quat), joint_pos))
    return Trajectory(motion.robot, motion.joint_names, CONTROL_RATE, *arrays)


def _continued(values: Array) -> Array:
    """Return values (T, ...), T at least 3, with a frame more at either end, at the acceleration that there is."""
    before = 3 * values[0] - 3 * values[1] + values[2]
    after = 3 * values[-1] - 3 * values[-2] + values[-3]
    return np.concatenate([before[None], values, after[None]])


def fault(motion: Trajectory, robot: Robot) -> str | None:
    """Return why no robot can be asked to follow this motion; None if one can."""
    if motion.robot != robot.name:
        return f"is of robot {motion.robot}, not {robot.name}"
    for name in robot.joint_names:
        if name not in motion.joint_names:
            return f"has no joint {name}"
    if motion.duration < SHORTEST:
        return f"lasts {motion.duration:.2f} s; at least {SHORTEST} s are needed"
    motion = motion.reordered(robot.joint_names)
    speed = np.abs(np.diff(motion.joint_pos, axis=0)) * motion.fps
    over = speed / (TOO_FAST * robot.velocity_limit)
    if over.max() > 1:
        frame, joint = np.unravel_index(int(over.argmax()), over.shape)
        return (
            f"jumps at {frame / motion.fps:.2f} s: {robot.joint_names[joint]} turns at "
            f"{speed[frame, joint]:.0f} rad/s, more than twice its limit of {robot.velocity_limit[joint]:g}"
        )
    travel = np.linalg.norm(np.diff(motion.root_pos, axis=0), axis=1) * motion.fps
    if travel.max() > ROOT_SPEED:
        found = f"jumps at {travel.argmax() / motion.fps:.2f} s: the root moves at {travel.max():.0f} m/s"
        return f"{found}, more than {ROOT_SPEED:g}"
    steps = rot.multiply(rot.conjugate(motion.root_quat[:-1]), motion.root_quat[1:])
    spin = np.linalg.norm(rot.to_rotvec(steps), axis=1) * motion.fps
    if spin.max() > ROOT_SPIN:
        found = f"jumps at {spin.argmax() / motion.fps:.2f} s: the root turns at {spin.max():.0f} rad/s"
        return f"{found}, more than {ROOT_SPIN:g}"
    return None

"""How good a robot motion is, frame by frame: what `measure` counts, before it is counted."""

from __future__ import annotations

from dataclasses import dataclass

from phuma.retargeting import metrics
from phuma.retargeting.costs import SOLES
from phuma.retargeting.dynamics import dynamics_report
from phuma.retargeting.measure import human_errors, places
from phuma.robot_motion import RobotMotion
from phuma.robots.robot import Robot
from phuma.rotations import Array


@dataclass(frozen=True, eq=False)
class RobotFrames:
    """A robot motion over time; joints in the robot's order, soles in that of `phuma.skeleton.REGIONS`."""

    position_error: Array | None
    """(T,) m, mean over the 12 keypoints; None where no human is known"""
    direction_error: Array | None
    """(T,) degrees, mean over the 12 links; None where no human is known"""
    over: Array
    """(T, N) bool: the joint is beyond 98 % of its range or of its speed; a step belongs to the frame it starts from"""
    joint_use: Array
    """(T,) percent: how near any joint is to an end of its range, max over joints of 100 max(q / upper, q / lower);
    100 is the limit (`metrics.range_use`)"""
    torque_use: Array
    """(T,) percent: the largest torque over its limit, by inverse dynamics; 100 is the limit"""
    height: Array
    """(T, 4) m, of the soles above the ground"""
    slip: Array
    """(T, 4) m/s, horizontal speed to the next frame; nan unless the sole is in contact at t and t + 1"""
    slips: Array
    """(T, 4) bool: that is 10 cm/s or more"""

    def __len__(self) -> int:
        return len(self.over)


def robot_frames(motion: RobotMotion, robot: Robot) -> RobotFrames:
    """Every number by the definition that `measure` has."""
    motion = motion.reordered(robot.joint_names)
    place = places(motion, robot)
    soles = place[:, SOLES : SOLES + 4]
    slip = metrics.contact_slip(soles, motion.contact, motion.fps)
    positions = directions = None
    if motion.human_joints is not None:
        positions, _, directions = (e.mean(axis=1) for e in human_errors(place, motion.human_joints, robot))
    needs = dynamics_report(robot, motion.root_pos, motion.root_quat, motion.joint_pos, motion.fps)
    return RobotFrames(
        position_error=positions,
        direction_error=directions,
        over=metrics.beyond_limits(motion.joint_pos, motion.fps, robot.lower, robot.upper, robot.velocity_limit),
        joint_use=metrics.range_use(motion.joint_pos, robot.lower, robot.upper).max(axis=1),
        torque_use=100 * needs.torque_ratio,
        height=soles[..., 2],
        slip=slip,
        slips=metrics.is_skating(slip),
    )

"""How good a robot motion is: the five metrics and what stands beside them, of any motion of a known robot, as a whole
and in every frame."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from phuma.core.foot_contacts import feet_in_contact, in_contact
from phuma.core.human_motion import HumanMotion
from phuma.core.robot_metrics import HEIGHT_LIMIT, POSITION_LIMIT, ROBOT_METRICS, SAMPLES, STANDING_SPEED
from phuma.core.robot_motion import RobotMotion
from phuma.core.rotations import Array
from phuma.core.skeleton import INDEX, POINTS_PER_REGION, REGIONS
from phuma.retargeting import metrics
from phuma.retargeting.block import link_indices, problem_points
from phuma.retargeting.collision_check import self_penetration
from phuma.retargeting.costs import KEYPOINTS, SIDES, SOLES
from phuma.retargeting.dynamics import dynamics_report
from phuma.robots.kinematics import point_positions
from phuma.robots.robot import Robot

DEEP = 0.01  # m of self-penetration that counts
ANKLES = ("left_ankle", "right_ankle")


@dataclass(frozen=True, eq=False)
class RobotFrames:
    """A robot motion over time; joints in the robot's order, soles in that of `phuma.core.skeleton.REGIONS`."""

    position_error: Array | None
    """(T,) m, mean over the 12 keypoints; None where no human is known"""
    direction_error: Array | None
    """(T,) degrees, mean over the 12 links; None where no human is known"""
    foot_error: Array | None
    """(T, 2) m, distance of the ankles, left and right, from the human's; None where no human is known"""
    feet_far: Array | None
    """(T, 2) bool: that is 10 cm or more"""
    over: Array
    """(T, N) bool: the joint is beyond 98 % of its range or of its speed; a step belongs to the frame it starts from"""
    joint_use: Array
    """(T,) percent: how near any joint is to an end of its range, max over joints of 100 max(q / upper, q / lower);
    100 is the limit (`metrics.range_use`)"""
    torque_use: Array
    """(T,) percent: the largest torque over its limit, by inverse dynamics; 100 is the limit"""
    ankle_speed: Array
    """(T,) m/s, of the faster ankle to the next frame"""
    height: Array
    """(T, 4) m, of the soles above the ground"""
    stance_height: Array
    """(T, 4) m, distance of the soles in contact from the ground, either way; nan of others"""
    slip: Array
    """(T, 4) m/s, horizontal speed to the next frame; nan unless the sole is in contact at t and t + 1"""
    slips: Array
    """(T, 4) bool: that is 10 cm/s or more"""

    def __len__(self) -> int:
        return len(self.over)


def robot_frames(motion: RobotMotion, robot: Robot) -> RobotFrames:
    """Return what `measure` counts, before it is counted."""
    motion = motion.reordered(robot.joint_names)
    place = places(motion, robot)
    soles = place[:, SOLES : SOLES + 4]
    slip = metrics.contact_slip(soles, motion.contact, motion.fps)
    positions = directions = feet = None
    if motion.human_joints is not None:
        human = motion.human_joints[:, [INDEX[name] for name in ANKLES]]
        feet = metrics.position_errors(place[:, _ankles(robot)], human)
        positions, _, directions = (e.mean(axis=1) for e in human_errors(place, motion.human_joints, robot))
    needs = dynamics_report(robot, motion)
    return RobotFrames(
        position_error=positions,
        direction_error=directions,
        foot_error=feet,
        feet_far=None if feet is None else feet >= POSITION_LIMIT,
        over=metrics.beyond_limits(motion.joint_pos, motion.fps, robot.lower, robot.upper, robot.velocity_limit),
        joint_use=metrics.range_use(motion.joint_pos, robot.lower, robot.upper).max(axis=1),
        torque_use=100 * needs.torque_ratio,
        ankle_speed=metrics.fastest(place[:, _ankles(robot)], motion.fps),
        height=soles[..., 2],
        stance_height=np.where(in_contact(motion.contact), np.abs(soles[..., 2]), np.nan),
        slip=slip,
        slips=metrics.is_skating(slip),
    )


def measure(motion: RobotMotion, robot: Robot) -> dict[str, Any]:
    """Return the value of every metric of `phuma.core.robot_metrics` by its name, and the counts that they are of.

    Without a human, all that compares with one is left out. None is unknown: there is nothing to measure it on.
    """
    motion = motion.reordered(robot.joint_names)
    place = places(motion, robot)
    soles, contact, fps = place[:, SOLES : SOLES + 4], motion.contact, motion.fps
    out = {} if motion.human_joints is None else _beside_human(place, motion.human_joints, fps, robot)
    slips = metrics.slip_speeds(soles, contact, fps)
    stands = in_contact(contact)
    heights = soles[..., 2]
    return out | {
        "feasibility": metrics.feasibility(motion.joint_pos, fps, robot.lower, robot.upper, robot.velocity_limit),
        "non_floating": metrics.non_floating(heights, contact),
        "non_penetration": metrics.non_penetration(heights, contact),
        "non_skating": metrics.non_skating(soles, contact, fps),
        "non_penetration_all": metrics.percent(heights >= -HEIGHT_LIMIT),
        "stance_roll_deg": _mean(np.abs(foot_roll(place))[feet_in_contact(contact)]),
        "slip_cm_s_median": _quantile(100 * slips, 0.5),
        "slip_cm_s_p99": _quantile(100 * slips, 0.99),
        "height_mm_p99": _quantile(1000 * np.abs(heights[stands]), 0.99),
        "ankle_speed": _peak(metrics.fastest(place[:, _ankles(robot)], fps)),
        "joint_speed": metrics.joint_speed(motion.joint_pos, fps, robot.velocity_limit),
        "joint_jerk": _jerk(motion.joint_pos, fps),
        **_physics(motion, robot),
        "frames": len(motion),
        "contact_samples": int(stands.sum()),
        "step_samples": len(slips),
    }


def _physics(motion: RobotMotion, robot: Robot) -> dict[str, float | None]:
    """Return what stands in the way of performing it: the robot's own links, its motors, and the unactuated root's
    residual, a force in body weights that nothing supplies."""
    needs = dynamics_report(robot, motion)
    residual = np.linalg.norm(needs.residual[:, :3], axis=1)
    frames = {"residual_contact": needs.contact, "residual_flight": ~needs.contact}
    return {
        "self_penetration": metrics.percent(self_penetration(robot, motion) > DEEP),
        "torque_peak": 100 * needs.peak_torque,
        "torque_over": needs.frames_over_limit,
        **{name: _mean(residual[which]) for name, which in frames.items()},
    }


def combine(scores: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Metrics of many motions as of one long one: each weighted by how many samples it was measured on.

    A metric counts for the motions in which it is known: one without a human has no fidelity, one without contact no
    skating. It is None where no motion has it.
    """
    out: dict[str, Any] = {}
    for name in dict.fromkeys(n for s in scores for n in s):
        if name in SAMPLES:
            out[name] = float(sum(s[name] for s in scores))
            continue
        own = ROBOT_METRICS[name].weight if name in ROBOT_METRICS else "frames"
        known = [s for s in scores if s.get(name) is not None]
        weights = np.array([s[own] for s in known], dtype=float)
        out[name] = float(np.average([s[name] for s in known], weights=weights)) if weights.sum() else None
    return out


def known_in(scores: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """Return in how many motions each metric is known, which are those that `combine` averages over."""
    names = dict.fromkeys(n for s in scores for n in s if n not in SAMPLES)
    return {name: sum(s.get(name) is not None for s in scores) for name in names}


def places(motion: RobotMotion, robot: Robot) -> Array:
    """(T, P, 3) where the keypoints, the soles and their sides are; joints in the robot's order."""
    return point_positions(robot, problem_points(robot), motion)


def human_errors(place: Array, human_joints: Array, robot: Robot) -> tuple[Array, Array, Array]:
    """(T, 12) metres between the keypoints of robot and human, the same with pelvis on pelvis, and (T, 12) degrees
    between their links.

    place (T, P, 3), human_joints (T, 22, 3). The pelvis itself does not count.
    """
    pelvis, links = robot.keypoints.index("pelvis"), link_indices(robot)
    joints = [i for i in range(KEYPOINTS) if i != pelvis]
    own, human = place[:, :KEYPOINTS], human_joints[:, [INDEX[k] for k in robot.keypoints]]
    positions = metrics.position_errors(own, human)[:, joints]
    aligned = metrics.position_errors(own - own[:, pelvis, None], human - human[:, pelvis, None])[:, joints]
    return positions, aligned, metrics.direction_errors(_directions(own, links), _directions(human, links))


def _beside_human(place: Array, human_joints: Array, fps: float, robot: Robot) -> dict[str, float | None]:
    """All variants of fidelity, and how fast the ankles are by the human's."""
    positions, aligned, directions = human_errors(place, human_joints, robot)
    own, human = place[:, _ankles(robot)], human_joints[:, [INDEX[name] for name in ANKLES]]
    return {
        "ankle_speed_ratio": _speed_ratio(metrics.fastest(own, fps), metrics.fastest(human, fps)),
        "fidelity": metrics.fidelity(positions, directions),
        "fidelity_aligned": metrics.fidelity(aligned, directions),
        "fidelity_every": metrics.strict_fidelity(positions, directions),
        "fidelity_samples": metrics.sample_fidelity(positions, directions),
        "position_error_cm": 100 * float(positions.mean()),
        "direction_error_deg": float(directions.mean()),
    }


def _ankles(robot: Robot) -> list[int]:
    return [robot.keypoints.index(name) for name in ANKLES]


def _speed_ratio(robot: Array, human: Array) -> float | None:
    """Greatest of the robot's speeds over the greatest of the human's; one who stands still does not make a leap of
    every twitch."""
    own, theirs = _peak(robot), _peak(human)
    return None if own is None or theirs is None else own / max(theirs, STANDING_SPEED)


def _directions(points: Array, links: Array) -> Array:
    along = points[:, links[:, 1]] - points[:, links[:, 0]]
    return along / np.linalg.norm(along, axis=-1, keepdims=True)


def foot_roll(place: Array) -> Array:
    """(T, 2) degrees by which each sole leans sideways; place (T, P, 3)."""
    across = place[:, [SIDES, SIDES + 2]] - place[:, [SIDES + 1, SIDES + 3]]
    return np.degrees(np.arcsin(np.clip(across[..., 2] / np.linalg.norm(across, axis=-1), -1, 1)))


def human_scores(motion: HumanMotion, contact: Array) -> dict[str, float | None]:
    """The source human's own scores by the same definitions, region by region: the ceiling for any robot."""
    if not len(motion.body.soles):
        return {}
    regions = motion.sole_positions().reshape(len(motion), len(REGIONS), POINTS_PER_REGION, 3).mean(axis=2)
    return {
        "human_non_floating": metrics.non_floating(regions[..., 2], contact),
        "human_non_penetration": metrics.non_penetration(regions[..., 2], contact),
        "human_non_skating": metrics.non_skating(regions, contact, motion.fps),
    }


def _jerk(joint_pos: Array, fps: float) -> float | None:
    """rad/s^3, mean over joints and frames; unknown of fewer than four frames."""
    return float(np.mean(np.abs(np.diff(joint_pos, n=3, axis=0)))) * fps**3 if len(joint_pos) > 3 else None


def _mean(values: Array) -> float | None:
    return float(values.mean()) if values.size else None


def _peak(values: Array) -> float | None:
    return float(values.max()) if values.size and np.isfinite(values).all() else None


def _quantile(values: Array, q: float) -> float | None:
    return float(np.quantile(values, q)) if values.size else None

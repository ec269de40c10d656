"""How good a robot motion is: the five metrics and what stands beside them, on any motion of a known robot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from phuma.motion import HumanMotion
from phuma.retargeting import metrics
from phuma.retargeting.collision_check import self_penetration
from phuma.retargeting.costs import KEYPOINTS, SIDES, SOLES
from phuma.retargeting.dynamics import dynamics_report
from phuma.retargeting.part import link_indices, problem_points
from phuma.robot_motion import RobotMotion
from phuma.robots.kinematics import point_positions
from phuma.robots.robot import Robot
from phuma.rotations import Array
from phuma.skeleton import INDEX, POINTS_PER_REGION, REGIONS

FIVE = ("fidelity", "feasibility", "non_floating", "non_penetration", "non_skating")
DEEP = 0.01  # m of self-penetration that counts


def measure(motion: RobotMotion, robot: Robot) -> dict[str, Any]:
    """Percentages 0 to 100 unless a unit is in the name. Without a human, all that compares with one is left out."""
    motion = motion.reordered(robot.joint_names)
    place = places(motion, robot)
    soles, contact, fps = place[:, SOLES : SOLES + 4], motion.contact, motion.fps
    out = {} if motion.human_joints is None else _fidelity(place, motion.human_joints, robot)
    slips = metrics.slip_speeds(soles, contact, fps)
    stands = contact > metrics.IN_CONTACT
    heights = soles[..., 2]
    return out | {
        "feasibility": metrics.feasibility(motion.joint_pos, fps, robot.lower, robot.upper, robot.velocity_limit),
        "non_floating": metrics.non_floating(heights, contact),
        "non_penetration": metrics.non_penetration(heights, contact),
        "non_skating": metrics.non_skating(soles, contact, fps),
        "non_penetration_all": metrics.percent(heights >= -metrics.HEIGHT_LIMIT),
        "stance_roll_deg": _mean(np.abs(foot_roll(place))[stance_feet(contact)]),
        "slip_cm_s_median": 100 * _quantile(slips, 0.5),
        "slip_cm_s_p99": 100 * _quantile(slips, 0.99),
        "height_mm_p99": 1000 * _quantile(np.abs(heights[stands]), 0.99),
        "joint_jerk": _jerk(motion.joint_pos, fps),
        **_physics(motion, robot),
        "frames": len(motion),
        "contact_samples": int(stands.sum()),
        "step_samples": len(slips),
    }


def _physics(motion: RobotMotion, robot: Robot) -> dict[str, float]:
    """What stands in the way of performing it: the robot's own links, its motors, and the missing hand of a helper.

    Residuals are forces at the root that nothing supplies, in body weights.
    """
    path = motion.root_pos, motion.root_quat, motion.joint_pos
    needs = dynamics_report(robot, *path, motion.fps)
    residual = np.linalg.norm(needs.residual[:, :3], axis=1)
    frames = {"residual_contact": needs.contact, "residual_flight": ~needs.contact}
    return {
        "self_penetration": metrics.percent(self_penetration(robot, *path) > DEEP),
        "torque_peak": 100 * needs.peak_torque,
        "torque_over": needs.frames_over_limit,
        **{name: _mean(residual[which]) for name, which in frames.items() if which.any()},
    }


def combine(scores: Sequence[dict[str, Any]]) -> dict[str, float]:
    """Metrics of many motions as of one long one: each weighted by how many samples it was measured on.

    A metric counts for the motions that have it: one without a human has no fidelity.
    """
    counts = {"non_floating": "contact_samples", "non_penetration": "contact_samples", "non_skating": "step_samples"}
    out = {}
    for name in dict.fromkeys(n for s in scores for n in s):
        if name in ("frames", "contact_samples", "step_samples"):
            out[name] = float(sum(s[name] for s in scores))
            continue
        own = counts.get(name.removeprefix("human_"), "frames")
        weights = np.array([s[own] for s in scores if name in s], dtype=float)
        values = np.array([s[name] for s in scores if name in s])
        out[name] = float(np.average(values, weights=weights)) if weights.sum() else 100.0
    return out


def places(motion: RobotMotion, robot: Robot) -> Array:
    """(T, P, 3) where the keypoints, the soles and their sides are; joints in the robot's order."""
    return point_positions(robot, problem_points(robot), motion.root_pos, motion.root_quat, motion.joint_pos)


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


def _fidelity(place: Array, human_joints: Array, robot: Robot) -> dict[str, float]:
    """All variants of fidelity."""
    positions, aligned, directions = human_errors(place, human_joints, robot)
    return {
        "fidelity": metrics.fidelity(positions, directions),
        "fidelity_aligned": metrics.fidelity(aligned, directions),
        "fidelity_every": metrics.strict_fidelity(positions, directions),
        "fidelity_samples": metrics.sample_fidelity(positions, directions),
        "position_error_cm": 100 * float(positions.mean()),
        "direction_error_deg": float(directions.mean()),
    }


def _directions(points: Array, links: Array) -> Array:
    along = points[:, links[:, 1]] - points[:, links[:, 0]]
    return along / np.linalg.norm(along, axis=-1, keepdims=True)


def foot_roll(place: Array) -> Array:
    """(T, 2) degrees by which each sole leans sideways; place (T, P, 3)."""
    across = place[:, [SIDES, SIDES + 2]] - place[:, [SIDES + 1, SIDES + 3]]
    return np.degrees(np.arcsin(np.clip(across[..., 2] / np.linalg.norm(across, axis=-1), -1, 1)))


def stance_feet(contact: Array) -> Array:
    """(T, 2) whether heel or toe of each foot stands."""
    stands = contact > metrics.IN_CONTACT
    return np.asarray(stands.reshape(-1, 2, 2).any(axis=2))


def human_scores(motion: HumanMotion, contact: Array) -> dict[str, float]:
    """The source human's own scores by the same definitions, region by region: the ceiling for any robot."""
    if not len(motion.body.soles):
        return {}
    regions = motion.sole_positions().reshape(len(motion), len(REGIONS), POINTS_PER_REGION, 3).mean(axis=2)
    return {
        "human_non_floating": metrics.non_floating(regions[..., 2], contact),
        "human_non_penetration": metrics.non_penetration(regions[..., 2], contact),
        "human_non_skating": metrics.non_skating(regions, contact, motion.fps),
    }


def _jerk(joint_pos: Array, fps: float) -> float:
    """rad/s^3, mean over joints and frames."""
    return float(np.mean(np.abs(np.diff(joint_pos, n=3, axis=0)))) * fps**3 if len(joint_pos) > 3 else 0.0


def _mean(values: Array) -> float:
    return float(values.mean()) if values.size else 0.0


def _quantile(values: Array, q: float) -> float:
    return float(np.quantile(values, q)) if values.size else 0.0

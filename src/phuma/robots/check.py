"""A robot's mapping is checked for sense: poses, soles, left and right, senses of knees and elbows."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from phuma.core.rotations import Array
from phuma.robots.kinematics import local_body_poses, points_of
from phuma.robots.model import touching_bodies
from phuma.robots.robot import Robot
from phuma.robots.welding import robot_model

SIDES = ("left", "right")
REACH = 10.0  # degrees that a link may miss the T-pose by
LEVEL = 2.0  # degrees that a sole may lean
HEIGHT = 0.005  # m
MIRROR = 0.01  # m
RANGE = 0.03  # rad
CHAIN = {"leg": ("hip", "knee", "ankle"), "arm": ("shoulder", "elbow", "wrist")}
DEEP = 1e-3  # m that shapes may be in one another
LIGHT = 1.0  # kg: no humanoid weighs less


class Finding(NamedTuple):
    """A finding is one thing that is wrong, or that somebody should see."""

    wrong: bool
    what: str
    edit: str


class Stance(NamedTuple):
    """A stance is a robot in one pose, its root level at the origin."""

    keypoints: dict[str, Array]
    corners: Array
    """(2, 4, 3) of the soles"""
    soles: Array
    """(4, 3) left heel, left toe, right heel, right toe"""


def stand(robot: Robot, pose: Array) -> Stance:
    """Return keypoints and soles at joint angles (N,)."""
    pos, matrix = (v[0] for v in local_body_poses(robot, np.asarray(pose)[None]))

    def at(body: Array, offset: Array) -> Array:
        return pos[body] + np.einsum("...ij,...j->...i", matrix[body], offset)

    keypoints = dict(zip(robot.keypoints, at(robot.keypoint_body, robot.keypoint_offset)))
    feet = robot.sole_body[::2]
    return Stance(keypoints, at(feet[:, None].repeat(4, 1), robot.sole_corners), at(robot.sole_body, robot.sole_point))


def check_robot(robot: Robot) -> list[Finding]:
    """Return all findings, none where a robot is as it should be.

    That its files are complete `load_robot` has checked.
    """
    shared, default = stand(robot, robot.shared_pose), stand(robot, robot.default_pose)
    return [
        *_root(robot, shared),
        *_order(shared),
        *_reach(shared),
        *_soles(robot, "shared_pose", shared),
        *_soles(robot, "default_pose", default),
        *_height(robot, default),
        *_mirror("shared_pose", shared),
        *_mirror("default_pose", default),
        *_pairs(robot),
        *_bends(robot, shared),
        *_model(robot),
    ]


def _root(robot: Robot, shared: Stance) -> Iterator[Finding]:
    if robot.keypoint_body[robot.keypoints.index("pelvis")] != 0:
        name = robot.body_names[robot.keypoint_body[robot.keypoints.index("pelvis")]]
        yield Finding(
            True,
            f"keypoints: pelvis is on {name!r}, not on the root {robot.body_names[0]!r}.",
            f"put it on {robot.body_names[0]!r} with an offset.",
        )
    if not shared.keypoints["left_hip"][1] > shared.keypoints["right_hip"][1]:
        yield Finding(
            True,
            "The left hip is to the right of the right one: the root's axes are not x ahead, y left, z up, or the "
            "sides are swapped.",
            "swap left and right in keypoints and soles, or turn the root's frame in model.xml.",
        )
    for side, heel, toe in zip(SIDES, shared.soles[::2], shared.soles[1::2]):
        if not toe[0] > heel[0]:
            yield Finding(
                True,
                f"The {side} toe is behind its heel: the robot faces backwards, or the two are swapped.",
                f"swap heel and toe in soles: {side}, or turn the root's frame in model.xml so that x is ahead.",
            )


def _order(shared: Stance) -> Iterator[Finding]:
    """Hips above knees above ankles above soles, shoulders above hips."""
    height = {name: float(p[2]) for name, p in shared.keypoints.items()}
    for k, side in enumerate(SIDES):
        height[f"{side} sole"] = float(shared.soles[2 * k : 2 * k + 2, 2].mean())
        above = (("hip", "knee"), ("knee", "ankle"), ("shoulder", "hip"))
        pairs = [(f"{side}_{a}", f"{side}_{b}") for a, b in above] + [(f"{side}_ankle", f"{side} sole")]
        for high, low in pairs:
            if not height[high] > height[low]:
                yield Finding(
                    True,
                    f"In shared_pose {high} is {100 * (height[low] - height[high]):.1f} cm below {low}.",
                    f"correct keypoints: {high} or {low}, or shared_pose.",
                )


def _angle(v: Array, way: Array) -> float:
    size = max(float(np.linalg.norm(v)), 1e-9)
    return float(np.degrees(np.arccos(np.clip(v @ way / size, -1, 1))))


def _reach(shared: Stance) -> Iterator[Finding]:
    """Arms straight out to the sides, legs straight down."""
    for side, y in zip(SIDES, (1.0, -1.0)):
        for limb, way in (("arm", np.array([0.0, y, 0.0])), ("leg", np.array([0.0, 0.0, -1.0]))):
            for a, b in pairwise(CHAIN[limb]):
                miss = _angle(shared.keypoints[f"{side}_{b}"] - shared.keypoints[f"{side}_{a}"], way)
                if miss > REACH:
                    where = "straight out to the side" if limb == "arm" else "straight down"
                    yield Finding(
                        miss > 45,
                        f"In shared_pose the line from {side}_{a} to {side}_{b} misses {where} by {miss:.0f} degrees.",
                        f"edit shared_pose for the joints of the {side} {limb}, or leave it if they reach no farther.",
                    )


def _soles(robot: Robot, name: str, stance: Stance) -> Iterator[Finding]:
    """Flat, level, and both on one ground."""
    for side, c in zip(SIDES, stance.corners):
        normal = np.cross(c[2] - c[0], c[3] - c[1])
        lean = min(_angle(normal, np.array([0.0, 0.0, s])) for s in (1.0, -1.0))
        if lean > LEVEL:
            yield Finding(
                lean > 10,
                f"In {name} the {side} sole leans by {lean:.1f} degrees.",
                f"edit {name} for the ankle, or soles: {side} if its corners are not those of the foot's underside.",
            )
    low = stance.corners[..., 2].min(axis=1)
    if abs(low[0] - low[1]) > HEIGHT:
        yield Finding(
            True,
            f"In {name} the left sole is {100 * (low[0] - low[1]):+.1f} cm above the right one.",
            f"edit {name} or soles so that both feet stand on one ground.",
        )


def _height(robot: Robot, default: Stance) -> Iterator[Finding]:
    lowest = -float(min(default.soles[:, 2].min(), default.corners[..., 2].min()))
    if abs(lowest - robot.default_height) > HEIGHT:
        yield Finding(
            True,
            f"default_height is {robot.default_height:.4f} m; in default_pose the soles are {lowest:.4f} m below the "
            "root.",
            f"set default_height to {lowest:.4f}.",
        )


def _mirror(name: str, stance: Stance) -> Iterator[Finding]:
    flip = np.array([1.0, -1.0, 1.0])
    for part in (p for parts in CHAIN.values() for p in parts):
        left, right = (stance.keypoints[f"{side}_{part}"] for side in SIDES)
        miss = float(np.linalg.norm(left * flip - right))
        if miss > MIRROR:
            yield Finding(
                miss > 5 * MIRROR,
                f"In {name} left_{part} and right_{part} miss being mirror images by {100 * miss:.1f} cm.",
                f"compare the two sides in {name} and in keypoints.",
            )
    middle = (stance.keypoints["left_hip"] + stance.keypoints["right_hip"])[1] / 2
    beside = float(abs(stance.keypoints["pelvis"][1] - middle))
    if beside > MIRROR:
        yield Finding(
            beside > 5 * MIRROR,
            f"In {name} the pelvis is {100 * beside:.1f} cm beside the middle of the hips.",
            "correct keypoints: pelvis.",
        )
    miss = float(np.abs(stance.corners[0] * flip - stance.corners[1]).max())
    if miss > MIRROR:
        yield Finding(
            miss > 5 * MIRROR,
            f"In {name} the soles miss being mirror images by {100 * miss:.1f} cm.",
            "compare left and right in soles, and the order of their corners.",
        )


def _pairs(robot: Robot) -> Iterator[Finding]:
    """Joints of left and right limbs have the same limits."""
    for part in ("ankle", "wrist"):
        left, right = (_joints_above(robot, f"{side}_{part}") for side in SIDES)
        if len(left) != len(right):
            yield Finding(
                False,
                f"left_{part} is moved by {len(left)} joints, right_{part} by {len(right)}.",
                f"compare keypoints: left_{part} and right_{part}.",
            )
            continue
        for a, b in zip(left, right):
            names = f"{robot.joint_names[a]} and {robot.joint_names[b]}"
            if abs(np.ptp([robot.lower[a], robot.upper[a]]) - np.ptp([robot.lower[b], robot.upper[b]])) > RANGE:
                yield Finding(False, f"{names} have ranges of different width.", "compare their ranges in model.xml.")
            for key in ("velocity_limit", "torque_limit"):
                values = getattr(robot, key)
                if abs(values[a] - values[b]) > 1e-3 * values[a]:
                    yield Finding(False, f"{names} have different {key}s.", f"compare them in robot.json: {key}.")


def _joints_above(robot: Robot, keypoint: str) -> list[int]:
    k = robot.keypoints.index(keypoint)
    points = points_of(robot, robot.keypoint_body[k : k + 1], robot.keypoint_offset[k : k + 1])
    return [int(j) for j in points.joints[0, : points.depth[0]]]


def _bends(robot: Robot, shared: Stance) -> Iterator[Finding]:
    """Knees take the foot back, elbows the hand ahead, where a joint's range is wider."""
    for side in SIDES:
        for middle, end, sense, word in (("knee", "ankle", -1, "ahead"), ("elbow", "wrist", 1, "back")):
            own = robot.keypoint_body[robot.keypoints.index(f"{side}_{middle}")]
            joints = np.flatnonzero(robot.joint_body == own)
            if len(joints) != 1:
                continue
            j = int(joints[0])
            more, less = robot.upper[j] - robot.shared_pose[j], robot.shared_pose[j] - robot.lower[j]
            bent = robot.shared_pose.copy()
            bent[j] += 0.2 if more > less else -0.2
            moved = stand(robot, bent).keypoints[f"{side}_{end}"] - shared.keypoints[f"{side}_{end}"]
            if sense * moved[0] < -0.3 * np.linalg.norm(moved) and abs(more - less) > 0.2:
                yield Finding(
                    middle == "knee",
                    f"The {side} {middle} bends the wrong way: where {robot.joint_names[j]} has more room it takes the "
                    f"{end} {word}.",
                    f"see whether the robot faces x, and the range of {robot.joint_names[j]} in model.xml."
                    if middle == "knee"
                    else f"edit shared_pose so that the {side} elbow would bend ahead: turn the upper arm.",
                )


def _model(robot: Robot) -> Iterator[Finding]:
    model = robot_model(robot)
    mass = float(model.body_subtreemass[1])
    if mass < LIGHT:
        yield Finding(
            False,
            f"The model weighs {mass:.2g} kg; torques and ground forces are meaningless then.",
            "give its bodies their inertials in model.xml.",
        )
    for name in ("default_pose", "shared_pose"):
        touching = touching_bodies(model, getattr(robot, name), DEEP)
        for a, b in sorted(tuple(sorted(model.body(i).name for i in pair)) for pair in touching):
            yield Finding(
                True,
                f"In {name} the shapes of {a} and {b} are in one another.",
                f'edit {name}, or add <exclude body1="{a}" body2="{b}"/> to <contact> in model.xml.',
            )

"""The shared pose (a T) and the default pose (standing at ease) are found by a small search limb by limb.

For a limb with joints q the search minimises  sum_l |d_l(q) - d_l*|^2 + sum_v w^2 |v(q) - v*|^2 + c^2 |q - q0|^2  over
its range, where d_l are unit vectors along its links, v those of the sole or the way that the elbow bends, and q0 the
pose that the file draws.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from phuma.core.rotations import Array
from phuma.robots.model import load_mujoco

MARGIN = 0.98  # of a range: what retargeting uses
CALM = 0.02  # weight of keeping still, against 1 for a unit vector
TWIST = 0.3  # weight of the way the elbow bends
STARTS = (0.0, np.pi / 2, -np.pi / 2)
REFINED = 4  # of all starts
STRAIGHT, FLAT = np.radians(3), np.radians(1)  # legs that are so straight, on soles so flat, stay as they are drawn
LEAN, KNEE_BACK = np.radians(14), np.radians(14)  # thigh ahead and shank back, standing at ease
ARM_OUT, FOREARM_AHEAD = np.radians(12), np.radians(35)


class BodyPoint(NamedTuple):
    """This is a point on a body of the compiled model."""

    body: int
    offset: Array


@dataclass(frozen=True)
class LegPose:
    """This is what the search has to know of a leg."""

    joints: list[str]
    hip: BodyPoint
    knee: BodyPoint
    ankle: BodyPoint
    foot: int
    normal: Array
    """(3,) up from the sole, in the foot's frame"""
    ahead: Array


@dataclass(frozen=True)
class ArmPose:
    """This is what the search has to know of an arm."""

    joints: list[str]
    shoulder: BodyPoint
    elbow: BodyPoint
    wrist: BodyPoint
    elbow_joint: str
    straight: float
    """rad: the elbow's angle with a straight arm"""
    flexion: int
    side: int
    """1: left, -1: right"""


class Search:
    """A search poses a compiled model by the names of its joints and starts from the drawn pose."""

    def __init__(self, model: Any, neutral: dict[str, float]) -> None:
        mujoco = load_mujoco()
        self.model, self.data, self._mujoco = model, mujoco.MjData(model), mujoco
        self.neutral = neutral
        self.address = {name: int(model.joint(name).qposadr[0]) for name in neutral}
        self.reset()

    def reset(self) -> None:
        """Pose the model as the file draws it."""
        self.data.qpos[:7] = (0, 0, 0, 1, 0, 0, 0)
        self.set(self.neutral)

    def set(self, pose: dict[str, float]) -> None:
        """Set some joints to angles [rad]."""
        for name, angle in pose.items():
            self.data.qpos[self.address[name]] = angle
        self._mujoco.mj_kinematics(self.model, self.data)

    def at(self, point: BodyPoint) -> Array:
        """Return where a point is (3,), metres."""
        return self.data.xpos[point.body] + self.data.xmat[point.body].reshape(3, 3) @ point.offset

    def way(self, a: BodyPoint, b: BodyPoint) -> Array:
        """Return the unit vector (3,) from a to b."""
        along = self.at(b) - self.at(a)
        return along / max(float(np.linalg.norm(along)), 1e-9)

    def rotated(self, body: int, v: Array) -> Array:
        """Return a vector (3,) of a body's frame in the world."""
        return self.data.xmat[body].reshape(3, 3) @ v

    def axis(self, joint: str) -> Array:
        """Return a joint's axis (3,) in the world."""
        return np.array(self.data.joint(joint).xaxis)

    def bounds(self, joints: Sequence[str]) -> tuple[Array, Array]:
        """Return the part of each range (J,), (J,) that retargeting uses."""
        lower, upper = np.array([self.model.joint(name).range for name in joints]).T
        return np.where(lower < 0, MARGIN * lower, lower), np.where(upper > 0, MARGIN * upper, upper)

    def minimise(
        self, joints: Sequence[str], residual: Callable[[], Array], starts: Sequence[Array]
    ) -> dict[str, float]:
        """Return the best pose of some joints: the most promising starts are refined."""
        from scipy.optimize import least_squares

        lower, upper = self.bounds(joints)
        home = np.clip([self.neutral[name] for name in joints], lower, upper)

        def cost(q: Array) -> Array:
            self.set(dict(zip(joints, q)))
            return np.concatenate([residual(), CALM * (q - home)])

        inside = [np.clip(s, lower + 1e-6, upper - 1e-6) for s in starts]
        ranked = sorted(inside, key=lambda s: float(np.sum(cost(s) ** 2)))[:REFINED]
        found = [least_squares(cost, s, bounds=(lower, upper), xtol=1e-10, ftol=1e-10) for s in ranked]
        best = min(found, key=lambda f: round(float(f.cost), 9))
        pose = dict(zip(joints, best.x.tolist()))
        self.set(pose)
        return pose


def leg_pose(search: Search, leg: LegPose, lean: float, back: float) -> dict[str, float]:
    """Return a leg with the thigh `lean` [rad] ahead of straight down, the shank `back` behind it, the sole level."""

    def residual() -> Array:
        thigh, shank = search.way(leg.hip, leg.knee), search.way(leg.knee, leg.ankle)
        wanted = _in_plane(thigh, lean), _in_plane(shank, -back)
        sole = search.rotated(leg.foot, leg.normal) - [0, 0, 1], search.rotated(leg.foot, leg.ahead) - [1, 0, 0]
        return np.concatenate([thigh - wanted[0], shank - wanted[1], *sole])

    search.set({name: search.neutral[name] for name in leg.joints})
    drawn = residual()
    if lean == back == 0 and max(np.linalg.norm(drawn[:3]), np.linalg.norm(drawn[3:6])) < STRAIGHT:
        flat = np.linalg.norm(drawn[6:9])
        if flat < FLAT:
            return {name: search.neutral[name] for name in leg.joints}
    home = np.array([search.neutral[name] for name in leg.joints])
    starts = [home, *(home + s * np.eye(len(home))[k] for k in range(len(home)) for s in (0.4, -0.4))]
    return search.minimise(leg.joints, residual, starts)


def _in_plane(way: Array, lean: float) -> Array:
    """Down and `lean` [rad] ahead, as far to the side as `way` (3,) is, up to ten degrees."""
    side = float(np.clip(way[1], -0.17, 0.17))
    down = np.sqrt(1 - side**2)
    return np.array([down * np.sin(lean), side, -down * np.cos(lean)])


def arm_pose(
    search: Search, arm: ArmPose, upper: Array, fore: Array, bends: Array, bent: float = 0.0
) -> dict[str, float]:
    """Return an arm with its links along `upper` and `fore` (3,), whose elbow takes the hand towards `bends` (3,)."""

    def residual() -> Array:
        first, second = search.way(arm.shoulder, arm.elbow), search.way(arm.elbow, arm.wrist)
        # The wrist's way when the elbow bends, level with the elbow's plane.
        motion = arm.flexion * np.cross(search.axis(arm.elbow_joint), second)
        return np.concatenate([first - upper, second - fore, TWIST * (motion - bends)])

    home = np.array([search.neutral[name] for name in arm.joints])
    elbow = arm.joints.index(arm.elbow_joint)
    home[elbow] = arm.straight + arm.flexion * bent
    offsets = product(STARTS, repeat=min(elbow, 3))
    starts = [home + np.pad(np.array(t), (0, len(home) - len(t))) for t in offsets]
    return search.minimise(arm.joints, residual, starts)


def shared_pose(search: Search, legs: Sequence[LegPose], arms: Sequence[ArmPose]) -> dict[str, float]:
    """Return a pose with legs straight, soles level, arms straight out to the sides, elbows that would bend ahead."""
    search.reset()
    pose = dict(search.neutral)
    for leg in legs:
        pose |= leg_pose(search, leg, 0.0, 0.0)
    for arm in arms:
        out = np.array([0.0, arm.side, 0.0])
        pose |= arm_pose(search, arm, out, out, np.array([1.0, 0.0, 0.0]))
    return pose


def default_pose(search: Search, legs: Sequence[LegPose], arms: Sequence[ArmPose]) -> dict[str, float]:
    """Return a pose with knees a little bent, soles level, arms down and a little out, elbows bent."""
    search.reset()
    pose = dict(search.neutral)
    for leg in legs:
        pose |= leg_pose(search, leg, LEAN, KNEE_BACK)
    for arm in arms:
        upper = np.array([0.0, arm.side * np.sin(ARM_OUT), -np.cos(ARM_OUT)])
        fore = np.array([np.sin(FOREARM_AHEAD), 0.0, -np.cos(FOREARM_AHEAD)])
        bends = np.array([np.cos(FOREARM_AHEAD), 0.0, np.sin(FOREARM_AHEAD)])
        pose |= arm_pose(search, arm, upper, fore, bends, FOREARM_AHEAD)
    return pose


def sole_heights(search: Search, pose: dict[str, float], soles: Sequence[tuple[int, Array]]) -> Array:
    """Return the heights (S,) of points on bodies, with the root level at height 0."""
    search.reset()
    search.set(pose)
    return np.array([search.at(BodyPoint(body, offset))[2] for body, offset in soles])

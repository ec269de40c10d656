"""A plan is solved to a motion.

A plan says what a person attends to: where the feet go, how trunk and arms are held, and where the centre of mass is.
Pelvis and legs follow from that: the pelvis is where the centre of mass comes out right, never higher than the legs
reach, and the legs are solved between pelvis and feet.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from phuma.body.mass import centre_of_mass
from phuma.core import rotations as rot
from phuma.core.body import Body
from phuma.core.rotations import Array
from phuma.core.skeleton import INDEX, N_JOINTS, REST_TO_WORLD
from phuma.synth.curves import Function, ramp, sampled
from phuma.synth.feet import FootMotion, FootPlan, FootShape, Footstep
from phuma.synth.legs import bones, free_ankle, reach, solve_leg, within_reach

SIDES = ("left", "right")
GRID = 120.0
"""Hz at which the pelvis' path is solved, whatever the frame rate, so that every rate samples the same motion"""
MARGIN = 0.4  # s by which that path is solved beyond either end
STRAIGHT = np.radians(5.0)
EASY = np.radians(14.0)  # bend below which a leg in the air is held back from straightening further
ITERATIONS = 7


@dataclass
class Arm:
    """These are an arm's angles over T frames, radians, zero hanging straight down; each (T,)."""

    flex: Array
    """forward"""
    abduct: Array
    """sideways"""
    twist: Array
    """the upper arm turned inward"""
    elbow: Array
    wrist: Array
    """bent towards the palm"""


@dataclass
class Posture:
    """A posture is trunk, head and arms over T frames.

    Each is (T, 3): rotation vectors about x (bend forward), y (yaw left) and z (lean right), radians; the pelvis' yaw
    is its heading in the world.
    """

    pelvis: Array
    spine: Array
    head: Array
    arms: tuple[Arm, Arm]
    shrug: Array
    """(T,) both shoulders raised, radians: breath"""


Holding = Callable[[Array], Posture]
"""Times (T,) to the posture held then"""


@dataclass(frozen=True)
class Plan:
    """A plan is what a motion is made of."""

    feet: tuple[FootPlan, FootPlan]
    posture: Holding
    target: Function
    """(T,) seconds to (T, 3) metres: where the followed point is"""
    follow: tuple[str, str] = ("mass", "pelvis")
    """What follows `target` over the ground and in height: the centre of `mass` or the `pelvis`"""
    straight: float = STRAIGHT
    """radians, the least bend of a standing leg's knee; near zero a knee moves fast, so brisk motions need more"""


@dataclass(frozen=True)
class Stance:
    """A stance is how a person stands, with which most plans begin."""

    body: Body
    width: float
    """between the ankles, metres"""
    toe_out: float
    """radians"""

    def footstep(self, side: str, x: float = 0.0) -> Footstep:
        """Return the footstep of the left or right foot, x metres ahead."""
        sign = 1.0 if side == "left" else -1.0
        return Footstep(x, 0.5 * sign * self.width, sign * self.toe_out)

    def foot(self, side: str, x: float = 0.0) -> FootPlan:
        """Return the plan of a foot that stands x metres ahead."""
        return FootPlan(FootShape.of(self.body, side), self.footstep(side, x))

    @property
    def over_feet(self) -> float:
        """Return how far in front of the ankles the centre of mass of a standing person is, metres."""
        return 0.35 * FootShape.of(self.body, "left").ball

    def pelvis_height(self, knee: float = 0.13) -> float:
        """Return the height of the pelvis over flat feet side by side with the knees bent by `knee` radians, metres."""
        leg = float(reach(*bones(self.body, "left"), knee))
        drop = self.body.joints[INDEX["pelvis"], 1] - self.body.joints[INDEX["left_hip"], 1]
        aside = 0.5 * self.width - abs(float(self.body.joints[INDEX["left_hip"], 0]))
        return FootShape.of(self.body, "left").ankle + float(np.sqrt(leg**2 - aside**2)) + float(drop)


@dataclass(frozen=True)
class Solved:
    """This is a plan's motion at T times."""

    root_pos: Array
    joint_quat: Array
    contact: NDArray[np.bool_]
    """(T, 4)"""


def solve(plan: Plan, body: Body, times: Array) -> Solved:
    """Return the motion of a plan at `times` (T,) seconds."""
    grid = np.arange(times[0] - MARGIN, times[-1] + MARGIN, 1 / GRID)
    pelvis = sampled(grid, _pelvis_path(plan, body, grid))(times)
    moment = _Moment(plan, body, times)
    contact = np.concatenate([f.contact for f in moment.feet], axis=1)
    return Solved(pelvis, moment.quats(pelvis), contact)


def _pelvis_path(plan: Plan, body: Body, times: Array) -> Array:
    """(T, 3) the pelvis such that the plan's target is met, by fixed-point iteration: a shift of the pelvis moves the
    centre of mass by almost as much."""
    moment = _Moment(plan, body, times)
    target = plan.target(times)
    over, height = plan.follow
    pelvis = target.copy()
    if height == "mass":
        pelvis[:, 2] -= 0.03
    for _ in range(ITERATIONS):
        missing = target - centre_of_mass(body.forward(pelvis, moment.quats(pelvis)))
        if over == "mass":
            pelvis[:, :2] += 1.1 * missing[:, :2]
        if height == "mass":
            pelvis[:, 2] += 1.1 * missing[:, 2]
        else:
            pelvis[:, 2] = target[:, 2]
        pelvis[:, 2] -= _smooth_cover(np.maximum(pelvis[:, 2] - moment.highest(pelvis, plan.straight), 0.0))
    return pelvis


def mass_height(plan: Plan, body: Body, times: ArrayLike, knee: ArrayLike) -> Array:
    """Return heights (T,) of the centre of mass at times (T,) with the straighter knee bent by `knee` radians."""
    moment = _Moment(plan, body, np.atleast_1d(np.asarray(times, dtype=float)))
    target = plan.target(moment.times)
    pelvis = target.copy()
    for _ in range(4):
        pelvis[:, 2] = moment.highest(pelvis, knee)
        mass = centre_of_mass(body.forward(pelvis, moment.quats(pelvis)))
        pelvis[:, :2] += 1.1 * (target - mass)[:, :2]
    return mass[:, 2]


def _smooth_cover(need: Array, seconds: float = 0.11) -> Array:
    """A smooth curve that is nowhere below `need` (T,): its running maximum, averaged over the same window."""
    half = int(seconds * GRID)
    padded = np.pad(need, 2 * half, mode="edge")
    covered = np.lib.stride_tricks.sliding_window_view(padded, 2 * half + 1).max(axis=1)
    # A window with smooth edges: what it averages has no corners.
    kernel = np.hanning(2 * half + 3)[1:-1] ** 2
    return np.convolve(covered, kernel / kernel.sum(), mode="valid")


@dataclass
class _Moment:
    """This is a plan evaluated at given times, waiting for the pelvis."""

    plan: Plan
    body: Body
    times: Array
    feet: list[FootMotion] = field(init=False)
    base: Array = field(init=False)
    """(T, 22, 4) local rotations without the legs"""

    def __post_init__(self) -> None:
        self.feet = [f.at(self.times) for f in self.plan.feet]
        posture = self.plan.posture(self.times)
        self.base = upper_body(posture)
        self.heading = posture.pelvis[:, 1]

    def hip(self, pelvis: Array, side: str) -> Array:
        return pelvis + rot.rotate(self.base[:, 0], self.body.offsets[INDEX[f"{side}_hip"]])

    def ankle(self, pelvis: Array, side: str) -> Array:
        foot, thigh_shank = self.feet[SIDES.index(side)], bones(self.body, side)
        if not foot.free_weight.any():
            return foot.ankle
        hip = self.hip(pelvis, side)
        free = free_ankle(*thigh_shank, hip, self.heading, foot.free_leg)
        ankle = foot.ankle + foot.free_weight[:, None] * (free - foot.ankle)
        held = within_reach(hip, ankle, float(reach(*thigh_shank, EASY)), float(reach(*thigh_shank, 0.5 * STRAIGHT)))
        # Held up where the foot would graze the ground; a smooth corner of 4 mm.
        deep = foot.clearance - held[:, 2]
        held[:, 2] += ramp(foot.free_weight, 0.0, 0.15) * 0.5 * (deep + np.sqrt(deep**2 + 0.004**2))
        return np.where(foot.free_weight[:, None] > 0, held, ankle)

    def highest(self, pelvis: Array, knee: ArrayLike) -> Array:
        """(T,) the height of the pelvis at which a leg's knee is the first to be bent by no more than `knee`."""
        tops = []
        for side, foot in zip(SIDES, self.feet):
            gap = foot.ankle - self.hip(pelvis, side)
            longest = reach(*bones(self.body, side), knee)
            level = np.minimum(np.linalg.norm(gap[:, :2], axis=-1), 0.95 * longest)
            top = pelvis[:, 2] + gap[:, 2] + np.sqrt(longest**2 - level**2)
            tops.append(np.where(foot.free_weight > 0, np.inf, top))
        return np.minimum(*tops)

    def quats(self, pelvis: Array) -> Array:
        """(T, 22, 4) local rotations with the legs solved for a pelvis (T, 3)."""
        out = self.base.copy()
        for side, foot in zip(SIDES, self.feet):
            knee_yaw = 0.5 * (foot.yaw + self.heading)
            left = np.stack([-np.sin(knee_yaw), np.cos(knee_yaw), np.zeros_like(knee_yaw)], axis=-1)
            hip, ankle = self.hip(pelvis, side), self.ankle(pelvis, side)
            thigh, shank = solve_leg(*bones(self.body, side), hip, ankle, left)
            stand = rot.multiply(rot.from_axis("z", foot.yaw), REST_TO_WORLD)
            sole = rot.multiply(stand, rot.from_axis("x", foot.pitch))
            out[:, INDEX[f"{side}_hip"]] = rot.multiply(rot.conjugate(out[:, 0]), thigh)
            out[:, INDEX[f"{side}_knee"]] = rot.multiply(rot.conjugate(thigh), shank)
            out[:, INDEX[f"{side}_ankle"]] = rot.multiply(rot.conjugate(shank), sole)
            out[:, INDEX[f"{side}_foot"]] = rot.from_axis("x", foot.toe - foot.pitch)
        return rot.continuous(out)


def upper_body(posture: Posture) -> Array:
    """Return local rotations (T, 22, 4) wxyz of pelvis, spine, head and arms; legs as at rest."""
    quat = np.zeros((len(posture.pelvis), N_JOINTS, 4))
    quat[..., 0] = 1.0
    upright = posture.pelvis * np.array([1.0, 0.0, 1.0])
    heading = rot.multiply(rot.from_axis("z", posture.pelvis[:, 1]), REST_TO_WORLD)
    quat[:, 0] = rot.multiply(heading, rot.from_rotvec(upright))
    for joint, share in (("spine1", 0.35), ("spine2", 0.35), ("spine3", 0.3)):
        quat[:, INDEX[joint]] = rot.from_rotvec(share * posture.spine)
    for joint, share in (("neck", 0.55), ("head", 0.45)):
        quat[:, INDEX[joint]] = rot.from_rotvec(share * posture.head)
    for side, arm in zip(SIDES, posture.arms):
        _put_arm(quat, side, arm, posture.shrug)
    return quat


def _put_arm(quat: Array, side: str, arm: Arm, shrug: Array) -> None:
    """At rest the arms point sideways with the palms down and the elbow bends forward."""
    sign = 1.0 if side == "left" else -1.0
    # The shoulder blade takes its part of what the arm is raised.
    lift = shrug + 0.18 * (1 - np.cos(arm.flex) * np.cos(arm.abduct))
    collar = rot.from_axis("z", sign * lift)
    hanging = rot.from_axis("z", sign * (arm.abduct - np.pi / 2))
    turned = rot.multiply(hanging, rot.from_axis("x", arm.twist))
    raised = rot.multiply(rot.from_axis("x", -arm.flex), turned)
    quat[:, INDEX[f"{side}_collar"]] = collar
    quat[:, INDEX[f"{side}_shoulder"]] = rot.multiply(rot.conjugate(collar), raised)
    quat[:, INDEX[f"{side}_elbow"]] = rot.from_axis("y", -sign * arm.elbow)
    quat[:, INDEX[f"{side}_wrist"]] = rot.from_axis("z", -sign * arm.wrist)

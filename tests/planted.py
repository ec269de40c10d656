"""Motions whose standing feet stand perfectly still: knee bends and a walk, by forward kinematics alone."""

from __future__ import annotations

import numpy as np

from phuma.body import Body
from phuma.core import rotations as rot
from phuma.core.human_motion import HumanMotion
from phuma.core.provenance import Provenance
from phuma.core.rotations import Array
from phuma.core.skeleton import INDEX, N_JOINTS, REST_TO_WORLD

SIDES = ("left", "right")


def walk(body: Body, seconds: float = 6.0, fps: float = 30.0, steps_per_second: float = 1.8) -> HumanMotion:
    """Straight ahead; one foot stands, the other one swings."""
    phase = np.arange(round(seconds * fps)) / fps * steps_per_second
    odd = (phase % 2) >= 1
    swing = 0.4 * np.cos(np.pi * phase)
    lift = np.sin(np.pi * (phase % 1)) ** 2
    bend = {"left": 0.15 + 0.9 * lift * odd, "right": 0.15 + 0.9 * lift * ~odd}
    pitch = {"left": swing + 0.5 * bend["left"], "right": -swing + 0.5 * bend["right"]}
    quat, ankles = _legs(body, pitch, bend, np.zeros(len(phase)))
    # The left foot stands in even steps; the pelvis moves by what the standing ankle moves below it.
    stance = np.where(odd[:-1, None], np.diff(ankles["right"], axis=0), np.diff(ankles["left"], axis=0))
    root = np.concatenate([np.zeros((1, 3)), -np.cumsum(stance, axis=0)]) + np.array([0, 0, 0.9])
    return HumanMotion(body, root, quat, fps, Provenance("made up", "none"))


def squat(body: Body, seconds: float = 6.0, fps: float = 30.0) -> HumanMotion:
    """Knee bends and shifts of weight from side to side, both feet planted."""
    t = np.arange(round(seconds * fps)) / fps
    bend = 0.1 + 0.7 * (1 - np.cos(2 * t))
    roll = 0.12 * np.sin(1.3 * t)
    quat, ankles = _legs(body, dict.fromkeys(SIDES, bend / 2), dict.fromkeys(SIDES, bend), roll)
    return HumanMotion(body, np.array([0, 0.1, 0]) - ankles["left"], quat, fps, Provenance("made up", "none"))


def _legs(body: Body, pitch: dict[str, Array], bend: dict[str, Array], roll: Array) -> tuple[Array, dict[str, Array]]:
    """joint_quat (T, 22, 4) with feet kept level, and ankles (T, 3) from the pelvis, for hip and knee angles [rad]."""
    quat = np.tile(rot.IDENTITY, (len(roll), N_JOINTS, 1))
    quat[:, 0] = REST_TO_WORLD
    for side in SIDES:
        hip = rot.multiply(rot.from_axis("z", roll), rot.from_axis("x", -pitch[side]))
        knee = rot.from_axis("x", bend[side])
        quat[:, INDEX[f"{side}_hip"]] = hip
        quat[:, INDEX[f"{side}_knee"]] = knee
        quat[:, INDEX[f"{side}_ankle"]] = rot.conjugate(rot.multiply(hip, knee))
    pose = body.forward(np.zeros((len(roll), 3)), quat)
    return quat, {side: pose.position[:, INDEX[f"{side}_ankle"]] for side in SIDES}

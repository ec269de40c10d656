"""Torque and speed limits, armatures and gains are the URDF's, the model's, or assumed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from phuma.robots.model import load_mujoco
from phuma.robots.onboarding.ambiguities import Ambiguity, some
from phuma.robots.onboarding.model_file import UrdfLimit
from phuma.robots.onboarding.rig import Rig

SPEED = 20.0
"""rad/s of a joint of which nothing is known: that of the G1's slowest, and near the H1-2's hips"""
TORQUE_SHARES = {"hip": 0.4, "knee": 0.6, "ankle": 0.15, "waist": 0.4, "shoulder": 0.1, "elbow": 0.1, "other": 0.03}
"""Of weight times leg length, rounded from the built-in robots: hip 0.36 and 0.42, knee 0.54 and 0.66, and so on"""
OMEGA = 2 * np.pi * 10  # rad/s: a joint's position control swings at 10 Hz
G = 9.81


@dataclass(frozen=True)
class Motor:
    """A motor drives a joint: Nm, rad/s, kg m^2, Nm/rad, Nm s/rad."""

    torque: float
    speed: float
    armature: float
    stiffness: float
    damping: float


def motors_of(
    rig: Rig, model: Any, limits: Mapping[str, UrdfLimit], parts: Mapping[str, str], leg: float
) -> tuple[dict[str, Motor], list[Ambiguity]]:
    """Return a motor for every hinge, and what of it is assumed.

    `parts` says to what part of the robot a joint belongs, `leg` is a leg's length [m].
    """
    mass = sum(link.mass for link in rig.links)
    own = _actuators(model)
    out: dict[str, Motor] = {}
    assumed: dict[str, list[str]] = {"torque": [], "speed": [], "gains": []}
    for _, hinge in rig.hinges_of(range(len(rig.links))):
        known = limits.get(hinge.name, UrdfLimit(None, None))
        found = [t for t in (known.effort, own.get(hinge.name, _NOTHING).torque) if t]
        share = TORQUE_SHARES.get(parts.get(hinge.name, "other"), TORQUE_SHARES["other"])
        torque = min(found) if found else _rounded(share * mass * G * leg)
        assumed["torque"] += [] if found else [hinge.name]
        assumed["speed"] += [] if known.velocity else [hinge.name]
        gains = own.get(hinge.name, _NOTHING)
        armature = hinge.armature or _rounded(0.0251 * (torque / 139) ** 1.13)
        stiff = gains.stiffness or _rounded(armature * OMEGA**2)
        damp = gains.damping or _rounded(4 * armature * OMEGA)
        assumed["gains"] += [] if gains.stiffness else [hinge.name]
        out[hinge.name] = Motor(torque, known.velocity or SPEED, armature, stiff, damp)
    return out, _ambiguities(assumed, len(out), bool(limits))


@dataclass(frozen=True)
class _Actuator:
    torque: float | None
    stiffness: float | None = None
    damping: float | None = None


_NOTHING = _Actuator(None)


def _actuators(model: Any) -> dict[str, _Actuator]:
    """By joint: the strictest torque that the joint or its actuators allow, and a position actuator's gains.

    An actuator acts on its joint by its gear; without a force range a motor's control range is one.
    """
    mujoco = load_mujoco()
    out = {}
    fixed, none = int(mujoco.mjtGain.mjGAIN_FIXED), int(mujoco.mjtBias.mjBIAS_NONE)
    affine = int(mujoco.mjtBias.mjBIAS_AFFINE)
    for j in range(model.njnt):
        ranges, stiffness, damping = [], None, None
        if bool(model.jnt_actfrclimited[j]):
            ranges.append(min(abs(float(v)) for v in model.jnt_actfrcrange[j]))
        for a in range(model.nu):
            on_joint = int(model.actuator_trntype[a]) == int(mujoco.mjtTrn.mjTRN_JOINT)
            if not on_joint or int(model.actuator_trnid[a, 0]) != j:
                continue
            gear = abs(float(model.actuator_gear[a, 0]))
            bias = int(model.actuator_biastype[a])
            if bool(model.actuator_forcelimited[a]):
                ranges.append(gear * min(abs(float(v)) for v in model.actuator_forcerange[a]))
            elif bool(model.actuator_ctrllimited[a]) and bias == none and int(model.actuator_gaintype[a]) == fixed:
                gain = abs(float(model.actuator_gainprm[a, 0]))
                ranges.append(gear * gain * min(abs(float(v)) for v in model.actuator_ctrlrange[a]))
            if bias == affine and model.actuator_biasprm[a, 1] < 0:
                stiffness = -float(model.actuator_biasprm[a, 1]) * gear**2
                damping = -float(model.actuator_biasprm[a, 2]) * gear**2 or None
        torque = min((r for r in ranges if r > 0), default=None)
        out[model.joint(j).name] = _Actuator(torque, stiffness, damping)
    return out


def _rounded(value: float) -> float:
    """To three digits."""
    return float(f"{value:.3g}")


def _ambiguities(assumed: Mapping[str, list[str]], count: int, with_urdf: bool) -> list[Ambiguity]:
    out = []

    def which(names: list[str]) -> str:
        return "every joint" if len(names) == count else f"{len(names)} joints ({some(names)})"

    give = "" if with_urdf else "run `phuma robot init` again with --urdf FILE, or "
    if assumed["speed"]:
        out.append(
            Ambiguity(
                f"Speed limits of {which(assumed['speed'])} are assumed to be {SPEED:g} rad/s: an MJCF holds none.",
                f"{give}edit velocity_limit in robot.json.",
            )
        )
    if assumed["torque"]:
        out.append(
            Ambiguity(
                f"Torque limits of {which(assumed['torque'])} are assumed from the robot's weight and leg length.",
                f"{give}give torque_limit in robot.json.",
            )
        )
    if assumed["gains"]:
        out.append(
            Ambiguity(
                f"Gains of {which(assumed['gains'])} are assumed, armatures too where the model has none; retargeting "
                "uses neither.",
                "give armature, stiffness and damping in robot.json before a policy is trained.",
            )
        )
    return out

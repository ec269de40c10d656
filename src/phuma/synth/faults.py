"""Faults of recordings are added to a motion on purpose and in known strength, to see whether they are noticed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from phuma.core import rotations as rot
from phuma.core.human_motion import HumanMotion
from phuma.core.rotations import Array
from phuma.synth.chair import sit_on_nothing
from phuma.synth.curves import pulse


@dataclass(frozen=True)
class Fault:
    """A fault is one way in which recordings go wrong."""

    name: str
    unit: str
    strengths: tuple[float, ...]
    """Slight, plain, gross"""
    change: Callable[[HumanMotion, float, np.random.Generator], HumanMotion]

    def apply(self, motion: HumanMotion, strength: float, seed: int = 0) -> HumanMotion:
        """Return the motion with this fault of `strength` in its unit; zero changes nothing."""
        if strength == 0:
            return motion
        faulty = self.change(motion, strength, np.random.default_rng(seed))
        notes = (*motion.provenance.notes, f"fault: {self.name} {strength:g} {self.unit}")
        return replace(faulty, provenance=replace(motion.provenance, notes=notes))


def _times(motion: HumanMotion) -> Array:
    return np.arange(len(motion)) / motion.fps


def _moved(motion: HumanMotion, by: Array) -> HumanMotion:
    """Return the motion moved by (T, 3) metres."""
    return replace(motion, root_pos=motion.root_pos + by)


def _jitter(motion: HumanMotion, millimetres: float, rng: np.random.Generator) -> HumanMotion:
    """White noise: the pelvis by that standard deviation on each axis, each joint by as much as moves the far end of
    half a metre by 0.3 of it, so that hands and feet shake about as the pelvis does."""
    metres = millimetres / 1000
    noise = rot.from_rotvec(rng.normal(0, 0.3 * metres / 0.5, (*motion.joint_quat.shape[:2], 3)))
    shaken = replace(motion, joint_quat=rot.normalize(rot.multiply(motion.joint_quat, noise)))
    return _moved(shaken, rng.normal(0, metres, motion.root_pos.shape))


def _float(motion: HumanMotion, centimetres: float, rng: np.random.Generator) -> HumanMotion:
    """Lift the motion off the ground for 40 % of the time."""
    whole = len(motion) / motion.fps
    start, edge = rng.uniform(0.1, 0.5) * whole, min(0.3, 0.08 * whole)
    end = start + 0.4 * whole
    half = 0.5 * edge
    lift = pulse(_times(motion), start - half, start + half, end - half, end + half)
    return _moved(motion, np.outer(lift, [0.0, 0.0, centimetres / 100]))


def _drift(motion: HumanMotion, centimetres: float, rng: np.random.Generator) -> HumanMotion:
    """The ground sinks away steadily, as the depth of a video drifts."""
    return _moved(motion, np.outer(_times(motion), [0.0, 0.0, centimetres / 100]))


def _tilt(motion: HumanMotion, degrees: float, rng: np.random.Generator) -> HumanMotion:
    """Rotate the whole motion about a level line on the ground below the start, as by a camera that is not level."""
    way = rng.uniform(0, 2 * np.pi)
    tilt = rot.from_rotvec(np.radians(degrees) * np.array([np.cos(way), np.sin(way), 0.0]))
    start = motion.root_pos[0] * [1.0, 1.0, 0.0]
    quat = motion.joint_quat.copy()
    quat[:, 0] = rot.multiply(tilt, quat[:, 0])
    return replace(motion, root_pos=rot.rotate(tilt, motion.root_pos - start) + start, joint_quat=quat)


def _slide(motion: HumanMotion, speed: float, rng: np.random.Generator) -> HumanMotion:
    """Carry the motion along over the ground at constant speed, as on ice."""
    way = rng.uniform(0, 2 * np.pi)
    return _moved(motion, np.outer(_times(motion), [speed * np.cos(way), speed * np.sin(way), 0.0]))


def _chair(motion: HumanMotion, centimetres: float, rng: np.random.Generator) -> HumanMotion:
    """Let somebody of the same body, at the same point, sit down on a chair that is not there."""
    return sit_on_nothing(motion, centimetres / 100, rng)


FAULTS: dict[str, Fault] = {
    f.name: f
    for f in (
        Fault("jitter", "mm", (5.0, 15.0, 40.0), _jitter),
        Fault("float", "cm", (5.0, 10.0, 20.0), _float),
        Fault("drift", "cm/s", (2.0, 5.0, 10.0), _drift),
        Fault("tilt", "deg", (3.0, 6.0, 12.0), _tilt),
        Fault("slide", "m/s", (0.1, 0.3, 0.6), _slide),
        Fault("chair", "cm", (20.0, 35.0, 50.0), _chair),
    )
}

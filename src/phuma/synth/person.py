"""A person at ease stands, holds the arms, sways and breathes in an own way, before doing anything."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from phuma.core.body import Body
from phuma.core.rotations import Array
from phuma.synth.curves import Function, wander
from phuma.synth.plan import Arm, Posture, Stance


@dataclass
class Person:
    """A person has habits, drawn once per motion; angles in radians."""

    body: Body
    rng: np.random.Generator
    stance: Stance
    sway: tuple[Function, Function]
    """metres forward and to the left"""

    @staticmethod
    def drawn(body: Body, rng: np.random.Generator, calm: float = 1.0) -> Person:
        """Draw a person; `calm` scales the sway of the centre of mass."""
        hips = 2 * abs(float(body.joints[1, 0]))
        stance = Stance(body, hips * rng.uniform(0.95, 1.35), np.radians(rng.uniform(4, 11)))
        return Person(body, rng, stance, (wander(rng, 0.006 * calm), wander(rng, 0.004 * calm)))

    def posture(self) -> _AtEase:
        """Draw the posture of this person at ease, a function of time."""
        return _AtEase.drawn(self.rng)

    def balance(self, t: Array, height: Array | float = 0.0) -> Array:
        """Return where the centre of mass of this person standing at the origin is (T, 3), with the pelvis' height."""
        x = self.stance.over_feet + self.sway[0](t)
        return np.stack([x, self.sway[1](t), self.stance.pelvis_height() + height + np.zeros_like(t)], axis=-1)


@dataclass
class _AtEase:
    """This is the posture of a person at ease as a function of time; a motion adds its own to what it returns."""

    small: list[Function]
    """slow drifts of unit size, one for each angle that wanders"""
    breath: tuple[float, float]
    """Hz, phase"""
    arms: Array
    """(2, 5) habitual flex, abduct, twist, elbow, wrist"""
    lean: float

    @staticmethod
    def drawn(rng: np.random.Generator) -> _AtEase:
        habit = np.array([0.03, 0.12, 0.30, 0.24, 0.08]) + rng.normal(0, 1, 5) * [0.03, 0.02, 0.10, 0.06, 0.04]
        arms = habit + rng.normal(0, 1, (2, 5)) * [0.02, 0.01, 0.05, 0.03, 0.03]
        arms[:, 3] = np.maximum(arms[:, 3], 0.12)
        return _AtEase(
            small=[wander(rng, 1.0, 0.1, 0.5) for _ in range(19)],
            breath=(rng.uniform(0.22, 0.32), rng.uniform(0, 2 * np.pi)),
            arms=arms,
            lean=rng.normal(0.02, 0.01),
        )

    def __call__(self, t: Array) -> Posture:
        noise = np.stack([f(t) for f in self.small], axis=-1)
        breath = np.sin(2 * np.pi * self.breath[0] * t + self.breath[1])
        pelvis = 0.006 * noise[:, 0:3] + [self.lean, 0.0, 0.0]
        spine = 0.010 * noise[:, 3:6] + np.stack([0.03 - 0.010 * breath, 0 * t, 0 * t], axis=-1)
        head = np.array([0.02, 0.05, 0.015]) * noise[:, 6:9] + np.stack([0.006 * breath, 0 * t, 0 * t], axis=-1)
        move = np.array([0.015, 0.008, 0.02, 0.02, 0.02])
        angles = [self.arms[i] + move * noise[:, 9 + 5 * i : 14 + 5 * i] for i in range(2)]
        return Posture(pelvis, spine, head, (Arm(*angles[0].T), Arm(*angles[1].T)), 0.012 * breath)


def repetitions(
    rng: np.random.Generator, seconds: float, typical: float, lead: float = 0.25
) -> list[tuple[float, float]]:
    """Return (start, duration) of gestures of about `typical` seconds that fill the time; a single one may be cut."""
    count = max(1, round((seconds - lead) / typical))
    each = float(np.clip((seconds - lead) / count, 0.85 * typical, 1.25 * typical))
    share = rng.uniform(0.93, 1.0, count)
    return [(lead + i * each, each * share[i]) for i in range(count)]

"""People walk along a gently curving path."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from phuma.core.body import Body
from phuma.core.rotations import Array
from phuma.synth.curves import Curve, Function, sampled, wander
from phuma.synth.feet import FootPlan, FootShape, Footstep, Swing
from phuma.synth.person import Person
from phuma.synth.plan import Holding, Plan, Posture

BEFORE, AFTER = 2.5, 4.0  # s by which a walk is planned beyond either end

# Events of one foot, in step times after its strike.
FLAT, HEEL_OFF, LIFT, NEXT = 0.17, 0.70, 1.24, 2.0
DOUBLE = 0.12  # middle of double support
MIDDLE = 0.62  # middle of stance


@dataclass(frozen=True)
class Path:
    """A path is the line on the ground along which somebody goes, at about constant speed."""

    where: Curve
    """(T,) seconds to (T, 3): x, y metres, heading radians"""

    @staticmethod
    def drawn(rng: np.random.Generator, seconds: float, speed: float, curvature: float, unsteady: float = 0.03) -> Path:
        """Draw a path of typical `curvature`, radians per metre, whose speed varies by the typical share `unsteady`."""
        rate, pace = wander(rng, curvature * speed, 0.05, 0.2), wander(rng, unsteady, 0.05, 0.25)
        t = np.arange(-BEFORE, seconds + AFTER, 0.01)
        zero = int(np.argmin(np.abs(t)))
        heading = np.cumsum(rate(t)) * 0.01
        heading -= heading[zero]
        v = speed * (1 + pace(t))
        xy = np.cumsum(v[:, None] * np.stack([np.cos(heading), np.sin(heading)], axis=-1), axis=0) * 0.01
        return Path(sampled(t, np.column_stack([xy - xy[zero], heading])))

    def beside(self, t: Array, left: Array | float, ahead: Array | float = 0.0) -> Array:
        """Return points (T, 2) that are `left` and `ahead` of the path at the times t."""
        x, y, heading = self.where(t).T
        c, s = np.cos(heading), np.sin(heading)
        return np.stack([x - s * left + c * ahead, y + c * left + s * ahead], axis=-1)

    def footstep(self, t: float, left: float, ahead: float, toe_out: float) -> Footstep:
        """Return the footstep that is `left` and `ahead` of the path at the time t, its toes turned out."""
        x, y = self.beside(np.array([t]), left, ahead)[0]
        return Footstep(float(x), float(y), float(self.where(np.array([t]))[0, 2]) + toe_out)


def walk(body: Body, rng: np.random.Generator, seconds: float) -> Plan:
    """Plan steps of heel strike, flat foot, heel off and toe off; the pelvis bobs, sways and turns with them."""
    person = Person.drawn(body, rng, calm=0.3)
    at_ease = person.posture()
    leg = body.leg_length / 0.82
    speed = rng.uniform(1.0, 1.42) * np.sqrt(leg)
    # People keep the ratio of step length to cadence at about 0.0064 m per step per minute.
    step = 1 / np.sqrt(speed / (60 * 0.0064 * leg))
    path = Path.drawn(rng, seconds, speed, rng.uniform(0.02, 0.12))
    phase = rng.uniform(0, 2)  # which part of a stride the clip begins with
    gait = Gait(person, path, step, speed * step, phase)
    return Plan(
        (gait.foot("left"), gait.foot("right")),
        gait.posture(at_ease),
        gait.target,
        ("pelvis", "pelvis"),
        straight=np.radians(9),
    )


@dataclass
class Gait:
    """A gait is somebody's steps along a path, and how pelvis, trunk and arms go with them."""

    person: Person
    path: Path
    step: float
    """seconds"""
    length: float
    """metres per step"""
    phase: float
    """steps by which the left foot's strike was earlier than time zero"""
    strength: Function = np.ones_like
    """(T,) seconds to (T,): how far pelvis, trunk and arms go with the steps, 0 in somebody who stands"""

    def strikes(self, side: str) -> Array:
        """Return (K,) times of a foot's strikes, from before the beginning to beyond the end."""
        last = self.path.where.times[-1] - 2 * self.step
        first = -2.2 * self.step - (self.phase % 2) * self.step + (0 if side == "left" else self.step)
        return np.arange(first, last, 2 * self.step)

    def foot(self, side: str) -> FootPlan:
        """Return the plan of the left or the right foot."""
        rng, sign = self.person.rng, 1.0 if side == "left" else -1.0
        half_width, toe_out = 0.5 * rng.uniform(0.07, 0.12), sign * np.radians(rng.uniform(3, 8))

        def footstep(strike: float) -> Footstep:
            aside, ahead = rng.normal(0, 0.006), rng.normal(0, 0.008)
            return self.path.footstep(strike, sign * half_width + aside, 0.46 * self.length + ahead, toe_out)

        strikes = self.strikes(side)
        plan = FootPlan(FootShape.of(self.person.body, side), footstep(strikes[0]))
        peel, land = np.radians(rng.uniform(54, 62)), -np.radians(rng.uniform(17, 23))
        for strike in strikes[:-1]:
            plan.swings.append(
                Swing(
                    off=strike + HEEL_OFF * self.step,
                    lift=strike + LIFT * self.step,
                    strike=strike + NEXT * self.step,
                    flat=strike + (NEXT + FLAT) * self.step,
                    to=footstep(strike + NEXT * self.step),
                    peel=peel + rng.normal(0, 0.02),
                    peel_rate=5.0,
                    tip=np.radians(25),
                    land=land + rng.normal(0, 0.02),
                    height=0.0,
                    arrive=0.35,
                )
            )
        return plan

    def wave(self, t: Array, at: float, per_stride: int = 1) -> Array:
        """Return a cosine that is 1 `at` step times after each strike of the left foot (per_stride 1) or of either
        (2), as far as there are steps."""
        first = self.strikes("left")[0]
        return self.strength(t) * np.cos(np.pi * per_stride * ((t - first) / self.step - at))

    def target(self, t: Array) -> Array:
        """Return (T, 3) metres: where the pelvis is."""
        body = self.person.body
        height = 0.03 * body.leg_length * self.length / 0.7
        sway = 0.022 * self.wave(t, MIDDLE)
        surge = -0.010 * self.strength(t) * np.sin(2 * np.pi * ((t - self.strikes("left")[0]) / self.step - MIDDLE))
        ground = self.path.beside(t, sway, surge)
        middle = self.person.stance.pelvis_height(0.14)
        return np.column_stack([ground, middle + 0.5 * height * self.wave(t, MIDDLE, 2)])

    def posture(self, at_ease: Holding) -> Holding:
        """Return how trunk and arms are held."""
        rng = self.person.rng
        turn, sling = np.radians(rng.uniform(4.5, 7)), np.radians(rng.uniform(15, 24))
        bias, elbow = np.radians(rng.uniform(0, 5)), np.radians(rng.uniform(4, 14))
        drop = np.radians(rng.uniform(3, 4.5))

        def at(t: Array) -> Posture:
            p = at_ease(t)
            ahead = self.wave(t, DOUBLE)  # the left leg in front
            heading = self.path.where(t)[:, 2]
            p.pelvis[:, 0] += np.radians(3)
            p.pelvis[:, 1] += heading - turn * ahead
            p.pelvis[:, 2] += drop * self.wave(t, 0.45)
            p.spine[:, 1] += 1.9 * turn * self.wave(t, DOUBLE + 0.04)
            p.spine[:, 2] -= 0.9 * drop * self.wave(t, 0.48)
            p.head[:, 1] -= 0.9 * turn * self.wave(t, DOUBLE + 0.06)
            p.head[:, 0] -= np.radians(2) + 0.012 * self.wave(t, MIDDLE, 2)
            for a, sign in zip(p.arms, (1.0, -1.0)):
                forward = -sign * self.wave(t, DOUBLE + 0.05)
                a.flex = a.flex + bias + sling * forward
                a.elbow = a.elbow + elbow * (1 + 0.9 * -sign * self.wave(t, DOUBLE + 0.15))
                a.twist = a.twist + 0.08 * forward
            return p

        return at

"""People run: stance, push and flight; in flight the centre of mass falls freely."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from phuma.core.body import Body
from phuma.core.rotations import Array
from phuma.synth.curves import Curve
from phuma.synth.feet import FootPlan, FootShape, Footstep, Swing
from phuma.synth.gait import AFTER, BEFORE, Path
from phuma.synth.person import Person
from phuma.synth.plan import Holding, Plan, Posture, mass_height

GRAVITY = 9.81
ARRIVE = 0.4  # share of the running speed that a foot still has when it lands
TOUCH, PUSH = np.radians(19.0), np.radians(24.0)  # bend of the knee at touch-down and at lift


def run(body: Body, rng: np.random.Generator, seconds: float) -> Plan:
    """Plan a jog or a run along a gently curving path."""
    person = Person.drawn(body, rng, calm=0.2)
    at_ease = person.posture()
    leg = body.leg_length / 0.82
    speed = rng.uniform(2.2, 3.2) * np.sqrt(leg)
    step = (0.385 - 0.012 * speed) * np.sqrt(leg)
    stance = step * (0.83 - 0.05 * speed)
    path = Path.drawn(rng, seconds, speed, rng.uniform(0.005, 0.025), unsteady=0.01)
    first = -BEFORE + rng.uniform(0, 2) * step
    runner = _Run(person, path, speed, step, stance, first, int(rng.integers(2**31)))
    posture = runner.posture(at_ease)

    def plan(until: float) -> Plan:
        feet = (runner.foot("left", until), runner.foot("right", until))
        return Plan(feet, posture, runner.target, ("mass", "mass"))

    # Each foot lands as far ahead as leaves the knee free at touch-down and at the end of the push (regula falsi).
    strike = first + 4 * step + 1e-3

    def spare(ahead: float) -> float:
        runner.ahead = ahead
        touch, push = mass_height(plan(strike + 4 * step), body, [strike, strike + stance - 2e-3], [TOUCH, PUSH])
        runner.height = float(touch)
        return float(push - touch) - runner.drop

    near, far = 0.1, 0.45
    little, much = spare(near), spare(far)
    for _ in range(3):
        middle = float(np.clip(near - little * (far - near) / (much - little), 0.05, 0.5))
        gap = spare(middle)
        near, little, far, much = (near, little, middle, gap) if gap > 0 else (middle, gap, far, much)
    return plan(seconds + AFTER)


@dataclass
class _Run:
    person: Person
    path: Path
    speed: float
    """m/s"""
    step: float
    """s from a strike to the other foot's"""
    stance: float
    """s that a foot is on the ground"""
    first: float
    """s, a strike of the left foot"""
    habit: int
    """seed of the feet's variation"""
    ahead: float = 0.2
    """share of the way during stance that the foot lands in front of the centre of mass"""
    height: float = 1.0
    """m, of the centre of mass at touch-down"""

    @property
    def drop(self) -> float:
        """Return by how many metres the centre of mass is higher at the end of the push.

        The leg is behind and almost straight then.
        """
        return 0.018 * self.person.body.leg_length

    def foot(self, side: str, until: float) -> FootPlan:
        """The steps up to the time `until`."""
        rng, sign = np.random.default_rng([self.habit, side == "left"]), 1.0 if side == "left" else -1.0
        begin = self.first + (0.0 if side == "left" else self.step)
        half_width, toe_out = 0.5 * rng.uniform(0.03, 0.07), sign * np.radians(rng.uniform(2, 6))
        ahead = self.ahead * self.speed * self.stance

        def footstep(strike: float) -> Footstep:
            return self.path.footstep(strike, sign * half_width + rng.normal(0, 0.005), ahead, toe_out)

        plan = FootPlan(FootShape.of(self.person.body, side), footstep(begin))
        fold = np.radians(rng.uniform(92, 108))
        for strike in np.arange(begin, until - 2 * self.step, 2 * self.step):
            lift, following = strike + self.stance, strike + 2 * self.step
            plan.swings.append(
                Swing(
                    off=strike + 0.45 * self.stance,
                    lift=lift,
                    strike=following,
                    flat=following + 0.05,
                    to=footstep(following),
                    peel=np.radians(50),
                    peel_rate=8.0,
                    tip=np.radians(15),
                    land=-np.radians(9),
                    air=((lift + 0.28 * (following - lift), np.radians(88)),),
                    height=0.12,
                    free=self.free(lift, following, fold),
                    free_edges=(0.4, 0.2),
                    arrive=ARRIVE * self.speed,
                    sink=0.40,
                )
            )
        return plan

    def free(self, lift: float, strike: float, fold: float) -> Curve:
        """Knee bend and swing of the leg through the air: folds, reaches forward, and already goes back on landing."""
        times = lift + (strike - lift) * np.array([0.0, 0.42, 0.75, 1.0])
        leg = self.person.body.leg_length
        reach = float(np.arcsin((self.ahead * self.speed * self.stance + 0.05) / leg))  # the pelvis trails the mass
        back = -(1 - ARRIVE) * self.speed / leg
        return Curve(
            times,
            np.array([[0.45, -0.42], [fold, -0.10], [0.85, reach + 0.14], [TOUCH, reach]]),
            np.array([[4.0, 0.0], [0.0, 2.6], [-6.0, 0.6], [0.0, back]]),
        )

    def beat(self, t: Array, at: float, per_stride: int = 1) -> Array:
        """A cosine that is 1 `at` steps after each strike of the left foot (1) or of either (2)."""
        return np.cos(np.pi * per_stride * ((t - self.first) / self.step - at))

    def target(self, t: Array) -> Array:
        flight = self.step - self.stance
        rise = 0.5 * GRAVITY * flight - self.drop / flight  # m/s at lift-off
        since = (t - self.first) % self.step
        ground = Curve([0.0, self.stance], [0.0, self.drop], [rise - GRAVITY * flight, rise], [-GRAVITY, -GRAVITY])
        air = since - self.stance
        z = np.where(air < 0, ground(since), self.drop + rise * air - 0.5 * GRAVITY * air**2)
        sway = 0.008 * self.beat(t, 0.5 * self.stance / self.step)
        return np.column_stack([self.path.beside(t, sway), self.height + z])

    def posture(self, at_ease: Holding) -> Holding:
        rng = self.person.rng
        lean = np.radians(rng.uniform(4, 8))
        turn, sling = np.radians(rng.uniform(5, 8)), np.radians(rng.uniform(26, 36))
        elbow = np.radians(rng.uniform(70, 88))

        def at(t: Array) -> Posture:
            p = at_ease(t)
            ahead = self.beat(t, 0.0)
            p.pelvis[:, 0] += lean
            p.pelvis[:, 1] += self.path.where(t)[:, 2] - turn * ahead
            p.pelvis[:, 2] += np.radians(3) * self.beat(t, 0.35)
            p.spine[:, 0] += 0.4 * lean
            p.spine[:, 1] += 2.3 * turn * self.beat(t, 0.04)
            p.spine[:, 2] -= np.radians(3) * self.beat(t, 0.38)
            p.head[:, 1] -= 1.3 * turn * self.beat(t, 0.06)
            p.head[:, 0] -= 1.1 * lean
            for a, sign in zip(p.arms, (1.0, -1.0)):
                forward = -sign * self.beat(t, 0.05)
                a.flex = a.flex - np.radians(6) + sling * forward
                a.abduct = a.abduct + 0.10
                a.elbow = a.elbow + elbow + 0.20 * forward
                a.twist = a.twist + 0.25 + 0.15 * forward
            return p

        return at

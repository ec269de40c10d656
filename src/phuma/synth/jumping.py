"""People jump: crouch, push, free fall, and a landing that gives way."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from phuma.core.body import Body
from phuma.core.rotations import Array
from phuma.synth.curves import Curve, Function, pulse, ramp
from phuma.synth.feet import Footstep, Swing
from phuma.synth.person import Person, repetitions
from phuma.synth.plan import SIDES, Holding, Plan, Posture, mass_height

GRAVITY = 9.81


@dataclass(frozen=True)
class _Jump:
    """This is one jump; times in seconds, lengths in metres."""

    start: float
    low: float
    """time of the deepest crouch"""
    off: float
    """time at which the toes leave"""
    land: float
    soft: float
    """time of the deepest give of the landing"""
    end: float
    speed: float
    """upward at take-off, m/s"""
    crouch: float
    rise: float
    """of the centre of mass over standing, at take-off"""
    touch: float
    """the same at touch-down"""
    give: float
    step: float
    """forward"""
    x: float
    """position before the jump"""

    @property
    def sink(self) -> float:
        """Return the downward speed at touch-down, m/s."""
        return GRAVITY * (self.land - self.off) - self.speed


def jump(body: Body, rng: np.random.Generator, seconds: float) -> Plan:
    """Plan jumps on the spot or a little forward, with both feet."""
    person = Person.drawn(body, rng, calm=0.5)
    at_ease = person.posture()
    size = body.leg_length / 0.82
    jumps, x = [], 0.0
    forward = rng.random() < 0.5
    for start, duration in repetitions(rng, seconds, 2.8):
        jumps.append(
            _draw(rng, start, duration, size, x, rng.uniform(0.15, 0.40) if forward else rng.uniform(-0.04, 0.04))
        )
        x += jumps[-1].step
    draft = _plan(person, at_ease, jumps, 1.0)
    # Take-off, touch-down and standing at the heights that nearly straight legs give.
    times = [0.0, *(t for j in jumps for t in (j.off - 1e-3, j.land + 1e-3))]
    heights = mass_height(draft, body, times, [0.14, *(k for j in jumps for k in (0.30 + 0.12 * j.speed, 0.50))])
    rise, touch = (heights[1:] - heights[0]).reshape(-1, 2).T
    return _plan(person, at_ease, [_fitted(*f) for f in zip(jumps, rise, touch)], float(heights[0]))


def _plan(person: Person, at_ease: Holding, jumps: list[_Jump], standing: float) -> Plan:
    left, right = (person.stance.foot(s) for s in SIDES)
    for j in jumps:
        left.swings.append(_swing(j, person.stance.footstep("left", j.x + j.step)))
        right.swings.append(_swing(j, person.stance.footstep("right", j.x + j.step)))
    return Plan((left, right), _posture(at_ease, jumps), _target(person, jumps, standing), ("mass", "mass"))


def _fitted(j: _Jump, rise: float, touch: float) -> _Jump:
    """The same jump with take-off and touch-down at other heights over standing, which the flight's length follows."""
    land = j.off + (j.speed + np.sqrt(j.speed**2 + 2 * GRAVITY * (rise - touch))) / GRAVITY
    later = float(land - j.land)
    return replace(j, rise=rise, touch=touch, land=float(land), soft=j.soft + later)


def _draw(rng: np.random.Generator, start: float, duration: float, size: float, x: float, step: float) -> _Jump:
    height = rng.uniform(0.10, 0.22) * size
    speed = float(np.sqrt(2 * GRAVITY * height))
    low = start + rng.uniform(0.50, 0.62)
    off = low + rng.uniform(0.28, 0.33)
    land = off + 2 * speed / GRAVITY
    soft = land + rng.uniform(0.22, 0.28)
    end = start + duration
    return _Jump(start, low, off, land, soft, end, speed, rng.uniform(0.20, 0.27) * size, 0.075 * size, 0.03 * size,
                 rng.uniform(0.14, 0.22) * size, step, x)  # fmt: skip


def _swing(j: _Jump, home: Footstep) -> Swing:
    air = j.land - j.off
    middle = 0.5 * (j.off + j.land)
    leg = Curve([j.off, middle, j.land], np.array([[0.34, -0.02], [0.26, 0.0], [0.36, 0.06]]))
    return Swing(
        off=j.off - 0.16,
        lift=j.off,
        strike=j.land,
        flat=j.land + 0.09,
        to=home,
        peel=0.82,
        peel_rate=4.0 + 3.0 * j.speed,
        tip=0.25,
        land=0.40,
        height=0.25 * j.speed**2 / GRAVITY,
        air=((j.off + 0.40 * air, 0.74),),
        free=leg,
        free_edges=(0.2, 0.3),
        sink=0.5 * j.sink,
    )


def _target(person: Person, jumps: list[_Jump], standing: float) -> Function:
    """The centre of mass: quintics on the ground, a parabola in the air."""
    knots = [(-5.0, 0.0, 0.0, 0.0)]
    ways = [(-5.0, 0.0, 0.0, 0.0)]
    for j in jumps:
        push, brake = j.speed**2 / (2 * j.crouch) * 1.5, j.speed**2 / (2 * j.give)
        knots += [
            (j.start, 0.0, 0.0, 0.0),
            (j.low, -j.crouch, 0.0, push),
            (j.off, j.rise, j.speed, -GRAVITY),
            (j.land, j.touch, -j.sink, -GRAVITY),
            (j.soft, -j.give, 0.0, brake),
            (j.end, 0.0, 0.0, 0.0),
        ]
        pace = 0.8 * j.step / (j.land - j.off)
        ways += [
            (j.low, j.x, 0.0, 0.0),
            (j.off, j.x + 0.1 * j.step, pace, 0.0),
            (j.land, j.x + 0.9 * j.step, pace, 0.0),
            (j.soft + 0.15, j.x + j.step, 0.0, 0.0),
        ]
    z, x = (Curve(*map(np.array, zip(*k))) for k in (knots, ways))

    def target(t: Array) -> Array:
        out = person.balance(t)
        out[:, 0] += x(t)
        out[:, 2] = standing + z(t)
        return out

    return target


def _posture(at_ease: Holding, jumps: list[_Jump]) -> Holding:
    def posture(t: Array) -> Posture:
        p = at_ease(t)
        for j in jumps:
            crouch = pulse(t, j.start, j.low, j.low, j.off + 0.02)
            give = pulse(t, j.land - 0.12, j.soft, j.soft, j.end)
            p.pelvis[:, 0] += 0.50 * crouch + 0.34 * give
            p.spine[:, 0] += 0.28 * crouch + 0.22 * give
            p.head[:, 0] -= 0.40 * crouch + 0.25 * give
            back = pulse(t, j.start, j.low - 0.08, j.low - 0.05, j.off - 0.02)
            up = ramp(t, j.low - 0.02, j.off + 0.06) - ramp(t, j.off + 0.15, j.soft + 0.1)
            ahead = pulse(t, j.land - 0.1, j.soft + 0.1, j.soft + 0.15, j.end)
            for a in p.arms:
                a.flex = a.flex - 0.75 * back + 2.1 * up + 0.45 * ahead
                a.elbow = a.elbow + 0.25 * back + 0.55 * up + 0.5 * ahead
                a.abduct = a.abduct + 0.10 * up + 0.15 * ahead
        return p

    return posture

"""Some motions step: turn on the spot, kick, lunge. The weight goes over the standing foot before the other leaves."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from phuma.core.body import Body
from phuma.core.rotations import Array
from phuma.synth.curves import Curve, gesture, pulse
from phuma.synth.feet import FootPlan, Footstep, Swing
from phuma.synth.person import Person, repetitions
from phuma.synth.plan import SIDES, Plan, Posture, Stance


@dataclass
class _Weight:
    """This is where the centre of mass goes over the ground: from one point to the next, resting or passing through."""

    knots: list[tuple[float, float, float]] = field(default_factory=list)
    """time, x, y"""

    def to(self, time: float, x: float, y: float) -> None:
        self.knots.append((time, x, y))

    def __call__(self, t: Array) -> Array:
        times, x, y = np.array(self.knots).T
        return Curve(times, np.column_stack([x, y]))(t)


def _over(footstep: Footstep, ahead: float) -> tuple[float, float]:
    """The point `ahead` metres in front of the ankle of a foot at `footstep`."""
    return footstep.x + ahead * np.cos(footstep.yaw), footstep.y + ahead * np.sin(footstep.yaw)


def _between(a: tuple[float, float], b: tuple[float, float], share: float) -> tuple[float, float]:
    return a[0] + share * (b[0] - a[0]), a[1] + share * (b[1] - a[1])


def turn(body: Body, rng: np.random.Generator, seconds: float) -> Plan:
    """Plan turning on the spot in steps of thirty to fifty degrees; head and shoulders lead."""
    person = Person.drawn(body, rng, calm=0.6)
    at_ease, stance = person.posture(), person.stance
    feet = [stance.foot(s) for s in SIDES]
    footsteps = [f.start for f in feet]
    ahead = stance.over_feet
    middle = _between(_over(footsteps[0], ahead), _over(footsteps[1], ahead), 0.5)
    weight = _Weight([(-1.0, *middle)])
    headings = [(-1.0, 0.0)]
    clock, heading, side = 0.3, 0.0, int(rng.integers(2))
    while clock < seconds:
        way = 1.0 if side == 0 else -1.0  # the foot on the inner side goes first
        for _ in range(int(rng.integers(2, 5))):
            angle = way * np.radians(rng.uniform(30, 50))
            heading += angle
            for foot in (side, 1 - side):
                clock = _turn_step(rng, stance, feet, footsteps, foot, heading, clock, weight)
            headings.append((clock - 0.25, heading))
        middle = _between(_over(footsteps[0], ahead), _over(footsteps[1], ahead), 0.5)
        weight.to(clock + 0.45, *middle)
        clock += 0.45 + rng.uniform(0.2, 0.9)
        weight.to(clock, *middle)
        headings.append((clock + 0.1, heading))
        side = int(rng.integers(2))
    facing = _eased(headings)
    middles = [(s, 0.5 * (s.lift + s.strike)) for f in feet for s in f.swings]

    def posture(t: Array) -> Posture:
        return _turn_posture(at_ease(t), t, facing)

    def target(t: Array) -> Array:
        # A little higher over the one leg of each step.
        bob = sum((pulse(t, s.lift - 0.1, m, m, s.strike + 0.1) for s, m in middles), np.zeros_like(t))
        out = person.balance(t, 0.010 * bob - 0.014)
        out[:, :2] += weight(t) - [ahead, 0.0]
        return out

    return Plan((feet[0], feet[1]), posture, target)


def _turn_posture(p: Posture, t: Array, facing: Curve) -> Posture:
    """The eyes go first, then the shoulders, then the hips; the arms lag behind."""
    now, soon, sooner = facing(t), facing(t + 0.10), facing(t + 0.22)
    p.pelvis[:, 1] += now
    p.spine[:, 1] += soon - now
    p.head[:, 1] += sooner - soon
    swing = facing(t + 0.05) - facing(t - 0.12)
    for a, sign in zip(p.arms, (1.0, -1.0)):
        a.flex, a.abduct = a.flex - 0.35 * sign * swing, a.abduct + 0.15 * swing**2
        a.elbow = a.elbow + 0.3 * swing**2
    return p


def _eased(knots: list[tuple[float, float]]) -> Curve:
    """A smooth heading through (time, angle), passing through without stopping while it keeps on turning."""
    times, values = (np.array(v) for v in zip(*knots))
    slope = np.diff(values) / np.diff(times)
    rate = np.zeros_like(values)
    same = slope[1:] * slope[:-1] > 0
    rate[1:-1] = np.where(same, 0.5 * (slope[1:] + slope[:-1]), 0.0)
    return Curve(times, values, rate)


def _turn_step(
    rng: np.random.Generator,
    stance: Stance,
    feet: list[FootPlan],
    footsteps: list[Footstep],
    foot: int,
    heading: float,
    clock: float,
    weight: _Weight,
) -> float:
    """One step of a turn; returns when the next may begin."""
    shift, air = rng.uniform(0.25, 0.33), rng.uniform(0.33, 0.41)
    lift, strike = clock + shift, clock + shift + air
    home = stance.footstep(SIDES[foot])
    c, s = np.cos(heading), np.sin(heading)
    # Around the point between the feet, where the person turns.
    footstep = Footstep(c * home.x - s * home.y, s * home.x + c * home.y, heading + home.yaw)
    stand = _over(footsteps[1 - foot], stance.over_feet)
    other = _over(footsteps[foot], stance.over_feet)
    weight.to(lift + 0.1 * air, *_between(stand, other, 0.24))
    weight.to(lift + 0.5 * air, *_between(stand, other, 0.24))
    feet[foot].swings.append(
        Swing(
            clock, lift, strike, strike + 0.10, footstep, peel=0.45, tip=0.05, land=-0.10, height=0.045, peel_rate=1.0
        )
    )
    footsteps[foot] = footstep
    return strike - 0.02


def kick(body: Body, rng: np.random.Generator, seconds: float) -> Plan:
    """Plan kicks: the weight goes over one leg, the other swings back, forward and up, and comes down again."""
    person = Person.drawn(body, rng, calm=0.6)
    at_ease, stance = person.posture(), person.stance
    feet = [stance.foot(s) for s in SIDES]
    ahead = stance.over_feet
    weight = _Weight([(-1.0, ahead, 0.0)])
    kicks, foot = [], int(rng.integers(2))
    for start, duration in repetitions(rng, seconds, 2.6, lead=0.1):
        u = duration / 2.5
        lift, strike = start + 0.72 * u, start + 1.95 * u
        high = rng.uniform(0.85, 1.35)
        stand = _over(stance.footstep(SIDES[1 - foot]), ahead)
        weight.to(start, ahead, 0.0)
        weight.to(start + 0.62 * u, *stand)
        weight.to(strike - 0.05, *stand)
        weight.to(start + 2.45 * u, ahead, 0.0)
        feet[foot].swings.append(_kick_swing(stance, foot, start, u, lift, strike, high))
        kicks.append((start, u, foot, high))
        foot = 1 - foot if rng.random() < 0.6 else foot

    def posture(t: Array) -> Posture:
        p = at_ease(t)
        for start, u, foot, high in kicks:
            _kick_posture(p, t, start, u, foot, high)
        return p

    def target(t: Array) -> Array:
        soft = sum(gesture(t, s, u, 0.0, 0.7, 1.8, 2.4) for s, u, *_ in kicks)
        out = person.balance(t, -0.012 * soft)
        out[:, :2] += weight(t) - [ahead, 0.0]
        return out

    return Plan((feet[0], feet[1]), posture, target)


def _kick_swing(stance: Stance, foot: int, start: float, u: float, lift: float, strike: float, high: float) -> Swing:
    times = np.array([lift, start + 0.98 * u, start + 1.26 * u, start + 1.56 * u, strike])
    leg = Curve(times, np.array([[0.65, -0.05], [1.40, -0.36], [0.22, high], [0.95, 0.35], [0.42, 0.02]]))
    air = ((times[1], 0.95), (times[2], 0.50 - high), (times[3], 0.35))
    return Swing(
        off=start + 0.40 * u, lift=lift, strike=strike, flat=strike + 0.10, to=stance.footstep(SIDES[foot]), peel=0.55,
        tip=0.05, land=0.12, height=0.10, air=air, free=leg, free_edges=(0.22, 0.22),
    )  # fmt: skip


def _kick_posture(p: Posture, t: Array, start: float, u: float, foot: int, high: float) -> None:
    sign = 1.0 if foot == 0 else -1.0  # 1: the left leg kicks
    back = gesture(t, start, u, 0.5, 0.98, 0.98, 1.26)
    front = gesture(t, start, u, 0.95, 1.28, 1.3, 1.9)
    on_one = gesture(t, start, u, 0.3, 0.8, 1.7, 2.3)
    p.pelvis += np.outer(back, [0.12, 0.18 * sign, 0.0]) + np.outer(front, [-0.22 * high, -0.20 * sign, 0.0])
    p.pelvis[:, 2] += 0.05 * sign * on_one
    p.spine += np.outer(back, [0.05, -0.25 * sign, 0.0]) + np.outer(front, [0.20 * high, 0.32 * sign, 0.0])
    p.spine[:, 2] -= 0.03 * sign * on_one
    p.head[:, 0] += 0.12 * (front + back)
    p.head[:, 1] += -0.08 * sign * (front - back)
    same, other = p.arms[foot], p.arms[1 - foot]
    for a in (same, other):
        a.abduct, a.elbow = a.abduct + 0.30 * on_one, a.elbow + 0.35 * on_one
    same.flex = same.flex + 0.35 * back - 0.55 * front
    other.flex = other.flex - 0.45 * back + 0.65 * front


def lunge(body: Body, rng: np.random.Generator, seconds: float) -> Plan:
    """Plan lunges: a long step forward, down between the feet with the rear heel up, and a push back to standing."""
    person = Person.drawn(body, rng, calm=0.6)
    at_ease, stance = person.posture(), person.stance
    feet = [stance.foot(s) for s in SIDES]
    ahead, height = stance.over_feet, stance.pelvis_height()
    weight = _Weight([(-1.0, ahead, 0.0)])
    lunges, foot = [], int(rng.integers(2))
    for start, duration in repetitions(rng, seconds, 3.3, lead=0.1):
        u = duration / 3.2
        long, deep = body.leg_length * rng.uniform(0.70, 0.84), rng.uniform(0.21, 0.29)
        _lunge_steps(stance, feet, foot, start, u, long, weight)
        lunges.append((start, u, foot, deep))
        foot = 1 - foot

    def posture(t: Array) -> Posture:
        p = at_ease(t)
        for start, u, foot, _ in lunges:
            _lunge_posture(p, t, start, u, foot)
        return p

    def target(t: Array) -> Array:
        down = sum((d * gesture(t, s, u, 0.55, 1.5, 1.70, 2.70) for s, u, _, d in lunges), np.zeros_like(t))
        out = person.balance(t, -height * down)
        out[:, :2] += weight(t) - [ahead, 0.0]
        return out

    return Plan((feet[0], feet[1]), posture, target)


def _lunge_steps(
    stance: Stance, feet: list[FootPlan], foot: int, start: float, u: float, long: float, weight: _Weight
) -> None:
    """The front foot steps `long` metres forward and back; the other heel rises; times in units of u seconds."""
    home, middle = stance.footstep(SIDES[foot]), (stance.over_feet, 0.0)
    front = Footstep(long, home.y, 0.6 * home.yaw)
    on_one = _between(_over(stance.footstep(SIDES[1 - foot]), stance.over_feet), middle, 0.35)
    low = (0.52 * long, 0.1 * home.y)
    for share, where in ((0.0, middle), (0.42, on_one), (1.32, low), (1.70, low), (2.80, on_one), (3.15, middle)):
        weight.to(start + share * u, *where)
    feet[foot].swings += [
        Swing(
            start + 0.22 * u, start + 0.45 * u, start + 0.95 * u, start + 1.10 * u, to=front, peel=0.5, tip=0.08,
            land=-0.28, height=0.05, peel_rate=1.0,
        ),
        Swing(
            start + 1.94 * u, start + 2.12 * u, start + 2.70 * u, start + 2.84 * u, to=home, peel=0.25, tip=0.0,
            land=0.15, height=0.06,
        ),
    ]  # fmt: skip
    feet[1 - foot].rises.append((start + 0.75 * u, start + 1.42 * u, start + 1.66 * u, start + 2.30 * u, 0.85))


def _lunge_posture(p: Posture, t: Array, start: float, u: float, foot: int) -> None:
    sign = 1.0 if foot == 0 else -1.0  # 1: the left foot is in front
    step = gesture(t, start, u, 0.3, 1.0, 1.9, 2.7)
    low = gesture(t, start, u, 0.7, 1.5, 1.68, 2.4)
    p.pelvis += np.outer(step, [0.05, -0.10 * sign, 0.0]) + np.outer(low, [0.10, 0.0, 0.0])
    p.spine += np.outer(step, [0.05, 0.14 * sign, 0.0])
    p.head[:, 0] -= 0.08 * low
    for a, own in zip(p.arms, (1.0, -1.0)):
        a.flex = a.flex - 0.30 * own * sign * step + 0.1 * low
        a.elbow, a.abduct = a.elbow + 0.45 * step, a.abduct + 0.10 * step

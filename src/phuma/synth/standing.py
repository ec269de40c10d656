"""Some motions keep both feet planted: stand, reach, bend, twist, squat."""

from __future__ import annotations

import numpy as np

from phuma.core.body import Body
from phuma.core.rotations import Array
from phuma.synth.curves import Function, gesture, ramp
from phuma.synth.person import Person, repetitions
from phuma.synth.plan import Holding, Plan, Posture


def _planted(person: Person, posture: Holding, drop: Function, press: Function | None = None) -> Plan:
    """Return a plan with both feet where they are and the centre of mass over them.

    `drop` (metres) lowers the pelvis; `press` (metres) shifts the weight towards the toes, as people do to make up for
    hips that go back.
    """
    feet = (person.stance.foot("left"), person.stance.foot("right"))

    def target(t: Array) -> Array:
        out = person.balance(t, -drop(t))
        out[:, 0] += press(t) if press else 0.0
        return out

    return Plan(feet, posture, target)


def stand(body: Body, rng: np.random.Generator, seconds: float) -> Plan:
    """Plan standing at ease: weight shifts from leg to leg, eyes wander, a hand moves."""
    person = Person.drawn(body, rng, calm=1.2)
    at_ease = person.posture()
    shifts = []
    t, side = rng.uniform(0.3, 1.5), rng.choice([-1.0, 1.0])
    while t < seconds:
        shifts.append((t, rng.uniform(0.9, 1.5), side * rng.uniform(0.2, 0.55)))
        t, side = t + rng.uniform(2.0, 5.0), -side
    looks = [(s, d, *rng.uniform([-0.6, -0.12], [0.6, 0.2])) for s, d in repetitions(rng, seconds, 2.2)]
    hands = [
        (s, d, rng.integers(2), rng.uniform(0.2, 0.8)) for s, d in repetitions(rng, seconds, 3.0, rng.uniform(0.3, 1))
    ]

    def weight(t: Array) -> Array:
        """(T,) from -1, all on the right foot, to 1."""
        w, last = np.zeros_like(t), 0.0
        for start, duration, side in shifts:
            w += (side - last) * ramp(t, start, start + duration)
            last = side
        return w

    def posture(t: Array) -> Posture:
        p, w = at_ease(t), weight(t)
        # The hip over the loaded leg stands out and higher; the spine makes up for it.
        p.pelvis[:, 2] += 0.07 * w
        p.spine[:, 2] -= 0.06 * w
        for start, duration, turn, nod in looks:
            look = gesture(t, start, duration, 0.0, 0.3, 0.65, 1.0)
            p.head += np.outer(look, [nod, turn, 0.0])
            p.spine[:, 1] += 0.25 * turn * look
        for start, duration, side, size in hands:
            move, arm = size * gesture(t, start, duration, 0.0, 0.35, 0.6, 1.0), p.arms[side]
            arm.elbow, arm.flex, arm.twist = arm.elbow + 1.7 * move, arm.flex + 0.25 * move, arm.twist + 0.4 * move
        return p

    def target(t: Array) -> Array:
        return person.balance(t) + np.outer(0.35 * person.stance.width * weight(t), [0.0, 1.0, 0.0])

    return Plan((person.stance.foot("left"), person.stance.foot("right")), posture, target)


_REACHES = {
    # flex, abduct, twist, elbow of the arm; trunk bend forward, turn towards and lean towards the hand
    "ahead": (1.55, 0.10, 0.20, 0.25, 0.22, -0.25, 0.05),
    "up": (2.55, 0.12, 0.10, 0.25, -0.05, -0.10, -0.12),
    "side": (0.35, 1.35, 0.10, 0.25, 0.05, 0.30, 0.16),
    "low": (0.95, 0.10, 0.20, 0.25, 0.70, -0.15, 0.08),
    "across": (1.15, -0.35, 0.50, 0.45, 0.18, -0.55, -0.02),
}


def reach(body: Body, rng: np.random.Generator, seconds: float) -> Plan:
    """Plan reaching for things around with one hand or both; the trunk follows the hand."""
    person = Person.drawn(body, rng)
    at_ease = person.posture()
    events = []
    for start, duration in repetitions(rng, seconds, 2.1):
        where = rng.choice(list(_REACHES))
        both = where in ("ahead", "up", "low") and rng.random() < 0.3
        events.append((start, duration, where, int(rng.integers(2)), both, rng.uniform(0.8, 1.08)))

    def posture(t: Array) -> Posture:
        p = at_ease(t)
        for start, duration, where, side, both, size in events:
            flex, abduct, twist, elbow, bend, turn, lean = size * np.array(_REACHES[where])
            # The arm leads, the trunk follows and is last to come back; the elbow folds on the way and opens late.
            arm = gesture(t, start, duration, 0.0, 0.40, 0.56, 0.97)
            trunk = gesture(t, start, duration, 0.05, 0.45, 0.55, 1.0)
            fold = gesture(t, start, duration, 0.0, 0.2, 0.2, 0.42)
            fold += gesture(t, start, duration, 0.55, 0.76, 0.76, 1.0)
            for s in (0, 1) if both else (side,):
                a = p.arms[s]
                a.flex, a.abduct, a.twist = a.flex + flex * arm, a.abduct + abduct * arm, a.twist + (twist - 0.3) * arm
                a.elbow = a.elbow + (elbow - 0.2) * arm + 0.9 * fold
                a.wrist = a.wrist - 0.15 * arm
            sign = 0.0 if both else (1.0 if side == 0 else -1.0)
            p.pelvis += np.outer(trunk, [0.45 * bend, 0.25 * sign * turn, 0.2 * -sign * lean])
            p.spine += np.outer(trunk, [0.55 * bend, 0.75 * sign * turn, 0.8 * -sign * lean])
            look = sign * (0.5 if where == "side" else 0.15)
            p.head += np.outer(trunk, [-0.35 if where == "up" else 0.1 - 0.35 * bend, look, 0.5 * sign * lean])
        return p

    return _planted(person, posture, lambda t: sum((_low(t, e) for e in events), np.zeros_like(t)))


def _low(t: Array, event: tuple) -> Array:
    """(T,) metres by which the knees give way for a low reach."""
    start, duration, where, *_, size = event
    depth = 0.09 * size if where == "low" else 0.012
    return depth * gesture(t, start, duration, 0.0, 0.45, 0.55, 1.0)


def bend(body: Body, rng: np.random.Generator, seconds: float) -> Plan:
    """Plan bending forward with hanging arms, or to the side with a hand running down the thigh."""
    person = Person.drawn(body, rng)
    at_ease = person.posture()
    events = []
    side = rng.choice([-1.0, 1.0])
    for start, duration in repetitions(rng, seconds, 2.9):
        forward = rng.random() < 0.65
        events.append((start, duration, forward, side, rng.uniform(0.85, 1.45) if forward else rng.uniform(0.38, 0.6)))
        side = -side

    def posture(t: Array) -> Posture:
        p = at_ease(t)
        for start, duration, forward, side, size in events:
            down = size * gesture(t, start, duration, 0.0, 0.42, 0.55, 1.0)
            later = size * gesture(t, start, duration, 0.04, 0.45, 0.53, 1.0)
            if forward:
                _bend_forward(p, down, later)
            else:
                _bend_aside(p, down, later, side)
        return p

    def bowed(t: Array) -> Array:
        """(T,) radians of the trunk forward"""
        d = np.zeros_like(t)
        for start, duration, forward, _, size in events:
            d += forward * size * gesture(t, start, duration, 0.0, 0.42, 0.55, 1.0)
        return d

    return _planted(person, posture, lambda t: 0.02 * bowed(t), lambda t: 0.018 * bowed(t))


def _bend_forward(p: Posture, down: Array, later: Array) -> None:
    """The spine leads, the pelvis follows, the arms hang."""
    p.pelvis[:, 0] += 0.50 * later
    p.spine[:, 0] += 0.62 * down
    p.head[:, 0] += 0.10 * down
    for a in p.arms:
        a.flex, a.elbow, a.twist = a.flex + 1.02 * later, a.elbow - 0.04 * down, a.twist - 0.12 * down


def _bend_aside(p: Posture, down: Array, later: Array, side: float) -> None:
    """Bend to the right (side 1) or to the left (-1)."""
    p.pelvis[:, 2] += 0.14 * side * later
    p.spine[:, 2] += 0.86 * side * down
    p.head[:, 2] += 0.25 * side * later
    low, high = (p.arms[1], p.arms[0]) if side > 0 else (p.arms[0], p.arms[1])
    low.abduct = low.abduct + 0.10 * down
    high.abduct, high.elbow = high.abduct + 0.25 * down, high.elbow + 0.6 * down


def twist(body: Body, rng: np.random.Generator, seconds: float) -> Plan:
    """Plan turning the trunk left and right on planted feet, arms half raised."""
    person = Person.drawn(body, rng)
    at_ease = person.posture()
    period = rng.uniform(1.9, 2.8)
    begin, side = 0.2, rng.choice([-1.0, 1.0])
    raise_arms, elbow = rng.uniform(0.25, 1.15), rng.uniform(0.9, 1.7)
    turns = []
    t = begin + 0.5
    while t < seconds + period:
        turns.append((t, 0.5 * period * rng.uniform(0.92, 1.0), side * rng.uniform(0.75, 1.15)))
        t, side = t + 0.5 * period, -side

    def swing(t: Array, lag: float) -> Array:
        w, last = np.zeros_like(t), 0.0
        for start, duration, angle in turns:
            w += (angle - last) * ramp(t, start + lag - 0.5, start + lag + duration - 0.5)
            last = angle
        return w

    def posture(t: Array) -> Posture:
        p = at_ease(t)
        ready = ramp(t, begin - 0.2, begin + 0.7)
        p.pelvis[:, 1] += 0.32 * swing(t, 0.04)
        p.spine[:, 1] += 0.62 * swing(t, 0.0)
        p.head[:, 1] += 0.30 * swing(t, 0.08)
        behind = 0.25 * (swing(t, 0.0) - swing(t, 0.12))  # the arms lag behind the trunk
        for a, sign in zip(p.arms, (1.0, -1.0)):
            a.abduct = a.abduct + raise_arms * ready
            a.elbow = a.elbow + elbow * ready
            a.flex = a.flex + 0.25 * ready - sign * behind
            a.twist = a.twist + 0.3 * ready
        return p

    return _planted(person, posture, lambda t: 0.015 * ramp(t, begin - 0.2, begin + 0.7))


def squat(body: Body, rng: np.random.Generator, seconds: float) -> Plan:
    """Plan squats: hips back and down, trunk forward, arms raised in front, weight over the feet."""
    person = Person.drawn(body, rng)
    wide = rng.uniform(1.25, 1.7)
    stance = person.stance
    person.stance = type(stance)(body, wide * 2 * abs(float(body.joints[1, 0])), np.radians(rng.uniform(10, 20)))
    at_ease = person.posture()
    height = person.stance.pelvis_height()
    arms = rng.uniform(0.9, 1.45)
    events = [(s, d, rng.uniform(0.19, 0.31)) for s, d in repetitions(rng, seconds, 2.7)]

    def down(t: Array, lag: float = 0.0) -> Array:
        d = np.zeros_like(t)
        for start, duration, depth in events:
            d += depth * gesture(t, start + lag * duration, duration, 0.0, 0.44, 0.50, 0.95)
        return d

    def posture(t: Array) -> Posture:
        p, d = at_ease(t), down(t)
        p.pelvis[:, 0] += 1.9 * d
        p.spine[:, 0] += 0.9 * d
        p.head[:, 0] -= 1.5 * d
        for a in p.arms:
            a.flex = a.flex + 5.4 * arms * down(t, 0.03)
            a.elbow, a.twist = a.elbow + 0.3 * d, a.twist - 0.6 * d
        return p

    return _planted(person, posture, lambda t: height * down(t), lambda t: 0.09 * down(t))

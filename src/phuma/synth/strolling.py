"""People stroll: they stand, set off, go where the way bends, at a walk or slower, and stand again."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from phuma.core.body import Body
from phuma.core.rotations import Array
from phuma.synth.curves import Curve, Function, ramp, sampled, wander
from phuma.synth.feet import FootPlan, FootShape, Footstep, Swing
from phuma.synth.gait import AFTER, BEFORE, FLAT, Gait, Path
from phuma.synth.person import Person
from phuma.synth.plan import Plan

OFF, LIFT = 1.30, 0.76  # step times from heel off and from lift to the strike
MIDDLE = 0.46  # step times from a strike to the moment in which the pelvis is over the foot
RISE = 1.4  # step times in which a stroll comes up to its speed, and down again
BEND, TURN = 1.1, 0.75  # rad/m and rad/s, the most that the way bends
STAY, CHANGE = (1.5, 4.0), 0.6  # s for which it bends alike, and in which it comes to bend otherwise
STRAIGHT = 0.25  # share of it that does not bend
ARRIVED = 0.02  # m from where a foot will stand in the end; a shorter step is not made


def stroll(body: Body, rng: np.random.Generator, seconds: float) -> Plan:
    """Plan a stroll from standing to standing; of less than 5 s, one that does not end."""
    person = Person.drawn(body, rng, calm=0.3)
    at_ease = person.posture()
    leg = body.leg_length / 0.82
    speed = rng.uniform(0.5, 1.15) * np.sqrt(leg)
    step = (0.66 - 0.12 * speed / np.sqrt(leg)) * np.sqrt(leg)
    first = rng.uniform(0.3, 0.7) + OFF * step
    last = seconds - 0.6 - 1.5 * step if seconds >= 5.0 else np.inf
    pace = _pace(rng, speed, first - LIFT * step, last, RISE * step)
    path = _way(rng, seconds, pace, speed)
    gait = Stroll(person, path, step, speed * step, float(rng.integers(2)), lambda t: pace(t) / speed, first)
    return Plan(
        (gait.foot("left"), gait.foot("right")), gait.posture(at_ease), gait.target, ("pelvis", "pelvis"),
        straight=np.radians(9),
    )  # fmt: skip


def _pace(rng: np.random.Generator, speed: float, begin: float, end: float, rise: float) -> Function:
    """Return (T,) seconds to (T,) m/s: the speed of somebody who sets off and stops."""
    unsteady = wander(rng, 0.05, 0.05, 0.25)

    def pace(t: Array) -> Array:
        stop = ramp(t, end - rise, end) if np.isfinite(end) else 0.0
        return speed * (1 + unsteady(t)) * (ramp(t, begin, begin + rise) - stop)

    return pace


def _way(rng: np.random.Generator, seconds: float, pace: Function, speed: float) -> Path:
    """Return a way that is straight, bends to one side or to the other, for a few seconds each."""
    most = min(BEND, TURN / speed)
    knots, bends, clock = [-10.0], [0.0], 0.0
    bend = rng.uniform(-most, most)
    while clock < seconds + AFTER:
        knots += [clock, clock + (stay := rng.uniform(*STAY))]
        bends += [bend, bend]
        clock += stay + CHANGE
        bend = 0.0 if rng.random() < STRAIGHT else rng.uniform(-most, most)
    t = np.arange(-BEFORE, seconds + AFTER, 0.01)
    v = pace(t)
    heading = np.cumsum(Curve(knots, bends)(t) * v) * 0.01
    zero = int(np.argmin(np.abs(t)))
    heading -= heading[zero]
    xy = np.cumsum(v[:, None] * np.stack([np.cos(heading), np.sin(heading)], axis=-1), axis=0) * 0.01
    return Path(sampled(t, np.column_stack([xy - xy[zero], heading])))


@dataclass
class Stroll(Gait):
    """A stroll is a gait whose feet stand until the first strike, and again where the path ends; `phase` is 0 where
    the left foot goes first, 1 where the right one does."""

    first: float = 0.0
    """seconds to the first strike"""
    half_width: float = field(init=False)
    toe_out: float = field(init=False)

    def __post_init__(self) -> None:
        rng = self.person.rng
        self.half_width, self.toe_out = 0.5 * rng.uniform(0.11, 0.16), np.radians(rng.uniform(3, 8))

    def strikes(self, side: str) -> Array:
        """Return (K,) times of a foot's strikes, from the first one of it to beyond the end."""
        second = (side == "left") != (self.phase == 0.0)
        return np.arange(self.first + second * self.step, self.path.where.times[-1] - 2 * self.step, 2 * self.step)

    def foot(self, side: str) -> FootPlan:
        """Return the plan of the left or the right foot."""
        rng, sign = self.person.rng, 1.0 if side == "left" else -1.0

        def footstep(time: float) -> Footstep:
            return self.path.footstep(time, sign * self.half_width, 0.0, sign * self.toe_out)

        end = footstep(float(self.path.where.times[-1]))
        plan = FootPlan(FootShape.of(self.person.body, side), footstep(0.0))
        here = plan.start
        for strike in self.strikes(side):
            if np.hypot(here.x - end.x, here.y - end.y) < ARRIVED:
                break
            to = footstep(strike + MIDDLE * self.step)
            plan.swings.append(self._swing(strike, to, np.hypot(to.x - here.x, to.y - here.y), rng))
            here = to
        return plan

    def _swing(self, strike: float, to: Footstep, stride: float, rng: np.random.Generator) -> Swing:
        """A short step rolls less over the foot, and is lifted instead."""
        long = float(np.clip(stride / (1.4 * self.person.body.leg_length / 0.82), 0.0, 1.0))
        return Swing(
            off=strike - OFF * self.step,
            lift=strike - LIFT * self.step,
            strike=strike,
            flat=strike + FLAT * self.step,
            to=to,
            peel=np.radians(22 + 36 * long) + rng.normal(0, 0.02),
            peel_rate=1.0 + 4.0 * long,
            tip=np.radians(4 + 21 * long),
            land=-np.radians(5 + 15 * long),
            height=0.035 * (1 - long),
            arrive=0.35 * long,
        )

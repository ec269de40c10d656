"""A foot stands, rolls over heel, ball and toes, and swings to its next footstep.

A foot is two rigid pieces in a vertical plane: from heel to ball with pitch `a`, and the toes with pitch `b` (both
against the ground, positive with the toes pointing down). While it stands, it turns about a point that does not move:
the rear edge of the heel when the toes are up (a < 0), the ball when the heel is up (a > 0, b = 0), and the tip of the
toes when these lift as well (b > 0). So a planted foot never slides, whatever its pitch does.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from phuma.core.body import Body
from phuma.core.rotations import Array
from phuma.core.skeleton import INDEX, POINTS_PER_REGION, REGIONS
from phuma.synth.curves import Curve, Function, finite, ramp

TOLERANCE = 4e-4  # metres by which a swinging foot may graze the ground
HELD_UP = 0.12  # radians by which the toes are raised when the heel strikes
TIP = 0.35  # last share of the time from heel off to lift in which the toes rise too
FLAT = 1e-4  # radians below which a piece of the foot lies flat: a hundredth of a millimetre at its end


class Footstep(NamedTuple):
    """A footstep is the ankle's projection on the ground, metres, and the heading of the toes, radians."""

    x: float
    y: float
    yaw: float


@dataclass(frozen=True)
class FootShape:
    """A foot's shape is its lengths, metres, in its own plane: forward and up from the ankle."""

    ankle: float
    """height of the ankle above the sole"""
    heel: float
    """from the ankle back to the rear edge of the heel"""
    ball: float
    """from the ankle forward to the ball"""
    ball_height: float
    toe: float
    """from the ball to the tip of the toes"""

    @staticmethod
    def of(body: Body, side: str) -> FootShape:
        """Return the shape of a body's left or right foot."""
        ankle, ball = body.joints[INDEX[f"{side}_ankle"]], body.joints[INDEX[f"{side}_foot"]]
        heel, toe = (
            body.soles[r * POINTS_PER_REGION :][:POINTS_PER_REGION]
            for r in (REGIONS.index(f"{side}_heel"), REGIONS.index(f"{side}_toe"))
        )
        sole = float(heel[:, 1].mean())
        return FootShape(
            ankle=float(ankle[1]) - sole,
            heel=float(ankle[2] - heel[:, 2].min()),
            ball=float(ball[2] - ankle[2]),
            ball_height=float(ball[1]) - sole,
            toe=float(toe[:, 2].max() - ball[2]),
        )

    def planted(self, a: Array, b: Array) -> Array:
        """Return the ankle (T, 2) forward and up of its flat-footed projection, for pitches a, b (T,)."""
        heel = np.stack([-self.heel + np.zeros_like(a), np.zeros_like(a)], -1) - pitched(-self.heel, -self.ankle, a)
        tip = np.stack([self.ball + self.toe + np.zeros_like(a), np.zeros_like(a)], -1)
        ball = tip - pitched(self.toe, -self.ball_height, b) - pitched(self.ball, self.ball_height - self.ankle, a)
        return np.where(a[:, None] < 0, heel, ball)

    def lowest(self, a: Array, b: Array) -> Array:
        """Return the height (T,) of the foot's lowest point relative to the ankle."""
        heel, instep = pitched(-self.heel, -self.ankle, a)[:, 1], pitched(self.ball, -self.ankle, a)[:, 1]
        ball = pitched(self.ball, self.ball_height - self.ankle, a)[:, 1]
        tip, root = pitched(self.toe, -self.ball_height, b)[:, 1], pitched(0.0, -self.ball_height, b)[:, 1]
        return np.minimum.reduce([heel, instep, ball + tip, ball + root])


def pitched(forward: float, up: float, pitch: Array) -> Array:
    """Return a point (forward, up) pitched toes-down by `pitch` (T,), as (T, 2)."""
    return np.stack([forward * np.cos(pitch) + up * np.sin(pitch), up * np.cos(pitch) - forward * np.sin(pitch)], -1)


@dataclass(frozen=True)
class Swing:
    """A swing takes a foot from one footstep to the next.

    Angles are in radians, times in seconds, heights in metres.
    """

    off: float
    """the heel begins to rise"""
    lift: float
    """the toes leave the ground"""
    strike: float
    """the foot touches the ground again"""
    flat: float
    """all of the sole is down"""
    to: Footstep
    peel: float = 0.5
    """pitch at lift"""
    tip: float = 0.0
    """pitch of the toes at lift"""
    land: float = 0.0
    """pitch at strike: negative comes down on the heel, positive on the toes"""
    height: float = 0.05
    """how high the ankle is lifted over the direct way"""
    peel_rate: float = 0.0
    """rad/s, how fast the pitch still grows at lift"""
    air: tuple[tuple[float, float], ...] = ()
    """(time, pitch) in between"""
    free: Function | None = None
    """knee bend and swing of the leg from the hip (T, 2), which the foot follows in mid-flight"""
    free_edges: tuple[float, float] = (0.35, 0.35)
    """shares of the flight over which the leg takes over from the direct way, and gives back"""
    arrive: float = 0.0
    """m/s, forward speed of the ankle when it strikes"""
    sink: float = 0.0
    """m/s, its downward speed"""


class FootMotion(NamedTuple):
    """This is a foot over T frames."""

    ankle: Array
    """(T, 3) world"""
    yaw: Array
    pitch: Array
    toe: Array
    """(T,) pitch of the toes against the ground"""
    contact: NDArray[np.bool_]
    """(T, 2) all of the heel, all of the toes planted"""
    clearance: Array
    """(T,) height of the ankle at which the lowest point of the foot touches the ground"""
    free_weight: Array
    """(T,) how far the foot follows the leg instead of `ankle`"""
    free_leg: Array
    """(T, 2) knee bend and swing from the hip, radians"""


@dataclass
class FootPlan:
    """A foot's plan is where it starts, and its swings and heel rises in order of time."""

    shape: FootShape
    start: Footstep
    swings: list[Swing] = field(default_factory=list)
    rises: list[tuple[float, float, float, float, float]] = field(default_factory=list)
    """(begin, top, leave, end, angle): the heel rises over planted toes and comes down again"""

    def at(self, t: Array) -> FootMotion:
        """Return the foot at times (T,), seconds."""
        footsteps = np.array([self.start, *(s.to for s in self.swings)])
        standing = np.searchsorted([s.lift for s in self.swings], t)  # which one holds, or held last
        pitch_curve, toe_curve = self._pitch(), self._standing_toe()
        pitch, toe = pitch_curve(t), toe_curve(t)
        ankle = self._planted(footsteps[standing], pitch, toe)
        yaw = footsteps[standing, 2].copy()
        weight, leg, airborne = np.zeros(len(t)), np.zeros((len(t), 2)), np.zeros(len(t), dtype=bool)
        for i, s in enumerate(self.swings):
            m = (t >= s.lift) & (t < s.strike)
            if not m.any():
                continue
            ankle[m] = self._flight(s, footsteps[i], footsteps[i + 1], pitch_curve, toe_curve)(t[m])
            toe[m] = pitch[m] - self._toe_bend(s)(t[m])
            yaw[m] = footsteps[i, 2] + (footsteps[i + 1, 2] - footsteps[i, 2]) * ramp(t[m], s.lift, s.strike)
            airborne[m] = True
            if s.free is not None:
                take, give = (e * (s.strike - s.lift) for e in s.free_edges)
                weight[m] = ramp(t[m], s.lift, s.lift + take) - ramp(t[m], s.strike - give, s.strike)
                leg[m] = s.free(t[m])
        contact = np.stack([np.abs(pitch) < FLAT, (np.abs(toe) < FLAT) & (pitch > -FLAT)], axis=-1) & ~airborne[:, None]
        return FootMotion(ankle, yaw, pitch, toe, contact, -self.shape.lowest(pitch, toe), weight, leg)

    def _planted(self, footstep: Array, pitch: Array, toe: Array) -> Array:
        """Return the ankle (T, 3) in the world for a foot that stands at `footstep` (T, 3)."""
        forward, up = self.shape.planted(pitch, toe).T
        return np.stack(
            [footstep[:, 0] + forward * np.cos(footstep[:, 2]), footstep[:, 1] + forward * np.sin(footstep[:, 2]), up],
            -1,
        )

    def _pitch(self) -> Curve:
        knots = [(-1e3, 0.0, 0.0)]
        for s in self.swings:
            knots += [(s.off, 0.0, 0.0), (s.lift, s.peel, s.peel_rate), *((t, a, 0.0) for t, a in s.air)]
            knots += [(s.strike, s.land, self._landing_rate(s)), (s.flat, 0.0, 0.0)]
        for begin, top, leave, end, angle in self.rises:
            knots += [(begin, 0.0, 0.0), (top, angle, 0.0), (leave, angle, 0.0), (end, 0.0, 0.0)]
        times, values, rates = zip(*sorted(knots))
        return Curve(times, values, rates)

    def _standing_toe(self) -> Curve:
        """Toes stay flat while the heel rises, lift last, and are flat again when the foot is."""
        knots = [(-1e3, 0.0, 0.0)]
        for s in self.swings:
            begin = s.lift - TIP * (s.lift - s.off)
            knots += [(begin, 0.0, 0.0), (s.lift, s.tip, self._tip_rate(s))]
            if s.land < 0:
                knots += [(s.strike, s.land - HELD_UP, self._landing_rate(s) + HELD_UP / (s.flat - s.strike))]
                knots += [(s.flat, 0.0, 0.0)]
            else:
                knots += [(s.strike, 0.0, 0.0)]
        times, values, rates = zip(*sorted(knots))
        return Curve(times, values, rates)

    def _toe_bend(self, s: Swing) -> Curve:
        """How far the toes are bent up against the foot during a swing."""
        end = (HELD_UP, -HELD_UP / (s.flat - s.strike)) if s.land < 0 else (s.land, self._landing_rate(s))
        return Curve([s.lift, s.strike], [s.peel - s.tip, end[0]], [s.peel_rate - self._tip_rate(s), end[1]])

    @staticmethod
    def _tip_rate(s: Swing) -> float:
        """Return the rad/s of the toes at lift."""
        return 1.5 * s.tip / (TIP * (s.lift - s.off))

    @staticmethod
    def _landing_rate(s: Swing) -> float:
        """Return the rad/s of the pitch at strike."""
        return -s.land / (s.flat - s.strike)

    def _flight(self, s: Swing, start: Array, end: Array, pitch: Curve, toe: Curve) -> Function:
        """Return the ankle's way through the air.

        It leaves with the velocity and acceleration that it has standing, and arrives with these but for `arrive` and
        `sink`.
        """

        def standing(footstep: Array) -> Function:
            return lambda t: self._planted(np.broadcast_to(footstep, (len(t), 3)), pitch(t), toe(t))

        first, last = finite(standing(start), s.lift), finite(standing(end), s.strike)
        last[1][:] += [s.arrive * np.cos(end[2]), s.arrive * np.sin(end[2]), -s.sink]
        direct = Curve([s.lift, s.strike], *(np.stack(pair) for pair in zip(first, last)))
        # High enough that no point of the foot meets the ground on the way.
        u = np.linspace(0.03, 0.97, 95)
        t = s.lift + u * (s.strike - s.lift)
        clear = direct(t)[:, 2] + self.shape.lowest(pitch(t), pitch(t) - self._toe_bend(s)(t))
        height = max(s.height, float(np.max((-clear - TOLERANCE) / _bump(u))))

        def way(t: Array) -> Array:
            out = direct(t)
            out[:, 2] += height * _bump((t - s.lift) / (s.strike - s.lift))
            return out

        return way


def _bump(u: Array) -> Array:
    return (4 * u * (1 - u)) ** 2

"""Fit the open body to a whole film at once: Gauss-Newton over all frames, lengths of the body, gravity and ground."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from phuma.body.mass import JOINT_WEIGHTS
from phuma.core import rotations as rot
from phuma.core.rotations import Array
from phuma.video import terms
from phuma.video.arrow import Arrow
from phuma.video.freedom import ACCELERATION, HIGH, LOW, ROOT, SIZE, USUAL, WIDTH
from phuma.video.posing import LENGTHS, SOLES, Rig, exponential, joint_positions, pose
from phuma.video.terms import GROUND, SCALE, SHARED, UP, Evidence, Rows, Shared

AT_A_TIME = 128
"""Frames that are posed at a time"""
ROOT_ACCELERATION = np.array([4.0] * 3 + [15.0] * 3)  # m/s^2, rad/s^2
ACCELERATION_TIME = 0.1  # s over which accelerations are alike
USUAL_TIME = 1.0  # s over which a posture is the same
LIMIT = 0.05  # rad, beyond a range
PART_WIDTHS = np.array([0.04, 0.04, 0.04, 0.06, 0.06, 0.05])
"""Widths of leg, arm, trunk, shoulders, hips and foot among people of one stature, as shares"""
SCALE_WIDTH = 0.1
LEVEL_FAR = 1.5  # widths: some cameras are held askew
START_DAMPING, EASE, BRAKE = 1e-3, 5.0, 10.0
LARGEST_TURN = 0.5  # rad in one step


@dataclass(frozen=True)
class Level:
    """What is known of gravity before: pitch and roll of the camera in rad, and how sure that is."""

    pitch: float
    roll: float
    pitch_width: float
    roll_width: float
    far: float = LEVEL_FAR
    """Widths beyond which it costs less to be off; infinite where gravity is known"""

    @property
    def known(self) -> bool:
        """Return whether gravity is known."""
        return self.far == np.inf


@dataclass(frozen=True, eq=False)
class State:
    """Where the body is."""

    x: Array
    """(T, V) unknowns of the frames; rotation vectors of the pelvis are zero, as `root` has them"""
    root: Array
    """(T, 3, 3) rotations of the pelvis, from rest axes to the camera's"""
    shared: Shared

    def moved(self, frames: Array, shared: Array) -> State:
        """Return the state after steps of the frames (T, V) and of what they share (G,)."""
        most = np.abs(frames[:, 3:]).max(axis=1, keepdims=True)
        frames = frames * np.minimum(1.0, LARGEST_TURN / np.maximum(most, 1e-9))
        x = self.x + frames
        x[:, 3:6] = 0.0
        old = self.shared
        up = old.up + shared[UP] @ plane(old.up)
        new = Shared(
            lengths=moved_lengths(old.lengths, shared[:LENGTHS]),
            scale=old.scale * float(np.clip(1 + shared[SCALE] / old.scale, 0.5, 2.0)),
            up=up / np.linalg.norm(up),
            ground=old.ground + float(shared[GROUND]),
        )
        return State(x, exponential(frames[:, 3:6])[0] @ self.root, new)


def moved_lengths(lengths: Array, step: Array) -> Array:
    """Return the lengths after a step (S,), of which the first scales all lengths and each other one its own."""
    factor = np.clip(1 + step, 0.8, 1.25)
    factor[1:] *= factor[0]
    return lengths * factor


def plane(up: Array) -> Array:
    """Return (2, 3) two unit vectors at right angles to each other and to `up`: to the right and ahead, nearly."""
    ahead = np.array([0.0, 0.0, 1.0]) if abs(up[2]) < 0.9 else np.array([0.0, 1.0, 0.0])
    ahead = ahead - up * (up @ ahead)
    ahead /= np.linalg.norm(ahead)
    return np.stack([np.cross(ahead, up), ahead])


@dataclass(eq=False)
class Problem:
    """What is fitted, and what is known."""

    rig: Rig
    evidence: Evidence
    fps: float
    level: Level
    usual: Array
    """(S,) m, lengths of the body before anything was seen"""
    stature_width: float
    """Width of the stature about that, as a share"""
    scale: float = 1.0
    """By which the network's depth is multiplied, before anything was seen"""
    stands: Array = field(default_factory=lambda: np.zeros((0, SOLES)))
    """(T, Q) from 0 to 1: whether each point of the soles stands"""
    breaks: Array = field(default_factory=lambda: np.zeros(0, dtype=int))
    """Frames that do not follow the one before them"""
    hold: bool = False
    """Whether what all frames share stays as it is"""

    def evaluate(self, state: State) -> Arrow:
        """Return the normal equations at a state."""
        frames = len(state.x)
        arrow = Arrow.empty(frames, SIZE, SHARED)
        _add_smoothness(arrow, state, self.fps, self.breaks)
        _add_usual(arrow, state, self.fps)
        self._add_shared(arrow, state.shared)
        basis = plane(state.shared.up)
        mass = JOINT_WEIGHTS @ joint_positions(state.x, state.root, state.shared.lengths)
        pull = _second_rate(mass, self.fps)
        pull[self.breaks] = pull[self.breaks - 1] = 0.0
        follows = np.ones(frames)
        follows[self.breaks] = 0.0
        for first in range(0, frames, AT_A_TIME):
            here = slice(first, min(first + AT_A_TIME, frames))
            wide = slice(first, min(here.stop + 1, frames))
            posed = pose(self.rig, state.x[wide], state.root[wide], state.shared.lengths)
            pairs, before, after = terms.stillness(posed, self.stands[wide], follows[wide], self.fps)
            _add_pairs(arrow, first + pairs, before, after, state.shared.lengths)
            own = replace(posed, **{k: v[: here.stop - first] for k, v in vars(posed).items()})
            stands = self.stands[here]
            rows = [
                *self.evidence.rows(own, state.shared, here),
                terms.heights(own, state.shared, stands, basis, self.fps),
                terms.balance(own, state.shared, stands, basis, pull[here], self.fps),
            ]
            _add_rows(arrow, here, rows, state.shared.lengths)
        return arrow

    def _add_shared(self, arrow: Arrow, shared: Shared) -> None:
        """Add what is known of lengths, scale and gravity before anything is seen."""
        ratio = shared.lengths / self.usual
        value = np.concatenate([[ratio[0] - 1], ratio[1:] / ratio[0] - 1, [shared.scale / self.scale - 1]])
        width = np.concatenate([[self.stature_width], PART_WIDTHS, [SCALE_WIDTH]])
        by = np.diag(np.concatenate([np.ones(LENGTHS), [1 / self.scale]])) / width[:, None]
        _add_prior(arrow, slice(0, LENGTHS + 1), by, value / width)
        x, y, z = shared.up
        pitch, roll = np.arcsin(np.clip(z, -1, 1)), np.arctan2(-x, -y)
        flat = max(x * x + y * y, 1e-4)
        by = np.stack([[0.0, 0.0, 1 / np.sqrt(flat)], [y / flat, -x / flat, 0.0]]) @ plane(shared.up).T
        known = self.level
        width = np.array([known.pitch_width, known.roll_width])
        value = np.array([[pitch - known.pitch, roll - known.roll]]) / width
        weight, cost = terms.robust(value, 1, known.far)
        _add_prior(arrow, UP, by / width[:, None] * weight.T, (value * weight)[0], cost)
        arrow.corner[GROUND, GROUND] += 1e-6


def solve(problem: Problem, state: State, iterations: int, tolerance: float = 1e-3) -> State:
    """Return the state after at most so many steps of Levenberg and Marquardt, each of which lowers the cost."""
    damping, arrow = START_DAMPING, problem.evaluate(state)
    for _ in range(iterations):
        trial = state.moved(*arrow.step(damping, problem.hold))
        after = problem.evaluate(trial)
        if after.cost <= arrow.cost:
            settled = arrow.cost - after.cost < tolerance * arrow.cost
            state, arrow, damping = trial, after, max(damping / EASE, 1e-6)
            if settled:
                break
        else:
            damping *= BRAKE
    return state


def _add_rows(arrow: Arrow, here: slice, rows: list[Rows], lengths: Array) -> None:
    by_frame = np.concatenate([r.by_frame for r in rows], axis=1)
    by_shared = np.concatenate([_by_share(r.by_shared, lengths) for r in rows], axis=1)
    value = np.concatenate([r.value for r in rows], axis=1)[..., None]
    turned = by_frame.transpose(0, 2, 1)
    arrow.own[here] += turned @ by_frame
    arrow.border[here] += turned @ by_shared
    arrow.slope[here] += (turned @ value)[..., 0]
    flat = by_shared.reshape(-1, SHARED)
    arrow.corner += flat.T @ flat
    arrow.corner_slope += flat.T @ value.ravel()
    arrow.cost += sum(r.cost for r in rows)


def _add_pairs(arrow: Arrow, pairs: Array, before: Array, after: Rows, lengths: Array) -> None:
    by_shared = _by_share(after.by_shared, lengths)
    value = after.value[..., None]
    turned, turned_after = before.transpose(0, 2, 1), after.by_frame.transpose(0, 2, 1)
    arrow.own[pairs] += turned @ before
    arrow.own[pairs + 1] += turned_after @ after.by_frame
    arrow.following[pairs] += turned @ after.by_frame
    arrow.border[pairs] += turned @ by_shared
    arrow.border[pairs + 1] += turned_after @ by_shared
    arrow.slope[pairs] += (turned @ value)[..., 0]
    arrow.slope[pairs + 1] += (turned_after @ value)[..., 0]
    flat = by_shared.reshape(-1, SHARED)
    arrow.corner += flat.T @ flat
    arrow.corner_slope += flat.T @ value.ravel()
    arrow.cost += after.cost


def _by_share(by_shared: Array, lengths: Array) -> Array:
    """Return derivatives by steps of `moved_lengths` of those by lengths."""
    out = by_shared.copy()
    out[..., :LENGTHS] *= lengths
    out[..., 0] = out[..., :LENGTHS].sum(axis=-1)
    return out


def _add_prior(arrow: Arrow, where: slice, by: Array, value: Array, cost: float | None = None) -> None:
    arrow.corner[where, where] += by.T @ by
    arrow.corner_slope[where] += by.T @ value
    arrow.cost += 0.5 * float(value @ value) if cost is None else cost


def _add_smoothness(arrow: Arrow, state: State, fps: float, breaks: Array) -> None:
    """Add accelerations: second differences of the unknowns, of rotations those of the turn from frame to frame."""
    if len(state.x) < 3:
        return
    weight = fps**2 / np.concatenate([ROOT_ACCELERATION, ACCELERATION])
    weight *= np.sqrt(min(1.0, 1 / (fps * ACCELERATION_TIME)))
    bend = np.diff(state.x, 2, axis=0)
    turn = rot.to_rotvec(rot.from_matrix(state.root[1:] @ state.root[:-1].transpose(0, 2, 1)))
    bend[:, 3:6] = np.diff(turn, axis=0)
    square = np.broadcast_to(weight**2, bend.shape).copy()
    for before in (1, 2):
        square[breaks[breaks <= len(bend) + before - 1] - before] = 0.0
    pull, each = square * bend, np.arange(SIZE)
    for k, c in enumerate((1.0, -2.0, 1.0)):
        arrow.slope[k : len(arrow.slope) - 2 + k] += c * pull
        arrow.own[k : len(arrow.own) - 2 + k, each, each] += c * c * square
    arrow.following[:-1, each, each] -= 2 * square
    arrow.following[1:, each, each] -= 2 * square
    arrow.second += square
    arrow.cost += 0.5 * float((pull * bend).sum())


def _add_usual(arrow: Arrow, state: State, fps: float) -> None:
    """Add the distance of each freedom from its usual value, and how far it is beyond its range."""
    share = min(1.0, 1 / (fps * USUAL_TIME))
    u = state.x[:, ROOT:]
    away = (u - USUAL) / WIDTH
    beyond = (np.minimum(u - LOW, 0.0) + np.maximum(u - HIGH, 0.0)) / LIMIT
    arrow.slope[:, ROOT:] += share * away / WIDTH + beyond / LIMIT
    each = np.arange(ROOT, SIZE)
    arrow.own[:, each, each] += share / WIDTH**2 + (beyond != 0) / LIMIT**2
    arrow.cost += 0.5 * float(share * (away**2).sum() + (beyond**2).sum())


def _second_rate(x: Array, fps: float) -> Array:
    """Return (T, ...) the second derivative of x by time; at the ends as beside them."""
    if len(x) < 3:
        return np.zeros_like(x)
    inner = np.diff(x, 2, axis=0) * fps**2
    return np.concatenate([inner[:1], inner, inner[-1:]])

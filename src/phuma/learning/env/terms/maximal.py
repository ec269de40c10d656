"""Observations in maximal coordinates: where every body is, how it is turned and how it moves.

All is seen in the frame of the root's heading h: the root's place, turned about the vertical alone. Of a rotation the
turned x axis is told, then the turned z axis. Bodies are the key bodies; a recipe that observes these has all of them.

A coming frame is told relative to what comes before it: the coming frame relative to the robot, each later one to the
frame before it (`chained`), which depends on the motion alone; so in the public code. The paper's words describe all
frames relative to the robot: the same functions of another pair of states.
"""

from __future__ import annotations

from phuma.core.rotations import conjugate, heading, x_and_z
from phuma.core.tensors import Tensor, namespace
from phuma.learning.env.conditions import ROLES
from phuma.learning.env.context import Context
from phuma.learning.env.observation import ObservationTerm, RobotSizes
from phuma.learning.env.terms.observations import key_bodies, numbers
from phuma.learning.env.turning import multiply, rotate_back
from phuma.sim.state import State

PER_BODY = 20
"""Numbers that a masked policy is told of a body in a frame: 18, and 2 that say which of them are told."""


# The robot itself.
def heading_frame(state: State) -> Tensor:
    """Return (E, 1, 4) wxyz: the rotation of the root about the vertical."""
    return heading(state.root_quat)[:, None]


def _flat(x: Tensor) -> Tensor:
    return x.reshape(len(x), -1)


def own_positions(state: State) -> Tensor:
    """Return (E, 3 (B - 1)) m: bodies but the root from the root."""
    return _flat(rotate_back(heading_frame(state), state.body_pos[:, 1:] - state.root_pos[:, None]))


def own_rotations(state: State) -> Tensor:
    """Return (E, 6 B) the rotations of all bodies."""
    return _flat(x_and_z(multiply(conjugate(heading_frame(state)), state.body_quat)))


root_height = ObservationTerm(
    "root_height", "m, above the floor", size=numbers(1), reading=lambda c: c.state.root_pos[:, 2:]
)
body_pos = ObservationTerm(
    "body_pos",
    "m, key_bodies but the root from the root, in the frame of its heading",
    size=lambda robot: 3 * (len(robot.key_bodies) - 1),
    reading=lambda c: own_positions(c.state),
)
body_rot = ObservationTerm(
    "body_rot",
    "rotations of key_bodies in the frame of the root's heading: the turned x axis, then the turned z axis",
    size=key_bodies(6),
    reading=lambda c: own_rotations(c.state),
)
body_vel = ObservationTerm(
    "body_vel",
    "m/s, of key_bodies' origins in the world, in the frame of the root's heading",
    size=key_bodies(3),
    reading=lambda c: _flat(rotate_back(heading_frame(c.state), c.state.body_linvel)),
)
body_angvel = ObservationTerm(
    "body_angvel",
    "rad/s, of key_bodies in the world, in the frame of the root's heading",
    size=key_bodies(3),
    reading=lambda c: _flat(rotate_back(heading_frame(c.state), c.state.body_angvel)),
)
OWN = (root_height, body_pos, body_rot, body_vel, body_angvel)
"""Own state: 493 numbers on the G1 with its 33 bodies."""


# A frame of the motion relative to a state before it, be that the robot's or the motion's.
def step_positions(before: State, after: State) -> Tensor:
    """Return (E, 3 B) m: how far each body goes,  h^-1 (p_b - p_b,before)."""
    return _flat(rotate_back(heading_frame(before), after.body_pos - before.body_pos))


def root_positions(before: State, after: State) -> Tensor:
    """Return (E, 3 B) m: where each body comes to, seen from the root before,  h^-1 (p_b - p_root,before)."""
    return _flat(rotate_back(heading_frame(before), after.body_pos - before.root_pos[:, None]))


def step_rotations(before: State, after: State) -> Tensor:
    """Return (E, 6 B) how far each body turns,  q_b,before^-1 q_b."""
    return _flat(x_and_z(multiply(conjugate(before.body_quat), after.body_quat)))


def root_rotations(before: State, after: State) -> Tensor:
    """Return (E, 6 B) how each body is turned then,  h^-1 q_b."""
    return _flat(x_and_z(multiply(conjugate(heading_frame(before)), after.body_quat)))


GOAL = (
    ObservationTerm(
        "step_pos",
        "m, key_bodies in this frame minus where they were before, in the frame of the root's heading before",
        size=key_bodies(3),
        reading=lambda c: step_positions(c.state, c.reference),
    ),
    ObservationTerm(
        "pos",
        "m, key_bodies in this frame from the root before, in the frame of its heading",
        size=key_bodies(3),
        reading=lambda c: root_positions(c.state, c.reference),
    ),
    ObservationTerm(
        "step_rot",
        "rotations of key_bodies from how they were before, conj(q_before) q: turned x axis, then turned z axis",
        size=key_bodies(6),
        reading=lambda c: step_rotations(c.state, c.reference),
    ),
    ObservationTerm(
        "rot",
        "rotations of key_bodies in this frame, in the frame of the root's heading before: turned x axis, then z axis",
        size=key_bodies(6),
        reading=lambda c: root_rotations(c.state, c.reference),
    ),
)
"""A coming frame: 594 numbers on the G1. Before is the robot's own state, or the frame before where frames are
chained."""


# What a masked policy is told: some bodies in some frames, all relative to the robot now.
def sparse_goals(c: Context) -> Tensor:
    """Return (E, K (20 J + 1)): of each of K frames, for each of J bodies where it is from the body now and from the
    root now, how it is turned from the body now and from the root's heading, what is not told zero, and the two mask
    bits; then the seconds to the frame."""
    ahead, state = c.ahead, c.state
    assert ahead is not None
    xp, h = namespace(state.root_pos), heading_frame(state)[:, None]
    body, quat = state.body_pos[:, c.constants.roles][:, None], state.body_quat[:, c.constants.roles][:, None]
    where = [rotate_back(h, ahead.pos - body), rotate_back(h, ahead.pos - state.root_pos[:, None, None])]
    how = [x_and_z(multiply(conjugate(quat), ahead.quat)), x_and_z(multiply(conjugate(h), ahead.quat))]
    told, turned = ahead.visible[..., :1], ahead.visible[..., 1:]
    parts = [part * told for part in where] + [part * turned for part in how] + [ahead.visible]
    bodies = xp.concatenate(parts, -1)
    return _flat(xp.concatenate([bodies.reshape(*bodies.shape[:2], -1), ahead.time[..., None]], -1))


def sparse_width() -> int:
    """Return how many numbers a masked policy is told of a frame."""
    return PER_BODY * len(ROLES) + 1


def sparse_term(frames: int) -> ObservationTerm:
    """Return the term of what a masked policy is told in so many frames."""

    def size(robot: RobotSizes) -> int:
        return frames * sparse_width()

    return ObservationTerm(
        "sparse",
        f"of each of {frames} frames, for each of {', '.join(ROLES)}: m from where it is now, and from the root now, "
        "in the frame of its heading; its rotation from how it is now, and from that heading, as turned x axis and "
        "turned z axis; 1 or 0 for whether position and rotation are told, what is not being zero; then s to the frame",
        size=size,
        reading=sparse_goals,
    )

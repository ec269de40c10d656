"""When an attempt is given up: BeyondMimic's public conditions, which the paper does not repeat. A bool a robot."""

from __future__ import annotations

from phuma.learning.state import State
from phuma.learning.tensors import Tensor, namespace, up_component

ANCHOR_HEIGHT = 0.25  # m
UPRIGHTNESS = 0.8  # of the cosine between the vertical and the anchor's own z axis
END_HEIGHT = 0.25  # m


def anchor_height(state: State, reference: State, anchor: int) -> Tensor:
    """|z - z^| > 0.25 m of the anchor."""
    return abs(state.body_pos[:, anchor, 2] - reference.body_pos[:, anchor, 2]) > ANCHOR_HEIGHT


def anchor_tilt(state: State, reference: State, anchor: int) -> Tensor:
    """|g_z - g^_z| > 0.8 of the vertical seen from the anchor: it leans where the reference stands, or the reverse."""
    lean = up_component(state.body_quat[:, anchor]) - up_component(reference.body_quat[:, anchor])
    return abs(lean) > UPRIGHTNESS


def end_height(state: State, anchored_pos: Tensor, ends: Tensor) -> Tensor:
    """|z_b - z^_b| > 0.25 m of a hand or a foot b, with the reference anchored to the robot."""
    off = abs(state.body_pos[:, ends, 2] - anchored_pos[:, ends, 2])
    return namespace(off).amax(off, -1) > END_HEIGHT

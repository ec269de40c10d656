"""Terminations of episodes: public conditions of BeyondMimic and of ProtoMotions, which the paper does not repeat. A
bool per environment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phuma.core.rotations import up_component
from phuma.core.tensors import Tensor, namespace

if TYPE_CHECKING:
    from phuma.learning.env.context import Context

ANCHOR_HEIGHT = 0.25  # m
UPRIGHTNESS = 0.8  # of the cosine between the vertical and the anchor's own z axis
END_HEIGHT = 0.25  # m
BODY_OFF, BODY_OFF_LOOSE = 0.25, 0.5  # m
PELVIS_OFF = 0.5  # m
GRACE = 5  # control steps at the beginning of an episode in which bodies may be anywhere


def anchor_height(c: Context) -> Tensor:
    """Terminate where the anchor is too high or too low:  |z - z^| > 0.25 m."""
    anchor = c.constants.anchor
    return abs(c.state.body_pos[:, anchor, 2] - c.reference.body_pos[:, anchor, 2]) > ANCHOR_HEIGHT


def anchor_tilt(c: Context) -> Tensor:
    """Terminate where the anchor leans and the reference's does not, or the reverse:  |g_z - g^_z| > 0.8 with the
    vertical g seen from the anchor."""
    anchor = c.constants.anchor
    lean = up_component(c.state.body_quat[:, anchor]) - up_component(c.reference.body_quat[:, anchor])
    return abs(lean) > UPRIGHTNESS


def end_height(c: Context) -> Tensor:
    """Terminate where a hand or a foot b is too high or too low:  |z_b - z^_b| > 0.25 m,  reference anchored."""
    ends = c.constants.ends
    off = abs(c.state.body_pos[:, ends, 2] - c.anchored[0][:, ends, 2])
    return namespace(off).amax(off, -1) > END_HEIGHT


def body_off(c: Context) -> Tensor:
    """Terminate where any body is far from the reference's:  max_b |p_b - p^_b| > 0.25 m,  not at first."""
    return _off(c, BODY_OFF)


def body_off_loosely(c: Context) -> Tensor:
    """Terminate where any body is very far from the reference's:  max_b |p_b - p^_b| > 0.5 m,  not at first."""
    return _off(c, BODY_OFF_LOOSE)


def pelvis_off(c: Context) -> Tensor:
    """Terminate where the root is far from the reference's:  |p - p^| > 0.5 m,  not at first."""
    off = c.state.root_pos - c.reference.root_pos
    return ((off * off).sum(-1) > PELVIS_OFF**2) & _settled(c)


def _off(c: Context, most: float) -> Tensor:
    off = c.state.body_pos - c.reference.body_pos
    squared = (off * off).sum(-1)
    return (namespace(squared).amax(squared, -1) > most**2) & _settled(c)


def _settled(c: Context) -> Tensor:
    """Return (E,) bool: whether an episode is past its first control steps."""
    assert c.age is not None
    return c.age > GRACE

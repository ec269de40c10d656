"""Move the reference to where the robot stands: the bodies it would have if position and heading were forgiven."""

from __future__ import annotations

from phuma.core.rotations import conjugate, twist
from phuma.core.tensors import Tensor, namespace
from phuma.learning.env.turning import multiply, rotate
from phuma.sim.state import State


def anchored(state: State, reference: State, anchor: int) -> tuple[Tensor, Tensor]:
    """Return (E, K, 3) m and (E, K, 4) wxyz: the reference's bodies, rotated about the vertical to the robot's heading
    and moved so that the anchor bodies coincide; heights stay the reference's.

        p_b = [x_a, y_a, z_ref_a] + H (p_ref_b - p_ref_a),  q_b = H q_ref_b,  H = twist(q_a q_ref_a^-1)

    BeyondMimic takes the yaw of q_a q_ref_a^-1 instead, which depends on which way x points: by up to 0.04 rad where
    the anchors' leans differ by 0.4 rad.
    """
    here, there = state.body_pos[:, anchor], reference.body_pos[:, anchor]
    rotations = state.body_quat[:, anchor], reference.body_quat[:, anchor]
    return _moved(here, there, *rotations, reference.body_pos, reference.body_quat)


def about_root(state: State, reference: State, pos: Tensor, quat: Tensor) -> tuple[Tensor, Tensor]:
    """Return (E, P, 3) m and (E, P, 4) wxyz: points of the reference at pos with rotations quat, moved in the same way
    so that the roots coincide."""
    return _moved(state.root_pos, reference.root_pos, state.root_quat, reference.root_quat, pos, quat)


def _moved(
    here: Tensor, there: Tensor, own: Tensor, theirs: Tensor, pos: Tensor, quat: Tensor
) -> tuple[Tensor, Tensor]:
    """Return points moved from `there` (E, 3), rotated by `theirs` (E, 4), to `here`, rotated by `own`."""
    heading = twist(multiply(own, conjugate(theirs)))[:, None]
    to = namespace(here).concatenate([here[:, :2], there[:, 2:]], -1)[:, None]
    return to + rotate(heading, pos - there[:, None]), multiply(heading, quat)

"""The reference moved to where the robot stands: where its bodies would be if place and heading were forgiven."""

from __future__ import annotations

from phuma.learning.state import State
from phuma.learning.tensors import Tensor, inverse, multiply, namespace, rotate, twist


def anchored(state: State, reference: State, anchor: int) -> tuple[Tensor, Tensor]:
    """(E, K, 3), (E, K, 4): the reference's bodies, turned about the vertical to the robot's heading and moved so that
    the anchor bodies coincide; heights stay the reference's.

        p_b = [x_a, y_a, z_ref_a] + H (p_ref_b - p_ref_a),  q_b = H q_ref_b,  H = twist(q_a q_ref_a^-1)

    BeyondMimic takes the yaw of q_a q_ref_a^-1 instead, which depends on which way x points: by up to 0.04 rad where
    the anchors' leans differ by 0.4 rad.
    """
    xp = namespace(state.root_pos)
    here, there = state.body_pos[:, anchor], reference.body_pos[:, anchor]
    turn = twist(multiply(state.body_quat[:, anchor], inverse(reference.body_quat[:, anchor])))[:, None]
    place = xp.concatenate([here[:, :2], there[:, 2:]], -1)[:, None]
    return place + rotate(turn, reference.body_pos - there[:, None]), multiply(turn, reference.body_quat)

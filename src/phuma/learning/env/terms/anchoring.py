"""Move the reference to where the robot stands: the bodies it would have if position and heading were forgiven."""

from __future__ import annotations

from phuma.core.rotations import conjugate, multiply, rotate, twist
from phuma.core.tensors import Tensor, namespace
from phuma.sim.state import State


def anchored(state: State, reference: State, anchor: int) -> tuple[Tensor, Tensor]:
    """Return (E, K, 3) m and (E, K, 4) wxyz: the reference's bodies, rotated about the vertical to the robot's heading
    and moved so that the anchor bodies coincide; heights stay the reference's.

        p_b = [x_a, y_a, z_ref_a] + H (p_ref_b - p_ref_a),  q_b = H q_ref_b,  H = twist(q_a q_ref_a^-1)

    BeyondMimic takes the yaw of q_a q_ref_a^-1 instead, which depends on which way x points: by up to 0.04 rad where
    the anchors' leans differ by 0.4 rad.
    """
    xp = namespace(state.root_pos)
    here, there = state.body_pos[:, anchor], reference.body_pos[:, anchor]
    heading = twist(multiply(state.body_quat[:, anchor], conjugate(reference.body_quat[:, anchor])))[:, None]
    pos = xp.concatenate([here[:, :2], there[:, 2:]], -1)[:, None]
    return pos + rotate(heading, reference.body_pos - there[:, None]), multiply(heading, reference.body_quat)

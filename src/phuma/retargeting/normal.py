"""The normal equations of a whole clip: cost, gradient and banded Gauss-Newton matrix, compiled.

A frame is coupled to its neighbours only (skating, speed, smoothness), so the matrix of all T F unknowns is banded with
2 F subdiagonals. A frame x (V,) is the root's position p (3), a rotation vector w (3) with R = exp(w) R_human, and the
joint angles q (N); V = 6 + N. F of these are unknowns of the block that is solved, the rest stands still. Which terms
there are is said in `objective.py` alone.
"""

from __future__ import annotations

import numpy as np

from phuma.retargeting.costs import POINTS
from phuma.retargeting.loops import FRAME, PAIR, POSE, SERIES, SHAPES, compile_loops
from phuma.retargeting.objective import TERMS
from phuma.robots.kinematics import place_points, pose_bodies
from phuma.runtime.numba_cache import compiled

add_frame_terms = compile_loops(TERMS, FRAME)
add_shape_terms = compile_loops(TERMS, SHAPES)
add_pair_terms = compile_loops(TERMS, PAIR)
add_series_terms = compile_loops(TERMS, SERIES)
POSE_TERMS = np.array([term.kind is POSE for term in TERMS])
PAIR_TERMS = np.array([term.kind.group is PAIR for term in TERMS])


@compiled
def exp_rotation(w, out):
    """out (3, 3) = exp(w)."""
    angle = np.sqrt(w[0] ** 2 + w[1] ** 2 + w[2] ** 2)
    a = np.sin(angle) / angle if angle > 1e-8 else 1.0
    b = (1 - np.cos(angle)) / angle**2 if angle > 1e-8 else 0.5
    x, y, z = w[0], w[1], w[2]
    out[0, 0], out[0, 1], out[0, 2] = 1 - b * (y * y + z * z), b * x * y - a * z, b * x * z + a * y
    out[1, 0], out[1, 1], out[1, 2] = b * x * y + a * z, 1 - b * (x * x + z * z), b * y * z - a * x
    out[2, 0], out[2, 1], out[2, 2] = b * x * z - a * y, b * y * z + a * x, 1 - b * (x * x + y * y)


@compiled
def left_jacobian(w, out):
    """out (3, 3): a change dw of w turns exp(w) by the rotation vector out dw, in the world."""
    angle = np.sqrt(w[0] ** 2 + w[1] ** 2 + w[2] ** 2)
    a = (1 - np.cos(angle)) / angle**2 if angle > 1e-4 else 0.5
    b = (angle - np.sin(angle)) / angle**3 if angle > 1e-4 else 1.0 / 6
    x, y, z = w[0], w[1], w[2]
    out[0, 0], out[0, 1], out[0, 2] = 1 - b * (y * y + z * z), b * x * y - a * z, b * x * z + a * y
    out[1, 0], out[1, 1], out[1, 2] = b * x * y + a * z, 1 - b * (x * x + z * z), b * y * z - a * x
    out[2, 0], out[2, 1], out[2, 2] = b * x * z - a * y, b * y * z + a * x, 1 - b * (x * x + y * y)


@compiled
def pose(tree, bodies, capsules, which, x, reference, posed):
    """Put `bodies` and the capsules `which` where x (T, V) has them; reference (T, 3, 3) is the human's root."""
    small = np.empty((3, 3))
    for t in range(len(x)):
        exp_rotation(x[t, 3:6], small)
        for i in range(3):
            for j in range(3):
                posed.root_rot[t, i, j] = 0.0
                for k in range(3):
                    posed.root_rot[t, i, j] += small[i, k] * reference[t, k, j]
    pose_bodies(
        tree, bodies, x[:, :3], posed.root_rot, x[:, 6:], posed.body_pos, posed.body_rot, posed.axis, posed.origin
    )
    place_points(capsules.body, capsules.start, which, posed.body_pos, posed.body_rot, posed.starts)
    place_points(capsules.body, capsules.end, which, posed.body_pos, posed.body_rot, posed.ends)


@compiled
def _pose_points(points, block, x, t, posed, pos, jac):
    """Points (P, 3) of one frame and their derivatives jac (P, 3, F)."""
    body_pos, body_rot, axis, origin = posed.body_pos[t], posed.body_rot[t], posed.axis[t], posed.origin[t]
    lever = np.empty((3, 3))
    left_jacobian(x[3:6], lever)
    for n in block.points:
        b = points.body[n]
        for i in range(3):
            pos[n, i] = body_pos[b, i]
            for j in range(3):
                pos[n, i] += body_rot[b, i, j] * points.offset[n, j]
        if block.root:
            rx, ry, rz = pos[n, 0] - x[0], pos[n, 1] - x[1], pos[n, 2] - x[2]
            for k in range(3):
                jac[n, k, k] = 1.0  # what else is in the first three columns is zero from the start
                ax, ay, az = lever[0, k], lever[1, k], lever[2, k]
                jac[n, 0, 3 + k] = ay * rz - az * ry
                jac[n, 1, 3 + k] = az * rx - ax * rz
                jac[n, 2, 3 + k] = ax * ry - ay * rx
        for m in range(block.depth[n]):
            j = block.joints[n, m]
            c = block.column[6 + j]
            rx, ry, rz = pos[n, 0] - origin[j, 0], pos[n, 1] - origin[j, 1], pos[n, 2] - origin[j, 2]
            jac[n, 0, c] = axis[j, 1] * rz - axis[j, 2] * ry
            jac[n, 1, c] = axis[j, 2] * rx - axis[j, 0] * rz
            jac[n, 2, c] = axis[j, 0] * ry - axis[j, 1] * rx


@compiled
def _store(band, gradient, base, hessian, slope, cross, coupled):
    """Move a frame's finished equations, and what couples it to the next, into the band; empties them."""
    size = len(slope)
    for i in range(size):
        gradient[base + i] += slope[i]
        slope[i] = 0.0
        for j in range(i, size):
            band[base + i, j - i] += hessian[i, j]
            hessian[i, j] = 0.0
        if coupled:
            for j in range(size):
                band[base + i, size + j - i] += cross[i, j]
                cross[i, j] = 0.0


@compiled
def build(tree, points, capsules, block, posed, target, w, x, max_step, rest, band, gradient):
    """Fill band (T F, 2 F + 1), where band[a, d] is the matrix at row a + d and column a, and gradient (T F,).

    Poses anew what the block moves. Returns the cost at x (T, V).
    """
    size = len(block.unknowns)
    band[:] = 0.0
    gradient[:] = 0.0
    row, columns, cross = np.empty(size), np.empty(size, np.int64), np.zeros((size, size))
    now = (np.zeros((size, size)), np.zeros(size), np.empty((POINTS, 3)), np.zeros((POINTS + 1, 3, size)))
    before = (np.zeros((size, size)), np.zeros(size), np.empty((POINTS, 3)), np.zeros((POINTS + 1, 3, size)))
    shaped = np.any(w.weight[POSE_TERMS] > 0)
    coupled = block.stands and np.any(w.weight[PAIR_TERMS] > 0)
    pose(tree, block.bodies, capsules, block.capsules, x, target.root_rot, posed)
    of_block = block.runs, block.keypoints, block.counts, block.links, block.stands, block.stiff
    of_target = target.keypoints, target.links, target.directions, target.feet, target.stance
    of_pose = block.column, block.pairs, posed.axis, posed.origin, posed.starts, posed.ends
    of_capsules = capsules.radius, capsules.pairs, capsules.apart, capsules.joints, capsules.depth, row, columns
    cost = add_series_terms(w, x, block.unknowns, size, gradient, band, rest, max_step)
    for t in range(len(x)):
        now, before = before, now
        _pose_points(points, block, x[t], t, posed, now[2], now[3])
        cost += add_frame_terms(w, t, *now, *of_block, *of_target)
        if shaped:
            cost += add_shape_terms(w, t, now[0], now[1], *of_pose, *of_capsules)
        if t > 0:
            if coupled:
                cost += add_pair_terms(w, t, before, now, cross, block.runs, target.stance, target.keypoints)
            _store(band, gradient, (t - 1) * size, before[0], before[1], cross, coupled)
    _store(band, gradient, (len(x) - 1) * size, now[0], now[1], cross, False)
    return cost


@compiled
def hold(band, gradient, fixed):
    """Take unknowns out of the equations: a one on the diagonal, zeros in row and column."""
    for c in fixed:
        gradient[c] = 0.0
        band[c, 0] = 1.0
        for d in range(1, band.shape[1]):
            band[c, d] = 0.0
            if d <= c:
                band[c - d, d] = 0.0


@compiled
def move_held(band, gradient, fixed, shift):
    """Tell the rest of the equations that the unknowns `fixed`, which are about to be held, move by shift (T F,)."""
    for c in fixed:
        if shift[c] != 0.0:
            for d in range(band.shape[1]):
                if c + d < len(gradient):
                    gradient[c + d] += band[c, d] * shift[c]
                if 0 < d <= c:
                    gradient[c - d] += band[c - d, d] * shift[c]

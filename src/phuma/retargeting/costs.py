"""The terms of the retargeting objective, one function each, compiled.

Each adds half of weight times squared residual to the normal equations of its frame, `block` (V, V), lower triangle,
and `slope` (V,), and returns its cost. A pseudo-Huber term rho(r) = width^2 (sqrt(1 + r^2 / width^2) - 1) is quadratic
near zero and linear far out, as the paper's L1 and L2 norms are; it enters as a square of weight
/ sqrt(1 + r^2 / width^2). `place` (P, 3) and `jac` (P, V, 3) are the points of the frame and their derivatives.
"""

from __future__ import annotations

import numpy as np
from numba import njit

# Points of the problem, in this order: pelvis, 12 keypoints, 4 soles (heel and toe, left and right), 4 sides of soles.
KEYPOINTS = 13
SOLES = KEYPOINTS
SIDES = SOLES + 4
POINTS = SIDES + 4

compiled = njit(cache=True, fastmath=True)


@compiled
def columns(points, n, cols):
    """Unknowns that move point n, in rising order: the root's six and the joints above it; returns how many."""
    for k in range(6):
        cols[k] = k
    for m in range(points.depth[n]):
        cols[6 + m] = 6 + points.joints[n, m]
    return 6 + points.depth[n]


@compiled
def add_vector(block, slope, cols, count, rows, r, weight):
    """Add weight |r + J d|^2 / 2 of a residual r (3,) with derivatives rows (count, 3)."""
    for a in range(count):
        i = cols[a]
        x, y, z = weight * rows[a, 0], weight * rows[a, 1], weight * rows[a, 2]
        slope[i] += x * r[0] + y * r[1] + z * r[2]
        for b in range(a + 1):
            block[i, cols[b]] += x * rows[b, 0] + y * rows[b, 1] + z * rows[b, 2]


@compiled
def add_scalar(block, slope, cols, count, row, r, weight):
    """Add weight (r + J d)^2 / 2 of a residual r with derivatives row (count,)."""
    for a in range(count):
        x = weight * row[a]
        slope[cols[a]] += x * r
        for b in range(a + 1):
            block[cols[a], cols[b]] += x * row[b]


@compiled
def keypoint_position(block, slope, points, place, jac, n, wanted, weight, width, cols, rows, r):
    """L_global-match: rho(|p_n - p_n^human|)."""
    count = columns(points, n, cols)
    size = 0.0
    for i in range(3):
        r[i] = place[n, i] - wanted[i]
        size += r[i] ** 2
    root = np.sqrt(1 + size / width**2)
    for a in range(count):
        for i in range(3):
            rows[a, i] = jac[n, cols[a], i]
    add_vector(block, slope, cols, count, rows, r, weight / root)
    return weight * width**2 * (root - 1)


@compiled
def link_direction(block, slope, points, place, jac, start, end, wanted, weight, width, cols, rows, r):
    """L_local-match, orientation: rho(|u - u^human|) of unit vectors u = (p_end - p_start) / length.

    du = (1 - u u^T) (dp_end - dp_start) / length. The end hangs below the start or on the same body.
    """
    count = columns(points, end, cols)
    length = 0.0
    for i in range(3):
        r[i] = place[end, i] - place[start, i]
        length += r[i] ** 2
    length = np.sqrt(length)
    ux, uy, uz = r[0] / length, r[1] / length, r[2] / length
    r[0], r[1], r[2] = ux - wanted[0], uy - wanted[1], uz - wanted[2]
    size = r[0] ** 2 + r[1] ** 2 + r[2] ** 2
    for a in range(count):
        c = cols[a]
        dx = jac[end, c, 0] - jac[start, c, 0]
        dy = jac[end, c, 1] - jac[start, c, 1]
        dz = jac[end, c, 2] - jac[start, c, 2]
        along = ux * dx + uy * dy + uz * dz
        rows[a, 0] = (dx - ux * along) / length
        rows[a, 1] = (dy - uy * along) / length
        rows[a, 2] = (dz - uz * along) / length
    root = np.sqrt(1 + size / width**2)
    add_vector(block, slope, cols, count, rows, r, weight / root)
    return weight * width**2 * (root - 1)


@compiled
def foot_roll(block, slope, points, place, jac, side, weight, cols, row):
    """Sine of the angle by which a sole leans sideways: (z_inner - z_outer) / width, squared.

    Heel and toe points lie on the sole's middle line and do not see it.
    """
    count = columns(points, side, cols)
    width = 0.0
    for i in range(3):
        width += (place[side, i] - place[side + 1, i]) ** 2
    width = np.sqrt(width)
    tilt = (place[side, 2] - place[side + 1, 2]) / width
    for a in range(count):
        row[a] = (jac[side, cols[a], 2] - jac[side + 1, cols[a], 2]) / width
    add_scalar(block, slope, cols, count, row, tilt, weight)
    return 0.5 * weight * tilt**2


@compiled
def sole_height(block, slope, points, place, jac, n, weight, floor, cols, row):
    """L_ground: c z^2 of a sole point while it stands (weight), and min(0, z)^2 in every frame (floor)."""
    z = place[n, 2]
    if z < 0:
        weight = max(weight, floor)
    if weight == 0:
        return 0.0
    count = columns(points, n, cols)
    for a in range(count):
        row[a] = jac[n, cols[a], 2]
    add_scalar(block, slope, cols, count, row, z, weight)
    return 0.5 * weight * z**2


@compiled
def skating(before, now, cross, points, n, weight, width, cols):
    """L_skate: c rho(|step|) of a sole point's horizontal step from one frame to the next.

    `before` and `now` are (block, slope, place, jac) of the two frames; cross (V, V) couples them.
    """
    block_b, slope_b, place_b, jac_b = before
    block_n, slope_n, place_n, jac_n = now
    count = columns(points, n, cols)
    dx, dy = place_n[n, 0] - place_b[n, 0], place_n[n, 1] - place_b[n, 1]
    root = np.sqrt(1 + (dx**2 + dy**2) / width**2)
    k = weight / root
    for a in range(count):
        i = cols[a]
        bx, by = k * jac_b[n, i, 0], k * jac_b[n, i, 1]
        nx, ny = k * jac_n[n, i, 0], k * jac_n[n, i, 1]
        slope_b[i] -= bx * dx + by * dy
        slope_n[i] += nx * dx + ny * dy
        for b in range(a + 1):
            j = cols[b]
            block_b[i, j] += bx * jac_b[n, j, 0] + by * jac_b[n, j, 1]
            block_n[i, j] += nx * jac_n[n, j, 0] + ny * jac_n[n, j, 1]
        for b in range(count):
            j = cols[b]
            cross[i, j] -= nx * jac_b[n, j, 0] + ny * jac_b[n, j, 1]
    return weight * width**2 * (root - 1)


@compiled
def posture(band, gradient, here, value, default, weight):
    """(x - default)^2: where no keypoint says otherwise, a joint stays where it rests."""
    gradient[here] += weight * (value - default)
    band[here, 0] += weight
    return 0.5 * weight * (value - default) ** 2


@compiled
def joint_speed(band, gradient, here, size, step, limit, weight):
    """L_vel-violation: max(0, |x[t+1] - x[t]| - limit)^2 of a joint."""
    over = abs(step) - limit
    if over <= 0:
        return 0.0
    pull = weight * over * (1.0 if step > 0 else -1.0)
    gradient[here] -= pull
    gradient[here + size] += pull
    band[here, 0] += weight
    band[here + size, 0] += weight
    band[here, size] -= weight
    return 0.5 * weight * over**2


@compiled
def smoothness(band, gradient, here, size, bend, weight, width):
    """L_smooth: rho(x[t] - 2 x[t+1] + x[t+2]) of every unknown."""
    root = np.sqrt(1 + (bend / width) ** 2)
    k = weight / root
    gradient[here] += k * bend
    gradient[here + size] -= 2 * k * bend
    gradient[here + 2 * size] += k * bend
    band[here, 0] += k
    band[here + size, 0] += 4 * k
    band[here + 2 * size, 0] += k
    band[here, size] -= 2 * k
    band[here + size, size] -= 2 * k
    band[here, 2 * size] += k
    return weight * width**2 * (root - 1)

"""The terms of the retargeting objective, one compiled function each. `objective.py` lists them with their weights.

A term adds half of weight times squared residual to the normal equations and returns its cost. A pseudo-Huber term
rho(r) = width^2 (sqrt(1 + r^2 / width^2) - 1) is quadratic near zero and linear far out, as the paper's L1 and L2 norms
are; it enters as a square of weight / sqrt(1 + r^2 / width^2).

A term is given what its parameters name; `loops.py` says what there is for which kind of term. It takes whole arrays
and indices: compiled code spends more time on making slices than on adding what is in them.
"""

from __future__ import annotations

import numpy as np

from phuma.runtime.numba_cache import compiled

# Points of the problem, in this order: pelvis, 12 keypoints, 4 soles (heel and toe, left and right), 4 sides of soles.
KEYPOINTS = 13
SOLES = KEYPOINTS
SIDES = SOLES + 4
POINTS = SIDES + 4
SCRATCH = POINTS  # one more row of derivatives, for residuals that are not points


@compiled
def add_vector(hessian, slope, runs, n, jac, m, rx, ry, rz, weight):
    """Add weight |r + J d|^2 / 2 of a residual r with derivatives jac[m] (3, F) in the ranges runs[n] (R, 2)."""
    ranges = runs.shape[1]
    for a in range(ranges):
        for i in range(runs[n, a, 0], runs[n, a, 1]):
            x, y, z = weight * jac[m, 0, i], weight * jac[m, 1, i], weight * jac[m, 2, i]
            slope[i] += x * rx + y * ry + z * rz
            for j in range(i, runs[n, a, 1]):
                hessian[i, j] += x * jac[m, 0, j] + y * jac[m, 1, j] + z * jac[m, 2, j]
            for b in range(a + 1, ranges):
                for j in range(runs[n, b, 0], runs[n, b, 1]):
                    hessian[i, j] += x * jac[m, 0, j] + y * jac[m, 1, j] + z * jac[m, 2, j]


@compiled
def add_scalar(hessian, slope, runs, n, jac, m, k, r, weight):
    """Add weight (r + J d)^2 / 2 of a residual r with derivatives jac[m, k] (F,) in the ranges runs[n] (R, 2)."""
    ranges = runs.shape[1]
    for a in range(ranges):
        for i in range(runs[n, a, 0], runs[n, a, 1]):
            x = weight * jac[m, k, i]
            slope[i] += x * r
            for j in range(i, runs[n, a, 1]):
                hessian[i, j] += x * jac[m, k, j]
            for b in range(a + 1, ranges):
                for j in range(runs[n, b, 0], runs[n, b, 1]):
                    hessian[i, j] += x * jac[m, k, j]


@compiled
def keypoint_position(t, n, hessian, slope, pos, jac, runs, wanted, weight, width):
    """L_global-match: rho(|p_n - p_n^human|) of a keypoint n, with p_n^human = wanted[t, n]."""
    rx, ry, rz = pos[n, 0] - wanted[t, n, 0], pos[n, 1] - wanted[t, n, 1], pos[n, 2] - wanted[t, n, 2]
    root = np.sqrt(1 + (rx**2 + ry**2 + rz**2) / width**2)
    add_vector(hessian, slope, runs, n, jac, n, rx, ry, rz, weight / root)
    return weight * width**2 * (root - 1)


@compiled
def link_direction(t, m, start, end, hessian, slope, pos, jac, runs, wanted, weight, width):
    """L_local-match, orientation: rho(|u - u^human|) of unit vectors u = (p_end - p_start) / length.

    u^human = wanted[t, m]. du = (1 - u u^T) (dp_end - dp_start) / length. The end hangs below the start or on the same
    body.
    """
    ux, uy, uz = pos[end, 0] - pos[start, 0], pos[end, 1] - pos[start, 1], pos[end, 2] - pos[start, 2]
    length = np.sqrt(ux**2 + uy**2 + uz**2)
    ux, uy, uz = ux / length, uy / length, uz / length
    for a in range(runs.shape[1]):
        for c in range(runs[end, a, 0], runs[end, a, 1]):
            dx = (jac[end, 0, c] - jac[start, 0, c]) / length
            dy = (jac[end, 1, c] - jac[start, 1, c]) / length
            dz = (jac[end, 2, c] - jac[start, 2, c]) / length
            along = ux * dx + uy * dy + uz * dz
            jac[SCRATCH, 0, c] = dx - ux * along
            jac[SCRATCH, 1, c] = dy - uy * along
            jac[SCRATCH, 2, c] = dz - uz * along
    rx, ry, rz = ux - wanted[t, m, 0], uy - wanted[t, m, 1], uz - wanted[t, m, 2]
    root = np.sqrt(1 + (rx**2 + ry**2 + rz**2) / width**2)
    add_vector(hessian, slope, runs, end, jac, SCRATCH, rx, ry, rz, weight / root)
    return weight * width**2 * (root - 1)


@compiled
def sideways_lean(side, pos, jac, runs):
    """(z_inner - z_outer) / breadth: the sine of the angle by which a sole leans sideways; leaves its derivatives.

    Heel and toe points lie on the sole's middle line and do not see it.
    """
    breadth = 0.0
    for i in range(3):
        breadth += (pos[side, i] - pos[side + 1, i]) ** 2
    breadth = np.sqrt(breadth)
    for a in range(runs.shape[1]):
        for c in range(runs[side, a, 0], runs[side, a, 1]):
            jac[SCRATCH, 2, c] = (jac[side, 2, c] - jac[side + 1, 2, c]) / breadth
    return (pos[side, 2] - pos[side + 1, 2]) / breadth


@compiled
def foot_roll(side, hessian, slope, pos, jac, runs, weight):
    """lean^2: the foot does not lean sideways, by the joints of its ankle."""
    lean = sideways_lean(side, pos, jac, runs)
    add_scalar(hessian, slope, runs, side, jac, SCRATCH, 2, lean, weight)
    return 0.5 * weight * lean**2


@compiled
def leg_roll(side, hessian, slope, pos, jac, runs, weight, width):
    """rho(lean): where no joint of the ankle rolls the foot, the whole leg keeps it level.

    Beyond the width it pulls no harder: a robot that cannot stand level need not bend its trunk for it.
    """
    lean = sideways_lean(side, pos, jac, runs)
    root = np.sqrt(1 + (lean / width) ** 2)
    add_scalar(hessian, slope, runs, side, jac, SCRATCH, 2, lean, weight / root)
    return weight * width**2 * (root - 1)


@compiled
def sole_height(n, hessian, slope, pos, jac, runs, weight):
    """L_Ground: c z^2 of a sole point, c = 1 while it stands."""
    z = pos[n, 2]
    add_scalar(hessian, slope, runs, n, jac, n, 2, z, weight)
    return 0.5 * weight * z**2


@compiled
def sole_penetration(n, hessian, slope, pos, jac, runs, weight):
    """min(0, z)^2 of a sole point: whatever it does, it is never below the ground."""
    z = pos[n, 2]
    if z >= 0:
        return 0.0
    add_scalar(hessian, slope, runs, n, jac, n, 2, z, weight)
    return 0.5 * weight * z**2


@compiled
def add_step(n, before, now, cross, runs, i, r, weight):
    """Add weight (r + d)^2 / 2 of a residual r that a point's step along axis i moves by d, from one frame to the next.

    `before` and `now` are (hessian, slope, pos, jac) of the two frames; cross (F, F) couples them, rows of the first.
    """
    hessian_b, slope_b, _, jac_b = before
    hessian_n, slope_n, _, jac_n = now
    ranges = runs.shape[1]
    for a in range(ranges):
        for c in range(runs[n, a, 0], runs[n, a, 1]):
            b, f = weight * jac_b[n, i, c], weight * jac_n[n, i, c]
            slope_b[c] -= b * r
            slope_n[c] += f * r
            for e in range(a, ranges):
                for d in range(max(c, runs[n, e, 0]), runs[n, e, 1]):
                    hessian_b[c, d] += b * jac_b[n, i, d]
                    hessian_n[c, d] += f * jac_n[n, i, d]
            for e in range(ranges):
                for d in range(runs[n, e, 0], runs[n, e, 1]):
                    cross[c, d] -= b * jac_n[n, i, d]


@compiled
def sole_step(n, before, now, cross, runs, weight, width):
    """L_Skate: c rho(|step|) of a sole point's horizontal step from one frame to the next, c = 1 while it stands."""
    dx, dy = now[2][n, 0] - before[2][n, 0], now[2][n, 1] - before[2][n, 1]
    root = np.sqrt(1 + (dx**2 + dy**2) / width**2)
    add_step(n, before, now, cross, runs, 0, dx, weight / root)
    add_step(n, before, now, cross, runs, 1, dy, weight / root)
    return weight * width**2 * (root - 1)


@compiled
def keypoint_step(t, n, before, now, cross, runs, wanted, weight, width):
    """rho(|step - step^human|) of a keypoint from one frame to the next, step^human = wanted[t, n] - wanted[t - 1, n].

    A sole that stands may be beside the human's. Distances count by how far rather than by their squares, so without
    this term all of it would be made up for in a single frame as soon as the sole is let go: a leap.
    """
    apart = now[2][n] - before[2][n] - wanted[t, n] + wanted[t - 1, n]
    root = np.sqrt(1 + (apart[0] ** 2 + apart[1] ** 2 + apart[2] ** 2) / width**2)
    for i in range(3):
        add_step(n, before, now, cross, runs, i, apart[i], weight / root)
    return weight * width**2 * (root - 1)


@compiled
def posture(here, value, default, gradient, band, weight):
    """(x - default)^2: where no keypoint says otherwise, a joint stays where it rests."""
    gradient[here] += weight * (value - default)
    band[here, 0] += weight
    return 0.5 * weight * (value - default) ** 2


@compiled
def joint_speed(here, step, limit, size, gradient, band, weight):
    """L_vel-violation: max(0, |x[t+1] - x[t]| - limit)^2 / limit of a joint.

    So a given share beyond its limit pulls a slow joint back as strongly as a fast one.
    """
    over = abs(step) - limit
    if over <= 0:
        return 0.0
    weight /= limit
    pull = weight * over * (1.0 if step > 0 else -1.0)
    gradient[here] -= pull
    gradient[here + size] += pull
    band[here, 0] += weight
    band[here + size, 0] += weight
    band[here, size] -= weight
    return 0.5 * weight * over**2


@compiled
def smoothness(here, bend, size, gradient, band, weight, width):
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

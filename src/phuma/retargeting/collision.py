"""The self-collision term: capsules that overlap push their links apart."""

from __future__ import annotations

import numpy as np

from phuma.runtime.numba_cache import compiled

MARGIN = 0.003  # m by which capsules are kept apart


@compiled
def closest(p0, p1, q0, q1):
    """Shares s, t in [0, 1] along two segments at which they are nearest to each other."""
    a = e = b = c = f = 0.0
    for i in range(3):
        d, g, r = p1[i] - p0[i], q1[i] - q0[i], p0[i] - q0[i]
        a += d * d
        e += g * g
        b += d * g
        c += d * r
        f += g * r
    if a < 1e-12 and e < 1e-12:
        return 0.0, 0.0
    if a < 1e-12:
        return 0.0, min(max(f / e, 0.0), 1.0)
    if e < 1e-12:
        return min(max(-c / a, 0.0), 1.0), 0.0
    denominator = a * e - b * b
    s = min(max((b * f - c * e) / denominator, 0.0), 1.0) if denominator > 1e-12 else 0.0
    t = (b * s + f) / e
    if t < 0.0:
        return min(max(-c / a, 0.0), 1.0), 0.0
    if t > 1.0:
        return min(max((b - c) / a, 0.0), 1.0), 1.0
    return s, t


@compiled
def self_collision(
    t,
    hessian,
    slope,
    column,
    pairs,
    axis,
    origin,
    starts,
    ends,
    radius,
    capsule_pairs,
    apart,
    capsule_joints,
    capsule_depth,
    row,
    columns,
    weight,
):
    """max(0, r_a + r_b + margin - d)^2 over the block's pairs of capsules, d the distance of their segments.

    Moving the root does not change a distance, nor do joints above both capsules: only the others have derivatives,
    dd = n . (dp_b - dp_a) with n from the point on a to the point on b.
    """
    starts, ends, axis, origin = starts[t], ends[t], axis[t], origin[t]
    pa, pb = np.empty(3), np.empty(3)
    cost = 0.0
    for m in pairs:
        a, b = capsule_pairs[m, 0], capsule_pairs[m, 1]
        far = 0.0
        for i in range(3):
            far += (starts[a, i] + ends[a, i] - starts[b, i] - ends[b, i]) ** 2
        if far > (2 * (apart[m] + MARGIN)) ** 2:
            continue
        reach = radius[a] + radius[b] + MARGIN
        s, u = closest(starts[a], ends[a], starts[b], ends[b])
        d = 0.0
        for i in range(3):
            pa[i] = starts[a, i] + s * (ends[a, i] - starts[a, i])
            pb[i] = starts[b, i] + u * (ends[b, i] - starts[b, i])
            d += (pb[i] - pa[i]) ** 2
        d = np.sqrt(d)
        if d >= reach or d < 1e-6:
            continue
        count = _derivatives(capsule_joints, capsule_depth, column, a, b, pa, pb, d, axis, origin, row, columns)
        for x in range(count):
            slope[columns[x]] += weight * row[columns[x]] * (reach - d)
            for y in range(x, count):
                hessian[columns[x], columns[y]] += weight * row[columns[x]] * row[columns[y]]
        cost += 0.5 * weight * (reach - d) ** 2
    return cost


@compiled
def _derivatives(joints, depth, column, a, b, pa, pb, d, axis, origin, row, columns):
    """row[c] = d(reach - d) / dx for the unknowns in columns columns[:count], in rising order."""
    nx, ny, nz = (pb[0] - pa[0]) / d, (pb[1] - pa[1]) / d, (pb[2] - pa[2]) / d
    count, i, j = 0, 0, 0
    while i < depth[a] or j < depth[b]:
        ja = joints[a, i] if i < depth[a] else 1 << 30
        jb = joints[b, j] if j < depth[b] else 1 << 30
        n = min(ja, jb)
        i += ja == n
        j += jb == n
        c = column[6 + n]
        if ja == jb or c < 0:
            continue  # above both, or standing still
        sign = -1.0 if jb == n else 1.0
        p = pb if jb == n else pa
        rx, ry, rz = p[0] - origin[n, 0], p[1] - origin[n, 1], p[2] - origin[n, 2]
        vx = axis[n, 1] * rz - axis[n, 2] * ry
        vy = axis[n, 2] * rx - axis[n, 0] * rz
        vz = axis[n, 0] * ry - axis[n, 1] * rx
        columns[count] = c
        row[c] = sign * (nx * vx + ny * vy + nz * vz)
        count += 1
    return count

"""The self-collision term: capsules that overlap push their links apart."""

from __future__ import annotations

import numpy as np

from phuma.compiled import compiled

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
def self_collision(block, slope, capsules, part, posed, frame, weight, row, cols):
    """max(0, r_a + r_b + margin - d)^2 over the part's pairs of capsules, d the distance of their segments.

    Moving the root does not change a distance, nor do joints above both capsules: only the others have derivatives,
    dd = n . (dp_b - dp_a) with n from the point on a to the point on b.
    """
    starts, ends, axis, origin = posed.starts[frame], posed.ends[frame], posed.axis[frame], posed.origin[frame]
    pa, pb = np.empty(3), np.empty(3)
    cost = 0.0
    for m in part.pairs:
        a, b = capsules.pairs[m, 0], capsules.pairs[m, 1]
        far = 0.0
        for i in range(3):
            far += (starts[a, i] + ends[a, i] - starts[b, i] - ends[b, i]) ** 2
        if far > (2 * (capsules.apart[m] + MARGIN)) ** 2:
            continue
        reach = capsules.radius[a] + capsules.radius[b] + MARGIN
        s, t = closest(starts[a], ends[a], starts[b], ends[b])
        d = 0.0
        for i in range(3):
            pa[i] = starts[a, i] + s * (ends[a, i] - starts[a, i])
            pb[i] = starts[b, i] + t * (ends[b, i] - starts[b, i])
            d += (pb[i] - pa[i]) ** 2
        d = np.sqrt(d)
        if d >= reach or d < 1e-6:
            continue
        count = _derivatives(capsules, part.column, a, b, pa, pb, d, axis, origin, row, cols)
        for x in range(count):
            slope[cols[x]] += weight * row[cols[x]] * (reach - d)
            for y in range(x, count):
                block[cols[x], cols[y]] += weight * row[cols[x]] * row[cols[y]]
        cost += 0.5 * weight * (reach - d) ** 2
    return cost


@compiled
def _derivatives(capsules, column, a, b, pa, pb, d, axis, origin, row, cols):
    """row[c] = d(reach - d) / dx for the unknowns in columns cols[:count], in rising order."""
    nx, ny, nz = (pb[0] - pa[0]) / d, (pb[1] - pa[1]) / d, (pb[2] - pa[2]) / d
    count, i, j = 0, 0, 0
    while i < capsules.depth[a] or j < capsules.depth[b]:
        ja = capsules.joints[a, i] if i < capsules.depth[a] else 1 << 30
        jb = capsules.joints[b, j] if j < capsules.depth[b] else 1 << 30
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
        cols[count] = c
        row[c] = sign * (nx * vx + ny * vy + nz * vz)
        count += 1
    return count

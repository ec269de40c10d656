"""The wrench that a robot's motion needs of the ground, frame by frame, and its derivatives, compiled.

With masses m at p, accelerations a by second differences and gravity g, about a point c:

    F = sum m (a - g),    M = sum m (p - c) x (a - g)

in body weights and body weights x metre. A body's mass counts by its centre and its second moments S, since
sum m u v^T over it is  m u_c v_c^T + R S R'^T  for u and v of two frames with rotations R and R'; no inertia has to be
turned and no Coriolis term appears. What a joint moves is its body's subtree, so these sums are added up the tree once
and give all joints' derivatives: for points q and a turn by w about o,  sum m q x (w x (p - o)) = w tr(Q) - Q^T w  with
Q = sum m q (p - o)^T.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from phuma.contacts.force import GRAVITY
from phuma.core.rotations import Array
from phuma.retargeting.normal import left_jacobian
from phuma.retargeting.support import MOMENT, WRENCH
from phuma.retargeting.wrench_distance import wrench_distance
from phuma.runtime.numba_cache import compiled

TRUST_MORE, TRUST_LESS = 3.0, 6.0
"""By which a frame's trust weight falls where the quadratic model held, and rises where it did not"""
LEAST_TRUST, MOST_TRUST = 1e-4, 1.0
"""Bounds of that weight; at 1 the model is never too low"""


class Wrenches(NamedTuple):
    """The wrenches of all frames but the first and the last, which have no acceleration."""

    needed: Array
    """(T, 6) force in body weights, moment in body weights x metre x MOMENT"""
    missing: Array
    """(T, 6) the part that nothing gives"""
    curvature: Array
    """(T, 6, 6) derivative of the latter by the former"""
    distance: Array
    """(T,) phi of `wrench_distance.py`"""


def empty_wrenches(frames: int) -> Wrenches:
    """Return arrays for so many frames."""
    return Wrenches(
        np.zeros((frames, WRENCH)), np.zeros((frames, WRENCH)), np.zeros((frames, WRENCH, WRENCH)), np.zeros(frames)
    )


class Sums(NamedTuple):
    """Sums over the subtree of each body, for one frame t and its neighbours; the root's are over the whole robot."""

    outer: Array
    """(3, B, 3, 3) of m q p^T: with q of t from c and p of t - 1; with q = p(t - 1) + p(t + 1) and p of t; with q of t
    from c and p of t + 1"""
    first: Array
    """(3, B, 3) of m q, for the same three"""


@compiled
def mass_centres(masses, posed, centre):
    """Fill centre (T, B, 3), the bodies' centres of mass."""
    for t in range(centre.shape[0]):
        for b in range(centre.shape[1]):
            for i in range(3):
                centre[t, b, i] = posed.body_pos[t, b, i]
                for j in range(3):
                    centre[t, b, i] += posed.body_rot[t, b, i, j] * masses.centre[b, j]


@compiled
def subtree_masses(tree, masses, centre, mass, moment):
    """Fill mass (B,) and moment (T, B, 3), the sums of m and of m p over the subtree of each body."""
    bodies = len(masses.mass)
    mass[:] = masses.mass
    for t in range(len(centre)):
        for b in range(bodies):
            for i in range(3):
                moment[t, b, i] = masses.mass[b] * centre[t, b, i]
    for b in range(bodies - 1, 0, -1):
        up = tree.parents[b]
        mass[up] += mass[b]
        for t in range(len(centre)):
            for i in range(3):
                moment[t, up, i] += moment[t, b, i]


@compiled
def sum_up(tree, masses, posed, centre, t, about, sums):
    """Fill the sums of frame t, for moments about `about` (3,)."""
    turned = np.empty((3, 3))
    outer, first = sums.outer, sums.first
    for b in range(len(masses.mass)):
        m, now = masses.mass[b], posed.body_rot[t, b]
        before, after = posed.body_rot[t - 1, b], posed.body_rot[t + 1, b]
        for i in range(3):
            first[0, b, i] = first[2, b, i] = m * (centre[t, b, i] - about[i])
            first[1, b, i] = m * (centre[t - 1, b, i] + centre[t + 1, b, i])
            for j in range(3):
                turned[i, j] = 0.0
                for k in range(3):
                    turned[i, j] += now[i, k] * masses.second[b, k, j]
        for i in range(3):
            for j in range(3):
                back = ahead = 0.0
                for k in range(3):
                    back += turned[i, k] * before[j, k]
                    ahead += turned[i, k] * after[j, k]
                outer[0, b, i, j] = first[0, b, i] * centre[t - 1, b, j] + back
                outer[2, b, i, j] = first[2, b, i] * centre[t + 1, b, j] + ahead
                outer[1, b, j, i] = first[1, b, j] * centre[t, b, i] + back + ahead
    for b in range(len(masses.mass) - 1, 0, -1):
        up = tree.parents[b]
        for n in range(3):
            for i in range(3):
                first[n, up, i] += first[n, b, i]
                for j in range(3):
                    outer[n, up, i, j] += outer[n, b, i, j]


@compiled
def needed_wrench(sums, moment, t, about, per_step, y):
    """Fill y (6,), the wrench of frame t; per_step is fps^2 / g."""
    for i in range(3):
        y[i] = per_step * (moment[t - 1, 0, i] - 2 * moment[t, 0, i] + moment[t + 1, 0, i])
        j, k = (i + 1) % 3, (i + 2) % 3
        both = sums.outer[0, 0, j, k] - sums.outer[0, 0, k, j] + sums.outer[2, 0, j, k] - sums.outer[2, 0, k, j]
        y[3 + i] = MOMENT * per_step * (both + 2 * (about[j] * moment[t, 0, k] - about[k] * moment[t, 0, j]))
    y[2] += 1.0
    y[3] += MOMENT * (moment[t, 0, 1] - about[1])
    y[4] -= MOMENT * (moment[t, 0, 0] - about[0])


@compiled
def put_column(rows, c, own, per_step, about, shift, turn):
    """Fill rows[:, c] of an unknown that moves the centre of mass by `shift` and the sum of m q x p by `turn`."""
    if own:  # the frame's own pose: its accelerations by -2, its lever arms, and its weight's
        ax, ay, az = 2 * per_step * about[0], 2 * per_step * about[1], 2 * per_step * about[2]
        for i in range(3):
            rows[i, c] = -2 * per_step * shift[i]
        rows[3, c] = MOMENT * (-per_step * turn[0] + ay * shift[2] - az * shift[1] + shift[1])
        rows[4, c] = MOMENT * (-per_step * turn[1] + az * shift[0] - ax * shift[2] - shift[0])
        rows[5, c] = MOMENT * (-per_step * turn[2] + ax * shift[1] - ay * shift[0])
    else:
        for i in range(3):
            rows[i, c] = per_step * shift[i]
            rows[3 + i, c] = MOMENT * per_step * turn[i]


@compiled
def turn_column(rows, c, own, per_step, about, w, o, outer, first, mass, moment):
    """Fill rows[:, c] of an unknown that turns a subtree, of which these are the sums, by w about o."""
    x, y, z = moment[0] - mass * o[0], moment[1] - mass * o[1], moment[2] - mass * o[2]
    shift = (w[1] * z - w[2] * y, w[2] * x - w[0] * z, w[0] * y - w[1] * x)
    trace = outer[0, 0] + outer[1, 1] + outer[2, 2] - first[0] * o[0] - first[1] * o[1] - first[2] * o[2]
    along = first[0] * w[0] + first[1] * w[1] + first[2] * w[2]
    turn = (
        w[0] * trace - outer[0, 0] * w[0] - outer[1, 0] * w[1] - outer[2, 0] * w[2] + o[0] * along,
        w[1] * trace - outer[0, 1] * w[0] - outer[1, 1] * w[1] - outer[2, 1] * w[2] + o[1] * along,
        w[2] * trace - outer[0, 2] * w[0] - outer[1, 2] * w[1] - outer[2, 2] * w[2] + o[2] * along,
    )
    put_column(rows, c, own, per_step, about, shift, turn)


@compiled
def wrench_rows(tree, block, posed, x, s, own, per_step, about, outer, first, mass, moment, rows):
    """Fill rows (6, F): derivatives of a frame's wrench by the pose x[s] of that frame (own) or of a neighbour."""
    lever = np.empty((3, 3))
    left_jacobian(x[s, 3:6], lever)
    vx, vy, vz = first[0, 0], first[0, 1], first[0, 2]
    put_column(rows, 0, own, per_step, about, (1.0, 0.0, 0.0), (0.0, vz, -vy))
    put_column(rows, 1, own, per_step, about, (0.0, 1.0, 0.0), (-vz, 0.0, vx))
    put_column(rows, 2, own, per_step, about, (0.0, 0.0, 1.0), (vy, -vx, 0.0))
    for k in range(3):
        w = (lever[0, k], lever[1, k], lever[2, k])
        turn_column(rows, 3 + k, own, per_step, about, w, x[s], outer[0], first[0], mass[0], moment[s, 0])
    for b in range(len(mass)):
        for n in range(tree.first_joint[b], tree.first_joint[b + 1]):
            c = block.column[6 + n]
            if c >= 0:
                w = (posed.axis[s, n, 0], posed.axis[s, n, 1], posed.axis[s, n, 2])
                o = posed.origin[s, n]
                turn_column(rows, c, own, per_step, about, w, o, outer[b], first[b], mass[b], moment[s, b])


@compiled
def new_trust(before, now, t, trust):
    """A frame's trust weight after a step: whether its distance was at most what the model of `before` had said."""
    linear = quadratic = 0.0
    for i in range(WRENCH):
        di = now.needed[t, i] - before.needed[t, i]
        linear += before.missing[t, i] * di
        quadratic += 0.5 * trust * di * di
        for j in range(WRENCH):
            dj = now.needed[t, j] - before.needed[t, j]
            quadratic += 0.5 * di * before.curvature[t, i, j] * dj
    if now.distance[t] - before.distance[t] - linear > 0.01 * quadratic + 1e-9 + quadratic:
        return min(TRUST_LESS * max(trust, 10 * LEAST_TRUST), MOST_TRUST)
    return max(trust / TRUST_MORE, LEAST_TRUST)


@compiled
def add_rows(rows, weight, missing, curvature, trust, base, gradient, band):
    """Add  weight phi(y + rows d)  to second order, rows (6, K), for the K unknowns from `base` on."""
    columns = rows.shape[1]
    pull = np.empty((WRENCH, columns))
    for c in range(columns):
        slope = 0.0
        for i in range(WRENCH):
            slope += rows[i, c] * missing[i]
            pull[i, c] = trust * rows[i, c]
            for k in range(WRENCH):
                pull[i, c] += curvature[i, k] * rows[k, c]
            pull[i, c] *= weight
        gradient[base + c] += weight * slope
    for c in range(columns):
        p0, p1, p2, p3, p4, p5 = pull[0, c], pull[1, c], pull[2, c], pull[3, c], pull[4, c], pull[5, c]
        for d in range(c, columns):
            band[base + c, d - c] += (
                p0 * rows[0, d]
                + p1 * rows[1, d]
                + p2 * rows[2, d]
                + p3 * rows[3, d]
                + p4 * rows[4, d]
                + p5 * rows[5, d]
            )


@compiled
def add_wrench_term(
    tree, masses, block, posed, support, x, fps, weight, barrier, before, judge, now, trust, gradient, band
):
    """L_dynamics: weight sum_t phi(y_t), added to gradient (T F,) and band (T F, 3 F); returns it and fills `now`.

    trust (T,) is added to each frame's curvature: the distance is flat inside the cone and steep outside, so a step is
    only as good as what keeps it inside. With `judge` it is first updated by how well `before` foretold this pose.
    """
    frames, bodies, size = len(x), len(masses.mass), len(block.unknowns)
    per_step = fps**2 / GRAVITY
    centre, mass, moment = np.empty((frames, bodies, 3)), np.empty(bodies), np.empty((frames, bodies, 3))
    sums = Sums(np.empty((3, bodies, 3, 3)), np.empty((3, bodies, 3)))
    rows, part = np.zeros((WRENCH, 3 * size)), np.zeros((WRENCH, size))
    mass_centres(masses, posed, centre)
    subtree_masses(tree, masses, centre, mass, moment)
    cost = 0.0
    for t in range(1, frames - 1):
        about = support.about[t]
        sum_up(tree, masses, posed, centre, t, about, sums)
        needed_wrench(sums, moment, t, about, per_step, now.needed[t])
        now.distance[t] = wrench_distance(
            support.edges[t], support.amount[t], now.needed[t], barrier, now.missing[t], now.curvature[t]
        )
        cost += weight * now.distance[t]
        if judge:
            trust[t] = new_trust(before, now, t, trust[t])
        for n in range(3):
            s, own = t - 1 + n, n == 1
            wrench_rows(
                tree, block, posed, x, s, own, per_step, about, sums.outer[n], sums.first[n], mass, moment, part
            )
            rows[:, n * size : (n + 1) * size] = part
        add_rows(rows, weight, now.missing[t], now.curvature[t], trust[t], (t - 1) * size, gradient, band)
    return cost

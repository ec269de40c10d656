"""How far a wrench is from what the soles can give: a smooth distance from a cone, compiled.

    phi(y) = min  |y - G p - e|^2 / 2 + kappa |e| + hinge(ankles) - mu (sum_i log p_i + ...)
            p, e

y is the wrench that a motion needs, G p what forces p > 0 along the edges of friction pyramids give, and e what is
given up: beyond kappa the distance grows linearly, so that one impossible frame does not bend a whole clip. The barrier
keeps phi smooth where the cone has edges: with mu to 0 it is half the squared distance. Its dual has as many unknowns
as the wrench has rows, whatever the number of edges,

    phi(y) = max  y.r - |r|^2 / 2 + mu sum_i log(-g_i.r) + mu log(kappa^2 - |r|^2) - sum_k h(r_k)
              r

with r the wrench that nothing gives. By the envelope theorem r is the gradient of phi, and the inverse of the dual's
Hessian is the Hessian of phi. Rows beyond the wrench's six are torques of ankles over their limits, times w =
ANKLE_WEIGHT; they are free up to the limit: h(r) = max_v -w r v + mu log(1 - v^2).
"""

from __future__ import annotations

import numpy as np

from phuma.retargeting.support import ANKLE_WEIGHT, ROWS, WRENCH
from phuma.runtime.numba_cache import compiled

GIVEN_UP = 0.2
"""kappa, body weights"""
FIRST, FALL = 1e-3, 0.03
"""The barrier falls from the first value by this factor until it is as asked"""
MOST_STEPS = 60
NEARLY, CLOSE = 0.1, 1e-6
"""Newton decrement, in units of the barrier, at which it falls and at which the search ends"""
BACK = 0.95
"""Share of the way to the edge that a step may go"""


@compiled
def free_torque(s, mu):
    """v = argmax -s v + mu log(1 - v^2), and the maximum."""
    if abs(s) < 1e-12:
        return -s / (2 * mu), 0.0
    v = (mu - np.sqrt(mu * mu + s * s)) / s
    return v, -s * v + mu * np.log(1 - v * v)


@compiled
def dual(edges, count, y, mu, r, slack):
    """The dual's negative at r; fills slack (count,) with -g_i.r; infinite outside."""
    size, value = 0.0, 0.0
    for i in range(WRENCH):
        size += r[i] * r[i]
        value -= y[i] * r[i]
    left = GIVEN_UP**2 - size
    if left <= 0:
        return np.inf
    value += 0.5 * size - mu * np.log(left / GIVEN_UP**2)
    for i in range(WRENCH, ROWS):
        _, free = free_torque(ANKLE_WEIGHT * r[i], mu)
        value += 0.5 * r[i] * r[i] + free
    for k in range(count):
        s = 0.0
        for i in range(ROWS):
            s -= edges[k, i] * r[i]
        if s <= 0:
            return np.inf
        slack[k] = s
        value -= mu * np.log(s)
    return value


@compiled
def dual_derivatives(edges, count, y, mu, r, slack, gradient, hessian):
    """Fill gradient (ROWS,) and the lower triangle of hessian (ROWS, ROWS) of the dual's negative."""
    size = 0.0
    for i in range(WRENCH):
        size += r[i] * r[i]
    left = GIVEN_UP**2 - size
    hessian[:] = 0.0
    for i in range(WRENCH):
        gradient[i] = r[i] - y[i] + 2 * mu * r[i] / left
        for j in range(i + 1):
            hessian[i, j] = 4 * mu * r[i] * r[j] / left**2
        hessian[i, i] += 1 + 2 * mu / left
    for i in range(WRENCH, ROWS):
        v, _ = free_torque(ANKLE_WEIGHT * r[i], mu)
        gradient[i] = r[i] - ANKLE_WEIGHT * v
        hessian[i, i] = 1 + ANKLE_WEIGHT**2 * (1 - v * v) ** 2 / (2 * mu * (1 + v * v))
    for k in range(count):
        force = mu / slack[k]
        for i in range(ROWS):
            gradient[i] += force * edges[k, i]
            pull = force / slack[k] * edges[k, i]
            for j in range(i + 1):
                hessian[i, j] += pull * edges[k, j]


@compiled
def factorise(matrix):
    """Cholesky factor of a symmetric matrix, in place of its lower triangle."""
    for i in range(len(matrix)):
        for j in range(i + 1):
            s = matrix[i, j]
            for k in range(j):
                s -= matrix[i, k] * matrix[j, k]
            matrix[i, j] = np.sqrt(max(s, 1e-300)) if i == j else s / matrix[j, j]


@compiled
def back_substitute(factor, b):
    """Solve  factor factor^T x = b  in place."""
    size = len(b)
    for i in range(size):
        for k in range(i):
            b[i] -= factor[i, k] * b[k]
        b[i] /= factor[i, i]
    for i in range(size - 1, -1, -1):
        for k in range(i + 1, size):
            b[i] -= factor[k, i] * b[k]
        b[i] /= factor[i, i]


@compiled
def longest_step(edges, count, slack, d):
    """How far along d (ROWS,) r may go, at most 1, to stay inside."""
    step = 1.0
    for k in range(count):
        s = 0.0
        for i in range(ROWS):
            s -= edges[k, i] * d[i]
        if s < 0:
            step = min(step, -BACK * slack[k] / s)
    return step


@compiled
def wrench_distance(edges, count, y, barrier, missing, curvature):
    """phi(y) for y (6,) by damped Newton steps; fills missing (6,), its gradient, and curvature (6, 6), its Hessian."""
    r, d, trial, gradient = np.zeros(ROWS), np.empty(ROWS), np.empty(ROWS), np.empty(ROWS)
    hessian, slack = np.empty((ROWS, ROWS)), np.empty(count)
    if count > 0:
        r[2] = -0.5 * GIVEN_UP  # every edge points up: inside
    mu = max(barrier, FIRST)
    value = dual(edges, count, y, mu, r, slack)
    for _ in range(MOST_STEPS):
        dual_derivatives(edges, count, y, mu, r, slack, gradient, hessian)
        factorise(hessian)
        for i in range(ROWS):
            d[i] = -gradient[i]
        back_substitute(hessian, d)
        decrement = 0.0
        for i in range(ROWS):
            decrement -= gradient[i] * d[i]
        if decrement < (NEARLY if mu > barrier else CLOSE) * mu:
            if mu <= barrier:
                break
            mu = max(barrier, FALL * mu)
            value = dual(edges, count, y, mu, r, slack)
            continue
        step = longest_step(edges, count, slack, d)
        while step > 1e-10:
            for i in range(ROWS):
                trial[i] = r[i] + step * d[i]
            found = dual(edges, count, y, mu, trial, slack)
            if found <= value - 0.1 * step * decrement:
                break
            step *= 0.5
        if step <= 1e-10:  # as near as numbers come
            dual(edges, count, y, mu, r, slack)
            break
        value = found
        r[:] = trial
    for c in range(WRENCH):
        missing[c] = r[c]
        d[:] = 0.0
        d[c] = 1.0
        back_substitute(hessian, d)
        for i in range(WRENCH):
            curvature[i, c] = d[i]
    return -value

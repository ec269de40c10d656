"""The time-varying linear-quadratic regulator: the best feedback for small deviations from a trajectory.

u_t = K_t x_t  minimises  sum_t x_t' Q_t x_t + r u_t' u_t + x_T' P_T x_T   with   x_(t+1) = A_t x_t + B_t u_t

K = -(r I + B' P B)^-1 B' P A,   P <- Q + (A + B K)' P (A + B K) + r K' K
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from phuma.core.rotations import Array


class Regulator(NamedTuple):
    """Feedback along a trajectory of T steps."""

    gains: Array
    """(T, N, 2V) K"""
    values: Array
    """(T + 1, 2V, 2V) P, so that x' P x is the least cost from there to the end"""


class Elimination(NamedTuple):
    """One step backwards: the control as a function of the state, and what is left to pay."""

    gain: Array
    """(N, 2V) K"""
    change: Array
    """(N,) k, the control at x = 0"""
    value: Array
    """(2V, 2V) P"""
    slope: Array
    """(2V,) p, so that  x' P x + 2 p' x  is the least cost but for a constant"""


def eliminate(
    a: Array, b: Array, cost: Array, pull: Array, weight: float, push: Array, value: Array, slope: Array
) -> Elimination:
    """Return the minimum over u of  x'Qx + 2 pull'x + r u'u + 2 push'u + x+'Px+ + 2 slope'x+,   x+ = A x + B u.

    Raises numpy's LinAlgError where there is none.
    """
    from scipy.linalg import cho_factor, cho_solve

    bp = b.T @ value
    curvature = bp @ b
    curvature[np.diag_indices_from(curvature)] += weight
    gradient = b.T @ slope + push
    factor = cho_factor(curvature, check_finite=False)
    solved = -cho_solve(factor, np.column_stack([bp @ a, gradient]), check_finite=False)
    if not np.isfinite(solved).all():
        raise np.linalg.LinAlgError("values that are not finite")
    gain, change = solved[:, :-1], solved[:, -1]
    closed = a + b @ gain
    new = cost + closed.T @ (value @ closed) + weight * (gain.T @ gain)  # never negative, however it is rounded
    return Elimination(gain, change, 0.5 * (new + new.T), pull + a.T @ slope + a.T @ (bp.T @ change))


def regulate(linear: Sequence[tuple[Array, Array]], costs: Array, weight: float, end: Array) -> Regulator:
    """Return the feedback for steps (A, B), the costs (T, 2V, 2V) of their first states, r and the cost of the end.

    A step whose derivatives are of no use, as their differences crossed a contact, has the feedback of the next one.
    """
    size, controls = linear[0][1].shape
    gains, values = np.empty((len(linear), controls, size)), np.empty((len(linear) + 1, size, size))
    values[-1], nothing = end, np.zeros(size)
    for t in range(len(linear) - 1, -1, -1):
        a, b = linear[t]
        try:
            found = eliminate(a, b, costs[t], nothing, weight, np.zeros(controls), values[t + 1], nothing)
        except np.linalg.LinAlgError:
            gains[t], values[t] = gains[t + 1] if t + 1 < len(linear) else 0.0, values[t + 1]
        else:
            gains[t], values[t] = found.gain, found.value
    return Regulator(gains, values)

"""The normal equations of a film: what is eliminated pair by pair is what a dense matrix gives."""

import numpy as np
import pytest

from phuma.video.arrow import Arrow


def some(frames: int, size: int = 4, shared: int = 3) -> tuple[Arrow, np.ndarray, np.ndarray]:
    """Equations of random residuals that couple neighbours, and the same as a dense matrix and gradient."""
    rng = np.random.default_rng(frames)
    total = frames * size + shared
    rows = []
    for t in range(frames):
        for reach in range(1, min(2, frames - t) + 1):  # dense among a frame and the next one
            row = np.zeros((9, total))
            row[:, t * size : (t + reach) * size] = rng.normal(size=(9, reach * size))
            row[:, frames * size :] = rng.normal(size=(9, shared))
            rows.append(row)
        if t + 2 < frames:  # each unknown with itself
            for k in range(size):
                row = np.zeros((1, total))
                row[0, [t * size + k, (t + 1) * size + k, (t + 2) * size + k]] = 1.0, -2.0, 1.0
                rows.append(row)
    jacobian = np.concatenate(rows)
    dense, slope = jacobian.T @ jacobian, jacobian.T @ rng.normal(size=len(jacobian))
    arrow, own = Arrow.empty(frames, size, shared), [slice(t * size, (t + 1) * size) for t in range(frames)]
    for t in range(frames):
        arrow.own[t], arrow.border[t], arrow.slope[t] = dense[own[t], own[t]], dense[own[t], -shared:], slope[own[t]]
        if t + 1 < frames:
            arrow.following[t] = dense[own[t], own[t + 1]]
        if t + 2 < frames:
            arrow.second[t] = np.diag(dense[own[t], own[t + 2]])
    arrow.corner[:], arrow.corner_slope[:] = dense[-shared:, -shared:], slope[-shared:]
    return arrow, dense, slope


@pytest.mark.parametrize("frames", [1, 2, 3, 6, 7])
def test_a_step_is_that_of_the_dense_matrix(frames):
    arrow, dense, slope = some(frames)
    step, shared = arrow.step(0.0)
    assert np.allclose(np.concatenate([step.ravel(), shared]), -np.linalg.solve(dense, slope), atol=1e-6)


def test_what_is_held_stays_and_the_rest_is_solved_without_it():
    arrow, dense, slope = some(5)
    step, shared = arrow.step(0.0, hold=True)
    assert not shared.any()
    assert np.allclose(step.ravel(), -np.linalg.solve(dense[:20, :20], slope[:20]), atol=1e-6)


def test_damping_shortens_a_step():
    arrow, *_ = some(6)
    assert np.linalg.norm(arrow.step(10.0)[0]) < np.linalg.norm(arrow.step(0.0)[0])

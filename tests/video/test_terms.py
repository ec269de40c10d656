"""Each term of the lifting's objective: its derivatives are those of its cost."""

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from phuma.body.open import OpenShape
from phuma.video import terms
from phuma.video.fit import Level, Problem, State, moved_lengths, plane, solve
from phuma.video.freedom import SIZE, USUAL
from phuma.video.markers import SEEN
from phuma.video.pinhole import up_of
from phuma.video.posing import LENGTHS, SOLES, Posed, Rig, exponential, pose
from phuma.video.terms import GROUND, SCALE, SHARED, UP, Picture, Points, Shared

RIG, FPS, FRAMES = Rig.of(SEEN), 30.0, 4
RNG = np.random.default_rng(3)
STANDS = (RNG.uniform(size=(FRAMES, SOLES)) > 0.4).astype(float)
PICTURE = Picture(
    rays=0.1 * RNG.normal(size=(FRAMES, len(SEEN), 2)),
    depth=0.2 * RNG.normal(size=(FRAMES, len(SEEN))),
    sight=np.tile([0.0, 0.1, np.sqrt(0.99)], (FRAMES, 1)),
    trust=RNG.uniform(0.2, 1.0, (FRAMES, len(SEEN))),
    depth_trust=RNG.uniform(0.2, 1.0, (FRAMES, len(SEEN))),
    noise=np.full(FRAMES, 0.1),
    fps=FPS,
)
SPOTS = np.array([0.0, 0.0, 4.0]) + 0.3 * RNG.normal(size=(FRAMES, len(SEEN), 3))
POINTS = Points(SPOTS, PICTURE.trust, FPS, noise=0.1)


def state() -> State:
    x = np.zeros((FRAMES, SIZE))
    x[:, 6:] = USUAL + 0.1 * RNG.normal(size=(FRAMES, SIZE - 6))
    x[:, 2] = 4.0
    root = exponential(np.tile([np.pi, 0.1, 0.0], (FRAMES, 1)))[0]
    return State(x, root, Shared(OpenShape(1.7).lengths(), 1.1, up_of(-0.1, 0.05), -1.0))


def stillness(posed: Posed, shared: Shared, basis: np.ndarray) -> float:
    return terms.stillness(posed, STANDS, np.ones(FRAMES), FPS)[2].cost


COSTS: dict[str, Callable[[Posed, Shared, np.ndarray], terms.Rows]] = {
    "image": lambda posed, shared, basis: PICTURE.rows(posed, shared, slice(0, FRAMES))[0],
    "depth": lambda posed, shared, basis: PICTURE.rows(posed, shared, slice(0, FRAMES))[1],
    "points": lambda posed, shared, basis: POINTS.rows(posed, shared, slice(0, FRAMES))[0],
    "heights": lambda posed, shared, basis: terms.heights(posed, shared, STANDS, basis, FPS),
}


def posed(at: State) -> Posed:
    return pose(RIG, at.x, at.root, at.shared.lengths)


@pytest.mark.parametrize("term", COSTS)
def test_the_slope_of_a_term_is_that_of_its_cost(term):
    here, step = state(), 1e-6
    basis = plane(here.shared.up)
    rows = COSTS[term](posed(here), here.shared, basis)
    slope = np.einsum("trv,tr->tv", rows.by_frame, rows.value)
    direction = RNG.normal(size=(FRAMES, SIZE))
    there = here.moved(step * direction, np.zeros(SHARED))
    change = (COSTS[term](posed(there), there.shared, basis).cost - rows.cost) / step
    assert change == pytest.approx((slope * direction).sum(), rel=2e-3, abs=1e-3)
    shared = np.einsum("trg,tr->g", rows.by_shared, rows.value)
    for which in (SCALE, GROUND, UP.start, UP.start + 1, *range(LENGTHS)):
        along = np.zeros(SHARED)
        along[which] = step
        if which < LENGTHS:  # terms have derivatives by lengths in m
            longer = here.shared.lengths + along[:LENGTHS]
            there = State(here.x, here.root, here.shared._replace(lengths=longer))
        else:
            there = here.moved(np.zeros((FRAMES, SIZE)), along)
        change = (COSTS[term](posed(there), there.shared, basis).cost - rows.cost) / step
        assert change == pytest.approx(shared[which], rel=2e-3, abs=2e-3), which


def test_the_slope_of_stillness_is_that_of_its_cost():
    here, step = state(), 1e-6
    pairs, before, rows = terms.stillness(posed(here), STANDS, np.ones(FRAMES), FPS)
    slope = np.zeros((FRAMES, SIZE))
    slope[pairs] += np.einsum("trv,tr->tv", before, rows.value)
    slope[pairs + 1] += np.einsum("trv,tr->tv", rows.by_frame, rows.value)
    direction = RNG.normal(size=(FRAMES, SIZE))
    there = here.moved(step * direction, np.zeros(SHARED))
    change = (stillness(posed(there), there.shared, plane(here.shared.up)) - rows.cost) / step
    assert change == pytest.approx((slope * direction).sum(), rel=2e-3)


def test_balance_is_the_inverted_pendulum_by_hand():
    """A centre of mass 1 m above what stands and 0.2 m ahead of it is balanced if it accelerates by 0.2 g; the
    force is then along the line between them."""
    here = state()
    at = posed(here)
    up, basis = here.shared.up, plane(here.shared.up)
    middle = at.points[:, -SOLES:].mean(axis=1)
    above = Posed(at.points, at.by_frame, at.by_length, middle + up + 0.2 * basis[1], at.mass_by_frame)
    pull = np.tile(0.2 * terms.GRAVITY * basis[1], (FRAMES, 1))
    stands = np.ones((FRAMES, SOLES))
    assert terms.balance(above, here.shared, stands, basis, pull, FPS).cost == pytest.approx(0.0, abs=1e-9)
    assert terms.balance(above, here.shared, stands, basis, 0 * pull, FPS).cost > 0.01
    assert terms.balance(above, here.shared, 0 * stands, basis, 0 * pull, FPS).cost == 0.0


def test_lengths_scale_together_by_the_first_number_and_one_by_one_by_the_others():
    lengths = OpenShape(1.7).lengths()
    assert np.allclose(moved_lengths(lengths, np.eye(LENGTHS)[0] * 0.1), 1.1 * lengths)
    leg = moved_lengths(lengths, np.eye(LENGTHS)[1] * 0.1)
    assert np.allclose(leg / lengths, [1, 1.1, 1, 1, 1, 1, 1])


def test_every_step_of_a_solution_lowers_the_cost():
    here = state()
    problem = Problem(RIG, PICTURE, FPS, Level(0, 0, 0.1, 0.1), here.shared.lengths, 1e-3, stands=STANDS)
    costs = [problem.evaluate(here).cost]
    for _ in range(6):
        here = solve(problem, here, 1)
        costs.append(problem.evaluate(here).cost)
    assert all(b <= a for a, b in pairwise(costs))
    assert costs[-1] < 0.7 * costs[0]


def test_noise_of_the_depth_does_not_make_a_body_flat():
    here, scale = state(), 1.25
    body = posed(here)
    noise = np.random.default_rng(5).normal(scale=0.08, size=(400, FRAMES, len(SEEN)))
    along = (body.points[:, : len(SEEN)] * PICTURE.sight[:, None]).sum(axis=-1)
    slopes = []
    for off in noise:
        seen = replace(PICTURE, depth=along / scale + off)
        rows = seen.rows(body, here.shared._replace(scale=scale), slice(0, FRAMES))[1]
        slopes.append(float((rows.by_shared[..., SCALE] * rows.value).sum()))
    assert abs(np.mean(slopes)) < 4 * np.std(slopes) / np.sqrt(len(slopes))

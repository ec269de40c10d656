"""Left and right that a network exchanged."""

from itertools import product

import numpy as np

from phuma.video.sides import LOWER, OTHER, _cheapest, exchanged
from tests.video.filming import camera, film, walker


def test_the_cheapest_course_is_that_of_all_courses():
    rng = np.random.default_rng(0)
    for _ in range(20):
        stays, swaps = rng.uniform(size=(2, 7))

        def cost(course, stays=stays, swaps=swaps):
            steps = [stays[t] if course[t] == course[t + 1] else swaps[t] for t in range(7)]
            return sum(steps) + 0.2 * sum(course)

        least = min(map(cost, product((0, 1), repeat=8)))
        assert np.isclose(cost(_cheapest(stays, swaps, 0.2).astype(int)), least)


def test_an_exchange_is_found_in_its_half_alone():
    seen = film(walker("walk", 2.0, facing=3.0), camera())
    assert not exchanged(seen.image, 450.0, seen.fps).any()
    image = seen.image.copy()
    upper = np.flatnonzero(~LOWER)
    image[30:37, upper] = image[30:37][:, OTHER[upper]]
    found = exchanged(image, 450.0, seen.fps)
    assert found[30:37, upper].all()
    assert found.sum() == 7 * len(upper)


def test_sides_are_each_others():
    assert (OTHER[OTHER] == np.arange(33)).all()
    assert (LOWER[OTHER] == LOWER).all()

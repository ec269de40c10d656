"""A library with mirror images: what an expert does in a state's image is the image of what it does in the state."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("mujoco")
pytest.importorskip("numba")

from phuma.learning.motions.library import MotionLibrary, Performance
from phuma.learning.motions.mirroring import with_images
from phuma.robots.mirror import mirror_of
from phuma.sim.coordinates import Coordinates
from phuma.sim.feedback import Feedback, Strand, aim
from tests.learning.motions.test_experts import made_up
from tests.learning.sample_motions import dip, stand


@pytest.fixture(scope="module")
def library(g1):
    """A motion that leans to one side, performed with gains and costs of all kinds, and one without a performance."""
    rng, plain = np.random.default_rng(0), made_up(g1, dip(g1), 0.01)
    ((_, feedback),) = plain.feedback()
    feedback = Feedback(
        feedback.qpos + 0.01 * rng.normal(size=feedback.qpos.shape), feedback.qvel, feedback.target,
        rng.normal(size=feedback.gains.shape).astype(np.float16), rng.normal(size=feedback.value.shape),
        feedback.lateness,
    )  # fmt: skip
    out = MotionLibrary(g1)
    out.add("down", dip(g1), "squat", Performance(plain.states, plain.target, lambda: [Strand(0, feedback)]))
    out.add("bare", stand(g1))
    return out


def test_images_come_after_their_motions(library):
    both = with_images(library)
    assert both.names == ["down", "bare", "down (mirrored)", "bare (mirrored)"]
    assert both.categories == ["squat", None, "squat", None]
    assert both.performances[3] is None
    mirror = mirror_of(library.robot)
    np.testing.assert_array_equal(both.motions[2].qpos, mirror.qpos(library.motions[0].qpos))
    np.testing.assert_array_equal(both.performances[2].target, mirror.joints(library.performances[0].target))


def test_an_experts_image_does_the_image_of_what_it_does(library):
    mirror, both = mirror_of(library.robot), with_images(library)
    ((_, own),), ((_, image),) = (both.performances[n].feedback() for n in (0, 2))
    rng, step = np.random.default_rng(1), np.array([5, 20])
    state = Coordinates(
        own.qpos[step] + 0.05 * rng.normal(size=(2, own.qpos.shape[1])),
        own.qvel[step] + 0.2 * rng.normal(size=(2, own.qvel.shape[1])),
    )
    there = Coordinates(mirror.qpos(state.qpos), mirror.velocity(state.qvel))
    first, last = np.zeros(2, dtype=int), np.full(2, len(own) - 1)
    target, cost = aim(own, state, step, first, last)
    seen, price = aim(image, there, step, first, last)
    np.testing.assert_allclose(seen, mirror.joints(target), rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(price, cost, rtol=1e-4)

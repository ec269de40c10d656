"""How robots differ from their model."""

from __future__ import annotations

import shutil
import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import pytest

from phuma.learning.env.disturbances import DisturbancesCfg, events_of
from phuma.robots import load_robot
from phuma.sim.model import simulation_model
from phuma.sim.model_differences import standing_area
from phuma.sim.randomization import (
    DIFFERING,
    WHOLE,
    RandomizationCfg,
    draw_randomization,
    make_alike,
    randomized_models,
)

ROBOTS, JOINTS, BODIES = 400, 29, 31


def drawn(cfg, seed=0):
    return draw_randomization(np.random.default_rng(seed), ROBOTS, JOINTS, cfg, BODIES)


def same(values):
    """(E,) bool: whether all of a robot's values are one."""
    return np.ptp(values, axis=1) == 0


def test_a_share_of_robots_is_heavier_and_stiffer_as_a_whole():
    found = drawn(replace(DIFFERING, alike=0.3))
    whole = same(found.mass)
    assert abs(whole.mean() - 0.3) < 4 * (0.3 * 0.7 / ROBOTS) ** 0.5
    for values in (found.stiffness, found.damping):
        assert np.array_equal(same(values), whole)
    assert np.array_equal(found.stiffness[whole], found.damping[whole])  # a weak battery weakens both
    assert not np.array_equal(found.stiffness[whole][:, 0], found.mass[whole][:, 0])


def test_factors_stay_within_their_ranges_and_fill_them():
    found = drawn(DIFFERING)
    for values, (low, high) in ((found.mass, DIFFERING.mass), (found.stiffness, DIFFERING.gain)):
        assert low <= values.min() < low + 0.01
        assert high - 0.01 < values.max() <= high
    assert abs(found.mass[same(found.mass)].mean() - 1) < 0.03
    assert not found.joint_bias.any()
    assert found.delay == 0


def test_robots_that_are_not_alike_are_drawn_as_ever():
    table = RandomizationCfg(mass=(0.9, 1.1))
    one, other = drawn(table), drawn(table)
    make_alike(np.random.default_rng(1), other, table)
    for name in ("stiffness", "damping", "mass", "friction", "com"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


def test_robots_that_differ_have_the_noise_and_pushes_that_are_asked_for_and_no_others(g1):
    found = draw_randomization(np.random.default_rng(0), 4, g1.n_joints, DIFFERING, g1.n_bodies)
    events = events_of(DisturbancesCfg(differ=True, pushes=True, start=0.2), DIFFERING, found, g1)
    assert (events.noise, events.pushes, events.start, events.joint_bias, events.delay) == (0.0, True, 0.2, None, 0)
    np.testing.assert_array_equal(events.facts, found.facts(g1))
    plain = events_of(DisturbancesCfg(pushes=True), RandomizationCfg(), None, g1)
    assert plain.facts is None


def on_spheres(folder):
    """A G1 whose soles are a small sphere at each corner, as makers draw them."""
    tree = ET.parse(load_robot("g1").model_file)
    for body in tree.getroot().iter("body"):
        for box in [geom for geom in body.findall("geom") if "ankle_roll_collision" in geom.get("name", "")]:
            body.remove(box)
            for x, y in ((-0.06, -0.03), (-0.06, 0.03), (0.14, -0.03), (0.14, 0.03)):
                ET.SubElement(body, "geom", {"class": "collision", "size": "0.005", "pos": f"{x} {y} -0.0304"})
    shutil.copytree(load_robot("g1").folder, folder / "spheres")
    tree.write(folder / "spheres" / "model.xml")
    return load_robot(folder / "spheres")


@pytest.mark.parametrize("name", ["g1", "h1_2", "spheres"])
def test_feet_are_as_much_shorter_and_narrower_as_was_drawn(name, tmp_path):
    """Boxes as their corners, all else as its places, about the middle of each sole."""
    robot = on_spheres(tmp_path) if name == "spheres" else load_robot(name)
    factors = np.array([[0.8, 0.6], [1.0, 1.0]])
    model = simulation_model(robot, 2)
    own = replace(draw_randomization(np.random.default_rng(0), 2, robot.n_joints), soles=factors)
    whole, smaller = (
        standing_area(model, robot),
        [standing_area(changed, robot) for changed in randomized_models(model, robot, own)],
    )
    np.testing.assert_allclose(smaller, whole * factors, atol=2e-4)


def test_a_share_of_robots_has_its_own_soles_and_the_others_smaller_ones():
    found = drawn(DIFFERING).soles
    whole = (found == 1).all(axis=1)
    assert abs(whole.mean() - WHOLE) < 4 * (WHOLE * (1 - WHOLE) / ROBOTS) ** 0.5
    for values, (low, high) in zip(found[~whole].T, DIFFERING.soles):
        assert low <= values.min() < low + 0.01
        assert high - 0.01 < values.max() <= high
    assert drawn(RandomizationCfg()).soles is None

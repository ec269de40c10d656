"""The anchored reference: place and heading forgiven, and nothing else."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from phuma.core import rotations as rot
from phuma.learning.env.terms.anchoring import anchored
from tests.learning.sample_states import any_states, as_tensors, elsewhere, mirrored, near, resting, seen
from tests.robots.posing import swap

CLOSE = {"rtol": 0, "atol": 1e-5}
ANCHOR = 7


def same_rotations(a, b) -> None:
    np.testing.assert_allclose(np.abs(np.sum(np.asarray(a) * np.asarray(b), axis=-1)), 1, **CLOSE)


def test_by_hand(tensor):
    """The reference stands at (1, 0), its other body half a metre ahead of it; the robot at (0, 5) looks along y."""
    robot, reference = resting(bodies=2), resting(bodies=2)
    reference.body_pos[0] = [[1, 0, 1.0], [1.5, 0, 1.25]]
    robot.body_pos[0, 0] = [0, 5, 3]
    robot.body_quat[0, 0] = rot.from_axis("z", np.pi / 2)
    place, turn = anchored(*as_tensors(tensor, robot, reference), 0)
    np.testing.assert_allclose(np.asarray(place), [[[0, 5, 1], [0, 5.5, 1.25]]], **CLOSE)
    np.testing.assert_allclose(np.asarray(turn), np.tile(rot.from_axis("z", np.pi / 2), (1, 2, 1)), **CLOSE)


def test_a_lean_is_not_forgiven(tensor):
    """A robot that bows where the reference stands has the reference's bodies unturned."""
    robot, reference = resting(), replace(resting(), body_pos=any_states(0, robots=1, bodies=4).body_pos)
    robot.body_quat[0, 1] = rot.from_axis("y", 0.6)
    robot.body_pos[0, 1] = reference.body_pos[0, 1]
    place, turn = anchored(*as_tensors(tensor, robot, reference), 1)
    np.testing.assert_allclose(np.asarray(place), reference.body_pos, **CLOSE)
    np.testing.assert_allclose(np.asarray(turn), reference.body_quat, **CLOSE)


def test_a_robot_that_is_the_reference_turned_and_moved_meets_it(tensor):
    reference = any_states(0)
    robot = elsewhere(reference, 1)
    place, turn = anchored(*as_tensors(tensor, robot, reference), ANCHOR)
    np.testing.assert_allclose(np.asarray(place), robot.body_pos, **CLOSE)
    same_rotations(turn, robot.body_quat)


def test_heights_are_the_references_wherever_the_robot_is(tensor):
    reference = any_states(0)
    robot = seen(near(reference, 1), np.linspace(-3, 3, 20), np.full((20, 3), 4.0))
    place, _ = anchored(*as_tensors(tensor, robot, reference), ANCHOR)
    np.testing.assert_allclose(np.asarray(place)[..., 2], reference.body_pos[..., 2], **CLOSE)
    np.testing.assert_allclose(np.asarray(place)[:, ANCHOR, :2], robot.body_pos[:, ANCHOR, :2], **CLOSE)


def test_where_the_reference_is_does_not_matter(tensor):
    reference = any_states(0)
    robot = near(reference, 1)
    first = anchored(*as_tensors(tensor, robot, reference), ANCHOR)
    again = anchored(*as_tensors(tensor, robot, elsewhere(reference, 2)), ANCHOR)
    np.testing.assert_allclose(np.asarray(first[0]), np.asarray(again[0]), **CLOSE)
    same_rotations(first[1], again[1])


def test_left_and_right_are_alike(tensor, g1):
    reference = any_states(0)
    robot, bodies = near(reference, 1), swap(g1.key_bodies)
    place, turn = anchored(*as_tensors(tensor, robot, reference), ANCHOR)
    there = anchored(*as_tensors(tensor, mirrored(g1, robot), mirrored(g1, reference)), bodies.index(ANCHOR))
    np.testing.assert_allclose(np.asarray(place)[:, bodies] * [1, -1, 1], np.asarray(there[0]), **CLOSE)
    same_rotations(np.asarray(turn)[:, bodies] * [1, -1, 1, -1], there[1])


def test_single_precision_stays(tensor):
    robot, reference = as_tensors(tensor, any_states(0), any_states(1))
    assert {x.dtype for x in anchored(robot, reference, ANCHOR)} == {robot.root_pos.dtype}

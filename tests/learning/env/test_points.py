"""The points by which KungfuBot tracks a robot: where they are on any robot, and how they move."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("mujoco")
pytest.importorskip("numba")

from phuma.core import rotations as rot
from phuma.learning.env.points import POINTS, moved, points_of, sole_heights
from phuma.robots import load_robot
from phuma.robots.inverse_dynamics import derivatives
from phuma.sim.coordinates import Coordinates
from phuma.sim.kinematics import Kinematics
from tests.learning.sample_motions import library, wandering
from tests.learning.sample_states import as_tensors


def states(robot, motion=None):
    """Of a motion that does anything, at control rate."""
    own = library(robot, motion=motion or wandering(robot)).motions[0].double()
    return Kinematics(robot).of_coordinates(Coordinates(own.qpos, derivatives(own).velocity))


@pytest.mark.parametrize("name", ["g1", "h1_2"])
def test_hands_are_25_cm_from_the_elbows_and_the_head_42_cm_above_the_anchor_body(name):
    robot = load_robot(name)
    state = states(robot)
    points = moved(points_of(robot, state.root_pos), state)
    at = {name: points.pos[:, n] for n, name in enumerate(POINTS)}
    for side in ("left", "right"):
        elbow = state.body_pos[:, robot.key_bodies.index(f"{side}_elbow_link")]
        np.testing.assert_allclose(np.linalg.norm(at[f"{side}_hand"] - elbow, axis=1), 0.25, atol=1e-5)
        knee, foot = (state.body_pos[:, robot.key_bodies.index(f"{side}_{b}_link")] for b in ("knee", "ankle_roll"))
        np.testing.assert_allclose(at[f"{side}_knee"], knee, atol=1e-5)
        np.testing.assert_allclose(at[f"{side}_ankle"], foot, atol=1e-5)
    torso = robot.key_bodies.index("torso_link")
    up = rot.rotate(state.body_quat[:, torso], np.tile([0, 0, 0.42], (len(state), 1)))
    np.testing.assert_allclose(at["head"], state.body_pos[:, torso] + up, atol=1e-5)


def test_points_move_as_their_positions_say(tensor, g1):
    (state,) = as_tensors(tensor, states(g1, wandering(g1, fps=50.0)))
    points = moved(points_of(g1, state.root_pos), state)
    pos, speed = np.asarray(points.pos, dtype=float), np.asarray(points.linvel)
    np.testing.assert_allclose(speed[2:-2], (pos[3:-1] - pos[1:-3]) * 25, atol=0.05)


def test_soles_that_stand_are_on_the_ground_and_raised_ones_as_high_as_they_were_raised(tensor, g1):
    state = states(g1, library(g1).motions[0])
    for height in (0.0, 0.3):
        raised = replace(state, root_pos=state.root_pos, body_pos=state.body_pos + [0, 0, height])
        (own,) = as_tensors(tensor, raised)
        found = np.asarray(sole_heights(points_of(g1, own.root_pos), own))
        np.testing.assert_allclose(found, height, atol=2e-3)

"""The lifted body is the open body, and its derivatives are what finite differences give."""

import numpy as np

from phuma.body.mass import centre_of_mass
from phuma.body.open import OPEN_SPACE, OpenShape
from phuma.core import rotations as rot
from phuma.core.human_motion import HumanMotion
from phuma.core.provenance import Provenance
from phuma.core.skeleton import INDEX
from phuma.video.freedom import FREEDOMS, HIGH, LOW, SIZE, USUAL, index_of
from phuma.video.markers import SEEN, marker_positions
from phuma.video.posing import SOLES, Rig, exponential, joint_positions, local_rotations, pose
from phuma.video.posture import posture

LENGTHS = OpenShape(1.8, leg=1.03, arm=0.97).lengths()
RIG = Rig.of(SEEN)


def some(frames: int = 3, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(frames, SIZE))
    x[:, 3:6] = 0.0
    return x, exponential(rng.normal(size=(frames, 3)))[0]


def motion_of(x: np.ndarray, root: np.ndarray) -> HumanMotion:
    local, _ = local_rotations(x)
    local[:, 0] = root
    return HumanMotion(OPEN_SPACE.body(LENGTHS), x[:, :3], rot.from_matrix(local), 30.0, Provenance("", ""))


def test_points_are_where_the_body_has_them():
    x, root = some()
    motion, posed = motion_of(x, root), pose(RIG, x, root, LENGTHS)
    assert np.allclose(posed.points[:, : len(SEEN)], marker_positions(motion, SEEN, LENGTHS[0]), atol=1e-9)
    assert np.allclose(posed.mass, centre_of_mass(motion.pose), atol=1e-9)
    assert np.allclose(joint_positions(x, root, LENGTHS), motion.pose.position, atol=1e-9)
    soles = motion.sole_positions()
    nearest = np.linalg.norm(posed.points[:, -SOLES:, None] - soles[:, None], axis=-1).min(axis=2)
    assert nearest.max() < 0.02


def test_points_move_with_each_unknown_as_derivatives_say():
    x, root = some()
    posed, step = pose(RIG, x, root, LENGTHS), 1e-6
    for k in range(SIZE):
        there, turned = x.copy(), root
        if 3 <= k < 6:
            turned = exponential(np.tile(step * np.eye(3)[k - 3], (len(x), 1)))[0] @ root
        else:
            there[:, k] += step
        moved = pose(RIG, there, turned, LENGTHS)
        assert np.allclose((moved.points - posed.points) / step, posed.by_frame[..., k], atol=1e-5)
        assert np.allclose((moved.mass - posed.mass) / step, posed.mass_by_frame[..., k], atol=1e-5)


def test_points_are_linear_in_lengths():
    x, root = some()
    posed = pose(RIG, x, root, LENGTHS)
    assert np.allclose(posed.by_length @ LENGTHS + x[:, None, :3], posed.points, atol=1e-12)


def test_knees_and_elbows_bend_the_way_they_do():
    x = np.zeros((1, SIZE))
    for side in ("left", "right"):
        x[:, index_of(f"{side}_knee", 0)] = x[:, index_of(f"{side}_elbow", 1)] = 1.0
    joints = joint_positions(x, np.eye(3)[None], LENGTHS)[0]
    for side in ("left", "right"):
        assert joints[INDEX[f"{side}_ankle"], 2] < joints[INDEX[f"{side}_knee"], 2] - 0.3  # heel to the back
        assert joints[INDEX[f"{side}_wrist"], 2] > joints[INDEX[f"{side}_elbow"], 2] + 0.15  # hand to the front
    assert (LOW < USUAL).all()
    assert (USUAL < HIGH).all()
    assert 6 + len(FREEDOMS) == SIZE


def test_a_posture_is_found_from_its_points():
    """Step by step: to a few centimetres, as markers are not joints; the fit does the rest."""
    x, root = some(8, seed=1)
    x[:, 6:] = USUAL + 0.25 * (x[:, 6:])
    x[:, 6:] = np.clip(x[:, 6:], LOW, HIGH)
    points = marker_positions(motion_of(x, root), SEEN, LENGTHS[0])
    found, turned = posture(dict(zip(SEEN, points.swapaxes(0, 1))), LENGTHS)
    away = np.linalg.norm(joint_positions(found, turned, LENGTHS) - joint_positions(x, root, LENGTHS), axis=-1)
    assert away.mean() < 0.06
    assert away.max() < 0.25

"""A camera that turns on the spot is as good as one that stands still; one that is carried is not."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter, map_coordinates

from phuma.core import rotations as rot
from phuma.core.rotations import Array
from phuma.video.camera import flow
from phuma.video.pictures import Pictures
from phuma.video.turning import moves, steadied, turns
from tests.video.filming import FOCAL, SIZE, camera, film, walker

ABOUT = np.array([0.3, -0.9, 0.1])
"""Axis in the camera's axes: to the left, up, and a roll, as of a tripod that is pitched"""
NOBODY = np.zeros((90, 160), bool)


def background() -> Array:
    rng = np.random.default_rng(3)
    return gaussian_filter(rng.normal(size=(600, 1200)), 2.5) * 600 + 128


def seen_from(wall: Array, turn: Array) -> Array:
    """A wall far away in a small picture of focal length 160 px, the camera's axes turned by a matrix."""
    row, col = np.indices((90, 160))
    rays = np.stack([(col - 79.5) / 160, (row - 44.5) / 160, np.ones(row.shape)], axis=-1) @ turn.T
    return map_coordinates(wall, [300 + 160 * rays[..., 1] / rays[..., 2], 600 + 160 * rays[..., 0] / rays[..., 2]])


@pytest.mark.parametrize("degrees", [0.0, 0.6, 2.5])
def test_the_turn_of_a_camera_is_seen_in_what_lies_behind(degrees):
    wall, w = background(), np.radians(degrees) * ABOUT
    moved = flow(seen_from(wall, np.eye(3)), seen_from(wall, rot.to_matrix(rot.from_rotvec(w))), NOBODY)
    assert moved is not None
    found = np.array([moved.down, -moved.right, -moved.clockwise])
    assert np.degrees(np.linalg.norm(found - w)) < 0.05
    assert 160 * moved.rest < 0.1


def test_a_camera_that_is_carried_leaves_flow_that_no_turn_explains():
    wall = background()
    near = np.roll(wall, 4, axis=1)
    before, after = seen_from(wall, np.eye(3)), seen_from(wall, np.eye(3))
    after[50:] = seen_from(near, np.eye(3))[50:]
    moved = flow(before, after, NOBODY)
    assert moved is not None
    assert moved.rest > 0.25 * moved.length


def pictures_of(frames: int, right: Array | float, rest: float = 0.0, down: float = 0.0, roll: float = 0.0) -> Pictures:
    flat, speed = np.zeros(frames), np.broadcast_to(right, frames).astype(float)
    return Pictures(flat, flat + 90, flat + 120, np.abs(speed), speed, flat + down, flat + roll, flat + rest, flat - 1)


def test_landmarks_of_a_camera_that_turns_are_those_of_one_that_does_not():
    motion, by, rate = walker("walk", 2.0), camera(), 0.2
    still = film(motion, by)
    frames = len(still)
    from_middle = rot.from_rotvec(rate * ABOUT * (np.arange(frames) - frames // 2)[:, None] / still.fps)
    rays = np.concatenate([(still.image - 0.5 * np.array(SIZE)) / FOCAL, np.ones((frames, 33, 1))], axis=-1)
    rays = rot.rotate(rot.conjugate(from_middle)[:, None], rays)
    panned = replace(still, image=FOCAL * rays[..., :2] / rays[..., 2:] + 0.5 * np.array(SIZE))
    down, right, roll = rate * ABOUT * [FOCAL / max(SIZE), -FOCAL / max(SIZE), -1]
    pictures = pictures_of(frames, right, down=down, roll=roll)
    back, (turned,) = steadied(panned, pictures, [(0, frames)], FOCAL)
    assert np.abs(back.image - still.image).max() < 1e-6 < np.abs(panned.image - still.image).max()
    assert turned == pytest.approx(rate * np.linalg.norm(ABOUT[:2]) * (frames - 1) / still.fps, rel=0.01)
    same, (none,) = steadied(still, pictures_of(frames, 0.001), [(0, frames)], FOCAL)
    assert none == 0.0
    assert (same.image == still.image).all()


def test_even_turns_are_taken_out_and_other_movements_refused():
    shake = 0.1 * np.sin(np.arange(90) * 2.0)
    cases = {"turn": pictures_of(90, 0.1), "carried": pictures_of(90, 0.1, 0.06), "shake": pictures_of(90, shake),
             "fast": pictures_of(45, 0.6), "far": pictures_of(900, 0.1), "still": pictures_of(90, 0.003)}  # fmt: skip
    seldom = pictures_of(300, 0.1)
    seldom.flow[np.arange(300) % 15 > 0] = -1
    cases["seen too seldom"] = seldom
    told = {name: (bool(turns(p, 30.0)[len(p) // 2]), bool(moves(p, 30.0)[len(p) // 2])) for name, p in cases.items()}
    refused = (False, True)
    assert told == {
        "turn": (True, False), "carried": refused, "shake": refused, "fast": refused, "far": refused,
        "still": (False, False), "seen too seldom": refused,
    }  # fmt: skip

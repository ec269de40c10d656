"""Laws of the generated motions: exact contacts, nothing below the ground, smooth, physical in flight, repeatable."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from phuma.body import OpenShape
from phuma.body.mass import centre_of_mass
from phuma.core import rotations as rot
from phuma.core.skeleton import INDEX, POINTS_PER_REGION, REGIONS
from phuma.errors import ConfigError
from phuma.synth import KINDS, STROLL, Synthetic, generate

SEEDS = (0, 1)
FAST = ("kick", "jump", "run")
BALANCED = ("stand", "reach", "bend", "twist", "squat", "kick", "turn")
GRAVITY = 9.81


@cache
def made(kind: str, seed: int, fps: float = 30.0, seconds: float = 4.0) -> Synthetic:
    return generate(kind, seconds, seed, fps)


@cache
def regions(synthetic: Synthetic) -> np.ndarray:
    """(T, 4, 22, 3) sole points by region"""
    return synthetic.motion.sole_positions().reshape(-1, len(REGIONS), POINTS_PER_REGION, 3)


def knees(synthetic: Synthetic) -> np.ndarray:
    """(T, 2, 3) rotation vectors of the knees"""
    return rot.to_rotvec(synthetic.motion.joint_quat[:, [INDEX["left_knee"], INDEX["right_knee"]]])


every = pytest.mark.parametrize("kind", KINDS)
and_strolls = pytest.mark.parametrize("kind", [*KINDS, STROLL])
each_seed = pytest.mark.parametrize("seed", [SEEDS[0], *(pytest.param(s, marks=pytest.mark.slow) for s in SEEDS[1:])])


def test_the_eleven_types() -> None:
    assert KINDS == ("stand", "reach", "bend", "twist", "turn", "kick", "squat", "lunge", "jump", "walk", "run")


@and_strolls
@each_seed
@pytest.mark.parametrize("fps", [30.0, pytest.param(120.0, marks=pytest.mark.slow)])
def test_contacts_are_exact_and_nothing_is_below_the_ground(kind: str, seed: int, fps: float) -> None:
    s = made(kind, seed, fps)
    points = regions(s)
    assert s.contact.shape == (len(s.motion), 4)
    assert s.contact.dtype == bool
    assert points[..., 2].min() > -1e-3
    assert np.abs(points[..., 2]).max(axis=2)[s.contact].max() < 1e-3
    speed = np.linalg.norm(np.diff(points, axis=0), axis=-1).max(axis=2) * fps
    still = s.contact[1:] & s.contact[:-1]
    assert speed[still].max() < 0.01


@every
@each_seed
def test_a_region_that_is_not_in_contact_is_off_the_ground_or_rolling(kind: str, seed: int) -> None:
    """Whoever lies flat on the ground and does not move is marked as in contact."""
    s = made(kind, seed, 120.0)
    points = regions(s)
    flat = np.abs(points[..., 2]).max(axis=2) < 1e-6
    speed = np.linalg.norm(np.gradient(points, axis=0), axis=-1).max(axis=2) * 120
    assert s.contact[flat & (speed < 1e-4)].all()


@every
@each_seed
def test_moves_without_jumps(kind: str, seed: int) -> None:
    m = made(kind, seed, 120.0).motion
    step = rot.multiply(rot.conjugate(m.joint_quat[:-1]), m.joint_quat[1:])
    rate = rot.to_rotvec(step) * 120
    assert np.linalg.norm(rate, axis=-1).max() < (25 if kind in FAST else 15)
    # An angular velocity that changes from one frame to the next by more than an impact does is a pop.
    assert np.abs(np.diff(rate, axis=0)).max() < (11 if kind in FAST else 4)
    assert np.linalg.norm(np.diff(m.root_pos, axis=0), axis=-1).max() * 120 < 4.5
    assert np.abs(np.linalg.norm(m.joint_quat, axis=-1) - 1).max() < 1e-9


@every
@each_seed
def test_no_limb_is_frozen(kind: str, seed: int) -> None:
    position = made(kind, seed).motion.pose.position
    moving = [
        INDEX[f"{side}_{joint}"] for side in ("left", "right") for joint in ("wrist", "elbow", "shoulder", "knee")
    ]
    assert np.ptp(position[:, [*moving, INDEX["head"]]], axis=0).max(axis=-1).min() > 1e-3


@every
@each_seed
def test_knees_and_elbows_bend_the_way_they_do(kind: str, seed: int) -> None:
    s = made(kind, seed, 120.0)
    bend = knees(s)
    assert np.abs(bend[..., 1:]).max() < 1e-6
    assert bend[..., 0].min() > np.radians(1)
    assert bend[..., 0].max() < np.radians(140)
    for side, sign in (("left", -1.0), ("right", 1.0)):
        elbow = sign * rot.to_rotvec(s.motion.joint_quat[:, INDEX[f"{side}_elbow"]])[:, 1]
        assert elbow.min() > 0
        assert elbow.max() < np.radians(150)


@every
def test_faces_forward_and_stands_upright(kind: str) -> None:
    """The toes are in front of the ankles, the left hip is on the left, the head is up."""
    position, rotation = made(kind, 1).motion.pose
    ahead = rot.rotate(rotation[:, 0], np.array([0.0, 0.0, 1.0]))
    foot = position[:, INDEX["left_foot"]] - position[:, INDEX["left_ankle"]]
    assert np.sum(foot * ahead, axis=-1).mean() > 0.05
    hips = position[:, INDEX["left_hip"]] - position[:, INDEX["right_hip"]]
    assert (np.cross(ahead, hips)[:, 2] < 0).mean() == 0
    assert np.all(position[[0, -1], INDEX["head"], 2] > position[[0, -1], 0, 2] + 0.3)


@every
@pytest.mark.slow
def test_the_same_arguments_give_the_same_motion(kind: str) -> None:
    a, b = generate(kind, 2.0, 5), generate(kind, 2.0, 5)
    assert np.array_equal(a.motion.root_pos, b.motion.root_pos)
    assert np.array_equal(a.motion.joint_quat, b.motion.joint_quat)
    assert np.array_equal(a.contact, b.contact)
    other = generate(kind, 2.0, 6)
    assert not np.allclose(a.motion.root_pos, other.motion.root_pos, atol=1e-3)


@every
@each_seed
def test_another_rate_samples_the_same_motion(kind: str, seed: int) -> None:
    slow, fast = made(kind, seed, 30.0), made(kind, seed, 120.0)
    n = len(slow.motion)
    assert np.abs(slow.motion.pose.position - fast.motion.pose.position[::4][:n]).max() < 1e-3
    assert np.array_equal(slow.contact, fast.contact[::4][:n])


@every
@pytest.mark.parametrize(("seconds", "fps"), [(1.0, 30.0), (7.3, 59.94)])
@pytest.mark.slow
def test_any_length(kind: str, seconds: float, fps: float) -> None:
    s = generate(kind, seconds, 3, fps)
    assert len(s.motion) == round(seconds * fps)
    assert s.motion.fps == fps
    assert regions(s)[..., 2].min() > -1e-3
    assert np.abs(s.motion.root_pos[0, :2]).max() < 0.5


def test_the_given_body_is_used() -> None:
    shape = OpenShape(1.6, leg=1.03)
    body = generate("walk", 1.0, 0, shape=shape).motion.body
    assert body.shape["stature"] == 1.6
    statures = [generate("stand", 1.0, seed).motion.body.shape["stature"] for seed in range(12)]
    assert 1.55 <= min(statures) < 1.68
    assert 1.76 < max(statures) <= 1.92


def test_provenance() -> None:
    p = made("bend", 2).motion.provenance
    assert (p.source, p.format, p.redistributable) == ("synth:bend:2", "synth", True)


def test_wrong_use_is_said() -> None:
    with pytest.raises(ConfigError, match="no motion type is called 'fly'; choose from stand, reach"):
        generate("fly")
    with pytest.raises(ConfigError, match="at least 1 s"):
        generate("walk", 0.2)


@pytest.mark.parametrize("kind", BALANCED)
@each_seed
def test_the_centre_of_mass_is_over_the_standing_feet(kind: str, seed: int) -> None:
    """In slow motions: inside the hull of what touches the ground, as seen along 24 directions."""
    s = made(kind, seed)
    points, mass = regions(s), centre_of_mass(s.motion.pose)[:, :2]
    ways = np.stack([np.cos(a := np.linspace(0, 2 * np.pi, 24, endpoint=False)), np.sin(a)])
    touching = points[..., 2:] < 0.004
    reach = np.where(touching, points[..., :2] @ ways, -np.inf).max(axis=(1, 2))
    outside = (mass @ ways - reach).max(axis=1)
    # Turning on the spot is walking: the body falls a little from foot to foot.
    assert outside.max() < (0.06 if kind == "turn" else 0.005)


@pytest.mark.parametrize("kind", ["jump", "run"])
@each_seed
def test_in_flight_the_centre_of_mass_falls_freely(kind: str, seed: int) -> None:
    s = made(kind, seed, 120.0)
    lowest = regions(s)[..., 2].min(axis=(1, 2))
    aloft = lowest > 1e-4
    aloft[1:-1] &= aloft[2:] & aloft[:-2]
    acceleration = np.diff(centre_of_mass(s.motion.pose), 2, axis=0) * 120**2
    falling = acceleration[aloft[1:-1]]
    assert len(falling) > 10
    assert np.abs(falling[:, 2] + GRAVITY).max() < 0.5
    assert np.abs(falling[:, :2]).max() < 0.5


@each_seed
def test_walking_and_running_speeds_and_arms(seed: int) -> None:
    for kind, low, high in (("walk", 0.8, 1.7), ("run", 1.9, 3.6)):
        m = made(kind, seed).motion
        speed = np.linalg.norm(np.diff(m.root_pos[:, :2], axis=0), axis=-1).mean() * m.fps
        assert low < speed < high
        ahead = rot.rotate(m.pose.rotation[:, 0], np.array([0.0, 0.0, 1.0]))
        of = {
            joint: np.sum((m.pose.position[:, INDEX[joint]] - m.root_pos) * ahead, axis=-1)
            for joint in ("left_wrist", "right_wrist", "left_ankle", "right_ankle")
        }
        for side in ("left", "right"):
            assert np.corrcoef(of[f"{side}_wrist"], of[f"{side}_ankle"])[0, 1] < -0.4


@each_seed
def test_a_walk_rolls_over_the_foot(seed: int) -> None:
    """Heel strike, flat, heel off with the toes bent on the ground, toe off; and never without a foot on the ground."""
    s = made("walk", seed, 120.0)
    points = regions(s)
    only_toe = s.contact[:, 1] & ~s.contact[:, 0]
    bent = rot.to_rotvec(s.motion.joint_quat[:, INDEX["left_foot"]])[:, 0]
    assert bent[only_toe].min() < -np.radians(15)
    on_heel = (np.abs(points[:, 0, :, 2].min(axis=1)) < 1e-4) & (points[:, 1, :, 2].min(axis=1) > 0.02)
    assert on_heel.any()
    assert points[..., 2].min(axis=(1, 2)).max() < 1e-3

"""Faults do what their unit says, and nothing at strength zero."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from phuma.core import rotations as rot
from phuma.core.human_motion import HumanMotion
from phuma.core.skeleton import INDEX
from phuma.synth import FAULTS, generate

every = pytest.mark.parametrize("name", FAULTS)


@cache
def clean(kind: str = "walk") -> HumanMotion:
    return generate(kind, 4.0, 3).motion


def shift(name: str, strength: float, seed: int = 1) -> np.ndarray:
    """(T, 3) how the pelvis is moved"""
    return FAULTS[name].apply(clean(), strength, seed).root_pos - clean().root_pos


def test_names_and_strengths() -> None:
    assert tuple(FAULTS) == ("jitter", "float", "drift", "tilt", "slide", "chair")
    assert all(len(f.strengths) == 3 and list(f.strengths) == sorted(f.strengths) for f in FAULTS.values())


@every
def test_none_at_strength_zero(name: str) -> None:
    same = FAULTS[name].apply(clean(), 0.0)
    assert np.array_equal(same.root_pos, clean().root_pos)
    assert np.array_equal(same.joint_quat, clean().joint_quat)
    assert same.provenance == clean().provenance


@every
def test_keeps_body_length_and_rate_and_says_so(name: str) -> None:
    fault = FAULTS[name]
    strength = fault.strengths[1]
    before = clean().root_pos.copy()
    faulty = fault.apply(clean(), strength, 2)
    assert faulty.body is clean().body
    assert (len(faulty), faulty.fps) == (len(clean()), clean().fps)
    assert faulty.provenance.notes == (f"fault: {name} {strength:g} {fault.unit}",)
    assert np.array_equal(clean().root_pos, before)
    again = fault.apply(clean(), strength, 2)
    assert np.array_equal(faulty.root_pos, again.root_pos)


@pytest.mark.parametrize("strength", FAULTS["float"].strengths)
def test_float_lifts_for_two_fifths_of_the_time(strength: float) -> None:
    for seed in range(5):
        moved = shift("float", strength, seed)
        assert np.abs(moved[:, :2]).max() == 0
        assert np.isclose(moved[:, 2].max(), strength / 100)
        assert moved[:, 2].min() > -1e-12
        assert abs((moved[:, 2] > strength / 200).mean() - 0.4) < 0.03
        assert np.abs(np.diff(moved[:, 2])).max() < 0.3 * strength / 100


def test_drift_rises_at_its_rate() -> None:
    rate = np.diff(shift("drift", 5.0), axis=0) * clean().fps
    assert np.allclose(rate, [0, 0, 0.05])


def test_slide_moves_at_its_speed_over_the_ground() -> None:
    velocity = np.diff(shift("slide", 0.3), axis=0) * clean().fps
    assert np.allclose(velocity, velocity[0])
    assert np.isclose(np.linalg.norm(velocity[0, :2]), 0.3)
    assert velocity[0, 2] == 0


def test_tilt_turns_the_whole_motion_by_its_angle() -> None:
    tilted = FAULTS["tilt"].apply(clean(), 6.0, 1)
    turn = rot.multiply(tilted.joint_quat[:, 0], rot.conjugate(clean().joint_quat[:, 0]))
    vector = rot.to_rotvec(turn)
    assert np.allclose(np.linalg.norm(vector, axis=-1), np.radians(6))
    assert np.allclose(vector[:, 2], 0)
    start = clean().root_pos[0] * [1, 1, 0]
    expected = rot.rotate(turn[:1, None], clean().pose.position - start) + start
    assert np.allclose(tilted.pose.position, expected)


@pytest.mark.parametrize("strength", FAULTS["jitter"].strengths)
def test_jitter_shakes_every_joint_about_as_much_as_it_says(strength: float) -> None:
    moved = shift("jitter", strength)
    assert np.allclose(moved.std(axis=0), strength / 1000, rtol=0.15)
    joints = FAULTS["jitter"].apply(clean(), strength, 1).pose.position - clean().pose.position
    std = joints.std(axis=0).mean(axis=-1) * 1000 / strength
    assert std.min() > 0.8
    assert std.max() < 1.8


@pytest.mark.parametrize("strength", FAULTS["chair"].strengths)
def test_chair_puts_the_hips_behind_planted_feet_with_level_thighs(strength: float) -> None:
    sitting = FAULTS["chair"].apply(clean(), strength, 1)
    position = sitting.pose.position
    middle = len(sitting) // 2
    feet = [INDEX[f"{s}_{j}"] for s in ("left", "right") for j in ("ankle", "foot")]
    assert np.ptp(position[:, feet], axis=0).max() < 1e-6
    ahead = rot.rotate(sitting.pose.rotation[middle, 0], np.array([0.0, 0.0, 1.0])) * [1, 1, 0]
    ahead /= np.linalg.norm(ahead)
    hips, ankles, knees = (
        position[middle, [INDEX[f"left_{j}"], INDEX[f"right_{j}"]]] for j in ("hip", "ankle", "knee")
    )
    assert abs((ankles - hips).mean(axis=0) @ ahead - strength / 100) < 0.01
    assert np.abs((knees - hips)[:, 2]).max() / np.linalg.norm(knees - hips, axis=-1).max() < np.sin(np.radians(6))
    assert np.allclose(position[0, 0, :2], clean().root_pos[0, :2], atol=0.06)
    for frame in (0, -1):  # stands before and after
        assert position[frame, 0, 2] > position[middle, 0, 2] + 0.25

"""Laws of strolls: from rest to rest, along ways that bend to both sides and not too fast, facing ahead."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from phuma.core import rotations as rot
from phuma.synth import KINDS, STROLL, Synthetic, generate
from phuma.synth.strolling import TURN

FPS = 30.0
SEEDS = range(6)


@cache
def made(seed: int, seconds: float = 8.0) -> Synthetic:
    return generate(STROLL, seconds, seed, FPS)


def speeds(stroll: Synthetic) -> np.ndarray:
    """(T - 1,) m/s of the pelvis over the ground, in the mean over a step"""
    way = np.linalg.norm(np.diff(stroll.motion.root_pos[:, :2], axis=0), axis=1) * FPS
    return np.convolve(way, np.ones(17) / 17, mode="same")


def headings(stroll: Synthetic) -> np.ndarray:
    """(T,) rad, where the pelvis faces, in the mean over a stride"""
    left = rot.rotate(stroll.motion.joint_quat[:, 0], np.array([1.0, 0.0, 0.0]))
    yaw = np.unwrap(np.arctan2(left[:, 1], left[:, 0]) - np.pi / 2)
    return np.convolve(np.pad(yaw, 17, mode="edge"), np.ones(35) / 35, mode="valid")


def test_it_is_a_walk_that_nobody_gets_who_did_not_ask() -> None:
    assert STROLL not in KINDS
    assert made(0).kind == "walk"


@pytest.mark.parametrize("seed", SEEDS)
def test_it_begins_and_ends_at_rest_and_walks_between(seed: int) -> None:
    stroll = made(seed)
    pelvis = stroll.motion.root_pos[:, :2]
    for still in (pelvis[: int(0.3 * FPS)], pelvis[-int(0.4 * FPS) :]):
        assert np.ptp(still, axis=0).max() < 0.02
    speed = speeds(stroll)[int(3 * FPS) : int(5 * FPS)]
    assert 0.35 < speed.min() < speed.max() < 1.4
    assert stroll.contact[0].all()
    assert stroll.contact[-1].all()
    assert not stroll.contact[int(3 * FPS) : int(5 * FPS)].all(axis=1).any()  # a foot is on its way all the time


def test_a_short_one_does_not_end() -> None:
    assert speeds(made(0, 4.0))[-int(0.8 * FPS)] > 0.35


@pytest.mark.parametrize("seed", SEEDS)
def test_it_faces_where_it_goes(seed: int) -> None:
    way = np.gradient(made(seed).motion.root_pos[:, :2], axis=0)[60:150]
    facing = headings(made(seed))[60:150]
    off = (np.arctan2(way[:, 1], way[:, 0]) - facing + np.pi) % (2 * np.pi) - np.pi
    assert abs(np.mean(off)) < 0.1


def test_ways_bend_to_both_sides_but_not_too_fast() -> None:
    rates = np.concatenate([np.gradient(headings(made(seed))) * FPS for seed in SEEDS])
    assert rates.min() < -0.3
    assert rates.max() > 0.3
    assert np.abs(rates).max() < 1.3 * TURN

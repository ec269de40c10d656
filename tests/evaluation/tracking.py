"""References, rollouts and scores that tests of evaluation share."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np

from phuma.core import rotations as rot
from phuma.core.robot_motion import RobotMotion
from phuma.core.rollout import Rollout
from phuma.evaluation import ERRORS, Score
from phuma.robots import Robot, load_robot
from tests.dataset.exchange.made_up import made_up

GROUPS = {"stationary": ("stand", "reach"), "horizontal": ("walk", "run")}


@cache
def g1() -> Robot:
    return load_robot("g1")


@cache
def reference(frames: int = 21) -> RobotMotion:
    return made_up(g1(), frames=frames)


def following(motion: RobotMotion, **changes) -> Rollout:
    """A rollout that is its reference, at 50 Hz, but for the changes."""
    return replace(Rollout.of(replace(motion, fps=50.0), motion="clip"), **changes)


def moved(motion: RobotMotion, angle: float, shift) -> dict[str, np.ndarray]:
    """Root of the motion turned about the world's vertical axis by `angle` rad, then shifted by metres."""
    turn = rot.from_axis("z", angle)
    return {
        "root_pos": rot.rotate(turn, motion.root_pos) + np.asarray(shift),
        "root_quat": rot.multiply(turn, motion.root_quat),
    }


def means(score: Score) -> dict[str, float]:
    return {name: total / count for name, (total, count) in score.errors.items()}


def score(motion="clip", category="walk", error=10.0, fails=None, strict=None, frames=100) -> Score:
    """All errors the same in every frame; deviates at frame `fails` by more than 0.5 m, at `strict` by 0.15 m."""
    strict = fails if strict is None else strict
    samples = frames if fails is None else fails
    return Score(
        motion, category, frames, {"success_0.15": strict, "success_0.5": fails, "tracked": None},
        None if fails is None else "deviated", dict.fromkeys(ERRORS, (error * samples, samples)),
    )  # fmt: skip

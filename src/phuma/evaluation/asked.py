"""Judge a rollout by what was asked for alone: how far some bodies are from where they were to be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from phuma.core.rollout import Rollout
from phuma.core.trajectory import Trajectory
from phuma.evaluation import metrics
from phuma.evaluation.judging import RATE
from phuma.evaluation.summary import wilson
from phuma.robots.kinematics import body_poses
from phuma.robots.robot import Robot

WITHIN = {"within_0.15": 0.15, "within_0.5": 0.5}
"""Largest distance in m, mean over the bodies, by the names of shares"""


class Asked(NamedTuple):
    """How near a rollout stayed to what was asked for."""

    motion: str
    within: dict[str, bool]
    """Whether it did to the end, by the names of WITHIN"""
    distance: float
    """m, mean over the frames that were reached"""


def judge_asked(rollout: Rollout, reference: Trajectory, robot: Robot, bodies: Sequence[str]) -> Asked:
    """Return how near some bodies of a robot stayed to those of a reference, from its first frame to its last."""
    target = reference.reordered(robot.joint_names).double().resampled(RATE)
    reached, which = min(len(rollout), len(target)), robot.body_index(bodies)
    own, asked = (body_poses(robot, path.frames(slice(reached)))[0][:, which] for path in (rollout, target))
    off = metrics.deviations(own, asked)
    ends = {name: metrics.first_failure(off, len(target), rollout.terminated_at, most) for name, most in WITHIN.items()}
    return Asked(rollout.motion, {name: end is None for name, end in ends.items()}, float(off.mean()))


def summarise_asked(each: Sequence[Asked]) -> dict[str, Any]:
    """Return shares in percent with intervals, and the mean distance in mm; a motion counts once, however many rollouts
    it has."""
    motions: dict[str, list[Asked]] = {}
    for one in each:
        motions.setdefault(one.motion, []).append(one)
    shares = {
        name: float(np.mean([np.mean([one.within[name] for one in own]) for own in motions.values()]))
        for name in WITHIN
    }
    return {
        **{name: 100 * share for name, share in shares.items()},
        "interval": {name: [100 * end for end in wilson(share, len(motions))] for name, share in shares.items()},
        "distance_mm": 1000 * float(np.mean([np.mean([one.distance for one in own]) for own in motions.values()])),
    }

"""Let a masked policy walk a path that nobody recorded."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from phuma.core.rollout import Rollout
from phuma.core.trajectory import Trajectory
from phuma.errors import ConfigError
from phuma.learning.deploy.policy import Policy
from phuma.learning.env.conditions import ANY, CONDITIONS
from phuma.learning.motions.library import MotionLibrary
from phuma.learning.run.rollouts import roll_out
from phuma.pipelines.evaluate_policy import physics_steps
from phuma.robots import Robot
from phuma.sim.mujoco_cpu import MujocoSimulation

PELVIS = "pelvis"
MOST_PLACES = 2000
"""Number of places of a path that a rollout keeps, at most"""


def told(policy: Policy, condition: str | None) -> Policy:
    """Return the policy as it is told what a condition says; one that it was not trained for is an error."""
    info = policy.info
    if info.task.masking is None:
        raise ConfigError(
            f"the policy is a {info.stage} of {info.algo}, which is told the whole motion; a masked one is needed: "
            "`phuma train ... --algo maskedmimic --stage student`"
        )
    if condition is None or condition == info.condition:
        return policy
    if condition not in CONDITIONS:
        raise ConfigError(f"no condition {condition!r}; there are: {', '.join(CONDITIONS)}")
    if info.condition != ANY:
        raise ConfigError(
            f"the policy was trained to be told {info.condition}, not {condition}; train one by --condition "
            f"{condition} or --condition {ANY}"
        )
    policy.info = replace(info, condition=condition)
    return policy


def path_policy(policy: Policy) -> Policy:
    """Return the policy as it is told of its pelvis alone; one that was trained for something else is an error."""
    condition = policy.info.condition
    policy = told(policy, PELVIS if condition == ANY else None)
    if CONDITIONS[policy.info.condition].roles != (PELVIS,):
        raise ConfigError(
            f"the policy was trained to be told {condition}; a path is for the pelvis: train one by --condition "
            f"pelvis, pelvis-position or {ANY}"
        )
    return policy


def floor_path(path: Trajectory) -> list[list[float]]:
    """Return at most `MOST_PLACES` places x, y in m along a path, to the millimetre, as a rollout's report has them."""
    every = -(-len(path) // MOST_PLACES)
    places = [*path.root_pos[:-1:every, :2], path.root_pos[-1, :2]]
    return [[round(float(x), 3), round(float(y), 3)] for x, y in places]


def follow(policy: Policy, path: Trajectory, robot: Robot, seed: int = 0) -> tuple[Rollout, dict[str, Any]]:
    """Return what the robot does along a path for its pelvis, and how near it stays: a policy that is not told of its
    pelvis is an error."""
    policy = path_policy(policy)
    library = MotionLibrary(robot, ["path"], [None], [path.frames(slice(None))], [None])
    tracked = policy.info.task.tracked(robot)

    def simulation(count: int) -> MujocoSimulation:
        return MujocoSimulation(tracked, count, physics_steps(policy.info, None), threads=1)

    (rollout,) = roll_out(policy, library, simulation, seed=seed)
    rollout = replace(rollout, report={"path": floor_path(path)})
    frames = min(len(rollout), len(path))
    off = np.linalg.norm(rollout.root_pos[:frames, :2] - path.root_pos[:frames, :2], axis=1)
    return rollout, {
        "seconds": (frames - 1) / path.fps,
        "of": (len(path) - 1) / path.fps,
        "fell": rollout.terminated_at is not None,
        "mean_m": float(off.mean()),
        "most_m": float(off.max()),
    }

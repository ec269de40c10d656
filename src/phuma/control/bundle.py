"""Performances of one motion from states beside it: how to come back from where feedback alone would not."""

from __future__ import annotations

import numpy as np

from phuma.control.dynamics import Dynamics
from phuma.control.expert import Episode
from phuma.control.guide import Guide
from phuma.control.receding import Done, Horizon, follow_plans
from phuma.core.rollout import Bundle
from phuma.core.rotations import Array
from phuma.core.trajectory import Trajectory
from phuma.robots.robot import Robot
from phuma.sim import events
from phuma.sim.coordinates import Coordinates as State
from phuma.sim.kinematics import Kinematics
from phuma.sim.mujoco_cpu import unreported

HORIZON = Horizon(window=25, committed=5)
PUSHED = (0.1, 0.8)
"""Share of the motion before which, and after which, nobody is pushed"""


def perform_bundle(
    motion: Trajectory, robot: Robot, episode: Episode, count: int, seed: int = 0, threads: int = 1
) -> Bundle:
    """Return `count` performances of a motion at control rate, each planned anew: by turns from a first state that is
    off by the paper's whole ranges, and from some frame of the episode after one of the paper's pushes."""
    guide, rng = Guide(Dynamics(robot, threads), motion), np.random.default_rng(seed)
    members: list[tuple[int, Done]] = []
    with unreported():
        for n in range(count):
            before, state = _start(episode, robot, rng) if n % 2 == 0 else _pushed(episode, rng)
            reached = [State(*pair) for pair in zip(episode.qpos[:before], episode.qvel[:before])]
            begun = Done([target.astype(float) for target in episode.targets[:before]], [*reached, state])
            members.append((before, follow_plans(guide, begun, HORIZON)))
    return Bundle(
        first=np.array([first for first, _ in members]),
        frames=np.array([len(done.states) - first for first, done in members]),
        whole=np.array([len(done.states) == guide.length for _, done in members]),
        qpos=np.concatenate([[s.qpos for s in done.states[first:]] for first, done in members]),
        qvel=np.concatenate([[s.qvel for s in done.states[first:]] for first, done in members]),
        target=np.concatenate([np.reshape(done.targets[first:], (-1, robot.n_joints)) for first, done in members]),
    )


def _start(episode: Episode, robot: Robot, rng: np.random.Generator) -> tuple[int, State]:
    """Return frame 0 and a first state off the episode's, in the single precision that simulations start with."""
    state = Kinematics(robot).of_coordinates(State(episode.qpos[:1], episode.qvel[:1]))
    off = events.perturbed(rng, state, 1.0, robot.lower, robot.upper)
    at = np.concatenate([off.root_pos[0], off.root_quat[0], off.joint_pos[0]])
    speed = np.concatenate([off.root_linvel[0], off.root_angvel[0], off.joint_vel[0]])
    return 0, State(_single(at), _single(speed))


def _pushed(episode: Episode, rng: np.random.Generator) -> tuple[int, State]:
    """Return a frame of the episode and its state after a push."""
    low, high = (round(share * len(episode.targets)) for share in PUSHED)
    frame = int(rng.integers(low, max(high, low + 1)))
    linear, angular = events.pushes(rng, 1)
    speed = episode.qvel[frame].copy()
    speed[:6] += np.concatenate([linear[0], angular[0]])
    return frame, State(_single(episode.qpos[frame]), _single(speed))


def _single(values: Array) -> Array:
    return values.astype(np.float32).astype(float)

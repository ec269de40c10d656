"""The reward of following a motion perfectly: below zero, a policy is punished for doing what it was asked to."""

from __future__ import annotations

import numpy as np

from phuma.core.rotations import Array
from phuma.learning.env.context import Context, constants_of
from phuma.learning.env.task import Task
from phuma.learning.motions.library import MotionLibrary
from phuma.robots.inverse_dynamics import derivatives
from phuma.robots.robot import Robot
from phuma.sim.coordinates import Coordinates
from phuma.sim.kinematics import Kinematics
from phuma.sim.model import CONTROL_RATE, quiet_bodies
from phuma.sim.state import State


def punished(library: MotionLibrary, task: Task) -> list[str]:
    """Return the names of the motions that cannot be followed without a reward below zero somewhere."""
    robot, out = task.tracked(library.robot), []
    kinematics = Kinematics(robot)
    for name, motion in zip(library.names, library.motions):
        path = motion.double()
        state = kinematics.of_coordinates(Coordinates(path.qpos, derivatives(path).velocity))
        if following_reward(state, task, robot).min() < 0:
            out.append(name)
    return out


def following_reward(state: State, task: Task, robot: Robot) -> Array:
    """Return (F,) the reward of a control step that ends in the reference's own state, without action or contact."""
    still, quiet = np.zeros_like(state.joint_pos), np.zeros((len(state), len(quiet_bodies(robot))), dtype=np.float32)
    constants = constants_of(robot, state.root_pos, task.base)
    context = Context(constants, state, state, still, still, quiet, target=state.joint_pos, before=state)
    rewards = [term.weight * np.asarray(term.value(context)) for term in task.rewards]
    return np.sum(rewards, axis=0) / CONTROL_RATE

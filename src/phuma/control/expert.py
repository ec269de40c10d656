"""Perform a motion under physics: the cheapest way first, then more effort where that is not enough."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from phuma.control.cost import CostCfg
from phuma.control.dynamics import Dynamics
from phuma.control.guide import Guide
from phuma.control.receding import Done, Horizon, follow_plans, follow_regulator
from phuma.core.rotations import Array
from phuma.core.trajectory import Trajectory, split_qpos
from phuma.robots.kinematics import key_body_positions
from phuma.robots.robot import Robot
from phuma.sim.coordinates import Coordinates as State
from phuma.sim.mujoco_cpu import unreported

RUNGS: dict[str, Callable[[Guide, Done], Done]] = {
    "regulator": follow_regulator,
    "plans": partial(follow_plans, horizon=Horizon(window=25, committed=5)),
    "plans made often": partial(follow_plans, horizon=Horizon(window=25, committed=2, enough=0.02)),
    "long plans": partial(follow_plans, horizon=Horizon(window=40, committed=4, iterations=5, enough=0.02)),
}
"""Ways to go on with a motion after some of it is done, by what they are called, the cheapest first"""
EFFORTS = {"quick": 2, "normal": 3, "thorough": 4}
"""Number of ways that are tried at most, by the effort's name"""
ASTRAY, BACK = 0.06, 50
"""Deviation in m from which on an episode is done anew, and the steps before it from where"""
WITHIN, ON_AVERAGE = 0.15, 0.05
"""Deviations in m, the greatest and the mean over time, below which no other way is tried"""
LOOSELY = 0.5
"""Greatest deviation in m of an episode that is better than one that strays further"""


@dataclass(frozen=True, eq=False)
class Episode:
    """What an expert did, to the end or to where it lost the motion."""

    way: str
    """Name of one of the `RUNGS`"""
    targets: Array
    """(T - 1, N) rad in single precision, what the joints' controllers aimed at, step by step"""
    qpos: Array
    """(T, 7 + N) states in MuJoCo's coordinates"""
    qvel: Array
    """(T, 6 + N)"""
    deviation: Array
    """(T,) m, mean distance of the key bodies from the reference's"""
    whole: bool
    """Whether the motion's end was reached"""

    @property
    def good(self) -> bool:
        """Return whether there is nothing to gain by trying another way."""
        return self.whole and self.deviation.max() < WITHIN and self.deviation.mean() < ON_AVERAGE

    @property
    def kept(self) -> int:
        """Return the number of steps that another episode need not do anew."""
        astray = np.flatnonzero(self.deviation > ASTRAY)
        return max(0, (int(astray[0]) if len(astray) else len(self.targets)) - BACK)

    @property
    def rank(self) -> tuple[float, ...]:
        """Return a number that is greater the better the episode."""
        worst = float(self.deviation.max())
        return (len(self.deviation), worst < WITHIN, worst < LOOSELY, -float(self.deviation.mean()))


def perform(
    motion: Trajectory, robot: Robot, effort: str = "normal", threads: int = 1, cfg: CostCfg | None = None
) -> Episode:
    """Return the best episode of performing a motion at control rate; raises FloatingPointError if the simulation
    diverges on the motion itself."""
    guide = Guide(Dynamics(robot, threads), motion, cfg)
    best: Episode | None = None
    with unreported():
        for way in list(RUNGS)[: EFFORTS[effort]]:
            episode = _episode(way, RUNGS[way](guide, _begun(guide, best)), motion, robot)
            if best is None or episode.rank > best.rank:
                best = episode
            if best.good:
                break
    assert best is not None
    return best


def _begun(guide: Guide, before: Episode | None) -> Done:
    """Return what the next episode keeps of the one before."""
    if before is None or not before.kept:
        return Done([], [guide.start()])
    states = [State(*pair) for pair in zip(before.qpos[: before.kept + 1], before.qvel[: before.kept + 1])]
    return Done([target.astype(float) for target in before.targets[: before.kept]], states)


def _episode(way: str, done: Done, motion: Trajectory, robot: Robot) -> Episode:
    qpos, qvel = (np.stack(values) for values in zip(*done.states))
    targets = np.array(done.targets, dtype=np.float32).reshape(-1, robot.n_joints)
    return Episode(way, targets, qpos, qvel, deviations(qpos, motion, robot), len(qpos) == len(motion))


def deviations(qpos: Array, motion: Trajectory, robot: Robot) -> Array:
    """Return (T,) m: mean distance of the key bodies at states (T, 7 + N) from the first T frames of a motion."""
    root_pos, root_quat, joint_pos = split_qpos(qpos)
    root_quat = root_quat / np.linalg.norm(root_quat, axis=1, keepdims=True)
    path = Trajectory(robot.name, robot.joint_names, motion.fps, root_pos, root_quat, joint_pos)
    wanted = key_body_positions(robot, motion.frames(slice(len(qpos))))
    return np.linalg.norm(key_body_positions(robot, path) - wanted, axis=-1).mean(axis=-1)

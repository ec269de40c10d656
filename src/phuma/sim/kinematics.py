"""Compute states of many environments from their roots and joints, by compiled kinematics."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np

from phuma.core.rotations import Array
from phuma.robots.kinematics import body_quaternions, move_bodies, pose_bodies, tree_of
from phuma.robots.robot import Robot
from phuma.runtime.numba_cache import compiled
from phuma.sim.coordinates import Coordinates
from phuma.sim.state import State

AT_LEAST = 64
"""Environments that are worth a thread of their own"""


class Kinematics:
    """Compiled kinematics of a robot: the poses and velocities of its key bodies, of many environments on `threads`
    threads."""

    def __init__(self, robot: Robot, threads: int = 1) -> None:
        self.tree, self.key = tree_of(robot), robot.body_index(robot.key_bodies)
        self._threads, self._others = threads, ThreadPoolExecutor(max(threads - 1, 1))

    def of_coordinates(self, coordinates: Coordinates) -> State:
        """Return the state of E environments in MuJoCo's coordinates."""
        qpos, qvel = coordinates
        return self.state(qpos[:, :3], qpos[:, 3:7], qvel[:, :3], qvel[:, 3:6], qpos[:, 7:], qvel[:, 6:])

    def state(
        self,
        root_pos: Array,
        root_quat: Array,
        root_linvel: Array,
        root_angvel: Array,
        joint_pos: Array,
        joint_vel: Array,
    ) -> State:
        """Return the state of E environments whose roots and joints are as in a `State`."""
        given = (root_pos, root_quat, root_linvel, root_angvel, joint_pos, joint_vel)
        # One layout and precision, so that one version is compiled.
        exact = [np.ascontiguousarray(v, dtype=float) for v in given]
        bodies = [np.empty((len(root_pos), len(self.key), size), dtype=np.float32) for size in (3, 4, 3, 3)]
        self._follow([*exact, *bodies])
        return State(*(v.astype(np.float32) for v in given), *bodies)

    def close(self) -> None:
        """Stop the threads."""
        self._others.shutdown()

    def _follow(self, arrays: list[Array]) -> None:
        """Fill the bodies' arrays, each thread those of some of the environments."""
        count = len(arrays[0])
        parts = max(1, min(self._threads, count // AT_LEAST))
        ends = [count * part // parts for part in range(parts + 1)]
        first, *others = ([a[i:j] for a in arrays] for i, j in pairwise(ends))
        waiting = [self._others.submit(follow_bodies, self.tree, self.key, *part) for part in others]
        follow_bodies(self.tree, self.key, *first)
        for work in waiting:
            work.result()


@compiled
def follow_bodies(tree, key, p, quat, v, spin, q, speed, body_p, body_q, body_v, body_w):
    """Fill body_p (E, K, 3), body_q (E, K, 4), body_v and body_w (E, K, 3) with the poses and velocities of the bodies
    `key` (K,), one environment after the other: what one needs stays near the processor."""
    bodies, joints = np.arange(len(tree.parents)), q.shape[1]
    r, w = np.empty((1, 3, 3)), np.empty((1, 3))
    pos, rotation = np.empty((1, len(bodies), 3)), np.empty((1, len(bodies), 3, 3))
    axis, origin = np.empty((1, joints, 3)), np.empty((1, joints, 3))
    linear, angular = np.empty_like(pos), np.empty_like(pos)
    for e in range(len(q)):
        one = slice(e, e + 1)
        turn_root(quat[e], spin[e], r[0], w[0])
        pose_bodies(tree, bodies, p[one], r, q[one], pos, rotation, axis, origin)
        move_bodies(tree, bodies, p[one], v[one], w, speed[one], pos, axis, origin, linear, angular)
        body_quaternions(rotation, key, body_q[one])
        for k in range(len(key)):
            b = key[k]
            for i in range(3):
                body_p[e, k, i], body_v[e, k, i], body_w[e, k, i] = pos[0, b, i], linear[0, b, i], angular[0, b, i]


@compiled
def turn_root(quat, spin, r, w):
    """Fill r (3, 3) with the matrix of a rotation quat (4,) wxyz, and w (3,) with spin (3,) rotated by it."""
    a, x, y, z = quat
    r[0, 0], r[0, 1], r[0, 2] = 1 - 2 * (y * y + z * z), 2 * (x * y - a * z), 2 * (x * z + a * y)
    r[1, 0], r[1, 1], r[1, 2] = 2 * (x * y + a * z), 1 - 2 * (x * x + z * z), 2 * (y * z - a * x)
    r[2, 0], r[2, 1], r[2, 2] = 2 * (x * z - a * y), 2 * (y * z + a * x), 1 - 2 * (x * x + y * y)
    for i in range(3):
        w[i] = r[i, 0] * spin[0] + r[i, 1] * spin[1] + r[i, 2] * spin[2]

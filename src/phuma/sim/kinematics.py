"""Compute states of many environments from their roots and joints, by compiled kinematics."""

from __future__ import annotations

import numpy as np

from phuma.core import rotations as rot
from phuma.core.rotations import Array
from phuma.robots.kinematics import body_quaternions, move_bodies, pose_bodies, tree_of
from phuma.robots.robot import Robot
from phuma.sim.coordinates import Coordinates
from phuma.sim.state import State


class Kinematics:
    """Compiled kinematics of a robot: the poses and velocities of its key bodies."""

    def __init__(self, robot: Robot) -> None:
        self.tree, self.joints = tree_of(robot), robot.n_joints
        self.bodies = np.arange(robot.n_bodies)
        self.key = robot.body_index(robot.key_bodies)

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
        root_pos, root_quat, root_linvel, root_angvel, joint_pos, joint_vel = (
            np.ascontiguousarray(v, dtype=float) for v in given
        )
        count = len(root_pos)
        root_rot = rot.to_matrix(root_quat)
        spin = np.einsum("eij,ej->ei", root_rot, root_angvel)
        pos, rotation = np.empty((count, len(self.bodies), 3)), np.empty((count, len(self.bodies), 3, 3))
        axis, origin = np.empty((count, self.joints, 3)), np.empty((count, self.joints, 3))
        pose_bodies(self.tree, self.bodies, root_pos, root_rot, joint_pos, pos, rotation, axis, origin)
        speed, rate = np.empty_like(pos), np.empty_like(pos)
        move_bodies(self.tree, self.bodies, root_pos, root_linvel, spin, joint_vel, pos, axis, origin, speed, rate)
        key = self.key
        quat = np.empty((count, len(key), 4))
        body_quaternions(rotation, key, quat)
        values = (*given, pos.take(key, axis=1), quat, speed.take(key, axis=1), rate.take(key, axis=1))
        return State(*(v.astype(np.float32) for v in values))

"""States of many robots from their roots and joints, by compiled kinematics."""

from __future__ import annotations

import numpy as np

from phuma import rotations as rot
from phuma.learning.state import State
from phuma.robots.kinematics import move_bodies, pose_bodies, tree_of, turn_quaternions
from phuma.robots.robot import Robot
from phuma.rotations import Array


class Kinematics:
    """Places and velocities of a robot's key bodies."""

    def __init__(self, robot: Robot) -> None:
        self.tree, self.joints = tree_of(robot), robot.n_joints
        self.bodies = np.arange(robot.n_bodies)
        self.key = robot.body_index(robot.key_bodies)

    def state(
        self,
        root_pos: Array,
        root_quat: Array,
        root_linvel: Array,
        root_angvel: Array,
        joint_pos: Array,
        joint_vel: Array,
    ) -> State:
        """Of E robots whose root and joints are as in a `State`."""
        given = (root_pos, root_quat, root_linvel, root_angvel, joint_pos, joint_vel)
        # One layout and precision, so that one version is compiled.
        root_pos, root_quat, root_linvel, root_angvel, joint_pos, joint_vel = (
            np.ascontiguousarray(v, dtype=float) for v in given
        )
        count = len(root_pos)
        turn = rot.to_matrix(root_quat)
        spin = np.einsum("eij,ej->ei", turn, root_angvel)
        place, facing = np.empty((count, len(self.bodies), 3)), np.empty((count, len(self.bodies), 3, 3))
        axis, origin = np.empty((count, self.joints, 3)), np.empty((count, self.joints, 3))
        pose_bodies(self.tree, self.bodies, root_pos, turn, joint_pos, place, facing, axis, origin)
        speed, rate = np.empty_like(place), np.empty_like(place)
        move_bodies(self.tree, self.bodies, root_pos, root_linvel, spin, joint_vel, place, axis, origin, speed, rate)
        key = self.key
        quat = np.empty((count, len(key), 4))
        turn_quaternions(facing, key, quat)
        values = (*given, place.take(key, axis=1), quat, speed.take(key, axis=1), rate.take(key, axis=1))
        return State(*(v.astype(np.float32) for v in values))

"""The mirror image of what a symmetric robot does: left and right exchanged.

Seen in a mirror across the robot's own plane of symmetry, a vector v becomes  S v,  S = diag(1, -1, 1),  and an axis of
rotation w becomes  -S w.  A joint's image is the joint whose axis and anchor are the images of its own, at the same
angle or, where the axes point the other way, at its negative.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from phuma.core.rotations import Array
from phuma.robots.kinematics import local_body_poses
from phuma.robots.robot import Indices, Robot

SIDEWAYS = np.array([1.0, -1.0, 1.0])
"""S"""
OFF, OFF_AXIS, OFF_LIMIT = 0.01, 0.02, 0.02
"""How far an anchor (m), the cosine of an axis and a limit (rad) may be from their partner's images"""


@dataclass(frozen=True, eq=False)
class Mirror:
    """The exchange of left and right on a symmetric robot."""

    joint: Indices
    """(N,) the joint whose image each joint is"""
    sign: Array
    """(N,) 1 or -1, the factor on its angle"""

    def joints(self, values: Array) -> Array:
        """Return the image of (..., N) angles, or of what is added to them."""
        return self.sign.astype(values.dtype) * values[..., self.joint]

    def qpos(self, qpos: Array) -> Array:
        """Return the image of (..., 7 + N) root positions, root quaternions wxyz and angles."""
        root = np.array([*SIDEWAYS, 1.0, *-SIDEWAYS], dtype=qpos.dtype)
        return np.concatenate([root * qpos[..., :7], self.joints(qpos[..., 7:])], axis=-1)

    def velocity(self, velocity: Array) -> Array:
        """Return the image of (..., 6 + N) velocities, or of small changes of the position: of the root along and about
        its axes, and of the angles."""
        root = np.array([*SIDEWAYS, *-SIDEWAYS], dtype=velocity.dtype)
        return np.concatenate([root * velocity[..., :6], self.joints(velocity[..., 6:])], axis=-1)

    def deviation(self, deviation: Array) -> Array:
        """Return the image of (..., 2V) small changes of position and velocity, or of rows that are multiplied with
        such, as an image's image is the thing itself."""
        half = deviation.shape[-1] // 2
        parts = deviation[..., :half], deviation[..., half:]
        return np.concatenate([self.velocity(part) for part in parts], axis=-1)


def mirror_of(robot: Robot) -> Mirror | None:
    """Return how left and right are exchanged on a robot, or None where it is not symmetric: a joint has no image, or
    one with other limits."""
    pos, matrix = (part[0] for part in local_body_poses(robot, np.zeros((1, robot.n_joints))))
    turn, origin = matrix[robot.joint_body], pos[robot.joint_body]
    axis = np.einsum("jab,jb->ja", turn, robot.joint_axis)
    anchor = origin + np.einsum("jab,jb->ja", turn, robot.joint_anchor)
    apart = np.linalg.norm(anchor[:, None] - SIDEWAYS * anchor, axis=-1)
    along = axis @ (-SIDEWAYS * axis).T
    fits = (apart < OFF) & (np.abs(along) > 1 - OFF_AXIS)
    joint = np.where(fits, np.abs(along) - apart, -np.inf).argmax(axis=1)
    every = np.arange(robot.n_joints)
    if not fits[every, joint].all() or (joint[joint] != every).any():
        return None
    sign = np.sign(along[every, joint])
    ends = np.sort(sign[:, None] * np.stack([robot.lower, robot.upper], axis=1)[joint], axis=1)
    same = np.abs(ends - np.stack([robot.lower, robot.upper], axis=1)).max() < OFF_LIMIT
    return Mirror(joint, sign) if same else None

"""The motion of a human: rotations over a body, a path of the pelvis, and where it came from."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from phuma.core import rotations as rot
from phuma.core.arrays import checked, checked_fps, checked_unit
from phuma.core.body import Body, Pose
from phuma.core.by_hand import ByHand
from phuma.core.provenance import Provenance
from phuma.core.rotations import Array
from phuma.core.skeleton import MIRROR_JOINTS, N_JOINTS, REST_TO_WORLD
from phuma.core.trajectory import cut_frames
from phuma.errors import PhumaError

_MIRROR_LOCAL = np.array([1.0, 1.0, -1.0, -1.0])  # a turn seen in a mirror across rest x
_MIRROR_WORLD = np.array([1.0, -1.0, 1.0])  # left and right are world y
LONG = 200_000
"""Frames above which rotations are held in single precision, 350 bytes a frame; a piece of them is in double precision
again"""


def precision_of(frames: int) -> type[np.floating]:
    """Return the type of number in which the rotations of so many frames are held."""
    return np.float32 if frames > LONG else np.float64


@dataclass(frozen=True, eq=False)
class HumanMotion(ByHand):
    """The motion of a person: world z-up, metres, quaternions wxyz.

    >>> motion = phuma.read("walk.bvh")
    >>> motion
    HumanMotion('walk.bvh', 2.00 s, 60 frames at 30 Hz, body bvh)
    >>> motion.pose.position.shape  # joints in the world, m
    (60, 22, 3)
    >>> motion.cut(1.0).resample(60).save("second.bvh")
    """

    body: Body
    root_pos: Array
    """(T, 3) m, the pelvis joint in the world"""
    joint_quat: Array
    """(T, 22, 4) wxyz, the first from rest axes to the world, the others relative to their parents"""
    fps: float
    provenance: Provenance

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "root_pos", checked("root_pos", self.root_pos, ("frames", 3)))
        precision = precision_of(len(self.root_pos))
        put(self, "joint_quat", checked_unit("joint_quat", self.joint_quat, ("frames", N_JOINTS, 4), dtype=precision))
        put(self, "fps", checked_fps(self.fps))
        if not len(self.root_pos) or len(self.root_pos) != len(self.joint_quat):
            raise PhumaError(
                f"root_pos has {len(self.root_pos)} frames and joint_quat {len(self.joint_quat)}; "
                "both need the same number, at least one"
            )

    def __len__(self) -> int:
        return len(self.root_pos)

    def __repr__(self) -> str:
        seconds = f"{self.duration:.2f} s, {len(self)} frames at {self.fps:g} Hz"
        return f"HumanMotion({self.provenance.source!r}, {seconds}, body {self.body.name})"

    @property
    def duration(self) -> float:
        """Return the duration in seconds, each frame counted as 1 / fps."""
        return len(self) / self.fps

    @cached_property
    def pose(self) -> Pose:
        """Return the positions (T, 22, 3) and rotations (T, 22, 4) of all joints in the world."""
        return self.body.forward(self.root_pos, self.joint_quat)

    def sole_positions(self, points: Array | None = None) -> Array:
        """Return (T, P, 3) m: the sole points in the world, those with the numbers `points`, by default all 88."""
        return self.body.sole_positions(self.pose, self.joint_quat, points=points)

    def sole_heights(self) -> Array:
        """Return (T, 88) m: the heights of the sole points in the world."""
        return self.body.sole_positions(self.pose, self.joint_quat, axes=(2,))[..., 0]

    def frames(self, first: int, last: int) -> HumanMotion:
        """Return frames first to last - 1, as views."""
        if not 0 <= first < last <= len(self):
            raise PhumaError(f"frames {first} to {last} of a motion that has {len(self)}")
        if last - first == len(self):
            return self
        return replace(
            self,
            root_pos=self.root_pos[first:last],
            joint_quat=self.joint_quat[first:last],
            provenance=replace(self.provenance, start=self.provenance.start + first / self.fps),
        )

    def told(self, provenance: Provenance) -> HumanMotion:
        """Return the same motion with another provenance; what is known of it, and checked, stays."""
        motion = copy(self)
        object.__setattr__(motion, "provenance", provenance)
        return motion

    def cut(self, start: float | None = None, end: float | None = None) -> HumanMotion:
        """Return the part from `start` to `end` seconds; an end beyond the motion's is its end."""
        first, last = cut_frames(len(self), self.fps, start, end)
        return self.frames(first, last)

    def resample(self, fps: float) -> HumanMotion:
        """Return the motion at another rate in Hz: positions along lines, rotations along great arcs."""
        from phuma.core.resample import resample  # it is made of motions

        return resample(self, checked_fps(fps))

    def shifted(self, by: Array) -> HumanMotion:
        """Return the motion moved by the vector `by` (3,) m in the world."""
        return replace(self, root_pos=self.root_pos + np.asarray(by, dtype=float))

    def mirror(self) -> HumanMotion:
        """Return the mirror image across the world's x-z plane: left and right exchanged."""
        quat = self.joint_quat[:, MIRROR_JOINTS] * _MIRROR_LOCAL
        root = rot.multiply(rot.conjugate(REST_TO_WORLD), self.joint_quat[:, 0]) * _MIRROR_LOCAL
        quat[:, 0] = rot.multiply(REST_TO_WORLD, root)
        return replace(
            self,
            body=self.body.mirror(),
            root_pos=self.root_pos * _MIRROR_WORLD,
            joint_quat=quat,
            provenance=replace(self.provenance, mirrored=not self.provenance.mirrored),
        )


TOGETHER = 2048
"""Frames of several motions up to which they are posed at once"""


def pose_together(motions: Sequence[HumanMotion]) -> None:
    """Pose motions of one body at once if they are short: that takes hardly longer than to pose one of them. Their
    `pose` is then there."""
    if sum(map(len, motions)) > TOGETHER:
        return
    root, quat = (np.concatenate([getattr(m, name) for m in motions]) for name in ("root_pos", "joint_quat"))
    position, rotation = motions[0].body.forward(root, quat)
    first = 0
    for motion in motions:
        own = slice(first, first + len(motion))
        motion.__dict__["pose"] = Pose(position[own], rotation[own])  # where a cached property is kept
        first = own.stop

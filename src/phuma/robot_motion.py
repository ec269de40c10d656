"""The motion of a robot: a root, joint angles, and the human that it follows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from phuma import rotations as rot
from phuma.arrays import checked, checked_fps, checked_unit
from phuma.errors import PhumaError
from phuma.motion import Provenance
from phuma.rotations import Array
from phuma.skeleton import N_JOINTS, REGIONS


@dataclass(frozen=True, eq=False)
class RobotMotion:
    """A robot moving: world z-up, metres, radians, quaternions wxyz; the ground is z = 0."""

    robot: str
    """Name of a built-in robot, or of the folder that describes it"""
    joint_names: tuple[str, ...]
    """Order of the columns of joint_pos"""
    fps: float
    root_pos: Array
    """(T, 3) origin of the robot's root body"""
    root_quat: Array
    """(T, 4) wxyz"""
    joint_pos: Array
    """(T, N) rad"""
    contact: Array
    """(T, 4) the human's contact ratios as curation found them: left heel, left toe, right heel, right toe; judged by
    the robot's own soles where no human is known"""
    human_joints: Array | None
    """(T, 22, 3) the human on a body with the robot's bones: what the robot should look like. None for a motion that
    others made"""
    provenance: Provenance
    contact_used: Array | None = None
    """(T, 4) what the solver made of the contacts; None where nothing was solved"""
    report: Mapping[str, Any] = field(default_factory=dict)
    """How it was made and how good it is: plain values"""
    solve_seconds: float = 0.0
    """CPU seconds that the method took; not stored, as it depends on the machine"""

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "joint_names", tuple(self.joint_names))
        put(self, "fps", checked_fps(self.fps))
        put(self, "root_pos", checked("root_pos", self.root_pos, ("frames", 3)))
        put(self, "root_quat", checked_unit("root_quat", self.root_quat, ("frames", 4)))
        put(self, "joint_pos", checked("joint_pos", self.joint_pos, ("frames", len(self.joint_names))))
        put(self, "contact", checked("contact", self.contact, ("frames", len(REGIONS))))
        parts = [self.root_pos, self.root_quat, self.joint_pos, self.contact]
        if self.human_joints is not None:
            put(self, "human_joints", checked("human_joints", self.human_joints, ("frames", N_JOINTS, 3)))
            parts.append(self.human_joints)
        if self.contact_used is not None:
            put(self, "contact_used", checked("contact_used", self.contact_used, ("frames", len(REGIONS))))
            parts.append(self.contact_used)
        if len({len(p) for p in parts}) != 1 or not len(self.root_pos):
            raise PhumaError(
                f"arrays of a robot motion have {[len(p) for p in parts]} frames; they need the same number"
            )

    def __len__(self) -> int:
        return len(self.root_pos)

    def __repr__(self) -> str:
        seconds = f"{self.duration:.2f} s, {len(self)} frames at {self.fps:g} Hz"
        return f"RobotMotion({self.robot}, {self.provenance.source!r}, {seconds})"

    @property
    def duration(self) -> float:
        return len(self) / self.fps

    def reordered(self, joint_names: tuple[str, ...]) -> RobotMotion:
        """The same motion with joints in another order; a name that is missing is an error."""
        missing = [n for n in joint_names if n not in self.joint_names]
        if missing:
            raise PhumaError(f"no joint {missing[0]!r} in this motion; it has {', '.join(self.joint_names)}")
        order = [self.joint_names.index(n) for n in joint_names]
        return replace(self, joint_names=joint_names, joint_pos=np.ascontiguousarray(self.joint_pos[:, order]))

    def as_written(self) -> RobotMotion:
        """With numbers as a file holds them, in single precision: what is measured should be what is stored."""
        names = ("root_pos", "root_quat", "joint_pos", "contact", "human_joints", "contact_used")
        values = {name: getattr(self, name) for name in names}
        return replace(self, **{n: v.astype(np.float32).astype(float) for n, v in values.items() if v is not None})

    def resampled(self, fps: float) -> RobotMotion:
        """The same motion at another rate, from its first frame to its last: along lines, rotations along great arcs.

        No frame lies beyond the last one, so the velocities at the end are the motion's own.
        """
        if fps == self.fps:
            return self
        last = len(self) - 1
        count = int(last / self.fps * fps + 1e-9) + 1
        time = np.minimum(np.arange(count) * (self.fps / fps), last)  # in frames of this motion
        before = np.minimum(time.astype(int), max(last - 1, 0))
        after, share = np.minimum(before + 1, last), time - before

        def along(values: Array) -> Array:
            part = share.reshape(-1, *[1] * (values.ndim - 1))
            return values[before] * (1 - part) + values[after] * part

        return replace(
            self,
            fps=fps,
            root_pos=along(self.root_pos),
            root_quat=rot.slerp(self.root_quat[before], self.root_quat[after], share),
            joint_pos=along(self.joint_pos),
            contact=along(self.contact),
            human_joints=None if self.human_joints is None else along(self.human_joints),
            contact_used=None if self.contact_used is None else self.contact_used[np.rint(time).astype(int)],
        )

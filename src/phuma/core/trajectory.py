"""The trajectory of a robot: where its root is and at what angles its joints are, frame by frame.

This is what solvers, files, the motion library, simulators and evaluation exchange. `RobotMotion` and `Rollout` are
trajectories with more to them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from phuma.core import rotations as rot
from phuma.core.arrays import checked, checked_fps, checked_unit, same_length
from phuma.core.by_hand import ByHand
from phuma.core.rotations import Array
from phuma.errors import PhumaError

if TYPE_CHECKING:
    from typing_extensions import Self


@dataclass(frozen=True, eq=False)
class Trajectory(ByHand):
    """The trajectory of a robot: world z-up, metres, radians, quaternions wxyz; the ground is z = 0.

    Every value is finite, and the arrays are read-only. They are in double precision, unless all three were given in
    single precision: a library of motions has to fit into memory.
    """

    robot: str
    """Name of a built-in robot, or of the folder that describes it"""
    joint_names: tuple[str, ...]
    """Names of the joints in the order of the columns of joint_pos"""
    fps: float
    """Frame rate in Hz"""
    root_pos: Array
    """(T, 3) m, origin of the robot's root body"""
    root_quat: Array
    """(T, 4) wxyz, rotation of the root body"""
    joint_pos: Array
    """(T, N) rad, joint angles"""

    ALWAYS_DOUBLE: ClassVar[bool] = False
    """Whether arrays in single precision are converted to double precision"""

    def __post_init__(self) -> None:
        put, given = object.__setattr__, (self.root_pos, self.root_quat, self.joint_pos)
        single = not self.ALWAYS_DOUBLE and all(getattr(a, "dtype", None) == np.float32 for a in given)
        dtype = np.float32 if single else np.float64
        put(self, "joint_names", tuple(self.joint_names))
        put(self, "fps", checked_fps(self.fps))
        put(self, "root_pos", checked("root_pos", self.root_pos, ("frames", 3), dtype))
        put(self, "root_quat", checked_unit("root_quat", self.root_quat, ("frames", 4), dtype=dtype))
        put(self, "joint_pos", checked("joint_pos", self.joint_pos, ("frames", len(self.joint_names)), dtype))
        same_length("a robot's trajectory", self.root_pos, self.root_quat, self.joint_pos)

    @classmethod
    def of(cls, trajectory: Trajectory, **more: Any) -> Self:
        """Return an object of this class with the arrays of `trajectory` and the fields that this class adds to it."""
        return cls(**{f.name: getattr(trajectory, f.name) for f in fields(Trajectory)}, **more)

    def __len__(self) -> int:
        return len(self.root_pos)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.robot}, {self.duration:.2f} s, {len(self)} frames at {self.fps:g} Hz)"

    @property
    def duration(self) -> float:
        """Return the duration in seconds."""
        return len(self) / self.fps

    @property
    def qpos(self) -> Array:
        """Return (T, 7 + N) the trajectory in MuJoCo's coordinates: root position, root quaternion wxyz, joints."""
        return np.concatenate([self.root_pos, self.root_quat, self.joint_pos], axis=1)

    def double(self) -> Self:
        """Return the trajectory in double precision; itself if it is already."""
        if self.root_pos.dtype == np.float64:
            return self
        return replace(
            self, **{name: getattr(self, name).astype(float) for name in ("root_pos", "root_quat", "joint_pos")}
        )

    def reordered(self, joint_names: Sequence[str]) -> Self:
        """Return the trajectory with joints in another order; a name that is missing is an error."""
        if tuple(joint_names) == self.joint_names:
            return self
        missing = [n for n in joint_names if n not in self.joint_names]
        if missing:
            raise PhumaError(f"no joint {missing[0]!r} in this motion; it has {', '.join(self.joint_names)}")
        order = [self.joint_names.index(n) for n in joint_names]
        joint_pos = np.ascontiguousarray(self.joint_pos[:, order])
        return replace(self, joint_names=tuple(joint_names), joint_pos=joint_pos)

    def frames(self, rows: slice | Array) -> Trajectory:
        """Return the trajectory in some frames, each as often as it is named."""
        arrays = self.root_pos[rows], self.root_quat[rows], self.joint_pos[rows]
        return Trajectory(self.robot, self.joint_names, self.fps, *arrays)

    def cut(self, start: float | None = None, end: float | None = None) -> Trajectory:
        """Return the part from `start` to `end` seconds; an end beyond the motion's is its end."""
        first, last = cut_frames(len(self), self.fps, start, end)
        return self.frames(slice(first, last))

    def resample(self, fps: float) -> Trajectory:
        """Return the motion at another rate, as `resampled` does."""
        return self.resampled(fps)

    def resampled(self, fps: float) -> Trajectory:
        """Return the trajectory at another rate, from its first frame to its last: along lines, rotations along great
        arcs.

        No frame lies beyond the last one, so the velocities at the end are the trajectory's own.
        """
        if fps == self.fps:
            return self
        at = instants(len(self), self.fps, fps)
        arrays = at.along(self.root_pos), at.turned(self.root_quat), at.along(self.joint_pos)
        return Trajectory(self.robot, self.joint_names, fps, *arrays)


def cut_frames(frames: int, fps: float, start: float | None, end: float | None) -> tuple[int, int]:
    """Return the first of `frames` between two times in seconds, and the one behind the last; none is an error."""
    first = round((start or 0.0) * fps)
    last = frames if end is None else min(frames, round(end * fps))
    if not 0 <= first < last:
        raise PhumaError(
            f"nothing lies between {start or 0:g} s and {'the end' if end is None else f'{end:g} s'}: "
            f"the motion lasts {frames / fps:.2f} s"
        )
    return first, last


class Instants(NamedTuple):
    """Instants between the frames of a trajectory."""

    time: Array
    """(K,) times in frames"""
    before: Array
    """(K,) int, the last frame that is not later than the instant"""
    after: Array
    """(K,) int, the frame after `before`"""
    share: Array
    """(K,) 0 to 1, the share of the way from `before` to `after`"""

    def along(self, values: Array) -> Array:
        """Return (K, ...) values (T, ...) interpolated along lines."""
        share = self.share.reshape(-1, *[1] * (values.ndim - 1))
        return values[self.before] * (1 - share) + values[self.after] * share

    def turned(self, quat: Array) -> Array:
        """Return (K, 4) quaternions (T, 4) interpolated along great arcs."""
        return rot.slerp(quat[self.before], quat[self.after], self.share)

    def nearest(self, values: Array) -> Array:
        """Return (K, ...) values (T, ...) of the nearest frame."""
        return values[np.rint(self.time).astype(int)]


def instants(frames: int, fps: float, new_fps: float) -> Instants:
    """Return the instants at `new_fps` from the first to the last of `frames` at `fps`."""
    last = frames - 1
    count = int(last / fps * new_fps + 1e-9) + 1
    time = np.minimum(np.arange(count) * (fps / new_fps), last)
    before = np.minimum(time.astype(int), max(last - 1, 0))
    return Instants(time, before, np.minimum(before + 1, last), time - before)


def split_qpos(qpos: Array) -> tuple[Array, Array, Array]:
    """Return root positions (T, 3), root quaternions (T, 4) wxyz and joints (T, N) of MuJoCo's coordinates (T, 7 + N),
    as views."""
    return qpos[:, :3], qpos[:, 3:7], qpos[:, 7:]

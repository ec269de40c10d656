"""What a robot did when it was to track a motion."""

from __future__ import annotations

from dataclasses import dataclass
from operator import index

from phuma.arrays import checked, checked_fps, checked_unit
from phuma.errors import PhumaError
from phuma.rotations import Array


@dataclass(frozen=True, eq=False)
class Rollout:
    """A robot's path under control, simulated or real: world z-up, metres, radians, quaternions wxyz.

    Frame 0 is the state in which it began, at the motion's first frame; frame t is the state after t control steps and
    belongs to the motion's time t / rate. Every value is finite: a simulation that diverged is cut before the first
    frame that is not, and `terminated_at` says where.
    """

    motion: str
    """Name of the motion that was to be tracked, in a dataset that of the clip"""
    robot: str
    """Name of a built-in robot, or of the folder that describes it"""
    joint_names: tuple[str, ...]
    """Order of the columns of joint_pos"""
    rate: float
    """Frames, which are control steps, a second"""
    root_pos: Array
    """(T, 3) origin of the robot's root body"""
    root_quat: Array
    """(T, 4) wxyz"""
    joint_pos: Array
    """(T, N) rad"""
    terminated_at: int | None = None
    """The frame at which a termination struck, at most T: it need not be stored. None if none did; running out of
    time, or of motion, is no termination"""

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "joint_names", tuple(self.joint_names))
        put(self, "rate", checked_fps(self.rate))
        put(self, "root_pos", checked("root_pos", self.root_pos, ("frames", 3)))
        put(self, "root_quat", checked_unit("root_quat", self.root_quat, ("frames", 4)))
        put(self, "joint_pos", checked("joint_pos", self.joint_pos, ("frames", len(self.joint_names))))
        lengths = [len(self.root_pos), len(self.root_quat), len(self.joint_pos)]
        if len(set(lengths)) != 1 or not len(self):
            raise PhumaError(f"arrays of a rollout have {lengths} frames; they need the same number, at least 1")
        if self.terminated_at is not None:
            put(self, "terminated_at", index(self.terminated_at))
            if not 0 <= self.terminated_at <= len(self):
                raise PhumaError(f"terminated_at is {self.terminated_at}; this rollout has frames 0 to {len(self) - 1}")

    def __len__(self) -> int:
        return len(self.root_pos)

    def __repr__(self) -> str:
        end = "" if self.terminated_at is None else f", terminated at {self.terminated_at}"
        return f"Rollout({self.robot}, {self.motion!r}, {len(self)} frames at {self.rate:g} Hz{end})"

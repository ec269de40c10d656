"""A rollout: the trajectory of a robot that was to track a motion."""

from __future__ import annotations

from dataclasses import dataclass
from operator import index
from typing import ClassVar

from phuma.core.trajectory import Trajectory
from phuma.errors import PhumaError


@dataclass(frozen=True, eq=False)
class Rollout(Trajectory):
    """A robot's trajectory under control, simulated or real, in double precision.

    A frame is a control step. Frame 0 is the state in which the robot began, at the motion's first frame; frame t is
    the state after t control steps and belongs to the motion's time t / fps. Every value is finite: a simulation that
    diverged is cut before the first frame that is not, and `terminated_at` says where. Some of its frames, or the same
    at another rate, are a plain Trajectory.
    """

    motion: str
    """Name of the motion that was to be tracked, in a dataset that of the clip"""
    terminated_at: int | None = None
    """Frame at which the episode was terminated, at most T: it need not be stored. None if it was not; running out of
    time, or of motion, is no termination"""

    fault: str | None = None
    """Reason, in words, why the policy could not be followed any further at `terminated_at`, as an action that is not
    finite; None if there is none"""

    ALWAYS_DOUBLE: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.terminated_at is not None:
            object.__setattr__(self, "terminated_at", index(self.terminated_at))
            if not 0 <= self.terminated_at <= len(self):
                raise PhumaError(f"terminated_at is {self.terminated_at}; this rollout has frames 0 to {len(self) - 1}")

    def __repr__(self) -> str:
        end = "" if self.terminated_at is None else f", terminated at {self.terminated_at}"
        return f"Rollout({self.robot}, {self.motion!r}, {len(self)} frames at {self.fps:g} Hz{end})"

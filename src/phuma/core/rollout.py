"""A rollout: the trajectory of a robot that was to track a motion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import index
from typing import Any, ClassVar

import numpy as np

from phuma.core.arrays import checked
from phuma.core.rotations import Array
from phuma.core.trajectory import Trajectory
from phuma.errors import PhumaError


@dataclass(frozen=True, eq=False)
class Bundle:
    """M more rollouts of the same motion, ways back to it from states beside it, one after the other in arrays of F
    frames."""

    first: Array
    """(M,) the motion's frame that each begins at"""
    frames: Array
    """(M,) number of frames of each; they add up to F"""
    whole: Array
    """(M,) 1 where it came back, or to the motion's end, else 0"""
    qpos: Array
    """(F, 7 + N) root position, root quaternion wxyz, joints"""
    qvel: Array
    """(F, 6 + N) root linear velocity in the world, angular in the root's frame, joints"""
    target: Array
    """(F - M, N) rad, what the joints' controllers aimed at from each frame but a rollout's last"""

    def __post_init__(self) -> None:
        put = object.__setattr__
        for name in ("first", "frames", "whole"):
            put(self, name, checked(f"bundle's {name}", getattr(self, name), (len(self.first),)))
        frames, (_, joints) = int(self.frames.sum()), np.shape(self.target)
        shapes = {"qpos": (frames, 7 + joints), "qvel": (frames, 6 + joints), "target": (frames - len(self), joints)}
        for name, shape in shapes.items():
            put(self, name, checked(f"bundle's {name}", getattr(self, name), shape))

    def __len__(self) -> int:
        return len(self.first)

    def reordered(self, order: Sequence[int]) -> Bundle:
        """Return the bundle with its joints in another order."""
        return replace(
            self,
            qpos=self.qpos[:, [*range(7), *(7 + n for n in order)]],
            qvel=self.qvel[:, [*range(6), *(6 + n for n in order)]],
            target=self.target[:, [*order]],
        )


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
    velocity: Array | None = None
    """(T, 6 + N) root linear velocity in the world, m/s, angular in the root's frame, joints, rad/s; None, as what
    follows, where it was not recorded"""
    target: Array | None = None
    """(T - 1, N) rad, what the joints' controllers aimed at from frame t to frame t + 1"""
    torque: Array | None = None
    """(T - 1, N) Nm, of the motors, mean from frame t to frame t + 1"""
    foot_force: Array | None = None
    """(T - 1, 2, 3) N in the world, of all that touches the left and the right foot, mean from frame t to t + 1"""
    gains: Array | None = None
    """(T - 1, N, 2 (6 + N)) rad per unit, change of the target by how far the state is from frame t"""
    value: Array | None = None
    """(T - 1, R, 2 (6 + N)) L, so that |L x|^2 is what a deviation x from frame t costs from there on"""
    lateness: float | None = None
    """Weight of being early or late by a control step, squared, beside that cost; infinite where only the clock counts,
    None where nothing is said"""
    regulator: str | None = None
    """Name of the regulator whose gains these are; None where nothing is said"""
    bundle: Bundle | None = None
    """Ways back to it from states beside it"""
    report: Mapping[str, Any] = field(default_factory=dict)
    """Report of how it was made and how good it is, in plain values"""

    ALWAYS_DOUBLE: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, shape in self._recorded().items():
            if (value := getattr(self, name)) is not None:
                object.__setattr__(self, name, checked(name, value, shape))
        if self.lateness is not None:
            object.__setattr__(self, "lateness", float(self.lateness))
            if not self.lateness >= 0:
                raise PhumaError(f"lateness is {self.lateness}; expected 0 or more")
        if self.terminated_at is not None:
            object.__setattr__(self, "terminated_at", index(self.terminated_at))
            if not 0 <= self.terminated_at <= len(self):
                raise PhumaError(f"terminated_at is {self.terminated_at}; this rollout has frames 0 to {len(self) - 1}")

    def reordered(self, joint_names: Sequence[str]) -> Rollout:
        """Return the rollout with joints in another order, all that was recorded too; a missing name is an error."""
        if tuple(joint_names) == self.joint_names:
            return self
        order = [self.joint_names.index(n) for n in joint_names if n in self.joint_names]
        of_all = [*range(6), *(6 + n for n in order)]
        of_state = [*of_all, *(6 + len(order) + n for n in of_all)]
        bare = replace(self, velocity=None, target=None, torque=None, gains=None, value=None)
        return replace(
            Trajectory.reordered(bare, joint_names),
            velocity=None if self.velocity is None else self.velocity[:, of_all],
            target=None if self.target is None else self.target[:, order],
            torque=None if self.torque is None else self.torque[:, order],
            gains=None if self.gains is None else self.gains[:, order][:, :, of_state],
            value=None if self.value is None else self.value[:, :, of_state],
            bundle=None if self.bundle is None else self.bundle.reordered(order),
        )

    def _recorded(self) -> dict[str, tuple[int, ...]]:
        """Return the shapes of what may have been recorded beside the trajectory."""
        frames, joints = self.joint_pos.shape
        steps, coordinates = frames - 1, 6 + joints
        return {
            "velocity": (frames, coordinates),
            "target": (steps, joints),
            "torque": (steps, joints),
            "foot_force": (steps, 2, 3),
            "gains": (steps, joints, 2 * coordinates),
            "value": (steps, 0 if self.value is None else np.shape(self.value)[1], 2 * coordinates),
        }

    def __repr__(self) -> str:
        end = "" if self.terminated_at is None else f", terminated at {self.terminated_at}"
        return f"Rollout({self.robot}, {self.motion!r}, {len(self)} frames at {self.fps:g} Hz{end})"

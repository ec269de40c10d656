"""The motion of a robot as it was performed under physics, with what the simulation recorded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from phuma.core.arrays import checked
from phuma.core.robot_motion import RobotMotion
from phuma.core.rotations import Array
from phuma.core.trajectory import instants

RECORDED = ("velocity", "torque", "foot_force")


@dataclass(frozen=True, eq=False)
class PerformedMotion(RobotMotion):
    """A robot's motion that a simulation produced, or a real robot. What was not recorded is None."""

    velocity: Array | None = None
    """(T, 6 + N) root linear velocity in the world, m/s, angular in the root's frame, joints, rad/s"""
    torque: Array | None = None
    """(T, N) Nm, of the motors, mean from frame t on to the next"""
    foot_force: Array | None = None
    """(T, 2, 3) N in the world, of all that touches the left and the right foot, mean from frame t on to the next"""
    path: Array | None = None
    """(P, 2) m, path on the floor that its root was to go along, where it was to go along one"""

    def __post_init__(self) -> None:
        super().__post_init__()
        frames, joints = self.joint_pos.shape
        shapes = {"velocity": (frames, 6 + joints), "torque": (frames, joints), "foot_force": (frames, 2, 3)}
        for name, shape in shapes.items():
            if (value := getattr(self, name)) is not None:
                object.__setattr__(self, name, checked(name, value, shape))
        if self.path is not None:
            object.__setattr__(self, "path", checked("path", self.path, (len(self.path), 2)))

    def reordered(self, joint_names: Sequence[str]) -> PerformedMotion:
        """Return the motion with joints in another order, with all that was recorded."""
        if tuple(joint_names) == self.joint_names:
            return self
        order = [self.joint_names.index(n) for n in joint_names if n in self.joint_names]
        return replace(
            RobotMotion.reordered(self._bare(), joint_names),
            velocity=None if self.velocity is None else self.velocity[:, [*range(6), *(6 + n for n in order)]],
            torque=None if self.torque is None else self.torque[:, order],
            foot_force=self.foot_force,
        )

    def resampled(self, fps: float) -> PerformedMotion:
        """Return the motion at another rate; what was recorded is interpolated along lines."""
        if fps == self.fps:
            return self
        at = instants(len(self), self.fps, fps)
        path = RobotMotion.resampled(self._bare(), fps)
        assert isinstance(path, PerformedMotion)
        more: dict[str, Any] = {name: at.along(value) for name, value in self._recorded().items()}
        return replace(path, **more)

    def _bare(self) -> PerformedMotion:
        """Return the motion without what was recorded, whose shapes would not fit while others change."""
        return replace(self, velocity=None, torque=None, foot_force=None)

    def _recorded(self) -> dict[str, Array]:
        return {name: value for name in RECORDED if (value := getattr(self, name)) is not None}

    def _arrays(self) -> dict[str, Any]:
        return {**super()._arrays(), **self._recorded()}

"""The motion of a robot in a dataset: its trajectory, its contacts, and the human that it follows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from phuma.core.arrays import checked, same_length
from phuma.core.provenance import Provenance
from phuma.core.rotations import Array
from phuma.core.skeleton import N_JOINTS, REGIONS
from phuma.core.trajectory import Trajectory, cut_frames, instants


@dataclass(frozen=True, eq=False)
class RobotMotion(Trajectory):
    """A robot's trajectory in double precision, with its provenance, contacts and quality.

    >>> motion = phuma.retarget("walk.bvh", robot="g1")
    >>> motion.cut(0.5, 1.5).resample(50)
    RobotMotion(g1, 'walk.bvh', 0.98 s, 49 frames at 50 Hz)
    >>> motion.joint_pos.shape
    (60, 29)
    >>> motion.save("walk_g1.npz")
    """

    contact: Array
    """(T, 4) contact ratios of the human as curation found them: left heel, left toe, right heel, right toe; judged by
    the robot's own soles where no human is known"""
    human_joints: Array | None
    """(T, 22, 3) m, the human on a body with the robot's bones: what the robot should look like. None for an imported
    motion"""
    provenance: Provenance
    contact_used: Array | None = None
    """(T, 4) contacts as the solver used them; None where nothing was solved"""
    contact_paper: Array = None  # type: ignore[assignment]
    """(T, 4) the human's contact ratios by height, as in the paper; `contact` where no others are known"""
    report: Mapping[str, Any] = field(default_factory=dict)
    """Report of how it was made and how good it is, in plain values"""
    solve_seconds: float = 0.0
    """CPU seconds that the method took; not stored, as they depend on the machine"""

    ALWAYS_DOUBLE: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        put = object.__setattr__
        put(self, "contact", checked("contact", self.contact, ("frames", len(REGIONS))))
        put(self, "contact_paper", checked("contact_paper", self._paper(), ("frames", len(REGIONS))))
        if self.human_joints is not None:
            put(self, "human_joints", checked("human_joints", self.human_joints, ("frames", N_JOINTS, 3)))
        if self.contact_used is not None:
            put(self, "contact_used", checked("contact_used", self.contact_used, ("frames", len(REGIONS))))
        arrays = (self.contact, self.contact_paper, self.human_joints, self.contact_used)
        same_length("a robot motion", self.root_pos, *arrays)

    def _paper(self) -> Array:
        known: Array | None = self.contact_paper
        return self.contact if known is None else known

    def __repr__(self) -> str:
        seconds = f"{self.duration:.2f} s, {len(self)} frames at {self.fps:g} Hz"
        return f"RobotMotion({self.robot}, {self.provenance.source!r}, {seconds})"

    def as_written(self) -> RobotMotion:
        """Return the motion as a file holds it, in single precision: what is measured should be what is stored."""
        return replace(self, **{n: v.astype(np.float32).astype(float) for n, v in self._arrays().items()})

    def frames(self, rows: slice | Array) -> RobotMotion:
        """Return the motion in some frames, each as often as it is named."""
        return replace(self, **{name: values[rows] for name, values in self._arrays().items()})

    def cut(self, start: float | None = None, end: float | None = None) -> RobotMotion:
        """Return the part from `start` to `end` seconds; its provenance says where in the recording it begins."""
        first, last = cut_frames(len(self), self.fps, start, end)
        origin = replace(self.provenance, start=self.provenance.start + first / self.fps)
        return replace(self.frames(slice(first, last)), provenance=origin)

    def resample(self, fps: float) -> RobotMotion:
        """Return the motion at another rate, as `resampled` does."""
        return self.resampled(fps)

    def resampled(self, fps: float) -> RobotMotion:
        """Return the motion at another rate, as `Trajectory.resampled` does it; `contact_used` stays 0 or 1."""
        if fps == self.fps:
            return self
        path, at = super().resampled(fps), instants(len(self), self.fps, fps)
        return replace(
            self,
            fps=fps,
            root_pos=path.root_pos,
            root_quat=path.root_quat,
            joint_pos=path.joint_pos,
            contact=at.along(self.contact),
            contact_paper=at.along(self.contact_paper),
            human_joints=None if self.human_joints is None else at.along(self.human_joints),
            contact_used=None if self.contact_used is None else at.nearest(self.contact_used),
        )

    def _arrays(self) -> dict[str, Any]:
        """Return all arrays that have a row per frame, by name."""
        names = ("root_pos", "root_quat", "joint_pos", "contact", "contact_paper", "human_joints", "contact_used")
        return {name: getattr(self, name) for name in names if getattr(self, name) is not None}

"""A body: where its joints and soles are at rest, and where a pose puts them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from phuma.core import rotations as rot
from phuma.core.arrays import checked
from phuma.core.forward_kinematics import forward_kinematics
from phuma.core.rotations import Array
from phuma.core.skeleton import INDEX, MIRROR_JOINTS, MIRROR_SOLE, N_JOINTS, N_SOLE, PARENTS
from phuma.errors import PhumaError

SPINE1 = INDEX["spine1"]
LARGEST = 10.0  # m from the pelvis: what is larger is in other units
REST_MIRROR = np.array([-1.0, 1.0, 1.0])


class Pose(NamedTuple):
    """The positions and rotations of the joints in the world over T frames."""

    position: Array
    """(T, 22, 3) m, positions of the joints"""
    rotation: Array
    """(T, 22, 4) wxyz, rotations from rest axes to the world"""


@dataclass(frozen=True, eq=False)
class Body:
    """A rest skeleton with soles, in SMPL-X's rest axes (x left, y up, z forward), metres.

    A sole point v follows the joints by linear blend skinning,
    x = sum_j w_j (R_j (v + B(pose) - J_j) + p_j), where B is zero but for SMPL-X.

    >>> body = phuma.read("walk.bvh").body
    >>> body.joints.shape, body.soles.shape
    ((22, 3), (88, 3))
    """

    joints: Array
    """(22, 3) m, joints at rest"""
    soles: Array
    """(88, 3) m, sole points at rest, 22 in each of left heel, left toe, right heel, right toe; (0, 3) when unknown"""
    sole_weights: Array
    """(88, 22) skinning weights of the sole points; rows sum to 1"""
    name: str
    """Name of the body: `open`, `bvh`, or `smplx:` and the first digits of the model file's hash"""
    shape: Mapping[str, float] = field(default_factory=dict)
    """Shape parameters that gave this body, by name"""
    lumbar: Array = field(default_factory=lambda: np.zeros(3))
    """(3,) m, where SMPL-X's spine1 joint would be, from this skeleton's spine1, in that joint's rest axes: zero unless
    the recording's own skeleton has its first spine joint at the pelvis (CMU's does)"""
    pose_dirs: Array | None = None
    """(88, 3, 21, 3, 3) SMPL-X's pose blend shapes: displacement per entry of (R_j - 1), j = 1..21"""

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "joints", checked("body joints", self.joints, (N_JOINTS, 3)))
        put(self, "soles", checked("body soles", self.soles, ("points", 3)))
        n = len(self.soles)
        if n not in (0, N_SOLE):
            raise PhumaError(f"a body has {N_SOLE} sole points (or none, where they are unknown); got {n}")
        put(self, "sole_weights", checked("sole weights", self.sole_weights, (n, N_JOINTS)))
        put(self, "lumbar", checked("lumbar", self.lumbar, (3,)))
        for name, points in (("joints", self.joints), ("soles", self.soles), ("lumbar", self.lumbar[None])):
            if (
                far := float(np.abs(points - (self.joints[0] if name != "lumbar" else 0.0)).max(initial=0.0))
            ) > LARGEST:
                raise PhumaError(
                    f"the body's {name} reach {far:,.4g} m from its pelvis; at most {LARGEST:g} m are a person"
                )
        if self.pose_dirs is not None:
            put(self, "pose_dirs", checked("pose blend shapes", self.pose_dirs, (n, 3, N_JOINTS - 1, 3, 3)))

    def __repr__(self) -> str:
        return f"Body({self.name}, legs {self.leg_length:.3f} m)"

    @cached_property
    def offsets(self) -> Array:
        """Return (22, 3) m: each joint from its parent at rest; the pelvis from the origin."""
        parents = np.array(PARENTS)
        offsets = self.joints - np.where(parents[:, None] >= 0, self.joints[parents], 0.0)
        offsets.flags.writeable = False
        return offsets

    @cached_property
    def leg_length(self) -> float:
        """Return metres from hip to knee to ankle, the mean of both sides."""
        bones = np.linalg.norm(self.offsets, axis=1)
        return float(sum(bones[INDEX[f"{s}_{j}"]] for s in ("left", "right") for j in ("knee", "ankle")) / 2)

    def forward(self, root_pos: Array, joint_quat: Array) -> Pose:
        """Return the pose by forward kinematics. root_pos (T, 3): the pelvis in the world; joint_quat (T, 22, 4):
        local, wxyz, the first one from rest axes to the world."""
        return Pose(*forward_kinematics(self.offsets, root_pos, joint_quat))

    def lumbar_position(self, pose: Pose) -> Array:
        """Return (T, 3) m: where SMPL-X's spine1 joint would be."""
        return pose.position[:, SPINE1] + rot.rotate(pose.rotation[:, SPINE1], self.lumbar)

    def sole_positions(
        self, pose: Pose, joint_quat: Array, axes: tuple[int, ...] = (0, 1, 2), points: Array | None = None
    ) -> Array:
        """Return (T, P, A) m: sole points in the world, in the coordinates named in `axes`, as heights alone cost a
        third, and those with the numbers `points` (P,), by default all 88."""
        if not len(self.soles):
            raise PhumaError(
                f"the soles of body {self.name} are not known here: they are part of the model file. "
                "Give the file again, for example --body smplx:SMPLX_NEUTRAL.npz"
            )
        chosen = np.arange(N_SOLE) if points is None else points
        soles, weights = self.soles[chosen], self.sole_weights[chosen]
        moved = self._pose_blend(joint_quat, chosen)
        out = np.zeros((len(pose.position), len(chosen), len(axes)))
        joints = np.flatnonzero(weights.any(axis=0))
        rotations = rot.to_matrix(pose.rotation[:, joints])
        for n, j in enumerate(joints.tolist()):
            of_j = _slice_of(np.flatnonzero(weights[:, j]))
            local, weight = (soles[of_j] - self.joints[j]).T, weights[of_j, j]
            for k, axis in enumerate(axes):
                row = rotations[:, n, axis]
                pos = row @ local
                pos += pose.position[:, j, axis, None]
                if moved is not None:
                    pos += sum(row[:, i, None] * moved[:, i, of_j] for i in range(3))
                pos *= weight
                out[:, of_j, k] += pos
        return out

    def _pose_blend(self, joint_quat: Array, chosen: Array) -> Array | None:
        """Return (T, 3, P) m: how far the pose displaces chosen sole points at rest; None for bodies without such
        terms."""
        if self.pose_dirs is None:
            return None
        feature = (rot.to_matrix(joint_quat[:, 1:]) - np.eye(3)).reshape(len(joint_quat), -1)
        flat = self.pose_dirs[chosen].swapaxes(0, 1).reshape(3 * len(chosen), -1)
        return (feature @ flat.T).reshape(-1, 3, len(chosen))

    def mirror(self) -> Body:
        """Return the body with left and right exchanged."""
        dirs = self.pose_dirs
        if dirs is not None:
            m = REST_MIRROR
            sign = m[:, None, None, None] * m[:, None] * m[None, :]
            dirs = dirs[MIRROR_SOLE][:, :, MIRROR_JOINTS[1:] - 1] * sign
        has_soles = len(self.soles) > 0
        return replace(
            self,
            joints=self.joints[MIRROR_JOINTS] * REST_MIRROR,
            soles=self.soles[MIRROR_SOLE] * REST_MIRROR if has_soles else self.soles,
            sole_weights=self.sole_weights[MIRROR_SOLE][:, MIRROR_JOINTS] if has_soles else self.sole_weights,
            lumbar=self.lumbar * REST_MIRROR,
            pose_dirs=dirs,
        )


def _slice_of(numbers: Array) -> Array | slice:
    """Return numbers (N,) in ascending order as a slice, which is fast, if they follow each other."""
    first, last = int(numbers[0]), int(numbers[-1])
    return slice(first, last + 1) if last - first + 1 == len(numbers) else numbers

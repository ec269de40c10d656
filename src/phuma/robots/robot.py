"""A robot as numbers is its tree of links, its joints and their limits, its keypoints and its soles."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from phuma.core.arrays import checked, checked_unit
from phuma.core.rotations import Array
from phuma.errors import ConfigError

Indices = NDArray[np.intp]

KEYPOINTS = (
    "pelvis", "left_hip", "right_hip", "left_knee", "right_knee", "left_ankle", "right_ankle",
    "left_shoulder", "right_shoulder", "left_elbow", "right_elbow", "left_wrist", "right_wrist",
)  # fmt: skip
"""The human joints (names of `phuma.core.skeleton.JOINTS`) that have a counterpart on every robot, in the order of all
keypoint arrays."""

_SHAPES: dict[str, tuple[int | str, ...]] = {
    "body_pos": ("bodies", 3), "joint_axis": ("joints", 3), "joint_anchor": ("joints", 3),
    "lower": ("joints",), "upper": ("joints",), "velocity_limit": ("joints",), "torque_limit": ("joints",),
    "default_pose": ("joints",), "shared_pose": ("joints",), "keypoint_offset": (len(KEYPOINTS), 3),
    "sole_point": (4, 3), "sole_side": (2, 2, 3), "sole_corners": (2, 4, 3),
    "armature": ("joints",), "stiffness": ("joints",), "damping": ("joints",),
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Robot:
    """A robot has N hinge joints and B bodies in the order of the MJCF; metres, radians, seconds; quaternions wxyz.

    At angles q the frame of body b with parent a is  T_b = T_a [body_quat_b, body_pos_b] prod_j S_j(q_j),  where S_j
    turns by q_j about the line through joint_anchor_j along joint_axis_j, for the joints j of b in their order.
    Arrays are read-only. Names are resolved here, once: elsewhere no joint is known by its number.
    """

    name: str
    """Of the robot's folder, and what is locked: see `phuma.robots.locking`"""
    folder: Path
    """Holds model.xml and robot.json"""
    joint_names: tuple[str, ...]
    """(N) hinge joints, without the free joint of the root"""
    body_names: tuple[str, ...]
    """(B) without the world; body 0 is the root"""
    parents: Indices
    """(B,) index of each body's parent, which is smaller than its own; -1 for the root"""
    body_pos: Array
    """(B, 3) each body's frame in its parent's at zero angles; the root: zero"""
    body_quat: Array
    """(B, 4) wxyz, the same; the root: identity"""
    joint_body: Indices
    """(N,) the body that the joint moves"""
    joint_axis: Array
    """(N, 3) unit vectors in that body's frame"""
    joint_anchor: Array
    """(N, 3) a point of the axis in that body's frame"""
    lower: Array
    """(N,) rad"""
    upper: Array
    """(N,) rad"""
    velocity_limit: Array
    """(N,) rad/s"""
    torque_limit: Array
    """(N,) Nm"""
    default_pose: Array
    """(N,) rad, standing at ease"""
    default_height: float
    """of the root above the ground in the default pose, m"""
    shared_pose: Array
    """(N,) rad, as near as the robot can come to SMPL-X's T-pose: arms straight out sideways, palms down, legs
    straight"""
    keypoint_body: Indices
    """(13,) the body on which each of `KEYPOINTS` lies"""
    keypoint_offset: Array
    """(13, 3) where, in that body's frame"""
    sole_body: Indices
    """(4,) of left heel, left toe, right heel, right toe: the order of `phuma.core.skeleton.REGIONS`"""
    sole_point: Array
    """(4, 3) the rearmost and foremost point of each sole, in that body's frame"""
    sole_side: Array
    """(2, 2, 3) inner and outer point of the left and the right sole: their height difference is the foot's roll"""
    sole_corners: Array
    """(2, 4, 3) the rectangle around the left and the right sole: inner heel, outer heel, outer toe, inner toe"""
    subsets: Mapping[str, tuple[str, ...]]
    """Joint names by the subset's name, in MJCF order"""
    anchor_body: str
    """The body that a tracker is judged relative to"""
    key_bodies: tuple[str, ...]
    """The bodies whose poses a tracker is judged by"""
    armature: Array
    """(N,) kg m^2, of the rotor, seen at the joint"""
    stiffness: Array
    """(N,) Nm/rad, of the position controller; 0 where there is none"""
    damping: Array
    """(N,) Nm s/rad, of the position controller"""
    locked: Mapping[str, float] = field(default_factory=dict)
    """Joints of the model that are locked, and so none of this robot's, each at its angle [rad]"""

    def __post_init__(self) -> None:
        for name, shape in _SHAPES.items():
            sizes: dict[int | str, int] = {"joints": len(self.joint_names), "bodies": len(self.body_names)}
            value = checked(f"{self.name}: {name}", getattr(self, name), tuple(sizes.get(s, s) for s in shape))
            object.__setattr__(self, name, value)
        quat = checked_unit(f"{self.name}: body_quat", self.body_quat, (len(self.body_names), 4))
        object.__setattr__(self, "body_quat", quat)
        for one in fields(self):
            value = getattr(self, one.name)
            if isinstance(value, np.ndarray):
                value.flags.writeable = False

    def middle_range(self, share: float) -> tuple[Array, Array]:
        """Return (N,), (N,) rad: this share of every joint's range, around its middle, as trainers have soft limits."""
        middle, half = (self.lower + self.upper) / 2, share * (self.upper - self.lower) / 2
        return middle - half, middle + half

    @property
    def n_joints(self) -> int:
        """Return the number of hinge joints."""
        return len(self.joint_names)

    @property
    def n_bodies(self) -> int:
        """Return the number of bodies."""
        return len(self.body_names)

    @property
    def keypoints(self) -> tuple[str, ...]:
        """Return the names of the 13 keypoints, the same for every robot."""
        return KEYPOINTS

    @property
    def model_file(self) -> Path:
        """Return the path of the MJCF, in which no joint is locked; `robot_model` is this robot's."""
        return self.folder / "model.xml"

    def joint_index(self, names: Iterable[str]) -> Indices:
        """Return where the joints of these names are in every joint array."""
        return np.array([_index(self.name, "joint", n, self.joint_names) for n in names], dtype=np.intp)

    def body_index(self, names: Iterable[str]) -> Indices:
        """Return where the bodies of these names are in every body array."""
        return np.array([_index(self.name, "body", n, self.body_names) for n in names], dtype=np.intp)

    def subset_index(self, subset: str) -> Indices:
        """Return the joints of a named subset, for example the H1-2's "21"."""
        if subset not in self.subsets:
            valid = ", ".join(self.subsets) or "none"
            raise ConfigError(f"robot {self.name} has no subset of joints {subset!r}; it has: {valid}")
        return self.joint_index(self.subsets[subset])


def _index(robot: str, kind: str, name: str, names: tuple[str, ...]) -> int:
    if name not in names:
        raise ConfigError(f"robot {robot} has no {kind} {name!r}; it has: {', '.join(names)}")
    return names.index(name)

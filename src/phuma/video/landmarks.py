"""What a pose network sees of one person in a film: 33 landmarks in every frame, in the picture and in metres."""

from __future__ import annotations

from dataclasses import dataclass

from phuma.core.arrays import checked, checked_fps
from phuma.core.rotations import Array
from phuma.errors import PhumaError

NAMES = (
    "nose",
    "left_eye_inner",
    "left_eye",
    "left_eye_outer",
    "right_eye_inner",
    "right_eye",
    "right_eye_outer",
    "left_ear",
    "right_ear",
    "mouth_left",
    "mouth_right",
    "left_shoulder",
    "right_shoulder",
    "left_elbow",
    "right_elbow",
    "left_wrist",
    "right_wrist",
    "left_pinky",
    "right_pinky",
    "left_index",
    "right_index",
    "left_thumb",
    "right_thumb",
    "left_hip",
    "right_hip",
    "left_knee",
    "right_knee",
    "left_ankle",
    "right_ankle",
    "left_heel",
    "right_heel",
    "left_foot_index",
    "right_foot_index",
)
"""The landmarks of BlazePose in their order"""


@dataclass(frozen=True, eq=False)
class Landmarks:
    """The landmarks of one person along a film; where the person is not seen, visibility and presence are 0."""

    fps: float
    size: tuple[int, int]
    """Width and height of the picture in pixels, as it is shown"""
    image: Array
    """(T, 33, 2) px, right and down from the upper left corner"""
    world: Array
    """(T, 33, 3) m about the middle of the hips, in the camera's axes: right, down, away"""
    visibility: Array
    """(T, 33) from 0 to 1: that the landmark is in the picture and not hidden"""
    presence: Array
    """(T,) from 0 to 1: that there is a person"""

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "fps", checked_fps(self.fps))
        put(self, "image", checked("image", self.image, ("frames", len(NAMES), 2)))
        put(self, "world", checked("world", self.world, ("frames", len(NAMES), 3)))
        put(self, "visibility", checked("visibility", self.visibility, ("frames", len(NAMES))))
        put(self, "presence", checked("presence", self.presence, ("frames",)))
        frames = {len(self.image), len(self.world), len(self.visibility), len(self.presence)}
        if len(frames) > 1 or not frames.pop():
            raise PhumaError("landmarks need the same number of frames in every array, at least one")

    def __len__(self) -> int:
        return len(self.image)

"""What a policy's inputs are, in words: the groups of an observation and their parts."""

from __future__ import annotations

from typing import NamedTuple

from phuma.learning.mdp.observations import FUTURE_FRAMES, FUTURE_STEPS


class Part(NamedTuple):
    """Neighbouring numbers of an observation."""

    name: str
    size: int
    about: str


class Group(NamedTuple):
    """A named input of a policy: its parts side by side, `frames` times one after the other if it is a sequence."""

    name: str
    parts: tuple[Part, ...]
    frames: int | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        """Of one robot's"""
        width = sum(part.size for part in self.parts)
        return (width,) if self.frames is None else (self.frames, width)


def proprioception_group(joints: int) -> Group:
    """What the robot feels of itself: `mdp.observations.proprioception`."""
    return Group(
        "proprioception",
        (
            Part("previous_action", joints, "the policy's last output `action`; zero at first"),
            Part("root_angvel", 3, "rad/s, of the root body in its own frame: the gyroscope"),
            Part("joint_pos", joints, "rad, minus default_pose"),
            Part("joint_vel", joints, "rad/s"),
        ),
    )


def goal_group(joints: int, anchor: str) -> Group:
    """The reference at the coming frame: `mdp.observations.goal`."""
    turn = (
        f"rotation of {anchor} in the reference seen from the robot's, conj(q_robot) q_reference: the first two "
        "columns of its matrix, one after the other"
    )
    return Group(
        "goal",
        (
            Part("joint_pos", joints, "rad, the reference's at the coming frame"),
            Part("joint_vel", joints, "rad/s, the reference's at the coming frame"),
            Part("anchor_rotation", 6, turn),
        ),
    )


def future_group(joints: int, bodies: int) -> Group:
    """The reference from the coming frame on: `mdp.observations.future_features`."""
    return Group(
        "future",
        (
            Part("root_height", 1, "m"),
            Part("root_roll_pitch", 2, "rad"),
            Part("root_linvel", 3, "m/s, in the frame of the root's heading"),
            Part("root_yaw_rate", 1, "rad/s, about the vertical"),
            Part("joint_pos", joints, "rad"),
            Part("bodies", 3 * bodies, "m, key_bodies from the root, in the frame of its heading"),
        ),
        FUTURE_FRAMES,
    )


FUTURE_ABOUT = (
    f"{FUTURE_FRAMES} frames of the reference, evenly over the {FUTURE_STEPS} control steps that begin with the coming "
    "frame; the last frame is held past the end"
)

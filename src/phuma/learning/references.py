"""Motions with all that a tracker compares itself with, frame by frame."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from phuma.learning.feedforward import BASES
from phuma.learning.kinematics import Kinematics
from phuma.learning.library import MotionLibrary
from phuma.learning.mdp.observations import FUTURE_FRAMES, FUTURE_STEPS, future_features
from phuma.learning.simulation.model import CONTROL_RATE
from phuma.learning.state import State
from phuma.learning.tensors import Tensor, like
from phuma.robots.inverse_dynamics import derivatives
from phuma.rotations import Array

OFFSETS = np.linspace(0, FUTURE_STEPS, FUTURE_FRAMES).round().astype(int)


@dataclass(frozen=True, eq=False)
class References:
    """Frames of several motions, one after the other: about 1.4 kB a frame on the G1."""

    clips: Array
    """(M,) their numbers in the library"""
    first: Array
    """(M,) frame of each motion's first state"""
    last: Array
    """(M,) frame of its last"""
    clip_of: Array
    """(F,) which of the M motions a frame belongs to"""
    state: State
    """of F frames"""
    base: Tensor
    """(F, N) rad: what the controllers aim at when the policy adds nothing, on the way to this frame"""
    features: Tensor
    """(F, D) one frame of the motion encoder's input"""

    def __len__(self) -> int:
        return len(self.clip_of)

    def coming(self, frames: Array) -> Array:
        """(E, 20) which rows of `features` the motion encoder sees from these frames on; a motion's last frame is held
        past its end."""
        return np.minimum(frames[:, None] + OFFSETS, self.last[self.clip_of[frames]][:, None])

    def on(self, example: Tensor) -> References:
        """With tensors of the library and device of `example`."""
        state = State(*(like(example, getattr(self.state, f.name)) for f in fields(State)))
        base, features = like(example, self.base), like(example, self.features)
        return References(self.clips, self.first, self.last, self.clip_of, state, base, features)


def expand(library: MotionLibrary, clips: Sequence[int] | Array, base: str) -> References:
    """What a tracker needs of these motions of a library; `base` is one of BASES."""
    kinematics, robot = Kinematics(library.robot), library.robot
    states, targets = [], []
    for clip in clips:
        qpos = library.motions[clip].astype(float)
        velocity, acceleration = derivatives(qpos, CONTROL_RATE)
        states.append(
            kinematics.state(qpos[:, :3], qpos[:, 3:7], velocity[:, :3], velocity[:, 3:6], qpos[:, 7:], velocity[:, 6:])
        )
        targets.append(between(BASES[base](robot, qpos, velocity, acceleration)).astype(np.float32))
    lengths = np.array([len(s) for s in states])
    state = State(*(np.concatenate([getattr(s, f.name) for s in states]) for f in fields(State)))
    first = np.concatenate([[0], np.cumsum(lengths)[:-1]])
    return References(
        clips=np.asarray(clips),
        first=first,
        last=first + lengths - 1,
        clip_of=np.repeat(np.arange(len(lengths)), lengths),
        state=state,
        base=np.concatenate(targets),
        features=future_features(state),
    )


def between(target: Array) -> Array:
    """(T, N) the mean of each frame and the one before it: what is aimed at on the way from one to the other."""
    return np.concatenate([target[:1], 0.5 * (target[1:] + target[:-1])])

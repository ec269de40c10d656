"""Reference motions with all that a tracker compares itself with, frame by frame."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields

import numpy as np

from phuma.core.rotations import Array
from phuma.core.tensors import Tensor, like
from phuma.learning.env.context import constants_of
from phuma.learning.env.observation import ComingFrames
from phuma.learning.env.task import Task
from phuma.learning.motions.library import MotionLibrary
from phuma.robots.inverse_dynamics import derivatives
from phuma.sim.coordinates import Coordinates
from phuma.sim.feedforward import BASES, CERTIFIED, between
from phuma.sim.kinematics import Kinematics
from phuma.sim.state import State


@dataclass(frozen=True, eq=False)
class References:
    """Frames of several motions, one after the other: about 1.4 kB per frame on the G1."""

    clips: Array
    """(M,) numbers of the motions in the library"""
    first: Array
    """(M,) first frame of each motion"""
    last: Array
    """(M,) last frame of each motion"""
    clip_of: Array
    """(F,) the one of the M motions that a frame belongs to"""
    state: State
    """States of the reference in F frames"""
    base: Tensor
    """(F, N) rad, what the controllers aim at when the policy adds nothing, on the way to this frame"""
    features: Mapping[str, Tensor]
    """(F, D) features of one frame as a motion encoder is given them, by the names of groups of coming frames."""

    def __len__(self) -> int:
        return len(self.clip_of)

    def coming(self, which: ComingFrames, frames: Array) -> Array:
        """Return (E, frames) the rows of the features that are observed from these frames on; a motion's last frame is
        held past its end."""
        return np.minimum(frames[:, None] + which.offsets, self.last[self.clip_of[frames]][:, None])

    def on(self, example: Tensor) -> References:
        """Return the references with tensors of the library and device of `example`."""
        state = State(*(like(example, getattr(self.state, f.name)) for f in fields(State)))
        features = {name: like(example, values) for name, values in self.features.items()}
        return References(self.clips, self.first, self.last, self.clip_of, state, like(example, self.base), features)


def expand(library: MotionLibrary, clips: Sequence[int] | Array, task: Task, both: bool = False) -> References:
    """Return the references that a tracker of this task needs, from some motions of a library.

    With the base `certified`, the reference of a motion that has a performance is that performance; with `both`, such
    a motion comes as it is, too, so that a policy learns to follow motions that nobody performed before.
    """
    kinematics, robot = Kinematics(library.robot), library.robot
    numbers, states, targets = [], [], []
    for clip in clips:
        performance = library.performances[clip] if task.base == CERTIFIED else None
        if performance is not None:
            numbers.append(clip)
            states.append(kinematics.of_coordinates(performance.states))
            targets.append(np.concatenate([performance.target[:1], performance.target]))
        if performance is None or both:
            motion = library.motions[clip].double()
            rates = derivatives(motion)
            numbers.append(clip)
            states.append(kinematics.of_coordinates(Coordinates(motion.qpos, rates.velocity)))
            targets.append(between(BASES[task.base].target(robot, motion, rates)).astype(np.float32))
    lengths = np.array([len(s) for s in states])
    state = State(*(np.concatenate([getattr(s, f.name) for s in states]) for f in fields(State)))
    first = np.concatenate([[0], np.cumsum(lengths)[:-1]])
    constants = constants_of(robot, state.root_pos)
    return References(
        clips=np.array(numbers),
        first=first,
        last=first + lengths - 1,
        clip_of=np.repeat(np.arange(len(lengths)), lengths),
        state=state,
        base=np.concatenate(targets),
        features={group.name: group.features(constants, state) for group in task.coming},
    )

"""Reference motions with all that a tracker compares itself with, frame by frame."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace

import numpy as np

from phuma.core.rotations import Array
from phuma.core.tensors import Tensor, like
from phuma.core.trajectory import split_qpos
from phuma.errors import PhumaError
from phuma.learning.env.context import Constants, constants_of
from phuma.learning.env.observation import ComingFrames, ObservationGroup
from phuma.learning.env.task import Task
from phuma.learning.motions.experts import Experts
from phuma.learning.motions.library import MotionLibrary, Performance
from phuma.robots.inverse_dynamics import derivatives
from phuma.sim.coordinates import Coordinates
from phuma.sim.feedforward import BASES, CERTIFIED, between
from phuma.sim.kinematics import Kinematics
from phuma.sim.state import State

CERTIFY = "`phuma certify` performs it"
"""The remedy where a motion has no performance"""


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
    """(F, D) features of one frame as a network is given them, by the names of groups of coming frames. Of a group of
    chained frames more rows follow: of each motion its last frame relative to itself, to the one before it, ..."""
    law: Experts | None = None
    """What the motions' certificates aim at in any state, for policies that act by it"""

    def __len__(self) -> int:
        return len(self.clip_of)

    def coming(self, which: ComingFrames, frames: Array) -> Array:
        """Return (E, frames) the rows of the features that are observed from these frames on; a motion's last frame is
        held past its end."""
        clip, wanted = self.clip_of[frames][:, None], frames[:, None] + which.offsets
        last = self.last[clip]
        if not which.chained:
            return np.minimum(wanted, last)
        before = np.clip(last - (wanted - which.chained), 0, which.chained - 1)
        return np.where(wanted > last, len(self) + which.chained * clip + before, wanted)

    def on(self, example: Tensor) -> References:
        """Return the references with tensors of the library and device of `example`."""
        state = State(*(like(example, getattr(self.state, f.name)) for f in fields(State)))
        features = {name: like(example, values) for name, values in self.features.items()}
        return replace(self, state=state, base=like(example, self.base), features=features)


def expand(library: MotionLibrary, clips: Sequence[int] | Array, task: Task, both: bool = False) -> References:
    """Return the references that a tracker of this task needs, from some motions of a library.

    With the base `certified`, the reference of a motion that has a performance is that performance; with `both`, such
    a motion comes as it is, too, so that a policy learns to follow motions that nobody performed before.
    """
    kinematics, robot = Kinematics(library.robot), library.robot
    numbers, states, targets = [], [], []
    for clip in clips:
        performance = library.performances[clip] if task.performed or task.base == CERTIFIED else None
        if task.lawful and performance is None:
            raise PhumaError(f"{library.names[clip]} is not certified, and this policy acts by certificates: {CERTIFY}")
        if performance is not None:
            numbers.append(clip)
            states.append(kinematics.of_coordinates(performance.states))
            targets.append(_performed_targets(library, clip, performance, task))
        if performance is None or both:
            motion = library.motions[clip].double()
            rates = derivatives(motion)
            numbers.append(clip)
            states.append(kinematics.of_coordinates(Coordinates(motion.qpos, rates.velocity)))
            targets.append(between(BASES[task.base].target(robot, motion, rates)).astype(np.float32))
    lengths = np.array([len(s) for s in states])
    state = State(*(np.concatenate([getattr(s, f.name) for s in states]) for f in fields(State)))
    first = np.concatenate([[0], np.cumsum(lengths)[:-1]])
    last = first + lengths - 1
    constants = constants_of(robot, state.root_pos, task.base)
    references = References(
        clips=np.array(numbers),
        first=first,
        last=last,
        clip_of=np.repeat(np.arange(len(lengths)), lengths),
        state=state,
        base=np.concatenate(targets),
        features={group.name: _features(group, constants, state, first, last) for group in task.coming},
    )
    return replace(references, law=Experts(library, references)) if task.lawful else references


def _performed_targets(library: MotionLibrary, clip: int, performance: Performance, task: Task) -> Array:
    """Return (T, N) rad, what actions are added to along a performance."""
    if task.base == CERTIFIED:
        return np.concatenate([performance.target[:1], performance.target])
    root_pos, root_quat, joint_pos = split_qpos(performance.states.qpos.astype(float))
    motion = replace(library.motions[clip].double(), root_pos=root_pos, root_quat=root_quat, joint_pos=joint_pos)
    return between(BASES[task.base].target(library.robot, motion, derivatives(motion))).astype(np.float32)


def _features(group: ObservationGroup, constants: Constants, state: State, first: Array, last: Array) -> Array:
    """Return the features of all frames, and of those that are held past a motion's end."""
    assert group.coming is not None
    if not (step := group.coming.chained):
        return group.features(constants, state)
    lengths = last - first + 1
    frames, begins = np.arange(len(state)), np.repeat(first, lengths)
    held = np.repeat(last, step)
    rows = np.concatenate([frames, held])
    earlier = np.tile(np.arange(step), len(last))
    before = np.concatenate([np.maximum(frames - step, begins), np.maximum(held - earlier, np.repeat(first, step))])
    return group.features(constants, state[rows], state[before])

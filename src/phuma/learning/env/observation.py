"""Observations: each is declared once, and its array, size, noise, description and metadata follow from that."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from phuma.core.rotations import Array
from phuma.core.tensors import Tensor, like, namespace
from phuma.learning.env.context import Constants, Context, reference_context
from phuma.sim.state import State

Observation = dict[str, Tensor]
"""Observations of E environments by the names of groups. A group of coming frames is (E, frames) rows of the
references' features, because many environments see the same frames; any other group is (E, width), or (E, history,
width)."""


class RobotSizes(Protocol):
    """The sizes that observations follow from: of a robot, or of a policy's description."""

    @property
    def n_joints(self) -> int: ...

    @property
    def key_bodies(self) -> tuple[str, ...]: ...

    @property
    def anchor_body(self) -> str: ...


@dataclass(frozen=True)
class ObservationTerm:
    """A term of an observation: neighbouring numbers with one meaning."""

    name: str
    about: str
    """Unit and meaning in words; `{anchor}` stands for the name of the robot's anchor body."""
    size: Callable[[RobotSizes], int]
    """Function from a robot's sizes to how many numbers the term has."""
    reading: Callable[[Context], Tensor]
    """Function to (E, size) what a perfect sensor reads, or what is known of the reference."""
    noise: float = 0.0
    """Standard deviation of a reading, in its unit, by the paper's table."""
    uniform: bool = False
    """Whether noise is uniform and `noise` its half width."""
    bias: Callable[[Context], Tensor | None] = lambda context: None
    """Function to (E, size) by which sensors read too much; None where they are exact."""
    relative_to: Callable[[Context], Tensor] | None = None
    """Function to what is subtracted from a reading, noise and all."""

    def value(self, context: Context) -> Tensor:
        """Return (E, size) values without noise and bias."""
        return self.relative(context, self.reading(context))

    def sensed(self, context: Context, rng: np.random.Generator, noise: float) -> Tensor:
        """Return (E, size) what sensors read: with their bias and `noise` times their noise."""
        reading, bias = self.reading(context), self.bias(context)
        if bias is not None:
            reading = reading + bias
        if noise and self.noise:
            shape = tuple(reading.shape)
            if self.uniform:
                drawn = 2 * rng.random(shape, dtype=np.float32) - 1
            else:
                drawn = rng.standard_normal(shape, dtype=np.float32)
            reading = reading + like(reading, (self.noise * noise) * drawn)
        return reading

    def relative(self, context: Context, reading: Tensor) -> Tensor:
        """Return a reading minus what it is relative to."""
        return reading if self.relative_to is None else reading - self.relative_to(context)


@dataclass(frozen=True)
class ComingFrames:
    """Frames of the reference from the coming one on, evenly over a number of control steps."""

    frames: int
    steps: int
    chained: int = 0
    """Control steps between frames that are each told relative to the one before, the first relative to the coming
    frame; 0 where each is told by itself, beginning with the coming one."""

    @cached_property
    def offsets(self) -> Array:
        """Return (frames,) control steps after the coming frame."""
        return self.chained + np.linspace(0, self.steps, self.frames).round().astype(int)

    @property
    def about(self) -> str:
        if self.frames == 1:
            return "the coming frame of the reference"
        if self.chained:
            return (
                f"{self.frames} frames of the reference, {self.chained} control steps apart, the first so many after "
                "the coming frame, each relative to the one before; the last frame is held past the end"
            )
        return (
            f"{self.frames} frames of the reference, evenly over the {self.steps} control steps that begin with the "
            "coming frame; the last frame is held past the end"
        )


@dataclass(frozen=True)
class ObservationGroup:
    """A named input of a network: its terms side by side, frame by frame if it is of coming frames."""

    name: str
    terms: tuple[ObservationTerm, ...]
    coming: ComingFrames | None = None
    """Frames of the reference, for a group that depends on the reference alone."""
    history: int = 1
    """Control steps that are observed, the oldest first and the present one last; before there were so many in an
    episode, its first one stands for those that are missing"""
    every: int = 1
    """Control steps from one of them to the next"""
    noisy: bool = True
    """Whether sensors come between the robot and this group; what a critic or a teacher observes is exact."""

    def width(self, robot: RobotSizes) -> int:
        """Return how many numbers the group has, per frame if it is of coming frames, per step if it has a history."""
        return sum(term.size(robot) for term in self.terms)

    def shape(self, robot: RobotSizes) -> tuple[int, ...]:
        """Return the shape of one environment's observation as a deployed network is given it."""
        width = self.width(robot)
        if self.coming is not None:
            return (self.coming.frames, width)
        return (width,) if self.history == 1 else (self.history, width)

    def described(self, robot: RobotSizes) -> dict[str, Any]:
        """Return name, shape and parts in plain values, as a policy's metadata holds them."""
        parts = [
            {"name": t.name, "size": t.size(robot), "about": t.about.format(anchor=robot.anchor_body)}
            for t in self.terms
        ]
        return {"name": self.name, "shape": list(self.shape(robot)), "parts": parts}

    def features(self, constants: Constants, reference: State, before: State | None = None) -> Tensor:
        """Return (F, width) features of F frames of the reference, for a group of coming frames; `before` has those
        that each is told relative to, where they are chained."""
        context = reference_context(constants, reference, before)
        return joined([term.value(context) for term in self.terms])


class Observer:
    """Computes groups of observations; a term that several groups have is read once."""

    def __init__(self, groups: Sequence[ObservationGroup], rng: np.random.Generator, noise: float) -> None:
        self.groups, self._rng, self._noise = tuple(groups), rng, noise

    def __call__(self, context: Context) -> Observation:
        """Return the groups that depend on the environments' states, at present. Noise is drawn in the order of groups
        and their terms, once for terms of the same reading: it is one sensor."""
        blurred = bool(self._noise) or context.joint_bias is not None
        clean: dict[ObservationTerm, Tensor] = {}
        sensed: dict[Callable[[Context], Tensor], Tensor] = {}
        out = {}
        for group in self.groups:
            if group.noisy and blurred:
                for term in group.terms:
                    if term.reading not in sensed:
                        sensed[term.reading] = term.sensed(context, self._rng, self._noise)
                out[group.name] = joined([term.relative(context, sensed[term.reading]) for term in group.terms])
                continue
            for term in group.terms:
                if term not in clean:
                    clean[term] = term.value(context)
            out[group.name] = joined([clean[term] for term in group.terms])
        return out


class Histories:
    """What environments observed in the last control steps, for groups that have a history."""

    def __init__(self, groups: Sequence[ObservationGroup]) -> None:
        past = [group for group in groups if group.history > 1]
        self.every = {group.name: group.every for group in past}
        self.lengths = {group.name: (group.history - 1) * group.every + 1 for group in past}
        self.seen: dict[str, Tensor] = {}
        """(E, control steps, width) what was observed last, by the names of groups"""
        self._past: dict[str, Tensor] = {}

    def advance(self) -> None:
        """Let a control step go by: what was observed last is past."""
        self._past = {name: seen[:, 1:] for name, seen in self.seen.items()}

    def joined(self, observation: Observation, rows: Array, fresh: Array) -> Observation:
        """Return an observation of environments `rows` at present, together with all of their past; where `fresh`, an
        episode begins and there is none."""
        out = dict(observation)
        for name, length in self.lengths.items():
            now = observation[name][:, None]
            xp = namespace(now)
            out[name] = xp.concatenate([now] * length, 1)
            if name in self._past:
                past = xp.concatenate([self._past[name][rows], now], 1)
                out[name] = xp.where(like(now, fresh)[:, None, None], out[name], past)
        return out

    def note(self, observation: Observation) -> None:
        """Note what all environments observe."""
        self.seen = {name: observation[name] for name in self.lengths}

    def thinned(self, observation: Observation) -> Observation:
        """Return an observation with as much of the past as is asked for."""
        return observation | {name: observation[name][:, ::every] for name, every in self.every.items() if every > 1}


def joined(parts: Sequence[Tensor]) -> Tensor:
    """Return tensors side by side."""
    return namespace(parts[0]).concatenate(list(parts), -1)

"""Run a stranger's policy in another project's layout, in a process of its own and within the limits of ours.

Its observation is made from the state and our reference, its actions are scaled as its metadata says, and the robot has
its gains and its default pose. A motion inside it is not used.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from phuma.core.rotations import Array
from phuma.errors import ReadError
from phuma.learning.deploy.dialects.dialect import ACTIONS, OBS, TIME_STEP, Dialect, columns
from phuma.learning.deploy.foreign_metadata import Told, told_by
from phuma.learning.deploy.onnx_graph import Graph, GraphRunner, Port
from phuma.learning.deploy.onnx_policy import LIMITS, asked
from phuma.learning.deploy.policy import PolicyInfo, info_of
from phuma.learning.env.config import EnvironmentCfg
from phuma.learning.env.context import action_scale
from phuma.learning.env.observation import Observation, ObservationGroup, ObservationTerm
from phuma.learning.env.task import Task
from phuma.learning.env.terms.observations import previous_action
from phuma.learning.recipes.beyondmimic import RECIPE, STAGE, TERMINATIONS
from phuma.robots.robot import Robot
from phuma.runtime.limited import LimitedProcess

SUBSTEPS = 4
"""Physics steps per control step in the projects' training: 5 ms each"""
LATER = 50.0
"""A time step that actions of the first one are compared with"""


@dataclass(frozen=True)
class ForeignInfo(PolicyInfo):
    """The description of a stranger's policy for the robot with its gains; joints are in our order."""

    observed: tuple[ObservationTerm, ...] = ()
    """Our terms of what it observes, side by side in its order"""

    @property
    def task(self) -> Task:
        return Task(actor=(ObservationGroup(OBS, self.observed),), terminations=TERMINATIONS, base=self.base)


class ForeignPolicy:
    """A stranger's policy."""

    info: PolicyInfo

    def __init__(self, path: Path, graph: LimitedProcess[Any], info: ForeignInfo, robot: Robot, told: Told) -> None:
        self.path, self.graph, self.info, self.robot, self.told = path, graph, info, robot, told
        self.clocked = False
        """Whether it has an input `time_step`"""
        ratio = told.action_scale / action_scale(robot)
        self._back, self._ratio = np.argsort(told.joints), ratio.astype(np.float32)
        own = list(info.observed)
        self._columns = columns(own, own, info, told.joints)
        sizes = [term.size(info) for term in own]
        factors = [1 / self._ratio if term is previous_action else np.ones(n) for term, n in zip(own, sizes)]
        self._factors = np.concatenate(factors).astype(np.float32)

    def act(self, observation: Observation, features: Mapping[str, Array]) -> Array:
        theirs = (np.asarray(observation[OBS]) * self._factors)[:, self._columns]
        return self.answer(theirs)[:, self._back] * self._ratio

    def answer(self, obs: Array, time_step: float = 0.0) -> Array:
        """Return its (E, N) actions of what it observes (E, W), both in its own order and unit."""
        given = {OBS: np.ascontiguousarray(obs, dtype=np.float32)}
        if self.clocked:
            given[TIME_STEP] = np.full((len(obs), 1), time_step, dtype=np.float32)
        actions = np.asarray(asked(self.path, self.graph, given))
        if actions.shape != (expected := (len(obs), self.info.n_joints)) or actions.dtype != np.float32:
            raise ReadError(self.path, f"answered with {actions.dtype} {actions.shape}; expected float32 {expected}")
        return actions


def load_foreign(path: str | Path, dialect: Dialect, robots: Sequence[Robot]) -> ForeignPolicy:
    """Read a policy for that of the robots whose joints it has; every fault of the file is a ReadError."""
    path = Path(path)
    if not path.is_file():
        raise ReadError(path, f"is no file; --dialect {dialect.name} takes a policy.onnx of that layout")
    process: LimitedProcess[Any] = LimitedProcess(GraphRunner(path.absolute(), ACTIONS), LIMITS)
    try:
        graph = asked(path, process)
        told = told_by(path, graph.metadata, dialect, robots)
        robot, info = _described(dialect, told)
        policy = ForeignPolicy(path, process, info, robot, told)
        policy.clocked = _check_ports(path, graph, info)
        if policy.clocked:
            _check_clock(policy)
    except BaseException:
        process.end()
        raise
    return policy


def _described(dialect: Dialect, told: Told) -> tuple[Robot, ForeignInfo]:
    """Return the robot with the file's numbers, and the description of the policy for it."""
    robot = replace(told.robot, stiffness=told.stiffness, damping=told.damping, default_pose=told.default_pose)
    own = info_of(robot, RECIPE.name, STAGE, EnvironmentCfg(substeps=SUBSTEPS, base="default", future=False))
    values = {field.name: getattr(own, field.name) for field in fields(PolicyInfo)} | {"algo": dialect.name}
    return robot, ForeignInfo(**values, observed=tuple(dialect.flat(told.observations)))


def _check_ports(path: Path, graph: Graph, info: ForeignInfo) -> bool:
    """Check inputs and outputs against the metadata, and return whether one of them is the time step."""
    inputs, outputs = ({port.name: port for port in ports} for ports in (graph.inputs, graph.outputs))
    if OBS not in inputs or not set(inputs) <= {OBS, TIME_STEP}:
        raise ReadError(path, f"has the inputs {str([*inputs])[:200]}; expected {OBS}, or {OBS} and {TIME_STEP}")
    if ACTIONS not in outputs:
        raise ReadError(path, f"has the outputs {str([*outputs])[:200]}; expected {ACTIONS} among them")
    width = sum(term.size(info) for term in info.observed)
    _check_port(path, inputs[OBS], width, "its observation_names add up to")
    _check_port(path, outputs[ACTIONS], info.n_joints, "its joint_names are")
    if TIME_STEP in inputs:
        _check_port(path, inputs[TIME_STEP], 1, "expected")
    return TIME_STEP in inputs


def _check_port(path: Path, port: Port, width: int, why: str) -> None:
    if port.type != "tensor(float)" or len(port.shape) != 2 or (isinstance(port.shape[0], int) and port.shape[0] != 1):
        raise ReadError(
            path, f"has {port.name} of {port.type} {port.shape}; expected single precision, a row per robot"
        )
    if port.shape[1] != width:
        raise ReadError(path, f"has {port.name} of {port.shape[1]} numbers, while {why} {width}")


def _check_clock(policy: ForeignPolicy) -> None:
    """Check that the time step chooses a frame of the motion inside alone, which is not asked for."""
    nothing = np.zeros((1, len(policy._columns)))
    if not np.allclose(policy.answer(nothing), policy.answer(nothing, LATER), atol=1e-5, equal_nan=True):
        raise ReadError(
            policy.path, f"acts by its {TIME_STEP}: it follows the motion inside and cannot be asked to follow another"
        )

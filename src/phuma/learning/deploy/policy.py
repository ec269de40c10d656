"""A policy, and the description that a deployment needs to run it on a robot."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Protocol

import numpy as np

from phuma.core.rotations import Array
from phuma.errors import ConfigError
from phuma.learning.env.conditions import CONDITIONS
from phuma.learning.env.config import EnvironmentCfg
from phuma.learning.env.context import action_scale
from phuma.learning.env.observation import Observation
from phuma.learning.env.task import Task
from phuma.learning.recipes.recipe import recipe_named, recipe_names
from phuma.robots.robot import Robot
from phuma.sim.feedforward import BASES
from phuma.sim.model import CONTROL_RATE, PassiveJoints, passive_joints

LATER = ("differences", "history", "history_stride", "frames", "stride", "near", "near_stride", "far", "condition")
"""Names of settings that a description of an earlier version does not have"""
OBSERVED = ("substeps", "base", "future", *LATER)
"""Names of the environment's settings that a policy's description has, too"""


ACTION, TARGET, DEVIATION = "action", "target", "deviation"
"""Names of what a policy's file gives: an action and what it aims at, or how far the robot is from the reference"""


@dataclass(frozen=True)
class PolicyInfo:
    """The description of a policy: all that a deployment needs beside the weights; joints as in `joint_names`."""

    robot: str
    joint_names: tuple[str, ...]
    default_pose: tuple[float, ...]
    """Default joint angles in rad"""
    stiffness: tuple[float, ...]
    """Stiffness in N m/rad of the joints' controllers:  torque = stiffness (target - q) - damping q', within the
    limit"""
    damping: tuple[float, ...]
    """Damping in N m s/rad of the joints' controllers"""
    torque_limit: tuple[float, ...]
    """Torque limits in N m"""
    action_scale: tuple[float, ...]
    """Angle in rad by which an action of 1 moves a joint's target:  target = base + action_scale action"""
    base: str
    """Name of what actions are added to; one of `motions.feedforward.BASES`"""
    anchor_body: str
    """Body whose rotation is compared with the reference's"""
    key_bodies: tuple[str, ...]
    """Names of the key bodies in the order that observations of coming frames have"""
    future: bool
    """Whether the policy observes the coming motion"""
    differences: bool
    """Whether the policy observes how far it is from the reference now"""
    history: int
    """Control steps of its past that the policy observes; 1 where it observes the present alone"""
    history_stride: int
    """Control steps between them, where its recipe leaves that open"""
    frames: int
    """Coming frames that the policy observes, where its recipe leaves that open"""
    stride: int
    """Control steps between them"""
    near: int
    """Near frames of which a masked policy is told"""
    near_stride: int
    """Control steps between them"""
    far: int
    """Control steps from the coming frame to the far one of which a masked policy is told"""
    condition: str
    """What a masked policy is told of the coming frames: one of `env.conditions.CONDITIONS`"""
    substeps: int
    """Physics steps per control step in training"""
    algo: str
    """Name of the recipe that it was trained by"""
    stage: str
    """Name of the recipe's stage"""
    data: Mapping[str, Any] = field(default_factory=dict)
    """Facts about the data it was trained on: plain values, with an `id`"""
    phuma: str = ""
    """Version of phuma that trained it"""
    steps: int = 0
    """Environment steps that it was trained for"""
    control_rate: float = CONTROL_RATE
    """Control rate in Hz"""
    armature: tuple[float, ...] = ()
    """Inertia in kg m^2 of the rotors, seen at the joints, of the training model; empty where a file does not tell"""
    friction_loss: tuple[float, ...] = ()
    """Dry friction in N m of the joints of that model; empty where a file does not tell"""
    passive_damping: tuple[float, ...] = ()
    """Damping in N m s/rad of the joints of that model, beside the controllers'; empty where a file does not tell"""

    @property
    def n_joints(self) -> int:
        return len(self.joint_names)

    @property
    def task(self) -> Task:
        """Return the task without what only learning needs."""
        cfg = EnvironmentCfg(**{name: getattr(self, name) for name in OBSERVED})
        return recipe_named(self.algo).task(self.stage, cfg).acting

    @property
    def based(self) -> bool:
        """Return whether actions are added to a base that a deployment has to give."""
        return self.base != "default" and not self.task.lawful

    @property
    def outputs(self) -> dict[str, tuple[int, ...]]:
        """Return the shapes of the outputs by their names; the first is the action."""
        if self.task.lawful:
            return {DEVIATION: (self.task.actions(self),)}
        return {ACTION: (self.n_joints,), TARGET: (self.n_joints,)}

    @property
    def inputs(self) -> list[dict[str, Any]]:
        """Return the inputs: what the policy observes and, where it needs it, what its actions are added to; each with
        name, shape and parts."""
        out = [group.described(self) for group in self.task.actor]
        if self.based:
            part = {"name": "base", "size": self.n_joints, "about": f"rad: {BASES[self.base].about}"}
            out.append({"name": "base", "shape": [self.n_joints], "parts": [part]})
        return out

    def check(self, robot: Robot) -> None:
        """Check that this robot is the one the policy was made for; the error names all that differs."""
        robot = self.task.tracked(robot)
        for name, own, theirs in (
            ("joints", self.joint_names, robot.joint_names),
            ("key bodies", self.key_bodies, robot.key_bodies),
            ("anchor body", (self.anchor_body,), (robot.anchor_body,)),
        ):
            if tuple(own) != tuple(theirs):
                odd = [n for n in theirs if n not in own] or [n for n in own if n not in theirs] or ["their order"]
                raise ConfigError(
                    f"the policy is of robot {self.robot} and does not fit {robot.name}: other {name}, for example "
                    f"{odd[0]}; give the dataset and the robot it was trained for"
                )
        for name, values in numbers_of(robot, self.base).items():
            if not np.allclose(getattr(self, name), values, rtol=1e-4, atol=1e-6):
                joint = int(np.argmax(~np.isclose(getattr(self, name), values, rtol=1e-4, atol=1e-6)))
                raise ConfigError(
                    f"the policy was trained for another {self.robot}: {name} of {self.joint_names[joint]} was "
                    f"{getattr(self, name)[joint]:g}, is {values[joint]:g}"
                )

    def as_plain(self) -> dict[str, Any]:
        """Return the description in values that are valid JSON."""
        return asdict(self)


def info_from_plain(values: Mapping[str, Any]) -> PolicyInfo:
    """Return the description from what `as_plain` gave; raises KeyError, TypeError or ValueError where it cannot be."""
    given: dict[str, Any] = {}
    unsaid = EnvironmentCfg(history=1, differences=False)
    before = {name: getattr(unsaid, name) for name in LATER} | dict.fromkeys(PassiveJoints._fields, ())
    values = before | dict(values)
    for f in fields(PolicyInfo):
        value = values[f.name]
        given[f.name] = tuple(value) if isinstance(value, list) else value
    info = PolicyInfo(**given)
    names = (info.robot, info.algo, info.stage, info.anchor_body, info.phuma, *info.joint_names, *info.key_bodies)
    if not all(isinstance(name, str) and name.isprintable() for name in names) or not all(
        isinstance(flag, bool) for flag in (info.future, info.differences)
    ):
        raise ValueError("names have to be texts that can be printed, and future and differences true or false")
    if not isinstance(info.data, dict):
        raise ValueError(f"data is {type(info.data).__name__}; expected an object")
    if info.algo not in recipe_names():
        raise ValueError(f"algo is {info.algo!r}; there are: {', '.join(recipe_names())}")
    if info.stage not in (stages := recipe_named(info.algo).stages):
        raise ValueError(f"stage is {info.stage!r}; {info.algo} has: {', '.join(stages)}")
    if info.base not in BASES:
        raise ValueError(f"base is {info.base!r}; there are: {', '.join(BASES)}")
    for name in ("default_pose", "stiffness", "damping", "torque_limit", "action_scale"):
        numbers = np.array(getattr(info, name), dtype=float)
        if numbers.shape != (len(info.joint_names),) or not np.isfinite(numbers).all():
            raise ValueError(f"{name} has {numbers.size} values; {len(info.joint_names)} finite ones are needed")
    for name in PassiveJoints._fields:
        numbers = np.array(getattr(info, name), dtype=float)
        if numbers.shape not in ((0,), (info.n_joints,)) or not (np.isfinite(numbers) & (numbers >= 0)).all():
            raise ValueError(f"{name} has {numbers.size} values; {info.n_joints} are needed, finite and not below 0")
    if info.control_rate != CONTROL_RATE:
        raise ValueError(f"control_rate is {info.control_rate!r}; {CONTROL_RATE:g} Hz are known here")
    if not isinstance(info.steps, int) or info.steps < 0:
        raise ValueError(f"steps is {info.steps!r}; expected a whole number, 0 or more")
    if info.condition not in CONDITIONS:
        raise ValueError(f"condition is {info.condition!r}; there are: {', '.join(CONDITIONS)}")
    for name in ("substeps", "history", *(name for name in LATER[2:] if name != "condition")):
        if not isinstance(number := getattr(info, name), int) or not 1 <= number <= 100:
            raise ValueError(f"{name} is {number!r}; expected a whole number from 1 to 100")
    return info


def numbers_of(robot: Robot, base: str) -> dict[str, Array]:
    """Return (N,) arrays by the names of the per-joint fields of `PolicyInfo`, for actions that are added to a base."""
    names = ("default_pose", "stiffness", "damping", "torque_limit")
    return {name: getattr(robot, name) for name in names} | {"action_scale": action_scale(robot, base)}


def info_of(
    robot: Robot, algo: str, stage: str, cfg: EnvironmentCfg, data: Mapping[str, Any] | None = None, phuma: str = ""
) -> PolicyInfo:
    """Return the description of a policy that is trained with these settings for this robot."""
    robot = recipe_named(algo).task(stage, cfg).tracked(robot)
    values = numbers_of(robot, cfg.base) | passive_joints(robot)._asdict()
    numbers: dict[str, Any] = {name: tuple(float(v) for v in own) for name, own in values.items()}
    numbers |= {name: getattr(cfg, name) for name in OBSERVED}
    return PolicyInfo(
        robot=robot.name,
        joint_names=robot.joint_names,
        anchor_body=robot.anchor_body,
        key_bodies=robot.key_bodies,
        algo=algo,
        stage=stage,
        data=dict(data or {}),
        phuma=phuma,
        **numbers,
    )


class Policy(Protocol):
    """A policy acts on what is observed."""

    info: PolicyInfo

    def act(self, observation: Observation, features: Mapping[str, Array]) -> Array:
        """Return (E, N) actions; the observation's coming frames are rows of `features`."""

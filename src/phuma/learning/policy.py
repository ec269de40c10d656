"""A policy: what acts, and what has to be known to let it act on a robot."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Protocol

import numpy as np

from phuma.errors import ConfigError
from phuma.learning.config import LearnCfg
from phuma.learning.groups import Group, Part, future_group, goal_group, proprioception_group
from phuma.learning.simulation.model import CONTROL_RATE
from phuma.learning.task import Observation, action_scale
from phuma.robots.robot import Robot
from phuma.rotations import Array

BASES_ABOUT = {
    "default": "the default pose, whatever the motion",
    "reference": "the reference's joint positions, mean of the coming frame and the one before it",
    "feedforward": "q + (tau + damping q') / stiffness of the reference, with tau by inverse dynamics, mean of the "
    "coming frame and the one before it",
}
"""What each of `feedforward.BASES` is, in words"""


@dataclass(frozen=True)
class PolicyInfo:
    """All that a deployment needs beside the weights; numbers a joint in the order of `joint_names`."""

    robot: str
    joint_names: tuple[str, ...]
    default_pose: tuple[float, ...]
    """rad"""
    stiffness: tuple[float, ...]
    """N m/rad of the joints' controllers:  torque = stiffness (target - q) - damping q', within the limit"""
    damping: tuple[float, ...]
    """N m s/rad"""
    torque_limit: tuple[float, ...]
    """N m"""
    action_scale: tuple[float, ...]
    """rad an action of 1 moves a joint's target by:  target = base + action_scale action"""
    base: str
    """One of `BASES_ABOUT`"""
    anchor_body: str
    """Whose rotation is compared with the reference's"""
    key_bodies: tuple[str, ...]
    """Order of the bodies in the future's frames"""
    future: bool
    """Whether it sees the coming motion"""
    substeps: int
    """Physics steps a control step while it learned"""
    algo: str
    data: Mapping[str, Any] = field(default_factory=dict)
    """What it learned from: plain values, with an `id`"""
    phuma: str = ""
    """Version that trained it"""
    steps: int = 0
    """of environments that it learned for"""
    control_rate: float = CONTROL_RATE
    """Hz"""

    @property
    def groups(self) -> tuple[Group, ...]:
        """What it sees, and where it needs it, what its actions are added to."""
        out = [proprioception_group(len(self.joint_names)), goal_group(len(self.joint_names), self.anchor_body)]
        if self.future:
            out.append(future_group(len(self.joint_names), len(self.key_bodies)))
        if self.base != "default":
            out.append(Group("base", (Part("base", len(self.joint_names), f"rad: {BASES_ABOUT[self.base]}"),)))
        return tuple(out)

    def check(self, robot: Robot) -> None:
        """That this robot is the one the policy was made for; all that differs is told."""
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
        for name, values in numbers_of(robot).items():
            if not np.allclose(getattr(self, name), values, rtol=1e-4, atol=1e-6):
                joint = int(np.argmax(~np.isclose(getattr(self, name), values, rtol=1e-4, atol=1e-6)))
                raise ConfigError(
                    f"the policy was trained for another {self.robot}: {name} of {self.joint_names[joint]} was "
                    f"{getattr(self, name)[joint]:g}, is {values[joint]:g}"
                )

    def as_plain(self) -> dict[str, Any]:
        """Values that are valid JSON."""
        return asdict(self)


def info_from_plain(values: Mapping[str, Any]) -> PolicyInfo:
    """What `as_plain` gave; raises KeyError, TypeError or ValueError where it cannot be."""
    given: dict[str, Any] = {}
    for f in fields(PolicyInfo):
        value = values[f.name]
        given[f.name] = tuple(value) if isinstance(value, list) else value
    info = PolicyInfo(**given)
    names = (info.robot, info.algo, info.anchor_body, info.phuma, *info.joint_names, *info.key_bodies)
    if not all(isinstance(name, str) and name.isprintable() for name in names) or not isinstance(info.future, bool):
        raise ValueError("names have to be texts that can be printed, and future true or false")
    if not isinstance(info.data, dict):
        raise ValueError(f"data is {type(info.data).__name__}; expected an object")
    if info.base not in BASES_ABOUT:
        raise ValueError(f"base is {info.base!r}; there are: {', '.join(BASES_ABOUT)}")
    for name in ("default_pose", "stiffness", "damping", "torque_limit", "action_scale"):
        numbers = np.array(getattr(info, name), dtype=float)
        if numbers.shape != (len(info.joint_names),) or not np.isfinite(numbers).all():
            raise ValueError(f"{name} has {numbers.size} values; {len(info.joint_names)} finite ones are needed")
    if info.control_rate != CONTROL_RATE:
        raise ValueError(f"control_rate is {info.control_rate!r}; {CONTROL_RATE:g} Hz are known here")
    if not isinstance(info.steps, int) or info.steps < 0:
        raise ValueError(f"steps is {info.steps!r}; expected a whole number, 0 or more")
    if not isinstance(info.substeps, int) or not 1 <= info.substeps <= 100:
        raise ValueError(f"substeps is {info.substeps!r}; expected a whole number from 1 to 100")
    return info


def numbers_of(robot: Robot) -> dict[str, Array]:
    """(N,) each, by the names of `PolicyInfo`."""
    names = ("default_pose", "stiffness", "damping", "torque_limit")
    return {name: getattr(robot, name) for name in names} | {"action_scale": action_scale(robot)}


def info_of(robot: Robot, cfg: LearnCfg, data: Mapping[str, Any] | None = None, phuma: str = "") -> PolicyInfo:
    """Of a policy that is learned so for this robot."""
    numbers: dict[str, Any] = {name: tuple(float(v) for v in values) for name, values in numbers_of(robot).items()}
    return PolicyInfo(
        robot=robot.name,
        joint_names=robot.joint_names,
        base=cfg.base,
        anchor_body=robot.anchor_body,
        key_bodies=robot.key_bodies,
        future=cfg.future,
        substeps=cfg.substeps,
        algo=cfg.algo,
        data=dict(data or {}),
        phuma=phuma,
        **numbers,
    )


class Policy(Protocol):
    """What acts."""

    info: PolicyInfo

    @property
    def base(self) -> str:
        """What its actions are added to: one of `feedforward.BASES`"""

    def act(self, observation: Observation, features: Array) -> Array:
        """(E, N) actions; the observation's future is rows of `features`."""

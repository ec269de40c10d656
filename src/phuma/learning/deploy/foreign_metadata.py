"""Read what the metadata of a stranger's policy tells of its joints, gains and observations."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from phuma.core.rotations import Array
from phuma.errors import ReadError
from phuma.learning.deploy.dialects.dialect import Dialect
from phuma.learning.env.context import action_scale
from phuma.robots.robot import Indices, Robot

NUMBERS = ("default_pose", "stiffness", "damping", "action_scale")
ROUNDED = 1e-3
"""By how much a number may differ from ours, absolutely and relatively, and still count as the same: exporters write
three digits"""


LEAST, MOST = 1e-6, 1e6
"""Range of numbers that a motor may have, in their units"""


class Told(NamedTuple):
    """What a file tells; numbers are in the robot's order of joints."""

    robot: Robot
    """The robot as we have it"""
    joints: Indices
    """(N,) the file's joints by their numbers in the robot's order"""
    observations: tuple[str, ...]
    default_pose: Array
    stiffness: Array
    damping: Array
    action_scale: Array

    @property
    def differences(self) -> list[dict[str, Any]]:
        """Return, of each kind of numbers that is not as ours, the joint whose differs most, with both values."""
        ours = {name: getattr(self.robot, name) for name in NUMBERS[:-1]} | {"action_scale": action_scale(self.robot)}
        out = []
        for name in NUMBERS:
            theirs, own = getattr(self, name), ours[name]
            if not np.allclose(theirs, own, rtol=ROUNDED, atol=ROUNDED):
                worst = int(np.argmax(np.abs(theirs - own)))
                joint = self.robot.joint_names[worst]
                out.append({"name": name, "joint": joint, "theirs": float(theirs[worst]), "ours": float(own[worst])})
        return out


def told_by(path: Path, texts: Mapping[str, str], dialect: Dialect, robots: Sequence[Robot]) -> Told:
    """Return what a file's metadata tells, for that of the robots that has its joints."""
    names = _cells(path, texts, dialect, "joint_names")
    robot = _robot(path, names, robots)
    joints = robot.joint_index(names)
    numbers = {name: _numbers(path, texts, dialect, name, robot, joints) for name in NUMBERS}
    for name, least in (("stiffness", LEAST), ("damping", 0.0)):
        _check_range(path, dialect.keys[name], numbers[name], least)
    _check_range(path, dialect.keys["action_scale"], np.abs(numbers["action_scale"]), LEAST)
    told = "observations" in dialect.keys
    observations = tuple(_cells(path, texts, dialect, "observations")) if told else dialect.observed
    _check_terms(path, texts, dialect, observations)
    _check_anchor(path, texts, dialect, robot)
    return Told(robot, joints, observations, **numbers)


def _text(path: Path, texts: Mapping[str, str], dialect: Dialect, name: str) -> str:
    key = dialect.keys[name]
    if key not in texts:
        raise ReadError(path, f"has no {key!r} in its metadata, which {dialect.name}'s exporter attaches")
    return texts[key]


def _cells(path: Path, texts: Mapping[str, str], dialect: Dialect, name: str) -> list[Any]:
    cells = dialect.texts.read(_text(path, texts, dialect, name), path)
    if name in ("joint_names", "observations") and not all(isinstance(c, str) and c.isprintable() for c in cells):
        raise ReadError(path, f"has {dialect.keys[name]} that are no names")
    return cells


def _robot(path: Path, names: Sequence[str], robots: Sequence[Robot]) -> Robot:
    for robot in robots:
        if sorted(names) == sorted(robot.joint_names):
            return robot
    nearest = max(robots, key=lambda robot: len(set(names) & set(robot.joint_names)))
    odd = sorted(set(names) ^ set(nearest.joint_names)) or ["a name that comes twice"]
    known = ", ".join(robot.name for robot in robots)
    raise ReadError(
        path,
        f"has {len(names)} joints that are not those of {known}, for example {odd[0][:80]}; if it is of another robot, "
        "give its folder by --robot",
    )


def _numbers(path: Path, texts: Mapping[str, str], dialect: Dialect, name: str, robot: Robot, joints: Indices) -> Array:
    """Return (N,) numbers in the robot's order; where the dialect does not tell the default pose, it is the robot's."""
    if name not in dialect.keys:
        return robot.default_pose
    key, cells = dialect.keys[name], _cells(path, texts, dialect, name)
    if name == "action_scale" and len(cells) == 1:
        cells = cells * robot.n_joints
    try:
        values = np.array([float(cell) for cell in cells])
    except (TypeError, ValueError, OverflowError):
        raise ReadError(path, f"has a {key} that is not all numbers") from None
    if values.shape != (robot.n_joints,) or not np.isfinite(values).all():
        raise ReadError(path, f"has {len(cells)} values of {key}; {robot.n_joints} finite ones are needed, one a joint")
    return values[np.argsort(joints)]


def _check_range(path: Path, key: str, values: Array, least: float) -> None:
    wrong = (values < least) | (values > MOST)
    if wrong.any():
        raise ReadError(path, f"has {key} {values[wrong][0]:g}, which no motor has; expected {least:g} to {MOST:g}")


def _check_terms(path: Path, texts: Mapping[str, str], dialect: Dialect, names: Sequence[str]) -> None:
    """Check that what is observed is known, each once and without a history, a scale or a clip."""
    for name in names:
        if name not in dialect.terms:
            raise ReadError(path, f"observes {name[:80]!r}; known here: {', '.join(dialect.terms)}")
    if len(set(names)) != len(names):
        raise ReadError(path, f"observes the same twice: {', '.join(names)}")
    for key, plain in dialect.plain_terms.items():
        if key not in texts:
            continue  # earlier versions of the exporter do not tell
        for name, cell in zip(names, dialect.texts.read(texts[key], path)):
            if not _is_plain(str(cell), plain):
                raise ReadError(path, f"has {key} {str(cell)[:40]!r} of {name}; only {plain!r} is known here")


def _is_plain(cell: str, plain: Any) -> bool:
    """Tell whether a text says a number, or a pair of numbers."""
    expected = plain if isinstance(plain, tuple) else (plain,)
    try:
        found = [float(part) for part in cell.split(";")]
    except ValueError:
        return False
    return len(found) == len(expected) and all(math.isclose(a, float(b)) for a, b in zip(found, expected))


def _check_anchor(path: Path, texts: Mapping[str, str], dialect: Dialect, robot: Robot) -> None:
    key = dialect.keys.get("anchor_body", "")
    if key in texts and (name := texts[key].strip()) != robot.anchor_body:
        raise ReadError(
            path,
            f"has the {key} {name[:80]!r}; here {robot.name} is compared with its reference by {robot.anchor_body}",
        )

"""The mapping `robot.json` holds what the MJCF does not say. Its specification is docs/formats/robot.md."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from reprlib import repr as shortened
from typing import Any

import numpy as np

from phuma.core.rotations import Array
from phuma.errors import ReadError
from phuma.io.json_file import read_json

FORMAT = 1
MAX_BYTES = 4 << 20
LARGEST = 10.0  # m: no part of a robot is farther from the next
REQUIRED = (
    "velocity_limit",
    "default_pose",
    "default_height",
    "shared_pose",
    "keypoints",
    "soles",
    "anchor_body",
    "key_bodies",
)
OPTIONAL = ("format", "title", "source", "comment", "torque_limit", "armature", "stiffness", "damping", "subsets")


class Mapped:
    """This is a parsed `robot.json` together with the names that its model has; every fault names the element."""

    def __init__(self, path: Path, joint_names: Sequence[str], body_names: Sequence[str]) -> None:
        self.path = path
        self.joint_names = tuple(joint_names)
        self.body_names = tuple(body_names)
        self.data = _parse(path)
        version = self.data.get("format", FORMAT)
        if version != FORMAT:
            raise ReadError(path, f"format is {shortened(version)}; this version of phuma reads format {FORMAT}")
        for key in REQUIRED:
            if key not in self.data:
                raise ReadError(path, f"{key!r} is missing; a mapping needs {', '.join(REQUIRED)}")
        for key in self.data:
            if key not in REQUIRED + OPTIONAL:
                raise ReadError(path, f"{key!r} is not known; valid are {', '.join(REQUIRED + OPTIONAL)}")

    def fault(self, problem: str) -> ReadError:
        """Return an error about this file."""
        return ReadError(self.path, problem)

    def joints_like(self, pattern: str, where: str) -> list[int]:
        """Return the indices of the joints that a name, or a pattern with `*`, means."""
        hits = [i for i, name in enumerate(self.joint_names) if fnmatchcase(name, pattern)]
        if not hits:
            valid = ", ".join(self.joint_names)
            raise self.fault(f"{where}: the model has no joint {pattern!r}; it has: {valid}")
        return hits

    def joint_values(self, key: str, default: float | None = None) -> Array:
        """Return values (N,) of a table from joint (or pattern) to number.

        Joints left out get `default`; without one they are a fault.
        """
        out = np.full(len(self.joint_names), np.nan)
        for pattern, value in self.table(key).items():
            hits = self.joints_like(pattern, key)
            twice = [self.joint_names[i] for i in hits if not np.isnan(out[i])]
            if twice:
                raise self.fault(f"{key}: {twice[0]} is given twice, the second time by {pattern!r}")
            out[hits] = self.number(value, f"{key}: {pattern}")
        missing = [n for n, v in zip(self.joint_names, out) if np.isnan(v)]
        if missing and default is None:
            raise self.fault(f"{key} has no value for {', '.join(missing)}; give every joint one")
        return np.where(np.isnan(out), 0.0 if default is None else default, out)

    def table(self, key: str) -> Mapping[str, Any]:
        """Return the object under `key`, which is empty where it is missing."""
        value = self.data.get(key, {})
        if not isinstance(value, dict):
            raise self.fault(f"{key} is {type(value).__name__}; expected an object of name and value")
        return value

    def names(self, key: str) -> list[str]:
        """Return the list of names under `key`, which is empty where it is missing."""
        value = self.data.get(key, [])
        if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
            raise self.fault(f"{key} is {shortened(value)}; expected a list of names")
        if twice := [name for name, count in Counter(value).items() if count > 1]:
            raise self.fault(f"{key} names {twice[0]!r} twice")
        return value

    def number(self, value: Any, where: str) -> float:
        """Return a value as a finite number."""
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not np.isfinite(value):
            raise self.fault(f"{where} is {shortened(value)}; expected a finite number")
        return float(value)

    def points(self, value: Any, where: str, shape: tuple[int, ...]) -> Array:
        """Return an array of points [m] of the shape given."""
        wanted = f"{where} is {shortened(value)}; expected numbers in lists of shape {shape}"
        try:
            out = np.array(value, dtype=np.float64)
        except (TypeError, ValueError):
            raise self.fault(wanted) from None
        if out.shape != shape or not np.isfinite(out).all():
            raise self.fault(wanted)
        if (far := float(np.abs(out).max(initial=0.0))) > LARGEST:
            raise self.fault(f"{where} is {far:,.4g} m away; expected metres, at most {LARGEST:g}")
        return out

    def body(self, name: Any, where: str) -> int:
        """Return the index of a body by its name."""
        if name not in self.body_names:
            raise self.fault(f"{where}: the model has no body {name!r}; it has: {', '.join(self.body_names)}")
        return self.body_names.index(name)

    def part(self, key: str, name: str, needed: Sequence[str], optional: Sequence[str] = ()) -> Mapping[str, Any]:
        """Return one entry of a table of objects, such as the keypoint `left_hip` or the sole `right`."""
        table = self.table(key)
        if name not in table:
            raise self.fault(f"{key} has no {name!r}; it has: {', '.join(table) or 'nothing'}")
        entry = table[name]
        valid = (*needed, *optional)
        if not isinstance(entry, dict) or not set(needed) <= set(entry) <= set(valid):
            found = ", ".join(entry) if isinstance(entry, dict) else shortened(entry)
            raise self.fault(f"{key}: {name} holds {found}; it needs {', '.join(valid)}")
        return entry


def _parse(path: Path) -> dict[str, Any]:
    if not path.exists():
        raise ReadError(path, "does not exist. A robot is a folder with model.xml and robot.json")
    data = read_json(path, MAX_BYTES)
    if not isinstance(data, dict):
        raise ReadError(path, f"holds {type(data).__name__}; expected an object")
    return data

"""What the functions of the package take: robots by name or as loaded, datasets by folder or opened."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from phuma.dataset.dataset import Dataset
from phuma.errors import ConfigError
from phuma.robots import Robot, spec_of

AnyPath = str | os.PathLike[str]
AnyRobot = str | Path | Robot


def robot_spec(robot: AnyRobot) -> str:
    """Return what names a robot: for a loaded one its name, or its folder."""
    return spec_of(robot) if isinstance(robot, Robot) else str(robot)


def robot_specs(robots: AnyRobot | Iterable[AnyRobot] | None) -> tuple[str, ...]:
    """Return what names robots, of which one may be given by itself."""
    if robots is None:
        return ()
    return tuple(map(robot_spec, [robots] if isinstance(robots, (str, Path, Robot)) else robots))


def several(values: Any) -> list[Any]:
    """Return what was given as a list: one text, path, motion or dataset is one value, other sequences are several."""
    return list(values) if isinstance(values, Sequence) and not isinstance(values, (str, bytes)) else [values]


def is_dataset(source: Any) -> bool:
    """Return whether something is a dataset, or the folder of one."""
    return isinstance(source, Dataset) or (
        isinstance(source, (str, os.PathLike)) and (Path(source) / "dataset.json").is_file()
    )


def chosen(dataset: AnyPath | Dataset, where: str | None = None) -> tuple[Path, str | None]:
    """Return a dataset's folder, and the condition under which its clips are meant: its own, and one more."""
    if not isinstance(dataset, Dataset):
        return Path(dataset), where
    conditions = [f"({own}\n)" for own in (dataset.condition, where) if own]
    return dataset.root, " AND ".join(conditions) or None


def only_known(given: dict[str, Any], known: Iterable[str], command: str) -> None:
    """Raise a ConfigError for options that a command does not have."""
    if unknown := sorted(set(given) - set(known)):
        raise ConfigError(f"phuma.{command} has no option {unknown[0]!r}; it has {', '.join(sorted(known))}")

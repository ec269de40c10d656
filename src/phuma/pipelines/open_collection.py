"""Open what the viewer shows: a dataset with its robots, or any number of files."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from phuma.curation import CurateCfg
from phuma.dataset.describe import load_description
from phuma.dataset.layout import Layout
from phuma.errors import ConfigError
from phuma.pipelines.collections import DatasetCollection, FileCollection
from phuma.robots import Robot, is_built_in, load_robot
from phuma.sources import ReadCfg
from phuma.viewer.session import Collection


def collection_of(
    sources: Sequence[Path],
    robots: Sequence[str],
    read_cfg: ReadCfg,
    curate_cfg: CurateCfg | None = None,
    certify: bool = False,
    review: Path | None = None,
) -> Collection:
    """Return the collection of one dataset, or of any number of files."""
    folders = [path for path in sources if path.is_dir()]
    if not folders:
        if review is not None:
            raise ConfigError("--review is of the clips of a dataset; these are files")
        from phuma.pipelines.scene_building import DEFAULT_ROBOT

        print(f"reading {len(sources)} file{'s' if len(sources) > 1 else ''} ...", file=sys.stderr)
        models = [load_robot(name) for name in robots or [DEFAULT_ROBOT]]
        return FileCollection(sources, models, read_cfg, curate_cfg, certify)
    root = folders[0]
    if len(sources) > 1:
        raise ConfigError("one dataset at a time, or any number of files")
    if (root / "run.json").is_file():
        raise ConfigError(f"{root} is a training run: watch its policy by `phuma play {root} DATASET`")
    if not Layout(root).description.is_file():
        raise ConfigError(f"{root} is no dataset: build one by `phuma build {root} --out DATASET`, or name its files")
    return DatasetCollection(root, robots_of(root, robots), certify=certify, review=review)


def robots_of(root: Path, more: Sequence[str]) -> list[Robot]:
    """Return the robots of a dataset, and more; `more` has to name the folders of those that are not built in."""
    given = {robot.name: robot for robot in map(load_robot, more)}
    own = load_description(root).robots
    for name in own:
        if name not in given and not is_built_in(name):
            raise ConfigError(f"{root} is a dataset of {name}, which is not built in: give its folder by --robot")
    return [given.pop(name) if name in given else load_robot(name) for name in own] + list(given.values())

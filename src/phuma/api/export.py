"""Write robot motions in the layouts of other tools: `phuma export` as a function."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from phuma.api.sources import AnyPath, AnyRobot, chosen, robot_specs
from phuma.dataset.dataset import Dataset
from phuma.dataset.export import Selection
from phuma.errors import ConfigError
from phuma.pipelines.export import chosen_layouts, export_motions


def export(
    source: AnyPath | Dataset,
    out: AnyPath,
    format: str,
    *,
    where: str | None = None,
    split: str | None = None,
    robot: AnyRobot | Sequence[AnyRobot] | None = None,
    certified: bool = False,
    jobs: int | None = None,
) -> dict[str, Any]:
    """Write the kept clips of a dataset, or of a part of one, or motions of a file or folder, in a layout that others
    read: mjlab, lerobot, locomujoco, protomotions, csv and more. Returns what out/export.json holds.

    >>> made = phuma.export("g1", "g1_csv", format="csv", where="category = 'walk'")
    >>> made["files"][0]["file"]
    'g1/recordings-walk-a3dd7ca002/recordings-walk-a3dd7ca002_0_0000000.csv'
    """
    if split not in (None, "train", "test"):
        raise ConfigError(f"split {split!r}; expected train or test")
    (layout,) = chosen_layouts([format])
    root, where = chosen(source, where)
    return export_motions(root, Path(out), layout, Selection(where, split, robot_specs(robot), certified), jobs)

"""A small dataset for two robots: kept and rejected clips, both splits, a name that is no good for a terminal, and a
recording that cannot be read. Built once, copied by whoever spoils it."""

import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import Any

from phuma.curation import CurateCfg
from phuma.dataset.manifest import write_manifest
from phuma.dataset.split import split_of
from phuma.pipelines.build_dataset import BuildCfg, WorkCfg, build_dataset
from phuma.runtime.process_pool import Done
from phuma.sources import amass_smplx
from phuma.synth import FAULTS, generate
from tests.made_once import made_once

ROBOTS = ("g1", "h1_2")
ODD = "squat \x1b[31mé.npz"


@made_once
def built(base: Path) -> Path:
    """The dataset, somewhere below `base`. Nobody writes to it."""
    sources = base / "tiny" / "lab"
    other = base / "tiny" / "field"
    for folder in (sources, other):
        folder.mkdir(parents=True)
    in_test = next(name for n in count() if split_of(name := f"walk_{n}.npz") == "test")
    amass_smplx.write(sources / in_test, generate("walk", 5.0, 0).motion)
    amass_smplx.write(sources / ODD, generate("squat", 5.0, 1).motion)
    amass_smplx.write(other / "stand.npz", generate("stand", 5.0, 2).motion)
    floating = FAULTS["float"].apply(generate("walk", 5.0, 5).motion, 10.0, 5)
    amass_smplx.write(other / "floating.npz", floating)
    (other / "broken.bvh").write_text("HIERARCHY\nnothing")
    out = base / "tiny" / "dataset"
    build_dataset([sources, other], out, BuildCfg(ROBOTS, curate=CurateCfg(preset="paper")), WorkCfg(jobs=1).runner())
    return out


@made_once
def least(base: Path) -> Path:
    """A dataset of one robot with one kept clip, a rejected one and a recording that failed. Nobody writes to it."""
    sources = base / "least" / "lab"
    sources.mkdir(parents=True)
    amass_smplx.write(sources / "stand.npz", generate("stand", 1.5, 0).motion)
    amass_smplx.write(sources / "float.npz", FAULTS["float"].apply(generate("reach", 1.5, 1).motion, 20.0, 1))
    (sources / "broken.bvh").write_text("HIERARCHY\nnothing")
    out = base / "least" / "dataset"
    build_dataset([sources], out, BuildCfg(ROBOTS[:1], method="ik", curate=CurateCfg(preset="paper")), here)
    return out


def here(work: Callable[[Any], Any], items: Sequence[Any]) -> Iterator[Done]:
    """A runner in this process."""
    return (Done(index, work(item), None) for index, item in enumerate(items))


def copied(dataset: Path, to: Path) -> Path:
    return Path(shutil.copytree(dataset, to))


def rows_on_disk(dataset: Path) -> list[dict[str, Any]]:
    """All rows, read from the records as anybody would: JSON, without our code."""
    return [row for file in sorted((dataset / "work").glob("*.json")) for row in json.loads(file.read_text())["rows"]]


def edit_manifest(dataset: Path, edit: Callable[[dict[str, Any]], None]) -> None:
    """Every row through `edit`; the records stay."""
    rows = rows_on_disk(dataset)
    for row in rows:
        edit(row)
    write_manifest(dataset / "manifest.parquet", rows)


def edit_rows(dataset: Path, edit: Callable[[dict[str, Any]], None]) -> None:
    """The same in the records too, so that both agree; written as anybody could, without our code."""
    for file in (dataset / "work").glob("*.json"):
        record = json.loads(file.read_text())
        for row in record["rows"]:
            edit(row)
        file.write_text(json.dumps(record))
    edit_manifest(dataset, lambda row: None)


def edit_description(dataset: Path, **values: Any) -> None:
    path = dataset / "dataset.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | values))

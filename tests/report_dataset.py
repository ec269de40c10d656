"""A dataset for reports: several filters at work, two robots, mirror images, labels, and names that want to do harm."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from phuma.curation import CurateCfg
from phuma.pipelines.build_dataset import BuildCfg, WorkCfg, build_dataset
from phuma.sources import amass_smplx
from phuma.synth import FAULTS, generate
from tests.made_once import made_once

ROBOTS = ("g1", "h1_2")
HOSTILE = "<script>alert(1)<"
"""A folder; the name of its recording goes on with `/script>`"""
RECORDING = """script><img src=x onerror="alert('2')">&é漢\n\u202e.npz"""
LABELS = {"walk": "walk", "stand": "a jump", "reach": "sit on a chair"}
"""The first is guessed so, the second is not, the third names no type"""


@made_once
def built(base: Path) -> Path:
    """The dataset, somewhere below `base`. Nobody writes to it."""
    lab, field, hostile = (base / "report" / name for name in ("lab", "field", HOSTILE))
    for folder in (lab, field, hostile):
        folder.mkdir(parents=True)
    for kind, seconds in (("walk", 5.0), ("stand", 2.0), ("reach", 2.0), ("squat", 2.0)):
        amass_smplx.write(lab / f"{kind}.npz", generate(kind, seconds, 0).motion)
    lines = [f"{kind}.npz,{text}" for kind, text in LABELS.items()]
    (lab / "labels.csv").write_text("\n".join(["file,label", *lines]))
    for fault, kind, strength in (("jitter", "walk", 40), ("float", "reach", 20), ("chair", "stand", 50)):
        spoilt = FAULTS[fault].apply(generate(kind, 2.0, 1).motion, strength, 1)
        amass_smplx.write(field / f"{kind}_{fault}.npz", spoilt)
    sliding = FAULTS["slide"].apply(generate("bend", 4.0, 40).motion, 0.6, 40)
    amass_smplx.write(hostile / RECORDING, sliding)
    for name in ("one.bvh", "<b>two.bvh"):
        (hostile / name).write_text("HIERARCHY\nnothing")
    out = base / "report" / "dataset"
    build_dataset(
        [lab, field, hostile],
        out,
        BuildCfg(ROBOTS, mirror=True, curate=CurateCfg(preset="paper")),
        WorkCfg(jobs=1).runner(),
    )
    return out


def rows_on_disk(dataset: Path) -> list[dict[str, Any]]:
    """All rows, read from the records as anybody would: JSON, without our code."""
    return [row for file in sorted((dataset / "work").glob("*.json")) for row in json.loads(file.read_text())["rows"]]

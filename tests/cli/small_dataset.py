"""A dataset small enough for a test: three sources under three licences, one clip of them rejected, both splits."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from phuma.cli.main import main
from phuma.curation import CurateCfg
from phuma.pipelines.build_dataset import BuildCfg, build_dataset
from phuma.runtime.process_pool import Done
from phuma.sources import bvh
from phuma.synth import generate
from tests.made_once import made_once


def run(capsys, *args) -> tuple[int, str, str]:
    code = main([str(a) for a in args])
    out = capsys.readouterr()
    return code, out.out, out.err


def here(work, items):
    """A runner in this process."""
    for index, item in enumerate(items):
        yield Done(index, work(item), None)


def write_sources(folder: Path) -> list[Path]:
    """Folders `generated` (free), `amass` (not to be passed on) and `people` (licence not known)."""
    for kind, source in (("walk", "generated"), ("kick", "amass")):
        assert main(["synth", "--type", kind, "--seconds", "2", "--out", str(folder / source)]) == 0
    file = next((folder / "amass").glob("*.npz"))
    arrays = {k: v for k, v in np.load(file).items() if k not in ("licence", "redistributable")}
    np.savez(file, **arrays)  # as AMASS has it: without
    (folder / "people").mkdir()
    bvh.write(folder / "people" / "walk_3.bvh", generate("walk", 5.0, 2).motion)
    bvh.write(folder / "people" / "run.bvh", generate("run", 2.0, 1).motion)
    return [folder / name for name in ("generated", "amass", "people")]


@made_once
def built(base: Path) -> Path:
    """The dataset, somewhere below `base`. Nobody writes to it."""
    out = base / "small" / "dataset"
    cfg = BuildCfg(method="physink", curate=CurateCfg(preset="paper"))
    build_dataset(write_sources(base / "small"), out, cfg, here)
    return out

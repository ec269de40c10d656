"""Files of SMPL's family for tests, and what a program does with them."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from phuma.body import open_body
from phuma.core.human_motion import HumanMotion
from phuma.io.probe import Probe
from phuma.sources import amass_smplh, amass_smplx, motionx, phuma_human
from phuma.sources.reader import ReadCfg, Reader
from tests.motions import smooth_motion

NPZ = (amass_smplx, amass_smplh)
NPY = (motionx, phuma_human)
READERS = (*NPZ, *NPY)


def name(reader: Reader) -> str:
    return reader.FORMAT


def read(reader: Reader, path: Path, cfg: ReadCfg | None = None) -> HumanMotion:
    probe = Probe(path)
    assert [r.FORMAT for r in READERS if r.recognises(probe)] == [reader.FORMAT]
    motions = reader.read(probe, cfg or ReadCfg())
    assert len(motions) == 1
    return motions[0]


def try_reading(path: Path) -> None:
    """What a program does with a file that somebody gives it."""
    probe = Probe(path)
    for reader in READERS:
        if reader.recognises(probe):
            reader.read(probe, ReadCfg())


def valid_file(reader, path: Path, frames: int = 12) -> Path:
    reader.write(path, smooth_motion(open_body(), frames=frames, fps=50.0))
    return path


def change(path: Path, **arrays) -> Path:
    """An `.npz` with some arrays replaced; None takes one out."""
    with np.load(path, allow_pickle=True) as file:
        content = {**file, **arrays}
    np.savez(path, **{k: v for k, v in content.items() if v is not None})
    return path

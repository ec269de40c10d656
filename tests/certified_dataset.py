"""A dataset in which one clip is certified, one was lost on the way, and one was never tried."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from phuma.core.rollout import Rollout
from phuma.dataset.amend import amend
from phuma.dataset.dataset import Dataset, Entry
from phuma.dataset.layout import Layout
from phuma.pipelines.build_dataset import BuildCfg, build_dataset
from phuma.pipelines.certify import Certificate, CertifyCfg
from phuma.pipelines.certify_dataset import certify_dataset, stored
from phuma.sources import amass_smplx
from phuma.synth import generate
from tests.cli.small_dataset import here
from tests.made_once import made_once

CERTIFIED, LOST, UNTRIED = "stand", "squat", "reach"
LOST_AT = 40
"""The control step at which the second was lost, of 98"""
REASON = "lost at 0.80 s of 1.98 s; <b>because</b> this test says so"


@made_once
def built(base: Path) -> Path:
    """The dataset, somewhere below `base`. Nobody writes to it."""
    source, out = base / "certified" / "lab", base / "certified" / "dataset"
    source.mkdir(parents=True)
    for kind in (CERTIFIED, LOST, UNTRIED):
        amass_smplx.write(source / f"{kind}.npz", generate(kind, 2.0, 0).motion)
    build_dataset([source], out, BuildCfg(method="physink"), here)
    certify_dataset(out, CertifyCfg("quick"), here, where=f"recording LIKE '%{CERTIFIED}%'")
    lose(out, LOST)
    return out


def lose(root: Path, kind: str) -> None:
    """Let a clip be lost on the way: its motion as it is, up to the frame where it was lost."""
    entry = entry_of(root, kind)
    path = entry.motion().resampled(50.0).frames(slice(LOST_AT))
    rollout = replace(Rollout.of(path.frames(slice(None)), motion=entry.id), terminated_at=LOST_AT)

    def work(row: Mapping[str, Any], recording: str, layout: Layout) -> dict[str, Any]:
        found = Certificate("quick", error_mm=123.4, way="regulator", reason=REASON, performance=rollout)
        return stored(found, layout, row["robot"], recording, row["clip"])

    amend(root, [(entry.id, "g1")], lambda row, root: False, work, here)


def entry_of(root: Path, kind: str) -> Entry:
    """The only clip of a kind."""
    (entry,) = Dataset(root).entries(f"recording LIKE '%{kind}%'")
    return entry

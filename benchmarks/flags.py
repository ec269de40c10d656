"""How many clips of the CMU recordings each flag is raised in, by the default method on the G1, with both presets.

PHUMA_CMU names the folder of the recordings; a number as argument takes every so-many-th clip only.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from cmu_table import CMU
from phuma.cli.scores import flag_counts
from phuma.core.robot_metrics import FIVE, ROBOT
from phuma.curation import CurateCfg
from phuma.curation.config import PRESETS
from phuma.pipelines.files_to_clips import people_in
from phuma.pipelines.retarget import retarget
from phuma.retargeting import DEFAULT_METHOD
from phuma.robots import load_robot
from tables import markdown, save

LIMITED = [metric for metric in ROBOT if metric.limit is not None]
PERFECT = 99.95
QUANTILES = {"median": 0.5, "90 %": 0.9, "99 %": 0.99, "worst": 1.0}


def reports_of(preset: str, every: int) -> list[dict[str, Any]]:
    """Return the reports of the clips that the preset keeps."""
    robot = load_robot("g1")
    files = sorted(CMU.rglob("*.bvh"))
    clips = [c for f in files for p in people_in(f, None, CurateCfg(preset=preset)) for c in p.clips if c.verdict.kept]
    return [dict(retarget(clip, robot).report) for clip in clips[::every]]


def distribution(name: str, better: str, reports: list[dict[str, Any]]) -> list[str]:
    """Return the quantiles of a metric over the clips in which it is known."""
    known = [value for r in reports if (value := r["metrics"].get(name)) is not None]
    if not known:
        return ["-"] * len(QUANTILES)
    return [f"{np.quantile(known, q if better == 'low' else 1 - q):.3g}" for q in QUANTILES.values()]


def summary(preset: str, reports: list[dict[str, Any]]) -> str:
    """Return how many clips are flagged, and how many of those that have the five metrics at 100 %."""
    perfect = [r for r in reports if all((r["metrics"].get(n) or 0.0) >= PERFECT for n in FIVE)]
    return (
        f"Preset `{preset}`: {sum(bool(r['flags']) for r in reports)} of {len(reports)} clips are flagged; of the "
        f"{len(perfect)} that have all five metrics at 100 %, {sum(bool(r['flags']) for r in perfect)} are."
    )


def main() -> None:
    if not (CMU / "labels.csv").exists():
        print(f"skipped: no CMU recordings at {CMU}; set PHUMA_CMU")
        return
    every = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    reports = {preset: reports_of(preset, every) for preset in PRESETS}
    parts = [summary(preset, found) for preset, found in reports.items()]
    for preset, found in reports.items():
        counts = flag_counts([r["flags"] for r in found])
        rows = [
            [
                f"`{m.name}`",
                m.needs(m.limit or 0.0),
                *distribution(m.name, m.better, found),
                counts.get(m.flag or m.name, 0),
            ]
            for m in LIMITED
        ]
        others = [f"{word} {n}" for word, n in counts.items() if word not in {m.flag or m.name for m in LIMITED}]
        parts += [
            f"## Preset `{preset}`, {len(found)} clips",
            markdown(["metric", "needs", *QUANTILES, "flagged"], rows),
        ]
        parts += [f"Other flags: {', '.join(others)}."] if others else []
    some = "every clip" if every == 1 else f"every {every}th clip"
    told = f"Of {some} that each preset keeps of the CMU recordings, each with its own contacts."
    save("flags", f"Flags of `{DEFAULT_METHOD}` on the G1", told, *parts)


if __name__ == "__main__":
    main()

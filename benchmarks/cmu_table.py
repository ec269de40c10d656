"""What curation keeps and rejects of the CMU recordings, by label and by filter.

Needs a folder with BVH files of the CMU motion capture database and a labels.csv (clip, expected, label, description):
PHUMA_CMU names it. Labels speak of whole recordings, verdicts of clips.
"""

from __future__ import annotations

import csv
import os
import sys
from collections import Counter, defaultdict
from pathlib import Path

from phuma.core.clip import Clip
from phuma.curation import CurateCfg, curate
from phuma.sources import read
from tables import markdown, save

CMU = Path(os.environ.get("PHUMA_CMU", Path(__file__).parents[2] / "shared" / "data" / "cmu"))
FILTERS = ("root_jerk", "contact_score", "pelvis_min", "pelvis_max", "pelvis_support", "spine_support", "duration")
Key = tuple[str, str]


def clips_by_label() -> dict[Key, list[Clip]]:
    with open(CMU / "labels.csv", newline="") as f:
        labels = list(csv.DictReader(f))
    out: dict[Key, list[Clip]] = defaultdict(list)
    for row in labels:
        motion = read(CMU / f"{row['clip']}.bvh")
        out[row["expected"], row["label"]] += curate(motion, CurateCfg(preset="paper")).clips
    return out


def row(name: str, clips: list[Clip]) -> list[object]:
    failed = Counter(m.name for c in clips for m in c.verdict.measures if not m.passed)
    kept = sum(c.verdict.kept for c in clips)
    return [name, len(clips), kept, f"{100 * kept / len(clips):.0f} %", *(failed[f] or "" for f in FILTERS)]


def kept_row(label: str, clip: Clip) -> list[object]:
    values = [f"{clip.verdict.metrics[name]:.2f}" for name in FILTERS[:6]]
    return [Path(clip.motion.provenance.source).stem, label, f"{clip.start:.1f} to {clip.end:.1f}", *values]


def main() -> None:
    if not (CMU / "labels.csv").exists():
        print(f"skipped: no CMU recordings at {CMU}; set PHUMA_CMU")
        return
    found = clips_by_label()
    head = ["", "clips", "kept", "", *FILTERS]
    rows = []
    for expected in ("feasible", "infeasible"):
        own = {label: clips for (e, label), clips in sorted(found.items()) if e == expected}
        rows += [row(label, clips) for label, clips in own.items()]
        rows.append(
            [
                f"**{c}**" if c != "" else ""
                for c in row(f"all {expected}", [c for clips in own.values() for c in clips])
            ]
        )
    alone = [c for clips in found.values() for c in clips if sum(not m.passed for m in c.verdict.measures) == 1]
    only = Counter(m.name for c in alone for m in c.verdict.measures if not m.passed)
    kept = [
        kept_row(label, clip)
        for (expected, label), clips in sorted(found.items())
        for clip in clips
        if expected == "infeasible" and clip.verdict.kept
    ]
    save(
        "cmu",
        "Curation of 117 CMU recordings",
        "Clips by label of the recording, kept by preset `paper`, and how many fail each filter (maybe several):",
        markdown(head, rows),
        "Rejected by one filter alone: " + ", ".join(f"{name} {n}" for name, n in only.most_common()) + ".",
        "Clips kept of recordings that are labelled infeasible:",
        markdown(["recording", "label", "seconds", *FILTERS[:6]], kept),
    )


if __name__ == "__main__":
    sys.exit(main())

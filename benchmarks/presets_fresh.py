"""What each preset keeps of recordings of other subjects, which nothing was tuned on.

PHUMA_CMU_FRESH names their folder, with a labels.csv as that of PHUMA_CMU; labels follow from descriptions alone. Only
totals are printed, so that the recordings stay unseen.
"""

from __future__ import annotations

import csv
import os
from collections import defaultdict
from pathlib import Path

from cmu_table import CMU
from phuma.curation import CurateCfg, curate
from phuma.runtime.process_pool import map_in_order
from phuma.sources import read
from tables import markdown, save

FRESH = Path(os.environ.get("PHUMA_CMU_FRESH", CMU.parent / "cmu_fresh"))
WAYS = {
    "paper": CurateCfg(preset="paper"),
    "dynamic, nothing mended": CurateCfg(preset="dynamic", mend=False),
    "dynamic": CurateCfg(preset="dynamic"),
}
JOBS = 2


def verdicts(name: str) -> dict[str, list[bool]]:
    """Whether each clip of a recording is kept, by preset."""
    motion = read(FRESH / f"{name}.bvh")
    return {way: [clip.verdict.kept for clip in curate(motion, cfg).clips] for way, cfg in WAYS.items()}


def main() -> None:
    if not (FRESH / "labels.csv").exists():
        print(f"skipped: no recordings at {FRESH}; set PHUMA_CMU_FRESH")
        return
    with open(FRESH / "labels.csv", newline="") as f:
        labels = list(csv.DictReader(f))
    kept: dict[str, dict[str, list[bool]]] = defaultdict(lambda: defaultdict(list))
    for row, found in zip(labels, map_in_order(verdicts, [row["clip"] for row in labels], JOBS)):
        for way, own in found.items():
            kept[row["expected"]][way] += own
            if row["expected"] == "feasible":
                kept[row["label"]][way] += own
    groups = ["feasible", "infeasible", *sorted(set(kept) - {"feasible", "infeasible"})]
    rows = [
        [group, len(kept[group]["paper"]), *(f"{100 * sum(k) / len(k):.1f}" for k in kept[group].values())]
        for group in groups
    ]
    save(
        "presets_fresh",
        "What each preset keeps of other subjects",
        f"{len(labels)} CMU recordings of subjects that nothing was tuned on, percent of clips kept. Labels are those "
        "of whole recordings, by their descriptions alone, unchecked; types are of the feasible ones.",
        markdown(["recordings", "clips", *WAYS], rows),
    )


if __name__ == "__main__":
    main()

"""What share of each fault the presets reject, put into synthetic motions and into clips of the CMU recordings.

A fault goes into what the preset keeps of it clean; a clip is cut out of its recording first and judged as a recording
of its own. A number as argument takes every so-many-th motion only. PHUMA_CMU names the folder of the recordings.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from typing import NamedTuple

import numpy as np

from cmu_table import CMU
from halves import GROUPS, motions
from phuma.core.human_motion import HumanMotion
from phuma.curation import PRESETS, CurateCfg, curate
from phuma.curation.pipeline import clip_spans
from phuma.runtime.process_pool import map_in_order
from phuma.synth import FAULTS, KINDS, generate
from presets_cmu import by_eye
from tables import markdown, save

SEEDS = range(20)
SECONDS = 4.0
JOBS = 2
SYNTHETIC = "synthetic"


class Piece(NamedTuple):
    """A motion that is one clip."""

    group: str
    motion: HumanMotion
    seed: int
    good: bool = True
    """whether it should be kept, by eye where somebody looked"""


class Outcome(NamedTuple):
    """Whether each preset keeps a piece: clean, and with each fault at each strength."""

    clean: dict[str, bool]
    faulty: dict[tuple[str, str, float], bool]
    """(preset, fault, strength) -> kept"""


def synthetic() -> list[Piece]:
    return [Piece(SYNTHETIC, generate(kind, SECONDS, seed).motion, seed) for kind in KINDS for seed in SEEDS]


def real() -> list[Piece]:
    """Every clip of the feasible recordings, with the frame rate it was recorded at."""
    cfg, seen, found = CurateCfg(), by_eye(), []
    for recording, motion in motions():
        if recording.expected == "feasible":
            spans = clip_spans(round(motion.duration * cfg.rate), cfg.rate, cfg)
            for a, b in (s for s in spans if s[1] - s[0] >= cfg.min_seconds * cfg.rate):
                verdict, _ = seen.get((recording.name, f"{a / cfg.rate:.1f}"), ("keep", ""))
                piece = motion.cut(a / cfg.rate, b / cfg.rate)
                found.append(Piece(recording.group, piece, len(found), verdict == "keep"))
    return found


def is_kept(motion: HumanMotion, preset: str) -> bool:
    return all(clip.verdict.kept for clip in curate(motion, CurateCfg(preset=preset, mend=False)).clips)


def judge(piece: Piece) -> Outcome:
    clean = {preset: is_kept(piece.motion, preset) for preset in PRESETS}
    faulty = {}
    for fault in FAULTS.values():
        for strength in fault.strengths:
            motion = fault.apply(piece.motion, strength, piece.seed)
            for preset in (p for p in PRESETS if clean[p]):
                faulty[preset, fault.name, strength] = is_kept(motion, preset)
    return Outcome(clean, faulty)


def lost(outcomes: list[Outcome], preset: str) -> str:
    count = sum(not o.clean[preset] for o in outcomes)
    return f"{count} of {len(outcomes)} ({100 * count / len(outcomes):.1f} %)"


def fault_table(outcomes: list[Outcome], preset: str) -> str:
    rows, of_level = [], defaultdict(list)
    for fault in FAULTS.values():
        row: list[object] = [f"{fault.name}, {fault.unit}"]
        for level, strength in enumerate(fault.strengths):
            kept = [o.faulty[preset, fault.name, strength] for o in outcomes if o.clean[preset]]
            of_level[level] += kept
            row.append(f"{strength:g}: {100 * (1 - np.mean(kept)):.0f} %")
        rows.append(row)
    rows.append(["**all**", *(f"**{100 * (1 - np.mean(kept)):.1f} %**" for kept in of_level.values())])
    return markdown(["fault", "slight", "plain", "gross"], rows)


def main() -> None:
    every = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    pieces = synthetic() + (real() if (CMU / "labels.csv").exists() else [])
    pieces = pieces[::every]
    outcomes = list(map_in_order(judge, pieces, JOBS))
    parts = []
    for group in (SYNTHETIC, *GROUPS):
        own = [o for p, o in zip(pieces, outcomes) if p.group == group]
        good = [o for p, o in zip(pieces, outcomes) if p.group == group and p.good]
        if not own:
            continue
        parts.append(f"## {group if group == SYNTHETIC else f'CMU, {group} subjects'}: {len(own)} motions")
        for preset in PRESETS:
            said = [f"Preset `{preset}` loses {lost(own, preset)} clean ones"]
            if len(good) < len(own):
                said.append(f"of those that are good by eye {lost(good, preset)}")
            parts.append(", ".join(said) + ":")
            parts.append(fault_table(own, preset))
    save(
        "presets_faults",
        "Faults by preset",
        "Share rejected of motions with a fault put in, of those that the preset keeps clean. Synthetic motions: "
        f"{len(SEEDS)} people of each type. CMU: all clips of recordings labelled feasible, bad recordings among them, "
        "each cut out and judged as a recording of its own; good by eye is what `benchmarks/verdicts.csv` does not "
        "call bad. Limits were tuned on the subjects called tuned and on synthetic motions; subjects called opened "
        "were looked at later, those called unseen last.",
        *parts,
    )


if __name__ == "__main__":
    main()

"""The type guessed from the motion against labels: CMU's, of which one half gave the thresholds, and synthetic ones.

Needs a folder with BVH files of the CMU motion capture database and a labels.csv (clip, expected, label, description):
PHUMA_CMU names it. Without it only the synthetic motions are measured, and no table is written.
"""

from __future__ import annotations

import csv
import hashlib
import time
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path

from cmu_table import CMU
from phuma.core.clip import Clip
from phuma.curation import curate
from phuma.dataset.category import GROUP_OF, TYPES, categorise
from phuma.dataset.labels import type_of_text
from phuma.pipelines.files_to_clips import all_kept_clips
from phuma.sources import ReadCfg
from phuma.synth import generate
from tables import markdown, save

SEEDS = range(20)
SECONDS = 4.0
HALVES = {
    "odd": "Subjects with odd numbers (looked at while thresholds were chosen)",
    "even": "Subjects with even numbers (no threshold was chosen on them)",
}


@dataclass(frozen=True)
class Guess:
    """One clip: what the recording is called, and what the clip looks like."""

    recording: str
    label: str
    plain: bool
    """the recording's description, read as words, names its label's type and no other"""
    guess: str


def half(recording: str) -> str:
    return "odd" if int(recording.split("_")[0]) % 2 else "even"


def cmu_guesses() -> tuple[list[Guess], dict[str, dict[str, str]]]:
    """Guesses of all kept clips, and the rows of labels.csv by recording; copies of a recording count once."""
    with open(CMU / "labels.csv", newline="") as f:
        rows = {row["clip"]: row for row in csv.DictReader(f)}
    seen: set[str] = set()
    once = []
    for path in (CMU / f"{name}.bvh" for name in sorted(rows)):
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        once += [str(path)] if digest not in seen else []
        seen.add(digest)
    clips, failed = all_kept_clips(once, ReadCfg())
    assert not failed, failed
    out = []
    for clip in clips:
        row = rows[Path(clip.motion.provenance.source).stem]
        plain = type_of_text(row["description"]) == row["label"]
        out.append(Guess(row["clip"], row["label"], plain, categorise(clip.motion, clip.contact)))
    return out, {Path(p).stem: rows[Path(p).stem] for p in once}


def confusion(pairs: list[tuple[str, str]]) -> str:
    """Rows: labels; columns: guesses."""
    counts = Counter(pairs)
    labels = [t for t in TYPES if any(p[0] == t for p in pairs)]
    labels += sorted({p[0] for p in pairs} - set(TYPES))
    return markdown(["label", *TYPES], [[a, *(counts[a, b] or "" for b in TYPES)] for a in labels])


def percent(hits: list[bool]) -> float:
    return 100 * sum(hits) / len(hits)


def agreement(guesses: list[Guess]) -> list[object]:
    """Percent of clips of the label's type and group, and the mean over labels of the former; in brackets what the best
    constant guess would get. Then recordings of which at least one clip is of the label's type."""
    by_label: dict[str, list[bool]] = defaultdict(list)
    by_group: dict[str, list[bool]] = defaultdict(list)
    found: dict[str, bool] = defaultdict(bool)
    for g in guesses:
        by_label[g.label].append(g.guess == g.label)
        by_group[GROUP_OF[g.label]].append(GROUP_OF[g.guess] == GROUP_OF[g.label])
        found[g.recording] |= g.guess == g.label
    n = len(guesses)
    out: list[object] = [n]
    for parts in (by_label, by_group):
        constant = 100 * max(map(len, parts.values())) / n
        mean = sum(map(percent, parts.values())) / len(parts)
        out.append(f"{percent([hit for part in parts.values() for hit in part]):.0f} ({constant:.0f})")
        out.append(f"{mean:.0f} ({100 / len(parts):.0f})")
    return [*out, f"{sum(found.values())} of {len(found)}"]


def words(rows: list[dict[str, str]]) -> list[object]:
    """How often the description's words name the label's type, another type, or none."""
    named = [(type_of_text(row["description"]), row["label"]) for row in rows if row["label"] in TYPES]
    same, none = sum(a == b for a, b in named), sum(a is None for a, _ in named)
    return [len(named), same, len(named) - same - none, none]


def synthetic() -> tuple[list[tuple[str, str]], float]:
    """(type, guess) of generated people, kept by curation or not, and milliseconds a clip."""
    clips: list[tuple[str, Clip]] = []
    for kind in TYPES:
        clips += [(kind, clip) for s in SEEDS for clip in curate(generate(kind, SECONDS, s).motion).clips]
    begin = time.process_time()
    pairs = [(kind, categorise(clip.motion, clip.contact)) for kind, clip in clips]
    return pairs, 1000 * (time.process_time() - begin) / len(clips)


def main() -> None:
    pairs, cost = synthetic()
    right = sum(a == b for a, b in pairs)
    if not (CMU / "labels.csv").exists():
        print(confusion(pairs))
        print(f"{right} of {len(pairs)}; skipped: no CMU recordings at {CMU}; set PHUMA_CMU")
        return
    guesses, rows = cmu_guesses()
    summary, tables, spoken = [], [], []
    for name, title in HALVES.items():
        own = [g for g in guesses if half(g.recording) == name]
        typed = [g for g in own if g.label in TYPES]
        summary.append([f"{name} subjects", *agreement(typed)])
        summary.append([f"{name}, description names only the label", *agreement([g for g in typed if g.plain])])
        spoken.append([f"{name} subjects", *words([r for n, r in rows.items() if half(n) == name])])
        tables += [f"{title}, clips by label and guess:", confusion([(g.label, g.guess) for g in own])]
    save(
        "categories",
        "Motion types guessed from the motion",
        "Clips of CMU recordings that curation keeps. Labels are of whole recordings: four seconds of a `kick` may be "
        "spent standing, so full agreement is neither expected nor wanted. Percent of clips whose guess is the label "
        "or of its group, and the mean of those percentages over labels or groups; in brackets what the best "
        "constant guess would get. Last column: recordings of which at least one kept clip is guessed to be of the "
        "label's type. Copies of a recording count once. Labels outside the eleven types (dance, sit, ...) are in the "
        "tables below, not in the figures:",
        markdown(["", "clips", "type", "mean of types", "group", "mean of groups", "recordings"], summary),
        *tables,
        f"Synthetic motions, {len(SEEDS)} people of each type, {SECONDS:g} s, kept by curation or not: {right} of "
        f"{len(pairs)} as generated; {cost:.1f} ms a clip, with the joints' positions.",
        confusion(pairs),
        "Recordings' descriptions read as words, against the label: names the same type, another one, or none (then "
        "the motion decides):",
        markdown(["", "recordings", "same", "another", "none"], spoken),
    )


if __name__ == "__main__":
    main()

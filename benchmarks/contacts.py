"""How well contacts are found: against the generator's truth, clean and with faults, and on the CMU recordings.

The constants of `stance` were chosen by people with even seeds and by the CMU recordings; odd seeds were held out.
PHUMA_CMU names the folder of the recordings.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from cmu_table import CMU
from halves import motions
from phuma.contacts.evidence import Evidence
from phuma.contacts.height import contacts_by_height
from phuma.contacts.stance import contacts_that_stand
from phuma.contacts.support import LOADED
from phuma.core.human_motion import HumanMotion
from phuma.core.resample import resample
from phuma.core.rotations import Array
from phuma.core.skeleton import POINTS_PER_REGION, REGIONS
from phuma.core.smoothing import smooth
from phuma.curation import CurateCfg, curate
from phuma.curation.pipeline import clip_spans
from phuma.synth import FAULTS, KINDS, Synthetic, generate
from tables import markdown, save

SECONDS = 4.0
HALVES = {"tuned": range(0, 20, 2), "held out": range(1, 20, 2)}
STRENGTHS = {"jitter": (5, 15), "drift": (2, 5), "float": (5, 10), "tilt": (3, 6), "slide": (0.1, 0.3)}
TOUCHING = 0.003
"""Height in m of a region's lowest point below which it touches the ground"""
AT_REST = 0.15  # m/s


def by_carrying(evidence: Evidence) -> Array:
    """Contacts by height where a corner of the region is slower than 1 m/s and near the floor that carries: what preset
    `dynamic` had before."""
    carrying = evidence.support.soles.carrying(evidence.support.floor)
    return contacts_by_height(evidence).mask & carrying.reshape(len(carrying), len(REGIONS), -1).any(axis=2)


FOUND: dict[str, Callable[[Evidence], Array]] = {
    "paper": lambda evidence: contacts_by_height(evidence).mask,
    "carrying": by_carrying,
    "stance": lambda evidence: contacts_that_stand(evidence).mask,
}


def evidence_of(motion: HumanMotion) -> Evidence:
    cfg = CurateCfg()
    recorded = resample(motion, cfg.rate)
    smoothed = smooth(recorded, cfg.root_cutoff, cfg.rotation_cutoff)
    return Evidence(recorded, smoothed, smoothed.sole_heights().astype(np.float32), cfg.band)


class Score(NamedTuple):
    """Percent of the samples (region, frame)."""

    precision: float
    recall: float
    touches: float

    @property
    def f1(self) -> float:
        return 2 * self.precision * self.recall / max(self.precision + self.recall, 1e-9)


def touching(person: Synthetic) -> Array:
    heights = person.motion.sole_heights() - person.ground
    return heights.reshape(len(heights), len(REGIONS), POINTS_PER_REGION).min(axis=2) < TOUCHING


def scores(people: list[Synthetic], motions: list[HumanMotion]) -> dict[str, Score]:
    """Of the contacts in `motions` against the truth of the people that they were made from, by estimator."""
    true = np.concatenate([p.contact for p in people])
    low = np.concatenate([touching(p) for p in people])
    evidence = [evidence_of(m) for m in motions]
    out = {}
    for name, find in FOUND.items():
        found = np.concatenate([find(e) for e in evidence])
        out[name] = Score(100 * true[found].mean(), 100 * found[true].mean(), 100 * low[found].mean())
    return out


def truth_table(people: dict[str, list[Synthetic]]) -> str:
    rows, all_f1 = [], {name: [] for name in FOUND}
    for kind, own in people.items():
        of = scores(own, [p.motion for p in own])
        rows.append([kind, *(f"{s.precision:.1f} / {s.recall:.1f} / {s.touches:.1f}" for s in of.values())])
        for name, s in of.items():
            all_f1[name].append(s.f1)
            rows[-1].append(f"{s.f1:.1f}")
    rows.append(["**mean**", *[""] * len(FOUND), *(f"**{np.mean(v):.1f}**" for v in all_f1.values())])
    return markdown(["type", *FOUND, *(f"F1, {name}" for name in FOUND)], rows)


def fault_table(people: dict[str, dict[str, list[Synthetic]]]) -> str:
    rows = []
    for fault, strengths in STRENGTHS.items():
        for strength in strengths:
            cells = {half: _spoilt(own, fault, strength) for half, own in people.items()}
            unit = FAULTS[fault].unit
            rows.append([f"{fault}, {strength} {unit}", *(c for of in cells.values() for c in of.values())])
    return markdown(["fault", *(f"{name}, {half}" for half in people for name in FOUND)], rows)


def _spoilt(people: dict[str, list[Synthetic]], fault: str, strength: float) -> dict[str, str]:
    """Mean F1 of all types and, in brackets, of walks, by estimator."""
    f1: dict[str, dict[str, float]] = {name: {} for name in FOUND}
    for kind, own in people.items():
        seeds = [int(p.motion.provenance.source.rpartition(":")[2]) for p in own]
        for name, s in scores(own, [FAULTS[fault].apply(p.motion, strength, n) for p, n in zip(own, seeds)]).items():
            f1[name][kind] = s.f1
    return {name: f"{np.mean(list(of.values())):.1f} ({of['walk']:.0f})" for name, of in f1.items()}


def cmu_table() -> str:
    """Of clips that preset `dynamic` keeps, each as often as a frame is in one."""
    counts = {name: np.zeros(6) for name in FOUND}
    for _, motion in motions():
        curation, evidence = curate(motion, CurateCfg(preset="dynamic")), evidence_of(motion)
        times = np.zeros(len(curation.motion))
        spans = clip_spans(len(times), curation.motion.fps, curation.cfg)
        for (first, last), clip in zip(spans, curation.clips, strict=True):
            times[first:last] += clip.verdict.kept
        for name, find in FOUND.items():
            counts[name] += _counted(evidence, find(evidence), times)
    rows = [
        [name, f"{100 * slow / n:.1f}", f"{switches / seconds:.2f}", f"{100 * nowhere / loaded:.2f}"]
        for name, (n, slow, switches, seconds, loaded, nowhere) in counts.items()
    ]
    head = ["contacts", "slower than 0.15 m/s, %", "switches a second", "loaded frames without contact, %"]
    return markdown(head, rows)


def _counted(evidence: Evidence, found: Array, times: Array) -> Array:
    support, fps = evidence.support, evidence.recorded.fps
    centres = support.soles.position.reshape(len(found), len(REGIONS), -1, 3).mean(axis=2)
    slow = np.linalg.norm(np.gradient(centres, axis=0), axis=2) * fps < AT_REST
    loaded = (support.trusted & (support.force.vertical > LOADED)) * times
    both = np.minimum(times[1:], times[:-1])
    return np.array([
        (found.sum(axis=1) * times).sum(), ((found & slow).sum(axis=1) * times).sum(),
        ((found[1:] != found[:-1]).sum(axis=1) * both).sum(), times.sum() / fps,
        loaded.sum(), (loaded * ~found.any(axis=1)).sum(),
    ])  # fmt: skip


def main() -> None:
    if not (CMU / "labels.csv").exists():
        print(f"skipped: no CMU recordings at {CMU}; set PHUMA_CMU")
        return
    people = {
        half: {kind: [generate(kind, SECONDS, seed) for seed in seeds] for kind in KINDS}
        for half, seeds in HALVES.items()
    }
    count = len(HALVES["tuned"])
    save(
        "contacts",
        "How well contacts are found",
        f"{count} generated people of each type and half, {SECONDS:g} s. `paper`: by height alone. `carrying`: those "
        "of them whose soles are near the floor that carries and slower than 1 m/s. `stance`: by height, speed and "
        "forces, over time. Percent of the samples (region, frame): of those found, how many truly stand with all of "
        "the region; of those that stand, how many are found; of those found, how many truly touch (within "
        f"{1000 * TOUCHING:g} mm, as a heel that strikes). F1 is the harmonic mean of the first two.",
        *(part for half, own in people.items() for part in (f"## Seeds {half}", truth_table(own))),
        "## Faults\n\nMean F1 of the types, in brackets of walks, against the truth of the clean motion (where a "
        "person floats, that is unfair to all):",
        fault_table(people),
        "## CMU recordings\n\nClips that preset `dynamic` keeps: of regions in contact, how many are slower than "
        "0.15 m/s; how often a second one of the four begins or ends; and frames with a force of 0.8 body weights or "
        "more in which nothing is in contact.",
        cmu_table(),
    )


if __name__ == "__main__":
    main()

"""Video or mocap? The same people as mocap gives them, as our own films would, and as other video models might.

PHUMA_CMU names the folder of the CMU recordings. Each feasible one is filmed without a picture (filming.py), by a
camera that looks down on it obliquely, with the noise of the pose network, and lifted without knowing the camera; what
other models give is the recording with shaking, a tilted world and sliding feet. Says what curation keeps and how good
the robot's motion is then.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from cmu_table import CMU
from dynamics import scores
from filming import Noise, camera_for, film, staged
from phuma.core.human_motion import HumanMotion
from phuma.core.resample import resample
from phuma.curation import CurateCfg, curate
from phuma.errors import PhumaError
from phuma.retargeting.measure import combine
from phuma.runtime.process_pool import map_in_order
from phuma.sources import read
from phuma.synth.faults import FAULTS
from phuma.video.lift import LiftCfg, lift
from tables import markdown, save

JOBS = 2
SECONDS, FPS = 8.0, 30.0
OBLIQUE, DISTANCE, PITCH, ROLL = 0.75 * np.pi, 4.0, -10.0, 2.0
FIVE = ("fidelity", "feasibility", "non_floating", "non_penetration", "non_skating")


def filmed(strength: float) -> Callable[[HumanMotion], list[HumanMotion]]:
    """The person as our own films give them, at so many times the network's noise."""

    def give(motion: HumanMotion) -> list[HumanMotion]:
        own = staged(motion, OBLIQUE)
        camera, stature = camera_for(own, DISTANCE, PITCH, ROLL), 1.7
        landmarks = film(own, camera, stature, Noise().times(strength))
        return [lifted.motion for lifted in lift(landmarks, LiftCfg(stature=stature))]

    return give


def faulty(**strengths: float) -> Callable[[HumanMotion], list[HumanMotion]]:
    """The person with several faults."""

    def give(motion: HumanMotion) -> list[HumanMotion]:
        for name, strength in strengths.items():
            motion = FAULTS[name].apply(motion, strength)
        return [motion]

    return give


SOURCES: dict[str, Callable[[HumanMotion], list[HumanMotion]]] = {
    "mocap": lambda motion: [motion],
    "our films": filmed(1.0),
    "our films, twice the noise": filmed(2.0),
    "a model: shaking 3 mm, tilt 4°, slide 0.1 m/s": faulty(jitter=3.0, tilt=4.0, slide=0.1),
    "a model: shaking 6 mm, tilt 8°, slide 0.2 m/s": faulty(jitter=6.0, tilt=8.0, slide=0.2),
}


def of_recording(work: tuple[str, str]) -> dict[str, Any]:
    """What becomes of a recording from a source: clips, kept without and with mending, and their robot motions."""
    name, source = work
    motion = resample(read(CMU / f"{name}.bvh"), FPS)
    motion = motion.cut(0.0, min(SECONDS, motion.duration))
    try:
        people = SOURCES[source](motion)
    except PhumaError as e:
        return {"clips": 0, "bare": 0, "kept": [], "failed": str(e)}
    bare = [clip for person in people for clip in curate(person, CurateCfg(mend=False)).clips]
    clips = [clip for person in people for clip in curate(person).clips]
    kept = [scores(("g1", "", "physink+dynamics", clip)) for clip in clips if clip.verdict.kept]
    return {"clips": len(clips), "bare": sum(clip.verdict.kept for clip in bare), "kept": kept}


def row(source: str, found: Sequence[dict[str, Any]]) -> list[object]:
    clips, kept = sum(f["clips"] for f in found), [k for f in found for k in f["kept"]]
    shares = [f"{100 * n / max(clips, 1):.0f}" for n in (sum(f["bare"] for f in found), len(kept))]
    if not kept:
        return [source, clips, *shares, *["-"] * (len(FIVE) + 2)]
    five = combine([k["metrics"] for k in kept])
    force = np.average([k["forces"] for k in kept], axis=0, weights=[float(k["frames"]) for k in kept])
    return [source, clips, *shares, *(f"{five[n]:.1f}" for n in FIVE), f"{five['torque_over']:.1f}", f"{force[0]:.4f}"]


def main() -> None:
    if not (CMU / "labels.csv").exists():
        print(f"skipped: no CMU recordings at {CMU}; set PHUMA_CMU")
        return
    with open(CMU / "labels.csv", newline="") as f:
        names = [r["clip"] for r in csv.DictReader(f) if r["expected"] == "feasible"]
    names = names[:: int(sys.argv[1]) if len(sys.argv) > 1 else 1]
    rows = []
    for source in SOURCES:
        found = list(map_in_order(of_recording, [(name, source) for name in names], JOBS))
        rows.append(row(source, found))
        print(rows[-1], flush=True)
    head = ["source", "clips", "kept without mending, %", "kept, %", *FIVE, "torque over limit, %", "root residual"]
    save(
        "source", "Video or mocap?", markdown(head, rows),
        f"The first {SECONDS:g} s of {len(names)} feasible CMU recordings, G1, default preset and method; metrics of "
        "the clips that are kept, which are not the same for all rows. Root residual in body weights.",
    )  # fmt: skip


if __name__ == "__main__":
    main()

"""What becomes of the clips that each preset keeps of the CMU recordings once they are on a robot.

PHUMA_CMU names the folder of the recordings; a number as argument takes every so-many-th recording only.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

from cmu_table import CMU
from halves import motions
from phuma.clip import Clip
from phuma.curation import CurateCfg, curate
from phuma.parallel import map_in_order
from phuma.retargeting import DEFAULT_METHOD, FIVE, retarget_motion
from phuma.retargeting.measure import combine
from phuma.robots import load_robot
from tables import markdown, save

ROBOT = "g1"
JOBS = 2
PHYSICS = {
    "torque_over": "frames over a torque limit, %",
    "residual_flight": "root residual in flight, weights",
    "residual_contact": "on the ground, weights",
}
CURATIONS = {
    "paper": CurateCfg(preset="paper"),
    "dynamic": CurateCfg(preset="dynamic"),
    "dynamic, root 6 Hz": CurateCfg(preset="dynamic", root_cutoff=6.0),
}
"""The last one stores the pelvis' path with its bounce, which is not what a preset does"""


class Kept(NamedTuple):
    curation: str
    place: tuple[str, float]
    """recording and start"""
    odd: bool
    """of a subject with an odd number"""
    clip: Clip


robot_of = cache(load_robot)


def scores(kept: Kept) -> dict[str, Any]:
    made = retarget_motion(kept.clip.motion, kept.clip.contact, robot_of(ROBOT), DEFAULT_METHOD)
    return dict(made.report["metrics"])


def kept_clips(every: int) -> list[Kept]:
    found = []
    for recording, motion in list(motions())[::every]:
        for name, cfg in CURATIONS.items():
            clips = [c for c in curate(motion, cfg).clips if c.verdict.kept]
            odd = recording.group != "tuned"
            found += [Kept(name, (recording.name, round(c.start, 1)), odd, c) for c in clips]
    return found


def row(name: str, found: Sequence[dict[str, Any]]) -> list[object]:
    if not found:
        return [name, 0, *["-"] * (len(FIVE) + len(PHYSICS))]
    all_of = combine(found)
    five = [f"{all_of[n]:.2f}" for n in FIVE]
    return [name, len(found), *five, *(f"{all_of[n]:.3f}" if n in all_of else "-" for n in PHYSICS)]


def table(kept: Sequence[Kept], found: Sequence[dict[str, Any]]) -> str:
    rows = [row(name, [s for k, s in zip(kept, found) if k.curation == name]) for name in CURATIONS]
    places = {name: {k.place for k in kept if k.curation == name} for name in CURATIONS}
    for one, other in (("paper", "dynamic"), ("dynamic", "paper")):
        alone = [s for k, s in zip(kept, found) if k.curation == one and k.place not in places[other]]
        rows.append(row(f"kept by {one} alone", alone))
    both = [s for k, s in zip(kept, found) if k.curation == "paper" and k.place in places["dynamic"]]
    rows.append(row("kept by both", both))
    return markdown(["", "clips", *(n.replace("_", "-") for n in FIVE), *PHYSICS.values()], rows)


def main() -> None:
    if not (CMU / "labels.csv").exists():
        print(f"skipped: no CMU recordings at {CMU}; set PHUMA_CMU")
        return
    kept = kept_clips(int(sys.argv[1]) if len(sys.argv) > 1 else 1)
    found = list(map_in_order(scores, kept, JOBS))
    odd = [(k, s) for k, s in zip(kept, found) if k.odd]
    save(
        "presets_downstream",
        "The presets' clips on a robot",
        f"Clips that each preset keeps of the CMU recordings, on the {ROBOT} by `{DEFAULT_METHOD}`; percent, over all "
        "frames and samples together. Clips that two presets keep are the same in both.",
        table(kept, found),
        "Subjects with odd numbers alone:",
        table([k for k, _ in odd], [s for _, s in odd]),
    )


if __name__ == "__main__":
    main()

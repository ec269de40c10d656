"""What becomes of the clips that each preset keeps of the CMU recordings once they are on a robot.

PHUMA_CMU names the folder of the recordings; a number as argument takes every so-many-th recording only.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from cmu_table import CMU
from halves import motions
from phuma.core.clip import Clip
from phuma.curation import CurateCfg, curate
from phuma.pipelines.retarget import retarget
from phuma.retargeting import DEFAULT_METHOD, FIVE
from phuma.retargeting.measure import combine, measure
from phuma.robots import cached_robot
from phuma.runtime.process_pool import map_in_order
from tables import markdown, save

ROBOT = "g1"
JOBS = 2
PHYSICS = {
    "torque_over": "frames over a torque limit, %",
    "residual_flight": "root residual in flight, weights",
    "residual_contact": "on the ground, weights",
}
PRESETS = ("paper", "dynamic")


class Piece(NamedTuple):
    """A clip that at least one preset keeps; both cut alike, and differ in what they call a contact."""

    clips: dict[str, Clip]
    """by preset"""
    odd: bool
    """of a subject with an odd number"""
    label: str
    """of the recording"""

    def kept(self, preset: str) -> bool:
        return self.clips[preset].verdict.kept


class Scores(NamedTuple):
    own: dict[str, dict[str, Any]]
    """of the clip with a preset's contacts, judged by them"""
    by_height: dict[str, Any]
    """of the clip with the contacts of preset `dynamic`, judged by those of preset `paper`"""


def scores(piece: Piece) -> Scores:
    robot = cached_robot(ROBOT)
    made = {p: retarget(c, robot, DEFAULT_METHOD) for p, c in piece.clips.items()}
    by_height = measure(replace(made["dynamic"], contact=made["paper"].contact), robot)
    return Scores({preset: dict(m.report["metrics"]) for preset, m in made.items()}, by_height)


def pieces(every: int) -> list[Piece]:
    found = []
    for recording, motion in list(motions())[::every]:
        curated = [curate(motion, CurateCfg(preset=preset)).clips for preset in PRESETS]
        both = [Piece(dict(zip(PRESETS, c)), recording.group != "tuned", recording.label) for c in zip(*curated)]
        found += [piece for piece in both if any(map(piece.kept, PRESETS))]
    return found


def row(name: str, found: Sequence[dict[str, Any]]) -> list[object]:
    if not found:
        return [name, 0, *["-"] * (len(FIVE) + len(PHYSICS))]
    all_of = combine(found)
    five = [f"{all_of[n]:.2f}" for n in FIVE]
    physics = ["-" if all_of.get(n) is None else f"{all_of[n]:.3f}" for n in PHYSICS]
    return [name, len(found), *five, *physics]


HEAD = ["", "clips", *(n.replace("_", "-") for n in FIVE), *PHYSICS.values()]


def table(found: Sequence[tuple[Piece, Scores]]) -> str:
    paper = [(p, s) for p, s in found if p.kept("paper")]
    dynamic = [(p, s) for p, s in found if p.kept("dynamic")]
    rows = [
        row("paper", [s.own["paper"] for _, s in paper]),
        row("dynamic", [s.own["dynamic"] for _, s in dynamic]),
        row("the same, judged by contacts of paper", [s.by_height for _, s in dynamic]),
        row("clips of dynamic, contacts of paper", [s.own["paper"] for _, s in dynamic]),
        row("clips of paper, contacts of dynamic", [s.own["dynamic"] for _, s in paper]),
        row("kept by both, contacts of paper", [s.own["paper"] for p, s in paper if p.kept("dynamic")]),
        row("kept by both, contacts of dynamic", [s.own["dynamic"] for p, s in paper if p.kept("dynamic")]),
        row("kept by paper alone", [s.own["paper"] for p, s in paper if not p.kept("dynamic")]),
        row("kept by dynamic alone", [s.own["dynamic"] for p, s in dynamic if not p.kept("paper")]),
    ]
    return markdown(HEAD, rows)


def label_table(found: Sequence[tuple[Piece, Scores]]) -> str:
    """What `dynamic` adds, by label."""
    own = [(p, s) for p, s in found if p.kept("dynamic") and not p.kept("paper")]
    return markdown(
        HEAD,
        [
            row(label, [s.own["dynamic"] for p, s in own if p.label == label])
            for label in sorted({p.label for p, _ in own})
        ],
    )


def main() -> None:
    if not (CMU / "labels.csv").exists():
        print(f"skipped: no CMU recordings at {CMU}; set PHUMA_CMU")
        return
    some = pieces(int(sys.argv[1]) if len(sys.argv) > 1 else 1)
    found = list(zip(some, map_in_order(scores, some, JOBS)))
    save(
        "presets_downstream",
        "The presets' clips on a robot",
        f"Clips that each preset keeps of the CMU recordings, on the {ROBOT} by `{DEFAULT_METHOD}`; percent, over all "
        "frames and samples together. Both presets cut alike; contacts of `paper` are soles near the ground, those of "
        "`dynamic` leave out soles that swing. Held and judged by are the same contacts but where said.",
        table(found),
        "Subjects with odd numbers alone:",
        table([(p, s) for p, s in found if p.odd]),
        "Kept by `dynamic` alone, with its contacts, by the label of the recording; all subjects:",
        label_table(found),
    )


if __name__ == "__main__":
    main()

"""Does curation make better training data of recordings of mixed quality? (paper 4.2, E.2)"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from phuma.studies.frame.study import (
    CERTIFIED,
    CLEAN,
    CLIPS,
    COSTS,
    FILMED,
    LOOSE,
    MINUTES,
    MIXED,
    Piece,
    Pool,
    Row,
    Study,
    Success,
    View,
    successes,
)

PAPER = View(MIXED, "paper")
OURS, MENDED = View(MIXED, "dynamic", mend=False), View(MIXED, "dynamic", mend=True)
FILTERS = {
    "jerk": ("root_jerk",),
    "foot contact": ("contact_score",),
    "height": ("pelvis_min", "pelvis_max"),
    "base of support": ("pelvis_support", "spine_support"),
}
"""The paper's four filters, with the names of their metrics"""


def passing(pool: Pool, view: View, passes: Callable[[Piece], bool]) -> Sequence[Piece]:
    """Return those of a view's clips, kept or not, that pass: every row is a part of the same clips."""
    return [piece for piece in pool.pieces(view, kept=False) if passes(piece)]


def passes_all(piece: Piece, names: Sequence[str]) -> bool:
    """Return whether a clip passes these filters."""
    return all(piece.passed[name] for name in names)


def row(label: str, view: View, passes: Callable[[Piece], bool]) -> Row:
    """Return a row of clips that pass, by SINK as in the paper, which mends nothing by itself."""
    return Row(label, partial(passing, view=view, passes=passes), "sink")


STUDY = Study(
    name="curation",
    question="Does curation make better training data of recordings of mixed quality?",
    paper="4.2 and E.2: SR@0.15 is 50.6 % on its test set without a filter, 81 to 83 % with one, 87.0 % with all",
    rows=(
        row("none", PAPER, lambda piece: True),
        *(row(f"{name} only", PAPER, partial(passes_all, names=own))
          for name, own in FILTERS.items()),
        row("all of the paper's", PAPER, lambda piece: piece.kept),
        row("ours", OURS, lambda piece: piece.kept),
        row("ours with mending", MENDED, lambda piece: piece.kept),
    ),
    columns=(
        CLIPS, MINUTES, CERTIFIED, *successes(CLEAN), *successes(FILMED), *successes(CLEAN, LOOSE),
        *successes(FILMED, LOOSE), *COSTS,
    ),
    deciding=(CERTIFIED, Success(CLEAN), Success(FILMED)),
    views=(PAPER, OURS, MENDED),
    notes=(
        "Every other recording is made video-like: shaking, tilted and sliding, at up to twice the typical strength.",
        "All rows are put on the robot by SINK, as in the paper; what policies are judged on, by the default method.",
        "Rows with the same clips share their policies, and are equal then.",
    ),
)  # fmt: skip

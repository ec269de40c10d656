"""Is what a video model gives as good a source as motion capture? (paper E.1)"""

from __future__ import annotations

from phuma.core.robot_metrics import FIVE, ROBOT_METRICS
from phuma.studies.frame.study import (
    CERTIFIED,
    CLEAN,
    CLIPS,
    COSTS,
    FILMED,
    FILMS,
    LOOSE,
    MINUTES,
    Mean,
    Metric,
    Piece,
    Pool,
    Row,
    Study,
    Success,
    View,
    clean,
    filmed,
    successes,
)


def both(pool: Pool) -> list[Piece]:
    """Return all clips of both sources."""
    return [*clean(pool), *filmed(pool)]


RESIDUAL = Mean("root residual, body weights", Metric("residual_contact"), "low", 4, "reference")

STUDY = Study(
    name="source",
    question="Is what a video model gives as good a source as motion capture?",
    paper="E.1: the five metrics of both are alike, and SR@0.15 by video, of which there is twice as much, is 85.7 % "
    "against 75.2 %",
    rows=(Row("mocap", clean), Row("video-like", filmed), Row("both", both)),
    columns=(
        CLIPS, MINUTES,
        *(Mean(ROBOT_METRICS[name].label, Metric(name), head="reference, % of frames") for name in FIVE),
        RESIDUAL,
        CERTIFIED, *successes(CLEAN), *successes(FILMED), Success(CLEAN, LOOSE), Success(FILMED, LOOSE), *COSTS,
    ),
    deciding=(RESIDUAL, CERTIFIED, Success(CLEAN), Success(FILMED)),
    views=(View(), FILMS),
    notes=("Both sources are of the same recordings; of the video-like ones, curation keeps fewer clips.",),
)  # fmt: skip

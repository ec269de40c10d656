"""Can a policy follow a path of the pelvis alone? (paper F)"""

from __future__ import annotations

from phuma.studies.frame.study import (
    CLEAN,
    CLIPS,
    COSTS,
    FILMED,
    FILMS,
    Row,
    Study,
    Success,
    Tracker,
    View,
    clean,
    filmed,
    successes,
)

PELVIS = Tracker("maskedmimic", environment={"condition": "pelvis"})
POSITION = Tracker("maskedmimic", environment={"condition": "pelvis-position"})

STUDY = Study(
    name="path",
    question="Can a policy follow a path of the pelvis alone?",
    paper="F: told the pelvis' position and rotation, students trained on PHUMA succeed in 84.5 % of its test motions, "
    "trained on AMASS in 60.5 %",
    rows=(
        Row("position and rotation from mocap", clean, tracker=PELVIS),
        Row("position and rotation from video-like", filmed, tracker=PELVIS),
        Row("position alone from mocap", clean, tracker=POSITION),
    ),
    columns=(
        CLIPS, *successes(CLEAN, "pelvis_0.5"), *successes(CLEAN, "pelvis_0.15"), *successes(CLEAN, "success_0.5"),
        *successes(FILMED, "pelvis_0.5"), Success(FILMED, "pelvis_0.15"), Success(FILMED, "success_0.5"), *COSTS,
    ),
    deciding=(Success(CLEAN, "pelvis_0.5"), Success(FILMED, "pelvis_0.5")),
    views=(View(), FILMS),
    notes=("Pelvis: it stayed within so many metres of its path to the end; SR is of all bodies, as elsewhere.",),
)  # fmt: skip

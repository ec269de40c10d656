"""Does it help to see the coming motion, and how it is encoded? (paper C.1)"""

from __future__ import annotations

from phuma.studies.frame.study import (
    CLEAN,
    CLIPS,
    COSTS,
    FILMED,
    LOOSE,
    SEEN,
    Row,
    Study,
    Success,
    Tracker,
    clean,
    successes,
)

STUDY = Study(
    name="future",
    question="Does it help to see the coming motion, and how it is encoded?",
    paper="C.1: with the future SR@0.5 of BeyondMimic rises from 47.2 to 78.8 % on its test set",
    rows=(
        Row("no future", clean, tracker=Tracker(environment={"future": False})),
        Row("convolutions over 1.9 s", clean, tracker=Tracker(network="conv")),
        Row("transformer over 0.4 s", clean, tracker=Tracker("maskedmimic", stage="teacher")),
    ),
    columns=(
        CLIPS, Success(SEEN), Success(SEEN, LOOSE), *successes(CLEAN), *successes(CLEAN, LOOSE), Success(FILMED),
        Success(FILMED, LOOSE), *COSTS,
    ),
    deciding=(Success(SEEN, LOOSE), Success(CLEAN, LOOSE), Success(CLEAN)),
    tests=(SEEN, CLEAN, FILMED),
    notes=(
        "The transformer is MaskedMimic's tracker: it also observes its bodies otherwise, and sees less far ahead.",
        "All are distilled from experts, act around their performances and observe differences from the reference.",
    ),
)  # fmt: skip

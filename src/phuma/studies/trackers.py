"""Which tracker learns most in the same time, from scratch and from experts?"""

from __future__ import annotations

from phuma.studies.frame.study import (
    CLEAN,
    CLIPS,
    COSTS,
    FILMED,
    LOOSE,
    SEEN,
    Amount,
    Row,
    Study,
    Success,
    Tracker,
    clean,
    successes,
)

TRACKERS = {
    "BeyondMimic from experts": Tracker("beyondmimic"),
    "BeyondMimic from scratch": Tracker("beyondmimic", "scratch"),
    "MaskedMimic from experts": Tracker("maskedmimic", stage="teacher"),
    "MaskedMimic from scratch": Tracker("maskedmimic", "scratch", stage="tracker"),
    "KungfuBot from experts": Tracker("kungfubot"),
    "KungfuBot from scratch": Tracker("kungfubot", "scratch"),
}


STUDY = Study(
    name="trackers",
    question="Which tracker learns most in the same time, from scratch and from experts?",
    paper="does not ask this; it uses MaskedMimic, BeyondMimic and KungfuBot for different purposes",
    rows=tuple(Row(label, clean, tracker=tracker) for label, tracker in TRACKERS.items()),
    columns=(
        CLIPS, Success(SEEN), Success(SEEN, LOOSE), *successes(CLEAN), *successes(CLEAN, LOOSE), Success(FILMED),
        Success(FILMED, LOOSE),
        Amount("experts, CPU s", lambda m: m.get("cpu_expert", 0.0), 0, "cost"), *COSTS,
    ),
    deciding=(Success(SEEN), Success(CLEAN)),
    tests=(SEEN, CLEAN, FILMED),
    notes=(
        "What learns from scratch is given the experts' CPU time, too, so that all rows cost the same.",
        "MaskedMimic is its tracker, which sees the whole motion; KungfuBot is its student, after its teacher.",
    ),
)  # fmt: skip

"""Does what a tracker has learned carry over to another world? (paper 4.5, D.3)"""

from __future__ import annotations

from phuma.sim.worlds import TRAINED, WORLDS
from phuma.studies.frame.study import CLEAN, CLIPS, COSTS, LOOSE, Row, Study, Success, Tracker, clean

STUDY = Study(
    name="transfer",
    question="Does what a tracker has learned carry over to another world?",
    paper="4.5 and D.3: KungfuBot loses 8 points from Isaac Gym to MuJoCo when trained on PHUMA, 5 when on AMASS; "
    "PHUMA stays ahead, also on the robot",
    rows=(
        Row("BeyondMimic", clean),
        Row("MaskedMimic", clean, tracker=Tracker("maskedmimic", stage="teacher")),
        Row("KungfuBot", clean, tracker=Tracker("kungfubot")),
    ),
    columns=(
        CLIPS, Success(CLEAN), Success(CLEAN, LOOSE), *(Success(name, LOOSE) for name in WORLDS), *COSTS,
    ),
    deciding=(Success(TRAINED, LOOSE), Success("noise-pushes", LOOSE)),
    tests=(CLEAN,),
    worlds=tuple(WORLDS),
    notes=(
        "Worlds are judged once, after the training; `phuma evaluate --sim2sim` says what each of them is.",
        "A world that cannot be simulated on this machine has no column.",
    ),
)  # fmt: skip

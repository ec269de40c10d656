"""Does a motion that is put on the robot with more physics make better training data? (paper 4.3, B.2, E.3)"""

from __future__ import annotations

from phuma.core.robot_metrics import FIVE, ROBOT_METRICS
from phuma.studies.frame.study import (
    CERTIFIED,
    CLEAN,
    CLIPS,
    COSTS,
    FILMED,
    LOOSE,
    Mean,
    Metric,
    Row,
    Study,
    Success,
    clean,
    successes,
)

METHODS = {
    "IK": "ik",
    "GMR": "gmr",
    "SINK": "sink",
    "+ feasibility": "sink+feasibility",
    "+ ground": "sink+ground",
    "+ skating = PhySINK": "physink",
    "+ dynamics": "physink+dynamics",
}


ERROR = Mean("error, cm", Metric("position_error_cm"), "low", 2, "reference to the human")
TORQUE = Mean("over the torque, % of frames", Metric("torque_over"), "low", head="reference")
PERFORMED = Mean("performed: error to the human, cm", lambda m: m["human_cm"], "low", 2, experts=True)

STUDY = Study(
    name="retargeting",
    question="Does a motion that is put on the robot with more physics make better training data?",
    paper="4.3, B.2 and E.3: SR@0.15 rises from IK over GMR and SINK to PhySINK, from 52.8 to 79.5 % on its test set",
    rows=tuple(Row(label, clean, method) for label, method in METHODS.items()),
    columns=(
        CLIPS,
        *(Mean(ROBOT_METRICS[name].label, Metric(name), head="reference, % of frames")
          for name in FIVE),
        ERROR,
        TORQUE,
        CERTIFIED,
        PERFORMED,
        Mean("at a torque limit, %", lambda m: m["torque_share"], "low", 2, experts=True),
        *successes(CLEAN), *successes(FILMED), Success(CLEAN, LOOSE), Success(FILMED, LOOSE), *COSTS,
    ),
    deciding=(ERROR, TORQUE, CERTIFIED, PERFORMED, Success(CLEAN), Success(FILMED)),
    notes=(
        "Error to the human is to the person's motion on a body with the robot's bones, which is the same for all "
        "methods: a method that asks for less does not win by it. Of a performance it is that of what the robot did.",
        "Motions that no expert performs within 0.5 m are not trained on, in any row.",
    ),
)  # fmt: skip

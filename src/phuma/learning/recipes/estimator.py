"""A policy that estimates where the robot is, and acts by the law of the motion's own certificate.

Along a certified performance there is feedback that brings a robot back which is beside it, if one knows its whole
state. A robot does not: nothing says its height and velocity, and what its sensors say is noisy. So the estimate is
what is learned, from a past of ten control steps, in the states that acting by it leads to. An estimate is smooth where
the law is not: that jumps where another moment, or another way back, becomes the nearest, and a network that imitates
it smears the jumps. The policy follows motions that were certified, those that it never saw, too, and no others.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from phuma.errors import ConfigError
from phuma.learning.algorithms.config import AlgorithmCfg, DistillationCfg
from phuma.learning.env.config import EnvironmentCfg
from phuma.learning.env.disturbances import NEAR
from phuma.learning.env.observation import ObservationGroup
from phuma.learning.env.task import Task
from phuma.learning.env.terms import estimator as own
from phuma.learning.env.terms import observations as obs
from phuma.learning.nets.config import MLPCfg, NetworkCfg
from phuma.learning.recipes.beyondmimic import REWARDS, TERMINATIONS
from phuma.learning.recipes.recipe import CPU, EXPERTS, Recipe, Stage, StageCfg
from phuma.robots.robot import Robot
from phuma.sim.feedforward import CERTIFIED

if TYPE_CHECKING:
    from phuma.learning.nets.actor_critic import Actor

PAST = ObservationGroup("past", own.SENSED)
REFERENCE = ObservationGroup("reference", (obs.reference_joint_pos, obs.reference_joint_vel))
ESTIMATE = ObservationGroup("estimate", (own.previous_estimate,))
TRUTH = ObservationGroup("truth", (own.truth,), noisy=False)


def task(cfg: EnvironmentCfg) -> Task:
    """Return the task of estimating; what is rewarded is only shown."""
    if cfg.base != CERTIFIED:
        raise ConfigError(f"the estimator acts by certificates, and not about the base {cfg.base!r}: leave out --base")
    return Task(
        actor=(replace(PAST, history=max(cfg.history, 2)), REFERENCE, ESTIMATE),
        rewards=tuple(term for term in REWARDS if term.weight > 0),
        terminations=TERMINATIONS,
        base=CERTIFIED,
        lawful=True,
        estimated=(TRUTH,),
    )


def network(task: Task, robot: Robot, cfg: NetworkCfg) -> Actor:
    """Return a policy whose actions are estimates."""
    from phuma.learning.nets.actor_critic import Actor
    from phuma.learning.nets.estimator_net import EstimatorNet

    assert isinstance(cfg, MLPCfg)
    past, *beside = task.actor
    return Actor(EstimatorNet(past, beside, robot, cfg))


def algorithm(net, cfg: AlgorithmCfg, observation, generator, teacher):
    """Return learning from the truth, in the states that estimates lead to."""
    from phuma.learning.algorithms.estimation import Estimation

    assert isinstance(cfg, DistillationCfg)
    return Estimation(net, cfg, observation, generator, teacher)


STAGE = "estimator"
RECIPE = Recipe(
    name="estimator",
    about="an MLP that estimates the state of the robot, for the feedback of certificates; certified motions alone",
    stages={STAGE: Stage(task, network, algorithm, teacher=EXPERTS)},
    beginnings={EXPERTS: (STAGE,)},
    presets={
        CPU: {
            STAGE: StageCfg(
                EnvironmentCfg(substeps=4, base=CERTIFIED, disturbances=NEAR, history=10),
                MLPCfg(hidden=(512, 256)),
                DistillationCfg(updates=32, memory=300_000, tolerance=3.0),
            )
        }
    },
    patience=0.5,
)

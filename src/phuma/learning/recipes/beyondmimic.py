"""BeyondMimic with the paper's coming motion (appendix C): observations, rewards, networks and values of learning.

On the G1 the actor observes 90 + 64 = 154 numbers and 20 coming frames of 78; the critic observes the same without
noise, and more. What the paper does not give (terminations, gains, key bodies, action scale) is from BeyondMimic's
public code.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from phuma.learning.algorithms.config import AlgorithmCfg, DistillationCfg, FinetuningCfg, PPOCfg
from phuma.learning.env.config import EnvironmentCfg
from phuma.learning.env.disturbances import NEAR, RANDOMIZED
from phuma.learning.env.observation import ComingFrames, ObservationGroup
from phuma.learning.env.task import RewardTerm, Task
from phuma.learning.env.terms import observations as obs
from phuma.learning.env.terms import rewards, terminations
from phuma.learning.nets.config import ConvCfg, MLPCfg, NetworkCfg
from phuma.learning.recipes.recipe import CPU, DEPLOY, EXPERTS, FINETUNED, PAPER, SCRATCH, Recipe, Stage, StageCfg
from phuma.robots.robot import Robot

if TYPE_CHECKING:
    from phuma.learning.nets.actor_critic import Actor, ActorCritic

PROPRIOCEPTION = ObservationGroup(
    "proprioception", (obs.previous_action, obs.root_angvel, obs.joint_pos, obs.joint_vel)
)
GOAL = ObservationGroup("goal", (obs.reference_joint_pos, obs.reference_joint_vel, obs.anchor_rotation))
REFERENCE = ObservationGroup("reference", (obs.reference_joint_pos, obs.reference_joint_vel))
DIFFERENCE = ObservationGroup("difference", (obs.anchor_off, obs.root_angvel_off, obs.joint_pos_off, obs.joint_vel_off))
PAST = ObservationGroup("past", (*DIFFERENCE.terms, obs.previous_action))
VELOCITY = ObservationGroup("velocity", (obs.root_linvel,), noisy=False)
FUTURE = ObservationGroup(
    "future",
    (
        obs.coming_root_height,
        obs.coming_root_roll_pitch,
        obs.coming_root_linvel,
        obs.coming_root_yaw_rate,
        obs.coming_joint_pos,
        obs.coming_bodies,
    ),
    coming=ComingFrames(frames=20, steps=95),
)
CRITIC = ObservationGroup(
    "critic",
    (*PROPRIOCEPTION.terms, *GOAL.terms, obs.body_positions, obs.body_rotations, obs.root_linvel),
    noisy=False,
)

REWARDS = (
    RewardTerm(rewards.anchor_position, 0.5),
    RewardTerm(rewards.anchor_rotation, 0.5),
    RewardTerm(rewards.body_linear_velocity, 1.0),
    RewardTerm(rewards.body_angular_velocity, 1.0),
    RewardTerm(rewards.body_position, 1.0),
    RewardTerm(rewards.body_rotation, 1.0),
    RewardTerm(rewards.action_rate, -0.1),
    RewardTerm(rewards.undesired_contacts, -0.5),
)
LIMITS = {forgiving: RewardTerm(term, -100.0) for forgiving, term in (
    (False, rewards.joint_limits), (True, rewards.joint_limits_beyond_reference),
)}  # fmt: skip
"""What is rewarded beside, by whether the reference may ask for more"""
TERMINATIONS = (terminations.anchor_height, terminations.anchor_tilt, terminations.end_height)


def task(cfg: EnvironmentCfg) -> Task:
    """Return the task of tracking with BeyondMimic's terms."""
    future = (FUTURE,) if cfg.future else ()
    goal = (REFERENCE, DIFFERENCE) if cfg.differences else (GOAL,)
    past = (replace(PAST, history=cfg.history),) if cfg.history > 1 else ()
    return Task(
        actor=(PROPRIOCEPTION, *goal, *past, *future),
        critic=(CRITIC, *future),
        rewards=(*REWARDS, LIMITS[cfg.forgiving]),
        terminations=TERMINATIONS,
        base=cfg.base,
        estimated=(VELOCITY,) if past else (),
    )


def student_task(cfg: EnvironmentCfg) -> Task:
    """Return the same without a critic's observations, for a policy that learns from labels."""
    return replace(task(cfg), critic=())


def network(task: Task, robot: Robot, cfg: NetworkCfg) -> ActorCritic:
    """Return an actor and a critic, each with a motion encoder of its own."""
    from phuma.learning.nets.actor_critic import ActorCritic, GroupNet

    assert isinstance(cfg, MLPCfg)
    actor = GroupNet(task.actor, robot, cfg, robot.n_joints, task.estimated)
    critic = GroupNet(task.critic, robot, cfg, 1)
    return ActorCritic(actor, critic, robot.n_joints, cfg.init_std)


def student_network(task: Task, robot: Robot, cfg: NetworkCfg) -> Actor:
    """Return an actor alone."""
    from phuma.learning.nets.actor_critic import Actor, GroupNet

    assert isinstance(cfg, MLPCfg)
    return Actor(GroupNet(task.actor, robot, cfg, robot.n_joints, task.estimated))


def distillation(net, cfg: AlgorithmCfg, observation, generator, teacher):
    """Return the imitation of experts."""
    from phuma.learning.algorithms.distillation import Distillation

    assert isinstance(cfg, DistillationCfg)
    return Distillation(net, cfg, observation, generator, teacher)


def algorithm(net, cfg: AlgorithmCfg, observation, generator, teacher):
    """Return proximal policy optimisation."""
    from phuma.learning.algorithms.ppo import PPO

    assert isinstance(cfg, PPOCfg)
    return PPO(net, cfg, observation, generator)


def finetuning(net, cfg: AlgorithmCfg, observation, generator, teacher):
    """Return proximal policy optimisation that is held to experts' labels."""
    from phuma.learning.algorithms.finetuning import Finetuning

    assert isinstance(cfg, FinetuningCfg)
    return Finetuning(net, cfg, observation, generator, teacher)


STAGE, DISTILLED = "policy", "distilled"
PLAIN: dict[str, Any] = {"base": "default", "future": False, "differences": False, "history": 1}
"""What policies of BeyondMimic's public code observe, and what their actions are added to"""
ON_CPU = {
    DISTILLED: StageCfg(
        EnvironmentCfg(substeps=4, base="certified", differences=True, disturbances=NEAR),
        MLPCfg(),
        DistillationCfg(),
    ),
    FINETUNED: StageCfg(
        EnvironmentCfg(substeps=4, base="certified", differences=True, disturbances=NEAR),
        MLPCfg(init_std=0.1),
        FinetuningCfg(),
    ),
    STAGE: StageCfg(EnvironmentCfg(), MLPCfg(), PPOCfg()),
}
AS_PUBLISHED = EnvironmentCfg(
    environments=8192, substeps=4, base="default", forgiving=False, disturbances=RANDOMIZED, first=0.2
)
"""The environments of the paper's run"""
RECIPE = Recipe(
    name="beyondmimic",
    about="an MLP that observes itself, the reference and 1.9 s to come; distilled from experts, or PPO, or both",
    stages={
        DISTILLED: Stage(student_task, student_network, distillation, teacher=EXPERTS),
        FINETUNED: Stage(task, network, finetuning, teacher=EXPERTS, begins_with=DISTILLED),
        STAGE: Stage(task, network, algorithm),
    },
    beginnings={EXPERTS: (DISTILLED,), FINETUNED: (DISTILLED, FINETUNED), SCRATCH: (STAGE,)},
    presets={
        CPU: ON_CPU,
        PAPER: {
            DISTILLED: StageCfg(
                AS_PUBLISHED,
                ConvCfg(hidden=(768, 512, 256), encoder=(60, 128), init_std=1.0),
                DistillationCfg(horizon=24, batch=8192, memory=2_000_000),
            ),
            FINETUNED: StageCfg(
                AS_PUBLISHED,
                ConvCfg(hidden=(768, 512, 256), encoder=(60, 128), init_std=0.1),
                FinetuningCfg(horizon=24, minibatches=4),
            ),
            STAGE: StageCfg(
                AS_PUBLISHED,
                ConvCfg(hidden=(768, 512, 256), encoder=(60, 128), init_std=1.0),
                PPOCfg(
                    horizon=24,
                    learning_rate=1e-5,
                    critic_rate=None,
                    desired_kl=0.01,
                    epochs=8,
                    minibatches=4,
                    clip=0.2,
                    entropy=0.005,
                ),
            ),
        },
        DEPLOY: {name: replace(cfg, environment=replace(cfg.environment, **PLAIN)) for name, cfg in ON_CPU.items()},
    },
)

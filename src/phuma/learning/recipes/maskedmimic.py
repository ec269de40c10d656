"""MaskedMimic, the paper's main tracker (appendix C): a transformer that sees all bodies of itself and of the coming
motion, and a masked student that is told a part of it alone (appendix F).

What the paper does not give is from ProtoMotions' public code. The preset `cpu` keeps the project's gains, base and
action scale, because experts can label only what acts as they do; the preset `paper` has ProtoMotions'.
"""

from __future__ import annotations

from dataclasses import replace
from math import exp
from typing import TYPE_CHECKING

from phuma.learning.algorithms.config import AlgorithmCfg, DistillationCfg, PPOCfg, VariationalCfg
from phuma.learning.env.config import EnvironmentCfg
from phuma.learning.env.disturbances import NEAR
from phuma.learning.env.masking import masking_of
from phuma.learning.env.observation import ComingFrames, ObservationGroup
from phuma.learning.env.task import Gains, RewardTerm, Task
from phuma.learning.env.terms import maximal, rewards, terminations
from phuma.learning.env.terms import maximal_rewards as tracking
from phuma.learning.env.terms import observations as obs
from phuma.learning.nets.config import NetworkCfg, TransformerCfg
from phuma.learning.recipes.recipe import CPU, EXPERTS, PAPER, SCRATCH, Recipe, Stage, StageCfg
from phuma.robots.robot import Robot
from phuma.sim.feedforward import MIDDLE
from phuma.sim.model import CONTROL_RATE

if TYPE_CHECKING:
    from phuma.learning.nets.actor_critic import Actor, ActorCritic

OWN = ObservationGroup("self", maximal.OWN, noisy=False)
PAST = replace(OWN, name="past")
COMING = ObservationGroup("coming", maximal.GOAL, noisy=False)
DIFFERENCE = ObservationGroup(
    "difference", (obs.anchor_off, obs.root_angvel_off, obs.joint_pos_off, obs.joint_vel_off, obs.previous_action)
)
"""How far the robot is from the reference now, in minimal coordinates: what experts go by"""
REWARDS = tuple(
    RewardTerm(term, CONTROL_RATE * weight)  # the public code adds terms up without a control step
    for term, weight in (
        (tracking.global_position, 0.5),
        (tracking.global_height, 0.2),
        (tracking.global_rotation, 0.3),
        (tracking.global_velocity, 0.1),
        (tracking.global_angular_velocity, 0.1),
        (tracking.power, -1e-5),
        (rewards.action_rate, -0.2),
    )
)
GAINS = (
    Gains("hip", 100.0, 2.5),
    Gains("knee", 200.0, 5.0),
    Gains("ankle_pitch", 20.0, 0.2),
    Gains("ankle_roll", 20.0, 0.1),
    Gains("waist", 400.0, 5.0),
    Gains("shoulder_pitch", 90.0, 2.0),
    Gains("shoulder_roll", 60.0, 1.0),
    Gains("shoulder_yaw", 20.0, 0.4),
    Gains("elbow", 60.0, 1.0),
    Gains("wrist", 4.0, 0.2),
)
"""ProtoMotions' gains of the G1, with the base `middle`; a robot with other joints keeps its own"""
FALLEN = (terminations.anchor_height, terminations.anchor_tilt)
STRICT = {False: (terminations.body_off_loosely,), True: (terminations.body_off,)}
"""Terminations of training by whether the preset is the paper's"""


REACH = 0.05  # m; chasing a place further off throws robots over


def future(cfg: EnvironmentCfg) -> ObservationGroup:
    """Return the group of the frames after the coming one, each relative to the one before."""
    later = max(cfg.frames - 1, 1)
    coming = ComingFrames(later, cfg.stride * (later - 1), chained=cfg.stride)
    return ObservationGroup("future", maximal.GOAL, coming=coming, noisy=False)


def task(cfg: EnvironmentCfg) -> Task:
    """Return the task of tracking all bodies."""
    groups = (OWN, COMING, future(cfg))
    papers = cfg.base == MIDDLE
    return Task(
        actor=(*groups, DIFFERENCE) if cfg.differences else groups,
        critic=groups,
        rewards=REWARDS,
        terminations=FALLEN,
        strict=STRICT[papers],
        base=cfg.base,
        whole=True,
        gains=GAINS if papers else (),
    )


def distilled_task(cfg: EnvironmentCfg) -> Task:
    """Return the same without a critic's observations and rewards, for a policy that learns from labels."""
    own = task(cfg)
    return Task(
        actor=own.actor, terminations=own.terminations, strict=own.strict, base=cfg.base, whole=True, gains=own.gains,
        reach=REACH,
    )  # fmt: skip


def student_task(cfg: EnvironmentCfg) -> Task:
    """Return the task of a policy that is told a part of the motion."""
    masking = masking_of(cfg.condition, cfg.near, cfg.near_stride, cfg.far)
    past = (replace(PAST, history=cfg.history, every=cfg.history_stride),) if cfg.history > 1 else ()
    sparse = ObservationGroup("sparse", (maximal.sparse_term(len(masking.offsets)),), noisy=False)
    return Task(
        actor=(OWN, sparse, *past), terminations=FALLEN, strict=(terminations.pelvis_off,), base=cfg.base, whole=True,
        gains=GAINS if cfg.base == MIDDLE else (), performed=True, masking=masking,
        reach=REACH,
    )  # fmt: skip


def network(task: Task, robot: Robot, cfg: NetworkCfg) -> ActorCritic:
    """Return an actor of tokens and a plain critic."""
    from phuma.learning.nets.actor_critic import ActorCritic
    from phuma.learning.nets.token_net import FlatNet, TokenNet

    assert isinstance(cfg, TransformerCfg)
    own, first, later, *beside = task.actor
    actor = TokenNet(own, first, later, beside, robot, cfg, robot.n_joints)
    critic = FlatNet(own, first, later, robot, cfg, 1)
    return ActorCritic(actor, critic, robot.n_joints, cfg.init_std, cfg.fixed_std)


def distilled_network(task: Task, robot: Robot, cfg: NetworkCfg) -> Actor:
    """Return an actor of tokens alone."""
    from phuma.learning.nets.actor_critic import Actor
    from phuma.learning.nets.token_net import TokenNet

    assert isinstance(cfg, TransformerCfg)
    own, first, later, *beside = task.actor
    return Actor(TokenNet(own, first, later, beside, robot, cfg, robot.n_joints))


def student_network(task: Task, robot: Robot, cfg: NetworkCfg) -> Actor:
    """Return a masked actor, with a latent where the settings have one."""
    from phuma.learning.nets.actor_critic import Actor
    from phuma.learning.nets.masked_net import MaskedNet, VariationalNet

    assert isinstance(cfg, TransformerCfg)
    if not cfg.latent:
        return Actor(MaskedNet(task.actor, robot, cfg, robot.n_joints))
    _, first, later, *_ = task.teacher
    return Actor(VariationalNet(task.actor, (first, later), robot, cfg, robot.n_joints))


def distillation(net, cfg: AlgorithmCfg, observation, generator, teacher):
    """Return the imitation of a teacher, by a policy with a latent or without."""
    from phuma.learning.algorithms.by_torque import TorqueDistillation
    from phuma.learning.algorithms.distillation import Distillation
    from phuma.learning.algorithms.variational import VariationalDistillation

    if isinstance(cfg, VariationalCfg):
        return VariationalDistillation(net, cfg, observation, generator, teacher)
    assert isinstance(cfg, DistillationCfg)
    return (TorqueDistillation if cfg.by_torque else Distillation)(net, cfg, observation, generator, teacher)


def algorithm(net, cfg: AlgorithmCfg, observation, generator, teacher):
    """Return proximal policy optimisation."""
    from phuma.learning.algorithms.ppo import PPO

    assert isinstance(cfg, PPOCfg)
    return PPO(net, cfg, observation, generator)


TEACHER, TRACKER, STUDENT = "teacher", "tracker", "student"
LARGE = TransformerCfg(
    init_std=exp(-2.9),
    width=512,
    layers=4,
    heads=4,
    feedforward=1024,
    embedding=(256, 256),
    hidden=(1024, 1024, 1024),
    critic=(1024, 1024, 1024, 1024),
    squashed=True,
    fixed_std=True,
)
"""The paper's sizes"""
SEEN = EnvironmentCfg(differences=True, frames=5, stride=5)
"""What a tracker sees on a CPU: the coming frame and four more, over 0.4 s"""
RECIPE = Recipe(
    name="maskedmimic",
    about="a transformer that sees all bodies and the coming motion, then a student that is told a part of it",
    stages={
        TEACHER: Stage(distilled_task, distilled_network, distillation, teacher=EXPERTS),
        TRACKER: Stage(task, network, algorithm),
        STUDENT: Stage(student_task, student_network, distillation, teacher=(TEACHER, TRACKER)),
    },
    beginnings={EXPERTS: (TEACHER, STUDENT), SCRATCH: (TRACKER, STUDENT)},
    alone=(TEACHER, TRACKER, STUDENT),
    patience=1.5,
    presets={
        CPU: {
            TEACHER: StageCfg(
                replace(SEEN, substeps=4, base="certified", disturbances=NEAR, mirror=True),
                TransformerCfg(),
                DistillationCfg(updates=64),
            ),
            TRACKER: StageCfg(SEEN, TransformerCfg(), PPOCfg()),
            STUDENT: StageCfg(
                replace(
                    SEEN,
                    substeps=4,
                    base="default",
                    disturbances=NEAR,
                    mirror=True,
                    condition="pelvis",
                    near=8,
                    near_stride=7,
                    far=75,
                ),
                TransformerCfg(),
                DistillationCfg(updates=54, by_torque=True),
            ),
        },
        PAPER: {
            TRACKER: StageCfg(
                EnvironmentCfg(environments=8192, substeps=4, base=MIDDLE),
                LARGE,
                PPOCfg(
                    horizon=32,
                    learning_rate=2e-5,
                    critic_rate=1e-4,
                    desired_kl=0.0,
                    epochs=1,
                    minibatches=32,
                    clip=0.2,
                    entropy=0.0,
                    value=0.5,
                    max_grad_norm=50.0,
                ),
            ),
            STUDENT: StageCfg(
                EnvironmentCfg(
                    environments=8192, substeps=4, base=MIDDLE, condition="any", history=16, history_stride=8
                ),
                replace(
                    LARGE,
                    hidden=(1024, 1024, 512),
                    latent=(64, 1024, 1024, 1024, 1024, 1024),
                    fixed_std=False,
                ),
                VariationalCfg(horizon=32, learning_rate=2e-5, updates=192, batch=8192, memory=262_144),
            ),
        },
    },
)

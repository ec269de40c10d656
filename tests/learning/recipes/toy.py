"""A recipe of two stages: a teacher that is told its error learns by PPO, a student that is not learns from it."""

from __future__ import annotations

from phuma.learning.algorithms.config import DistillationCfg, PPOCfg
from phuma.learning.env.config import EnvironmentCfg
from phuma.learning.env.observation import ObservationGroup
from phuma.learning.env.task import RewardTerm, Task
from phuma.learning.env.terms import observations as obs
from phuma.learning.env.terms import terminations
from phuma.learning.nets.config import MLPCfg
from phuma.learning.recipes.recipe import CPU, Recipe, Stage, StageCfg
from tests.learning.recipes.toy_terms import joint_error, joint_tracking

PRIVILEGED = ObservationGroup("privileged", (joint_error, obs.joint_vel), noisy=False)
OWN = ObservationGroup("own", (obs.joint_pos, obs.joint_vel, obs.reference_joint_pos))
REWARDS, TERMINATIONS = (RewardTerm(joint_tracking, 2.0),), (terminations.anchor_height,)


def teacher_network(task, robot, cfg):
    from phuma.learning.nets.actor_critic import ActorCritic, GroupNet

    actor = GroupNet(task.actor, robot, cfg, robot.n_joints)
    return ActorCritic(actor, GroupNet(task.critic, robot, cfg, 1), robot.n_joints, cfg.init_std)


def student_network(task, robot, cfg):
    from phuma.learning.nets.actor_critic import Actor, GroupNet

    return Actor(GroupNet(task.actor, robot, cfg, robot.n_joints))


def ppo(net, cfg, observation, generator, teacher):
    from phuma.learning.algorithms.ppo import PPO

    return PPO(net, cfg, observation, generator)


def distillation(net, cfg, observation, generator, teacher):
    from phuma.learning.algorithms.distillation import Distillation

    return Distillation(net, cfg, observation, generator, teacher)


SMALL = EnvironmentCfg(environments=8)
RECIPE = Recipe(
    name="toy",
    about="a teacher and its student",
    stages={
        "teacher": Stage(
            lambda cfg: Task((PRIVILEGED,), (PRIVILEGED,), (), REWARDS, TERMINATIONS, cfg.base),
            teacher_network,
            ppo,
        ),
        "student": Stage(
            lambda cfg: Task((OWN,), (), (), REWARDS, TERMINATIONS, cfg.base),
            student_network,
            distillation,
            share=3.0,
            teacher="teacher",
        ),
    },
    presets={
        CPU: {
            "teacher": StageCfg(SMALL, MLPCfg(hidden=(16,)), PPOCfg(horizon=8)),
            "student": StageCfg(SMALL, MLPCfg(hidden=(32,)), DistillationCfg(horizon=8, learning_rate=3e-3)),
        }
    },
)

"""KungfuBot's teacher and student as the paper trained them (appendix D.3): observations, rewards, networks and values.

The teacher knows what no robot can sense, by a latent of it; the student guesses that latent from ten control steps of
its own past, by an encoder that its teacher learned beside, and learns what the teacher does. The mixture of experts
and the reward over a window of the later KungfuBot2 are not part of it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from phuma.learning.algorithms.config import AlgorithmCfg, DistillationCfg, LatentPPOCfg
from phuma.learning.env.config import EnvironmentCfg
from phuma.learning.env.disturbances import NEAR, RANDOMIZED
from phuma.learning.env.observation import ComingFrames, ObservationGroup
from phuma.learning.env.task import RewardTerm, Task
from phuma.learning.env.terms import kungfubot as own
from phuma.learning.env.terms import kungfubot_rewards as kungfubot
from phuma.learning.env.terms import observations as obs
from phuma.learning.env.terms import rewards
from phuma.learning.nets.config import LatentCfg, NetworkCfg
from phuma.learning.recipes.recipe import CPU, EXPERTS, PAPER, SCRATCH, Recipe, Stage, StageCfg
from phuma.robots.robot import Robot
from phuma.sim.randomization import RandomizationCfg

if TYPE_CHECKING:
    from phuma.learning.nets.latent_net import LatentStudent, LatentTeacher

FELT = (own.root_angvel, own.joint_pos, own.joint_vel, obs.previous_action, own.root_roll_pitch)
COMING = (
    obs.coming_root_height,
    obs.coming_root_roll_pitch,
    obs.coming_root_linvel,
    obs.coming_root_yaw_rate,
    obs.coming_joint_pos,
)
OFF = (own.root_off, own.root_angvel_off, own.joint_pos_off, own.joint_vel_off)

STATE = ObservationGroup("state", (obs.root_linvel, *FELT, own.point_positions, own.point_rotations), noisy=False)
ERROR = ObservationGroup("error", (own.root_position_error, own.root_rotation_error), noisy=False)
PRIVILEGED = ObservationGroup(
    "privileged",
    (own.contacts, own.root_height, own.com, own.mass, own.friction, own.stiffness, own.damping),
    noisy=False,
)
FUTURE = ObservationGroup("future", (*COMING, own.coming_points), coming=ComingFrames(frames=20, steps=95))
DIFFERENCE = ObservationGroup("true_difference", OFF, noisy=False)

SENSED = ObservationGroup("sensed", FELT)
ROTATION = ObservationGroup("rotation", (own.root_rotation_error,))
SENSED_DIFFERENCE = ObservationGroup("root_difference", OFF)
STUDENT_FUTURE = ObservationGroup("future_joints", COMING, coming=ComingFrames(frames=20, steps=95))

NEXT = ObservationGroup("next", FUTURE.terms, coming=ComingFrames(frames=1, steps=0))
HISTORY = ObservationGroup("history", FELT)

REWARDS = (
    RewardTerm(kungfubot.root_velocity, 1.0),
    RewardTerm(kungfubot.root_position, 1.5),
    RewardTerm(kungfubot.root_rotation, 1.5),
    RewardTerm(kungfubot.point_position, 3.0),
    RewardTerm(kungfubot.point_rotation, 2.0),
    RewardTerm(kungfubot.point_velocity, 2.0),
    RewardTerm(kungfubot.point_angular_velocity, 2.0),
    RewardTerm(rewards.action_rate, -0.1),
    RewardTerm(kungfubot.joint_speed, -1e-4),
    RewardTerm(kungfubot.joint_acceleration, -3e-7),
    RewardTerm(kungfubot.foot_slip, -0.1),
    RewardTerm(kungfubot.joint_limits, -10.0),
    RewardTerm(kungfubot.torque_limits, -5.0),
    RewardTerm(kungfubot.termination, -200.0),
    RewardTerm(rewards.undesired_contacts, -30.0),
)
RANDOMIZATION = RandomizationCfg(
    mass=(0.9, 1.1),
    com=((-0.05, 0.05), (-0.05, 0.05), (-0.05, 0.05)),
    friction=(0.2, 1.2),
    bias=(0.0, 0.0),
    delay=2,
    torque=0.05,
    push_every=(5.0, 10.0),
    push_linear=(0.1, 0.1, 0.0),
    push_angular=(0.0, 0.0, 0.0),
)
"""Where the table leaves it open: torques of 5 % of the limit for 20 ms, which move a joint as 10 % for each physics
step of 5 ms do; pushes along the floor; encoders that read what is"""


def history(cfg: EnvironmentCfg) -> ObservationGroup:
    """Return the group of the past, as long as the settings have it."""
    return replace(HISTORY, history=max(cfg.history, 2))


def tracking(cfg: EnvironmentCfg) -> Task:
    """Return what both stages are rewarded by, and when an episode fails."""
    return Task(
        actor=(),
        rewards=REWARDS,
        terminations=kungfubot.TERMINATIONS,
        base=cfg.base,
        randomization=RANDOMIZATION,
    )


def teacher_task(cfg: EnvironmentCfg) -> Task:
    """Return the teacher's task; its critic observes what the actor does."""
    seen = (STATE, ERROR, NEXT, *((DIFFERENCE,) if cfg.differences else ()), *((FUTURE,) if cfg.future else ()))
    return replace(tracking(cfg), actor=(*seen, history(cfg), PRIVILEGED), critic=(*seen, PRIVILEGED))


def student_task(cfg: EnvironmentCfg) -> Task:
    """Return the task of a student, which observes what a robot can."""
    differences = (SENSED_DIFFERENCE,) if cfg.differences else ()
    future = (STUDENT_FUTURE,) if cfg.future else ()
    return replace(tracking(cfg), actor=(SENSED, ROTATION, NEXT, *differences, *future, history(cfg)))


def teacher_network(task: Task, robot: Robot, cfg: NetworkCfg) -> LatentTeacher:
    """Return an actor that is given the latent, and a critic that is given the privileged facts themselves."""
    from phuma.learning.nets.actor_critic import GroupNet
    from phuma.learning.nets.latent_net import LatentNet, LatentTeacher

    assert isinstance(cfg, LatentCfg)
    *seen, past, privileged = task.actor
    actor = LatentNet(seen, past, privileged, robot, cfg, robot.n_joints)
    return LatentTeacher(actor, GroupNet(task.critic, robot, cfg, 1), robot.n_joints, cfg.init_std)


def student_network(task: Task, robot: Robot, cfg: NetworkCfg) -> LatentStudent:
    """Return an actor that is given the latent of its past."""
    from phuma.learning.nets.latent_net import LatentNet, LatentStudent

    assert isinstance(cfg, LatentCfg)
    *seen, past = task.actor
    return LatentStudent(LatentNet(seen, past, None, robot, cfg, robot.n_joints))


def algorithm(net, cfg: AlgorithmCfg, observation, generator, teacher):
    """Return the imitation of experts or of the teacher, or PPO of a teacher from scratch."""
    from phuma.learning.algorithms.distillation import Distillation
    from phuma.learning.algorithms.latent_ppo import LatentPPO

    if isinstance(cfg, LatentPPOCfg):
        return LatentPPO(net, cfg, observation, generator)
    assert isinstance(cfg, DistillationCfg)
    return Distillation(net, cfg, observation, generator, teacher)


TEACHER, STUDENT = "teacher", "student"
PAST = 10
"""Control steps of the past that are observed"""
SMALL = LatentCfg(hidden=(512, 256, 128), encoder=(16, 64), channels=(16, 16), init_std=0.4)
LARGE = LatentCfg(hidden=(768, 512, 256), encoder=(60, 128), privileged=(256, 128), norm=True, init_std=1.0)
FROM_EXPERTS = EnvironmentCfg(substeps=4, base="certified", differences=True, disturbances=NEAR, history=PAST)
BY_TRIAL = EnvironmentCfg(history=PAST)
AS_PUBLISHED = EnvironmentCfg(
    environments=8192, substeps=4, base="default", forgiving=False, disturbances=RANDOMIZED, history=PAST
)
LABELS = DistillationCfg()
PAPER_TEACHER = LatentPPOCfg(
    horizon=24, learning_rate=1e-4, critic_rate=None, desired_kl=0.01, gamma=0.98, epochs=5, minibatches=4, clip=0.2,
    entropy=0.005,
)  # fmt: skip
PAPER_STUDENT = StageCfg(
    AS_PUBLISHED,
    LARGE,
    DistillationCfg(horizon=24, learning_rate=1e-4, updates=20, batch=49152, memory=8192 * 24, average=0.0, norm=True),
)
RECIPE = Recipe(
    name="kungfubot",
    about="a teacher that knows what no robot senses, and its student that guesses it from its past",
    stages={
        TEACHER: Stage(teacher_task, teacher_network, algorithm, teacher=EXPERTS),
        STUDENT: Stage(student_task, student_network, algorithm, teacher=TEACHER),
    },
    beginnings={EXPERTS: (TEACHER, STUDENT), SCRATCH: (TEACHER, STUDENT)},
    alone=(TEACHER, STUDENT),
    presets={
        CPU: {
            TEACHER: StageCfg(FROM_EXPERTS, SMALL, LABELS),
            STUDENT: StageCfg(FROM_EXPERTS, SMALL, replace(LABELS, norm=True)),
        },
        PAPER: {
            TEACHER: StageCfg(AS_PUBLISHED, LARGE, DistillationCfg(horizon=24, batch=8192, memory=8192 * 24)),
            STUDENT: PAPER_STUDENT,
        },
    },
    otherwise={
        SCRATCH: {
            CPU: {
                TEACHER: StageCfg(BY_TRIAL, SMALL, LatentPPOCfg()),
                STUDENT: StageCfg(BY_TRIAL, SMALL, replace(LABELS, norm=True)),
            },
            PAPER: {TEACHER: StageCfg(AS_PUBLISHED, LARGE, PAPER_TEACHER)},
        }
    },
)

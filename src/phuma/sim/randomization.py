"""Randomize robots so that they differ as the real one differs from its model, by the paper's table of randomization.

MuJoCo has no restitution and one coefficient of friction. The coefficient takes the table's range of dynamic friction,
which is the one that acts once a foot slides. Restitution is left out: a floor that is damped less gives it, but at the
physics steps of training no foot rests on such a floor (benchmarks/restitution.py).
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace

import mujoco
import numpy as np

from phuma.core.rotations import Array
from phuma.robots.robot import Robot
from phuma.sim.model import simulation_model
from phuma.sim.soles import sole_fields

GAIN = (0.9, 1.1)
COM = ((-0.025, 0.025), (-0.05, 0.05), (-0.05, 0.05))  # m
FRICTION = (0.3, 1.2)
BIAS = (-0.025, 0.025)  # rad


Range = tuple[float, float]


@dataclass(frozen=True)
class RandomizationCfg:
    """Ranges of all that differs between robots, and of what happens to them; by default those of the paper's table."""

    gain: Range = GAIN
    """Factors on the P and D gains."""
    mass: Range | None = None
    """Factors on the links' masses; None where they are the model's."""
    com: tuple[Range, Range, Range] = COM
    """Offset of the root body's centre of mass, m."""
    friction: Range = FRICTION
    """Coefficient of friction of all contacts."""
    bias: Range = BIAS
    """What joint encoders read too much, rad."""
    alike: float = 0.0
    """Share of robots of which all links have one factor on their masses, and all joints one on their gains; of the
    others each has its own, which weigh nearly what the model does."""
    soles: tuple[Range, Range] | None = None
    """Factors, at most 1, on the length and the width of the soles; None where they are the model's."""
    delay: int = 0
    """Most control steps after which the motors are told what was decided."""
    torque: float = 0.0
    """Largest torque that is added to a motor's in a control step, as a share of its limit."""
    push_every: Range | None = None
    """Seconds from one push to the next; None for the table's, and so are the other two."""
    push_linear: tuple[float, float, float] | None = None
    """Half widths of what a push adds to the root's velocity, m/s."""
    push_angular: tuple[float, float, float] | None = None
    """Half widths of what a push adds to the root's angular velocity, rad/s."""


WHOLE = 0.3
"""Share of the robots that have the model's soles where soles differ"""
DIFFERING = RandomizationCfg(
    gain=(0.88, 1.12), mass=(0.88, 1.12), bias=(0.0, 0.0), alike=0.5, soles=((0.75, 1.0), (0.6, 1.0))
)
"""Robots that differ from their model in what it is not known for: weight, strength, balance, grip and soles, which
makers' own files draw a fifth shorter and narrower than feet are"""


@dataclass(frozen=True, eq=False)
class Randomization:
    """The differences of the robots of E environments, with N joints, from their model."""

    stiffness: Array
    """(E, N) factors on the P gains"""
    damping: Array
    """(E, N) factors on the D gains"""
    com: Array
    """(E, 3) m, offset of the root body's centre of mass"""
    friction: Array
    """(E,) coefficient of friction of all contacts"""
    joint_bias: Array
    """(E, N) rad by which encoders read too much; the environment applies it, not the simulator"""
    mass: Array | None = None
    """(E, B) factors on the masses of the robot's bodies; None where they are the model's"""
    soles: Array | None = None
    """(E, 2) factors on the length and the width of the soles; None where they are the model's"""
    delay: int | Array = 0
    """Control steps, (E,) where they differ, after which the motors are told what was decided; applied by the
    environment"""

    def facts(self, robot: Robot) -> Array:
        """Return (E, 5 + 2 N) what no robot can sense of itself, zero where it is as its model: the root's centre of
        mass, the whole mass and the P and D gains as shares, and friction minus 1, in the order of `FACTS`."""
        mass = np.zeros(len(self.friction))
        if self.mass is not None:
            own = simulation_model(robot, 1).body_mass[1:]
            mass = self.mass @ own / own.sum() - 1
        parts = [self.com, mass[:, None], self.friction[:, None] - 1, self.stiffness - 1, self.damping - 1]
        return np.concatenate(parts, axis=1).astype(np.float32)


FACTS = ("com", "mass", "friction", "stiffness", "damping")
"""Names of the parts of `Randomization.facts`"""


def draw_randomization(
    rng: np.random.Generator,
    environments: int,
    joints: int,
    cfg: RandomizationCfg = RandomizationCfg(),
    bodies: int = 0,
) -> Randomization:
    """Return a random draw of the differences, by the paper's table unless said otherwise; `bodies` are needed where
    their masses differ."""
    low, high = np.array(cfg.com).T
    out = Randomization(
        stiffness=rng.uniform(*cfg.gain, size=(environments, joints)),
        damping=rng.uniform(*cfg.gain, size=(environments, joints)),
        com=rng.uniform(low, high, size=(environments, 3)),
        friction=rng.uniform(*cfg.friction, size=environments),
        joint_bias=rng.uniform(*cfg.bias, size=(environments, joints)).astype(np.float32),
        mass=None if cfg.mass is None else rng.uniform(*cfg.mass, size=(environments, bodies)),
        delay=rng.integers(cfg.delay + 1, size=environments) if cfg.delay else 0,
    )
    if cfg.alike:
        make_alike(rng, out, cfg)
    return out if cfg.soles is None else replace(out, soles=draw_soles(rng, environments, cfg.soles))


def draw_soles(rng: np.random.Generator, environments: int, ranges: tuple[Range, Range]) -> Array:
    """Return (E, 2) factors on the length and the width of soles, 1 in a share of the robots."""
    low, high = np.array(ranges).T
    whole = rng.random((environments, 1)) < WHOLE
    return np.where(whole, 1.0, rng.uniform(low, high, size=(environments, 2)))


def make_alike(rng: np.random.Generator, drawn: Randomization, cfg: RandomizationCfg) -> None:
    """Give a share of the robots one factor for all links, and one for all joints."""
    rows = np.flatnonzero(rng.random(len(drawn.friction)) < cfg.alike)
    gain = rng.uniform(*cfg.gain, size=(len(rows), 1))
    drawn.stiffness[rows], drawn.damping[rows] = gain, gain
    if drawn.mass is not None and cfg.mass is not None:
        drawn.mass[rows] = rng.uniform(*cfg.mass, size=(len(rows), 1))


def randomizable_model(model: mujoco.MjModel) -> mujoco.MjModel:
    """Return a copy of the model whose root's centre of mass can be anywhere."""
    out = copy.copy(model)
    out.body_sameframe[1] = mujoco.mjtSameFrame.mjSAMEFRAME_NONE
    return out


def randomized_fields(model: mujoco.MjModel, robot: Robot, randomization: Randomization) -> dict[str, Array]:
    """Return the fields of the model that differ, each with a leading axis of the E environments."""
    environments = len(randomization.friction)
    names = ("actuator_gainprm", "actuator_biasprm", "body_ipos", "geom_friction")
    fields = {name: np.repeat(getattr(model, name)[None], environments, axis=0) for name in names}
    fields["actuator_gainprm"][:, :, 0] = robot.stiffness * randomization.stiffness
    fields["actuator_biasprm"][:, :, 1] = -robot.stiffness * randomization.stiffness
    fields["actuator_biasprm"][:, :, 2] = -robot.damping * randomization.damping
    fields["body_ipos"][:, 1] += randomization.com
    fields["geom_friction"][:, :, 0] = randomization.friction[:, None]
    if randomization.soles is not None:
        fields |= sole_fields(model, robot, randomization.soles)
    if randomization.mass is not None:
        factor = np.concatenate([np.ones((environments, 1)), randomization.mass], axis=1)  # the world comes first
        fields["body_mass"] = model.body_mass * factor
        fields["body_inertia"] = model.body_inertia * factor[:, :, None]
        fields["body_subtreemass"] = fields["body_mass"].copy()
        for body in range(model.nbody - 1, 0, -1):
            fields["body_subtreemass"][:, model.body_parentid[body]] += fields["body_subtreemass"][:, body]
    return fields


def randomized_models(model: mujoco.MjModel, robot: Robot, randomization: Randomization) -> list[mujoco.MjModel]:
    """Return a model for each environment."""
    base, fields = randomizable_model(model), randomized_fields(model, robot, randomization)
    models = [copy.copy(base) for _ in randomization.friction]
    for name, values in fields.items():
        for own, value in zip(models, values):
            getattr(own, name)[:] = value
    return models

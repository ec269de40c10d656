"""Worlds that a policy is tried in: each is a named combination of changes of what it was trained in.

A change is a field of `World`, with its value as trained; what it does to a simulation is in `sim.world_simulation`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from phuma.core.names import did_you_mean
from phuma.errors import ConfigError


@dataclass(frozen=True)
class World:
    """What a policy is tried in; every default is that of its training."""

    physics_dt: float | None = None
    """Length of a physics step in s; None is that of training."""
    simulator: str = "mujoco"
    """Name of the simulator: mujoco, or mujoco_warp where it is installed."""
    model: Path | None = None
    """The maker's own model file of the robot, MJCF, in place of ours."""
    cone: str = "pyramidal"
    """Shape of the friction cone: pyramidal or elliptic."""
    friction: float | None = None
    """Coefficient of friction of all contacts; None is that of the model."""
    mass: float = 1.0
    """Factor on the masses and inertias of all bodies."""
    gains: float = 1.0
    """Factor on stiffness and damping of the joints' controllers."""
    delay: int = 0
    """Control steps by which targets reach the joints' controllers late."""
    noise: float = 0.0
    """Factor on the paper's noise of what the policy observes."""
    pushes: bool = False
    """Whether the robot is pushed every 1 to 3 s, as the paper does."""

    @property
    def changes(self) -> dict[str, Any]:
        """Return the fields that are not as trained, by their names."""
        return {f.name: value for f in fields(self) if (value := getattr(self, f.name)) != f.default}

    def __str__(self) -> str:
        return ", ".join(WORDS[name](value) for name, value in self.changes.items()) or "the training's physics"


WORDS: Mapping[str, Callable[[Any], str]] = {
    "physics_dt": lambda seconds: f"physics steps of {1000 * seconds:g} ms",
    "simulator": lambda name: f"simulated by {name}",
    "model": lambda path: f"model file {path.name}",
    "cone": lambda name: f"{name} friction cone",
    "friction": lambda value: f"friction {value:g}",
    "mass": lambda factor: f"masses times {factor:g}",
    "gains": lambda factor: f"gains times {factor:g}",
    "delay": lambda steps: f"delay of {steps} control step{'s' * (steps > 1)}",
    "noise": lambda factor: f"noise {factor:g}",
    "pushes": lambda _: "pushes",
}
"""What a change with a value is called, by its name."""

LOOK = {
    "physics_dt": "the physics step of training, on whose coarseness the policy leans: train with a shorter one",
    "simulator": "contacts, which simulators solve differently: compare one clip in both by `phuma play --world`",
    "model": "soles, masses and joint limits of the two files: correct one, or train by --disturb, where they differ",
    "cone": "feet that slide: train with randomized friction",
    "friction": "the floor and the feet's rubber: measure their friction, or train with it randomized",
    "mass": "the robot's weight with battery and hands: weigh it and correct the model, or train with it randomized",
    "gains": "stiffness and damping that the motors really get: compare them with the policy's metadata",
    "delay": "the latency of your control loop, from sensors to motors: bring it below one control step, or train with "
    "delay",
    "noise": "the gyroscope and the joints' velocities: compare their noise with the paper's, or train randomized",
    "pushes": "how the policy catches itself: it has to be trained with pushes",
}
"""The first thing to look at where a policy fails under a change, by its name."""

TRAINED = "as-trained"
MAKER = "maker"
"""The world of the maker's model file, which is there where the file is given."""
WORLDS: Mapping[str, World] = {
    TRAINED: World(),
    "finer-step": World(physics_dt=0.0025),
    "elliptic-cone": World(cone="elliptic"),
    "mujoco-warp": World(simulator="mujoco_warp"),
    "friction-0.4": World(friction=0.4),
    "friction-1.2": World(friction=1.2),
    "heavier": World(mass=1.1),
    "lighter": World(mass=0.9),
    "stiffer": World(gains=1.1),
    "softer": World(gains=0.9),
    "delay-1": World(delay=1),
    "delay-2": World(delay=2),
    "noise": World(noise=1.0),
    "pushes": World(pushes=True),
    "noise-pushes": World(noise=1.0, pushes=True),
}
"""The built-in worlds by their names, in the order in which they are tried."""


def world_named(name: str, worlds: Mapping[str, World]) -> World:
    """Return one of these worlds; a name that is none of them is an error which says what was probably meant."""
    if name in worlds:
        return worlds[name]
    if name == MAKER:
        raise ConfigError(f"the world {MAKER} is the maker's own model file of the robot: give it by --model FILE.xml")
    raise ConfigError(f"no world {name!r}{did_you_mean(name, worlds)}; there are: {', '.join((*worlds, MAKER))}")

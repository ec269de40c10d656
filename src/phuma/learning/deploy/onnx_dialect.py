"""Export a policy as an ONNX file in another project's layout. docs/policies.md says what each of them holds."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from phuma.core.rotations import Array
from phuma.errors import ConfigError
from phuma.io.atomic import write_atomic
from phuma.learning.deploy.deploy_yaml import deploy_yaml
from phuma.learning.deploy.dialects.dialect import ACTIONS, OBS, TIME_STEP, Dialect, columns
from phuma.learning.deploy.onnx_export import graph_of, save_model
from phuma.learning.deploy.torch_policy import TorchPolicy
from phuma.learning.motions.library import MotionLibrary
from phuma.learning.motions.references import expand
from phuma.robots.robot import Robot

DEPLOY = "deploy.yaml"


class InDialect(nn.Module):
    """A policy as their programs run it, one robot at a time: from `obs` to `actions` and, with a motion inside, from
    `time_step` to what the motion is in that frame; its last frame is held."""

    places: Tensor
    joints: Tensor

    def __init__(self, policy: TorchPolicy, dialect: Dialect, order: Array, frames: Mapping[str, Array]) -> None:
        super().__init__()
        groups, sizes = policy.info.task.actor, policy.info
        own = [term for group in groups for term in group.terms]
        places = np.argsort(columns(own, dialect.flat(dialect.observed), sizes, order))
        self.actor = policy.net.actor
        self.widths = {group.name: group.width(sizes) for group in groups}
        self.outputs = list(frames)
        self.register_buffer("places", torch.as_tensor(places))
        self.register_buffer("joints", torch.as_tensor(order))
        for name, values in frames.items():
            self.register_buffer(f"frames_{name}", torch.as_tensor(np.ascontiguousarray(values, dtype=np.float32)))

    def forward(self, obs: Tensor, time_step: Tensor | None = None) -> tuple[Tensor, ...]:
        own = obs[:, self.places].split(list(self.widths.values()), dim=1)
        actions = self.actor(dict(zip(self.widths, own)))[:, self.joints]
        if time_step is None:
            return (actions,)
        inside = [getattr(self, f"frames_{name}") for name in self.outputs]
        frame = time_step[:, 0].long().clamp(0, len(inside[0]) - 1)
        return (actions, *(values[frame] for values in inside))


def export_in_dialect(
    policy: TorchPolicy,
    robot: Robot,
    dialect: Dialect,
    path: str | Path,
    run: str,
    library: MotionLibrary | None = None,
) -> list[Path]:
    """Write the policy and what belongs beside it, and return the files; the first motion of `library` comes inside.

    A policy whose observations are not theirs is a ConfigError, and so is a motion that is missing. `run` is the name
    that the metadata gives to the run.
    """
    path, info = Path(path), policy.info
    dialect.check(info)
    if library is None and dialect.needs_motion:
        raise ConfigError(
            f"{dialect.name} has the motion inside the file: give one by --motion CLIP, or --motion DATASET --clip ID"
        )
    order = dialect.order(robot).joints
    frames = {} if library is None else _frames(library, policy, dialect, order)
    width = sum(group.width(info) for group in info.task.actor)
    examples = {OBS: torch.zeros(1, width)} | ({TIME_STEP: torch.zeros(1, 1)} if frames else {})
    module = InDialect(policy, dialect, order, frames)
    texts = dialect.metadata(info, robot, run)
    save_model(graph_of(module, examples, [ACTIONS, *frames], texts, dialect.name, info), path)
    if not dialect.deploy_terms:
        return [path]
    beside = path.with_name(DEPLOY)
    text = deploy_yaml(info, dialect)
    write_atomic(beside, lambda f: f.write(text.encode()))
    return [path, beside]


def _frames(library: MotionLibrary, policy: TorchPolicy, dialect: Dialect, order: Array) -> dict[str, Array]:
    """Return (T, ...) what the file puts out of each frame of the motion, by the outputs' names."""
    robot = library.robot
    state = expand(library, [0], policy.info.task).state
    anchor = robot.key_bodies.index(robot.anchor_body)
    frames = {name: of(state, anchor) for name, of in dialect.motion.items()}
    return {name: values[:, order] if name.startswith("joint_") else values for name, values in frames.items()}

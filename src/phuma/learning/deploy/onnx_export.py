"""Export a policy as an ONNX file that needs nothing else: normalizers inside, all that a deployment must know in its
metadata. docs/formats/policy.md is the specification."""

from __future__ import annotations

import contextlib
import io
import json
import logging
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from phuma.errors import missing_extra

try:
    import onnxscript  # noqa: F401 (torch.onnx.export needs it)
    from onnx import ModelProto, checker, helper
except ModuleNotFoundError as e:
    raise missing_extra(e, "exporting a policy") from None

from phuma.io.atomic import write_atomic
from phuma.learning.deploy.onnx_policy import FORMAT, VERSION, metadata_of
from phuma.learning.deploy.policy import PolicyInfo
from phuma.learning.deploy.torch_policy import TorchPolicy
from phuma.learning.nets.actor_critic import Actor

OPSET = 18


class Deployed(nn.Module):
    """A policy as a robot runs it, from its inputs in order to `action` and `target` = base + action_scale action; one
    that acts by certificates, to `deviation`."""

    action_scale: Tensor
    default_pose: Tensor

    def __init__(self, net: Actor, info: PolicyInfo) -> None:
        super().__init__()
        self.actor, self.names = net.actor, [each["name"] for each in info.inputs]
        self.lawful = info.task.lawful
        self.register_buffer("action_scale", torch.tensor(info.action_scale))
        self.register_buffer("default_pose", torch.tensor(info.default_pose))

    def forward(self, *inputs: Tensor) -> tuple[Tensor, ...]:
        given = dict(zip(self.names, inputs))
        action = self.actor(given)
        if self.lawful:
            return (action,)
        return action, given.get("base", self.default_pose) + self.action_scale * action


def export_policy(policy: TorchPolicy, path: str | Path) -> None:
    """Write the policy, whole or not at all."""
    save_model(onnx_model(policy), path)


def save_model(model: ModelProto, path: str | Path) -> None:
    """Write a graph, whole or not at all; the same one gives the same bytes."""
    write_atomic(path, lambda f: f.write(model.SerializeToString(deterministic=True)))


def onnx_model(policy: TorchPolicy) -> ModelProto:
    """Return the policy's graph with its metadata, for any batch size."""
    info = policy.info
    texts = {name: json.dumps(value) for name, value in metadata_of(info).items()}
    examples = {each["name"]: torch.zeros(2, *each["shape"]) for each in info.inputs}
    batch = torch.export.Dim("batch")
    shapes = (tuple({0: batch} for _ in examples),)
    return graph_of(Deployed(policy.net, info), examples, [*info.outputs], texts, f"{FORMAT} {VERSION}", info, shapes)


def graph_of(
    module: nn.Module,
    examples: Mapping[str, Tensor],
    outputs: Sequence[str],
    texts: Mapping[str, str],
    layout: str,
    info: PolicyInfo,
    dynamic_shapes: Any = None,
) -> ModelProto:
    """Return a module as a checked graph with inputs like `examples`, by their names, and metadata `texts`."""
    with _quiet():
        program = torch.onnx.export(
            module.cpu().eval(),
            tuple(examples.values()),
            dynamo=True,
            opset_version=OPSET,
            input_names=list(examples),
            output_names=list(outputs),
            dynamic_shapes=dynamic_shapes,
        )
    assert program is not None
    model = program.model_proto
    _forget_origin(model)
    model.producer_name, model.producer_version = "phuma", info.phuma
    model.doc_string = f"{layout}: a policy for {info.robot}"
    model.graph.name = "policy"
    helper.set_model_props(model, dict(texts))
    checker.check_model(model, full_check=True)
    return model


def _forget_origin(message: Any) -> None:
    """Remove what the exporter notes of the source code and its path on this machine: the same weights give the same
    bytes everywhere."""
    for field, value in message.ListFields():
        if field.name in ("metadata_props", "doc_string"):
            message.ClearField(field.name)
        elif field.message_type is not None:
            for each in [value] if hasattr(value, "ListFields") else value:
                _forget_origin(each)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Hold back what the exporter prints and logs while it succeeds."""
    logger = logging.getLogger("torch.onnx")
    before = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(before)

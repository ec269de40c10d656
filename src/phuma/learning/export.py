"""A policy as an ONNX file that needs nothing else: normalisers inside, all that a deployment must know in its
metadata. docs/learning.md is the specification.

The graph is written operator by operator from the network's modules: the same weights give the same bytes, for any
number of robots at once, in an operator set that old runtimes know too.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from torch import Tensor, nn

from phuma.errors import missing_extra

try:
    from onnx import ModelProto, TensorProto, checker, helper, numpy_helper
except ModuleNotFoundError as e:
    raise missing_extra(e, "exporting a policy") from None

from phuma.files.atomic import write_atomic
from phuma.learning.networks import Encoder, Net, Normaliser
from phuma.learning.onnx_policy import FORMAT, VERSION, metadata_of
from phuma.learning.torch_policy import TorchPolicy

OPSET, IR_VERSION = 17, 8


def export_policy(policy: TorchPolicy, path: str | Path) -> None:
    """Write the policy; whole or not at all."""
    model = onnx_model(policy)
    write_atomic(path, lambda f: f.write(model.SerializeToString(deterministic=True)))


def onnx_model(policy: TorchPolicy) -> ModelProto:
    """Inputs are the policy's groups; outputs `action` and `target` = base + action_scale action."""
    info, joints = policy.info, len(policy.info.joint_names)
    graph = Graph()
    action = graph.net(policy.net.actor, "action")
    scaled = graph.add("Mul", [action, graph.constant("action_scale", np.array(info.action_scale))])
    base = graph.constant("default_pose", np.array(info.default_pose)) if info.base == "default" else "base"
    graph.add("Add", [base, scaled], "target")
    inputs = [helper.make_tensor_value_info(g.name, TensorProto.FLOAT, ["batch", *g.shape]) for g in info.groups]
    outputs = [helper.make_tensor_value_info(n, TensorProto.FLOAT, ["batch", joints]) for n in ("action", "target")]
    model = helper.make_model(
        helper.make_graph(graph.nodes, "policy", inputs, outputs, graph.constants),
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=IR_VERSION,
        producer_name="phuma",
        producer_version=info.phuma,
        doc_string=f"{FORMAT} {VERSION}: a policy for {info.robot}",
    )
    helper.set_model_props(model, {name: json.dumps(value) for name, value in metadata_of(info).items()})
    checker.check_model(model, full_check=True)
    return model


class Graph:
    """Operators and constants in the making."""

    def __init__(self) -> None:
        self.nodes: list = []
        self.constants: list = []

    def constant(self, name: str, value: Tensor | np.ndarray) -> str:
        array = np.asarray(value.detach().cpu() if isinstance(value, Tensor) else value)
        array = np.ascontiguousarray(array, dtype=np.float32)
        self.constants.append(numpy_helper.from_array(array, name))
        return name

    def add(self, operator: str, inputs: list[str], out: str | None = None, **attributes: Any) -> str:
        """One operator; returns the name of its output."""
        out = out or f"{operator.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, inputs, [out], **attributes))
        return out

    def net(self, net: Net, out: str) -> str:
        """`networks.Net`."""
        parts = [self.normaliser(net.normalisers[name], name, name) for name in net.groups]  # type: ignore[arg-type]
        if net.encoder is not None:
            parts.append(self.encoder(net.encoder, "future"))
        return self.layers(net.layers, self.add("Concat", parts, axis=-1), out)

    def encoder(self, encoder: Encoder, x: str) -> str:
        """`networks.Encoder` of (E, frames, width)."""
        each = self.normaliser(encoder.normaliser, x, x)
        weight = self.constant("frame.weight", encoder.frame.weight.T)
        each = self.add("Add", [self.add("MatMul", [each, weight]), self.constant("frame.bias", encoder.frame.bias)])
        flat = self.add("Flatten", [self.silu(each)], axis=1)
        return self.silu(self.linear(encoder.whole, flat, "whole"))

    def normaliser(self, own: Normaliser, x: str, name: str) -> str:
        """`networks.Normaliser`."""
        off = self.add("Sub", [x, self.constant(f"{name}.mean", own.mean)])
        return self.add("Div", [off, self.constant(f"{name}.std", own.std)])

    def layers(self, layers: nn.Sequential, x: str, out: str) -> str:
        last = len(layers) - 1
        for number, layer in enumerate(layers):
            if isinstance(layer, nn.Linear):
                x = self.linear(layer, x, f"layers.{number}", out if number == last else None)
            else:
                assert isinstance(layer, nn.SiLU), f"no operator for {layer}"
                x = self.silu(x)
        return x

    def linear(self, layer: nn.Linear, x: str, name: str, out: str | None = None) -> str:
        weight, bias = self.constant(f"{name}.weight", layer.weight), self.constant(f"{name}.bias", layer.bias)
        return self.add("Gemm", [x, weight, bias], out, transB=1)

    def silu(self, x: str) -> str:
        """x / (1 + exp(-x))"""
        return self.add("Mul", [x, self.add("Sigmoid", [x])])

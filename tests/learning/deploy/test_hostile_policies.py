"""A policy from a stranger: only known operators, within limits of time and memory, and a fault names file and node."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
import onnx
from onnx import TensorProto, helper

from phuma.errors import ReadError
from phuma.learning.deploy import onnx_policy
from phuma.learning.deploy.onnx_graph import OPERATORS, Graph
from phuma.learning.deploy.onnx_policy import load_onnx
from phuma.runtime.process_pool import WorkerLimits
from tests.fuzz import only_read_errors

POLICY_FILE = Path(onnx_policy.__file__).parents[1] / "demo/policy.onnx"


def graph_node(kind: str, **attributes):
    """An operator that runs a graph of its own."""
    inner = helper.make_graph(
        [helper.make_node("Identity", ["c"], ["d"])],
        "body",
        [
            helper.make_tensor_value_info("i", TensorProto.INT64, []),
            helper.make_tensor_value_info("c", TensorProto.BOOL, []),
        ],
        [helper.make_tensor_value_info("d", TensorProto.BOOL, [])],
    )
    return helper.make_node(kind, ["n", "yes"], [], name="endless", body=inner, **attributes)


def loop(model):
    model.graph.initializer.append(helper.make_tensor("n", TensorProto.INT64, [], [2**62]))
    model.graph.initializer.append(helper.make_tensor("yes", TensorProto.BOOL, [], [True]))
    model.graph.node.append(graph_node("Loop"))


def foreign(model):
    model.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    model.graph.node.append(helper.make_node("Gelu", ["action"], ["more"], domain="com.microsoft"))


def function(model):
    model.functions.append(helper.make_function("own", "Mine", ["x"], ["y"], [], [helper.make_opsetid("", 17)]))


def put_before_action(model):
    """Let what was the graph's action be called `before`."""
    for node in model.graph.node:
        node.input[:] = ["before" if name == "action" else name for name in node.input]
        node.output[:] = ["before" if name == "action" else name for name in node.output]


def constant(model, elements=10**12):
    """A constant that the graph adds to its action."""
    put_before_action(model)
    model.graph.initializer.append(helper.make_tensor("size", TensorProto.INT64, [1], [elements]))
    model.graph.node.append(helper.make_node("ConstantOfShape", ["size"], ["huge"], name="huge"))
    model.graph.node.append(helper.make_node("ReduceSum", ["huge"], ["sum"], keepdims=0))
    model.graph.node.append(helper.make_node("Add", ["before", "sum"], ["action"]))


def declared(model):
    model.graph.input[0].type.tensor_type.shape.dim[1].dim_value = 2**62


def tensor(model):
    model.graph.initializer.append(TensorProto(name="big", data_type=1, dims=[2**31, 2**31]))


def text(model):
    model.metadata_props.add(key="more", value='"' + "x" * (5 << 20) + '"')


def deep(model):
    model.metadata_props.add(key="deep", value="[" * 100_000)


def digits(model):
    next(e for e in model.metadata_props if e.key == "steps").value = "9" * 400


REFUSED = {
    loop: "node 'endless' is a 'Loop', which a policy may not use",
    foreign: "uses operators of 'com.microsoft'",
    function: "defines an operator of its own, 'Mine'",
    constant: "memory",
    declared: "declares a shape of",
    tensor: "declares tensor 'big' of",
    text: "characters of metadata",
    deep: "metadata that is damaged: 'deep' is JSON of more than 64",
    digits: "metadata that is damaged: 'steps' holds the integer",
}


def changed(tmp_path: Path, change) -> Path:
    model = onnx.load(POLICY_FILE)
    change(model)
    (tmp_path / "theirs.onnx").write_bytes(model.SerializeToString())
    return tmp_path / "theirs.onnx"


def asked(policy):
    """The policy's actions of zeros, for three robots."""
    groups = policy.info.task.actor
    sizes = {each["name"]: each["shape"] for each in policy.info.inputs}
    rows = {g.name: np.zeros((3, *sizes[g.name]), np.float32) for g in groups if g.coming is None}
    coming = {g.name: np.zeros((3, sizes[g.name][0]), np.intp) for g in groups if g.coming is not None}
    return policy.act(rows | coming, {name: np.zeros((1, sizes[name][1]), np.float32) for name in coming})


def test_the_shipped_policy_is_run_as_it_is():
    action = asked(load_onnx(POLICY_FILE))
    assert action.shape == (3, 29)
    assert np.isfinite(action).all()


@pytest.mark.parametrize("change", REFUSED, ids=lambda change: change.__name__)
def test_a_hostile_file_is_refused_with_its_name_and_the_reason(tmp_path, change):
    file = changed(tmp_path, change)
    with pytest.raises(ReadError, match=REFUSED[change]) as error:
        asked(load_onnx(file))
    assert str(error.value).startswith(f"{file}: ")


def test_a_graph_that_fails_while_it_runs_names_file_and_node(tmp_path):
    def misfit(model):
        put_before_action(model)
        model.graph.initializer.append(helper.make_tensor("rows", TensorProto.INT64, [2], [1000, -1]))
        model.graph.initializer.append(helper.make_tensor("back", TensorProto.INT64, [2], [-1, 29]))
        model.graph.node.append(helper.make_node("Reshape", ["before", "rows"], ["odd"], name="misfit"))
        model.graph.node.append(helper.make_node("Reshape", ["odd", "back"], ["action"]))

    policy = load_onnx(changed(tmp_path, misfit))
    with pytest.raises(ReadError, match=r"theirs\.onnx: fails while it runs: .*misfit.*Input shape:\{3,29\}"):
        asked(policy)


def test_a_graph_that_takes_too_long_is_ended(tmp_path, monkeypatch):
    """Time is what it has, were its memory within the limit."""
    file = changed(tmp_path, lambda model: constant(model, 10**8))
    monkeypatch.setattr(onnx_policy, "LIMITS", WorkerLimits(seconds=0.001))
    with pytest.raises(ReadError, match=r"theirs\.onnx: cannot be run as a policy: it took longer than 0\.001 s"):
        load_onnx(file)


def test_what_is_no_file_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "policy.onnx")
    with pytest.raises(ReadError, match="is a folder or a device"):
        load_onnx(tmp_path / "policy.onnx")


def test_the_allowed_operators_are_those_that_the_page_lists():
    page = Path(__file__).parents[3] / "docs/formats/policy.md"
    part = page.read_text().split("## Operators")[1].split("\n## ")[0]
    assert {word.strip("`,.\n") for word in part.split() if word.startswith("`")} == OPERATORS


def test_whatever_stands_in_the_metadata_is_read_or_refused():
    texts = {entry.key: entry.value for entry in onnx.load(POLICY_FILE).metadata_props}
    values = (None, [], {}, "x", "\n", -1, 0, 1.5, 1e300, 2**60, [[]], {"a": [1]}, [None], ["a", 1], [2**60], True)
    for key in texts:
        for value in values:
            graph = Graph(texts | {key: json.dumps(value)}, (), ())
            only_read_errors(ReadError, lambda graph=graph: onnx_policy._info(POLICY_FILE, graph).inputs)

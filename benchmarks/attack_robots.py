"""Robots and policies of strangers: damaged and hostile ones are used or refused; none hangs or ends in a traceback.

Each case is used in a process of its own: a folder is checked, some models are onboarded; a policy is opened and
acts once. A failure is a traceback, a process that dies, more than 10 s of CPU time, or more than 120 s.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import re
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import onnx
from onnx import TensorProto, helper

import phuma
from phuma.errors import PhumaError
from phuma.learning.deploy.onnx_policy import load_onnx
from phuma.robots import load_robot
from phuma.robots.check import check_robot
from phuma.robots.onboarding import onboard_robot

ROBOTS, POLICIES, ONBOARDED = 250, 100, 25
CPU_SECONDS, SECONDS = 10.0, 120.0
SOURCE = Path(phuma.__file__).parent / "robots" / "g1"
POLICY = Path(phuma.__file__).parent / "learning" / "demo" / "policy.onnx"
Dice = random.Random

TEXTS = ("NaN", "-Infinity", "1e999", "9" * 400, "9" * 5000, "[" * 100_000, "[" * 200 + "]" * 200, "-1", "0", "1e308",
         "17000", '"' + "x" * 100_000 + '"', '""', '"\\u0000"', "null", "true", "[]", "{}", '{"a": 1}')  # fmt: skip
"""What stands for one value of a JSON text"""
VALUES = ("", "nan", "inf", "-1", "0", "1e308", "1e-308", "0 0 0", "1 2 3 4 5 6 7 8", "9" * 5000, "x" * 100_000, "../x")
"""What stands for one attribute of a model"""
ELEMENTS = (
    '<size memory="900G"/>', '<size nuser_body="2000000000"/>', '<include file="/dev/zero"/>', '<include file="pipe"/>',
    '<include file="../../etc/passwd"/>', '<include file="model.xml"/>', '<option iterations="2000000000"/>',
    '<worldbody><replicate count="100000000"><body/></replicate></worldbody>',
    '<worldbody><replicate count="70"><replicate count="70"><geom size="1"/></replicate></replicate></worldbody>',
    '<worldbody><replicate count="4000"><geom size="1"/></replicate></worldbody>',
    '<worldbody><flexcomp name="f" type="grid" count="60 60 1" spacing=".1 .1 .1" radius=".01"/></worldbody>',
    '<worldbody><composite type="cable" count="1000000000 1 1"/></worldbody>',
    '<asset><hfield name="h" nrow="100000" ncol="100000" size="1 1 1 1"/></asset>',
    '<asset><texture name="t" type="cube" builtin="flat" width="60000" height="60000"/></asset>',
    '<asset><texture name="t" type="2d" file="/dev/random"/></asset>', '<asset><mesh name="m" file="pipe"/></asset>',
    '<asset><mesh name="m" builtin="supersphere" params="100000 1 1"/></asset>',
    '<extension><plugin plugin="mujoco.elasticity.cable"/></extension>',
    '<worldbody><body name="again"><freejoint/></body></worldbody>', "<worldbody>" + 30_000 * '<geom size="1"/>',
    400 * "<default>", '<sensor><rangefinder site="x"/></sensor>', "<!-- ", "&bomb;",
)  # fmt: skip
"""What is put into a model"""


class Case(NamedTuple):
    """One attack: what it is, what it makes in a folder, and how that is used."""

    kind: str
    make: Callable[[Path, Dice], Path]
    use: Callable[[Path], None]


def damaged(data: bytes, dice: Dice) -> bytes:
    """Flip, cut or double some bytes."""
    out = bytearray(data)
    for _ in range(dice.randint(1, 4)):
        at = dice.randrange(len(out) + 1)
        way = dice.choice(("flip", "cut", "double", "insert"))
        if way == "flip":
            out[at : at + 1] = dice.randbytes(1)
        elif way == "cut":
            del out[at : at + dice.choice((1, 10, len(out)))]
        elif way == "double":
            out[at:at] = out[at : at + 1000]
        else:
            out[at:at] = dice.randbytes(8)
    return bytes(out)


def with_text(text: str, dice: Dice) -> str:
    """Put a hostile text in the place of one value of a JSON text, or a key twice or away."""
    values = list(re.finditer(r'(?<=: )("[^"]*"|-?[\d.]+|\[[^\[\]]*\])', text))
    one = dice.choice(values)
    return text[: one.start()] + dice.choice(TEXTS) + text[one.end() :]


def with_value(text: str, dice: Dice) -> str:
    """Put a hostile value in the place of one attribute of a model."""
    one = dice.choice(list(re.finditer(r'(?<==")[^"]*(?=")', text)))
    return text[: one.start()] + dice.choice(VALUES) + text[one.end() :]


def with_element(text: str, dice: Dice) -> str:
    """Put a hostile element into a model, or take one away, or repeat one."""
    lines = text.splitlines()
    at = dice.randrange(10, len(lines))
    way = dice.random()
    if way < 0.7:
        return text.replace("</mujoco>", dice.choice(ELEMENTS) + "</mujoco>")
    lines[at : at + 1] = [] if way < 0.85 else [lines[at]] * dice.choice((2, 100))
    return "\n".join(lines)


def without_file(folder: Path, dice: Dice) -> None:
    """Put something that is no file in the place of one."""
    path = folder / dice.choice(("model.xml", "robot.json"))
    path.unlink()
    way = dice.choice(("pipe", "folder", "loop", "device", "empty", "none"))
    if way == "pipe":
        os.mkfifo(path)
    elif way == "folder":
        path.mkdir()
    elif way in ("loop", "device"):
        path.symlink_to(path if way == "loop" else "/dev/zero")
    elif way == "empty":
        path.touch()


def robot(change: str) -> Callable[[Path, Dice], Path]:
    """Return what makes a copy of the G1 with one thing changed."""

    def make(root: Path, dice: Dice) -> Path:
        folder = root / "robot"
        folder.mkdir()
        for name in ("model.xml", "robot.json"):
            shutil.copy(SOURCE / name, folder / name)
        os.mkfifo(folder / "pipe")
        model, mapping = folder / "model.xml", folder / "robot.json"
        if change == "files":
            without_file(folder, dice)
        elif change == "bytes":
            path = dice.choice((model, mapping))
            path.write_bytes(damaged(path.read_bytes(), dice))
        elif change == "values of robot.json":
            mapping.write_text(with_text(mapping.read_text(), dice))
        elif change == "attributes of model.xml":
            model.write_text(with_value(model.read_text(), dice))
        else:
            model.write_text(with_element(model.read_text(), dice))
        return folder

    return make


def use_folder(folder: Path) -> None:
    """Do what `phuma robot check` does."""
    check_robot(load_robot(folder))


def use_model(folder: Path) -> None:
    """Do what `phuma robot init` does."""
    onboard_robot(folder / "model.xml", folder.parent / "out")


def use_policy(file: Path) -> None:
    """Open a policy and let it act for three robots."""
    policy = load_onnx(file)
    groups, sizes = policy.info.task.actor, {each["name"]: each["shape"] for each in policy.info.inputs}
    rows: dict[str, Any] = {g.name: np.zeros((3, *sizes[g.name]), np.float32) for g in groups if g.coming is None}
    coming = {g.name: np.zeros((3, sizes[g.name][0]), np.intp) for g in groups if g.coming is not None}
    policy.act(rows | coming, {name: np.zeros((1, sizes[name][1]), np.float32) for name in coming})


def before_action(model: Any) -> None:
    for node in model.graph.node:
        node.input[:] = ["before" if name == "action" else name for name in node.input]
        node.output[:] = ["before" if name == "action" else name for name in node.output]


def with_operator(model: Any, dice: Dice) -> None:
    """Add to the action what takes any amount of time or memory, or is not allowed."""
    before_action(model)
    graph, kind = (
        model.graph,
        dice.choice(("ConstantOfShape", "Expand", "Tile", "Range", "Loop", "RandomNormal", "MatMul")),
    )
    size = dice.choice((10**3, 10**6, 10**9, 10**12, 2**62))

    def constant(name: str, type_: int, dims: list[int], values: list[Any]) -> str:
        graph.initializer.append(helper.make_tensor(name, type_, dims, values))
        return name

    count, one = constant("n", TensorProto.INT64, [1], [size]), constant("one", TensorProto.FLOAT, [1], [1.0])
    if kind == "ConstantOfShape":
        nodes = [helper.make_node(kind, [count], ["much"])]
    elif kind in ("Expand", "Tile"):
        nodes = [helper.make_node(kind, [one, count], ["much"])]
    elif kind == "Range":
        ends = [constant(f"e{k}", TensorProto.FLOAT, [], [v]) for k, v in enumerate((0.0, float(size), 1.0))]
        nodes = [helper.make_node(kind, ends, ["much"])]
    elif kind == "MatMul":
        square = constant("square", TensorProto.INT64, [2], [3000, 3000])
        nodes = [helper.make_node("ConstantOfShape", [square], ["m0"])]
        nodes += [helper.make_node(kind, [f"m{k}", f"m{k}"], [f"m{k + 1}"]) for k in range(300)]
        nodes.append(helper.make_node("Identity", ["m300"], ["much"]))
    else:
        nodes = [helper.make_node(kind, [], ["much"], shape=[size])]
    nodes.append(helper.make_node("ReduceSum", ["much"], ["sum"], keepdims=0))
    graph.node.extend([*nodes, helper.make_node("Add", ["before", "sum"], ["action"])])


def with_other_graph(model: Any, dice: Dice) -> None:
    """Change one thing of the graph."""
    graph, way = (
        model.graph,
        dice.choice(("op", "input", "less", "dims", "domain", "function", "shape", "external", "cycle")),
    )
    node, tensor = dice.choice(graph.node), dice.choice(graph.initializer)
    if way == "op":
        node.op_type = dice.choice(
            ("Loop", "If", "Scan", "Concat", "Sin", "Reshape", "Conv", "SequenceAt", "Nothing", "")
        )
    elif way == "input" and node.input:
        node.input[dice.randrange(len(node.input))] = dice.choice([t.name for t in graph.initializer] + ["none", ""])
    elif way == "less":
        graph.node.remove(node)
    elif way == "dims":
        tensor.dims[:] = dice.choice(([2**62], [-1], [], [0], [2**31, 2**31], [1] * 1000))
    elif way == "domain":
        node.domain = dice.choice(("com.microsoft", "evil", "ai.onnx.ml"))
    elif way == "function":
        model.functions.append(helper.make_function("evil", "F", ["x"], ["y"], [], [helper.make_opsetid("", 17)]))
    elif way == "shape":
        graph.input[0].type.tensor_type.shape.dim[1].dim_value = dice.choice((2**62, -5, 0, 7))
    elif way == "external":
        tensor.data_location = TensorProto.EXTERNAL
        tensor.external_data.add(key="location", value="/dev/zero")
    else:
        node.input[:] = [*node.output]


def policy(change: str) -> Callable[[Path, Dice], Path]:
    """Return what makes a copy of the demo's policy with one thing changed."""

    def make(root: Path, dice: Dice) -> Path:
        file = root / "policy.onnx"
        if change == "bytes":
            file.write_bytes(damaged(POLICY.read_bytes(), dice))
            return file
        model = onnx.load(POLICY)
        if change == "operators":
            with_operator(model, dice)
        elif change == "graph":
            with_other_graph(model, dice)
        else:
            entry = dice.choice(model.metadata_props)
            entry.value = dice.choice(TEXTS)
        file.write_bytes(model.SerializeToString())
        return file

    return make


def cases() -> Iterator[Case]:
    """All attacks, in an order that is always the same."""
    changes = ("values of robot.json", "attributes of model.xml", "elements of model.xml", "bytes", "files")
    for number in range(ROBOTS - ONBOARDED):
        change = changes[number % len(changes)]
        yield Case(f"robot: {change}", robot(change), use_folder)
    for number in range(ONBOARDED):
        change = changes[1 + number % 3]
        yield Case("robot: a model to be onboarded", robot(change), use_model)
    kinds = ("bytes", "metadata", "graph", "operators")
    for number in range(POLICIES):
        change = kinds[number % len(kinds)]
        yield Case(f"policy: {change}", policy(change), use_policy)


def outcome(case: Case, seed: int, root: Path) -> tuple[str, float]:
    """Return `used`, `refused` or why it is a failure, and the CPU seconds."""
    place = case.make(root, Dice(seed))
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        _end_with(case, place, root / "traceback.txt")
    until, late = time.monotonic() + SECONDS, False
    while True:
        pid, status, used = os.wait4(child, os.WNOHANG)
        if pid:
            break
        if time.monotonic() > until and not late:
            late = True
            os.kill(child, signal.SIGKILL)
        time.sleep(0.01)
    cpu, code = used.ru_utime + used.ru_stime, os.waitstatus_to_exitcode(status)
    if late or cpu > CPU_SECONDS:
        return f"took {cpu:.0f} s of CPU time", cpu
    return {0: "used", 1: "refused", 2: "traceback"}.get(code, f"died by {code}"), cpu


def _end_with(case: Case, place: Path, noted: Path) -> None:
    """Use what was made, and end this process by an exit code."""
    code = 2
    try:
        with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
            os.dup2(nowhere.fileno(), 2)
            case.use(place)
        code = 0
    except PhumaError:
        code = 1
    except BaseException:
        noted.write_text(traceback.format_exc())
    finally:
        os._exit(code)


def main() -> None:
    from tables import markdown, save

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    seed = parser.parse_args().seed
    found: dict[str, Counter[str]] = {}
    longest: dict[str, float] = {}
    failures: list[dict[str, Any]] = []
    for number, case in enumerate(cases()):
        with tempfile.TemporaryDirectory() as root:
            what, cpu = outcome(case, seed + number, Path(root))
            found.setdefault(case.kind, Counter())[what if what in ("used", "refused") else "failed"] += 1
            longest[case.kind] = max(longest.get(case.kind, 0.0), cpu)
            if what not in ("used", "refused"):
                failures.append({"case": number, "kind": case.kind, "what": what})
                noted = Path(root) / "traceback.txt"
                print(
                    json.dumps(failures[-1]), noted.read_text() if noted.exists() else "", file=sys.stderr, flush=True
                )
    rows = [(k, c.total(), c["used"], c["refused"], c["failed"], f"{longest[k]:.1f}") for k, c in found.items()]
    head = ("what is changed", "cases", "used", "refused", "failed", "longest, s of CPU time")
    about = (
        f"{ROBOTS} robots made from the G1 and {POLICIES} policies made from the demo's, each with one thing changed, "
        f"by dice of seed {seed}. Refused is an error that names the file; failed is a traceback, a process that dies, "
        f"or more than {CPU_SECONDS:g} s."
    )
    save("attack_robots", "Robots and policies of strangers", about, markdown(head, rows))
    if failures:
        raise SystemExit(f"{len(failures)} failures")


if __name__ == "__main__":
    main()

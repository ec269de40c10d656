"""A stranger's policy is fed by its own rules, acts with its own numbers, and is judged as ours are."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
import onnx
from onnx import TensorProto, helper, numpy_helper

from phuma.errors import ReadError
from phuma.learning.deploy.dialects.registry import DIALECTS
from phuma.learning.deploy.foreign_policy import load_foreign
from phuma.learning.env.context import Context, action_scale, constants_of
from phuma.learning.env.observation import Observer
from phuma.learning.run.rollouts import roll_out
from phuma.sim.coordinates import Coordinates
from phuma.sim.events import EventsCfg
from phuma.sim.kinematics import Kinematics
from phuma.sim.mujoco_cpu import MujocoSimulation
from tests.fuzz import only_read_errors
from tests.learning.deploy.peers import ISAACLAB, ORIGINAL, WITHOUT_ESTIMATE, Posed, their_observation
from tests.learning.sample_motions import dip, library

BEYONDMIMIC = DIALECTS["beyondmimic"]


def in_order(robot, values):
    return [float(values[robot.joint_names.index(name)]) for name in ISAACLAB]


def texts(robot, observed=ORIGINAL, **changes):
    """Metadata as their exporter attaches it: three digits, IsaacLab's order."""
    numbers = {
        "joint_stiffness": robot.stiffness, "joint_damping": robot.damping, "default_joint_pos": robot.default_pose,
        "action_scale": action_scale(robot),
    }  # fmt: skip
    out = {name: ",".join(f"{x:.3f}" for x in in_order(robot, values)) for name, values in numbers.items()}
    out |= {
        "run_path": "theirs", "joint_names": ",".join(ISAACLAB), "command_names": "motion",
        "observation_names": ",".join(observed), "anchor_body_name": "torso_link", "body_names": "pelvis,torso_link",
    }  # fmt: skip
    return {name: value for name, value in (out | changes).items() if value is not None}


def stranger(path, metadata, weights, clocked=True, batch: int | str = 1, by_time=False):
    """Write a policy whose actions are a matrix times what it observes, with a motion inside."""
    width, joints = weights.shape
    given = [helper.make_tensor_value_info("obs", TensorProto.FLOAT, [batch, width])]
    put = [helper.make_tensor_value_info("actions", TensorProto.FLOAT, [batch, joints])]
    nodes = [helper.make_node("MatMul", ["obs", "w"], ["product"])]
    constants = [numpy_helper.from_array(weights.astype(np.float32), "w")]
    if clocked:
        given.append(helper.make_tensor_value_info("time_step", TensorProto.FLOAT, [batch, 1]))
        put.append(helper.make_tensor_value_info("joint_pos", TensorProto.FLOAT, [batch, joints]))
        constants.append(numpy_helper.from_array(np.zeros((9, joints), np.float32), "frames"))
        nodes.append(helper.make_node("Cast", ["time_step"], ["frame"], to=TensorProto.INT64))
        constants.append(numpy_helper.from_array(np.array(8), "last"))
        nodes.append(helper.make_node("Min", ["frame", "last"], ["held"]))
        constants.append(numpy_helper.from_array(np.array([1]), "axis"))
        nodes.append(helper.make_node("Squeeze", ["held", "axis"], ["row"]))
        nodes.append(helper.make_node("Gather", ["frames", "row"], ["joint_pos"]))
    nodes.append(
        helper.make_node("Add" if by_time else "Identity", ["product", "time_step"][: 1 + by_time], ["actions"])
    )
    graph = helper.make_graph(nodes, "theirs", given, put, constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    helper.set_model_props(model, metadata)
    onnx.save(model, path)
    return path


def matrix(width=160, size=0.02, seed=0):
    return np.random.default_rng(seed).normal(0, size, (width, 29))


def any_state(robot, seed):
    rng = np.random.default_rng(seed)
    quat = rng.normal(size=4)
    qpos = np.concatenate([rng.normal(size=3), quat / np.linalg.norm(quat), rng.uniform(robot.lower, robot.upper)])
    return qpos, rng.normal(size=6 + robot.n_joints)


@pytest.mark.parametrize("observed", [ORIGINAL, WITHOUT_ESTIMATE, WITHOUT_ESTIMATE[::-1]])
@pytest.mark.parametrize(("clocked", "batch"), [(True, 1), (False, "rows")])
def test_it_is_fed_what_its_own_program_feeds_it(g1, tmp_path, observed, clocked, batch):
    """160 numbers or 154, in the order of its names, with a motion inside or without, a row at a time or many."""
    weights = matrix(160 if observed is ORIGINAL else 154)
    file = stranger(tmp_path / "policy.onnx", texts(g1, observed), weights, clocked, batch)
    policy = load_foreign(file, BEYONDMIMIC, [g1])
    kinematics, states = Kinematics(g1), [any_state(g1, seed) for seed in range(4)]
    stacked = [np.stack(each).astype(np.float32) for each in zip(*states)]
    both = kinematics.of_coordinates(Coordinates(*stacked))
    last = np.random.default_rng(9).normal(size=(2, 29)).astype(np.float32)
    scale = np.array([float(cell) for cell in texts(g1)["action_scale"].split(",")])
    own = np.stack([in_own(g1, row * scale) for row in last]) / action_scale(g1)
    context = Context(constants_of(g1, both.root_pos), both[np.array([2, 3])], both[np.array([0, 1])], own)
    seen = Observer(policy.info.task.actor, np.random.default_rng(0), 0.0)(context)
    targets = g1.default_pose + action_scale(policy.robot) * policy.act(seen, {})
    for row in range(2):
        now, coming = Posed(g1, *states[row]), Posed(g1, *states[row + 2])
        fed = their_observation(observed, ISAACLAB, g1, now, coming, last[row])
        expected = in_own(g1, np.array(in_order(g1, g1.default_pose)) + scale * (fed @ weights))
        np.testing.assert_allclose(targets[row], expected, atol=2e-4)


def in_own(robot, values):
    """Numbers of their joints in the robot's order."""
    return np.array([values[ISAACLAB.index(name)] for name in robot.joint_names])


def test_its_gains_its_default_pose_and_its_scale_are_used_and_told(g1, tmp_path, monkeypatch):
    """In the simulation: what the joints' controllers aim at and how stiff they are."""
    softer = {"joint_stiffness": ",".join(f"{0.5 * x:.3f}" for x in in_order(g1, g1.stiffness))}
    straight = {"default_joint_pos": ",".join(["0.1"] * 29), "action_scale": "0.3"}
    file = stranger(tmp_path / "policy.onnx", texts(g1, WITHOUT_ESTIMATE, **softer, **straight), matrix(154))
    policy = load_foreign(file, BEYONDMIMIC, [g1])
    np.testing.assert_allclose(policy.robot.stiffness, 0.5 * g1.stiffness, atol=1e-3)
    differs = {each["name"]: each for each in policy.told.differences}
    assert set(differs) == {"default_pose", "stiffness", "action_scale"}
    assert differs["stiffness"]["theirs"] == pytest.approx(0.5 * differs["stiffness"]["ours"], abs=1e-3)
    fed, answers, targets = [], [], []

    class Recording(MujocoSimulation):
        def step(self, target):
            targets.append(target[0].copy())
            super().step(target)

    def listening(obs, time_step=0.0, ask=policy.answer):
        fed.append(obs[0])
        answers.append(ask(obs, time_step)[0])
        return answers[-1][None]

    monkeypatch.setattr(policy, "answer", listening)
    motions = library(policy.robot, down=dip(g1))
    assert list(roll_out(policy, motions, lambda n: Recording(policy.robot, n, 4, threads=1), events=EventsCfg()))
    assert len(answers) > 5
    np.testing.assert_allclose(targets, [0.1 + 0.3 * in_own(g1, answer) for answer in answers], atol=1e-5)
    assert WITHOUT_ESTIMATE[-1] == "actions"
    np.testing.assert_allclose([seen[-29:] for seen in fed[1:]], answers[:-1], atol=1e-5, err_msg="it sees its own")
    simulated = Recording(policy.robot, 1, 4, threads=1).model
    np.testing.assert_allclose(simulated.actuator_gainprm[:, 0], 0.5 * g1.stiffness, atol=1e-3)


def other(robot, name, value, joint="left_knee_joint"):
    cells = texts(robot)[name].split(",")
    cells[ISAACLAB.index(joint)] = value
    return ",".join(cells)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            lambda g1: {"joint_names": None},
            "has no 'joint_names' in its metadata, which beyondmimic's exporter attaches",
        ),
        (lambda g1: {"action_scale": None}, "has no 'action_scale' in its metadata"),
        (lambda g1: {"observation_names": None}, "has no 'observation_names' in its metadata"),
        (
            lambda g1: {"joint_names": other(g1, "joint_names", "left_tail_joint")},
            "has 29 joints that are not those of",
        ),
        (lambda g1: {"joint_names": "left_knee_joint"}, "has 1 joints that are not those of g1, for example"),
        (lambda g1: {"joint_stiffness": "40.0,41.0"}, "has 2 values of joint_stiffness; 29 finite ones are needed"),
        (
            lambda g1: {"joint_stiffness": other(g1, "joint_stiffness", "0")},
            "has joint_stiffness 0, which no motor has",
        ),
        (lambda g1: {"joint_damping": other(g1, "joint_damping", "nan")}, "29 finite ones are needed, one a joint"),
        (lambda g1: {"joint_damping": other(g1, "joint_damping", "x")}, "has a joint_damping that is not all numbers"),
        (lambda g1: {"action_scale": "0.0"}, "has action_scale 0, which no motor has; expected 1e-06 to 1e+06"),
        (
            lambda g1: {"observation_names": "command,projected_gravity"},
            "observes 'projected_gravity'; known here: com",
        ),
        (lambda g1: {"observation_names": "actions,actions"}, "observes the same twice"),
        (
            lambda g1: {"observation_names": ",".join(WITHOUT_ESTIMATE)},
            "has obs of 160 numbers, while its observation_names add up to 154",
        ),
        (lambda g1: {"anchor_body_name": "pelvis"}, "has the anchor_body_name 'pelvis'; here g1 is compared"),
    ],
)
def test_metadata_that_does_not_fit_is_named(g1, tmp_path, change, said):
    file = stranger(tmp_path / "policy.onnx", texts(g1, **change(g1)), matrix())
    with pytest.raises(ReadError, match=re.escape(said)):
        load_foreign(file, BEYONDMIMIC, [g1])


@pytest.mark.parametrize(
    ("key", "value"),
    [("observation_terms_scale", "1.0,0.25,1,1,1,1"), ("observation_terms_history_length", "0,5,0,0,0,0")],
)
def test_terms_that_are_scaled_or_remembered_are_refused(g1, tmp_path, key, value):
    file = stranger(tmp_path / "policy.onnx", texts(g1, WITHOUT_ESTIMATE, **{key: value}), matrix(154))
    load_foreign(file, BEYONDMIMIC, [g1])  # where nobody writes that key, it says nothing
    with pytest.raises(ReadError, match=f"has {key} '{value.split(',')[1]}' of motion_anchor_ori_b"):
        load_foreign(file, DIALECTS["mjlab"], [g1])


def rename(model, what, name):
    port = getattr(model.graph, what)[0]
    model.graph.node.append(helper.make_node("Identity", [port.name], ["more"]))
    for node in model.graph.node:
        node.input[:] = [name if each == port.name else each for each in node.input]
        node.output[:] = [name if each == port.name else each for each in node.output]
    port.name = name


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            lambda m: rename(m, "input", "observation"),
            "has the inputs ['observation', 'time_step']; expected obs, or obs and",
        ),
        (
            lambda m: rename(m, "output", "action"),
            "has the outputs ['action', 'joint_pos']; expected actions among them",
        ),
        (lambda m: m.graph.node.append(helper.make_node("RandomNormal", [], ["noise"], shape=[1])), "'RandomNormal'"),
    ],
)
def test_a_graph_that_does_not_fit_is_named(g1, tmp_path, change, said):
    file = stranger(tmp_path / "policy.onnx", texts(g1), matrix())
    model = onnx.load(file)
    change(model)
    file.write_bytes(model.SerializeToString())
    with pytest.raises(ReadError, match=re.escape(said)):
        load_foreign(file, BEYONDMIMIC, [g1])


def test_one_that_acts_by_its_clock_follows_its_own_motion_and_is_refused(g1, tmp_path):
    file = stranger(tmp_path / "policy.onnx", texts(g1), matrix(), by_time=True)
    with pytest.raises(ReadError, match="acts by its time_step: it follows the motion inside"):
        load_foreign(file, BEYONDMIMIC, [g1])


def test_a_damaged_file_is_named(g1, tmp_path):
    file = stranger(tmp_path / "policy.onnx", texts(g1), matrix())
    whole, damaged = file.read_bytes(), tmp_path / "damaged.onnx"
    for length in (0, 40, len(whole) // 2, len(whole) - 9):
        damaged.write_bytes(whole[:length])
        assert not only_read_errors(ReadError, lambda: load_foreign(damaged, BEYONDMIMIC, [g1]))
    for path in (tmp_path, tmp_path / "none.onnx"):
        with pytest.raises(ReadError, match=r"is no file; --dialect beyondmimic takes a policy\.onnx"):
            load_foreign(path, BEYONDMIMIC, [g1])


def test_numbers_that_json_allows_and_no_robot_has_are_named(g1, tmp_path):
    metadata = {
        "dof_names": json.dumps(g1.joint_names), "kp": json.dumps([10**400] * 29), "kd": "[]", "action_scale": "1",
    }  # fmt: skip
    file = stranger(tmp_path / "policy.onnx", metadata, matrix(154))
    with pytest.raises(ReadError, match=r"policy\.onnx: "):
        load_foreign(file, DIALECTS["holosoma"], [g1])

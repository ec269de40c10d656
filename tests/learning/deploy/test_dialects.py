"""A policy in another project's layout answers to what that project's program feeds it as ours answers to ours."""

from __future__ import annotations

import json

import mujoco
import numpy as np
import pytest

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
pytest.importorskip("torch")
import onnx
import onnxruntime
import torch

from phuma.errors import ConfigError
from phuma.learning.deploy.dialects.registry import DIALECTS
from phuma.learning.deploy.onnx_dialect import export_in_dialect
from phuma.learning.deploy.onnx_export import export_policy
from phuma.learning.deploy.policy import info_of
from phuma.learning.deploy.torch_policy import TorchPolicy
from phuma.learning.env.config import EnvironmentCfg
from phuma.learning.env.context import Context, constants_of
from phuma.learning.env.observation import Observer
from phuma.learning.nets.config import MLPCfg
from phuma.learning.recipes.recipe import DEPLOY, recipe_named
from phuma.robots.kinematics import body_poses
from phuma.robots.urdf_text import urdf_text
from phuma.sim.coordinates import Coordinates
from phuma.sim.kinematics import Kinematics
from tests.learning.deploy.peers import JOINTS, NAMES, Posed, their_metadata, their_observation
from tests.learning.sample_motions import dip, library, wandering

DEPLOYED = EnvironmentCfg(base="default", future=False)


def policy_for(robot, cfg=DEPLOYED, seed=0):
    """A policy with weights and normalisers that are far from where they begin."""
    recipe, stage = recipe_named("beyondmimic"), "policy"
    info = info_of(robot, "beyondmimic", stage, cfg)
    net = recipe.stages[stage].network(recipe.task(stage, cfg), robot, MLPCfg(hidden=(16, 16), encoder=(4, 8)))
    draw = torch.Generator().manual_seed(seed)
    for name, value in net.state_dict().items():
        noise = torch.randn(value.shape, generator=draw)
        value.copy_(0.5 + noise**2 if name.endswith("var") else 0.15 * noise)
    return TorchPolicy(net.eval().requires_grad_(False), info)


def any_state(robot, seed):
    """(7 + N,), (6 + N,) a robot in the air, wherever and however."""
    rng = np.random.default_rng(seed)
    quat = rng.normal(size=4)
    qpos = np.concatenate([rng.normal(size=3), quat / np.linalg.norm(quat), rng.uniform(robot.lower, robot.upper)])
    return qpos, rng.normal(size=6 + robot.n_joints)


def observed(robot, info, now, coming, action):
    """What a policy of ours observes, by the groups' names."""
    kinematics = Kinematics(robot)
    state, reference = (
        kinematics.of_coordinates(Coordinates(*(x[None].astype(np.float32) for x in each))) for each in (now, coming)
    )
    context = Context(constants_of(robot, state.root_pos), reference, state, action[None].astype(np.float32))
    return Observer(info.task.actor, np.random.default_rng(0), 0.0)(context)


@pytest.fixture(scope="module")
def policy(g1):
    return policy_for(g1)


@pytest.fixture(scope="module")
def files(g1, policy, tmp_path_factory):
    """The policy in our layout and in all others, with a motion inside."""
    folder = tmp_path_factory.mktemp("dialects")
    export_policy(policy, folder / "phuma.onnx")
    for name, dialect in DIALECTS.items():
        export_in_dialect(policy, g1, dialect, folder / f"{name}.onnx", "a_run", library(g1, down=dip(g1)))
    return folder


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("seed", range(3))
def test_the_same_state_gives_the_same_targets(g1, policy, files, dialect, seed):
    """Theirs by their own rules: observation, names, scale and default pose."""
    now, coming = any_state(g1, 2 * seed), any_state(g1, 2 * seed + 1)
    theirs = onnxruntime.InferenceSession(files / f"{dialect}.onnx")
    told = their_metadata(dialect, theirs.get_modelmeta().custom_metadata_map)
    assert told["names"] == JOINTS[dialect]
    last = np.random.default_rng(seed).normal(size=29)
    fed = their_observation(NAMES[dialect], JOINTS[dialect], g1, Posed(g1, *now), Posed(g1, *coming), last)
    assert fed.shape == (154,)
    given = {"obs": fed[None].astype(np.float32), "time_step": np.zeros((1, 1), np.float32)}
    (actions,) = theirs.run(["actions"], given)
    target = dict(zip(told["names"], np.array(told["default"]) + np.array(told["scale"]) * actions[0]))

    ours = onnxruntime.InferenceSession(files / "phuma.onnx")
    own = np.array([last[JOINTS[dialect].index(name)] for name in g1.joint_names])
    (expected,) = ours.run(["target"], observed(g1, policy.info, now, coming, own))
    assert np.abs(expected[0] - g1.default_pose).max() > 0.1, "it does something"
    np.testing.assert_allclose([target[name] for name in g1.joint_names], expected[0], atol=2e-5)
    for name, key in (("kp", "stiffness"), ("kd", "damping")):
        assert dict(zip(told["names"], told[name])) == dict(zip(g1.joint_names, getattr(g1, key).tolist()))


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_motion_inside_is_the_clip_frame_by_frame_and_held_at_its_end(g1, files, dialect):
    motions = library(g1, down=dip(g1))
    session = onnxruntime.InferenceSession(files / f"{dialect}.onnx")
    names = [port.name for port in session.get_outputs()]
    order, motion = [g1.joint_names.index(name) for name in JOINTS[dialect]], motions.motions[0]
    pos, _ = body_poses(g1, motion.double())
    for step, frame in ((0, 0), (17, 17), (10_000, len(motion) - 1)):
        given = {"obs": np.zeros((1, 154), np.float32), "time_step": np.full((1, 1), step, np.float32)}
        out = dict(zip(names, session.run(names, given)))
        np.testing.assert_allclose(out["joint_pos"][0], motion.joint_pos[frame][order], atol=1e-6)
        if dialect == "holosoma":
            torso = pos[frame, g1.body_names.index("torso_link")]
            np.testing.assert_allclose(out["ref_pos_xyz"][0], torso, atol=1e-5)
            turned = Posed(g1, motion.qpos[frame], np.zeros(35)).torso.xquat[[1, 2, 3, 0]]
            assert abs(out["ref_quat_xyzw"][0] @ turned) == pytest.approx(1.0, abs=1e-5)
        else:
            bodies = [g1.body_names.index(name) for name in g1.key_bodies]
            np.testing.assert_allclose(out["body_pos_w"][0], pos[frame, bodies], atol=1e-5)
            assert out["body_quat_w"].shape == (1, 14, 4)


def test_metadata_has_their_keys_in_their_words(files):
    def texts(dialect):
        return {entry.key: entry.value for entry in onnx.load(files / f"{dialect}.onnx").metadata_props}

    base = {
        "run_path", "joint_names", "joint_stiffness", "joint_damping", "default_joint_pos", "command_names",
        "observation_names", "action_scale", "anchor_body_name", "body_names",
    }  # fmt: skip
    assert set(texts("beyondmimic")) == base
    terms = {"scale", "flatten_history_dim", "history_length", "clip"}
    assert set(texts("mjlab")) == base | {f"observation_terms_{name}" for name in terms}
    assert texts("mjlab")["observation_terms_clip"].split(",") == ["-inf;inf"] * 6
    assert texts("beyondmimic")["observation_names"] == (
        "command,motion_anchor_ori_b,base_ang_vel,joint_pos,joint_vel,actions"
    )
    assert (texts("mjlab")["anchor_body_name"], texts("mjlab")["command_names"]) == ("torso_link", "motion")
    holosoma = {key: json.loads(text) for key, text in texts("holosoma").items()}
    assert holosoma["robot_urdf"].startswith('<robot name="g1">')
    assert holosoma["command_ranges"] is None


def test_the_deploy_yaml_says_what_the_file_is(g1, files):
    yaml = pytest.importorskip("yaml")
    read = yaml.safe_load((files / "deploy.yaml").read_text())
    assert (read["step_dt"], read["joint_ids_map"]) == (0.02, list(range(29)))
    assert read["stiffness"] == g1.stiffness.tolist()
    action = read["actions"]["JointPositionAction"]
    assert action["offset"] == read["default_joint_pos"] == g1.default_pose.tolist()
    np.testing.assert_allclose(np.multiply(action["scale"], g1.stiffness), 0.25 * g1.torque_limit)
    sizes = {name: len(term["scale"]) for name, term in read["observations"].items()}
    assert list(sizes.items()) == [
        ("motion_command", 58), ("motion_anchor_ori_b", 6), ("base_ang_vel", 3), ("joint_pos_rel", 29),
        ("joint_vel_rel", 29), ("last_action", 29),
    ]  # fmt: skip


def test_without_a_motion_the_file_takes_an_observation_alone(g1, policy, tmp_path):
    export_in_dialect(policy, g1, DIALECTS["mjlab"], tmp_path / "policy.onnx", "run")
    session = onnxruntime.InferenceSession(tmp_path / "policy.onnx")
    assert [(port.name, port.shape) for port in session.get_inputs()] == [("obs", [1, 154])]
    assert [(port.name, port.shape) for port in session.get_outputs()] == [("actions", [1, 29])]
    for name in ("beyondmimic", "holosoma"):
        with pytest.raises(ConfigError, match=f"{name} has the motion inside the file: give one by --motion"):
            export_in_dialect(policy, g1, DIALECTS[name], tmp_path / f"{name}.onnx", "run")
        assert not (tmp_path / f"{name}.onnx").exists()


@pytest.mark.parametrize("dialect", DIALECTS.values(), ids=lambda each: each.name)
@pytest.mark.parametrize(
    ("cfg", "said"),
    [
        ({"base": "certified"}, "its actions are added to the base 'certified', theirs to the default pose"),
        ({"future": True}, "it observes the coming 1.9 s"),
        ({"differences": True}, "it observes differences from the reference"),
        ({"history": 4}, "it observes 4 steps of its past"),
    ],
)
def test_a_policy_that_observes_otherwise_is_refused_with_the_command_that_trains_one(g1, dialect, cfg, said):
    info = info_of(g1, "beyondmimic", "policy", EnvironmentCfg(**{"base": "default", "future": False, **cfg}))
    with pytest.raises(ConfigError, match="phuma train DATASET --preset deploy --out RUN") as told:
        dialect.check(info)
    assert f"the policy does not fit {dialect.name}: {said}. One" in str(told.value)


@pytest.mark.parametrize("begin", recipe_named("beyondmimic").ways)
def test_every_stage_of_the_preset_makes_a_policy_that_fits(g1, begin):
    cfg = recipe_named("beyondmimic").settings(DEPLOY, begin=begin)
    for stage, own in cfg.stages.items():
        info = info_of(g1, cfg.algo, stage, own.environment)
        assert sum(group.width(info) for group in info.task.actor) == 154
        for dialect in DIALECTS.values():
            dialect.check(info)


def test_the_urdf_moves_as_the_robot_does(g1):
    model = mujoco.MjModel.from_xml_string(urdf_text(g1))
    data, motion = mujoco.MjData(model), wandering(g1)
    pos, _ = body_poses(g1, motion)
    for frame in (0, 20, 40):
        for name, angle in zip(g1.joint_names, motion.joint_pos[frame]):
            data.qpos[model.joint(name).qposadr[0]] = angle
        mujoco.mj_kinematics(model, data)
        root = Posed(g1, motion.qpos[frame], np.zeros(35)).data.body("pelvis").xmat.reshape(3, 3)
        for name in ("torso_link", "left_ankle_roll_link", "right_wrist_yaw_link"):
            there = root.T @ (pos[frame, g1.body_names.index(name)] - motion.root_pos[frame])
            np.testing.assert_allclose(data.body(name).xpos, there, atol=1e-6)

"""The reference controller of examples/controller: it feeds policies as training does, keeps limits, and stops."""

from __future__ import annotations

import importlib
import json
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("mujoco")
pytest.importorskip("onnxscript")

import phuma
from phuma.cli.demo import POLICY, TRACKED
from phuma.formats.rollout_file import load_rollout
from phuma.learning.deploy.onnx_export import export_policy
from phuma.learning.deploy.policy import info_of
from phuma.learning.deploy.reference_file import save_reference
from phuma.learning.deploy.torch_policy import TorchPolicy
from phuma.learning.env.config import EnvironmentCfg
from phuma.learning.env.deviation import lawful_targets, size, units
from phuma.learning.motions.library import MotionLibrary, library_of
from phuma.learning.motions.references import expand
from phuma.learning.nets.config import LatentCfg, MLPCfg
from phuma.learning.recipes.recipe import recipe_named
from phuma.learning.run.rollouts import roll_out
from phuma.pipelines.evaluate_policy import judge_policy, judge_rollouts, load_policy
from phuma.robots import load_robot
from phuma.robots.kinematics import local_body_poses
from phuma.sim.events import EventsCfg
from phuma.sim.feedback import Feedback, Strand
from phuma.sim.mujoco_cpu import MujocoSimulation
from tests.learning.motions.test_experts import made_up
from tests.learning.sample_motions import dip
from tests.robots.originals import original

FOLDER = Path(__file__).parents[1] / "examples" / "controller"
FILES = sorted(FOLDER.glob("*.py"))
POINTS = 5.0
"""by which success may be below that of an evaluation"""

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def code():
    """Its modules, as they import each other."""
    names = [file.stem for file in FILES]
    sys.path.insert(0, str(FOLDER))
    try:
        yield SimpleNamespace(**{name: importlib.import_module(name) for name in names})
    finally:
        sys.path.remove(str(FOLDER))
        for name in names:
            del sys.modules[name]


@pytest.fixture(scope="module")
def squat():
    return library_of(load_robot("g1"), [(TRACKED, phuma.load_robot_motion(POLICY / f"{TRACKED}.npz"), None)])


@pytest.fixture(scope="module")
def folder(tmp_path_factory, squat) -> Path:
    """What is deployed: the shipped policy, its motion and the robot's model."""
    out = tmp_path_factory.mktemp("deployed")
    save_reference(out / "motion.npz", squat, 0, load_policy(POLICY / "policy.onnx").info)
    for file in (POLICY / "policy.onnx", squat.robot.model_file):
        shutil.copy(file, out)
    return out


@pytest.fixture
def parts(code, folder):
    """A policy and its motors."""
    policy = code.policy.Policy(folder / "policy.onnx", folder / "motion.npz")
    return policy, code.controller.Motors(policy)


def run(folder: Path, out: Path, *words: str) -> str:
    """In a process of its own."""
    words = (str(FOLDER / "run.py"), str(folder), "--out", str(out), *words)
    done = subprocess.run([sys.executable, *words], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_it_knows_nothing_of_this_package():
    assert len(FILES) == 6
    assert not [f.name for f in FILES if re.search(r"^\s*(import|from) phuma", f.read_text(), re.MULTILINE)]


@pytest.mark.parametrize("words", [(), ("--on-reference",)], ids=["standing", "on the reference"])
@pytest.mark.parametrize("model", ["ours", "maker's"])
def test_it_succeeds_as_an_evaluation_does(folder, squat, tmp_path, model, words):
    words += ("--model", str(original("g1").mjcf)) if model == "maker's" else ()
    assert "damped: done" in run(folder, tmp_path / "rollout.npz", *words)
    total = judge_rollouts([load_rollout(tmp_path / "rollout.npz")], squat)["total"]
    evaluated = judge_policy(load_policy(POLICY / "policy.onnx"), squat)["total"]
    for name in ("success_0.5", "success_0.15"):
        assert total[name] >= evaluated[name] - POINTS


# What it feeds a policy.


@pytest.mark.parametrize(
    ("algo", "stage", "cfg"),
    [
        ("beyondmimic", "distilled", EnvironmentCfg()),
        ("beyondmimic", "distilled", EnvironmentCfg(base="default", future=False)),
        ("beyondmimic", "distilled", EnvironmentCfg(differences=True, history=4)),
        ("kungfubot", "student", EnvironmentCfg(differences=True, history=10)),
        ("estimator", "estimator", EnvironmentCfg(base="certified", history=10)),
    ],
    ids=["goal", "default pose, no future", "differences with a past", "kungfubot", "estimator"],
)
def test_it_feeds_a_policy_as_the_simulation_does(code, tmp_path, algo, stage, cfg):
    g1 = load_robot("g1")
    own = MotionLibrary(g1)
    own.add("down", dip(g1, 0.6), None, made_up(g1, dip(g1, 0.6), 0.0))
    recipe = recipe_named(algo)
    sizes = LatentCfg(hidden=(8, 8), encoder=(4, 8)) if algo == "kungfubot" else MLPCfg(hidden=(8, 8), encoder=(4, 8))
    net = recipe.stages[stage].network(recipe.task(stage, cfg), g1, sizes)
    info = info_of(g1, algo, stage, cfg)
    export_policy(TorchPolicy(net, info), tmp_path / "policy.onnx")
    save_reference(tmp_path / "motion.npz", own, 0, info)
    policy = code.policy.Policy(tmp_path / "policy.onnx", tmp_path / "motion.npz")
    simulations, targets, aimed, compared = [], [], [], []

    class Recording(MujocoSimulation):
        def step(self, target):
            targets.append(target[0].copy())
            super().step(target)

    def simulate(environments):
        simulations.append(Recording(g1, environments, 2, threads=1))
        return simulations[0]

    class Deployed:
        def __init__(self):
            self.info = info

        def act(self, observation, features):
            now = simulations[0].state()
            state = code.policy.State(now.root_quat[0], now.root_angvel[0], now.joint_pos[0], now.joint_vel[0])
            if not compared:
                policy.begin(state)
                policy.turned = np.array([1.0, 0.0, 0.0, 0.0])  # the simulation knows where the motion faces
            fed = []
            policy.session = SimpleNamespace(
                run=lambda names, given: fed.append(given) or session.run(names, given)  # what it would be fed
            )
            aimed.append(policy.target(state))
            wanted = {
                group.name: observation[group.name]
                if group.coming is None
                else features[group.name][observation[group.name]]
                for group in info.task.actor
            }
            assert fed[0].keys() - {"base"} == wanted.keys()
            for name, value in wanted.items():
                np.testing.assert_allclose(fed[0][name], value, atol=2e-5, err_msg=name)
            compared.append(fed[0])
            return policy.action[None]

    session = policy.session
    list(roll_out(Deployed(), own, simulate, events=EventsCfg(start=1.0)))
    assert len(compared) > 5
    np.testing.assert_allclose(targets[: len(aimed)], aimed, atol=1e-5)


def test_it_acts_by_the_law_of_a_certificate_as_the_simulation_does(code, tmp_path):
    """Of a policy that estimates how far off it is: what the motors aim at is the same from any estimate, along ways
    back too."""
    g1 = load_robot("g1")
    own, cfg = MotionLibrary(g1), EnvironmentCfg(base="certified", history=4)
    performed = made_up(g1, dip(g1), 0.02)
    strand = performed.feedback()[0].feedback
    rng, part = np.random.default_rng(0), slice(10, 30)
    value = rng.normal(size=(len(strand), 3, strand.gains.shape[-1])).astype(np.float32)
    gains = rng.normal(size=strand.gains.shape).astype(np.float16)
    bent = Feedback(strand.qpos, strand.qvel, strand.target, gains, value, strand.lateness)
    qpos, *rest, value, lateness = (values[part] for values in bent)
    way = Feedback(qpos + 0.02 * rng.normal(size=qpos.shape), *rest, 0.7 * value, lateness)
    strands = [Strand(0, bent), Strand(10, way)]
    own.add("down", dip(g1), None, replace(performed, feedback=lambda: strands))
    task = recipe_named("estimator").task("estimator", cfg)
    save_reference(tmp_path / "motion.npz", own, 0, info_of(g1, "estimator", "estimator", cfg))
    law = code.law.Law(dict(np.load(tmp_path / "motion.npz")), units(29))
    references, frames = expand(own, [0], task), np.repeat(np.arange(0, 45, 3), 4)
    said = 0.1 * rng.normal(size=(len(frames), size(29))).astype(np.float32)
    wanted = lawful_targets(references, said, frames)
    found = [law.target(one, frame) for one, frame in zip(said, frames)]
    np.testing.assert_allclose(found, wanted, atol=2e-3)


def test_the_motion_is_turned_to_where_the_robot_faces(code, parts):
    """A robot whose IMU has another zero gets the same targets."""
    policy, _ = parts
    motion, rot = policy.motion, code.rotations
    found = []
    for angle in (0.0, 2.5):
        facing = rot.multiply(rot.about([0, 0, 1], angle), motion["root_quat"][0].astype(float))
        state = code.policy.State(facing, motion["root_angvel"][0], motion["joint_pos"][0], motion["joint_vel"][0])
        policy.begin(state)
        found.append(policy.target(state))
    np.testing.assert_allclose(found[0], found[1], atol=1e-5)


def test_a_motion_for_another_policy_is_refused(code, folder, tmp_path):
    arrays = dict(np.load(folder / "motion.npz"))
    np.savez(tmp_path / "motion.npz", **{**arrays, "joint_names": arrays["joint_names"][::-1]})
    with pytest.raises(SystemExit, match="write it again by `phuma policy motion`"):
        code.policy.Policy(folder / "policy.onnx", tmp_path / "motion.npz")


def test_a_policy_with_another_history_than_it_says_is_refused(code, folder, tmp_path):
    onnx = pytest.importorskip("onnx")
    model = onnx.load(folder / "policy.onnx")
    text = next(entry for entry in model.metadata_props if entry.key == "observations")
    inputs = json.loads(text.value)
    inputs[-2]["shape"][0] += 2
    text.value = json.dumps(inputs)
    onnx.save(model, tmp_path / "policy.onnx")
    with pytest.raises(SystemExit, match=r"takes .*\[20, 78\].*says that it takes .*\[22, 78\].* write it again by"):
        code.policy.Policy(tmp_path / "policy.onnx", folder / "motion.npz")


# The robot in MuJoCo.


def test_joints_that_are_locked_are_where_the_motions_file_says(code, folder, tmp_path):
    bent = load_robot("g1", lock=["elbow*=70", "left_wrist_roll"])
    info = info_of(bent, "beyondmimic", "distilled", EnvironmentCfg(base="default", future=False))
    save_reference(tmp_path / "motion.npz", library_of(bent, [("down", dip(bent, 0.6), None)]), 0, info)
    motion = dict(np.load(tmp_path / "motion.npz"))
    held = load_robot("g1").joint_index(motion["locked_joints"])
    np.testing.assert_allclose(motion["locked_pos"], [np.radians(70), 0.0, np.radians(70)], rtol=1e-6)
    np.testing.assert_allclose(motion["locked_stiffness"], load_robot("g1").stiffness[held], rtol=1e-6)
    locked = dict(zip(motion["locked_joints"], motion["locked_pos"]))
    robot = code.mujoco_robot.MujocoRobot(
        folder / "model.xml", bent.joint_names, bent.torque_limit, bent.armature, locked=locked
    )
    robot.put([0, 0, 1], [1, 0, 0, 0], bent.default_pose)
    pos, _ = local_body_poses(bent, bent.default_pose[None])
    there = np.array([robot.data.body(name).xpos for name in bent.body_names]) - [0, 0, 1]
    np.testing.assert_allclose(there, pos[0], atol=1e-5)


# Limits and the watchdog.


def still(code, policy, **changes):
    """A robot in the default pose."""
    zero = np.zeros(len(policy.default_pose))
    state = code.policy.State(np.array([1.0, 0, 0, 0]), np.zeros(3), policy.default_pose.copy(), zero)
    return state._replace(**changes)


def is_damping(command) -> bool:
    return not command.kp.any() and not command.tau.any() and bool((command.kd > 0).all())


def test_a_target_that_is_not_finite_damps_for_good(code, parts):
    policy, motors = parts
    state, wrong = still(code, policy), policy.default_pose.copy()
    motors.aim(policy.default_pose, 0.0)
    assert not is_damping(motors.command(state, 0.0))
    wrong[3] = np.nan
    motors.aim(wrong, 0.02)
    assert is_damping(motors.command(state, 0.02))
    assert motors.damped == "target of left_knee_joint is not finite"
    motors.aim(policy.default_pose, 0.04)
    assert is_damping(motors.command(state, 0.04))


def test_a_target_that_is_late_damps_for_good(code, parts):
    policy, motors = parts
    state = still(code, policy)
    motors.aim(policy.default_pose, 0.0)
    assert not is_damping(motors.command(state, 0.059))
    assert is_damping(motors.command(state, 0.061))
    assert motors.damped == "no target in time"
    motors.aim(policy.default_pose, 0.07)
    assert is_damping(motors.command(state, 0.07))
    assert is_damping(code.controller.Motors(policy).command(state, 0.0)), "nothing was asked for yet"


def test_a_broken_sensor_and_a_joint_beyond_its_range_damp(code, parts):
    policy, _ = parts
    lifted = policy.default_pose.copy()
    lifted[3] = policy.motion["joint_upper"][3] + 0.4
    landing = policy.default_pose.copy()
    landing[4] = policy.motion["joint_upper"][4] + 0.23
    motors = code.controller.Motors(policy)
    motors.aim(policy.default_pose, 0.0)
    assert not is_damping(motors.command(still(code, policy, q=landing), 0.0)), "stops give way in a simulation"
    for state, said in (
        (still(code, policy, gyro=np.array([0.0, np.inf, 0.0])), "a sensor is not finite"),
        (still(code, policy, q=lifted), "left_knee_joint is 0.40 rad beyond its limit"),
    ):
        motors = code.controller.Motors(policy)
        motors.aim(policy.default_pose, 0.0)
        assert is_damping(motors.command(state, 0.0))
        assert motors.damped == said


def test_no_command_asks_for_more_than_a_motor_or_a_joint_can_do(code, parts):
    policy, motors = parts
    rng, lower, upper = np.random.default_rng(0), motors.lower, motors.upper
    outward = 0
    for _ in range(200):
        q = np.clip(rng.uniform(lower - 0.2, upper + 0.2), lower - 0.05, upper + 0.05)
        state = still(code, policy, q=q, dq=rng.normal(0, 3, len(q)))
        motors.aim(q + rng.normal(0, 3, len(q)), 0.0)
        command = motors.command(state, 0.0)
        torque = command.kp * (command.q - q) + command.kd * (command.dq - state.dq) + command.tau
        assert (np.abs(torque) <= motors.limit * (1 + 1e-9)).all()
        at_end = (q > upper) & (state.dq > 0)
        outward += at_end.sum()
        assert (torque[at_end] <= 1e-9).all()
    assert outward > 100
    assert motors.damped is None


class Failing:
    """A policy whose targets are not finite after some control steps."""

    def __init__(self, policy, steps):
        self._policy, self._steps = policy, steps

    def __getattr__(self, name):
        return getattr(self._policy, name)

    def target(self, state):
        target = self._policy.target(state)
        return target if self._policy.frame <= self._steps else np.full_like(target, np.nan)


def simulated(code, folder, parts, controller):
    policy, motors = parts
    robot = code.mujoco_robot.MujocoRobot(
        folder / "model.xml", policy.about["joint_names"], motors.limit, policy.motion["armature"]
    )
    code.run.put(robot, policy, on_reference=True)
    sent, write = [], robot.write

    def written(command):
        assert robot.time < 20, "it never ends"
        sent.append((robot.time, is_damping(command)))
        write(command)

    robot.write = written
    return robot, code.run.run(robot, controller, motors), sent


@pytest.mark.parametrize("how", ["not finite", "late", "stopped"])
def test_a_run_that_fails_ends_in_damping(code, folder, parts, how):
    """After twenty control steps, within the watchdog's patience; and the robot then sinks, it does not thrash."""
    policy, motors = parts

    class Broken(code.controller.Controller):
        def follow(self, state, now, passed):
            if how == "late" and self.steps > 20:
                return  # no target comes any more
            if how == "stopped" and self.steps > 20:
                self.stop("stopped by hand")
            super().follow(state, now, passed)

    controller = Broken(Failing(policy, 20) if how == "not finite" else policy, motors, stand=False)
    robot, path, sent = simulated(code, folder, parts, controller)
    first = next(time for time, damping in sent if damping)
    assert 0.39 < first <= 0.4 + code.controller.LATE * policy.period + 0.002
    assert all(damping for time, damping in sent if time >= first)
    assert (
        motors.damped
        == {
            "not finite": "target of left_hip_pitch_joint is not finite",
            "late": "no target in time",
            "stopped": "stopped by hand",
        }[how]
    )
    assert len(path) < policy.frames
    assert np.isfinite(robot.data.qpos).all()
    assert np.abs(robot.data.qvel).max() < 20

"""KungfuBot: a teacher from experts or by PPO, its student, and the student as a file that a robot can feed."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("mujoco")
pytest.importorskip("numba")

import torch

from phuma.errors import ConfigError
from phuma.learning.algorithms.config import DistillationCfg, LatentPPOCfg
from phuma.learning.deploy.onnx_export import export_policy
from phuma.learning.deploy.onnx_policy import load_onnx
from phuma.learning.deploy.reference_file import save_reference
from phuma.learning.deploy.torch_policy import policy_of_run
from phuma.learning.motions.library import MotionLibrary
from phuma.learning.recipes.recipe import EXPERTS, SCRATCH, RunCfg, recipe_named
from phuma.learning.run.folder import RunFolder
from phuma.learning.run.rollouts import roll_out
from phuma.learning.run.runner import StageRunner
from phuma.pipelines.evaluate_policy import judge_policy
from phuma.pipelines.train_policy import Budget, train_policy
from phuma.sim.events import EventsCfg
from phuma.sim.mujoco_cpu import MujocoSimulation
from tests.learning.motions.test_experts import made_up
from tests.learning.sample_motions import dip, stand

RECIPE = recipe_named("kungfubot")
DOCS = Path(__file__).parents[3] / "docs" / "formats" / "policy.md"
SMALL = {"hidden": (16,), "encoder": (6, 8), "channels": (5, 4), "privileged": (8,), "past_encoder": (6, 7)}
FEW = {
    DistillationCfg: {"horizon": 4, "updates": 2, "batch": 32, "memory": 256},
    LatentPPOCfg: {"horizon": 4, "epochs": 1, "minibatches": 2, "guess_every": 2},
}
STEPS = 8 * 4 * 4
"""Environment steps of four updates: two of the teacher, two of its student"""


@pytest.fixture(scope="module")
def motions(g1):
    out = MotionLibrary(g1)
    out.add("still", stand(g1), None, made_up(g1, stand(g1), 0.0))
    out.add("down", dip(g1), None, made_up(g1, dip(g1), 0.0))
    return out


def few(begin: str = EXPERTS, preset: str = "cpu", environments: int = 8, **environment) -> RunCfg:
    """Settings of a run that takes a second."""
    cfg = RECIPE.settings(preset, begin=begin)
    stages = {
        name: replace(
            own,
            environment=own.environment.changed(environments=environments, **environment),
            network=replace(own.network, **SMALL),
            algorithm=replace(own.algorithm, **FEW[type(own.algorithm)]),
        )
        for name, own in cfg.stages.items()
    }
    return replace(cfg, stages=stages)


@pytest.fixture(scope="module")
def run(motions, tmp_path_factory) -> RunFolder:
    return train_policy(motions, tmp_path_factory.mktemp("kungfubot") / "run", few(), Budget(STEPS))


def arrays(folder, stage):
    return {name: value for name, value in folder.load(stage).items() if name != "seconds"}


def test_the_paper_s_values():
    teacher, student = RECIPE.settings("paper", begin=SCRATCH).stages.values()
    ppo = teacher.algorithm
    assert (teacher.environment.environments, ppo.horizon, ppo.epochs, ppo.minibatches) == (8192, 24, 5, 4)
    assert (ppo.gamma, ppo.learning_rate, ppo.desired_kl, ppo.std) == (0.98, 1e-4, 0.01, (0.2, 1.2))
    assert (ppo.regulariser, ppo.guess_every) == (0.1, 20)
    assert student.algorithm.norm
    assert (student.algorithm.learning_rate, student.environment.history) == (1e-4, 10)
    for own in (teacher, student):
        assert (own.network.hidden, own.network.norm, own.network.encoder) == ((768, 512, 256), True, (60, 128))
        assert own.network.future_encoder == (60, (40, 20), (6, 4), (2, 2), 128)
        assert own.network.history_encoder == (30, (20, 10), (4, 2), (2, 1), 64)


def test_what_a_run_began_from_is_known_by_how_it_learns():
    for begin in (EXPERTS, SCRATCH):
        cfg = few(begin)
        assert RECIPE.way_of(cfg) == begin
        assert (RECIPE.taught_by("teacher", cfg.stages["teacher"]) == EXPERTS) == (begin == EXPERTS)
        assert RECIPE.taught_by("student", cfg.stages["student"]) == "teacher"


def test_from_experts_teacher_and_student_are_two_stages_of_one_run(run, g1):
    assert sorted(path.name for path in run.root.glob("*.npz")) == ["checkpoint_student.npz", "checkpoint_teacher.npz"]
    assert run.info().cfg == few()
    teacher, student = (arrays(run, stage) for stage in ("teacher", "student"))
    copied = [name for name in student if name.startswith("net.actor.history_encoder.")]
    assert len(copied) > 8
    for name in copied:
        np.testing.assert_array_equal(student[name], teacher[name], err_msg=name)
    inputs = [each["name"] for each in policy_of_run(run, g1).info.inputs]
    assert inputs == ["sensed", "rotation", "next", "root_difference", "future_joints", "history", "base"]


def test_labels_are_what_the_teacher_does_by_its_past_in_the_states_that_the_student_visits(motions):
    cfg = few()
    teacher = StageRunner(motions, cfg, "teacher", threads=1).net
    torch.nn.init.normal_(teacher.actor.layers[-1].weight)
    student = StageRunner(motions, cfg, "student", threads=1, teacher=teacher)
    student._collect()
    storage = student.algorithm.storage
    with torch.no_grad():
        labels = teacher.actor(storage.flat(), student.net.features, by_history=True)
    torch.testing.assert_close(storage["label"].flatten(0, 1), labels.clamp(-5, 5), rtol=1e-5, atol=1e-5)
    kept = student.algorithm.memory.draw(2, torch.Generator()).observation
    assert set(kept) == {group.name for group in student.task.actor}, "what the teacher alone observes is not kept"


def test_a_teacher_with_another_past_is_named_with_the_remedy(run, motions, tmp_path):
    whole = few(history=5)
    student = replace(whole, stages={"student": whole.stages["student"]}, teacher=str(run.root))
    with pytest.raises(ConfigError, match=r"other history \(10\) than the student \(5\); give a teacher that"):
        train_policy(motions, tmp_path / "student", student, Budget(STEPS))


def test_a_student_whose_teacher_is_gone_is_told_what_to_put_back(run, motions, tmp_path):
    """Of its own run, and of another one; what it has learned is there all the same."""
    own, teacher = RunFolder(shutil.copytree(run.root, tmp_path / "own")), shutil.copytree(run.root, tmp_path / "other")
    own.checkpoint("teacher").unlink()
    with pytest.raises(ConfigError, match=r"own has no checkpoint_teacher.npz: its student goes on learning from that"):
        train_policy(motions, own.root, None, Budget(2 * STEPS))
    alone = replace(few(), stages={"student": few().stages["student"]}, teacher=str(teacher))
    folder = train_policy(motions, tmp_path / "student", alone, Budget(STEPS))
    shutil.rmtree(teacher)
    with pytest.raises(ConfigError, match=r"other: the run that the student learns from is no longer there; put it ba"):
        train_policy(motions, folder.root, None, Budget(2 * STEPS))
    for left in (own, folder):
        assert judge_policy(policy_of_run(left, motions.robot), motions)["total"]["rollouts"] == 2


def test_noise_and_pushes_come_without_randomized_robots(motions):
    """What the teacher observes stays exact, what the student senses does not, and all robots are as their model."""
    cfg = few(noise=1.0, pushes=True, start=0.0)
    runner = StageRunner(motions, cfg, "student", threads=1, teacher=StageRunner(motions, cfg, "teacher").net)
    events = runner.env.cfg
    assert (events.noise, events.pushes, events.facts, events.joint_bias) == (1.0, True, None, None)
    assert runner.observation["true_difference"].abs().max() < 1e-3
    assert runner.observation["root_difference"].std() > 0.03


@pytest.mark.slow
@pytest.mark.parametrize("first", [32, 96], ids=["in the teacher", "in the student"])
@pytest.mark.parametrize("begin", [EXPERTS, SCRATCH])
def test_a_run_that_was_interrupted_goes_on_to_the_same_bit(motions, tmp_path, begin, first):
    cfg = few(begin, randomize=True)
    once = train_policy(motions, tmp_path / "once", cfg, Budget(STEPS))
    asked = iter(range(10**9))
    train_policy(motions, tmp_path / "twice", cfg, Budget(STEPS), stop=lambda: next(asked) * 16 > first)
    twice = train_policy(motions, tmp_path / "twice", None, Budget(STEPS))
    for stage in cfg.stages:
        one, other = arrays(once, stage), arrays(twice, stage)
        assert one.keys() == other.keys()
        for name in one:
            np.testing.assert_array_equal(one[name], other[name], err_msg=f"{stage} {name}")


@pytest.mark.slow
@pytest.mark.parametrize("begin", [EXPERTS, SCRATCH])
def test_updates_by_the_paper_s_values_with_few_environments(motions, begin):
    """Robots differ, are late and are pushed; every number stays finite, and the teacher is told how its robots are."""
    cfg = few(begin, "paper", environments=4)
    teacher = StageRunner(motions, cfg, "teacher", threads=1)
    for _ in range(2):
        teacher.iterate(0.5)
    known = teacher.observation["privileged"]
    assert known[:, 3:].abs().amax(1).min() > 0.01
    assert not torch.equal(known[0], known[1])
    assert teacher.env.cfg.delay.max() <= 2
    student = StageRunner(motions, cfg, "student", threads=1, teacher=teacher.net)
    assert np.isfinite(student.iterate(0.5)["imitation_loss"])


@pytest.mark.slow
@pytest.mark.parametrize("stage", ["teacher", "student"])
def test_a_stage_as_a_file_acts_as_it_does_in_the_run(run, g1, motions, tmp_path, stage):
    policy = policy_of_run(run, g1, stage)
    torch.nn.init.normal_(policy.net.actor.layers[-1].weight, std=0.1)  # so that what is observed matters
    export_policy(policy, tmp_path / "policy.onnx")
    found = load_onnx(tmp_path / "policy.onnx")
    history = next(each for each in found.info.inputs if each["name"] == "history")
    assert history["shape"] == [10, 3 * 29 + 5]
    one, other = (judge_policy(each, motions)["total"]["up_to_failure"] for each in (policy, found))
    assert other["mpjpe_global_mm"] == pytest.approx(one["mpjpe_global_mm"], rel=1e-3)


def test_the_documented_code_feeds_the_student_as_the_simulation_does(run, g1, motions, tmp_path):
    """From the motion's file and what the robot senses alone, by the code in docs/formats/policy.md."""
    policy = policy_of_run(run, g1)
    there = {"np": np, "STEPS": policy.info.history}
    exec(re.search(r"```python\n(def student_inputs.*?)```", DOCS.read_text(), re.DOTALL)[1], there)
    save_reference(tmp_path / "motion.npz", motions, 1, policy.info)
    motion, simulations, fed, action = dict(np.load(tmp_path / "motion.npz")), [], [], [np.zeros(29)]

    def simulate(environments):
        simulations.append(MujocoSimulation(g1, environments, 4, threads=1))
        return simulations[0]

    class Deployed:
        info = policy.info

        def act(self, observation, features):
            state = simulations[0].state()
            own = there["student_inputs"](
                motion, len(fed) + 1, g1.default_pose, fed[-1]["history"][0] if fed else None, action[-1],
                state.root_quat[0], state.root_angvel[0], state.joint_pos[0], state.joint_vel[0],
            )  # fmt: skip
            for group in policy.info.task.actor:
                expected = observation[group.name]
                expected = expected if group.coming is None else features[group.name][expected]
                np.testing.assert_allclose(own[group.name], expected, atol=2e-5, err_msg=group.name)
            fed.append(own)
            action.append(np.random.default_rng(len(fed)).normal(0, 0.2, 29).astype(np.float32))
            return action[-1][None]

    list(roll_out(Deployed(), motions.part([1]), simulate, events=EventsCfg(start=1.0)))
    assert len(fed) > 11


def test_a_past_that_is_too_short_is_told_of(motions):
    with pytest.raises(ConfigError, match="2 frames are too few for convolutions"):
        StageRunner(motions, few(history=1), "student", threads=1)

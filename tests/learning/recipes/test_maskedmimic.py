"""MaskedMimic: a tracker from experts or from scratch, then its student; each goes on as it was, and is exported."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("mujoco")
pytest.importorskip("numba")

import torch

from phuma.cli.main import main
from phuma.errors import ConfigError, PhumaError
from phuma.learning.algorithms.by_torque import TorqueDistillation
from phuma.learning.algorithms.config import DistillationCfg, VariationalCfg
from phuma.learning.algorithms.distillation import Distillation
from phuma.learning.algorithms.variational import divergence_weight
from phuma.learning.deploy.onnx_policy import load_onnx
from phuma.learning.deploy.policy import info_of
from phuma.learning.deploy.torch_policy import TorchPolicy, policy_of_run
from phuma.learning.motions.library import MotionLibrary
from phuma.learning.nets.config import TransformerCfg
from phuma.learning.recipes.recipe import CPU, EXPERTS, PAPER, SCRATCH, RunCfg, recipe_named
from phuma.learning.run.folder import RunFolder
from phuma.learning.run.runner import StageRunner
from phuma.pipelines.evaluate_policy import judge_policy
from phuma.pipelines.train_policy import Budget, train_policy
from tests.learning.motions.test_experts import made_up
from tests.learning.sample_motions import dip, stand

RECIPE = recipe_named("maskedmimic")
SMALL = {"width": 16, "layers": 2, "heads": 2, "feedforward": 16, "embedding": (16,), "hidden": (16,), "critic": (16,)}


@pytest.fixture(scope="module")
def library(g1) -> MotionLibrary:
    out = MotionLibrary(g1)
    out.add("still", stand(g1), None, made_up(g1, stand(g1), 0.0))
    out.add("down", dip(g1), None, made_up(g1, dip(g1), 0.0))
    return out


@pytest.fixture(scope="module")
def teacher_run(library, tmp_path_factory):
    """A run of a teacher that learned nothing."""
    out = tmp_path_factory.mktemp("teacher") / "run"
    train_policy(library, out, small(RECIPE.settings(CPU, stage="teacher")), Budget(steps=16))
    return out


def small(cfg: RunCfg, **network) -> RunCfg:
    """The same run with few environments, short horizons and small networks."""
    stages = {}
    for name, own in cfg.stages.items():
        algorithm = replace(own.algorithm, horizon=4)
        if isinstance(algorithm, DistillationCfg):
            algorithm = replace(algorithm, updates=2, batch=16, memory=64)
        net = TransformerCfg(**SMALL | network if name == "student" else SMALL)
        stages[name] = replace(
            own, environment=replace(own.environment, environments=4), network=net, algorithm=algorithm
        )
    return replace(cfg, stages=stages)


def learned(runner: StageRunner, count: int = 2):
    for n in range(count):
        values = runner.iterate(n / count)
    return values


def test_the_papers_sizes_make_one_update_by_trial_and_error(library):
    cfg = RECIPE.settings(PAPER, stage="tracker")
    own = cfg.stages["tracker"]
    own = replace(
        own, environment=replace(own.environment, environments=2),
        algorithm=replace(own.algorithm, horizon=2, minibatches=2),
    )  # fmt: skip
    runner = StageRunner(library, replace(cfg, stages={"tracker": own}), "tracker", threads=1)
    before = runner.net.actor.layers[0].weight.clone()
    learned(runner, 1)
    assert (runner.net.actor.layers[0].weight - before).abs().max() > 0
    robot = runner.library.robot
    assert robot.stiffness[robot.joint_names.index("left_knee_joint")] == 200.0
    assert runner.net.log_std.exp().mean().item() == pytest.approx(np.exp(-2.9))
    assert runner.observation["self"].shape == (2, 493)
    assert runner.observation["future"].shape == (2, 14)


def test_the_papers_student_makes_one_update_from_its_tracker(library):
    cfg = RECIPE.settings(PAPER)
    stages = {
        name: replace(own, environment=replace(own.environment, environments=2),
                      algorithm=replace(own.algorithm, horizon=2, **{"minibatches": 2} if name == "tracker" else
                                        {"updates": 1, "batch": 4, "memory": 8}))
        for name, own in cfg.stages.items()
    }  # fmt: skip
    cfg = replace(cfg, stages=stages)
    teacher = StageRunner(library, cfg, "tracker", threads=1)
    student = StageRunner(library, cfg, "student", threads=1, teacher=teacher.net, teacher_base="middle")
    values = learned(student, 1)
    assert values["imitation_loss"] > 0
    assert values["divergence_loss"] > 0
    assert student.net.actor.latent_size == 64


def test_experts_label_only_what_acts_as_they_do():
    with pytest.raises(ConfigError, match=r"preset paper does not begin from 'experts'; it does from: scratch"):
        RECIPE.settings(PAPER, begin=EXPERTS)
    with pytest.raises(ConfigError, match="needs a teacher"):
        RECIPE.settings(CPU, stage="student")


def test_a_students_labels_are_its_teachers_targets(library):
    """Whatever the two of them add their actions to."""
    cfg = small(RECIPE.settings(CPU))
    teacher = StageRunner(library, cfg, "teacher", threads=1)
    torch.nn.init.normal_(teacher.net.actor.layers[-1].bias)
    student = StageRunner(library, cfg, "student", threads=1, teacher=teacher.net, teacher_base="certified")
    env = student.env
    label = student._labels(student.observation).action.detach().numpy()
    scale, coming = env.constants.action_scale, env.frame + 1
    aimed = env.references.base[coming] + scale * label
    own = teacher.net.actor(student.observation, student.net.features).detach().numpy()
    np.testing.assert_allclose(aimed, student._teacher_targets[coming] + scale * own, atol=1e-5)
    assert np.abs(student._teacher_targets - env.references.base).max() > 0.05


def test_a_student_on_a_cpu_learns_by_torques_and_a_teacher_does_not(library):
    cfg = small(RECIPE.settings(CPU))
    teacher = StageRunner(library, cfg, "teacher", threads=1)
    student = StageRunner(library, cfg, "student", threads=1, teacher=teacher.net, teacher_base="certified")
    assert [type(runner.algorithm) for runner in (teacher, student)] == [Distillation, TorqueDistillation]
    limit = student.net.actor.torque_limit
    torch.testing.assert_close(limit, torch.tensor(library.robot.torque_limit, dtype=torch.float32))
    assert "actor.torque_limit" not in student.net.state_dict(), "the robot says it, not a checkpoint"


def test_noise_of_a_latent_is_held_an_episode(library):
    cfg = small(RECIPE.settings(CPU, stage="student", teacher=EXPERTS), latent=(4, 8))
    own = cfg.stages["student"]
    algorithm = VariationalCfg(horizon=4, updates=1, batch=8, memory=64)
    cfg = replace(cfg, stages={"student": replace(own, algorithm=algorithm)})
    runner = StageRunner(library, cfg, "student", threads=1)
    noise = runner.algorithm.noise.clone()
    runner.env.age[:] = [0, 0, 0, 10_000]  # the last episode ends with its next step
    runner.algorithm.act(runner.observation)
    step = runner.env.step(np.zeros((4, 29), dtype=np.float32))
    from phuma.learning.algorithms.algorithm import Outcome

    ended = torch.from_numpy(step.truncated | step.terminated)
    outcome = Outcome(torch.zeros(4), torch.from_numpy(step.terminated), torch.from_numpy(step.truncated), None)
    runner.algorithm.record(runner.observation, torch.zeros(4, 29), outcome)
    same = (runner.algorithm.noise == noise).all(1)
    torch.testing.assert_close(same, ~ended)
    assert ended.any()


def test_the_weight_of_the_divergence_rises_along_a_line():
    cfg = VariationalCfg(kl_first=1.0, kl_last=3.0, kl_from=0.2, kl_until=0.6)
    found = [divergence_weight(cfg, progress) for progress in (0.0, 0.2, 0.4, 0.6, 1.0)]
    np.testing.assert_allclose(found, [1.0, 1.0, 2.0, 3.0, 3.0])


@pytest.mark.parametrize("how", ["teacher", "student", "any", "variational", "tracker"])
def test_a_run_that_goes_on_does_what_it_would_have_done(library, how):
    stage = "student" if how in ("any", "variational") else how
    begin = SCRATCH if how == "tracker" else EXPERTS
    cfg = RECIPE.settings(CPU, begin=begin, stage=stage, teacher=EXPERTS if stage == "student" else None)
    cfg = small(cfg, **{"latent": (4, 8)} if how == "variational" else {})
    own = cfg.stages[stage]
    if how == "variational":
        own = replace(own, algorithm=VariationalCfg(horizon=4, updates=2, batch=16, memory=64))
    if how == "any":
        own = replace(own, environment=replace(own.environment, condition="any"))
    cfg = replace(cfg, stages={stage: own})
    whole, parted = (StageRunner(library, cfg, stage, threads=1) for _ in range(2))
    learned(whole, 1)
    learned(parted, 1)
    fresh = StageRunner(library, cfg, stage, threads=1)
    fresh.restore(parted.snapshot())
    assert whole.iterate(0.5) == fresh.iterate(0.5)


def test_teacher_and_student_are_stages_of_one_run_and_are_exported(library, tmp_path, capsys):
    cfg = small(RECIPE.settings(CPU))
    folder = train_policy(library, tmp_path / "run", cfg, Budget(steps=64))
    assert isinstance(folder, RunFolder)
    assert folder.info().cfg == cfg
    for stage in ("teacher", "student"):
        policy = policy_of_run(folder, library.robot, stage)
        assert policy.info.key_bodies[0] == "pelvis"
        assert len(policy.info.key_bodies) == 33
        path = tmp_path / f"{stage}.onnx"
        assert main(["policy", "export", str(folder.root), "--stage", stage, "--out", str(path)]) == 0
        deployed = load_onnx(path)
        one, other = (judge_policy(each, library)["total"] for each in (policy, deployed))
        assert one["up_to_failure"]["mpjpe_global_mm"] == pytest.approx(
            other["up_to_failure"]["mpjpe_global_mm"], rel=1e-3
        )
        assert deployed.info == policy.info
    assert main(["policy", "export", str(folder.root), "--stage", "tracker", "--out", str(path)]) == 2
    assert "--stage tracker" in (err := capsys.readouterr().err)
    assert err.endswith("has teacher, student\n")


def test_a_student_alone_learns_from_the_teacher_of_another_run(library, tmp_path):
    train_policy(library, tmp_path / "one", small(RECIPE.settings(CPU, stage="teacher")), Budget(steps=32))
    other = str(tmp_path / "one")
    cfg = small(RECIPE.settings(CPU, stage="student", teacher=other))
    folder = train_policy(library, tmp_path / "two", cfg, Budget(steps=32))
    assert folder.info().cfg.teacher == other
    own = cfg.stages["student"]
    wrong = replace(cfg, stages={"student": replace(own, environment=replace(own.environment, stride=2))})
    with pytest.raises(ConfigError, match=r"other stride \(5\) than the student \(2\)"):
        train_policy(library, tmp_path / "three", wrong, Budget(steps=32))
    bad = replace(cfg, teacher=str(tmp_path / "two"))
    with pytest.raises(ConfigError, match="a student of maskedmimic learns from its teacher or tracker"):
        train_policy(library, tmp_path / "four", bad, Budget(steps=32))
    assert not (tmp_path / "four").exists()


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("robot", "h1_2", "is of robot h1_2; these clips are of g1"),
        ("frames", 3, r"has other frames \(3\) than the student"),
        ("differences", False, r"has other differences \(False\) than the student"),
        ("substeps", 7, r"has other substeps \(7\) than the student"),
        ("control_rate", 100.0, "control_rate is 100.0; 50 Hz are known here"),
    ],
)
def test_a_teacher_that_does_not_fit_is_named_with_what_would(teacher_run, library, tmp_path, name, value, told):
    copied = tmp_path / "teacher"
    shutil.copytree(teacher_run, copied)
    document = json.loads((copied / "run.json").read_text())
    stage = document["stages"]["teacher"]
    stage["policy"][name] = value
    if name in stage["environment"]:
        stage["environment"][name] = value
    (copied / "run.json").write_text(json.dumps(document))
    cfg = small(RECIPE.settings(CPU, stage="student", teacher=str(copied)))
    with pytest.raises(PhumaError, match=told):
        train_policy(library, tmp_path / "student", cfg, Budget(steps=16))
    assert not (tmp_path / "student").exists()


def test_a_policy_of_torch_is_judged_by_what_it_is_told(g1, library):
    cfg = small(RECIPE.settings(CPU, stage="student", teacher=EXPERTS))
    runner = StageRunner(library, cfg, "student", threads=1)
    info = info_of(g1, cfg.algo, "student", cfg.stages["student"].environment)
    assert info.condition == "pelvis"
    assert judge_policy(TorchPolicy(runner.net, info), library)["total"]["motions"] == 2


def test_a_motion_for_a_policy_has_all_bodies(g1, library, tmp_path):
    from phuma.learning.deploy.reference_file import save_reference

    for stage in ("teacher", "student"):
        info = info_of(g1, RECIPE.name, stage, RECIPE.presets[CPU][stage].environment)
        save_reference(tmp_path / "motion.npz", library, 1, info)
        with np.load(tmp_path / "motion.npz") as arrays:
            assert arrays["body_pos"].shape == (51, 33, 3)
            np.testing.assert_allclose(arrays["body_pos"][:, 0], arrays["root_pos"], atol=1e-6)
            assert ("future" in arrays) == (stage == "teacher")

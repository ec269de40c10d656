"""`phuma train --from experts` as a user runs it: what is not certified is certified, and a policy is distilled."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")

from phuma.dataset.dataset import Dataset
from phuma.errors import PhumaError
from phuma.formats.rollout_file import load_rollout, save_rollout
from phuma.io.inside import inside
from phuma.learning.algorithms.config import DistillationCfg, FinetuningCfg
from phuma.learning.env.config import EnvironmentCfg
from phuma.learning.env.disturbances import NEAR
from phuma.learning.motions.library import MotionLibrary
from phuma.learning.nets.config import MLPCfg
from phuma.learning.recipes.recipe import FINETUNED, StageCfg, recipe_named
from phuma.learning.run.folder import RunFolder
from phuma.learning.run.rollouts import roll_out
from phuma.pipelines.evaluate_policy import dataset_library, load_policy
from phuma.pipelines.experts import only_performed
from phuma.pipelines.train_policy import Budget, train_policy
from phuma.pipelines.training.notes import next_steps
from phuma.pipelines.training.options import TrainCfg
from phuma.robots import load_robot
from phuma.sim.events import EventsCfg
from phuma.sim.mujoco_cpu import MujocoSimulation
from tests import certified_dataset
from tests.certified_dataset import CERTIFIED, UNTRIED
from tests.cli.small_dataset import run
from tests.cli.tracking_dataset import PRESETS, SETTINGS, STAGE
from tests.learning.sample_motions import library, stand

pytestmark = pytest.mark.slow

TINY = StageCfg(
    EnvironmentCfg(environments=8, substeps=4, base="certified", differences=True, disturbances=NEAR),
    MLPCfg(hidden=(16, 16), encoder=(4, 8)),
    DistillationCfg(horizon=4, updates=2, batch=16, memory=200),
)
STEPS = TINY.steps_per_update
DISTILLED = "distilled"
DOCS = Path(__file__).parents[2] / "docs" / "formats" / "policy.md"
WHERE = f"recording LIKE '%{CERTIFIED}%' OR recording LIKE '%{UNTRIED}%'"
WORDS = ("--preset", "tiny", "--split", "all", "--where", WHERE, "--jobs", 1)


@pytest.fixture(autouse=True)
def _presets(monkeypatch):
    monkeypatch.setitem(PRESETS, "tiny", {DISTILLED: TINY, STAGE: SETTINGS})


@pytest.fixture(scope="module")
def dataset(tmp_path_factory) -> Path:
    root = tmp_path_factory.mktemp("experts") / "g1"
    shutil.copytree(certified_dataset.built(tmp_path_factory.getbasetemp()), root)
    return root


@pytest.fixture(scope="module")
def trained(dataset) -> tuple[Path, str]:
    """A run of four iterations, and what was said."""
    import io
    from contextlib import redirect_stdout

    from phuma.cli.main import main

    out, said = dataset.parent / "run", io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(said):
        patch.setitem(PRESETS, "tiny", {DISTILLED: TINY, STAGE: SETTINGS})
        assert main(["train", str(dataset), *map(str, WORDS), "--steps", str(4 * STEPS), "--out", str(out)]) == 0
    return out, said.getvalue()


def performances(dataset: Path) -> dict[str, Path]:
    rows = Dataset(dataset).rows("certified_file IS NOT NULL")
    return {row["clip"]: inside(dataset, row["certified_file"]) for row in rows}


def test_clips_are_certified_with_their_feedback_and_a_policy_is_distilled(dataset, trained):
    out, said = trained
    assert "Experts: 2 performed in " in said, "one was not performed yet, one had no feedback"
    for row in Dataset(dataset).rows(WHERE):
        assert row["certified_loosely"]
    info = RunFolder(out).info()
    assert tuple(info.cfg.stages) == (DISTILLED,)
    assert info.last.data["split"] == "all"
    assert RunFolder(out).reached()[0] == 4 * STEPS


def test_what_is_certified_is_not_certified_again(capsys, dataset, trained, tmp_path):
    before = {clip: path.stat().st_mtime_ns for clip, path in performances(dataset).items()}
    code, said, _ = run(capsys, "train", dataset, *WORDS, "--steps", 1, "--out", tmp_path / "run")
    assert code == 0
    assert "Experts" not in said
    assert before == {clip: path.stat().st_mtime_ns for clip, path in performances(dataset).items()}


def test_a_run_in_two_parts_is_the_run_in_one(capsys, dataset, trained, tmp_path):
    """To the last bit, the memory of samples and the averaged weights too."""
    halves = tmp_path / "halves"

    def learned(out, **how):
        motions = only_performed(dataset_library(dataset, load_robot("g1"), WHERE, performed=True))
        cfg = None if out.exists() else recipe_named("beyondmimic").settings("tiny", begin="experts")
        train_policy(motions, out, cfg, Budget(4 * STEPS), **how)
        return RunFolder(out).load(DISTILLED)

    calls = iter([False, False, *[True] * 10])
    learned(halves, stop=lambda: next(calls))
    assert RunFolder(halves).reached()[0] < 4 * STEPS
    one, other = RunFolder(trained[0]).load(DISTILLED), learned(halves)
    assert one.keys() == other.keys()
    for name in one.keys() - {"seconds"}:
        np.testing.assert_array_equal(one[name], other[name], err_msg=name)


def test_a_distilled_policy_is_finetuned_and_never_gets_worse(capsys, monkeypatch, dataset, trained, tmp_path):
    """PPO goes on from it, and the better of both is the run's: here PPO learns so fast that it unlearns everything."""
    worse = FinetuningCfg(horizon=4, minibatches=1, learning_rate=0.05, desired_kl=0.0, warmup=0.0, anchor=0.0)
    remembering = replace(TINY, environment=replace(TINY.environment, history=4))
    stages = {DISTILLED: remembering, FINETUNED: replace(remembering, algorithm=worse), STAGE: SETTINGS}
    monkeypatch.setitem(PRESETS, "tiny", stages)
    motions = only_performed(dataset_library(dataset, load_robot("g1"), WHERE, performed=True))
    cfg = recipe_named("beyondmimic").settings("tiny", begin=FINETUNED)
    seen = []
    budget = Budget(8 * STEPS, shares={DISTILLED: 1.0, FINETUNED: 1.0})
    data = {"dataset": "g1", "split": "all", "where": WHERE}
    train_policy(motions, tmp_path / "run", cfg, budget, data, log=lambda now: seen.append(now.stage))
    assert seen[-1] == FINETUNED
    folder = RunFolder(tmp_path / "run")
    assert tuple(folder.info().cfg.stages) == (DISTILLED, FINETUNED)
    began, ended = folder.load(DISTILLED), folder.load(FINETUNED)
    if float(ended["best.score"]) > 0:  # else both are worth nothing, and the later one is as good
        for name in (name for name in began if name.startswith("net.actor.layers")):
            np.testing.assert_array_equal(began[name], ended[name], err_msg=name)
    for name in (name for name in ended if name.startswith("best.net.")):
        np.testing.assert_array_equal(ended[name], ended[name.removeprefix("best.")], err_msg=name)
    assert run(capsys, "evaluate", tmp_path / "run", dataset, "--split", "all", "--where", WHERE)[0] == 0
    assert run(capsys, "policy", "export", tmp_path / "run", "--out", tmp_path / "p.onnx")[0] == 0
    assert run(capsys, "evaluate", tmp_path / "p.onnx", dataset, "--split", "all", "--where", WHERE)[0] == 0
    info = load_policy(tmp_path / "p.onnx").info
    assert {"name": "past", "shape": [4, 93]}.items() <= {
        key: value for each in info.inputs if each["name"] == "past" for key, value in each.items()
    }.items()
    words = ("train", dataset, *WORDS, "--minutes", 0.01, "--out", tmp_path / "run", "--resume")
    code, _, err = run(capsys, *words, "--finetune", 0.01)
    assert code == 0, err
    code, _, err = run(capsys, *words)
    assert code != 0
    assert "was begun with --finetune: give it again" in err


def test_finetuning_follows_experts_alone(capsys, dataset, tmp_path):
    code, _, err = run(capsys, "train", dataset, "--from", "scratch", "--finetune", 1, "--out", tmp_path / "run")
    assert code != 0
    assert "--finetune goes on after --from experts; --from scratch is PPO already" in err
    code, _, err = run(capsys, "train", dataset, "--steps", 10, "--finetune", 1, "--out", tmp_path / "run")
    assert code != 0
    assert "--finetune is in minutes" in err
    assert not (tmp_path / "run").exists()


def test_a_distilled_policy_is_a_policy(capsys, dataset, trained, tmp_path):
    """It is judged, exported, judged from the file, and given a motion: the certified one."""
    out, _ = trained
    assert run(capsys, "evaluate", out, dataset, "--split", "all", "--where", WHERE)[0] == 0
    assert run(capsys, "policy", "export", out, "--out", tmp_path / "p.onnx")[0] == 0
    code, said, _ = run(capsys, "evaluate", tmp_path / "p.onnx", dataset, "--split", "all", "--where", WHERE)
    assert code == 0, said
    info = load_policy(tmp_path / "p.onnx").info
    assert (info.base, info.differences) == ("certified", True)
    clip, path = next(iter(performances(dataset).items()))
    words = ("policy", "motion", tmp_path / "p.onnx", dataset, "--clip", clip, "--out", tmp_path / "m.npz")
    assert run(capsys, *words)[0] == 0
    motion, stored = np.load(tmp_path / "m.npz"), np.load(path)
    np.testing.assert_allclose(motion["base"][1:], stored["target"], atol=1e-6)
    np.testing.assert_allclose(motion["joint_pos"], stored["joint_pos"], atol=1e-6)
    np.testing.assert_allclose(motion["joint_vel"], stored["velocity"][:, 6:], atol=1e-5)


def test_an_expert_that_was_cut_short_is_made_again(capsys, dataset, trained, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(dataset, copy)
    path = next(iter(performances(copy).values()))
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    code, said, _ = run(capsys, "train", copy, *WORDS, "--steps", 1, "--out", tmp_path / "run")
    assert code == 0
    assert "Experts: 1 performed in " in said
    assert path.read_bytes() == whole


def test_a_certificate_of_another_robot_is_told(dataset, trained):
    motions = dataset_library(dataset, load_robot("g1"), WHERE, performed=True)
    first, second = motions.performances
    motions.performances[0] = replace(first, target=first.target + 0.1)
    left = only_performed(motions)
    assert left.names == motions.names[1:]
    ((name, reason),) = left.left_out
    assert name == motions.names[0]
    assert "has a certificate of another g1: its performance does not happen again" in reason
    assert "certify --again" in reason
    assert left.performances == [second]


def test_a_dataset_of_which_nothing_is_certified_is_an_error(g1):
    with pytest.raises(PhumaError, match="none of 3 clips has a performance to go by; stand: is not certified"):
        only_performed(library(g1))


def test_a_performance_of_another_length_is_left_out(g1, dataset, trained):
    own = dataset_library(dataset, load_robot("g1"), WHERE, performed=True).performances[0]
    motions = MotionLibrary(g1)
    motions.add("still", stand(g1, 1.0), None, own)
    assert not motions.names
    assert motions.left_out == [("still", "has a performance of 99 frames for 51 at control rate; certify it again")]


def test_a_performance_without_targets_is_left_out(dataset, trained, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(dataset, copy)
    path = next(iter(performances(copy).values()))
    save_rollout(path, replace(load_rollout(path), target=None))
    motions = dataset_library(copy, load_robot("g1"), WHERE, performed=True)
    ((_, reason),) = motions.left_out
    assert "cannot be read" in reason
    assert "has no velocities or targets; certify it again" in reason


def test_a_dataset_without_records_is_not_touched(capsys, dataset, trained, tmp_path):
    """Its manifest would be written anew from nothing."""
    copy = tmp_path / "copy"
    shutil.copytree(dataset, copy)
    shutil.rmtree(copy / "work")
    before = (copy / "manifest.parquet").read_bytes()
    code, _, said = run(capsys, "certify", copy, "--again")
    assert code != 0
    assert "have no record in" in said
    assert (copy / "manifest.parquet").read_bytes() == before


def test_the_documented_code_feeds_differences_as_the_simulation_does(capsys, dataset, trained, tmp_path):
    """From the motion's file and the robot's state alone, by the code in docs/formats/policy.md."""
    policy, robot = load_policy(trained[0]), load_robot("g1")
    (name,) = [clip for clip in performances(dataset) if CERTIFIED in clip]
    words = ("policy", "motion", trained[0], dataset, "--clip", name, "--out", tmp_path / "m.npz")
    assert run(capsys, *words)[0] == 0
    motion, there = dict(np.load(tmp_path / "m.npz")), {"np": np}
    exec(re.search(r"```python\n(def inputs.*?)```", DOCS.read_text(), re.DOTALL)[1], there)
    anchor, simulations, fed = robot.key_bodies.index(robot.anchor_body), [], []

    def simulate(environments):
        simulations.append(MujocoSimulation(robot, environments, 4, threads=1))
        return simulations[0]

    class Deployed:
        info = policy.info

        def act(self, observation, features):
            state = simulations[0].state()
            own = there["inputs"](
                motion, len(fed) + 1, robot.default_pose, np.zeros(29), state.root_angvel[0], state.joint_pos[0],
                state.joint_vel[0], state.body_quat[0, anchor],
            )  # fmt: skip
            for group in ("reference", "difference"):
                np.testing.assert_allclose(own[group], observation[group], atol=2e-5)
            fed.append(own)
            return np.random.default_rng(len(fed)).normal(0, 0.3, (1, 29)).astype(np.float32)

    library = dataset_library(dataset, robot, f"clip = '{name}'", performed=True)
    list(roll_out(Deployed(), library, simulate, events=EventsCfg(start=1.0)))
    assert len(fed) > 5
    assert np.abs(fed[0]["difference"]).max() > 0.05


def test_a_teacher_and_its_student_are_trained_judged_and_handed_on(capsys, monkeypatch, dataset, trained, tmp_path):
    kungfubot = recipe_named("kungfubot")
    tiny = {
        name: replace(
            own,
            environment=replace(own.environment, environments=8),
            network=replace(own.network, hidden=(16,), encoder=(4, 8), channels=(4, 4)),
            algorithm=TINY.algorithm,
        )
        for name, own in kungfubot.presets["cpu"].items()
    }
    monkeypatch.setitem(kungfubot.presets, "tiny", tiny)
    words = ("train", dataset, *WORDS, "--algo", "kungfubot", "--out", tmp_path / "run", "--steps", 4 * STEPS)
    assert run(capsys, *words)[0] == 0
    assert [own.name for own in sorted((tmp_path / "run").glob("*.npz"))] == [
        "checkpoint_student.npz", "checkpoint_teacher.npz",
    ]  # fmt: skip
    code, _, said = run(capsys, *words, "--resume", "--from", "scratch")
    assert code != 0
    assert "--from: the run in" in said
    assert run(capsys, *words, "--resume", "--from", "experts")[0] == 0
    assert run(capsys, "policy", "export", tmp_path / "run", "--out", tmp_path / "student.onnx")[0] == 0
    judged = ("--split", "all", "--where", WHERE, "--json")
    found = {}
    for name, words in {
        "file": ("student.onnx",),
        "file of the stage": ("student.onnx", "--stage", "student"),
        "student": ("run", "--stage", "student"),
        "teacher": ("run", "--stage", "teacher"),
    }.items():
        code, out, _ = run(capsys, "evaluate", tmp_path / words[0], dataset, *words[1:], *judged)
        assert code == 0, name
        found[name] = json.loads(out)["total"]["up_to_failure"]["mpjpe_global_mm"]
    assert found["file"] == found["file of the stage"] == pytest.approx(found["student"], rel=1e-3)
    assert abs(found["teacher"] - found["student"]) > 1e-3
    for words, told in {
        ("run", "--stage", "studnt"): "did you mean 'student'?",
        ("student.onnx", "--stage", "teacher"): "holds the stage student alone; give the run's folder",
    }.items():
        code, _, said = run(capsys, "evaluate", tmp_path / words[0], dataset, *words[1:])
        assert code == 2, words
        assert told in said


def test_who_acts_by_certificates_is_told_to_certify_other_clips(dataset):
    lines = {
        lawful: next_steps(TrainCfg(dataset, Path("run")), Dataset(dataset), load_robot("g1"), None, "all", lawful)
        for lawful in (True, False)
    }
    assert lines[True][0].split("  ")[1] == f"phuma certify {dataset}"
    assert [line.split()[:3] for line in lines[True][1:]] == [line.split()[:3] for line in lines[False]]

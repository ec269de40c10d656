"""`phuma train` as a user runs it: real trainings, of a few robots for a few steps."""

import json
import os
import pickle
import shlex
import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from threading import Thread

import numpy as np
import pytest

pytest.importorskip("torch")

from phuma.errors import ConfigError
from phuma.formats.robot_motion_file import save_robot_motion
from phuma.io.lock import locked
from phuma.learning.run.folder import RunFolder
from phuma.pipelines.evaluate_policy import dataset_library, load_policy
from phuma.pipelines.train_policy import Budget, train_policy
from phuma.pipelines.training.notes import advice
from phuma.robots import load_robot
from tests.cli.small_dataset import run
from tests.cli.tracking_dataset import (
    CHECKPOINT,
    JUMP,
    PRESETS,
    SETTINGS,
    STAGE,
    STEPS,
    TINY,
    make_dataset,
    tiny_cfg,
    train_tiny,
)
from tests.learning.sample_motions import dip
from tests.waiting import PATIENCE, wait_for

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def _presets(monkeypatch):
    monkeypatch.setitem(PRESETS, "tiny", TINY)
    wild = replace(SETTINGS, algorithm=replace(SETTINGS.algorithm, learning_rate=1e30, desired_kl=0.0))
    monkeypatch.setitem(PRESETS, "wild", {STAGE: wild})


@pytest.fixture(scope="module")
def dataset(tmp_path_factory) -> Path:
    return make_dataset(tmp_path_factory.mktemp("tracking") / "g1")


@pytest.fixture(scope="module")
def trained(dataset) -> Path:
    """A run of two iterations; whoever spoils it copies it."""
    return train_tiny(dataset, 2)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_run_says_what_it_is_made_of_and_what_comes_next(capsys, dataset, tmp_path):
    out = tmp_path / "run"
    code, said, _ = run(
        capsys,
        "train",
        dataset,
        "--from",
        "scratch",
        "--preset",
        "tiny",
        "--steps",
        STEPS + 1,
        "--seed",
        3,
        "--out",
        out,
    )
    assert code == 0
    assert "Clips of g1: 2, 0.0 minutes" in said
    assert "Left out: 1 of 3\n" in said
    assert f"{JUMP}: jumps at 0.63 s: left_shoulder_pitch_joint turns at 90 rad/s" in said
    lines = [line.split() for line in said.splitlines()]
    end = next(i for i, words in enumerate(lines) if words[:3] == ["The", "run", "is"])
    header = next(words for words in lines if words[:2] == ["time", "steps"])
    assert dict(zip(header, lines[end - 1]))["steps"] == str(2 * STEPS)
    for command in ("evaluate", "play", "policy export"):
        assert f"phuma {command} {out}" in said
    assert "on clips that it has not seen" in said
    folder = RunFolder(out)
    info = folder.info()
    assert info.cfg == replace(tiny_cfg(), seed=3)
    assert (info.last.robot, info.motions) == ("g1", 2)
    assert (info.last.data["dataset"], info.last.data["split"]) == ("g1", "train")
    assert folder.load(STAGE)["counts"].tolist() == [2, 2 * STEPS]


def test_curves_are_there_for_tensorboard(trained):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    curves = EventAccumulator(str(trained)).Reload()
    names = curves.Tags()["scalars"]
    for name in ("tracking/success_0.5", "tracking/tracked", "errors/mpjpe_global_mm", "terms/body_position",
                 "training/reward", "training/steps_per_second", "training/learning_rate"):  # fmt: skip
        assert name in names
    assert [event.step for event in curves.Scalars("training/reward")] == [STEPS, 2 * STEPS]


def test_a_run_that_was_interrupted_ends_with_the_same_numbers(capsys, dataset, trained, tmp_path):
    whole, halves = tmp_path / "whole", Path(shutil.copytree(trained, tmp_path / "halves"))
    assert (
        run(capsys, "train", dataset, "--from", "scratch", "--preset", "tiny", "--steps", 4 * STEPS, "--out", whole)[0]
        == 0
    )
    same = ("--from", "scratch", "--preset", "tiny", "--seed", 0, "--steps", 4 * STEPS)
    code, said, _ = run(capsys, "train", dataset, *same, "--resume", "--out", halves)
    assert code == 0
    assert f"Going on from {2 * STEPS} environment steps" in said
    a, b = RunFolder(whole).load(STAGE), RunFolder(halves).load(STAGE)
    assert all(arrays.pop("seconds") > 0 for arrays in (a, b))
    assert a.keys() == b.keys()
    assert [name for name in a if not np.array_equal(a[name], b[name])] == []
    assert a["counts"].tolist() == [4, 4 * STEPS]


def test_a_run_that_has_used_its_budget_stays_as_it_is(capsys, dataset, trained, tmp_path):
    again = Path(shutil.copytree(trained, tmp_path / "again"))
    code, said, _ = run(capsys, "train", dataset, "--resume", "--steps", STEPS, "--out", again)
    assert code == 0
    assert f"The run has {2 * STEPS} environment steps and " in said
    assert "already: nothing to do" in said
    assert RunFolder(again).load(STAGE)["counts"].tolist() == [2, 2 * STEPS]
    arrays = dict(np.load(again / CHECKPOINT))
    np.savez(again / CHECKPOINT, **arrays | {"seconds": np.array(3.0)})
    assert run(capsys, "train", dataset, "--resume", "--minutes", 0.04, "--out", again)[0] == 0
    assert RunFolder(again).load(STAGE)["counts"].tolist() == [2, 2 * STEPS]


def test_nothing_is_overwritten(capsys, dataset, trained, tmp_path):
    before = contents(trained)
    code, _, said = run(
        capsys, "train", dataset, "--from", "scratch", "--preset", "tiny", "--steps", 1, "--out", trained
    )
    assert (code, contents(trained)) == (2, before)
    assert "holds a run already: go on with --resume" in said
    (tmp_path / "thesis.tex").write_text("all my work")
    code, _, said = run(
        capsys, "train", dataset, "--from", "scratch", "--preset", "tiny", "--steps", 1, "--out", tmp_path
    )
    assert code == 2
    assert "is not an empty folder" in said
    assert os.listdir(tmp_path) == ["thesis.tex"]


def test_nobody_else_goes_on_with_a_run_that_is_being_trained(capsys, dataset, trained):
    with locked(RunFolder(trained).lock):
        before = contents(trained)
        code, _, said = run(capsys, "train", dataset, "--resume", "--steps", 3 * STEPS, "--out", trained)
    assert (code, contents(trained)) == (2, before)
    assert "is being written by another process" in said


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--seed", "1"], "--seed: the run in"),
        (["--no-future", "--preset", "cpu"], "--no-future, --preset: the run in"),
        (["--where", "clip = 'down'"], "--where: the run in"),
        (["--base", "default"], "--base: the run in"),
        (["--robot", "h1_2"], "has no motion of robot h1_2; it is of: g1"),
    ],
)
def test_a_run_goes_on_as_it_was_begun(capsys, dataset, trained, options, said):
    before = contents(trained)
    code, _, err = run(capsys, "train", dataset, "--resume", "--steps", 1, "--out", trained, *options)
    assert (code, contents(trained)) == (2, before)
    assert said in err


def test_a_run_does_not_go_on_with_other_motions(capsys, dataset, trained, tmp_path):
    other = Path(shutil.copytree(dataset, tmp_path / "other"))
    save_robot_motion(other / "clips" / "down.npz", dip(load_robot("g1"), 0.8, depth=0.151))
    before = contents(trained)
    code, _, said = run(capsys, "train", other, "--resume", "--steps", 1, "--out", trained)
    assert (code, contents(trained)) == (2, before)
    assert "learned from 2 other motions" in said
    assert "give its own dataset, g1" in said


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--where", "split = 'test'"], "the train split of"),
        (["--where", "clip = 'nobody'"], "has no kept clip of g1 under"),
        (["--where", f"clip = '{JUMP}'"], "none of 1 clips can be followed; jumpy: jumps at"),
        (["--robot", "h1_2"], "has no motion of robot h1_2; it is of: g1"),
        (["--preset", "huge"], "no preset 'huge'; beyondmimic has: cpu, paper"),
        (["--algo", "magic"], "unknown algorithm 'magic'; there are: beyondmimic"),
        (["--steps", "1"], "--minutes and --steps: give one of them"),
        (["--minutes", "0"], "expected more than 0"),
        (["--minutes", "inf"], "--minutes inf; expected more than 0 and less than 1e+12"),
        (["--device", "cuda"], "--device cuda: torch finds no GPU here"),
        (["--device", "toaster"], "--device 'toaster'; expected cpu, cuda"),
    ],
)
def test_wrong_calls_are_told_and_leave_nothing(capsys, dataset, tmp_path, options, said):
    out = tmp_path / "run"
    code, _, err = run(capsys, "train", dataset, "--from", "scratch", "--minutes", 0.01, "--out", out, *options)
    assert code in (1, 2)
    assert said in err
    assert not out.exists()


class Bomb:
    def __reduce__(self):
        return os.mkdir, ("exploded",)


def cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-2000])


def pickled(file: Path) -> None:
    file.write_bytes(pickle.dumps(Bomb()))


def with_objects(file: Path) -> None:
    arrays = dict(np.load(file))
    np.savez(file, **arrays | {"net.log_std": np.array([Bomb()], dtype=object)}, allow_pickle=True)


def foreign(file: Path) -> None:
    np.savez(file, weights=np.zeros(3))


def wider(file: Path) -> None:
    arrays = dict(np.load(file))
    np.savez(file, **arrays | {"net.actor.layers.0.weight": np.zeros((17, 5), dtype=np.float32)})


def poisoned(file: Path) -> None:
    arrays = dict(np.load(file))
    arrays["net.actor.layers.0.weight"][3, 3] = np.nan
    np.savez(file, **arrays)


def lacking(file: Path) -> None:
    arrays = dict(np.load(file))
    np.savez(file, **{name: value for name, value in arrays.items() if not name.startswith("net.critic")})


@pytest.mark.parametrize("spoil", [cut, pickled, with_objects, foreign, wider, poisoned, lacking])
def test_a_checkpoint_that_cannot_be_trusted_is_refused_by_name(capsys, dataset, trained, tmp_path, monkeypatch, spoil):
    monkeypatch.chdir(tmp_path)
    spoiled = Path(shutil.copytree(trained, tmp_path / "spoiled"))
    spoil(spoiled / CHECKPOINT)
    before = contents(spoiled)
    for command in (["train", dataset, "--resume", "--steps", 1, "--out", spoiled], ["evaluate", spoiled, dataset]):
        code, _, said = run(capsys, *command)
        assert code == 1
        assert f"{spoiled / CHECKPOINT}: " in said
        assert "Traceback" not in said
    assert contents(spoiled) == before
    assert os.listdir(tmp_path) == ["spoiled"], "something in the checkpoint was executed"


def test_a_description_of_a_run_that_is_damaged_is_refused_by_name(capsys, dataset, trained, tmp_path):
    spoiled = Path(shutil.copytree(trained, tmp_path / "spoiled"))
    text = (spoiled / "run.json").read_text()
    for wrong in (text[:200], "[]", text.replace('"format_version": 3', '"format_version": 4'), '{"format": "x"}'):
        (spoiled / "run.json").write_text(wrong)
        code, _, said = run(capsys, "evaluate", spoiled, dataset)
        assert code == 1
        assert f"{spoiled / 'run.json'}: " in said


def test_training_that_diverges_keeps_its_last_good_checkpoint(capsys, dataset, tmp_path):
    out = tmp_path / "run"
    code, _, said = run(
        capsys, "train", dataset, "--from", "scratch", "--preset", "wild", "--steps", 100 * STEPS, "--out", out
    )
    assert code == 1
    assert "training diverged in iteration" in said
    assert RunFolder(out).load(STAGE)["counts"][1] < 100 * STEPS
    assert load_policy(out).info.robot == "g1"


def send(number: int, checkpoint: Path, process: int) -> None:
    """Once the run has begun."""
    wait_for(checkpoint.exists)
    os.kill(process, number)


def test_sigterm_ends_with_a_checkpoint(capsys, dataset, tmp_path):
    out = tmp_path / "run"
    Thread(target=send, args=(signal.SIGTERM, out / CHECKPOINT, os.getpid()), daemon=True).start()
    code, said, err = run(
        capsys, "train", dataset, "--from", "scratch", "--preset", "tiny", "--minutes", 600, "--out", out
    )
    assert code == 130
    assert "stopping after this iteration" in err
    assert "Stopped; run the same command with --resume" in err.splitlines()[-1]
    iterations, steps = RunFolder(out).load(STAGE)["counts"]
    assert steps == iterations * STEPS
    assert f"phuma evaluate {out}" in said


def test_ctrl_c_ends_with_a_checkpoint_that_loads(dataset, tmp_path):
    out = tmp_path / "run"
    code = (
        "import sys\nfrom phuma.cli.main import main\nfrom tests.cli.tracking_dataset import PRESETS, TINY\n"
        "PRESETS['tiny'] = TINY\nsys.exit(main(sys.argv[1:]))"
    )
    words = ["train", str(dataset), "--from", "scratch", "--preset", "tiny", "--minutes", "600", "--out", str(out)]
    process = subprocess.Popen(
        [sys.executable, "-c", code, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    send(signal.SIGINT, out / CHECKPOINT, process.pid)
    _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130, err
    assert "Traceback" not in err
    assert load_policy(out).info.data["dataset"] == "g1"
    written = json.loads((out / "run.json").read_text())["stages"][STAGE]["environment"]
    assert written["environments"] == SETTINGS.environment.environments


@pytest.mark.parametrize(
    ("built", "advised"),
    [
        ({"method": "physink+collision", "contact_speed": None}, True),
        ({"method": "physink+collision", "contact_speed": 1.0}, False),
        ({"method": "physink+collision", "contact_speed": None, "curate": {"preset": "paper"}}, True),
        ({"method": "physink+collision", "contact_speed": None, "curate": {"preset": "dynamic"}}, False),
        ({"method": "gmr", "contact_speed": None}, False),
        ({"method": "physink+collision", "curate": {"preset": "paper", "contacts": "stance"}}, False),
        ({"method": "physink+collision", "curate": {"preset": "dynamic", "contacts": "paper"}}, True),
        ({}, False),
    ],
)
def test_datasets_whose_legs_leap_are_told_of(built, advised):
    assert bool(advice(built)) == advised


def test_a_run_is_of_the_robot_as_it_was_when_it_began(dataset, trained):
    """Neither loaded, nor exported, nor gone on with for one of the same name with other gains."""
    g1 = load_robot("g1")
    other = replace(g1, stiffness=2 * g1.stiffness)
    said = "the policy was trained for another g1: stiffness of left_hip_pitch_joint was 40.1.*, is 80.3"
    with pytest.raises(ConfigError, match=said):
        load_policy(trained, other)
    before = contents(trained)
    with pytest.raises(ConfigError, match=said):
        train_policy(dataset_library(dataset, other, split="train"), trained, None, Budget(steps=10**9))
    assert contents(trained) == before


def test_the_name_of_a_policy_s_robot_chooses_no_folder(capsys, dataset, trained, tmp_path, monkeypatch):
    spoiled = Path(shutil.copytree(trained, tmp_path / "spoiled"))
    text = (spoiled / "run.json").read_text()
    (spoiled / "run.json").write_text(text.replace('"robot": "g1"', '"robot": "stranger"'))
    shutil.copytree(load_robot("g1").folder, tmp_path / "stranger")
    monkeypatch.chdir(tmp_path)
    code, _, said = run(capsys, "evaluate", spoiled, dataset)
    assert code == 2
    assert "the policy's robot is stranger, which is not built in (g1, h1_2): give its folder by --robot" in said


def test_hints_can_be_typed_as_they_are_whatever_the_folder_s_name_and_the_condition(capsys, dataset, tmp_path):
    out, where = tmp_path / "a run", "clip IN ('still', 'down')"
    words = (
        "train",
        dataset,
        "--from",
        "scratch",
        "--preset",
        "tiny",
        "--steps",
        "3.2e1",
        "--where",
        where,
        "--out",
        out,
    )
    code, said, _ = run(capsys, *words)
    assert code == 0
    hints = [shlex.split(line.split("  how")[0].split("  watch")[0]) for line in said.splitlines()[-4:-2]]
    judging = ["evaluate", str(out), str(dataset), "--split", "train", "--where", where]
    assert hints[0] == ["phuma", *judging]
    assert hints[1] == ["phuma", "play", str(out), str(dataset), "--where", where]
    assert run(capsys, *judging)[0] == 0


def test_a_run_lies_outside_of_its_dataset(capsys, dataset):
    for out in (dataset, dataset / "deep" / "run"):
        code, _, said = run(capsys, "train", dataset, "--steps", 1, "--out", out)
        assert code == 2
        assert "lies in the dataset" in said
    assert not (dataset / "deep").exists()


def test_a_run_s_robot_is_known_when_it_goes_on_and_a_lost_checkpoint_is_told(capsys, dataset, trained, tmp_path):
    again = Path(shutil.copytree(trained, tmp_path / "again"))
    (again / CHECKPOINT).unlink()
    code, said, _ = run(capsys, "train", dataset, "--resume", "--steps", STEPS, "--out", again)
    assert code == 0
    assert "There is no checkpoint with a step in it: beginning anew" in said

"""`--lock` as a user gives it: a robot without these joints in every command, and clips told what they lose."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("mujoco")
pytest.importorskip("numba")
pytest.importorskip("duckdb")

import phuma
from phuma.core.robot_metrics import FIVE
from phuma.dataset.dataset import Dataset
from phuma.dataset.describe import ROBOT_FILES, load_description
from phuma.dataset.exchange import export_motion
from phuma.errors import ConfigError
from phuma.formats.robot_motion_file import save_robot_motion
from phuma.formats.rollout_file import load_rollout
from phuma.learning.run.folder import RunFolder
from phuma.pipelines.build_dataset import robot_identity
from phuma.pipelines.evaluate_policy import dataset_library
from phuma.pipelines.experts import expert_library
from phuma.robots import load_robot
from phuma.sources import amass_smplx
from phuma.synth import generate
from tests.cli.small_dataset import run
from tests.cli.tracking_dataset import PRESETS, STEPS, TINY, make_dataset
from tests.learning.sample_motions import dip

pytestmark = pytest.mark.slow

ROLL = "left_wrist_roll_joint"
LOCKED = "g1-lock-wrist"


@pytest.fixture(scope="module")
def recording(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("source") / "walk.npz"
    amass_smplx.write(path, generate("walk", 3.0, 2).motion)
    return path


@pytest.fixture(scope="module")
def built(tmp_path_factory, recording) -> Path:
    from phuma.cli.main import main

    out = tmp_path_factory.mktemp("built") / "dataset"
    options = ["--lock", "wrist*", "--method", "physink", "--jobs", "1"]
    assert main(["build", str(recording), "--out", str(out), *options]) == 0
    return out


def rolling(g1, degrees: float):
    """A knee bend whose left wrist rolls by so much."""
    motion = dip(g1)
    joints = motion.joint_pos.copy()
    joints[:, g1.joint_names.index(ROLL)] = np.radians(np.linspace(0, degrees, len(motion)))
    return replace(motion, joint_pos=joints)


@pytest.mark.parametrize(("robot", "joints"), [("g1", 23), ("h1_2", 21)])
def test_a_recording_goes_onto_a_robot_with_locked_wrists(capsys, tmp_path, recording, robot, joints):
    """As well as onto the free one, by the metrics."""
    quick = ("--method", "physink", "--robot", robot)
    for name, more in (("locked", ("--lock", "wrist*")), ("free", ())):
        assert run(capsys, "retarget", recording, "--out", tmp_path / name, *quick, *more)[0] == 0
    locked, free = (phuma.load_robot_motion(tmp_path / name / "walk.npz") for name in ("locked", "free"))
    assert (locked.robot, len(locked.joint_names)) == (f"{robot}-lock-wrist", joints)
    assert json.loads((tmp_path / "locked" / "retarget.json").read_text())["robot"] == locked.robot
    for metric in FIVE:
        name = getattr(metric, "name", metric)
        assert locked.report["metrics"][name] >= free.report["metrics"][name] - 3
    code, out, _ = run(capsys, "inspect", tmp_path / "locked" / "walk.npz")
    assert code == 0
    assert f"robot motion of {robot}-lock-wrist, {joints} joints" in out


def test_a_dataset_names_the_robot_and_every_command_reads_it(capsys, tmp_path, built):
    description, robot = load_description(built), load_robot(LOCKED)
    assert description.robots == (LOCKED,)
    assert description.config[ROBOT_FILES] == {LOCKED: robot_identity(robot)}
    assert {row["robot"] for row in Dataset(built).rows()} == {LOCKED}
    assert run(capsys, "verify", built)[0] == 0
    assert run(capsys, "report", built, "--out", tmp_path / "report.html")[0] == 0
    assert dataset_library(built, robot).motions[0].joint_names == robot.joint_names
    assert not any(dataset_library(built, robot).lost.values())


def test_an_export_has_locked_joints_where_the_tools_models_have_them(capsys, tmp_path, built):
    """At their angles; where a layout names joints, or has no wrists, it leaves them out."""
    code, _, _ = run(capsys, "export", built, "--format", "csv", "pbhc", "phuma", "--out", tmp_path)
    assert code == 0
    table = np.loadtxt(next((tmp_path / "csv").rglob("*.csv")), delimiter=",")
    assert table.shape[1] == 7 + 29
    free = load_robot("g1")
    assert not table[:, 7 + free.joint_index([n for n in free.joint_names if "wrist" in n])].any()
    (motion,) = pickle.loads(next((tmp_path / "pbhc").rglob("*.pkl")).read_bytes()).values()
    assert motion["dof"].shape[1] == 23
    about = json.loads((tmp_path / "csv" / "export.json").read_text())["robots"][LOCKED]
    assert (len(about["joints"]), about["locked"][ROLL]) == (29, 0)
    own = json.loads((tmp_path / "phuma" / "export.json").read_text())["robots"][LOCKED]
    assert own["joints"] == list(load_robot(LOCKED).joint_names)


def test_a_motion_of_the_free_robot_is_certified_and_told_what_it_loses(capsys, tmp_path, g1):
    save_robot_motion(tmp_path / "roll.npz", rolling(g1, 50))
    out = tmp_path / "certified"
    code, text, _ = run(capsys, "certify", tmp_path / "roll.npz", "--lock", "wrist*", "--effort", "quick", "--out", out)
    assert code == 0
    assert f"locked joints would have moved: {ROLL} 50°; the motion needs {ROLL}: leave that free" in text
    rollout = load_rollout(out / "roll.npz")
    assert (rollout.robot, len(rollout.joint_names)) == (LOCKED, 23)
    assert rollout.report["certified"]


def test_an_import_takes_files_of_the_free_robot_and_of_the_locked_one(capsys, tmp_path, g1):
    robot, source = load_robot(LOCKED), tmp_path / "source"
    source.mkdir()
    export_motion(rolling(g1, 50), g1, source / "free.pkl", "gmr")
    own = replace(rolling(g1, 0).reordered(robot.joint_names), robot=robot.name)
    export_motion(own, robot, source / "own.npy", "phuma")
    code, _, err = run(capsys, "import", source, "--lock", "wrist*", "--out", tmp_path / "d", "--jobs", "1")
    assert code == 0, err
    rows = {Path(row["recording"]).stem: row for row in Dataset(tmp_path / "d").rows()}
    assert {row["robot"] for row in rows.values()} == {LOCKED}
    assert any(f"would have moved: {ROLL} 50°" in note for note in rows["free"]["notes"])
    assert not any("would have moved" in note for note in rows["own"]["notes"])


def test_training_takes_clips_of_the_free_robot_and_tells_what_they_lose(capsys, monkeypatch, tmp_path, g1):
    pytest.importorskip("torch")
    monkeypatch.setitem(PRESETS, "tiny", TINY)
    dataset = make_dataset(tmp_path / "d")
    save_robot_motion(dataset / "clips" / "down.npz", rolling(g1, 50))
    out, options = tmp_path / "run", ("--from", "scratch", "--preset", "tiny", "--steps", STEPS, "--lock", "wrist*")
    code, text, err = run(capsys, "train", dataset, "--out", out, *options)
    assert code == 0, err
    assert "Made with the locked joints free: 2 clips; 1 use them by 30 degrees or more" in text
    assert f"down: {ROLL} 50°" in text
    assert RunFolder(out).info().last.robot == LOCKED
    resumed = run(capsys, "train", dataset, "--out", out, "--resume", "--steps", 2 * STEPS)
    assert resumed[0] == 0, resumed[2]
    code, text, err = run(capsys, "evaluate", out, dataset, "--split", "train", "--json")
    assert code == 0, err
    with pytest.raises(ConfigError, match=f"holds motions of g1; experts of {LOCKED} need its own: `phuma build"):
        expert_library(dataset, load_robot(LOCKED), split="train")


def test_a_leg_that_is_locked_is_said(capsys, tmp_path, recording):
    code, _, err = run(capsys, "retarget", recording, "--lock", "ankle_roll*", "--method", "sink", "--out", tmp_path)
    assert code == 0
    assert "Note: left_ankle_roll_joint, right_ankle_roll_joint carry the robot" in err


def test_a_typo_is_an_error_with_what_was_meant(capsys, tmp_path, recording):
    code, _, err = run(capsys, "retarget", recording, "--lock", "wirst*", "--out", tmp_path)
    assert code != 0
    assert "did you mean 'wrist*'?" in err

"""`phuma export` as a user runs it. The layouts themselves are in tests/dataset/exchange."""

from __future__ import annotations

import json
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("duckdb")

import phuma
from phuma.formats.robot_motion_file import save_robot_motion
from phuma.robots import load_robot
from tests.cli.small_dataset import built, run
from tests.dataset.exchange.made_up import FILES, UNITREE, isaaclab_bodies, isaaclab_joints, made_up

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def dataset(tmp_path_factory) -> Path:
    return built(tmp_path_factory.getbasetemp())


def listed(out: Path) -> dict:
    return json.loads((out / "export.json").read_text())


def files_below(out: Path) -> set[str]:
    return {p.relative_to(out).as_posix() for p in out.rglob("*") if p.is_file() and p.name != "export.json"}


def test_every_kept_clip_becomes_a_file_that_protomotions_converter_finds(capsys, tmp_path, dataset):
    code, out, _ = run(capsys, "export", dataset, "--format", "phuma", "--out", tmp_path / "x")
    assert code == 0
    entries = {e.id: e for e in phuma.open_dataset(dataset).entries()}
    result = listed(tmp_path / "x")
    assert f"{len(entries)} files in the layout phuma for g1" in out
    assert {f["clip"] for f in result["files"]} == set(entries)
    assert {f["file"] for f in result["files"]} == files_below(tmp_path / "x")
    assert len(list((tmp_path / "x" / "g1").rglob("*.npy"))) == len(entries)
    for f in result["files"]:
        data = np.load(tmp_path / "x" / f["file"], allow_pickle=True).item()
        motion = entries[f["clip"]].motion()
        np.testing.assert_allclose(data["dof_pos"], motion.joint_pos, atol=1e-6)
        np.testing.assert_allclose(data["root_trans"], motion.root_pos, atol=1e-6)
        assert data["fps"] == f["fps"] == 30
        row = entries[f["clip"]].row
        for name in ("recording", "source", "split", "licence", "redistributable"):
            assert f[name] == row[name]


def test_rejected_clips_are_not_exported(capsys, tmp_path, dataset):
    rows = phuma.open_dataset(dataset).rows()
    assert any(not row["kept"] for row in rows), "else this says nothing"
    run(capsys, "export", dataset, "--format", "csv", "--out", tmp_path / "x")
    assert len(files_below(tmp_path / "x")) == sum(row["kept"] for row in rows)


@pytest.mark.parametrize("layout", [*FILES, "lerobot"])
def test_the_list_tells_order_and_rate_of_what_was_written(capsys, tmp_path, dataset, layout):
    code, _, _ = run(capsys, "export", dataset, "--format", layout, "--out", tmp_path / "x", "--split", "train")
    assert code == 0
    result = listed(tmp_path / "x")
    names, first = result["robots"]["g1"], result["files"][0]
    path = tmp_path / "x" / first["file"]
    own = list(load_robot("g1").body_names)
    bodies = {"mjlab": own, "holosoma": ["world", *own], "locomujoco": ["world", *own]}
    if layout == "beyondmimic":
        assert names == {"joints": isaaclab_joints("g1"), "bodies": isaaclab_bodies("g1")}
        assert np.load(path)["body_names"].tolist() == names["bodies"]
    elif layout == "protomotions":
        assert names["joints"] == UNITREE["g1"]
        assert len(names["bodies"]) == 33
        assert names["bodies"][names["bodies"].index("pelvis") + 1] == "head"
    elif layout == "gmr":
        assert names["joints"] == UNITREE["g1"]
        assert len(names["bodies"]) == 38
        assert "head_mocap" in names["bodies"]
    elif layout == "pbhc":
        assert names == {"joints": [n for n in UNITREE["g1"] if "wrist" not in n], "bodies": []}
    else:
        assert names == {"joints": UNITREE["g1"], "bodies": bodies.get(layout, [])}
    assert first["fps"] == (50 if layout in ("mjlab", "beyondmimic", "holosoma") else 30)
    if layout in ("mjlab", "beyondmimic"):
        assert np.load(path)["fps"] == first["fps"]
        assert np.load(path)["joint_names"].tolist() == names["joints"]


def test_what_may_not_be_passed_on_is_said_with_counts(capsys, tmp_path, dataset):
    kept = [row["source"] for row in phuma.open_dataset(dataset).rows("kept")]
    says = [
        "May not be passed on:",
        f"  amass, files: {kept.count('amass')}, licence: AMASS licence (research, no redistribution)",
        "Not known whether it may be passed on:",
        f"  people, files: {kept.count('people')}, licence: unknown",
    ]
    _, out, _ = run(capsys, "export", dataset, "--format", "csv", "--out", tmp_path / "x")
    assert out.splitlines()[1:] == says
    _, out, err = run(capsys, "export", dataset, "--format", "csv", "--out", tmp_path / "x", "--json")
    assert json.loads(out) == listed(tmp_path / "x")
    assert err.splitlines()[-4:] == says
    _, out, err = run(
        capsys,
        "export",
        dataset,
        "--format",
        "csv",
        "--out",
        tmp_path / "x",
        "--where",
        "source = 'generated'",
        "--json",
    )
    assert json.loads(out)["licences"][0]["redistributable"] is True
    assert "passed on" not in err


def test_where_split_and_robot_choose(capsys, tmp_path, dataset):
    database = phuma.open_dataset(dataset)
    for options, condition in (
        (["--where", "source = 'amass' OR source = 'people'"], "kept AND source IN ('amass', 'people')"),
        (["--split", "train"], "kept AND split = 'train'"),
        (["--split", "test", "--where", "start > 0"], "kept AND split = 'test' AND start > 0"),
        (["--robot", "g1"], "kept"),
    ):
        code, out, _ = run(capsys, "export", dataset, "--format", "gmr", "--out", tmp_path / "x", "--json", *options)
        assert code == 0
        wanted = {row["clip"] for row in database.rows(condition)}
        assert {f["clip"] for f in json.loads(out)["files"]} == wanted != set()
        assert len(files_below(tmp_path / "x")) == len(wanted), "an earlier export's files have to be gone"


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--where", "source = 'nobody'"], "nothing to export"),
        (["--where", "colour = 'red'"], "colour"),
        (["--where", "true; DROP TABLE manifest"], "without `;`"),
        (["--robot", "h1_2"], "nothing to export"),
        (["--robot", "g2"], "g1, h1_2"),
        (["--jobs", "0"], "at least 1"),
    ],
)
def test_wrong_choices_are_explained_and_touch_nothing(capsys, tmp_path, dataset, options, says):
    code, _, err = run(capsys, "export", dataset, "--format", "csv", "--out", tmp_path / "x", *options)
    assert code in (1, 2)
    assert says in err
    assert not (tmp_path / "x").exists()


def test_a_folder_of_somebody_else_is_left_alone(capsys, tmp_path, dataset):
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "thesis.txt").write_text("years of work")
    for out in (tmp_path / "x", tmp_path / "x" / "thesis.txt", dataset):
        code, _, err = run(capsys, "export", dataset, "--format", "csv", "--out", out)
        assert code == 2
        assert "choose another --out" in err
    (tmp_path / "x" / "export.json").write_text('{"format": "other", "robots": []}')
    assert run(capsys, "export", dataset, "--format", "csv", "--out", tmp_path / "x")[0] == 2
    assert (tmp_path / "x" / "thesis.txt").read_text() == "years of work"


def test_a_list_with_foreign_folders_removes_none_of_them(capsys, tmp_path, dataset):
    (tmp_path / "precious").mkdir()
    (tmp_path / "x").mkdir()
    named = ["../precious", str(tmp_path / "precious"), "..", "."]
    (tmp_path / "x" / "export.json").write_text(json.dumps({"format": "phuma-export", "robots": named}))
    assert run(capsys, "export", dataset, "--format", "csv", "--out", tmp_path / "x")[0] == 0
    assert (tmp_path / "precious").exists()
    assert (tmp_path / "x" / "export.json").exists()


def test_a_library_that_is_missing_is_named_before_an_earlier_export_is_replaced(
    capsys, tmp_path, dataset, monkeypatch
):
    run(capsys, "export", dataset, "--format", "csv", "--out", tmp_path / "x")
    before = files_below(tmp_path / "x")
    monkeypatch.setitem(sys.modules, "torch", None)
    code, _, err = run(capsys, "export", dataset, "--format", "protomotions", "--out", tmp_path / "x")
    assert code == 2
    assert "format 'protomotions' needs torch, which is not installed. Run: pip install 'phuma[learn]'" in err
    assert files_below(tmp_path / "x") == before != set()


def test_motions_without_a_dataset(capsys, tmp_path):
    """As `phuma retarget` writes them; one bad file does not cost the others."""
    folder = tmp_path / "r"
    (folder / "sub").mkdir(parents=True)
    motion = made_up(load_robot("g1"))
    motion = replace(motion, provenance=replace(motion.provenance, licence="CC0", redistributable=True))
    save_robot_motion(folder / "a b.npz", motion)
    save_robot_motion(folder / "sub" / "h.npz", made_up(load_robot("h1_2")))
    (folder / "bad.npz").write_bytes(b"PK\x03\x04 not a zip")
    np.savez(folder / "other.npz", x=np.zeros(3))
    code, out, _ = run(capsys, "export", folder, "--format", "mjlab", "--out", tmp_path / "x")
    assert code == 1
    assert files_below(tmp_path / "x") == {"g1/a-b.npz", "h1_2/sub/h.npz"}
    assert "bad.npz" in out
    assert "other.npz: is not a robot motion" in out
    assert "  r, files: 1, licence: unknown" in out  # the H1-2's
    code, out, _ = run(capsys, "export", folder, "--format", "mjlab", "--robot", "h1_2", "--out", tmp_path / "x")
    assert files_below(tmp_path / "x") == {"h1_2/sub/h.npz"}
    code, _, _ = run(capsys, "export", folder / "a b.npz", "--format", "csv", "--out", tmp_path / "y")
    assert code == 0
    table = np.loadtxt(tmp_path / "y" / "g1" / "a-b.csv", delimiter=",")
    np.testing.assert_allclose(table[:, 7:], motion.resampled(30.0).joint_pos, atol=1e-6)
    code, _, err = run(capsys, "export", folder, "--format", "csv", "--where", "kept", "--out", tmp_path / "z")
    assert code == 2
    assert "no dataset" in err


def test_a_robot_of_ones_own_needs_its_folder(capsys, tmp_path):
    robot = load_robot("g1")
    save_robot_motion(tmp_path / "m.npz", replace(made_up(robot), robot="mine"))
    code, out, _ = run(capsys, "export", tmp_path / "m.npz", "--format", "csv", "--out", tmp_path / "x")
    assert code == 1
    assert "is of robot 'mine'; name its folder with --robot" in out
    shutil.copytree(robot.folder, tmp_path / "mine")
    words = ("export", tmp_path / "m.npz", "--format", "csv", "--robot", tmp_path / "mine", "--out", tmp_path / "x")
    assert run(capsys, *words)[0] == 0
    assert files_below(tmp_path / "x") == {"mine/m.csv"}
    code, _, err = run(capsys, *words[:5], "h1_2", *words[6:])
    assert code == 2
    assert "no motion in" in err


def test_the_number_of_jobs_changes_nothing(capsys, tmp_path, dataset):
    for jobs in (1, 2):
        words = ("export", dataset, "--format", "mjlab", "--out", tmp_path / str(jobs), "--jobs", jobs)
        assert run(capsys, *words)[0] == 0
    one, two = ({p: (tmp_path / j / p).read_bytes() for p in files_below(tmp_path / j)} for j in ("1", "2"))
    assert one == two
    assert listed(tmp_path / "1") == listed(tmp_path / "2")


def test_names_in_a_strangers_manifest_lead_nowhere():
    from phuma.dataset.export import safe_name

    assert safe_name("../../etc/pass wd") == "etc/pass-wd"
    assert safe_name("a//.hidden/Ü\n<b>") == "a/hidden/b"
    assert safe_name("../..") == "motion"


def test_several_formats_are_exports_of_their_own(capsys, tmp_path, dataset):
    code, out, _ = run(
        capsys, "export", dataset, "--format", "csv", "gmr,mjlab", "csv", "--out", tmp_path / "x", "--json"
    )
    assert code == 0
    assert list(json.loads(out)) == ["csv", "gmr", "mjlab"]
    for layout in ("csv", "gmr", "mjlab"):
        result = listed(tmp_path / "x" / layout)
        assert result == json.loads(out)[layout]
        assert (result["layout"], result["finished"]) == (layout, True)
        assert {f["file"] for f in result["files"]} == files_below(tmp_path / "x" / layout)
    _, out, _ = run(capsys, "export", dataset, "--format", "csv", "gmr", "--out", tmp_path / "x")
    assert [line.split(" in the layout ")[1].split()[0] for line in out.splitlines()[:2]] == ["csv", "gmr"]
    for words, says in (
        (["csv", "fbx"], "unknown format 'fbx'"),
        (["kimodo"], "'kimodo' is only read; written are"),
    ):
        code, _, err = run(capsys, "export", dataset, "--format", *words, "--out", tmp_path / "y")
        assert code == 2
        assert says in err
        assert not (tmp_path / "y").exists(), "nothing is begun that cannot be ended"


def test_frames_that_a_trainer_clips_are_counted_and_said(capsys, tmp_path):
    """A knee that is straight in half of the frames, which is beyond the middle 90 % of its range."""
    robot = load_robot("g1")
    motion = made_up(robot, frames=20)
    joints = np.tile(np.mean(robot.middle_range(0.5), axis=0), (20, 1))
    joints[:10, robot.joint_names.index("left_knee_joint")] = 0.0
    (tmp_path / "in").mkdir()
    phuma.save_robot_motion(tmp_path / "in" / "a.npz", replace(motion, joint_pos=joints))
    _, out, _ = run(capsys, "export", tmp_path / "in", "--format", "mjlab", "csv", "--out", tmp_path / "x")
    assert listed(tmp_path / "x" / "mjlab")["files"][0]["clipped"] == 50
    assert "clipped" not in listed(tmp_path / "x" / "csv")["files"][0]
    assert "mjlab clips joints to 90 % of their range" in out
    assert "1 of 1 motions have frames beyond that, the worst 50 % of its frames" in out
    assert "--within 0.9" in out

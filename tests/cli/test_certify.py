"""`phuma certify` performs what it is given, writes it, and says what came of it; a bad input is a row."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("mujoco")
pytest.importorskip("numba")
pytest.importorskip("duckdb")

from phuma.cli.main import main
from phuma.dataset.dataset import Dataset
from phuma.formats.robot_motion_file import save_robot_motion
from phuma.formats.rollout_file import load_rollout
from phuma.sources import amass_smplx
from phuma.synth import generate
from tests.dataset.tiny import copied, least
from tests.learning.sample_motions import dip

pytestmark = pytest.mark.slow


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_files_are_performed_and_a_bad_one_is_a_row(here, g1, capsys):
    save_robot_motion(here / "dip.npz", dip(g1))
    (here / "broken.bvh").write_text("HIERARCHY\nnothing")
    assert main(["certify", "dip.npz", "broken.bvh", "--effort", "quick", "--json"]) == 1
    result = json.loads(capsys.readouterr().out)
    (row,), (failed,) = result["motions"], result["failed"]
    assert row["certified"]
    assert row["cpu_seconds"] > 0
    assert load_rollout(here / "certified" / row["file"]).report["certified"]
    assert failed["source"] == "broken.bvh"
    (clip,) = result["clips"]
    assert clip["certified_0.15"] is clip["certified_0.5"] is True
    assert [clip[name] for name in ("clip", "effort", "reason")] == ["dip", "quick", None]
    assert clip["error_mm"] > 0
    assert clip["cpu_seconds"] == row["cpu_seconds"]
    stored = json.loads((here / "certified" / "certify.json").read_text())
    assert "cpu_seconds" not in stored["motions"][0]


def test_a_second_run_adds_to_the_first_and_one_of_which_nothing_comes_writes_nothing(here, g1, capsys):
    for name in ("a", "b"):
        save_robot_motion(here / f"{name}.npz", dip(g1))
        assert main(["certify", f"{name}.npz", "--effort", "quick"]) == 0
    (here / "broken.bvh").write_text("HIERARCHY\nnothing")
    assert main(["certify", "broken.bvh"]) == 1
    stored = json.loads((here / "certified" / "certify.json").read_text())
    assert sorted(row["source"] for row in stored["motions"]) == ["a.npz", "b.npz"]
    capsys.readouterr()
    assert main(["certify", "broken.bvh", "--out", "new"]) == 1
    assert "Nothing was performed, and nothing was written" in capsys.readouterr().out
    assert not (here / "new").exists()


def test_a_recording_is_cut_put_on_the_robot_and_filmed(here, capsys):
    pytest.importorskip("imageio")
    amass_smplx.write(here / "stand.npz", generate("stand", 5.0, 2).motion)
    assert main(["certify", "stand.npz", "--film", "stand.png", "--size", "160x120", "--effort", "quick"]) == 0
    assert (here / "stand.png").stat().st_size > 1000
    assert "1 of 1 certified (100 %)" in capsys.readouterr().out


def test_what_curation_rejects_is_told(here, capsys):
    from phuma.synth import FAULTS

    floating = FAULTS["float"].apply(generate("walk", 5.0, 5).motion, 80.0, 5)
    amass_smplx.write(here / "floating.npz", floating)
    assert main(["certify", "floating.npz", "--no-mend"]) == 1
    assert "curation keeps none of its" in capsys.readouterr().out


def test_a_dataset_is_certified_in_place_whatever_the_number_of_workers(here, tmp_path_factory, capsys):
    contents = []
    for jobs in ("1", "2"):
        root = copied(least(tmp_path_factory.getbasetemp()), here / jobs)
        assert main(["certify", str(root), "--effort", "quick", "--jobs", jobs]) == 0
        assert "1 of 1 certified" in capsys.readouterr().out
        contents.append({p.relative_to(root): p.read_bytes() for p in root.rglob("*.*") if p.is_file()})
        assert len(Dataset(root).rows("certified")) == 1
    assert contents[0] == contents[1]
    assert main(["verify", str(here / "2")]) == 0
    assert main(["select", str(here / "2"), "--where", "certified", "--out", str(here / "part")]) == 0
    assert main(["verify", str(here / "part")]) == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--where", "true", "x.npz"], "--where, --again and --ray are for a dataset"),
        (["--effort", "much", "x.npz"], "unknown effort 'much'"),
        (["--jobs", "0", "x.npz"], "--jobs 0; expected at least 1"),
        (["--robot", "nobody", "x.npz"], "nobody"),
    ],
)
def test_what_makes_no_sense_is_said(here, g1, capsys, words, said):
    save_robot_motion(here / "x.npz", dip(g1))
    assert main(["certify", *words]) == 2
    assert said in capsys.readouterr().err

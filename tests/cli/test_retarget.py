"""`phuma retarget` and `phuma compare` as a user runs them."""

import json
from pathlib import Path

import pytest

import phuma
from phuma.cli.main import main
from phuma.sources import bvh
from phuma.synth import generate

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def recording(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("source") / "walk.bvh"
    bvh.write(path, generate("walk", 5.0, 2).motion)
    return path


def run(capsys, *args) -> tuple[int, str, str]:
    code = main([str(a) for a in args])
    out = capsys.readouterr()
    return code, out.out, out.err


def test_a_recording_goes_straight_onto_a_robot_whole(capsys, tmp_path, recording):
    code, out, _ = run(capsys, "retarget", recording, "--robot", "g1", "--method", "physink", "--out", tmp_path)
    assert code == 0
    assert "non-skating" in out
    motion = phuma.load_robot_motion(tmp_path / "walk.npz")
    assert motion.duration == pytest.approx(5.0, abs=0.05)
    assert json.loads((tmp_path / "retarget.json").read_text())["motions"][0]["file"] == "walk.npz"


def test_what_curation_says_of_a_recording_is_a_warning(capsys, tmp_path):
    path = tmp_path / "run.bvh"
    bvh.write(path, generate("run", 3.0, 1).motion)
    code, out, _ = run(capsys, "retarget", path, "--method", "sink", "--out", tmp_path / "out")
    assert code == 0
    assert "Curation would reject" in out
    assert "root_jerk" in out


def test_curated_clips_are_taken_as_they_are(capsys, tmp_path, recording):
    run(capsys, "curate", recording, "--out", tmp_path / "c")
    code, out, _ = run(
        capsys, "retarget", tmp_path / "c", "--robot", "h1_2", "--method", "physink", "--out", tmp_path / "r", "--json"
    )
    assert code == 0
    result = json.loads(out)
    assert [(m["start"], m["end"]) for m in result["motions"]] == [(0.0, 4.0), (3.5, 5.0)]
    for m in result["motions"]:
        assert m["metrics"]["feasibility"] == 100.0
        assert phuma.load_robot_motion(tmp_path / "r" / m["file"]).robot == "h1_2"


def test_compare_prints_the_agreed_object(capsys, recording):
    code, out, _ = run(capsys, "compare", recording, "--robot", "g1", "--methods", "sink,physink", "--json")
    assert code == 0
    result = json.loads(out)
    assert result["robot"] == "g1"
    assert result["clips"] == 2
    sink, physink = result["methods"]
    assert (sink["method"], physink["method"]) == ("sink", "physink")
    for row in (sink, physink):
        assert row["cpu_seconds_per_clip"] > 0
        for name in ("fidelity", "feasibility", "non_floating", "non_penetration", "non_skating"):
            assert 0 <= row[name] <= 100
        # Preset paper has the paper's contacts: both rulers are one.
        for name in ("non_floating", "non_penetration", "non_skating"):
            assert row["by_paper_contacts"][name] == row[name]
    assert physink["non_skating"] > sink["non_skating"]


def test_contacts_that_stand_are_kept_and_the_papers_ruler_counts_low_swing_feet(capsys, recording):
    args = (recording, "--methods", "physink", "--contacts", "stance")
    code, out, _ = run(capsys, "compare", *args, "--json")
    assert code == 0
    (row,) = json.loads(out)["methods"]
    assert row["non_skating"] > 99
    assert row["by_paper_contacts"]["non_skating"] < 90
    code, out, _ = run(capsys, "compare", *args)
    assert code == 0
    assert f"{row['by_paper_contacts']['non_skating']:.2f}" in out.splitlines()[-1]


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["--robot", "g2"], "g1, h1_2"),
        (["--contacts", "magic"], "unknown contacts 'magic'; there are: stance, paper"),
        (["--method", "magic"], "unknown method 'magic'; there are: ik, gmr, sink"),
    ],
)
def test_wrong_names_list_the_right_ones(capsys, tmp_path, recording, args, says):
    code, _, err = run(capsys, "retarget", recording, "--out", tmp_path, *args)
    assert code == 2
    assert says in err

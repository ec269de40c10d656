"""`phuma retarget` and `phuma compare` as a user runs them."""

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import phuma
from phuma.cli.main import main
from phuma.core.robot_metrics import FIVE
from phuma.core.skeleton import INDEX
from phuma.curation import curate
from phuma.formats.clip_file import save_clip
from phuma.sources import bvh
from phuma.synth import FAULTS, generate

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
    code, out, _ = run(capsys, "retarget", path, "--preset", "paper", "--method", "sink", "--out", tmp_path / "out")
    assert code == 0
    assert "Curation would reject" in out
    assert "root_jerk" in out


def test_what_was_mended_and_a_wrong_speed_are_told(capsys, tmp_path):
    jump = generate("jump", 4.0, 1, fps=120.0).motion
    tilted, fast = tmp_path / "tilted.bvh", tmp_path / "fast.bvh"
    bvh.write(tilted, FAULTS["tilt"].apply(generate("walk", 4.0, 1).motion, 6.0, 1))
    bvh.write(fast, replace(jump, fps=240.0))
    for command in (("curate",), ("retarget", "--method", "sink")):
        _, out, _ = run(capsys, *command, tilted, fast, "--out", tmp_path / command[0])
        assert len(re.findall(r"tilted.bvh: mended: levelled by [56]", out)) == 1
        assert len(re.findall(r"fast.bvh: flights show that it plays at twice its speed; --fps auto", out)) == 1
        _, out, _ = run(capsys, *command, tilted, "--no-mend", "--out", tmp_path / command[0])
        assert "mended: " not in out
    options = ("--robot", "g1", "h1_2", "--method", "sink", "--jobs", 1)
    _, out, _ = run(capsys, "build", tilted, fast, *options, "--out", tmp_path / "d")
    assert "1 clip of 1 recording mended" in out
    assert "1 clip of 1 recording at a wrong speed" in out
    rows = json.loads((tmp_path / "retarget" / "retarget.json").read_text())["motions"]
    assert [any("flights" in note for note in row["notes"]) for row in rows] == [True, False]


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
    code, out, _ = run(
        capsys, "compare", recording, "--robot", "g1", "--contacts", "paper", "--methods", "sink,physink", "--json"
    )
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
        # By the paper's contacts both rulers are one.
        for name in ("non_floating", "non_penetration", "non_skating"):
            assert row["by_paper_contacts"][name] == row[name]
    assert physink["non_skating"] > sink["non_skating"]


@pytest.fixture(scope="module")
def clips(tmp_path_factory) -> Path:
    """Two clips of people who stand, one of them without any contact."""
    folder = tmp_path_factory.mktemp("clips")
    clip = curate(generate("stand", 2.0, 0).motion).clips[0]
    save_clip(folder / "stands.npz", clip)
    save_clip(folder / "floats.npz", replace(clip, contact=replace(clip.contact, ratio=np.zeros((60, 4)))))
    return folder


CONTACTS = ("non_floating", "non_penetration", "non_skating")


def test_a_clip_without_contact_is_unknown_and_flagged_and_not_perfect(capsys, tmp_path, clips):
    code, out, _ = run(capsys, "retarget", clips / "floats.npz", "--method", "sink", "--out", tmp_path, "--json")
    assert code == 0
    (motion,) = json.loads(out)["motions"]
    assert [motion["metrics"][name] for name in CONTACTS] == [None] * 3
    assert motion["metrics"]["human_non_floating"] is None
    assert motion["flags"][0].startswith("unknown: no sole is in contact in this clip")
    assert phuma.load_robot_motion(tmp_path / motion["file"]).report["flags"] == motion["flags"]
    out = run(capsys, "retarget", clips / "floats.npz", "--method", "sink", "--out", tmp_path)[1]
    assert "non-floating          -, known in 0 of 1" in out
    assert "Warning for floats.npz: unknown: no sole is in contact" in out
    assert "-" in run(capsys, "inspect", tmp_path / motion["file"])[1].split("non_floating")[1].split("\n")[0]


def test_means_are_over_the_clips_that_have_the_metric_and_say_so(capsys, clips):
    code, out, _ = run(capsys, "compare", clips, "--methods", "sink", "--json")
    assert code == 0
    (row,) = json.loads(out)["methods"]
    (alone,) = json.loads(run(capsys, "compare", clips / "stands.npz", "--methods", "sink", "--json")[1])["methods"]
    for name in CONTACTS:
        assert row[name] == alone[name]
        assert (row["known_in"][name], alone["known_in"][name]) == (1, 1)
    assert row["known_in"]["feasibility"] == 2
    assert row["flags"]["unknown"] == 1
    out = run(capsys, "compare", clips, "--methods", "sink")[1]
    assert "non-floating is over the 1 of 2 clips in which it is known" in out
    out = run(capsys, "compare", clips / "floats.npz", "--methods", "sink")[1]
    assert re.search(r"\nsink +100.00 +100.00 +- +- +- ", out)


def test_a_motion_whose_five_are_perfect_is_not_called_so_where_its_feet_leap(capsys, tmp_path, recording):
    """Feet that swing low count as standing by height alone: held still, and then they leap."""
    paper = ("--preset", "paper")
    code, out, _ = run(capsys, "retarget", recording, *paper, "--method", "physink+collision", "--out", tmp_path)
    assert code == 0
    motion = phuma.load_robot_motion(tmp_path / "walk.npz")
    values = motion.report["metrics"]
    assert min(values[name] for name in FIVE) > 95
    assert values["ankle_speed_ratio"] > 1.5
    human = motion.human_joints[:, [INDEX["left_ankle"], INDEX["right_ankle"]]]
    fastest = np.linalg.norm(np.diff(human, axis=0), axis=-1).max() * motion.fps
    assert values["ankle_speed"] == pytest.approx(values["ankle_speed_ratio"] * fastest)
    assert any(flag.startswith("leap: an ankle is ") for flag in motion.report["flags"])
    for said in ("leaps                 1 of 1", "flagged               1 of 1: ", "torque-over"):
        assert said in out
    assert re.search(r"residual-contact +0\.\d{4} body weights", out)
    (row,) = json.loads(run(capsys, "compare", recording, *paper, "--methods", "physink", "--json")[1])["methods"]
    assert 1 <= row["leaps"] == row["flags"]["leap"] <= row["flagged"] <= 2
    table = run(capsys, "compare", recording, *paper, "--methods", "physink")[1]
    assert "leaps" in table
    assert f"physink: {row['flagged']} of 2 clips are flagged: " in table


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


def test_a_second_run_adds_to_what_is_listed_and_tells_what_it_replaces(capsys, tmp_path, recording):
    out, again = tmp_path / "o", tmp_path / "again.bvh"
    again.write_bytes(recording.read_bytes())
    for file in (recording, again):
        assert main(["retarget", str(file), "--method", "ik", "--out", str(out)]) == 0
    listed = [row["file"] for row in json.loads((out / "retarget.json").read_text())["motions"]]
    assert listed == ["again.npz", "walk.npz"]
    assert "Replaced" not in capsys.readouterr().out
    (out / "again.npz").unlink()
    assert main(["retarget", str(recording), "--method", "IK", "--robot", "unitree_g1", "--out", str(out)]) == 0
    assert f"Replaced in {out}: walk.npz" in capsys.readouterr().out
    (row,) = json.loads((out / "retarget.json").read_text())["motions"]
    assert (row["robot"], row["method"]) == ("g1", "ik")


def test_where_nothing_can_be_retargeted_nothing_is_written(capsys, tmp_path):
    (tmp_path / "bad.bvh").write_text("HIERARCHY")
    assert main(["retarget", str(tmp_path / "bad.bvh"), "--out", str(tmp_path / "o")]) == 1
    assert "No motion was made, and nothing was written" in capsys.readouterr().out
    assert not (tmp_path / "o").exists()

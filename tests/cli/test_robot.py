"""`phuma robot` as a user runs it."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import phuma
from phuma.cli.main import main
from phuma.robots import load_robot
from phuma.sources import bvh
from phuma.synth import generate

pytestmark = pytest.mark.slow

MODELS = Path(__file__).parents[1] / "robots" / "models"


def run(capsys, *args) -> tuple[int, str, str]:
    code = main([str(a) for a in args])
    out = capsys.readouterr()
    return code, out.out, out.err


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("robots") / "numbered"
    assert main(["robot", "init", str(MODELS / "numbered.xml"), "--out", str(out)]) == 0
    return out


def test_init_writes_a_folder_with_a_picture_and_the_ambiguities(folder):
    assert sorted(p.name for p in folder.iterdir()) == ["ambiguities.md", "model.xml", "robot.json", "robot.png"]
    assert (folder / "robot.png").read_bytes().startswith(b"\x89PNG")
    assert load_robot(folder).n_joints == 19


def test_init_says_what_it_found_and_what_to_do_next(capsys, tmp_path):
    code, out, _ = run(capsys, "robot", "init", MODELS / "numbered.xml", "--out", tmp_path / "mine")
    assert code == 0
    assert "19 joints (6 hip, 2 knee, 2 ankle, 1 waist, 6 shoulder, 2 elbow, 0 wrist, 0 other)" in out
    assert "1. " in out
    assert "To settle it: " in out
    assert f"phuma robot check {tmp_path / 'mine'}" in out


def test_init_does_not_overwrite_and_refuses_what_is_no_humanoid(capsys, folder, tmp_path):
    code, _, err = run(capsys, "robot", "init", MODELS / "numbered.xml", "--out", folder)
    assert (code, "holds a robot.json already" in err) == (2, True)
    code, _, err = run(capsys, "robot", "init", MODELS / "quadruped.xml", "--out", tmp_path / "x")
    assert (code, "as of a quadruped" in err) == (1, True)
    assert not (tmp_path / "x").exists()


def test_check_ends_with_zero_when_all_is_well_and_with_one_when_something_is_wrong(capsys, folder, tmp_path):
    code, out, _ = run(capsys, "robot", "check", folder)
    assert (code, out) == (0, "numbered: 19 joints, 20 bodies; complete, and nothing looks wrong.\n")
    spoilt = Path(shutil.copytree(folder, tmp_path / "spoilt"))
    data = json.loads((spoilt / "robot.json").read_text())
    data["default_height"] += 0.1
    (spoilt / "robot.json").write_text(json.dumps(data))
    code, out, _ = run(capsys, "robot", "check", spoilt)
    assert code == 1
    assert "Wrong: default_height is" in out
    assert "To fix it: set default_height to" in out
    assert "spoilt: 1 wrong, 0 to check." in out


def test_check_of_an_incomplete_folder_names_what_is_missing(capsys, tmp_path):
    spoilt = Path(shutil.copytree(load_robot("g1").folder, tmp_path / "spoilt"))
    data = json.loads((spoilt / "robot.json").read_text())
    del data["keypoints"]["left_wrist"]
    (spoilt / "robot.json").write_text(json.dumps(data))
    code, _, err = run(capsys, "robot", "check", spoilt)
    assert code == 1
    assert "keypoints has no 'left_wrist'" in err


def test_without_matplotlib_nothing_is_written_and_the_error_says_what_to_install(tmp_path):
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "from phuma.cli.main import main\n"
        f"sys.exit(main(['robot', 'init', {str(MODELS / 'numbered.xml')!r}, '--out', {str(tmp_path / 'mine')!r}]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 2
    assert "pip install 'phuma[plot]'" in done.stderr
    assert not (tmp_path / "mine").exists()


def test_list_names_the_built_in_robots_and_their_sources(capsys):
    code, out, _ = run(capsys, "robot", "list")
    assert code == 0
    assert "g1      Unitree G1, 29 joints" in out
    assert "h1_2    Unitree H1-2 without hands, 27 joints" in out
    assert out.count("BSD-3") == 2


def test_a_motion_goes_onto_the_folder(capsys, folder, tmp_path):
    bvh.write(tmp_path / "walk.bvh", generate("walk", 3.0, 2).motion)
    code, _, _ = run(capsys, "retarget", tmp_path / "walk.bvh", "--robot", folder, "--out", tmp_path / "out")
    assert code == 0
    motion = phuma.load_robot_motion(tmp_path / "out" / "walk.npz")
    assert motion.robot == "numbered"
    assert motion.joint_names == load_robot(folder).joint_names

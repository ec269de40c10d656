"""`phuma follow`: a masked policy walks a path, and what cannot is told why."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("mujoco")

from phuma.cli.main import main
from phuma.core.rollout import Rollout
from phuma.evaluation.asked import judge_asked, summarise_asked
from phuma.formats.rollout_file import load_rollout
from phuma.learning.recipes.recipe import CPU, EXPERTS
from phuma.pipelines.train_policy import Budget, train_policy
from phuma.robots.whole import whole_robot
from phuma.sim.reference import at_control_rate
from tests.learning.recipes.test_maskedmimic import RECIPE, library, small  # noqa: F401 (a fixture)
from tests.learning.sample_motions import dip


@pytest.fixture(scope="module")
def runs(library, tmp_path_factory):  # noqa: F811
    """A teacher, and students that are told the pelvis and any; nobody of them learned anything."""
    root = tmp_path_factory.mktemp("runs")
    train_policy(library, root / "teacher", small(RECIPE.settings(CPU, stage="teacher")), Budget(steps=16))
    for condition in ("pelvis", "any", "feet"):
        cfg = small(RECIPE.settings(CPU, stage="student", teacher=EXPERTS)).with_environment(condition=condition)
        train_policy(library, root / condition, cfg, Budget(steps=16))
    return root


@pytest.mark.parametrize("condition", ["pelvis", "any"])
def test_a_student_walks_a_path_and_a_rollout_is_written(capsys, runs, tmp_path, condition):
    out = tmp_path / "walk.npz"
    code = main(["follow", str(runs / condition), "--path", "0,0 1,0", "--out", str(out), "--json"])
    about = json.loads(capsys.readouterr().out)
    assert code == 0
    rollout = load_rollout(out)
    assert rollout.robot == "g1"
    assert (len(rollout) - 1) / 50 == pytest.approx(about["seconds"])
    assert about["fell"] == (about["seconds"] < about["of"])
    assert 0 <= about["mean_m"] <= about["most_m"]
    path = np.array(rollout.report["path"])
    np.testing.assert_allclose(path[[0, -1]], [[0, 0], [0.875, 0]], atol=0.13)
    assert np.linalg.norm(np.diff(path, axis=0), axis=1).max() < 0.02


@pytest.mark.parametrize(
    ("run", "options", "told"),
    [
        ("pelvis", ["--out", "walk.npz"], "--out writes a rollout of a path: give --path"),
        ("pelvis", ["--json"], "give --out FILE.npz, too"),
        ("pelvis", ["--path", "circle", "--seconds", "5"], "give --out FILE.npz, too"),
        ("pelvis", ["--speed", "9"], "at most 3 m/s"),
        ("pelvis", ["--port", "99999"], "expected 0 to 65535"),
        ("teacher", [], "which is told the whole motion; a masked one is needed"),
        ("feet", [], "was trained to be told feet; a path is for the pelvis"),
    ],
)
def test_what_cannot_be_drawn_is_named_before_a_page_is_served(capsys, runs, run, options, told):
    assert main(["follow", str(runs / run), "--no-browser", *options]) == 2
    assert told in capsys.readouterr().err


def test_an_exported_student_walks_the_same_path(capsys, runs, tmp_path):
    onnx = tmp_path / "student.onnx"
    assert main(["policy", "export", str(runs / "any"), "--out", str(onnx)]) == 0
    capsys.readouterr()
    options = ["--path", "0,0 1,0", "--out", str(tmp_path / "walk.npz"), "--json"]
    assert main(["follow", str(runs / "any"), *options]) == 0
    one = json.loads(capsys.readouterr().out)
    without_torch = "import sys; sys.modules['torch'] = None\nfrom phuma.cli.main import main\nmain(sys.argv[1:])"
    command = [sys.executable, "-c", without_torch, "follow", str(onnx), *options]
    other = json.loads(subprocess.run(command, capture_output=True, check=True, text=True).stdout)
    assert one["mean_m"] == pytest.approx(other["mean_m"], abs=1e-3)
    assert one["seconds"] == pytest.approx(other["seconds"], abs=0.05)


@pytest.mark.parametrize(
    ("run", "options", "told"),
    [
        ("teacher", [], "which is told the whole motion; a masked one is needed"),
        ("feet", [], "was trained to be told feet; a path is for the pelvis"),
        ("pelvis", ["--path", "1,1"], "has one point"),
        ("pelvis", ["--path", "0,0 nan,0"], "have to be finite"),
        ("pelvis", ["--speed", "9"], "at most 3 m/s"),
        ("pelvis", ["--seconds", "0"], "expected 1 to 600"),
        ("pelvis", ["--out", "walk.txt"], "expected a name that ends in .npz"),
        ("pelvis", ["--path", "0,0 1,0 0,0"], "turns back on itself at 1,0"),
        ("pelvis", ["--robot", "h1_2"], "is of robot g1 and does not fit h1_2"),
    ],
)
def test_what_cannot_be_followed_is_named(capsys, runs, tmp_path, run, options, told):
    out = str(tmp_path / "walk.npz")
    assert main(["follow", str(runs / run), "--path", "circle", "--out", out, *options]) == 2
    assert told in capsys.readouterr().err
    assert not (tmp_path / "walk.npz").exists()


def test_what_was_asked_for_is_judged_alone(g1):
    """A pelvis in its place is enough, whatever the arms do; one that is 0.3 m off is within 0.5 m alone."""
    path = at_control_rate(dip(g1)).double()
    robot = whole_robot(g1)
    arms = path.joint_pos.copy()
    arms[:, g1.joint_names.index("left_shoulder_pitch_joint")] += 1.0

    def judged(shift: float, joints, end=None):
        root = path.root_pos + [shift, 0, 0]
        rollout = Rollout(g1.name, g1.joint_names, 50.0, root, path.root_quat, joints, "m", end)
        return judge_asked(rollout, path, robot, ["pelvis"])

    assert judged(0.0, arms).within == {"within_0.15": True, "within_0.5": True}
    assert judged(0.3, path.joint_pos).within == {"within_0.15": False, "within_0.5": True}
    assert judged(0.3, path.joint_pos).distance == pytest.approx(0.3)
    assert not any(judged(0.0, arms, end=5).within.values())
    both = summarise_asked([judged(0.0, arms), replace_motion(judged(0.3, arms))])
    assert (both["within_0.15"], both["within_0.5"]) == (50.0, 100.0)
    assert both["distance_mm"] == pytest.approx(150)
    hand = judge_asked(
        Rollout(g1.name, g1.joint_names, 50.0, path.root_pos, path.root_quat, arms, "m", None), path, robot,
        ["left_rubber_hand"],
    )  # fmt: skip
    assert not hand.within["within_0.15"]
    assert np.isfinite(hand.distance)


def replace_motion(asked):
    return asked._replace(motion="other")


def test_conditions_are_of_students_alone(capsys, tmp_path):
    code = main(
        [
            "train",
            str(tmp_path / "data"),
            "--out",
            str(tmp_path / "run"),
            "--algo",
            "beyondmimic",
            "--condition",
            "pelvis",
        ]
    )
    assert code == 2
    assert "told everything" in capsys.readouterr().err

"""`phuma play` and `phuma demo --policy` as a user runs them."""

import re
import signal
import subprocess
import sys
from argparse import Namespace
from contextlib import contextmanager
from dataclasses import replace

import pytest

pytest.importorskip("duckdb")
pytest.importorskip("onnxruntime")
pytest.importorskip("viser")

from phuma.cli import demo
from phuma.cli.demo import POLICY, TRACKED
from phuma.cli.play import pieces_of
from phuma.dataset.dataset import Dataset
from phuma.formats.robot_motion_file import load_robot_motion, save_robot_motion
from phuma.formats.rollout_file import load_rollout, save_rollout
from phuma.learning.run.folder import RunFolder
from phuma.pipelines.evaluate_policy import load_policy, try_out
from phuma.robots import load_robot
from tests.cli.small_dataset import run
from tests.dataset.tiny import copied, edit_manifest
from tests.learning.sample_motions import dip, library
from tests.report_dataset import built
from tests.viewer.serving import Page
from tests.viewer.test_film import can_draw
from tests.waiting import PATIENCE

iio = pytest.importorskip("imageio.v3")

pytestmark = pytest.mark.slow
POLICY_FILE, MOTION = POLICY / "policy.onnx", POLICY / f"{TRACKED}.npz"
drawing = pytest.mark.skipif(not can_draw(), reason="no EGL or OSMesa on this machine")
SMALL = ("--size", "160x120", "--camera", "front")


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    return built(tmp_path_factory.getbasetemp())


@pytest.fixture(scope="module")
def clip(dataset):
    """A short one of the G1."""
    return min(Dataset(dataset).entries("robot = 'g1'"), key=lambda entry: entry.row["frames"]).id


def play(capsys, *args):
    return run(capsys, "play", POLICY_FILE, *args)


# Which clips.


def chosen(dataset, **options):
    """What is left to be opened."""
    given = {"sources": [dataset], "clip": None, "where": None, "split": "all"} | options
    rows = pieces_of(Namespace(**given), load_robot("g1")).find({})["rows"]
    return sorted((row["clip"], row["robot"]) for row in rows)


def test_the_clips_to_play_are_the_kept_ones_of_the_policys_robot_under_a_condition(dataset, clip):
    entries = [(e.id, "g1", e.row) for e in Dataset(dataset).entries("robot = 'g1'")]
    assert chosen(dataset) == sorted(e[:2] for e in entries)
    walks = "label = 'walk' OR category = 'squat' -- whatever that is"
    wanted = [e[:2] for e in entries if e[2]["label"] == "walk" or e[2]["category"] == "squat"]
    assert 0 < len(wanted) < len(entries)
    assert chosen(dataset, where=walks) == sorted(wanted)
    split = entries[0][2]["split"]
    assert chosen(dataset, split=split) == sorted(e[:2] for e in entries if e[2]["split"] == split)
    assert chosen(dataset, clip=clip) == [(clip, "g1")]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--clip", "nobody's"], 'no clip "nobody\'s" in'),
        (["--where", "start < 0"], "has no kept clip of g1 under 'start < 0'"),
        (["--where", "colour = 'red'"], "the question cannot be answered"),
        (["--where", "true; DROP TABLE manifest"], "a condition without `;` is expected"),
        (["--clip", "any", "--split", "test"], "--clip names one clip; --where and --split choose others"),
        (["--noise", "-1"], "--noise -1; expected 0 to 100"),
        (["--port", "70000"], "--port 70000; expected 0 to 65535"),
        (["--size", "9x9", "--render", "x.png"], "--size '9x9'; expected like 640x480"),
        (["--robot", "h1_2"], "h1_2"),
        (["--render", "x.png"], r"\d+ clips; a film is of one: choose it, as by --clip "),
    ],
)
def test_what_cannot_be_chosen_is_told_and_nothing_is_written(capsys, dataset, tmp_path, monkeypatch, options, says):
    monkeypatch.chdir(tmp_path)
    code, out, err = play(capsys, dataset, *options, "--no-browser")
    assert (code in (1, 2), out) == (True, "")
    assert re.search(says, err), err
    assert list(tmp_path.iterdir()) == []


def test_a_dataset_of_another_robot_is_named_with_what_it_holds(capsys, dataset, tmp_path):
    copy = copied(dataset, tmp_path / "copy")
    edit_manifest(copy, lambda row: row.update(robot="h1_2"))
    code, _, err = play(capsys, copy, "--no-browser")
    assert (code, err) == (
        2,
        f"phuma play: {copy} has no motion of robot g1; it is of: h1_2 (see --robot)\n",
    )


def test_a_policy_that_is_not_there_or_is_none_is_named(capsys, dataset, tmp_path):
    for path, says in (
        (tmp_path / "policy.onnx", "does not exist; expected the folder of a training run or a policy.onnx"),
        (tmp_path, "is not a training run: there is no run.json in it"),
        (MOTION, f"{TRACKED}.npz"),
    ):
        code, _, err = run(capsys, "play", path, dataset, "--no-browser")
        assert code == 1
        assert says in err


def test_files_are_played_too_and_are_not_chosen_from(capsys, dataset, tmp_path):
    code, _, err = play(capsys, MOTION, "--split", "test", "--no-browser")
    assert (code, err) == (2, "phuma play: --clip, --where and --split choose from a dataset; these are files\n")
    other = replace(load_robot_motion(MOTION), robot="h1_2")
    save_robot_motion(tmp_path / "other.npz", other)
    code, _, err = play(capsys, tmp_path / "other.npz", "--no-browser")
    assert (code, err) == (2, f"phuma play: {tmp_path / 'other.npz'} is a motion of h1_2; the policy is of g1\n")
    code, _, err = play(capsys, dataset, MOTION, "--no-browser")
    assert (code, err) == (2, "phuma play: one dataset at a time, or any number of files\n")


# Films.


@drawing
def test_a_clip_is_filmed_with_its_reference(capsys, dataset, clip, tmp_path):
    out = tmp_path / "film.png"
    code, said, _ = play(capsys, dataset, "--clip", clip, "--render", out, *SMALL)
    assert code == 0
    assert re.fullmatch(
        rf"reference, policy in {re.escape(str(out))}\n(tracked to|terminated at|50 cm away) .*\n", said
    )
    assert iio.imread(out).shape[:2] == (2 * 120, 4 * 160)
    assert list(tmp_path.iterdir()) == [out]


@drawing
def test_a_rollouts_file_is_filmed_in_step_with_its_reference(capsys, tmp_path):
    reference, rollout, out = (tmp_path / name for name in ("dip.npz", "rollout.npz", "film.gif"))
    save_robot_motion(reference, motion := dip(load_robot("g1"), 0.6))
    save_rollout(rollout, *try_out(load_policy(POLICY_FILE), library(load_robot("g1"), dip=motion)))
    code, said, _ = run(capsys, "render", reference, rollout, "--out", out, *SMALL)
    assert (code, said) == (0, f"dip.npz on g1, rollout.npz on g1 by policy in {out}\n")
    assert len(load_rollout(rollout)) > len(motion) == len(iio.imread(out))
    code, said, _ = run(capsys, "inspect", rollout)
    assert code == 0
    assert "rollout of dip by g1" in said


# The demo.


@contextmanager
def served(code, cwd):
    """A command in a process of its own: the page that it serves. Ended politely, it ends well."""
    command = [sys.executable, "-c", code]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=cwd) as process:
        try:
            lines = []
            for line in process.stdout:
                lines.append(line)
                if line.startswith("http"):
                    break
            else:
                pytest.fail("".join([*lines, process.stderr.read()]))
            yield type("At", (), {"url": lines[-1].split()[0]}), lines
        finally:
            process.send_signal(signal.SIGTERM)
            assert process.wait(PATIENCE) == 0


def test_the_demos_policy_is_there_at_once_with_neither_torch_nor_a_database(tmp_path):
    code = "import sys\nfor name in ('torch', 'duckdb', 'tensorboard'): sys.modules[name] = None\n"
    code += "from phuma.cli.main import main\nsys.exit(main(['demo', '--policy', '--no-browser', '--port', '0']))"
    with served(code, tmp_path) as (at, _), Page(at) as page:
        told = page.open("0", None)
        assert (told["title"], [p["id"] for p in told["performers"]]) == (f"{TRACKED}.npz", ["reference", "policy"])
        assert (told["frames"], told["verdict"]) == (len(load_robot_motion(MOTION)), "tracked to its end")
    assert list(tmp_path.iterdir()) == []


def test_the_demos_policy_is_trained_anew_and_goes_on_where_it_was(capsys, tmp_path, monkeypatch):
    pytest.importorskip("torch")
    served = []
    monkeypatch.setattr(demo, "serve", lambda library, args: served.append(library))  # until Ctrl-C
    steps: list[int] = []
    minutes = 0.02
    for _ in range(2):
        monkeypatch.setattr(demo, "MINUTES", minutes)
        code, said, _ = run(capsys, "demo", "--policy", "--train", "--out", tmp_path)
        assert code == 0
        assert "A policy learns it in" in said
        reached, seconds = RunFolder(tmp_path / "policy").reached()
        steps.append(reached)
        minutes = (seconds + 1.0) / 60
        clip = next(iter(Dataset(tmp_path / "walk").entries())).id
        assert [p.id for p in served[-1].open(clip, None, None).show] == ["reference", "policy"]
    assert 0 < steps[0] < steps[1]


def test_train_without_policy_is_refused(capsys, tmp_path):
    code, _, err = run(capsys, "demo", "--train", "--out", tmp_path / "x")
    assert (code, err) == (2, "phuma demo: --train trains a policy: give --policy too\n")
    assert list(tmp_path.iterdir()) == []

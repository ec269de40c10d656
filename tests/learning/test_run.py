"""A run's folder: what is written is read again, and what is damaged is told."""

from __future__ import annotations

import json

import numpy as np
import pytest

pytest.importorskip("mujoco")

from phuma.errors import ConfigError, ReadError
from phuma.learning.config import LearnCfg
from phuma.learning.policy import info_of
from phuma.learning.run import RunFolder, RunInfo
from phuma.robots import load_robot

CFG = LearnCfg(environments=7, hidden=(3, 2), seed=5)
INFO = RunInfo(info_of(load_robot("g1"), CFG, {"dataset": "here"}, "0.1"), CFG, 12)
ARRAYS = {"net.x": np.arange(6, dtype=np.float32).reshape(2, 3), "rng": np.array([2**64 - 1], dtype=np.uint64)}


@pytest.fixture
def run(tmp_path):
    folder = RunFolder(tmp_path / "deep" / "run")
    folder.begin(INFO)
    return folder


def rewritten(run, **changes):
    document = json.loads(run.description.read_text()) | changes
    run.description.write_text(json.dumps(document))


def test_what_a_run_was_made_of_is_read_as_it_was_written(run):
    assert run.info() == INFO
    assert RunFolder(str(run.root)).info() == INFO


def test_a_run_is_never_overwritten(run):
    with pytest.raises(ConfigError, match="holds a run already: go on with --resume"):
        RunFolder(run.root).begin(INFO)


def test_settings_that_a_later_version_has_and_this_one_has_not_do_no_harm(run):
    rewritten(run, cfg=json.loads(run.description.read_text())["cfg"] | {"unheard_of": 3})
    assert run.info() == INFO


def test_a_checkpoint_is_read_as_it_was_written_and_the_last_one_counts(run):
    run.save({"net.x": np.zeros(3)})
    run.save(ARRAYS)
    found = run.load()
    assert found.keys() == ARRAYS.keys()
    for name, value in ARRAYS.items():
        np.testing.assert_array_equal(found[name], value)
        assert found[name].dtype == value.dtype
    assert sorted(path.name for path in run.root.iterdir()) == ["checkpoint.npz", "run.json"]


def test_a_run_without_a_checkpoint_says_so(run):
    with pytest.raises(ReadError, match="has no checkpoint: train it first"):
        run.load()


def test_a_folder_or_a_file_that_is_no_run_says_so(tmp_path):
    with pytest.raises(ReadError, match=r"is not a training run: there is no run\.json in it"):
        RunFolder(tmp_path).info()
    (tmp_path / "file").write_text("nothing")
    for path in (tmp_path / "file", tmp_path / "nowhere"):
        with pytest.raises(ReadError, match="is not a training run"):
            RunFolder(path).info()


@pytest.mark.parametrize(
    "changes",
    [
        {"format": "other"}, {"format_version": "1"}, {"cfg": None}, {"cfg": []},
        {"cfg": {"environments": -1}}, {"cfg": {"environments": "many"}}, {"cfg": {"algo": "unheard"}},
        {"cfg": {"hidden": [10**9]}}, {"cfg": {"hidden": [2.5]}}, {"cfg": {"substeps": 4}},
        {"policy": None}, {"policy": {"robot": "g1"}}, {"motions": "some"},
    ],
    ids=str,
)  # fmt: skip
def test_a_damaged_description_is_told_with_its_file(run, changes):
    rewritten(run, **changes)
    with pytest.raises(ReadError, match=r"run\.json: is damaged") as told:
        run.info()
    assert told.value.path == str(run.description)


def test_a_run_of_a_later_version_is_not_called_damaged(run):
    rewritten(run, format_version=99)
    with pytest.raises(ReadError, match=r"run\.json: is of version 99, newer than this program's 1: pip install -U"):
        run.info()


@pytest.mark.parametrize(
    "changes",
    [
        {"data": None}, {"data": [1]}, {"substeps": 2.5}, {"substeps": 10**9}, {"robot": "\x1b[2J"},
        {"joint_names": None},
        {"stiffness": [1.0]}, {"default_pose": "none"}, {"base": "other"}, {"future": 1},
    ],
    ids=str,
)  # fmt: skip
def test_so_is_one_whose_policy_cannot_be(run, changes):
    policy = json.loads(run.description.read_text())["policy"]
    rewritten(run, policy=policy | changes)
    with pytest.raises(ReadError, match=r"run\.json: is damaged"):
        run.info()


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b"3", b"\xff\xfe\x00", b'{"format": "phuma-run"}', b"[" * 100_000])
def test_so_is_one_that_is_no_description_at_all(run, text):
    run.description.write_bytes(text)
    with pytest.raises(ReadError, match=r"run\.json: is damaged"):
        run.info()


def test_a_checkpoint_that_was_cut_short_is_told(run):
    run.save(ARRAYS)
    whole = run.checkpoint.read_bytes()
    for size in (0, 10, len(whole) // 2, len(whole) - 1):
        run.checkpoint.write_bytes(whole[:size])
        with pytest.raises(ReadError):
            run.load()


def test_a_checkpoint_of_something_else_is_told(run):
    np.savez(run.checkpoint, a=np.zeros(3))
    with pytest.raises(ReadError, match="is not a checkpoint of a phuma-run"):
        run.load()


def test_nothing_in_a_checkpoint_is_executed(run):
    np.savez(run.checkpoint, format=np.array("phuma-run"), a=np.array([print], dtype=object))
    with pytest.raises(ReadError):
        run.load()


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_numbers_that_mean_nothing_are_told_with_their_name(run, bad):
    run.save(ARRAYS | {"net.y": np.array([1.0, bad])})
    with pytest.raises(ReadError, match=r"in net\.y"):
        run.load()


@pytest.mark.parametrize("name", ["environments", "horizon", "substeps", "epochs", "minibatches"])
def test_settings_have_to_make_sense(name):
    with pytest.raises(ConfigError, match=f"{name} is 0; at least 1 is needed"):
        LearnCfg(**{name: 0})


def test_there_are_as_many_samples_as_batches_at_least():
    LearnCfg(environments=2, horizon=2, minibatches=4)
    with pytest.raises(ConfigError, match="1 environments are too few for 4 minibatches"):
        LearnCfg(environments=1, horizon=2, minibatches=4)
    with pytest.raises(ConfigError, match="no algorithm 'magic'; there is: beyondmimic"):
        LearnCfg(algo="magic")

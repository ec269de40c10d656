"""A run's folder: what is written is read again, and what is damaged is told."""

from __future__ import annotations

import json
from dataclasses import asdict, replace

import numpy as np
import pytest

pytest.importorskip("mujoco")


from phuma.errors import ConfigError, ReadError
from phuma.learning.algorithms.config import PPOCfg
from phuma.learning.env.config import EnvironmentCfg
from phuma.learning.nets.config import MLPCfg
from phuma.learning.recipes.recipe import RunCfg, StageCfg, recipe_named
from phuma.learning.run.folder import RunFolder, RunInfo, run_info
from phuma.robots import load_robot

STAGE = "policy"
SETTINGS = StageCfg(EnvironmentCfg(environments=7), MLPCfg(hidden=(3, 2)), PPOCfg())
CFG = RunCfg("beyondmimic", {STAGE: SETTINGS}, seed=5)
INFO = run_info(load_robot("g1"), CFG, 12, {"dataset": "here"}, "0.1")
ARRAYS = {"net.x": np.arange(6, dtype=np.float32).reshape(2, 3), "rng": np.array([2**64 - 1], dtype=np.uint64)}


@pytest.fixture
def run(tmp_path):
    folder = RunFolder(tmp_path / "deep" / "run")
    folder.begin(INFO)
    return folder


def rewritten(run, **changes):
    document = json.loads(run.description.read_text()) | changes
    run.description.write_text(json.dumps(document))


def stage_rewritten(run, concern, changes):
    """With other values of one concern of its stage."""
    stage = json.loads(run.description.read_text())["stages"][STAGE]
    rewritten(run, stages={STAGE: stage | {concern: stage[concern] | changes}})


def test_what_a_run_was_made_of_is_read_as_it_was_written(run):
    assert run.info() == INFO
    assert RunFolder(str(run.root)).info() == INFO


def test_a_run_is_never_overwritten(run):
    with pytest.raises(ConfigError, match="holds a run already: go on with --resume"):
        RunFolder(run.root).begin(INFO)


def test_settings_that_a_later_version_has_and_this_one_has_not_do_no_harm(run):
    for concern in ("environment", "network", "algorithm"):
        stage_rewritten(run, concern, {"unheard_of": 3})
    assert run.info() == INFO


def test_a_network_without_a_name_is_one_of_plain_layers_and_one_of_an_unknown_name_is_damage(run):
    stage = json.loads(run.description.read_text())["stages"][STAGE]
    del stage["network"]["name"]
    rewritten(run, stages={STAGE: stage})
    assert run.info() == INFO
    stage_rewritten(run, "network", {"name": "unheard of"})
    with pytest.raises(ReadError, match="unheard of"):
        run.info()


def test_a_checkpoint_is_read_as_it_was_written_and_the_last_one_counts(run):
    run.save(STAGE, {"net.x": np.zeros(3)})
    run.save(STAGE, ARRAYS)
    found = run.load(STAGE)
    assert found.keys() == ARRAYS.keys()
    for name, value in ARRAYS.items():
        np.testing.assert_array_equal(found[name], value)
        assert found[name].dtype == value.dtype
    assert sorted(path.name for path in run.root.iterdir()) == ["checkpoint_policy.npz", "run.json"]


def test_a_run_without_a_checkpoint_says_so(run):
    with pytest.raises(ReadError, match="has no checkpoint: train it first"):
        run.load(STAGE)


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
        {"format": "other"}, {"format_version": "1"}, {"stages": None}, {"stages": []}, {"stages": {}},
        {"stages": {STAGE: {}}}, {"stages": {STAGE: None}}, {"stages": {"other": {}}},
        {"algo": "unheard"}, {"algo": 3}, {"motions": "some"},
    ],
    ids=str,
)  # fmt: skip
def test_a_damaged_description_is_told_with_its_file(run, changes):
    rewritten(run, **changes)
    with pytest.raises(ReadError, match=r"run\.json: is damaged") as told:
        run.info()
    assert told.value.path == str(run.description)


@pytest.mark.parametrize(
    ("concern", "changes"),
    [
        ("environment", {"environments": -1}), ("environment", {"environments": "many"}),
        ("environment", {"substeps": 4}), ("network", {"hidden": [10**9]}), ("network", {"hidden": [2.5]}),
        ("algorithm", {"name": "magic"}), ("algorithm", {"epochs": 0}), ("policy", {"algo": "unheard"}),
        ("policy", {"stage": "other"}),
    ],
    ids=str,
)  # fmt: skip
def test_so_is_one_with_settings_that_cannot_be(run, concern, changes):
    stage_rewritten(run, concern, changes)
    with pytest.raises(ReadError, match=r"run\.json: is damaged"):
        run.info()


def test_a_run_of_a_later_version_is_not_called_damaged(run):
    rewritten(run, format_version=99)
    with pytest.raises(ReadError, match=r"run\.json: is of version 99, newer than this program's 3: pip install -U"):
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
    stage_rewritten(run, "policy", changes)
    with pytest.raises(ReadError, match=r"run\.json: is damaged"):
        run.info()


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b"3", b"\xff\xfe\x00", b'{"format": "phuma-run"}', b"[" * 100_000])
def test_so_is_one_that_is_no_description_at_all(run, text):
    run.description.write_bytes(text)
    with pytest.raises(ReadError, match=r"run\.json: is (damaged|not JSON|JSON of more than 64)"):
        run.info()


def test_a_checkpoint_that_was_cut_short_is_told(run):
    run.save(STAGE, ARRAYS)
    whole = run.checkpoint(STAGE).read_bytes()
    for size in (0, 10, len(whole) // 2, len(whole) - 1):
        run.checkpoint(STAGE).write_bytes(whole[:size])
        with pytest.raises(ReadError):
            run.load(STAGE)


def test_a_checkpoint_of_something_else_is_told(run):
    np.savez(run.checkpoint(STAGE), a=np.zeros(3))
    with pytest.raises(ReadError, match="is not a checkpoint of a phuma-run"):
        run.load(STAGE)


def test_nothing_in_a_checkpoint_is_executed(run):
    np.savez(run.checkpoint(STAGE), format=np.array("phuma-run"), a=np.array([print], dtype=object))
    with pytest.raises(ReadError):
        run.load(STAGE)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_non_finite_values_are_told_with_their_name(run, bad):
    run.save(STAGE, ARRAYS | {"net.y": np.array([1.0, bad])})
    with pytest.raises(ReadError, match=r"in net\.y"):
        run.load(STAGE)


@pytest.mark.parametrize(
    ("kind", "name"),
    [(EnvironmentCfg, "environments"), (EnvironmentCfg, "substeps")]
    + [(PPOCfg, name) for name in ("horizon", "epochs", "minibatches")],
)
def test_settings_have_to_make_sense(kind, name):
    with pytest.raises(ConfigError, match=f"{name} is 0; at least 1 is needed"):
        kind(**{name: 0})


def test_there_are_as_many_samples_as_batches_at_least():
    StageCfg(EnvironmentCfg(environments=2), MLPCfg(), PPOCfg(horizon=2, minibatches=4))
    with pytest.raises(ConfigError, match="1 environments are too few for 4 minibatches"):
        StageCfg(EnvironmentCfg(environments=1), MLPCfg(), PPOCfg(horizon=2, minibatches=4))


def test_what_is_not_there_is_named_with_what_is():
    with pytest.raises(ConfigError, match="unknown algorithm 'magic'; there are: beyondmimic"):
        RunCfg("magic", {})
    with pytest.raises(
        ConfigError, match=r"no preset 'tpu', did you mean 'cpu'\?; beyondmimic has: cpu, paper, deploy"
    ):
        recipe_named("beyondmimic").settings("tpu")
    with pytest.raises(
        ConfigError, match="stages are student; beyondmimic has distilled, or distilled and finetuned, or policy"
    ):
        RunCfg("beyondmimic", {"student": SETTINGS})
    with pytest.raises(ConfigError, match="no stage 'student'; the run has: policy"):
        INFO.policy("student")


def flat_environment(stage: StageCfg) -> dict:
    """Settings of environments as earlier versions had them: what disturbs robots among them."""
    values = asdict(stage.environment)
    return values.pop("disturbances") | values


def test_a_run_of_version_2_is_read_as_the_same_run(run):
    """It had what disturbs robots among the settings of the environments, and some of it was not known yet."""
    stage = replace(SETTINGS, environment=SETTINGS.environment.changed(pushes=True, start=0.2))
    info = RunInfo(INFO.policies, RunCfg("beyondmimic", {STAGE: stage}, INFO.cfg.seed), INFO.motions)
    document = json.loads(run.description.read_text())
    flat = flat_environment(stage)
    del flat["differ"]
    document["stages"][STAGE]["environment"] = flat
    run.description.write_text(json.dumps(document | {"format_version": 2}))
    assert run.info() == info


def test_a_run_of_version_1_is_read_as_the_same_run(run):
    """It had flat settings, one stage that was not named, and other names in its checkpoint."""
    policy = INFO.last.as_plain()
    del policy["stage"]
    flat = flat_environment(SETTINGS) | vars(SETTINGS.network) | vars(SETTINGS.algorithm)
    document = {
        "format": "phuma-run", "format_version": 1, "policy": policy, "motions": 12,
        "cfg": {"algo": "beyondmimic", "seed": 5, **flat},
    }  # fmt: skip
    run.description.write_text(json.dumps(document))
    assert run.info() == INFO
    old = {
        "format": np.array("phuma-run"),
        "net.actor.normalisers.goal.mean": np.zeros(1),
        "net.actor.encoder.normaliser.mean": np.zeros(2),
        "net.critic.encoder.frame.weight": np.zeros(3),
        "net.log_std": np.zeros(4),
        "task.frame": np.zeros(5),
    }
    np.savez(run.root / "checkpoint.npz", **old)
    assert list(run.load(STAGE)) == [
        "net.actor.normalizers.goal.mean", "net.actor.encoders.future.normalizer.mean",
        "net.critic.encoders.future.frame.weight", "net.log_std", "env.frame",
    ]  # fmt: skip
    run.save(STAGE, ARRAYS)
    assert run.load(STAGE).keys() == ARRAYS.keys(), "from then on the new checkpoint counts"

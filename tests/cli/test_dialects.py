"""`phuma policy export --dialect` and `phuma evaluate --dialect` as a user runs them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
pytest.importorskip("torch")
import onnx

from phuma.cli.options import from_options
from phuma.cli.train import parser
from phuma.learning.deploy.dialects.registry import DIALECTS
from phuma.learning.recipes.recipe import DEPLOY
from phuma.learning.run.folder import RunFolder
from phuma.pipelines.training.new_run import new_run
from phuma.pipelines.training.options import TrainCfg
from tests.cli.small_dataset import run
from tests.cli.tracking_dataset import PRESETS, STEPS, TINY, make_dataset

pytestmark = pytest.mark.slow

CLIP = ("--clip", "down")


@pytest.fixture(scope="module")
def dataset(tmp_path_factory) -> Path:
    return make_dataset(tmp_path_factory.mktemp("dialects") / "g1")


def train(capsys, dataset: Path, out: Path, *options) -> Path:
    """A run of one update from scratch, by the command."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(PRESETS, "tiny", TINY)
        words = ("--from", "scratch", "--preset", "tiny", "--steps", STEPS, "--out", out)
        code, _, err = run(capsys, "train", dataset, *words, *options)
    assert code == 0, err
    return out


@pytest.fixture
def plain(capsys, dataset) -> Path:
    out = dataset.parent / "plain"
    return out if out.exists() else train(capsys, dataset, out, "--base", "default", "--no-future")


@pytest.mark.parametrize("dialect", DIALECTS)
def test_our_policy_judged_as_a_stranger_s_has_its_own_scores(capsys, dataset, plain, tmp_path, dialect):
    file = tmp_path / "policy.onnx"
    code, said, err = run(
        capsys, "policy", "export", plain, "--dialect", dialect, "--motion", dataset, *CLIP, "--out", file
    )
    assert code == 0, err
    assert f"in {dialect}'s layout; down inside, " in said
    assert (tmp_path / "deploy.yaml").exists() == (dialect == "mjlab")
    how = ("--split", "all", "--physics-dt", "0.005", "--episodes", 2, "--json")
    own, theirs = (
        json.loads(run(capsys, "evaluate", *words, *how)[1])
        for words in ((plain, dataset), (file, dataset, "--dialect", dialect))
    )
    assert theirs["policy"]["differs"] == []
    assert theirs["policy"]["observations"] == list(DIALECTS[dialect].observed)
    a, b = ({motion["motion"]: motion for motion in each["motions"]} for each in (own, theirs))
    assert a.keys() == b.keys()
    assert len(a) == 3
    for name, native in a.items():
        for key in ("success_0.15", "success_0.5", "tracked", "failures", "first_failure_s"):
            assert native[key] == b[name][key]
        for key in ("mpjpe_global_mm", "mpjpe_local_mm", "dof_deg"):
            assert b[name]["up_to_failure"][key] == pytest.approx(native["up_to_failure"][key], abs=0.1)


def test_what_differs_is_said(capsys, dataset, plain, tmp_path):
    file = tmp_path / "policy.onnx"
    assert run(capsys, "policy", "export", plain, "--dialect", "mjlab", "--out", file)[0] == 0
    model = onnx.load(file)
    entry = next(each for each in model.metadata_props if each.key == "joint_stiffness")
    first, rest = entry.value.split(",", 1)
    entry.value = f"{2 * float(first)},{rest}"
    file.write_bytes(model.SerializeToString())
    code, out, _ = run(capsys, "evaluate", file, dataset, "--dialect", "mjlab")
    assert code == 0
    assert f"{file}: in mjlab's layout, for g1; observes command, motion_anchor_ori_b" in out
    assert "Its stiffness differs from ours and is used: left_hip_pitch_joint 80.362, ours 40.181" in out
    assert "Its action_scale" not in out, "that is its own"


def test_files_and_options_that_do_not_go_together_say_what_does(capsys, dataset, plain, tmp_path):
    file = tmp_path / "policy.onnx"
    code, _, err = run(capsys, "policy", "export", plain, "--dialect", "holosoma", "--out", file)
    assert code == 2
    assert "holosoma has the motion inside the file: give one by --motion CLIP" in err
    code, _, err = run(capsys, "policy", "export", plain, "--motion", dataset, *CLIP, "--out", file)
    assert code == 2
    assert "`phuma policy motion` writes one beside them" in err
    seeing = train(capsys, dataset, tmp_path / "seeing")
    code, _, err = run(capsys, "policy", "export", seeing, "--dialect", "mjlab", "--out", file)
    assert code == 2
    assert "does not fit mjlab: its actions are added to the base 'feedforward'" in err
    assert "`phuma train DATASET --preset deploy --out RUN`" in err
    assert not file.exists()
    assert run(capsys, "policy", "export", plain, "--dialect", "mjlab", "--out", file)[0] == 0
    code, _, err = run(capsys, "evaluate", file, dataset)
    assert code == 1
    assert "`phuma evaluate --dialect` judges those of other projects" in err
    assert run(capsys, "policy", "export", plain, "--out", file)[0] == 0
    code, _, err = run(capsys, "evaluate", file, dataset, "--dialect", "beyondmimic")
    assert code == 1
    assert f"{file}: " in err
    code, _, err = run(capsys, "evaluate", plain, dataset, "--dialect", "beyondmimic")
    assert code == 1
    assert "is no file; --dialect beyondmimic takes a policy.onnx" in err


def test_the_preset_trains_one_that_fits_randomized_too(capsys, dataset, tmp_path):
    """And it can be gone on with."""
    words = ("train", dataset, "--from", "scratch", "--preset", DEPLOY, "--randomize", "--out", tmp_path / "run")
    assert run(capsys, *words, "--steps", 1)[0] == 0
    info = RunFolder(tmp_path / "run").info().last
    assert (info.base, info.future, info.differences, info.history) == ("default", False, False, 1)
    assert run(capsys, *words, "--steps", 2, "--resume")[0] == 0
    out = tmp_path / "policy.onnx"
    assert run(capsys, "policy", "export", tmp_path / "run", "--dialect", "mjlab", "--out", out)[0] == 0


def test_the_preset_keeps_to_what_others_observe_when_it_learns_from_randomized_experts():
    words = ["g1", "--out", "run", "--preset", DEPLOY, "--randomize"]
    for more in ([], ["--finetune", "1"]):
        for stage in new_run(from_options(TrainCfg, parser().parse_args([*words, *more]))).stages.values():
            own = stage.environment
            assert (own.base, own.future, own.differences, own.history) == ("default", False, False, 1)
            assert own.disturbances.randomize

"""Judgements by hand: they are written to a file of the user's, and count in what is selected and built with it."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

pytest.importorskip("duckdb")
pytest.importorskip("mujoco")

from phuma.cli.main import main
from phuma.curation import CurateCfg
from phuma.dataset.dataset import Dataset
from phuma.dataset.review import Reviewed, ReviewFile, judgement, read_review, review_text
from phuma.errors import ConfigError, ReadError
from phuma.pipelines.build_dataset import BuildCfg, build_dataset
from phuma.pipelines.collections import DatasetCollection
from phuma.robots import load_robot
from phuma.sources import bvh
from phuma.synth import generate
from tests.cli.small_dataset import here

JUDGED = {
    "a": Reviewed("keep", ""),
    "b, of two": Reviewed("reject", 'he "sits", \tthen é'),
    "c": Reviewed("", "a walk"),
}


def test_what_was_written_is_read(tmp_path):
    (tmp_path / "r.csv").write_text(review_text(JUDGED), encoding="utf-8")
    assert read_review(tmp_path / "r.csv") == JUDGED
    assert judgement(JUDGED, "a_m") == JUDGED["a"], "a mirror image is judged as its clip is"
    assert judgement(JUDGED, "d") == Reviewed()


@pytest.mark.parametrize("text", ["clip,verdict\na,perhaps\n", "clip,verdict\n,keep\n", "clip,label\na," + "x" * 501])
def test_a_wrong_line_is_named(tmp_path, text):
    (tmp_path / "r.csv").write_text(text)
    with pytest.raises(ReadError, match="line 2"):
        read_review(tmp_path / "r.csv")


def files(root: Path) -> dict[str, str]:
    return {
        f.relative_to(root).as_posix(): hashlib.sha256(f.read_bytes()).hexdigest()
        for f in root.rglob("*")
        if f.is_file()
    }


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> tuple[Path, Path]:
    """Recordings, and a dataset of them: two that are kept, one that is not, as nobody stands on anything."""
    folder = tmp_path_factory.mktemp("review")
    (folder / "recordings").mkdir()
    for kind in ("squat", "walk"):
        bvh.write(folder / "recordings" / f"{kind}.bvh", generate(kind, 2.0).motion)
    bvh.write(folder / "recordings" / "run.bvh", generate("run", 2.0, 1).motion)
    cfg = BuildCfg(method="ik", curate=CurateCfg(preset="paper"))
    build_dataset([folder / "recordings"], folder / "data", cfg, here)
    return folder / "recordings", folder / "data"


def ids(root: Path) -> dict[str, str]:
    """Clip by the recording's own name."""
    rows = Dataset(root).rows(columns="clip, recording")
    return {row["recording"].split("/")[-1].removesuffix(".bvh"): row["clip"] for row in rows}


def test_the_viewer_writes_the_file_and_nothing_else(built, tmp_path):
    _, root = built
    before, clip = files(root), ids(root)["walk"]
    shown = DatasetCollection(root, [load_robot("g1")], review=tmp_path / "r.csv")
    shown.review(clip, "reject", "  a  stroll ")
    assert read_review(tmp_path / "r.csv") == {clip: Reviewed("reject", "a stroll")}
    assert {row["clip"]: row["review"]["verdict"] for row in shown.find({})["rows"]}[clip] == "reject"
    again = ReviewFile(tmp_path / "r.csv", root)
    again.judge(clip, "", "")
    assert read_review(tmp_path / "r.csv") == {}, "a judgement that is taken back is gone"
    assert files(root) == before
    with pytest.raises(ConfigError, match="lies in the dataset"):
        ReviewFile(root / "r.csv", root)
    with pytest.raises(ConfigError, match="--review"):
        DatasetCollection(root, [load_robot("g1")]).review(clip, "keep", "")


def test_a_selection_leaves_out_what_was_rejected_and_takes_labels(built, tmp_path, capsys):
    _, root = built
    own = ids(root)
    judged = {own["walk"]: Reviewed("reject"), own["squat"]: Reviewed("", "he kicks")}
    (tmp_path / "r.csv").write_text(review_text(judged))
    words = ["select", str(root), "--review", str(tmp_path / "r.csv"), "--out", str(tmp_path / "out")]
    assert main(words) == 0
    (entry,) = Dataset(tmp_path / "out")
    assert (entry.id, entry.row["label"], entry.row["category"]) == (own["squat"], "he kicks", "kick")
    assert main(["verify", str(tmp_path / "out")]) == 0


def test_a_dataset_that_is_built_with_it_keeps_what_was_kept_by_hand(built, tmp_path, capsys):
    recordings, root = built
    own = ids(root)
    assert {e.id for e in Dataset(root)} == {own["squat"], own["walk"]}, "by itself curation keeps these"
    judged = {own["walk"]: Reviewed("reject"), own["run"]: Reviewed("keep", "a jog")}
    cfg = BuildCfg(method="ik", curate=CurateCfg(preset="paper"), review=judged)
    build_dataset([recordings], tmp_path / "out", cfg, here)
    dataset = Dataset(tmp_path / "out")
    assert {e.id for e in dataset} == {own["squat"], own["run"]}
    run, walk = dataset[own["run"]].row, dataset.where(kept=False)[own["walk"]].row
    assert run["reasons"] == []
    assert any(note.startswith("kept by hand, though ") for note in run["notes"])
    assert (run["label"], run["category"]) == ("a jog", "run")
    assert walk["reasons"] == ["review: rejected by hand"]
    assert main(["verify", str(tmp_path / "out")]) == 0

"""A dataset by hand: it iterates, is indexed, filtered, and given to other libraries, always the same clips."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

pytest.importorskip("duckdb")
pytest.importorskip("mujoco")

import phuma
from phuma.dataset.dataset import Dataset
from tests.cli.tracking_dataset import make_dataset


@pytest.fixture(scope="module")
def dataset(tmp_path_factory) -> Dataset:
    return phuma.open_dataset(make_dataset(tmp_path_factory.mktemp("by_hand") / "data"))


def test_numbers_ids_and_the_loop_agree(dataset):
    ids = [entry.id for entry in dataset]
    assert ids == [dataset[k].id for k in range(len(dataset))] == [dataset[name].id for name in ids]
    assert [e.id for e in dataset[1:3]] == ids[1:3]
    assert (dataset[-1].id, dataset["down", "g1"].id) == (ids[-1], "down")
    assert "down" in dataset
    assert "nobody" not in dataset
    with pytest.raises(IndexError):
        dataset[len(ids)]
    with pytest.raises(phuma.PhumaError, match="no clip 'nobody'"):
        dataset["nobody"]


def test_conditions_add_up_and_rejected_clips_come_when_they_are_asked_for(dataset):
    train = dataset.where("split = 'train'")
    assert {e.id for e in train} == {"still", "down", "jumpy"}
    assert len(train) == 3
    assert [e.id for e in train.where("category = 'squat'")] == ["down"]
    assert {e.id for e in dataset.where("split = 'train'", kept=False)} == {"still", "down", "jumpy", "bad"}
    with pytest.raises(phuma.PhumaError, match="colour"):
        dataset.where("colour = 'red'")


def test_tables_have_a_row_for_each_clip(dataset):
    for library, table in (("pandas", "to_pandas"), ("pyarrow", "to_arrow")):
        pytest.importorskip(library)
        for part in (dataset, dataset.where("split = 'test'"), dataset.where(kept=False)):
            rows = getattr(part, table)()
            rows = rows.to_pylist() if table == "to_arrow" else rows.to_dict("records")
            assert [row["clip"] for row in rows] == [entry.id for entry in part]


def test_a_library_that_is_missing_is_named_with_the_command_that_brings_it(dataset, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    with pytest.raises(phuma.PhumaError, match=r"needs pandas.*pip install 'phuma\[tables\]'"):
        dataset.to_pandas()


def test_windows_are_the_motions_piece_by_piece(dataset):
    torch = pytest.importorskip("torch")
    windows = dataset.windows(seconds=7 / 30, fps=30, stride=0.1)  # some clips are whole strides longer
    assert isinstance(windows, torch.utils.data.Dataset)
    for entry in dataset:
        motion = entry.motion()
        own = [windows[k] for k in range(len(windows)) if windows[k]["clip"] == entry.id]
        assert len(own) == (len(motion) - 7) // 3 + 1, "all whole windows, and no others"
        for window in own:
            first = round(30 * window["start"])
            assert np.allclose(window["joint_pos"].numpy(), motion.joint_pos[first : first + 7], atol=1e-6)
    batch = next(iter(torch.utils.data.DataLoader(pickle.loads(pickle.dumps(windows)), batch_size=4)))
    assert batch["root_quat"].shape == (4, 7, 4)
    with pytest.raises(phuma.PhumaError, match="at least one frame"):
        dataset.windows(seconds=0.0)
    with pytest.raises(phuma.PhumaError, match=r"windows of 60 s; the longest clip of .* has \d"):
        dataset.windows(seconds=60)

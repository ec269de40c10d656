"""A selection holds what was asked for and nothing else, and is a dataset like any other."""

import os
from pathlib import Path

import pytest

import phuma
from phuma.curation import CurateCfg
from phuma.dataset import select as select_module
from phuma.dataset.layout import Layout
from phuma.dataset.select import SelectCfg, sample, select
from phuma.dataset.verify import verify
from phuma.errors import ConfigError, ReadError, StorageError
from phuma.io.lock import locked
from phuma.pipelines.build_dataset import BuildCfg, WorkCfg, build_dataset
from phuma.robots import load_robot
from tests.dataset.tiny import ROBOTS, built, copied, edit_rows, rows_on_disk

pytestmark = pytest.mark.slow

LIMITS = {name: load_robot(name) for name in ROBOTS}


@pytest.fixture(scope="module")
def fresh(tmp_path_factory) -> Path:
    return built(tmp_path_factory.getbasetemp())


def keys(dataset: Path, condition=lambda row: True) -> set[tuple[str, str]]:
    return {(row["clip"], row["robot"]) for row in rows_on_disk(dataset) if condition(row)}


def content(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


@pytest.mark.parametrize(
    ("cfg", "holds"),
    [
        (SelectCfg(), lambda r: r["kept"]),
        (SelectCfg(rejected=True), lambda r: True),
        (SelectCfg("NOT kept", rejected=True), lambda r: not r["kept"]),
        (SelectCfg("robot = 'g1' OR fidelity < 0"), lambda r: r["kept"] and r["robot"] == "g1"),
        (SelectCfg("true -- all of them"), lambda r: r["kept"]),
        (SelectCfg(category=("walk",)), lambda r: r["kept"] and r["category"] == "walk"),
        (
            SelectCfg(category=("vertical", "stand")),
            lambda r: r["kept"] and (r["category_group"] == "vertical" or r["category"] == "stand"),
        ),
        (SelectCfg(source=("lab",)), lambda r: r["kept"] and r["source"] == "lab"),
        (SelectCfg(source=("lab,field",), rejected=True), lambda r: True),
        (SelectCfg(split="test"), lambda r: r["kept"] and r["split"] == "test"),
        (
            SelectCfg(at_least={"fidelity": 99.0, "frames": 120}),
            lambda r: r["kept"] and r["fidelity"] >= 99.0 and r["frames"] >= 120,
        ),
        (
            SelectCfg(at_most={"end": 4.0}, split="train"),
            lambda r: r["kept"] and r["end"] <= 4 and r["split"] == "train",
        ),
    ],
    ids=lambda v: str(v.conditions()) if isinstance(v, SelectCfg) else "",
)
def test_a_selection_is_what_meets_the_condition_and_verifies(fresh, tmp_path, cfg, holds):
    wanted = keys(fresh, holds)
    assert wanted, "the test needs clips that meet the condition"
    made = select(fresh, tmp_path / "part", cfg)
    assert keys(tmp_path / "part") == wanted
    assert list(verify(tmp_path / "part", LIMITS)) == []
    dataset = phuma.open_dataset(tmp_path / "part")
    assert {(r["clip"], r["robot"]) for r in dataset.rows()} == wanted
    assert set(dataset.description.robots) == {robot for _, robot in wanted}
    assert made == dataset.description
    for entry in dataset.entries():
        assert len(entry.motion()) == len(entry.human().motion) == entry.row["frames"]


def test_rows_and_files_are_those_of_the_whole(fresh, tmp_path):
    select(fresh, tmp_path / "part", SelectCfg(category=("squat",)))
    whole = {(r["clip"], r["robot"]): r for r in rows_on_disk(fresh)}
    for row in rows_on_disk(tmp_path / "part"):
        assert row == whole[row["clip"], row["robot"]]
    part, all_files = content(tmp_path / "part"), content(fresh)
    for name, data in part.items():
        if name.endswith(".npz"):
            assert data == all_files[name]
    assert "field/stand.npz" not in {r["recording"] for r in rows_on_disk(tmp_path / "part")}


def test_how_it_was_selected_is_written_down_and_so_is_what_came_before(fresh, tmp_path):
    first = select(fresh, tmp_path / "a", SelectCfg("frames > 100", split="train"))
    second = select(tmp_path / "a", tmp_path / "b", SelectCfg(sample=1))
    assert first.selected is not None
    assert second.selected is not None
    assert first.selected["conditions"] == {"where": "frames > 100", "split": "train"}
    assert first.selected["of"]["counts"] == dict(phuma.open_dataset(fresh).description.counts)
    assert second.selected["conditions"] == {"sample": 1, "seed": 0}
    assert second.selected["before"] == first.selected
    assert first.config == phuma.open_dataset(fresh).description.config


def test_the_same_seed_is_the_same_sample_to_the_byte(fresh, tmp_path):
    cfg = SelectCfg(sample=3, seed=1)
    for name in "ab":
        select(fresh, tmp_path / name, cfg)
    assert content(tmp_path / "a") == content(tmp_path / "b")
    clips = {clip for clip, _ in keys(tmp_path / "a")}
    assert len(clips) == 3
    assert keys(tmp_path / "a") == {(clip, robot) for clip in clips for robot in ROBOTS}, "a clip with all its robots"


def test_samples_are_fair_nested_and_differ_by_seed():
    clips = {f"clip_{n}" for n in range(400)}
    assert sample(clips, 40, 3) == sample({f"clip_{n}" for n in reversed(range(400))}, 40, 3)
    assert sample(clips, 40, 3) < sample(clips, 90, 3)
    assert sample(clips, 40, 3) != sample(clips, 40, 4)
    often = [sum(clip in sample(clips, 100, seed) for seed in range(100)) for clip in sorted(clips)[:20]]
    assert all(5 < n < 50 for n in often), "about 25 of 100 each"
    with pytest.raises(ConfigError, match="only 400 clips"):
        sample(clips, 401, 0)


def test_files_are_links_and_else_copies(fresh, tmp_path, monkeypatch):
    select(fresh, tmp_path / "linked", SelectCfg())
    name = next(r["file"] for r in rows_on_disk(tmp_path / "linked"))
    assert (tmp_path / "linked" / name).samefile(fresh / name)

    def refuse(*_):
        raise OSError("another disk")

    monkeypatch.setattr(os, "link", refuse)
    select(fresh, tmp_path / "copied", SelectCfg())
    assert not (tmp_path / "copied" / name).samefile(fresh / name)
    assert content(tmp_path / "linked") == content(tmp_path / "copied")


def test_a_folder_that_holds_something_is_refused(fresh, tmp_path):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.txt").write_text("mine")
    (tmp_path / "file").write_text("mine")
    for name in ("full", "file"):
        with pytest.raises(ConfigError, match="exists and is not empty"):
            select(fresh, tmp_path / name, SelectCfg())
    assert (tmp_path / "full" / "thesis.txt").read_text() == (tmp_path / "file").read_text() == "mine"
    (tmp_path / "empty").mkdir()
    select(fresh, tmp_path / "empty", SelectCfg())


def test_a_selection_does_not_go_into_the_dataset_itself(fresh, tmp_path):
    dataset = copied(fresh, tmp_path / "d")
    with pytest.raises(ConfigError, match="lies in the dataset itself"):
        select(dataset, dataset / "clips" / "part", SelectCfg())


def test_it_is_whole_or_not_there(fresh, tmp_path, monkeypatch):
    def full(*_):
        raise StorageError("no space left")

    with monkeypatch.context() as patch:
        patch.setattr(select_module, "save_record", full)
        with pytest.raises(StorageError):
            select(fresh, tmp_path / "part", SelectCfg())
    assert list(tmp_path.iterdir()) == []
    # What a killed process leaves is no hindrance.
    (tmp_path / ".part.part" / "clips").mkdir(parents=True)
    (tmp_path / ".part.part" / "clips" / "half").write_text("x")
    (tmp_path / ".part.part" / "dataset.json").write_text("x")
    select(fresh, tmp_path / "part", SelectCfg())
    assert list(verify(tmp_path / "part", LIMITS)) == []
    assert [p.name for p in tmp_path.iterdir()] == ["part"]


def test_not_while_the_dataset_is_written(fresh, tmp_path):
    dataset = copied(fresh, tmp_path / "d")
    with locked(Layout(dataset).lock), pytest.raises(ConfigError, match="is being written"):
        select(dataset, tmp_path / "part", SelectCfg())


def test_a_name_that_leads_out_of_the_folder_is_not_followed(fresh, tmp_path):
    dataset = copied(fresh, tmp_path / "d")
    (tmp_path / "secret.npz").write_text("secret")
    edit_rows(dataset, lambda row: row.update(file="clips/../../secret.npz") if row["kept"] else None)
    with pytest.raises(ReadError, match="outside of itself"):
        select(dataset, tmp_path / "out" / "part", SelectCfg())
    assert not (tmp_path / "out" / "part").exists()


def test_a_manifest_that_disagrees_with_the_records_is_refused(fresh, tmp_path):
    dataset = copied(fresh, tmp_path / "d")
    next((dataset / "work").glob("*stand*")).unlink()
    with pytest.raises(ReadError, match="phuma verify"):
        select(dataset, tmp_path / "part", SelectCfg())


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"category": ("dance",)}, "unknown category 'dance'; there are: stand"),
        ({"split": "dev"}, "unknown split 'dev'; there are: train, test"),
        ({"at_least": {"beauty": 1.0}}, "unknown metric 'beauty'"),
        ({"at_least": {"label": 1.0}}, "unknown metric 'label'"),
        ({"source": ("moon",)}, "unknown source 'moon'; there are: field, lab"),
        ({"sample": 0}, "expected 1 or more"),
        ({"sample": 1000}, "only 6 clips meet"),
        ({"where": "fidelity >"}, "cannot be answered"),
        ({"where": "fidelity < 0"}, "no clip of .* meets the conditions"),
    ],
)
def test_what_cannot_be_selected_is_told_and_nothing_is_left(fresh, tmp_path, wrong, says):
    with pytest.raises(ConfigError, match=says):
        select(fresh, tmp_path / "part", SelectCfg(**wrong))
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_built_on_a_selection(fresh, tmp_path):
    select(fresh, tmp_path / "part", SelectCfg(category=("walk",)))
    before = content(tmp_path / "part")
    with pytest.raises(ConfigError, match="phuma select"):
        build_dataset(
            [fresh.parent / "lab"],
            tmp_path / "part",
            BuildCfg(ROBOTS, curate=CurateCfg(preset="paper")),
            WorkCfg().runner(),
        )
    assert content(tmp_path / "part") == before

"""A fresh dataset has no fault, and each fault that is put in is named, with what to do."""

import shutil
from dataclasses import replace
from pathlib import Path

import duckdb
import numpy as np
import pytest

import phuma
from phuma.dataset.describe import VERSION
from phuma.dataset.faults import Fault
from phuma.dataset.layout import Layout
from phuma.dataset.record import file_sha256
from phuma.dataset.verify import verify
from phuma.io.lock import locked
from phuma.robots import load_robot
from tests.dataset.tiny import ROBOTS, built, copied, edit_description, edit_manifest, edit_rows, rows_on_disk

pytestmark = pytest.mark.slow

LIMITS = {name: load_robot(name) for name in ROBOTS}


@pytest.fixture(scope="module")
def fresh(tmp_path_factory) -> Path:
    return built(tmp_path_factory.getbasetemp())


@pytest.fixture
def dataset(fresh, tmp_path) -> Path:
    return copied(fresh, tmp_path / "dataset")


def faults_of(dataset: Path) -> list[Fault]:
    return list(verify(dataset, LIMITS))


def first_kept(dataset: Path, robot: str = "g1") -> dict:
    return next(row for row in rows_on_disk(dataset) if row["kept"] and row["robot"] == robot)


def flip(path: Path, at: int = 2000) -> None:
    data = bytearray(path.read_bytes())
    data[at] ^= 1
    path.write_bytes(data)


def test_a_fresh_dataset_has_no_fault(fresh):
    assert {row["kept"] for row in rows_on_disk(fresh)} == {True, False}, "the test needs both"
    assert faults_of(fresh) == []


def test_progress_ends_with_every_row(fresh):
    seen: list[tuple[int, int]] = []
    list(verify(fresh, LIMITS, lambda done, total: seen.append((done, total))))
    total = len(rows_on_disk(fresh))
    assert seen[-1] == (total, total)
    assert sorted(seen) == seen


def test_a_flipped_byte_in_a_clip(dataset):
    name = first_kept(dataset)["file"]
    flip(dataset / name)
    (fault,) = faults_of(dataset)
    assert fault.place == name
    assert "sha256" in fault.problem
    record = Path(name).parent.name
    assert f"rm -f {dataset}/work/{record}.json" in fault.mend
    assert "phuma build" in fault.mend


def test_a_flipped_byte_in_a_recording(dataset):
    name = first_kept(dataset)["human_file"]
    flip(dataset / name)
    (fault,) = faults_of(dataset)
    assert fault.place == name
    assert "sha256" in fault.problem


@pytest.mark.parametrize("column", ["file", "human_file"])
def test_a_deleted_file(dataset, column):
    name = first_kept(dataset)[column]
    (dataset / name).unlink()
    assert [(f.place, f.problem) for f in faults_of(dataset)] == [(name, "is missing")]


@pytest.mark.parametrize(
    "place", ["notes.txt", "clips/g1/new.npz", "recordings/x_0.npz", "work/.0123.part", "clips/robot/deep/er/a"]
)
def test_an_extra_file(dataset, place):
    (dataset / place).parent.mkdir(parents=True, exist_ok=True)
    (dataset / place).write_text("what is this?")
    (fault,) = faults_of(dataset)
    assert (fault.place, fault.problem) == (place, "is no part of the dataset")
    assert str(dataset / place) in fault.mend


def test_a_linked_folder_is_no_part_of_a_dataset(dataset, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (dataset / "clips" / "more").symlink_to(tmp_path / "elsewhere")
    assert [f.place for f in faults_of(dataset)] == ["clips/more"]


def test_the_report_may_lie_in_the_dataset(dataset):
    (dataset / "report.html").write_text("<html>")
    assert faults_of(dataset) == []


def test_an_edited_row(dataset):
    clip = first_kept(dataset)["clip"]

    def edit(row: dict) -> None:
        if (row["clip"], row["robot"]) == (clip, "g1"):
            row["fidelity"] = 12.5

    edit_manifest(dataset, edit)
    (fault,) = faults_of(dataset)
    assert fault.place == "manifest.parquet"
    assert f"row of {clip} on g1: fidelity is 12.5, recorded was" in fault.problem


def rewrite(dataset: Path, select: str) -> None:
    """The manifest as another table made of it."""
    path = dataset / "manifest.parquet"
    with duckdb.connect() as database:
        database.execute(f"CREATE TABLE manifest AS FROM '{path}'")
        database.execute(f"COPY ({select}) TO '{path}' (FORMAT parquet)")


def test_a_row_that_is_missing(dataset):
    clip = first_kept(dataset)["clip"]
    rewrite(dataset, f"FROM manifest WHERE (clip, robot) != ('{clip}', 'g1')")
    problems = [f.problem for f in faults_of(dataset)]
    assert f"has no row for {clip} on g1, its record in work/ has" in problems
    rewrite(dataset, f"FROM manifest WHERE clip != '{clip}'")
    problems = [f.problem for f in faults_of(dataset)]
    assert any(p.startswith("counts ") for p in problems), "dataset.json tells of one more"


def test_a_recording_whose_rows_are_all_missing(dataset):
    row = first_kept(dataset)
    rewrite(dataset, f"FROM manifest WHERE recording != '{row['recording']}'")
    assert any(f"has no row of {row['recording']}, whose record has" in f.problem for f in faults_of(dataset))


def test_a_row_twice(dataset):
    clip = first_kept(dataset)["clip"]
    rewrite(dataset, f"FROM manifest UNION ALL FROM manifest WHERE (clip, robot) = ('{clip}', 'g1')")
    assert f"has several rows for {clip} on g1" in [f.problem for f in faults_of(dataset)]


def test_rows_in_another_order(dataset):
    rewrite(dataset, "FROM manifest ORDER BY robot, clip")
    assert any("do not stand together" in f.problem for f in faults_of(dataset))
    rewrite(dataset, "FROM manifest ORDER BY recording, clip DESC, robot")
    assert any("are in another order than in its record" in f.problem for f in faults_of(dataset))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ("SELECT *, 1 AS more FROM manifest", "has a column 'more' that the format does not know"),
        ("SELECT * REPLACE (fps::FLOAT AS fps) FROM manifest", "column fps is of type FLOAT, expected DOUBLE"),
        ("SELECT * EXCLUDE (fps) FROM manifest", "has no column fps"),
    ],
)
def test_another_schema(dataset, change, says):
    rewrite(dataset, change)
    assert [(f.place, f.problem) for f in faults_of(dataset)] == [("manifest.parquet", says)]


def test_a_manifest_that_is_none(dataset):
    (dataset / "manifest.parquet").write_bytes(b"PAR1 and so on")
    (fault,) = faults_of(dataset)
    assert fault.place == "manifest.parquet"
    assert fault.problem.startswith("is damaged")


def resaved(dataset: Path, **changed) -> dict:
    """A clip with other content and the right checksum, in the manifest and in its record."""
    row = first_kept(dataset)
    path = dataset / row["file"]
    phuma.save_robot_motion(path, replace(phuma.load_robot_motion(path), **changed))

    def edit(other: dict) -> None:
        if other.get("file") == row["file"]:
            other["sha256"] = file_sha256(path)

    edit_rows(dataset, edit)
    return row


@pytest.mark.parametrize(("joint", "side"), [("left_knee_joint", "upper"), ("waist_yaw_joint", "lower")])
def test_a_joint_beyond_its_limit(dataset, joint, side):
    robot = LIMITS["g1"]
    index = robot.joint_names.index(joint)
    motion = phuma.load_robot_motion(dataset / first_kept(dataset)["file"])
    angles = np.array(motion.joint_pos)
    limit = getattr(robot, side)[index]
    angles[7, index] = limit
    row = resaved(dataset, joint_pos=angles)
    assert faults_of(dataset) == [], "at the limit is within it"
    angles[7, index] = limit + (1e-3 if side == "upper" else -1e-3)
    resaved(dataset, joint_pos=angles)
    (fault,) = faults_of(dataset)
    assert fault.place == row["file"]
    assert fault.problem.startswith(f"{joint} is at ")
    assert "in frame 7, beyond its range" in fault.problem
    assert fault.grave


def test_what_others_made_may_go_beyond_limits_and_is_noted(dataset):
    angles = np.array(phuma.load_robot_motion(dataset / first_kept(dataset)["file"]).joint_pos)
    angles[3, 0] = 6.0
    row = resaved(dataset, joint_pos=angles)
    edit_rows(dataset, lambda r: r.update(imported=True) if r.get("file") == row["file"] else None)
    (fault,) = faults_of(dataset)
    assert not fault.grave


def test_limits_of_a_robot_that_is_not_here_are_not_compared_and_that_is_said(fresh):
    notes = list(verify(fresh, {"g1": LIMITS["g1"]}))
    assert [(f.place, f.grave) for f in notes] == [("robot h1_2", False)]
    assert "--robot" in notes[0].mend


def test_a_clip_of_another_length_or_rate(dataset):
    motion = phuma.load_robot_motion(dataset / first_kept(dataset)["file"])
    row = resaved(dataset, fps=50.0)
    assert [(f.place, f.problem) for f in faults_of(dataset)] == [
        (row["file"], "fps is 50.0 in the file, 30.0 in the manifest")
    ]
    parts = ("root_pos", "root_quat", "joint_pos", "contact", "contact_paper", "human_joints", "contact_used")
    resaved(dataset, fps=motion.fps, **{name: getattr(motion, name)[:-1] for name in parts})
    assert "frames is" in faults_of(dataset)[0].problem


def test_a_clip_of_another_robot(dataset):
    resaved(dataset, robot="h1_2")
    assert "robot is 'h1_2' in the file, 'g1' in the manifest" in faults_of(dataset)[0].problem


def test_a_clip_that_is_not_finite_or_no_motion(dataset):
    row = first_kept(dataset)
    path = dataset / row["file"]
    arrays = dict(np.load(path))
    arrays["joint_pos"][5, 3] = np.nan
    np.savez(path, **arrays)
    edit_rows(dataset, lambda r: r.update(sha256=file_sha256(path)) if r.get("file") == row["file"] else None)
    (fault,) = faults_of(dataset)
    assert "joint_pos holds nan at index (5, 3)" in fault.problem


def test_a_newer_version(dataset):
    edit_description(dataset, version=VERSION + 1)
    (fault,) = faults_of(dataset)
    assert fault.place == str(dataset / "dataset.json")
    assert f"version {VERSION + 1}" in fault.problem
    assert "pip install -U phuma" in str(fault)


@pytest.mark.parametrize("column", ["file", "human_file"])
@pytest.mark.parametrize("both", [True, False], ids=["record too", "manifest alone"])
@pytest.mark.parametrize("name", ["../secret.npz", "clips/../../secret.npz", "{outside}", "clips/../{inside}"])
def test_a_name_that_leads_out_of_the_folder(dataset, tmp_path, column, both, name):
    row = first_kept(dataset)
    secret = tmp_path / "secret.npz"
    shutil.copy(dataset / row[column], secret)
    name = name.format(outside=secret, inside=row[column])
    (edit_rows if both else edit_manifest)(
        dataset, lambda r: r.update({column: name}) if r.get(column) == row[column] else None
    )
    faults = faults_of(dataset)
    assert any(f.place == name and "outside of the dataset" in f.problem for f in faults)


def test_a_linked_file_that_leads_out_of_the_folder(dataset, tmp_path):
    name = first_kept(dataset)["file"]
    (dataset / name).rename(tmp_path / "moved.npz")
    (dataset / name).symlink_to(tmp_path / "moved.npz")
    assert any(f.place == name and "outside of the dataset" in f.problem for f in faults_of(dataset))


@pytest.mark.parametrize("content", [None, "{", '{"rows": []}'], ids=["missing", "cut off", "of another kind"])
def test_a_record_that_is_missing_or_damaged(dataset, content):
    path = dataset / "work" / (first_kept(dataset)["file"].split("/")[2] + ".json")
    path.unlink() if content is None else path.write_text(content)
    faults = faults_of(dataset)
    assert faults[0].place == f"work/{path.name}"
    assert str(path) in faults[0].mend


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({"failed": []}, "tells of other failed recordings"),
        ({"counts": {}}, "counts None recordings, there are 5"),
        ({"finished": False}, "says that the dataset is not finished"),
    ],
)
def test_a_description_that_disagrees(dataset, values, says):
    edit_description(dataset, **values)
    faults = faults_of(dataset)
    assert faults[0].place == "dataset.json"
    assert says in faults[0].problem
    assert "phuma build" in faults[0].mend


def test_a_rejected_clip_with_a_file_and_a_kept_one_without(dataset):
    def swap(row: dict) -> None:
        row["kept"] = not row["kept"]

    edit_rows(dataset, swap)
    problems = {f.problem.split(" is ")[1] for f in faults_of(dataset) if " is " in f.problem}
    assert {"kept, but has no file", "rejected, but has a file"} <= problems


def test_not_while_it_is_written(fresh, dataset):
    with locked(Layout(dataset).lock):
        (fault,) = faults_of(dataset)
    assert "is being written right now" in fault.problem


def test_what_is_no_dataset(tmp_path):
    (fault,) = faults_of(tmp_path)
    assert "is not a dataset" in fault.problem

"""LeRobot's dataset, version 3.0, by its own rules; `interop/` opens one with LeRobot itself."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("duckdb")

import duckdb

from phuma.dataset.exchange import export_motion, import_all, lerobot_folder, recognise
from phuma.dataset.exchange.parquet import copy_query, read_columns, write_columns
from phuma.errors import ReadError
from phuma.io.probe import Probe
from phuma.robots import Robot, load_robot
from tests.dataset.exchange.made_up import ROBOTS, UNITREE, made_up, matrices

LENGTHS = (31, 21, 11)
DATA = "data/chunk-000/file-000.parquet"
FIRST = ["root.x", "root.y", "root.z", "root.qw", "root.qx", "root.qy", "root.qz"]


@pytest.fixture(scope="module", params=ROBOTS)
def robot(request) -> Robot:
    return load_robot(request.param)


def motions(robot):
    return [made_up(robot, frames=frames, fps=30.0, seed=k) for k, frames in enumerate(LENGTHS)]


@pytest.fixture
def folder(tmp_path, robot) -> Path:
    rows = []
    for k, motion in enumerate(motions(robot)):
        (tmp_path / "take").mkdir(exist_ok=True)
        export_motion(motion, robot, tmp_path / f"take/{k}.parquet", "lerobot")
        rows.append({"clip": f"clip {k}", "file": f"take/{k}.parquet", "label": [None, "a walk", "a walk"][k]})
    done = lerobot_folder.gather(tmp_path, robot, rows, 30.0)
    assert [(row["file"], row["episode"]) for row in done] == [(DATA, k) for k in range(3)]
    return tmp_path


def rows_of(path, columns="*"):
    return duckdb.connect().execute(f"SELECT {columns} FROM '{path}'").fetchall()


def test_the_metadata_says_what_is_there(folder, robot):
    info = json.loads((folder / "meta/info.json").read_text())
    total = sum(LENGTHS)
    assert (info["codebase_version"], info["fps"], info["robot_type"]) == ("v3.0", 30, robot.name)
    assert (info["total_episodes"], info["total_frames"], info["total_tasks"]) == (3, total, 2)
    assert info["data_path"].format(chunk_index=0, file_index=0) == DATA
    assert info["features"]["observation.state"]["names"] == [*FIRST, *(f"{n}.pos" for n in UNITREE[robot.name])]
    for name, feature in info["features"].items():
        values = read_columns(folder / DATA, [name])[name]
        assert values.shape[1:] == (tuple(feature["shape"]) if values.ndim == 2 else ())
        assert values.dtype == feature["dtype"]
    assert rows_of(folder / "meta/tasks.parquet", "task_index, task") == [(0, "a walk"), (1, "clip 0")]
    columns = "episode_index, tasks, length, dataset_from_index, dataset_to_index"
    assert rows_of(folder / "meta/episodes/chunk-000/file-000.parquet", columns) == [
        (0, ["clip 0"], 31, 0, 31), (1, ["a walk"], 21, 31, 52), (2, ["a walk"], 11, 52, 63),
    ]  # fmt: skip
    left = sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file())
    assert left == [
        DATA, "meta/episodes/chunk-000/file-000.parquet", "meta/info.json", "meta/stats.json", "meta/tasks.parquet",
    ]  # fmt: skip


def test_frames_are_numbered_through_and_actions_are_the_next_joints(folder, robot):
    data = read_columns(folder / DATA, ["index", "episode_index", "frame_index", "timestamp", "action", "task_index"])
    np.testing.assert_array_equal(data["index"], np.arange(sum(LENGTHS)))
    np.testing.assert_array_equal(data["episode_index"], np.repeat(range(3), LENGTHS))
    np.testing.assert_allclose(data["timestamp"], data["frame_index"] / 30, atol=1e-6)
    np.testing.assert_array_equal(data["task_index"], np.repeat([1, 0, 0], LENGTHS))
    for k, motion in enumerate(motions(robot)):
        action = data["action"][data["episode_index"] == k]
        np.testing.assert_allclose(action[:-1], motion.joint_pos[1:], atol=1e-6)
        np.testing.assert_allclose(action[-1], motion.joint_pos[-1], atol=1e-6)


def test_statistics_are_of_all_frames_however_many_files_there_are(folder, robot):
    stats = json.loads((folder / "meta/stats.json").read_text())
    state = read_columns(folder / DATA, ["observation.state"])["observation.state"].astype(float)
    for name, value in {"min": state.min(0), "max": state.max(0), "mean": state.mean(0), "std": state.std(0)}.items():
        np.testing.assert_allclose(stats["observation.state"][name], value, atol=1e-6)
    parts = lerobot_folder.Statistics()
    for rows in np.array_split(state, 5):
        parts.add("observation.state", rows)
    np.testing.assert_allclose(parts.result()["observation.state"]["std"], state.std(0), atol=1e-6)


def test_episodes_beyond_a_file_go_into_the_next(tmp_path, robot, monkeypatch):
    monkeypatch.setattr(lerobot_folder, "EPISODES", 2)
    rows = []
    for k, motion in enumerate(motions(robot)):
        export_motion(motion, robot, tmp_path / f"{k}.parquet", "lerobot")
        rows.append({"clip": str(k), "file": f"{k}.parquet"})
    lerobot_folder.gather(tmp_path, robot, rows, 30.0)
    episodes = rows_of(tmp_path / "meta/episodes/chunk-000/file-000.parquet", '"data/file_index", dataset_from_index')
    assert episodes == [(0, 0), (0, 31), (1, 52)]
    assert [len(import_all(p, robot)) for p in sorted((tmp_path / "data").rglob("*.parquet"))] == [2, 1]


def test_episodes_are_read_by_the_names_of_their_numbers(folder, robot):
    path = folder / DATA
    assert [known.name for known in recognise(Probe(path))] == ["lerobot"]
    read = import_all(path, robot)
    for back, motion in zip(read, motions(robot)):
        np.testing.assert_allclose(back.root_pos, motion.root_pos, atol=1e-6)
        np.testing.assert_allclose(matrices(back.root_quat, "wxyz"), matrices(motion.root_quat, "wxyz"), atol=1e-6)
        np.testing.assert_allclose(back.joint_pos, motion.joint_pos, atol=1e-6)
    assert [motion.provenance.start for motion in read] == pytest.approx([0, 31 / 30, 52 / 30])
    info = json.loads((folder / "meta/info.json").read_text())
    state = info["features"]["observation.state"]
    order = np.random.default_rng(0).permutation(len(state["names"]))
    values = read_columns(path, ["observation.state", "episode_index"])
    write_columns(path, {**values, "observation.state": values["observation.state"][:, order]})
    state["names"] = {"motors": [state["names"][k].removesuffix(".pos") for k in order]}
    (folder / "meta/info.json").write_text(json.dumps(info))
    np.testing.assert_allclose(import_all(path, robot)[2].joint_pos, read[2].joint_pos, atol=1e-9)


def test_other_datasets_are_refused_with_what_they_have(folder, robot):
    path, info = folder / DATA, json.loads((folder / "meta/info.json").read_text())
    info["features"]["observation.state"]["names"][0] = "gripper"
    (folder / "meta/info.json").write_text(json.dumps(info))
    with pytest.raises(ReadError, match=r"observation.state has no 'root.x' of .*; meta/info.json names gripper.pos"):
        import_all(path, robot)
    del info["features"]["observation.state"]
    (folder / "meta/info.json").write_text(json.dumps(info))
    with pytest.raises(ReadError, match=r"meta/info.json names no numbers of observation.state"):
        import_all(path, robot)
    path.write_bytes(b"PAR1" + bytes(100))
    (folder / "meta/info.json").write_text(json.dumps({"features": lerobot_folder.features_of(robot), "fps": 30}))
    with pytest.raises(ReadError, match="is not readable parquet"):
        import_all(path, robot)
    copy_query(path, "SELECT ['a'] AS \"observation.state\", 0 AS episode_index")
    with pytest.raises(ReadError, match=r"observation.state is of type object; expected numbers"):
        import_all(path, robot)

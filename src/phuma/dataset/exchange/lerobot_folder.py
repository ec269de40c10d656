"""A LeRobot dataset's folder, version 3.0, made of episodes that were written one by one.

meta/info.json                            features, rate and counts
meta/stats.json                           minimum, maximum, mean and deviation of every number
meta/tasks.parquet                        what the episodes show, in words
meta/episodes/chunk-000/file-000.parquet  where each episode is
data/chunk-000/file-000.parquet           all frames of all episodes
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from phuma.core.rotations import Array
from phuma.dataset.exchange.parquet import copy_query, identifier, quoted_path, read_columns
from phuma.dataset.layout import make_folder
from phuma.io.atomic import write_atomic
from phuma.robots.robot import Robot

VERSION = "v3.0"
INFO = PurePosixPath("meta/info.json")
STATE, VELOCITY, ACTION = "observation.state", "observation.velocity", "action"
ROOT = ("root.x", "root.y", "root.z", "root.qw", "root.qx", "root.qy", "root.qz")
ROOT_SPEED = ("root.vx", "root.vy", "root.vz", "root.wx", "root.wy", "root.wz")
POSITION, SPEED = ".pos", ".vel"
EPISODES, FILES = 1000, 1000
"""Episodes of a data file, and files of a chunk"""
PLACE = "chunk-{chunk_index:03d}/file-{file_index:03d}.parquet"
Row = dict[str, Any]


def gather(folder: Path, robot: Robot, rows: Sequence[Row], fps: float) -> list[Row]:
    """Make a dataset of the episodes whose files below `folder` the rows name, and take these away; return the rows
    with the data file and the number of each episode."""
    files = [folder / row["file"] for row in rows]
    episodes = _episodes(rows, files)
    tasks, features, measured = sorted(set(episodes["task"])), features_of(robot), Statistics()
    for first in range(0, len(files), EPISODES):
        some = slice(first, first + EPISODES)
        path = folder / "data" / place_of(first)
        make_folder(path.parent)
        _write_data(path, files[some], {name: values[some] for name, values in episodes.items()})
        for name, values in read_columns(path, list(features)).items():
            measured.add(name, values)
    make_folder(folder / "meta/episodes/chunk-000")
    _write_episodes(folder / "meta/episodes" / place_of(0), episodes)
    _write_tasks(folder / "meta/tasks.parquet", tasks)
    _write_json(folder / "meta/stats.json", measured.result())
    _write_json(folder / INFO, {
        "codebase_version": VERSION, "robot_type": robot.name, "total_episodes": len(files),
        "total_frames": int(episodes["length"].sum()), "total_tasks": len(tasks), "chunks_size": FILES,
        "data_files_size_in_mb": 100, "video_files_size_in_mb": 200, "fps": round(fps),
        "splits": {"train": f"0:{len(files)}"}, "data_path": f"data/{PLACE}", "video_path": None, "features": features,
    })  # fmt: skip
    for file in files:
        file.unlink()
        if not any(file.parent.iterdir()):
            file.parent.rmdir()
    return [{**row, "file": f"data/{place_of(k)}", "episode": k} for k, row in enumerate(rows)]


def place_of(episode: int) -> str:
    """Return the data file of an episode, below the folder of all."""
    file = episode // EPISODES
    return PLACE.format(chunk_index=file // FILES, file_index=file % FILES)


def _episodes(rows: Sequence[Row], files: Sequence[Path]) -> Row:
    """Return the table of episodes: their files, lengths, first frames, tasks, and where they go."""
    lengths = [len(read_columns(file, ["frame_index"])["frame_index"]) for file in files]
    named = [_task(row) for row in rows]
    tasks = sorted(set(named))
    number = np.arange(len(files))
    return {
        "filename": np.array([str(file) for file in files], dtype=object),
        "episode_index": number, "first": np.cumsum([0, *lengths])[:-1], "length": np.array(lengths),
        "task_index": np.array([tasks.index(task) for task in named]), "task": np.array(named, dtype=object),
        "chunk": number // EPISODES // FILES, "file": number // EPISODES % FILES,
    }  # fmt: skip


class Statistics:
    """The minimum, maximum, mean and standard deviation of every number of some columns, block by block."""

    def __init__(self) -> None:
        self._of: dict[str, tuple[int, Array, Array, Array, Array]] = {}

    def add(self, name: str, values: Array) -> None:
        """Add rows (T,) or (T, K) of a column."""
        rows = values.reshape(len(values), -1).astype(float)
        count, least, most, total, squares = len(rows), rows.min(0), rows.max(0), rows.sum(0), (rows**2).sum(0)
        if name in self._of:
            n, low, high, before, squared = self._of[name]
            count, least, most = count + n, np.minimum(least, low), np.maximum(most, high)
            total, squares = total + before, squares + squared
        self._of[name] = count, least, most, total, squares

    def result(self) -> Row:
        """Return the statistics by column, as the metadata has them."""
        out = {}
        for name, (count, least, most, total, squares) in self._of.items():
            mean = total / count
            std = np.sqrt(np.maximum(squares / count - mean**2, 0))
            made = {"min": least, "max": most, "mean": mean, "std": std, "count": np.array([count])}
            out[name] = {key: value.tolist() for key, value in made.items()}
        return out


def features_of(robot: Robot) -> Row:
    """Return what the columns of a dataset are, as its metadata says it."""
    joints = {end: [joint + end for joint in robot.joint_names] for end in (POSITION, SPEED)}
    vectors = {STATE: [*ROOT, *joints[POSITION]], VELOCITY: [*ROOT_SPEED, *joints[SPEED]], ACTION: joints[POSITION]}
    numbers = {"timestamp": "float32"} | dict.fromkeys(("frame_index", "episode_index", "index", "task_index"), "int64")
    return {
        **{name: {"dtype": "float32", "shape": [len(of)], "names": of} for name, of in vectors.items()},
        **{name: {"dtype": kind, "shape": [1], "names": None} for name, kind in numbers.items()},
    }


def _task(row: Row) -> str:
    """Return what an episode shows, in words."""
    return str(row.get("label") or row.get("category") or row["clip"])


def _write_data(path: Path, files: Sequence[Path], episodes: Row) -> None:
    sources = ", ".join(f"'{quoted_path(file)}'" for file in files)
    columns = ", ".join(f"f.{identifier(name)}" for name in (STATE, VELOCITY, ACTION, "timestamp", "frame_index"))
    copy_query(
        path,
        f"SELECT {columns}, e.episode_index, e.first + f.frame_index AS index, e.task_index "
        f"FROM read_parquet([{sources}], filename = true) f JOIN episodes e ON f.filename = e.filename ORDER BY index",
        episodes=episodes,
    )


def _write_episodes(path: Path, episodes: Row) -> None:
    copy_query(
        path,
        "SELECT episode_index, [task] AS tasks, length, first AS dataset_from_index, "
        'first + length AS dataset_to_index, chunk AS "data/chunk_index", file AS "data/file_index", '
        '0::BIGINT AS "meta/episodes/chunk_index", 0::BIGINT AS "meta/episodes/file_index" '
        "FROM episodes ORDER BY episode_index",
        episodes={name: values for name, values in episodes.items() if name != "filename"},
    )


def _write_tasks(path: Path, tasks: Sequence[str]) -> None:
    """Write the tasks with their words as the index, as pandas stores that."""
    said = {"index_columns": ["task"], "column_indexes": [], "columns": [
        {"name": n, "field_name": n, "pandas_type": kind, "numpy_type": numpy, "metadata": None}
        for n, kind, numpy in (("task_index", "int64", "int64"), ("task", "unicode", "object"))
    ]}  # fmt: skip
    table = {"task_index": np.arange(len(tasks)), "task": np.array(tasks, dtype=object)}
    query = "SELECT task_index, task FROM tasks ORDER BY task_index"
    copy_query(path, query, {"pandas": json.dumps(said)}, tasks=table)


def _write_json(path: Path, content: Row) -> None:
    write_atomic(path, lambda f: f.write(json.dumps(content, indent=1).encode()))

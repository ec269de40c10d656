"""Datasets that were tampered with or damaged, and whether every command that reads one survives them.

A damage is one change of a small dataset, drawn by a seed. A command survives it if it goes through or says what is
wrong: anything but exit codes 0, 1 and 2 is a failure, and so is a change of any file that is not the command's own.
"""

from __future__ import annotations

import io
import json
import os
import random
import shutil
import time
import traceback
from collections.abc import Callable, Iterable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

from phuma.cli.main import main
from phuma.dataset.manifest import COLUMNS
from phuma.dataset.record import file_sha256
from phuma.errors import PhumaError
from phuma.pipelines.evaluate_policy import dataset_library
from phuma.pipelines.open_collection import collection_of
from phuma.robots import load_robot
from phuma.sources import ReadCfg
from tests.fuzz import damage

Dice = random.Random
RAW = "@raw@"
"""What stands before a piece of text that goes into a JSON file as it is"""
HOSTILE: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 10**12, 1e300, -1e300, 0.5, "", "a", "\0", "\n\x1b[31m", "é漢", "\ud800",
    "../../victim/settings", "/etc/passwd", "..", ".", "x" * 5000, "NaN", "1", [], {}, [None], [[]], ["../x"],
    {"a": {"b": []}}, [1, "a", None], f"{RAW}NaN", f"{RAW}Infinity", f"{RAW}-Infinity", f"{RAW}1e999", RAW + "9" * 400,
    RAW + "9" * 5000, RAW + "[" * 100_000 + "]" * 100_000, RAW + "[" * 200 + "]" * 200,
    RAW + '{"a":' * 100_000 + "1" + "}" * 100_000,
    f'{RAW}{{"a": 1, "a": 2}}', "'; DROP TABLE manifest; --", "clips/../../victim/settings.json", "g1", "h1_2", "train",
)  # fmt: skip


def copy_of(whole: Path, base: Path) -> Path:
    """A copy below `base` with somebody else's file beside it, of links where nothing is changed in place."""
    (base / "victim").mkdir()
    (base / "victim" / "settings.json").write_text("precious")
    return Path(shutil.copytree(whole, base / "dataset", copy_function=os.link))


def put(path: Path, data: bytes) -> None:
    """Write a file anew: what was there may be a link to the whole dataset's."""
    path.unlink(missing_ok=True)
    path.write_bytes(data)


def pick(dice: Dice, root: Path, pattern: str) -> Path:
    return dice.choice(sorted(root.glob(pattern)))


# Damages, each of a dataset's folder by a dice


def places(value: Any) -> list[tuple[Any, Any]]:
    """All containers in a value with each of their keys or indices."""
    keys = list(value) if isinstance(value, dict) else list(range(len(value))) if isinstance(value, list) else []
    return [(value, key) for key in keys] + [place for key in keys for place in places(value[key])]


def mutate(dice: Dice, value: Any) -> Any:
    """The value with one change somewhere in it, and sometimes instead of it."""
    value = json.loads(json.dumps(value))
    found = places(value)
    if not found or dice.random() < 0.03:
        return dice.choice(HOSTILE)
    held, key = dice.choice(found)
    kind = dice.choice(("set", "set", "set", "set", "delete", "add", "wrap", "swap", "twist"))
    if kind == "set":
        held[key] = dice.choice(HOSTILE)
    elif kind == "delete":
        del held[key]
    elif kind == "wrap":
        held[key] = dice.choice(([held[key]], {"a": held[key]}))
    elif kind == "add" and isinstance(held, dict):
        held[dice.choice(("new", "", "clip", "id", "__class__", "\0", "é"))] = dice.choice(HOSTILE)
    elif kind == "swap":
        other, there = dice.choice(found)
        held[key] = json.loads(json.dumps(other[there]))
    elif isinstance(held[key], (int, float)):
        held[key] = dice.choice((str(held[key]), -held[key], held[key] * 1e6, held[key] + 0.5))
    else:
        held[key] = dice.choice(HOSTILE)
    return value


def as_json(value: Any) -> bytes:
    """JSON, with the raw pieces in it as they are."""
    pieces: list[str] = []

    def replaced(value: Any) -> Any:
        if isinstance(value, str) and value.startswith(RAW):
            pieces.append(value.removeprefix(RAW))
            return f"{RAW}{len(pieces) - 1}{RAW}"
        if isinstance(value, dict):
            return {key: replaced(v) for key, v in value.items()}
        return [replaced(v) for v in value] if isinstance(value, list) else value

    text = json.dumps(replaced(value))
    for i, piece in enumerate(pieces):
        text = text.replace(f'"{RAW}{i}{RAW}"', piece)
    return text.encode()


def edit_json(pattern: str) -> Callable[[Path, Dice], None]:
    def edit(root: Path, dice: Dice) -> None:
        path = pick(dice, root, pattern)
        put(path, as_json(mutate(dice, json.loads(path.read_text()))))

    return edit


def edit_bytes(pattern: str) -> Callable[[Path, Dice], None]:
    def edit(root: Path, dice: Dice) -> None:
        path = pick(dice, root, pattern)
        kinds = ("flip", "flip", "cut", "insert", "delete", "head")
        edits = [
            (dice.choice(kinds), dice.random(), dice.randbytes(dice.randint(1, 8))) for _ in range(dice.randint(1, 4))
        ]
        put(path, damage(path.read_bytes(), edits))

    return edit


VALUES = (
    "NULL", "''", "'a'", "0", "-1", "1e300", "'NaN'::DOUBLE", "'Infinity'::DOUBLE", "true", "[]", "[NULL]", "{'a': 1}",
    "'é'", "'../../victim/settings.json'", "'/etc/passwd'", "chr(0)", "repeat('x', 5000)", "2147483647", "'clips'",
    "'.'", "'h1_2'",
)  # fmt: skip


def edit_manifest(root: Path, dice: Dice) -> None:
    """Another value, type or name of a column, rows that are missing, twice or moved."""
    path, name, value = root / "manifest.parquet", dice.choice(list(COLUMNS)), dice.choice(VALUES)
    cast = f"TRY_CAST({value} AS {COLUMNS[name]})"
    way = dice.choice((
        f'SELECT * REPLACE ({value} AS "{name}") FROM m', f'SELECT * REPLACE ({cast} AS "{name}") FROM m',
        f'SELECT * REPLACE ({cast} AS "{name}") FROM m',
        f'SELECT * REPLACE (CASE WHEN kept THEN {cast} ELSE "{name}" END AS "{name}") FROM m',
        f'SELECT * EXCLUDE ("{name}") FROM m', f'SELECT * RENAME ("{name}" AS "{name.upper()}_") FROM m',
        f'SELECT *, {value} AS more FROM m', "FROM m WHERE false", "FROM m WHERE NOT kept", "FROM m UNION ALL FROM m",
        'SELECT * REPLACE (NOT kept AS kept) FROM m', "FROM m ORDER BY random()",
    ))  # fmt: skip
    rewrite(path, way)


def rewrite(path: Path, select: str) -> None:
    """Another manifest, made of the table `m` of the rows that are there."""
    with duckdb.connect() as database:
        database.execute("CREATE TABLE m AS SELECT * FROM read_parquet(?)", [str(path)])
        path.unlink()
        database.execute(f"COPY ({select}) TO '{path}' (FORMAT parquet)")


def edit_arrays(pattern: str) -> Callable[[Path, Dice], None]:
    """A motion with another array or another `meta`, and, for each other time, the right checksum."""

    def edit(root: Path, dice: Dice) -> None:
        path = pick(dice, root, pattern)
        with np.load(path) as data:
            arrays = dict(data)
        before, name = file_sha256(path), dice.choice([*arrays, "meta", "meta", "meta"])
        if name == "meta":
            arrays["meta"] = np.array(as_json(mutate(dice, json.loads(str(arrays["meta"])))).decode())
        else:
            arrays[name] = other_array(dice, arrays.pop(name))
        path.unlink()
        np.savez(path, **{name: array for name, array in arrays.items() if array is not None})
        if dice.random() < 0.5:
            after = file_sha256(path)
            for record in (root / "work").glob("*.json"):
                put(record, record.read_bytes().replace(before.encode(), after.encode()))
            columns = (f"replace({name}, '{before}', '{after}') AS {name}" for name in ("sha256", "human_sha256"))
            rewrite(root / "manifest.parquet", f"SELECT * REPLACE ({', '.join(columns)}) FROM m")

    return edit


def other_array(dice: Dice, array: np.ndarray) -> Any:
    numbers = array.astype(float) if array.dtype.kind in "biuf" else np.zeros(array.shape)
    ways: tuple[Callable[[], Any], ...] = (
        lambda: None, lambda: numbers * np.nan, lambda: numbers[:0] if array.ndim else numbers + 1e300,
        lambda: numbers * 1e300, lambda: numbers * 0, lambda: np.array("text"), lambda: array.reshape(-1),
        lambda: array[None], lambda: numbers.astype(complex), lambda: np.zeros(0), lambda: np.array([b"\xff"]),
        lambda: -numbers, lambda: numbers.astype("f2"), lambda: np.zeros((3, 0)),
    )  # fmt: skip
    return dice.choice(ways)()


ANY_FILE = ("dataset.json", "manifest.parquet", "work/*.json", "clips/*/*/*.npz", "recordings/*.npz")


def edit_files(root: Path, dice: Dice) -> None:
    """Files that are missing, empty, in each other's place, folders or links, or under another name."""
    path, other = (pick(dice, root, dice.choice(ANY_FILE)) for _ in range(2))
    content, kind = (
        path.read_bytes(),
        dice.choice(("missing", "empty", "swapped", "folder", "link", "linked folder", "name", "pipe")),
    )
    if kind == "empty":
        put(path, b"")
    elif kind == "swapped":
        put(path, other.read_bytes())
        put(other, content)
    elif kind == "linked folder":
        folder = dice.choice([f for f in (path.parent, root / "work", root / "clips") if f != root])
        moved = root.parent / "victim" / "moved"
        shutil.move(folder, moved)
        folder.symlink_to(moved)
    else:
        path.unlink()
        if kind == "folder":
            path.mkdir()
        elif kind == "link":
            target = dice.choice(
                (root.parent / "victim" / "settings.json", path, root / "nowhere", other, Path("/dev/zero"))
            )
            path.symlink_to(target)
        elif kind == "name":
            name = dice.choice(("**", "[", "a\nb", "%s", "x" * 200, "..json", "é", "it's", "-"))
            put(path.with_name(name + path.suffix), content)
        elif kind == "pipe":
            os.mkfifo(path)


DAMAGES: dict[str, Callable[[Path, Dice], None]] = {
    "values of dataset.json": edit_json("dataset.json"),
    "values of a record": edit_json("work/*.json"),
    "bytes of dataset.json": edit_bytes("dataset.json"),
    "bytes of a record": edit_bytes("work/*.json"),
    "values of the manifest": edit_manifest,
    "bytes of the manifest": edit_bytes("manifest.parquet"),
    "values of a robot's motion": edit_arrays("clips/*/*/*.npz"),
    "bytes of a robot's motion": edit_bytes("clips/*/*/*.npz"),
    "values of a human recording": edit_arrays("recordings/*.npz"),
    "bytes of a human recording": edit_bytes("recordings/*.npz"),
    "files missing, empty, swapped, linked": edit_files,
}


# Commands


def view(root: Path, out: Path) -> None:
    """What `phuma view` does before and when a browser asks: all clips are listed, and opened as they are stored."""
    collection = collection_of([root], [], ReadCfg())
    json.dumps(collection.about(), allow_nan=False)
    found = collection.find({"sort": "fidelity"})
    json.dumps(found, allow_nan=False)
    for row in found["rows"]:
        try:
            collection.open(row["clip"], row["robot"], None)
        except PhumaError:  # which the page shows; the others can be opened all the same
            continue


def learn(root: Path, out: Path) -> None:
    """What `phuma train`, `evaluate` and `play` open."""
    dataset_library(root, load_robot("g1"))


def command(*words: str) -> Callable[[Path, Path], int]:
    return lambda root, out: main([word.format(root=root, out=out) for word in words])


COMMANDS: dict[str, Callable[[Path, Path], Any]] = {
    "verify": command("verify", "{root}"),
    "status": command("status", "{root}", "--json"),
    "query": command("query", "{root}", "FROM manifest", "--json"),
    "select": command("select", "{root}", "--rejected", "--out", "{out}/part"),
    "report": command("report", "{root}", "--out", "{out}/report.html"),
    "export": command("export", "{root}", "--format", "csv", "--out", "{out}/csv"),
    "train, evaluate": learn,
    "view": view,
}


@dataclass
class Result:
    """What came of one damaged dataset."""

    kind: str
    seed: int
    refused: dict[str, str] = field(default_factory=dict)
    """By command, what was said"""
    failed: dict[str, str] = field(default_factory=dict)
    """By command, the traceback"""
    seconds: float = 0.0
    """CPU seconds of the slowest command"""


def attack(whole: Path, base: Path, kind: str, seed: int, commands: Iterable[str] = tuple(COMMANDS)) -> Result:
    """Damage a copy of a dataset below `base` and run commands on it."""
    result = Result(kind, seed)
    root = copy_of(whole, base)
    DAMAGES[kind](root, random.Random(f"{kind} {seed}"))
    (base / "out").mkdir()
    before = contents(base)
    for name in commands:
        began, said = time.process_time(), io.StringIO()
        try:
            with redirect_stdout(said), redirect_stderr(said):
                code = COMMANDS[name](root, base / "out")
            if code not in (None, 0, 1, 2):
                result.failed[name] = f"exit code {code}"
            elif code:
                result.refused[name] = said.getvalue()
        except PhumaError as e:
            result.refused[name] = str(e)
        except BaseException:
            result.failed[name] = traceback.format_exc()
        result.seconds = max(result.seconds, time.process_time() - began)
    if changed := {name for name, data in before.items() if contents(base).get(name) != data}:
        result.failed["all"] = f"changed {changed}"
    return result


def contents(base: Path) -> dict[str, bytes]:
    """Every file below a folder that commands are to leave alone."""
    files = (Path(folder, name) for folder, _, names in os.walk(base) for name in names)
    return {str(path): path.read_bytes() for path in files if path.is_file() and base / "out" not in path.parents}

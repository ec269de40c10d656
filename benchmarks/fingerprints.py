"""Hashes of results, by name: of arrays, of documents, of folders full of files, and how two of them differ.

A result is taken apart into leaves: a column of a table, an array of a file, a key of a document. Where a folder holds
many files, a leaf is what all of them have under one name, in order of their paths. A leaf is a hash and, where it is
small, also its numbers, so that a difference can be told in size and not only in kind.
"""

from __future__ import annotations

import base64
import hashlib
import json
import pickle
import re
import zlib
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

Leaf = dict[str, Any]
"""`hash`; `numbers` where there are few; `text` where it is short; `each` with a piece of every file's hash"""
Leaves = dict[str, Leaf]

CLOSE = 1e-6
FEW = 600  # numbers that a leaf keeps
SHORT = 100  # characters that a leaf keeps
PIECE = 6  # characters of each file's hash


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:24]


class Columns:
    """Takes documents and arrays apart and gathers what has the same name."""

    def __init__(self, few: int = FEW, leave_out: Collection[str] = ()) -> None:
        self.few, self.leave_out = few, leave_out
        self._scalars: dict[str, list[Any]] = {}
        self._arrays: dict[str, list[np.ndarray]] = {}

    def add(self, value: Any, at: str) -> None:
        """`value` and all that is in it, under names that begin with `at`."""
        if at.rpartition(".")[2] in self.leave_out:
            return
        if hasattr(value, "detach"):  # a tensor
            value = value.detach().numpy()
        if isinstance(value, np.generic):
            value = np.asarray(value)
        if isinstance(value, Mapping):
            for name, part in value.items():
                self.add(part, f"{at}.{name}" if at else str(name))
        elif isinstance(value, np.ndarray) and value.dtype.kind in "biufc":
            self._arrays.setdefault(at, []).append(value)
        elif isinstance(value, np.ndarray):
            self.add(value.tolist(), at)
        elif isinstance(value, (list, tuple)):
            self._scalars.setdefault(f"{at}[] length", []).append(len(value))
            for part in value:
                self.add(part, f"{at}[]")
        elif isinstance(value, str) and value.startswith("{") and (document := _document(value)) is not None:
            self.add(document, at)
        else:
            self._scalars.setdefault(at, []).append(value)

    def leaves(self) -> Leaves:
        made = {name: of_scalars(values, self.few) for name, values in self._scalars.items()}
        for name, parts in self._arrays.items():
            made[f"{name} (array)" if name in made else name] = of_arrays(parts, self.few)
        return dict(sorted(made.items()))


def _document(text: str) -> dict[str, Any] | None:
    try:
        return json.loads(text)
    except ValueError:
        return None


def of_scalars(values: Sequence[Any], few: int = FEW) -> Leaf:
    """Of texts, numbers, truths and nothings in their order."""
    leaf: Leaf = {"hash": digest(json.dumps(values, default=str).encode())}
    numbers = [v for v in values if isinstance(v, (int, float)) and not isinstance(v, bool)]
    if numbers and len(values) <= few and all(v is None or isinstance(v, (int, float)) for v in values):
        leaf["numbers"] = packed(np.array([np.nan if v is None else v for v in values], dtype=float))
    elif not numbers and len(text := ", ".join(map(str, values))) <= SHORT:
        leaf["text"] = text
    return leaf


def of_arrays(parts: Sequence[np.ndarray], few: int = FEW) -> Leaf:
    """Of arrays of numbers: their types, shapes and contents."""
    summed = hashlib.sha256()
    for part in parts:
        summed.update(f"{part.dtype.str}{part.shape}".encode() + np.ascontiguousarray(part).tobytes())
    leaf: Leaf = {"hash": summed.hexdigest()[:24]}
    if sum(part.size for part in parts) <= few and all(part.dtype.kind in "biuf" for part in parts):
        leaf["numbers"] = packed(np.concatenate([part.ravel().astype(float) for part in parts]))
    return leaf


def packed(numbers: np.ndarray) -> str:
    return base64.b64encode(zlib.compress(numbers.astype("<f8").tobytes(), 9)).decode()


def unpacked(text: str) -> np.ndarray:
    return np.frombuffer(zlib.decompress(base64.b64decode(text)), dtype="<f8")


def of_document(document: Any, at: str = "", few: int = FEW, leave_out: Collection[str] = ()) -> Leaves:
    columns = Columns(few, leave_out)
    columns.add(document, at)
    return columns.leaves()


def content(path: Path) -> Any:
    """What is in a file that the program wrote: arrays by name, or a document."""
    if path.suffix == ".npz":
        with np.load(path) as arrays:
            return {name: arrays[name] for name in arrays.files}
    if path.suffix == ".npy":
        array = np.load(path, allow_pickle=True)
        return array.item() if array.dtype == object else {"array": array}
    if path.suffix == ".pkl":
        return pickle.loads(path.read_bytes())
    if path.suffix == ".motion":
        import torch

        return torch.load(path, weights_only=True)
    if path.suffix == ".json":
        return json.loads(path.read_text())
    if path.suffix == ".csv":
        return {"text": path.read_text(), "table": np.loadtxt(path, delimiter=",", ndmin=2)}
    raise ValueError(f"{path.name}: no way to take such a file apart")


def of_files(root: Path, files: Iterable[Path], few: int = FEW, bytes_matter: bool = True, at: str = "files") -> Leaves:
    """Of many files: which there are, the bytes of each, and by name all that is in them."""
    found = sorted(files)
    names = [path.relative_to(root).as_posix() for path in found]
    sums = [digest(path.read_bytes()) for path in found]
    columns = Columns(few)
    for path in found:
        columns.add(content(path), at)
    bytes_of = {"hash": digest("".join(sums).encode()), "each": "".join(s[:PIECE] for s in sums)}
    return {
        f"{at}: names": of_scalars(names),
        f"{at}: bytes": bytes_of if bytes_matter else bytes_of | {"loose": True},
        **columns.leaves(),
    }


def of_dataset(root: Path, few: int = FEW) -> Leaves:
    """Of a dataset: every column of its manifest, its settings, and its clips."""
    import duckdb

    manifest = root / "manifest.parquet"
    with duckdb.connect() as database:
        answer = database.execute(f"SELECT * FROM read_parquet('{manifest}') ORDER BY clip, robot")
        columns, rows = [about[:2] for about in answer.description or ()], answer.fetchall()
    leaves = {f"manifest.{name}": of_scalars([row[i] for row in rows]) for i, (name, _) in enumerate(columns)}
    types = {f"manifest.{name} type": of_scalars([str(kind)]) for name, kind in columns}
    description = content(root / "dataset.json")
    return {
        **leaves,
        **types,
        "manifest: bytes": {"hash": digest(manifest.read_bytes())},
        **of_document({k: v for k, v in description.items() if k != "versions"}, "description"),
        **of_files(root, (*root.glob("clips/**/*.npz"), *root.glob("recordings/*.npz")), few, at="clips"),
    }


class Difference(NamedTuple):
    """How one result compares with what it was."""

    verdict: str
    failed: bool
    details: list[str]


def compare(
    old: Leaves, now: Leaves, renamed: Mapping[str, str], ignored: Sequence[str], title: str, names_matter: bool = True
) -> Difference:
    """All leaves of one result. One that is new is told and is no fault; one that is missing is, unless names do not
    matter and the same leaf is there under another one."""
    old = {_renamed(name, renamed, now): leaf for name, leaf in old.items()}
    old, now = (
        {n: leaf for n, leaf in leaves.items() if not any(fnmatch(f"{title}: {n}", p) for p in ignored)}
        for leaves in (old, now)
    )
    missing, added = [n for n in old if n not in now], [n for n in now if n not in old]
    sums = [Counter(leaf["hash"] for leaf in leaves.values()) for leaves in (old, now)]
    if missing and not names_matter and sums[0] == sums[1]:
        return Difference("equal as multiset", False, [f"{len(missing)} have other names: {_few(missing)}"])
    apart, close, loose, largest = [], [], [], 0.0
    for name in (n for n in old if n in now):
        if old[name]["hash"] == now[name]["hash"]:
            continue
        if old[name].get("loose"):
            loose.append(name)
            continue
        size = _distance(old[name], now[name])
        if size is not None and size <= CLOSE:
            close.append(name)
            largest = max(largest, size)
        else:
            apart.append(name + _told(old[name], now[name], size))
    details = [f"{word}: {_few(names)}" for word, names in (
        ("differ", apart), ("missing", missing), (f"within {CLOSE:g}, largest {largest:.2g}", close),
        ("added", added), ("same content in other bytes", loose),
    ) if names]  # fmt: skip
    if apart or missing:
        return Difference("DIFFERENT", True, details)
    return Difference(f"values within {CLOSE:g}" if close else "equal", False, details)


def _renamed(name: str, renamed: Mapping[str, str], now: Leaves) -> str:
    other = name
    for before, after in renamed.items():
        other = re.sub(rf"(?<!\w){re.escape(before)}(?!\w)", after, other)
    return other if other in now else name


def _distance(old: Leaf, now: Leaf) -> float | None:
    """The largest difference of numbers, relative where they are above one; None where there is none to tell."""
    if "numbers" not in old or "numbers" not in now:
        return None
    a, b = unpacked(old["numbers"]), unpacked(now["numbers"])
    if a.shape != b.shape or not np.array_equal(np.isnan(a), np.isnan(b)):
        return None
    with np.errstate(invalid="ignore"):
        apart = np.where((a == b) | np.isnan(a), 0.0, np.abs(a - b) / np.maximum(1.0, np.abs(a)))
    return float(np.nan_to_num(apart, nan=np.inf).max(initial=0.0))


def _told(old: Leaf, now: Leaf, size: float | None) -> str:
    if size is not None:
        return f" (by {size:.2g})"
    if "each" in old and "each" in now:
        pieces = [[leaf["each"][i : i + PIECE] for i in range(0, len(leaf["each"]), PIECE)] for leaf in (old, now)]
        other = [i for i, (a, b) in enumerate(zip(*pieces)) if a != b]
        first = f", the first is number {other[0]}" if other else ""
        return f" ({len(other)} of {len(pieces[0])} files, {len(pieces[1])} now{first})"
    if "text" in old and "text" in now:
        return f" (was {old['text']!r}, is {now['text']!r})"
    return ""


def _few(names: Sequence[str], most: int = 8) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")

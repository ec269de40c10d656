"""Select a part of a dataset as a dataset of its own: the rows under a condition, with their files and records."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from phuma.core.names import did_you_mean
from phuma.dataset.builder import finish, records
from phuma.dataset.category import GROUP_OF, GROUPS, TYPES, category_of
from phuma.dataset.dataset import Dataset
from phuma.dataset.describe import Description
from phuma.dataset.layout import Layout, make_folder
from phuma.dataset.manifest import COLUMNS, ask, clean_condition
from phuma.dataset.record import HASHED, Row, file_sha256, save_record
from phuma.dataset.review import REJECT, Reviewed, judgement
from phuma.dataset.split import SPLITS
from phuma.errors import ConfigError, ReadError, StorageError
from phuma.io.atomic import write_atomic
from phuma.io.inside import inside
from phuma.io.lock import is_locked, locked

Key = tuple[str, str]
"""Names of clip and robot"""
NUMBERS = tuple(name for name, kind in COLUMNS.items() if kind in ("DOUBLE", "INTEGER"))


@dataclass(frozen=True)
class SelectCfg:
    """Conditions on the clips to select, which hold together."""

    where: str | None = None
    """SQL condition over the manifest's columns"""
    category: tuple[str, ...] = ()
    """Types or groups of types, any of them"""
    source: tuple[str, ...] = ()
    """Names of source folders, any of them"""
    split: str | None = None
    at_least: Mapping[str, float] = field(default_factory=dict)
    """Least values by column"""
    at_most: Mapping[str, float] = field(default_factory=dict)
    sample: int | None = None
    """Number of clips to draw from those that meet the conditions, with all their robots"""
    seed: int = 0
    rejected: bool = False
    """Whether rejected clips are selected too"""
    review: Mapping[str, Reviewed] = field(default_factory=dict)
    """Judgements by hand: rejected clips are left out, and labels are taken"""

    def __post_init__(self) -> None:
        _one_of("category", self.category, (*TYPES, *GROUPS))
        _one_of("split", [self.split] if self.split else [], SPLITS)
        _one_of("metric", [*self.at_least, *self.at_most], NUMBERS)
        if self.sample is not None and self.sample < 1:
            raise ConfigError(f"a sample of {self.sample} is none; expected 1 or more")

    def conditions(self) -> dict[str, Any]:
        """Return what was asked for, as dataset.json holds it."""
        given = {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}
        seed = given.pop("seed")
        out = {name: value for name, value in given.items() if value}
        return out if self.sample is None else out | {"seed": seed}


def _one_of(what: str, values: Any, valid: tuple[str, ...]) -> None:
    for value in values:
        if value not in valid:
            raise ConfigError(f"unknown {what} {value!r}{did_you_mean(value, valid)}; there are: {', '.join(valid)}")


def select(
    root: Path, out: Path, cfg: SelectCfg, progress: Callable[[int, int], None] = lambda done, total: None
) -> Description:
    """Write the dataset `out`, whole or not at all, of the clips of `root` that meet `cfg`.

    Files are hard links where the disk allows it. The same dataset and the same `cfg` give the same bytes.
    """
    if is_locked(Layout(root).lock):
        raise ConfigError(f"{root} is being written right now; wait until that is done")
    dataset = Dataset(root)
    cfg = replace(cfg, source=_sources(dataset, cfg.source))
    chosen = choose(dataset, cfg)
    description = _description(dataset, cfg, {robot for _, robot in chosen})
    with _new_folder(out, root) as layout:
        layout.make()
        _copy(Layout(root), layout, chosen, cfg.review, progress)
        return finish(layout, description)


def choose(dataset: Dataset, cfg: SelectCfg) -> set[Key]:
    """Return the clip and robot of each row that meets the conditions."""
    tests: list[tuple[str, list[Any]]] = [(clean_condition(cfg.where), [])]
    if not cfg.rejected:
        tests.append(("kept", []))
    if cfg.category:
        tests.append(("(list_contains(?, category) OR list_contains(?, category_group))", [list(cfg.category)] * 2))
    if cfg.source:
        tests.append(("list_contains(?, source)", [list(cfg.source)]))
    if cfg.split:
        tests.append(("split = ?", [cfg.split]))
    tests += [(f'"{name}" >= ?', [value]) for name, value in cfg.at_least.items()]
    tests += [(f'"{name}" <= ?', [value]) for name, value in cfg.at_most.items()]
    condition, values = " AND ".join(test for test, _ in tests), [v for _, given in tests for v in given]
    found = ask(dataset.database, _SQL + condition, values)[1]
    chosen = {(str(c), str(r)) for c, r in found if judgement(cfg.review, str(c)).verdict != REJECT}
    if cfg.sample is not None:
        clips = sample({clip for clip, _ in chosen}, cfg.sample, cfg.seed)
        chosen = {key for key in chosen if key[0] in clips}
    if not chosen:
        raise ConfigError(f"no clip of {dataset.root} meets the conditions: {cfg.conditions() or 'none was kept'}")
    return chosen


def _sources(dataset: Dataset, words: tuple[str, ...]) -> tuple[str, ...]:
    """Return names of sources, several in a word if separated by commas; a name that holds a comma is one."""
    valid = tuple(str(r[0]) for r in ask(dataset.database, "SELECT DISTINCT source FROM manifest ORDER BY ALL")[1])
    names = [name for word in words for name in ([word] if word in valid else word.split(",")) if name]
    _one_of("source", names, valid)
    return tuple(names)


_SQL = "SELECT clip, robot FROM manifest WHERE "


def sample(clips: set[str], count: int, seed: int) -> set[str]:
    """Return `count` of the clips: those with the smallest sha256 beside the seed, so that samples are nested."""
    if count > len(clips):
        raise ConfigError(f"a sample of {count} is asked for, but only {len(clips)} clips meet the conditions")
    return set(sorted(clips, key=lambda clip: hashlib.sha256(f"{seed} {clip}".encode()).digest())[:count])


def _description(dataset: Dataset, cfg: SelectCfg, robots: set[str]) -> Description:
    before = dataset.description
    selected = {
        "conditions": cfg.conditions(),
        "of": {"manifest_sha256": file_sha256(Layout(dataset.root).manifest), "counts": dict(before.counts)},
        "before": before.selected,
    }
    return replace(before, robots=tuple(r for r in before.robots if r in robots), selected=selected)


def _copy(
    source: Layout,
    target: Layout,
    chosen: set[Key],
    review: Mapping[str, Reviewed],
    progress: Callable[[int, int], None],
) -> None:
    """Copy the chosen rows of every record, with their files."""
    done = 0
    for record in records(source):
        rows = tuple(_labelled(row, review) for row in record.rows if (row["clip"], row["robot"]) in chosen)
        if not rows:
            continue
        for name in dict.fromkeys(row[key] for row in rows for key in HASHED if row.get(key)):
            _link(inside(source.root, name).resolve(), inside(target.root, name))
        save_record(target.record(record.id), replace(record, rows=rows))
        done += len(rows)
        progress(done, len(chosen))
    if done != len(chosen):
        raise ReadError(source.root, f"its manifest and its records disagree; `phuma verify {source.root}` says where")


def _labelled(row: Row, review: Mapping[str, Reviewed]) -> Row:
    """Return a row with the label that somebody gave it, and the type that the label names."""
    label = judgement(review, row["clip"]).label
    if not label:
        return row
    category = category_of(label, row["category"])
    return {**row, "label": label, "category": category, "category_group": GROUP_OF.get(category)}


def _link(source: Path, target: Path) -> None:
    """Make the same file under another name, or a copy where the disk is another one."""
    if not source.is_file():
        raise ReadError(source, "is missing, though the manifest names it; `phuma verify` says what to do")
    make_folder(target.parent)
    try:
        os.link(source, target)
    except OSError:
        with open(source, "rb") as f:
            write_atomic(target, lambda g: shutil.copyfileobj(f, g))


@contextmanager
def _new_folder(out: Path, root: Path) -> Iterator[Layout]:
    """Yield a folder beside `out` that takes its name once it is complete."""
    out = out.resolve()
    if out.is_relative_to(root.resolve()):
        raise ConfigError(f"{out} lies in the dataset itself; choose another --out")
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise ConfigError(f"{out} exists and is not empty; choose another --out, or remove it first")
    part = Layout(out.with_name(f".{out.name}.part"))
    make_folder(part.root)
    with locked(part.lock):
        for left in part.root.iterdir():  # by a process that was killed
            if left != part.lock:
                shutil.rmtree(left) if left.is_dir() else left.unlink()
        try:
            yield part
            part.root.rename(out)
        except BaseException as e:
            shutil.rmtree(part.root, ignore_errors=True)
            if isinstance(e, OSError):
                raise StorageError(f"{out}: cannot be written: {e.strerror or e}") from e
            raise

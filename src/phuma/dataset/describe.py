"""dataset.json: what a dataset is, how it was made and what it holds."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from phuma.dataset.layout import Layout
from phuma.errors import ReadError
from phuma.files.atomic import write_atomic

FORMAT = "phuma-dataset"
VERSION = 1
ROBOT_FILES = "robot_files"
"""The key of `config` under which each robot's model has its hash"""


class NewerVersionError(ReadError):
    """A dataset of a format that this program does not know: whole, and not ours to touch."""


@dataclass(frozen=True)
class Description:
    """What stands in dataset.json."""

    robots: tuple[str, ...]
    config: Mapping[str, Any]
    """Every setting that the content depends on"""
    versions: Mapping[str, str]
    """of the programs that made it"""
    finished: bool = False
    importing: bool = False
    """Not finished, and only because motions are being added that others made"""
    counts: Mapping[str, int] = field(default_factory=dict)
    failed: tuple[Mapping[str, str], ...] = ()
    """Recordings that could not be used, with the reason"""
    selected: Mapping[str, Any] | None = None
    """How it was taken out of another dataset; None where it was built"""

    @property
    def settings(self) -> dict[str, Any]:
        """What must not change between runs into one folder: a selection is not built on."""
        selected = {} if self.selected is None else {"selected": "by `phuma select`: nothing is built on it"}
        return {"robots": list(self.robots), **self.config, **selected}

    @property
    def only_imports(self) -> bool:
        """Whether nothing was built here yet: then only the robots are settled."""
        return set(self.config) == {ROBOT_FILES}


def save_description(root: Path, description: Description) -> None:
    data = {"format": FORMAT, "version": VERSION, **asdict(description)}
    text = json.dumps(data, indent=1, sort_keys=True, ensure_ascii=True)
    write_atomic(Layout(root).description, lambda f: f.write(text.encode()))


def load_description(root: Path) -> Description:
    """Read dataset.json; a newer format is refused with the command that helps."""
    path = Layout(root).description
    if not path.exists():
        raise ReadError(root, "is not a dataset: it holds no dataset.json; `phuma build SRC --out DIR` makes one")
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        if data.pop("format") != FORMAT:
            raise ReadError(path, f"is not of format {FORMAT}")
        version = int(data.pop("version"))
        if version > VERSION:
            raise NewerVersionError(
                path, f"is of version {version}, newer than this program's {VERSION}: pip install -U phuma"
            )
        return Description(**{**data, "robots": tuple(data["robots"]), "failed": tuple(data["failed"])})
    except (OSError, ValueError, TypeError, KeyError) as e:
        raise ReadError(path, f"is damaged: {type(e).__name__}: {e}") from None


def differences(before: Mapping[str, Any], now: Mapping[str, Any], at: str = "") -> list[str]:
    """What differs between two settings, in words: `curate.preset was 'paper', is 'dynamic'`."""
    out = []
    for key in sorted({*before, *now}):
        old, new, place = before.get(key), now.get(key), f"{at}{key}"
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            out += differences(old, new, f"{place}.")
        elif json.dumps(old, sort_keys=True) != json.dumps(new, sort_keys=True):
            out.append(f"{place} was {old!r}, is {new!r}")
    return out

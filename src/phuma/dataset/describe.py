"""Read and write dataset.json: what a dataset is, how it was made and what it holds."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from phuma.core.curation_metrics import with_current_names
from phuma.dataset.layout import Layout
from phuma.errors import ReadError
from phuma.io.atomic import write_atomic
from phuma.io.json_file import read_json
from phuma.io.schema import ANYTHING, BOOLEAN, COUNT, NUMBER, TEXT, ListOf, Object, OrNull

FORMAT = "phuma-dataset"
VERSION = 2
"""Version of the format; since 2, the metric `helping_force` is called `external_support_force`"""
ROBOT_FILES = "robot_files"
"""Key of `config` under which each robot's model has its hash"""


PLANNED = "planned"
"""Key of `counts`, while a dataset is not finished, under which it has the recordings that it will have"""


class NewerVersionError(ReadError):
    """The dataset has a format that is newer than this program, and must not be changed by it."""


@dataclass(frozen=True)
class Description:
    """The content of dataset.json."""

    robots: tuple[str, ...]
    config: Mapping[str, Any]
    """Settings that the content depends on"""
    versions: Mapping[str, str]
    """Versions of the programs that made it"""
    finished: bool = False
    importing: bool = False
    """Whether it is unfinished only because motions are being imported"""
    counts: Mapping[str, int] = field(default_factory=dict)
    failed: tuple[Mapping[str, str], ...] = ()
    """Recordings that could not be used, each with the reason"""
    selected: Mapping[str, Any] | None = None
    """Settings by which it was selected from another dataset; None where it was built"""

    @property
    def settings(self) -> dict[str, Any]:
        """Return what must not change between runs into one folder: a selection is not built on."""
        selected = {} if self.selected is None else {"selected": "by `phuma select`: nothing is built on it"}
        return {"robots": list(self.robots), **self.config, **selected}

    @property
    def only_imports(self) -> bool:
        """Return whether nothing was built here yet: then only the robots are settled."""
        return set(self.config) == {ROBOT_FILES}


_MAP = Object(others=ANYTHING)
HEAD = Object({"format": TEXT, "version": COUNT}, others=ANYTHING)
"""What dataset.json of any version has to be"""
SCHEMA = Object(
    {
        "robots": ListOf(TEXT),
        "config": Object(
            optional={
                ROBOT_FILES: Object(others=TEXT),
                "curate": Object(optional={"limits": _MAP, "overlap_seconds": OrNull(NUMBER)}, others=ANYTHING),
            },
            others=ANYTHING,
        ),
        "versions": Object(others=TEXT),
        "failed": ListOf(Object({"recording": TEXT, "reason": TEXT})),
    },
    {
        "finished": BOOLEAN,
        "importing": BOOLEAN,
        "counts": Object(others=COUNT),
        "selected": OrNull(_MAP),
    },
)
"""What the rest of it has to be"""


def save_description(root: Path, description: Description) -> None:
    """Write dataset.json, whole or not at all."""
    data = {"format": FORMAT, "version": VERSION, **asdict(description)}
    text = json.dumps(data, indent=1, sort_keys=True, ensure_ascii=True)
    write_atomic(Layout(root).description, lambda f: f.write(text.encode()))


def load_description(root: Path) -> Description:
    """Read dataset.json; a newer format is refused with the command that helps."""
    path = Layout(root).description
    if not path.exists():
        raise ReadError(root, "is not a dataset: it holds no dataset.json; `phuma build SRC --out DIR` makes one")
    try:
        data = read_json(path)
    except ReadError as e:
        raise ReadError(path, f"is damaged: {e.problem}") from None
    if fault := HEAD.fault(data, ""):
        raise ReadError(path, f"is damaged: {fault}")
    if data.pop("format") != FORMAT:
        raise ReadError(path, f"is not of format {FORMAT}")
    version = data.pop("version")
    if version > VERSION:
        raise NewerVersionError(
            path, f"is of version {version}, newer than this program's {VERSION}: pip install -U phuma"
        )
    if fault := SCHEMA.fault(data, ""):
        raise ReadError(path, f"is damaged: {fault}")
    data["config"] = _renamed(data["config"])
    return Description(**{**data, "robots": tuple(data["robots"]), "failed": tuple(data["failed"])})


def _renamed(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return the configuration with the limits of curation under the names that metrics have today."""
    curate = config.get("curate")
    if not isinstance(curate, Mapping) or "limits" not in curate:
        return dict(config)
    return {**config, "curate": {**curate, "limits": with_current_names(curate["limits"])}}


def differences(before: Mapping[str, Any], now: Mapping[str, Any], at: str = "") -> list[str]:
    """Return what differs between two settings, in words: `curate.preset was 'paper', is 'dynamic'`."""
    out = []
    for key in sorted({*before, *now}):
        old, new, name = before.get(key), now.get(key), f"{at}{key}"
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            out += differences(old, new, f"{name}.")
        elif json.dumps(old, sort_keys=True) != json.dumps(new, sort_keys=True):
            out.append(f"{name} was {old!r}, is {new!r}")
    return out

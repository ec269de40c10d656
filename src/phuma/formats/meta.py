"""The `meta` of our own files: a JSON text in an `.npz`, which is checked before anything is made of it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from phuma.core.provenance import Provenance
from phuma.errors import PhumaError, ReadError
from phuma.io.json_file import parse_json
from phuma.io.schema import ANYTHING, BOOLEAN, NUMBER, TEXT, ListOf, Object, OrNull, Schema, Value

MAX_CHARACTERS = 4 << 20
_PROVENANCE = Object(
    {"source": TEXT, "format": TEXT, "notes": ListOf(TEXT)},
    {"licence": TEXT, "redistributable": OrNull(BOOLEAN), "up": TEXT, "start": NUMBER, "mirrored": BOOLEAN},
)
_MEASURE = Object({"name": TEXT, "value": NUMBER, "limit": NUMBER, "bound": TEXT, "unit": TEXT})
CLIP = Object({
    "body": Object(
        {"name": TEXT, "shape": Object(others=NUMBER), "lumbar": ListOf(NUMBER)},
    ),
    "provenance": _PROVENANCE, "measures": ListOf(_MEASURE), "ground": NUMBER,
})  # fmt: skip
"""Schema of a clip's meta"""
ROBOT_MOTION = Object({
    "provenance": _PROVENANCE,
    "report": Object(
        optional={"method": TEXT, "flags": ListOf(TEXT), "metrics": Object(others=OrNull(NUMBER))}, others=ANYTHING
    ),
})  # fmt: skip
"""Schema of a robot motion's meta; its report may say more than is used here"""


_PLACE = Value(
    "a place x, y in m", (list,), lambda place: len(place) == 2 and not any(NUMBER.fault(each, "") for each in place)
)
ROLLOUT = Object({"report": Object(optional={"path": ListOf(_PLACE)}, others=ANYTHING)})
"""Schema of a rollout's meta; its report may say more than is used here"""


def robot_name(text: str) -> str:
    """Return the name of a file's robot, which is a folder's name and leads nowhere else."""
    if not text.isprintable() or set(text) & set("/\\") or text in ("", ".", ".."):
        raise PhumaError(f"is of the robot {text[:40]!r}; expected the name of a robot, without a path")
    return text


def read_meta(text: str, path: str | Path, schema: Schema) -> dict[str, Any]:
    """Return the meta of the file at `path` once it is what the schema says."""
    if len(text) > MAX_CHARACTERS:
        raise ReadError(path, f"has a meta of {len(text):,} characters; at most {MAX_CHARACTERS:,} are read")
    meta: dict[str, Any] = parse_json(text, path)
    if fault := schema.fault(meta, ""):
        raise ReadError(path, f"is damaged: meta: {fault}")
    return meta


def provenance_of(meta: Mapping[str, Any]) -> Provenance:
    """Return the provenance in a meta."""
    return Provenance(**{**meta["provenance"], "notes": tuple(meta["provenance"]["notes"])})

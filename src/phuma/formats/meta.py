"""The `meta` of our own files: a JSON text in an `.npz`, which is checked before anything is made of it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from phuma.core.provenance import Provenance
from phuma.errors import ReadError
from phuma.io.json_file import parse_json
from phuma.io.schema import ANYTHING, BOOLEAN, NUMBER, TEXT, ListOf, Object, OrNull, Schema

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


def read_meta(text: str, path: str | Path, schema: Schema) -> dict[str, Any]:
    """Return the meta of the file at `path` once it is what the schema says."""
    meta: dict[str, Any] = parse_json(text, path)
    if fault := schema.fault(meta, ""):
        raise ReadError(path, f"is damaged: meta: {fault}")
    return meta


def provenance_of(meta: Mapping[str, Any]) -> Provenance:
    """Return the provenance in a meta."""
    return Provenance(**{**meta["provenance"], "notes": tuple(meta["provenance"]["notes"])})

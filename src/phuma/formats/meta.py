"""The text `meta` of a motion's file: provenance and what else is known of it, from an untrusted JSON text."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

from phuma.core.provenance import Provenance
from phuma.errors import PhumaError
from phuma.io.json_file import parse_json

MAX_CHARACTERS = 4 << 20
_KINDS: dict[str, tuple[str, tuple[type, ...]]] = {
    "source": ("a text", (str,)),
    "format": ("a text", (str,)),
    "licence": ("a text", (str,)),
    "redistributable": ("true, false or null", (bool, type(None))),
    "up": ("a text", (str,)),
    "start": ("a number", (int, float)),
    "mirrored": ("true or false", (bool,)),
}


def robot_name(text: str) -> str:
    """Return the name of a file's robot, which is a folder's name and leads nowhere else."""
    if not text.isprintable() or set(text) & set("/\\") or text in ("", ".", ".."):
        raise PhumaError(f"is of the robot {text[:40]!r}; expected the name of a robot, without a path")
    return text


def parse_meta(path: str | Path, text: str) -> dict[str, Any]:
    """Return the object that a file's `meta` holds."""
    if len(text) > MAX_CHARACTERS:
        raise PhumaError(f"has a meta of {len(text):,} characters; at most {MAX_CHARACTERS:,} are read")
    return _object("meta", parse_json(text, f"{path}: meta"))


def provenance_of(meta: dict[str, Any]) -> Provenance:
    """Return the provenance that a file's `meta` names."""
    about = _object("provenance", meta["provenance"])
    if unknown := sorted(set(about) - {f.name for f in fields(Provenance)}):
        raise PhumaError(f"has a provenance with {unknown[0]!r}, which is not known")
    for name, (kind, types) in _KINDS.items():
        value = about.get(name, None if name == "redistributable" else getattr(Provenance, name, None))
        if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
            raise PhumaError(f"has a provenance whose {name} is {str(value)[:40]!r}; expected {kind}")
    return Provenance(**about | {"notes": _texts("notes", about.get("notes", []))})


def report_of(meta: dict[str, Any]) -> dict[str, Any]:
    """Return the report that a robot motion's `meta` names: metrics are numbers or unknown, flags are texts."""
    report = _object("report", meta["report"])
    for name, value in _object("metrics", report.get("metrics", {})).items():
        if isinstance(value, bool) or not isinstance(value, (int, float, type(None))):
            raise PhumaError(f"has a report whose metric {name} is {str(value)[:40]!r}; expected a number or null")
    _texts("flags", report.get("flags", []))
    return report


def _object(name: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise PhumaError(f"has a {name} that is {type(value).__name__}; expected an object")
    return value


def _texts(name: str, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        raise PhumaError(f"has {name} that are {str(value)[:40]!r}; expected a list of texts")
    return tuple(value)

"""How values of metadata are written as texts and read again."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from phuma.io.json_file import parse_json


class Texts(NamedTuple):
    """A way to write values as texts."""

    write: Callable[[Any], str]
    """Function from a text, a number or a list of them to a text"""
    read: Callable[[str, Path], list[Any]]
    """Function from a text, and the path of its file for errors, to the list of what is in it"""


def _cell(value: Any) -> str:
    if isinstance(value, tuple):
        return ";".join(map(_cell, value))
    return value if isinstance(value, str) else repr(float(value))


def _written(value: Any) -> str:
    return ",".join(map(_cell, value)) if isinstance(value, list) else _cell(value)


def _parsed(text: str, path: Path) -> list[Any]:
    value = parse_json(text, path)
    return value if isinstance(value, list) else [value]


COMMAS = Texts(_written, lambda text, path: [cell.strip() for cell in text.split(",")])
"""Separated by commas, pairs by semicolons; numbers with all their digits, though the exporters round to three"""
JSON = Texts(json.dumps, _parsed)

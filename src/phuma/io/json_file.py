"""Untrusted JSON is read here, strictly: what this returns is plain, shallow, finite, and can be written again."""

from __future__ import annotations

import json
import math
import re
import stat
from collections import Counter
from pathlib import Path
from typing import Any

from phuma.errors import ReadError

__all__ = ["parse_json", "read_json"]

MAX_BYTES = 64 << 20
MAX_DEPTH = 64
INTEGERS = (-(1 << 63), (1 << 63) - 1)
SHOWN = 40  # characters of a wrong value


def read_json(path: str | Path, max_bytes: int = MAX_BYTES) -> Any:
    """Return the content of a JSON file; every fault of the file is a ReadError.

    File names that are no Unicode stand in texts as lone surrogates, as Python has them.
    """
    path = Path(path)
    try:
        about = path.stat()
        if not stat.S_ISREG(about.st_mode):  # reading a pipe would wait for somebody who writes to it
            raise ReadError(path, "is a folder or a device, not a file")
        if about.st_size > max_bytes:
            raise ReadError(path, f"has {about.st_size:,} bytes; JSON of at most {max_bytes:,} is read")
        text = path.read_bytes().decode("utf-8", "surrogatepass")
    except FileNotFoundError:
        raise ReadError(path, "does not exist") from None
    except OSError as e:
        raise ReadError(path, f"cannot be opened: {e.strerror or e}") from None
    except UnicodeDecodeError as e:
        raise ReadError(path, f"is not JSON: byte {e.start} is not text in UTF-8") from None
    return parse_json(text, path)


def parse_json(text: str, path: str | Path) -> Any:
    """Return the value of a JSON text that was found in the file at `path`; every fault is a ReadError of that file.

    Refused are NaN and infinite numbers, integers beyond 64 bit, a key that stands twice in an object, and more than 64
    objects or lists in each other.
    """
    careful = _LARGE.search(text) is not None
    try:
        value = json.loads(
            text,
            object_pairs_hook=_object,
            parse_int=_integer if careful else None,
            parse_float=_number if careful else None,
            parse_constant=_constant,
        )
    except json.JSONDecodeError as e:
        raise ReadError(path, f"is not JSON: {e.msg} in line {e.lineno}, column {e.colno}") from None
    except _RefusedError as e:
        raise ReadError(path, str(e)) from None
    except (RecursionError, MemoryError):
        raise ReadError(path, _TOO_DEEP) from None
    if _is_deeper(value, MAX_DEPTH):
        raise ReadError(path, _TOO_DEEP)
    return value


_LARGE = re.compile(r"(?<![\d.])\d{19}|\d[eE]\+?\d{3,}\s*(?:[,\]}]|\Z)")
"""Where a number may be beyond 64 bit or infinite, as a text may seem to be: elsewhere numbers need no look"""
_TOO_DEEP = f"is JSON of more than {MAX_DEPTH} objects or lists in each other"


class _RefusedError(Exception):
    """JSON that Python would read, and this does not."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        twice = Counter(key for key, _ in pairs).most_common(1)[0][0]
        raise _RefusedError(f"has the key {_short(twice)} twice in one object")
    return found


def _integer(text: str) -> int:
    # Python converts no text of thousands of digits, and would take long for one of hundreds of thousands.
    value = int(text) if len(text) <= 20 else None
    if value is None or not INTEGERS[0] <= value <= INTEGERS[1]:
        raise _RefusedError(f"holds the integer {_short(text)}; expected at most 64 bit")
    return value


def _number(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise _RefusedError(f"holds the number {_short(text)}; expected at most {1.7e308}")
    return value


def _constant(text: str) -> float:
    raise _RefusedError(f"holds {text}, which is no number of JSON")


def _short(text: str) -> str:
    return repr(text) if len(text) <= SHOWN else f"{text[:SHOWN]!r}... ({len(text):,} characters)"


def _is_deeper(value: Any, depth: int) -> bool:
    """Return whether more than `depth` objects or lists are in each other."""
    level = [value] if isinstance(value, (dict, list)) else []
    for _ in range(depth):
        inner = (v for held in level for v in (held.values() if isinstance(held, dict) else held))
        level = [v for v in inner if isinstance(v, (dict, list))]
        if not level:
            return False
    return True

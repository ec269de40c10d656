"""Untrusted JSON: plain data comes through as it was written, everything else is refused with a reason."""

import json
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phuma.errors import ReadError
from phuma.io.json_file import INTEGERS, MAX_DEPTH, parse_json, read_json
from tests.fuzz import changes, damage, fuzzed, only_read_errors

VALUES = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(*INTEGERS), st.floats(allow_nan=False, allow_infinity=False), st.text()
    ),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
)
GOOD = json.dumps({"name": "walk é", "rows": [{"kept": True, "fps": 30.5, "frames": 120, "reasons": []}]}).encode()

REFUSED = {
    b"": "not JSON: Expecting value in line 1, column 1",
    b"{": "not JSON",
    b'{"a": 1} 2': "not JSON: Extra data",
    b'\xff{"a": 1}': "byte 0 is not text in UTF-8",
    b'{"a": NaN}': "holds NaN, which is no number",
    b"[-Infinity]": "holds -Infinity",
    b"[1e999]": "holds the number '1e999'",
    b"[9223372036854775808]": "holds the integer '9223372036854775808'; expected at most 64 bit",
    b"[-9223372036854775809]": "at most 64 bit",
    b"[" + b"9" * 400 + b"]": r"'9{40}'... \(400 characters\); expected at most 64 bit",
    b"[" + b"9" * 5000 + b"]": r"\(5,000 characters\); expected at most 64 bit",
    b'{"a": 1, "b": 2, "a": 3}': "has the key 'a' twice",
    b"[" * (MAX_DEPTH + 1) + b"]" * (MAX_DEPTH + 1): "more than 64 objects or lists in each other",
    b'{"a":' * (MAX_DEPTH + 1) + b"1" + b"}" * (MAX_DEPTH + 1): "more than 64",
    b"[" * 100_000: "more than 64",
    b"[" * 100_000 + b"]" * 100_000: "more than 64",
}


@pytest.mark.parametrize("content", REFUSED, ids=lambda content: content[:12].decode("latin1"))
def test_what_is_not_plain_is_refused_with_file_and_reason(tmp_path, content):
    path = tmp_path / "a.json"
    path.write_bytes(content)
    with pytest.raises(ReadError, match=REFUSED[content]) as error:
        read_json(path)
    assert str(error.value).startswith(f"{path}: ")


@fuzzed
@given(VALUES)
def test_what_is_plain_comes_through_unchanged(value):
    assert parse_json(json.dumps(value), "a.json") == value


def test_nesting_to_the_limit_is_read():
    value = parse_json("[" * MAX_DEPTH + "]" * MAX_DEPTH, "a.json")
    for _ in range(MAX_DEPTH):
        inner, value = value, value[0] if value else None
    assert inner == []


def test_names_that_are_no_unicode_are_read_as_they_were_written(tmp_path):
    name = os.fsdecode(b"walk \xff.bvh")
    (tmp_path / "a.json").write_bytes(json.dumps(name, ensure_ascii=False).encode("utf-8", "surrogatepass"))
    assert read_json(tmp_path / "a.json") == name


def test_neither_a_large_file_nor_what_is_no_file_is_opened(tmp_path):
    (tmp_path / "large.json").write_bytes(b"[" + b" " * 100 + b"]")
    assert read_json(tmp_path / "large.json", max_bytes=102) == []
    with pytest.raises(ReadError, match="has 102 bytes; JSON of at most 101 is read"):
        read_json(tmp_path / "large.json", max_bytes=101)
    os.mkfifo(tmp_path / "pipe.json")
    for path in (tmp_path, tmp_path / "pipe.json"):
        with pytest.raises(ReadError, match="is a folder or a device"):
            read_json(path)
    with pytest.raises(ReadError, match="does not exist"):
        read_json(tmp_path / "none.json")


@fuzzed
@given(changes)
def test_damaged_bytes_are_read_or_refused(tmp_path, edits):
    path = tmp_path / "a.json"
    path.write_bytes(damage(GOOD, edits))
    only_read_errors(ReadError, lambda: read_json(path))

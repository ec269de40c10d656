"""Damaged files: valid bytes with flips, cuts and insertions. PHUMA_FUZZ sets how many are tried in each test."""

from __future__ import annotations

import os
from collections.abc import Callable

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

EXAMPLES = int(os.environ.get("PHUMA_FUZZ", "100"))

fuzzed = settings(
    deadline=None,
    max_examples=EXAMPLES,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)

Change = tuple[str, float, bytes]

changes = st.lists(
    st.tuples(
        st.sampled_from(["flip", "cut", "insert", "delete", "head"]), st.floats(0, 1), st.binary(min_size=1, max_size=8)
    ),
    min_size=1,
    max_size=4,
)


def damage(data: bytes, edits: list[Change]) -> bytes:
    """`data` with the changes; places are shares of its length, as headers matter most half of them near the start."""
    out = bytearray(data)
    for kind, where, new in edits:
        at = int(where * len(out))
        if kind == "flip":
            out[at : at + len(new)] = new
        elif kind == "head":
            at = int(where * min(len(out), 160))
            out[at : at + 1] = new[:1]
        elif kind == "cut":
            del out[at:]
        elif kind == "insert":
            out[at:at] = new
        else:
            del out[at : at + len(new)]
    return bytes(out)


def only_read_errors(error: type[Exception], call: Callable[[], object]) -> bool:
    """Whether the call came through; anything but the error is raised on."""
    try:
        call()
    except error:
        return False
    return True

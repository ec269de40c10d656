"""Split recordings into train and test, by a recording's name alone.

A recording goes one way with all its clips, so that no clip in the test set has a neighbour in training, and the way
does not depend on what else there is, on where the folder lies or on the machine.
"""

from __future__ import annotations

import hashlib
import unicodedata
from typing import Literal

from phuma.errors import PhumaError

Split = Literal["train", "test"]
SPLITS = ("train", "test")

TEST_SHARE = 0.1
"""Expected share of recordings in the test set"""


def relative_name(path: str) -> str:
    """Return a path below a source folder as it is named everywhere: forward slashes, Unicode NFC, no `.` parts.

    macOS may hand out the same name decomposed (NFD) and Windows separates by backslashes; all three agree here.
    Upper and lower case differ, and the suffix belongs to the name.
    """
    name = unicodedata.normalize("NFC", path).replace("\\", "/")
    parts = [part for part in name.split("/") if part not in ("", ".")]
    if not parts or name.startswith("/") or ".." in parts or parts[0].endswith(":"):
        raise PhumaError(
            f"{path!r} is no path below a source folder; expected one like 'subject1/walk.bvh', relative to the folder "
            "that was given"
        )
    return "/".join(parts)


def split_of(relative_path: str) -> Split:
    """Return the split of the recording at `relative_path`, which is relative to its source folder.

    test where h / 2^64 < 0.1, h being the first 8 bytes, big-endian, of the sha256 of `relative_name` in UTF-8.
    """
    digest = hashlib.sha256(relative_name(relative_path).encode("utf-8", "surrogatepass")).digest()
    return "test" if int.from_bytes(digest[:8], "big") < TEST_SHARE * 2**64 else "train"

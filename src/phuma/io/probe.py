"""A probe tells what kind of container a file is and what it declares, without loading it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np

from phuma.errors import ReadError
from phuma.io.bounded import unpacked
from phuma.io.npz import MAX_BYTES, ArrayHeader, npy_header, npy_pickle_start, npz_headers
from phuma.io.safe_pickle import load_pickle
from phuma.io.torch_file import is_torch, load_torch

HEAD_BYTES = 4096
NO_TEXT = re.compile(rb"[\x00-\x06\x0e-\x19\x1c-\x1f]")
"""Control characters that are in no text; old ones end with \\x1a"""
Kind = Literal["npz", "npy", "torch", "zip", "pickle", "text", "binary", "empty"]
LIMITS: Mapping[Kind, int] = {
    "npy": MAX_BYTES + HEAD_BYTES,
    "zip": 8 << 30,  # an .npz, of which not all arrays are read
    "pickle": 4 << 30,
    "text": 2 << 30,  # a recording of two million frames
    "binary": 2 << 30,
}
"""Bytes of the largest file of each kind that is read"""


@dataclass(frozen=True)
class Probe:
    """A probe is a file that somebody wants read. It reads the first bytes and the headers, each once."""

    path: Path

    @cached_property
    def head(self) -> bytes:
        """Return the first bytes of the file."""
        try:
            if self.path.exists() and not self.path.is_file():
                raise ReadError(self.path, "is a folder or a device, not a file")
            with open(self.path, "rb") as f:
                return f.read(HEAD_BYTES)
        except OSError as e:
            raise ReadError(self.path, f"cannot be opened: {e.strerror or e}") from None

    @cached_property
    def kind(self) -> Kind:
        """Return what kind of container the file is, by its first bytes."""
        head = self.head
        if not head:
            return "empty"
        if head.startswith(b"\x93NUMPY"):
            return "npy"
        if head.startswith(b"PK\x03\x04"):
            return "npz" if self.arrays else "torch" if is_torch(self.path) else "zip"
        start = unpacked(head)  # joblib compresses a pickle as a whole
        if start[:1] == b"\x80" and start[1:2] in b"\x00\x01\x02\x03\x04\x05":
            return "pickle"
        text = head.removeprefix(b"\xef\xbb\xbf")
        return "binary" if NO_TEXT.search(text) else "text"

    def check_size(self) -> None:
        """Raise an error for a file that is larger than any of its kind that is read, before it is read."""
        try:
            size = self.path.stat().st_size
        except OSError:
            return  # reading it will say why
        if size <= min(LIMITS.values()):
            return
        kind: Kind = "zip" if self.head.startswith(b"PK\x03\x04") else self.kind
        if size > LIMITS[kind]:
            raise ReadError(
                self.path, f"has {size:,} bytes; of this kind of file ({kind}) at most {LIMITS[kind]:,} are read"
            )

    @cached_property
    def arrays(self) -> dict[str, ArrayHeader]:
        """Return names, shapes and types of the arrays of an `.npz`, from its headers.

        An `.npy` is one array named ''.
        """
        if self.head.startswith(b"\x93NUMPY"):
            return {"": npy_header(self.path)}
        if self.head.startswith(b"PK\x03\x04"):
            return npz_headers(self.path)
        return {}

    @cached_property
    def content(self) -> Any:
        """Return what a pickle, a file of torch's or an `.npy` of one object holds, read safely; None of other files.

        These have no headers: their layout is known once they are read, which is done once.
        """
        self.check_size()
        if self.kind == "pickle":
            return load_pickle(self.path)
        if self.kind == "torch":
            return load_torch(self.path)
        if self.kind == "npy" and self.arrays[""].dtype.hasobject and self.arrays[""].shape == ():
            holder = load_pickle(self.path, npy_pickle_start(self.path))
            return holder.item() if isinstance(holder, np.ndarray) and holder.size == 1 else holder
        return None

    @cached_property
    def text(self) -> str:
        """Return the first few thousand characters of a text file."""
        return self.head.removeprefix(b"\xef\xbb\xbf").decode("utf-8", errors="replace")

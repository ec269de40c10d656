"""The fields of a pickled dictionary, each of the shape that its layout says, or an error that names it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phuma.contacts.blocks import blocks_of
from phuma.core import rotations as rot
from phuma.core.rotations import Array
from phuma.core.skeleton import N_JOINTS
from phuma.errors import ReadError
from phuma.io.safe_pickle import as_array
from phuma.sources.reader import check_length
from phuma.sources.smpl import expect_shape

SKEWED = 0.05
"""How far a rotation's matrix may be from one that keeps lengths and angles"""


def has(content: Any, names: Iterable[str]) -> bool:
    """Return whether this is a dictionary with all these keys."""
    return isinstance(content, dict) and all(name in content for name in names)


def field(path: Path, where: str, content: Any, name: str, shape: tuple[int | str, ...]) -> NDArray[Any]:
    """Return an array of numbers out of a dictionary; in `shape` a word stands for any length, the first is frames."""
    full = f"{where}.{name}" if where else name
    if not has(content, [name]):
        known = ", ".join(str(k)[:40] for k in list(content)[:20]) if isinstance(content, dict) else ""
        raise ReadError(path, f"holds no {full}; there is {known or 'nothing'}")
    array = as_array(path, full, content[name])
    expect_shape(path, full, array.shape, shape)
    check_length(path, len(array))
    return array


def frame_numbers(path: Path, where: str, content: Any, name: str) -> NDArray[np.int64]:
    """Return (N,) in which frames of the film a person was seen, one after another."""
    numbers = field(path, where, content, name, ("frames",))
    if numbers.dtype.kind not in "iu" or (len(numbers) and not 0 <= numbers.min() <= numbers.max() < 10**8):
        raise ReadError(path, f"{where}.{name} holds no numbers of frames")
    numbers = numbers.astype(np.int64)
    if not (np.diff(numbers) > 0).all():
        raise ReadError(path, f"{where}.{name} does not go up from frame to frame")
    return numbers


def rotvecs_of(path: Path, name: str, matrices: NDArray[Any]) -> Array:
    """Return (N, 66) rad: the rotation vectors of matrices (N, J, 3, 3), of which the first 22 joints are SMPL-X's."""
    out = np.empty((len(matrices), 3 * N_JOINTS))
    for here in blocks_of(len(matrices)):
        with np.errstate(all="ignore"):  # of strange bit patterns
            some = matrices[here, :N_JOINTS].astype(np.float64)
            skew = np.abs(np.einsum("njki,njkl->njil", some, some) - np.eye(3)).max(axis=(2, 3))
            wrong = ~((skew < SKEWED) & (np.linalg.det(some) > 0))
        if wrong.any():
            frame, joint = (int(i) for i in np.argwhere(wrong)[0])
            raise ReadError(path, f"{name} of joint {joint} in row {here.start + frame} is no rotation")
        out[here] = rot.to_rotvec(rot.from_matrix(some)).reshape(len(some), -1)
    return out

"""Check the arrays that the frozen types are given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from phuma.errors import PhumaError

ROWS_AT_A_TIME = 65_536
LARGEST = 1e9
"""Largest number in an array, in metres, radians or whatever it is in: what is computed from such numbers is finite"""


def checked(name: str, value: Any, shape: tuple[int | str, ...], dtype: DTypeLike = np.float64) -> NDArray[Any]:
    """Return `value` as a read-only float array of `shape` (a word stands for any length), or raise an error that says
    why not."""
    array = np.asarray(value, dtype=dtype)
    fits = array.ndim == len(shape) and all(isinstance(s, str) or s == n for s, n in zip(shape, array.shape))
    if not fits:
        wanted = ", ".join(map(str, shape))
        raise PhumaError(f"{name} has shape {array.shape}; expected ({wanted})")
    if array.size and not (array.max() <= LARGEST and array.min() >= -LARGEST):
        where = _first(array, lambda some: ~(np.abs(some) <= LARGEST))
        assert where is not None
        finite = "every value must be finite" if not np.isfinite(array[where]) else f"expected at most {LARGEST:g}"
        raise PhumaError(f"{name} holds {array[where]} at index {where}; {finite}")
    if array.flags.writeable and array is value:
        array = array.copy()  # else whoever made it could still change it
    array = array.view()
    array.flags.writeable = False
    return array


def checked_unit(
    name: str, value: Any, shape: tuple[int | str, ...], tolerance: float = 1e-3, dtype: DTypeLike = np.float64
) -> NDArray[Any]:
    """Return `value` as a read-only array of unit quaternions wxyz in the last axis, or raise an error that says why
    not."""
    array = checked(name, value, shape, dtype)
    where = _first(array, lambda some: np.abs(_lengths(some) - 1) > tolerance)
    if where is not None:
        length = _lengths(array[where])
        raise PhumaError(f"{name} at index {where} has length {length:.4g}; quaternions must have length 1")
    return array


def _lengths(quats: NDArray[Any]) -> NDArray[Any]:
    return np.sqrt(np.einsum("...i,...i->...", quats, quats))  # without a copy of the squares


def _first(array: NDArray[Any], wrong: Callable[[NDArray[Any]], NDArray[Any]]) -> tuple[int, ...] | None:
    """Return the index of the first value that is wrong, or None. Few rows are looked at at a time: memory."""
    for start in range(0, len(array), ROWS_AT_A_TIME):
        found = wrong(array[start : start + ROWS_AT_A_TIME])
        if found.any():
            row, *others = (int(i) for i in np.argwhere(found)[0])
            return start + row, *others
    return None


def checked_fps(value: float) -> float:
    """Return a frame rate in Hz that a recording of a person can have, or raise an error."""
    fps = float(value)
    if not (np.isfinite(fps) and 5.0 <= fps <= 1000.0):
        raise PhumaError(f"a frame rate of {fps:g} is not plausible; expected between 5 and 1000 Hz")
    return fps


def same_length(what: str, *arrays: NDArray[Any] | None) -> None:
    """Check that all arrays have the same number of frames, at least 1; None stands for an array that is not there."""
    lengths = [len(array) for array in arrays if array is not None]
    if len(set(lengths)) != 1 or not lengths[0]:
        raise PhumaError(f"arrays of {what} have {lengths} frames; they need the same number, at least 1")

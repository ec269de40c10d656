"""Checks that the frozen types run on the arrays they are given."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from phuma.errors import PhumaError


def checked(name: str, value: Any, shape: tuple[int | str, ...]) -> NDArray[np.float64]:
    """`value` as a read-only float array of `shape` (a word stands for any length), or an error that says why not."""
    array = np.asarray(value, dtype=np.float64)
    fits = array.ndim == len(shape) and all(isinstance(s, str) or s == n for s, n in zip(shape, array.shape))
    if not fits:
        wanted = ", ".join(map(str, shape))
        raise PhumaError(f"{name} has shape {array.shape}; expected ({wanted})")
    if not np.isfinite(array).all():
        where = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        raise PhumaError(f"{name} holds {array[where]} at index {where}; every value must be finite")
    if array.flags.writeable and array is value:
        array = array.copy()  # else whoever made it could still change it
    array = array.view()
    array.flags.writeable = False
    return array


def checked_unit(name: str, value: Any, shape: tuple[int | str, ...], tolerance: float = 1e-3) -> NDArray[np.float64]:
    """The same for unit quaternions wxyz in the last axis."""
    array = checked(name, value, shape)
    norms = np.sqrt(np.einsum("...i,...i->...", array, array))  # without a copy of the squares
    off = np.abs(norms - 1) > tolerance
    if off.any():
        where = tuple(int(i) for i in np.argwhere(off)[0])
        raise PhumaError(f"{name} at index {where} has length {norms[where]:.4g}; quaternions must have length 1")
    return array


def checked_fps(value: float) -> float:
    """A frame rate that a recording of a person can have."""
    fps = float(value)
    if not (np.isfinite(fps) and 5.0 <= fps <= 1000.0):
        raise PhumaError(f"a frame rate of {fps:g} is not plausible; expected between 5 and 1000 frames a second")
    return fps

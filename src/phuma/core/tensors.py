"""Serve arrays of numpy and of torch alike: one code then runs on a CPU and on a GPU.

Functions that exist in both libraries under one name with the same positional arguments are called through
`namespace`.
"""

from __future__ import annotations

import sys
from typing import Any

Tensor = Any
"""A numpy array or a torch tensor; docstrings give the shape."""


def namespace(x: Tensor) -> Any:
    """Return the library that x is of: numpy or torch."""
    return sys.modules[type(x).__module__.partition(".")[0]]


def like(example: Tensor, array: Tensor) -> Tensor:
    """Return a numpy array as a tensor of the library and device of `example`."""
    xp = namespace(example)
    return array if xp.__name__ == "numpy" else xp.as_tensor(array, device=example.device)


def empty(shape: tuple[int, ...], example: Tensor) -> Tensor:
    """Return a tensor of the library, device and precision of `example` whose values are still to be written."""
    xp = namespace(example)
    return xp.empty(shape, dtype=example.dtype) if xp.__name__ == "numpy" else example.new_empty(shape)


def rows_of(x: Tensor, rows: Tensor) -> Tensor:
    """Return `x[rows]`: rows of numpy by their numbers with `take`, which needs a third of the time of brackets."""
    numbers = namespace(x).__name__ == "numpy" and getattr(rows, "dtype", x.dtype).kind == "i"
    return x.take(rows, axis=0) if numbers else x[rows]


def to_numpy(x: Tensor) -> Tensor:
    """Return the values of a tensor as a numpy array."""
    return x if namespace(x).__name__ == "numpy" else x.detach().cpu().numpy()

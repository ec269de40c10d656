"""Functions compiled to machine code on their first call and kept, so that only the first run ever compiles."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from numba import njit


def compiled(function: Callable[..., Any]) -> Any:
    """`function` as machine code, kept beside the package, else in the user's cache folder.

    Where neither can be written to, it is compiled anew in every run.
    """
    try:
        return njit(cache=True, fastmath=True)(function)
    except RuntimeError as error:
        if "locator" not in str(error):
            raise
        warnings.warn(
            "compiled code cannot be kept, so every run compiles it anew (half a minute); "
            "set NUMBA_CACHE_DIR to a folder that can be written to",
            stacklevel=1,
        )
        return njit(fastmath=True)(function)

"""Pickles that every version of NumPy can load.

NumPy 2 pickles an array under the module name `numpy._core.multiarray`, and `numpy.save` and `pickle.dump` write that
name. No NumPy 1 before 1.26 knows it, and trainers on Isaac Gym, which ends at Python 3.8, have at most 1.24. All
versions know `numpy.core.multiarray`.
"""

from __future__ import annotations

import pickle
from typing import Any

PROTOCOL = 3  # the newest in which a name stands as a line of text, without its length before it
NEW, OLD = b"cnumpy._core.multiarray\n", b"cnumpy.core.multiarray\n"


def dumps(value: Any) -> bytes:
    """Pickle `value`, with NumPy's arrays under the name that all versions know; equal values give equal bytes."""
    return pickle.dumps(value, PROTOCOL).replace(NEW, OLD)

"""What takes long to make is made once for all tests, whichever of their processes asks for it first."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable
from functools import lru_cache, wraps
from pathlib import Path


def made_once(make: Callable[[Path], Path]) -> Callable[[Path], Path]:
    """Decorate a function that makes something below a folder and returns its path; nobody writes to that.

    It is asked with the tests' folder for temporary files. Of several processes each has its own, in one that they
    share: there it is made, while the others wait.
    """

    @lru_cache
    @wraps(make)
    def made(base: Path) -> Path:
        shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
        told = shared / f".{make.__module__}.{make.__name__}"
        with open(told, "a+") as f:  # where it is, once it is made
            fcntl.flock(f, fcntl.LOCK_EX)
            f.seek(0)
            if not (where := f.read()):
                where = str(make(shared))
                f.write(where)
        return Path(where)

    return made

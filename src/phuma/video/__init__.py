"""From a film to the motion of the person in it: frames, landmarks of a pose network, a body lifted to the world.

The command `phuma video` is a function too, and this folder has its name: so it can be called, as `phuma.from_video`.
"""

import sys
from types import ModuleType
from typing import Any


class _Callable(ModuleType):
    """A package that can be called."""

    def __call__(self, *args: Any, **options: Any) -> Any:
        return sys.modules["phuma"].from_video(*args, **options)


sys.modules[__name__].__class__ = _Callable

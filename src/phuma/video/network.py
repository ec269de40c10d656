"""A network is one model file, run by LiteRT on one thread of the processor."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phuma.core.rotations import Array
from phuma.errors import ReadError, missing_extra

Floats = NDArray[np.float32]


class Network:
    """A network takes one square picture and returns its outputs in the order of the model file."""

    def __init__(self, path: str | os.PathLike[str], size: int, outputs: tuple[tuple[int, ...], ...]) -> None:
        """Load the model at `path`; `size` px of its input and the shapes of its outputs are what we decode."""
        interpreter = _interpreter()
        try:
            with _quiet():
                self._run: Any = interpreter(str(Path(path)), num_threads=1)
                self._run.allocate_tensors()
        except (RuntimeError, ValueError) as e:
            raise ReadError(path, f"is no model that LiteRT can run ({e})") from None
        given = self._run.get_input_details(), self._run.get_output_details()
        shapes = [tuple(int(n) for n in d["shape"]) for details in given for d in details]
        if shapes != [(1, size, size, 3), *outputs]:
            raise ReadError(
                path, f"is another model: its arrays are {shapes}; expected a picture of {size} px and {outputs}"
            )
        self._input, *_ = (d["index"] for d in given[0])
        self._outputs = [d["index"] for d in given[1]]

    def __call__(self, picture: Floats) -> list[Floats]:
        """Return the outputs for a picture (size, size, 3), without the axis of one."""
        self._run.set_tensor(self._input, picture[None])
        self._run.invoke()
        return [self._run.get_tensor(i)[0] for i in self._outputs]


def _interpreter() -> Any:
    try:
        from ai_edge_litert.interpreter import Interpreter
    except ModuleNotFoundError as e:
        raise missing_extra(e, "the pose of a person in a film") from None
    return Interpreter


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep away from the terminal what the library writes there past Python."""
    sys.stderr.flush()
    kept = os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


def sigmoid(x: Array) -> Array:
    """Return 1 / (1 + exp(-x)) of each value, for large ones too."""
    return 1.0 / (1.0 + np.exp(-np.clip(x, -50.0, 50.0)))

"""What can be wrong with a user's input. A message names the value, says what was valid, and what to do."""

import errno

__all__ = ["ConfigError", "MissingExtraError", "PhumaError", "ReadError", "StorageError", "lack_of", "missing_extra"]

EXTRAS = dict.fromkeys(("daqp", "mink", "mujoco", "numba", "scipy", "threadpoolctl"), "retarget") | {
    "matplotlib": "plot",
    "duckdb": "dataset",
    "pandas": "tables",
    "pyarrow": "tables",
    "ray": "ray",
    "imageio": "render",
    "imageio_ffmpeg": "render",
    "ai_edge_litert": "video",
    "viser": "view",
    "websockets": "view",
    "trimesh": "view",
    "onnx": "learn",
    "onnxruntime": "learn",
    "onnxscript": "learn",
    "tensorboard": "learn",
    "torch": "learn",
    "mujoco_warp": "warp",
    "rerun": "rerun",
    "warp": "warp",
}
"""Optional libraries and the extra that brings each"""


class PhumaError(Exception):
    """A fault of the input or of the call, not of the program: shown without a traceback.

    >>> try:
    ...     phuma.read("no.bvh")
    ... except phuma.PhumaError as e:
    ...     print(e)
    no.bvh: cannot be opened: No such file or directory
    """


class ConfigError(PhumaError):
    """Wrong use: an option, a name or a combination that does not exist. Ends a command with exit code 2."""


class ReadError(PhumaError):
    """A file that cannot be read as what it claims or seems to be."""

    def __init__(self, path: object, problem: str) -> None:
        super().__init__(f"{path}: {problem}")
        self.path = str(path)
        self.problem = problem

    def __reduce__(self):  # Exceptions travel between worker processes by pickle.
        return ReadError, (self.path, self.problem)


class StorageError(PhumaError):
    """Results cannot be written: a full disk, a folder without permission. No fault of any input."""


class MissingExtraError(PhumaError):
    """An optional library is not installed."""

    def __init__(self, library: str, extra: str, purpose: str) -> None:
        super().__init__(f"{purpose} needs {library}, which is not installed. Run: pip install 'phuma[{extra}]'")
        self._given = library, extra, purpose

    def __reduce__(self):
        return MissingExtraError, self._given


def lack_of(e: BaseException) -> str | None:
    """Return what the system did not give, in words, where an exception says that; None for any other."""
    why = f" ({e})" if str(e) else ""
    if isinstance(e, MemoryError) or (isinstance(e, OSError) and e.errno == errno.ENOMEM):
        return f"there is not enough memory{why}"
    if isinstance(e, ImportError) and not isinstance(e, ModuleNotFoundError):
        return f"a library cannot be loaded, perhaps for want of memory{why}"
    if isinstance(e, RuntimeError) and "start new thread" in str(e):
        return f"no thread can be started, perhaps for want of memory{why}"
    return None


def missing_extra(e: ModuleNotFoundError, purpose: str) -> Exception:
    """What to raise for a library that is not there: how to install it, if it is one of the optional ones."""
    library = (e.name or "").split(".")[0]
    return MissingExtraError(library, EXTRAS[library], purpose) if library in EXTRAS else e

"""Run a policy from an untrusted ONNX file, in a process of its own. docs/formats/policy.md specifies the file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from phuma.core.rotations import Array
from phuma.errors import ReadError
from phuma.io.json_file import parse_json
from phuma.learning.deploy.onnx_graph import Graph, GraphRunner, Port
from phuma.learning.deploy.policy import ACTION, DEVIATION, PolicyInfo, info_from_plain
from phuma.learning.env.deviation import units
from phuma.learning.env.observation import Observation
from phuma.runtime.limited import LimitedProcess, LimitError
from phuma.runtime.process_pool import WorkerLimits
from phuma.sim.feedforward import BASES

FORMAT, VERSION = "phuma-policy", 2
LIMITS = WorkerLimits(seconds=8.0, megabytes=2000)
"""Of opening a file, and of each of its calls; ours take milliseconds"""


class OnnxPolicy:
    """A policy that runs an ONNX file."""

    def __init__(self, path: Path, graph: LimitedProcess[Any], info: PolicyInfo) -> None:
        self.path, self.graph, self.info = path, graph, info
        self._groups = info.task.actor

    def act(self, observation: Observation, features: Mapping[str, Array]) -> Array:
        given = {}
        for group in self._groups:
            value = np.asarray(observation[group.name])
            given[group.name] = value if group.coming is None else np.asarray(features[group.name])[value]
        if self.info.based:
            given["base"] = np.zeros((len(value), self.info.n_joints), dtype=np.float32)
        return asked(self.path, self.graph, given)


def metadata_of(info: PolicyInfo) -> dict[str, Any]:
    """Return the file's metadata by names; each value is written as JSON."""
    about: dict[str, Any] = {"base_about": BASES[info.base].about, "future_about": None}
    about |= {f"{group.name}_about": group.coming.about for group in info.task.actor if group.coming is not None}
    if info.task.lawful:
        about["deviation_units"] = units(info.n_joints).tolist()
    return {"format": FORMAT, "format_version": VERSION, **info.as_plain(), "observations": info.inputs, **about}


def load_onnx(path: str | Path) -> OnnxPolicy:
    """Read a policy; every fault of the file is a ReadError."""
    path = Path(path)
    process: LimitedProcess[Any] = LimitedProcess(GraphRunner(path.absolute(), ACTION, DEVIATION), LIMITS)
    try:
        graph = asked(path, process)
        info = _info(path, graph)
        _check_sizes(path, "input", graph.inputs, {each["name"]: tuple(each["shape"]) for each in info.inputs})
        _check_sizes(path, "output", graph.outputs, info.outputs)
    except BaseException:
        process.end()
        raise
    return OnnxPolicy(path, process, info)


def asked(path: Path, process: LimitedProcess[Any], *given: Any) -> Any:
    """Return the answer of a file's process; whatever goes wrong in it is a fault of the file."""
    try:
        return process(*given)
    except ReadError as e:
        raise ReadError(path, e.problem) from None
    except LimitError as e:
        raise ReadError(path, f"cannot be run as a policy: it {e}") from None


def _info(path: Path, graph: Graph) -> PolicyInfo:
    if "format" not in graph.metadata:
        stranger = any(port.name == "obs" for port in graph.inputs)
        how = (
            "`phuma evaluate --dialect` judges those of other projects"
            if stranger
            else ("`phuma policy export` writes one")
        )
        raise ReadError(path, f"is no policy of ours: it has no metadata of {FORMAT}; {how}")
    try:
        values = {name: _value(path, name, text) for name, text in graph.metadata.items()}
        if values["format"] != FORMAT:
            raise ValueError(f"format is {values['format']!r}, expected {FORMAT!r}")
        if values["format_version"] > VERSION:
            raise ValueError(
                f"is of version {values['format_version']}, newer than this program's {VERSION}: pip install -U phuma"
            )
        if values["format_version"] == 1:
            values["stage"] = "policy"  # there was one stage, and it was not named
        return info_from_plain(values)
    except KeyError as e:
        raise ReadError(
            path, f"has no {e.args[0]!r} in its metadata; export it anew by `phuma policy export`"
        ) from None
    except (ValueError, TypeError, AttributeError, OverflowError) as e:
        raise ReadError(path, f"has metadata that is damaged: {e}") from None


def _value(path: Path, name: str, text: str) -> Any:
    """Return the value of one of the file's texts."""
    try:
        return parse_json(text, path)
    except ReadError as e:
        raise ReadError(path, f"has metadata that is damaged: {name!r} {e.problem}") from None


def _check_sizes(path: Path, what: str, found: Sequence[Port], expected: dict[str, tuple[int, ...]]) -> None:
    """Check that the graph has what its metadata says."""
    sizes = {each.name: tuple(each.shape[1:]) for each in found}
    if sizes != expected:
        raise ReadError(path, f"has {what}s {sizes}, while its metadata says {expected}; it does not belong to them")
    odd = [each.name for each in found if each.type != "tensor(float)" or isinstance(each.shape[0], int)]
    if odd:
        raise ReadError(path, f"has {what} {odd[0]} that is not of single precision for any number of robots")

"""Run a policy from an ONNX file, by onnxruntime. docs/formats/policy.md is the specification of the file."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from phuma.core.rotations import Array
from phuma.errors import ReadError, missing_extra
from phuma.learning.deploy.policy import PolicyInfo, info_from_plain
from phuma.learning.env.observation import Observation
from phuma.learning.motions.feedforward import BASES

try:
    import onnx
    import onnxruntime
except ModuleNotFoundError as e:
    raise missing_extra(e, "a policy from an ONNX file") from None

FORMAT, VERSION = "phuma-policy", 2
MOST_BYTES = 1 << 30


class OnnxPolicy:
    """A policy that runs an ONNX file."""

    def __init__(self, session: onnxruntime.InferenceSession, info: PolicyInfo) -> None:
        self.session, self.info = session, info
        self._groups = info.task.actor

    def act(self, observation: Observation, features: Mapping[str, Array]) -> Array:
        given = {}
        for group in self._groups:
            value = np.asarray(observation[group.name])
            given[group.name] = value if group.coming is None else np.asarray(features[group.name])[value]
        if self.info.base != "default":
            given["base"] = np.zeros((len(value), self.info.n_joints), dtype=np.float32)
        return self.session.run(["action"], given)[0]


def metadata_of(info: PolicyInfo) -> dict[str, Any]:
    """Return the file's metadata by names; each value is written as JSON."""
    about: dict[str, Any] = {"base_about": BASES[info.base].about, "future_about": None}
    about |= {f"{group.name}_about": group.coming.about for group in info.task.actor if group.coming is not None}
    return {"format": FORMAT, "format_version": VERSION, **info.as_plain(), "observations": info.inputs, **about}


def load_onnx(path: str | Path) -> OnnxPolicy:
    """Read a policy; every fault of the file is a ReadError."""
    model = _model(Path(path))
    info = _info(Path(path), model)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4  # its faults are reported below
    try:
        session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    except Exception as e:  # it raises types of its own that share no base
        raise ReadError(path, f"cannot be run by onnxruntime: {str(e).splitlines()[0]}") from None
    joints = (info.n_joints,)
    _check_sizes(path, "input", session.get_inputs(), {each["name"]: tuple(each["shape"]) for each in info.inputs})
    _check_sizes(path, "output", session.get_outputs(), {"action": joints, "target": joints})
    return OnnxPolicy(session, info)


def _model(path: Path) -> onnx.ModelProto:
    try:
        size = path.stat().st_size
        if size > MOST_BYTES:
            raise ReadError(path, f"has {size:,} bytes; a policy has at most {MOST_BYTES:,}")
        model = onnx.load_model_from_string(path.read_bytes())
        if any(tensor.data_location == onnx.TensorProto.EXTERNAL for tensor in _tensors(model)):
            raise ReadError(path, "keeps weights in other files, which is refused: export it with its weights inside")
        onnx.checker.check_model(model)
        return model
    except OSError as e:
        raise ReadError(path, f"cannot be opened: {e.strerror or e}") from None
    except ReadError:
        raise
    except Exception as e:  # protobuf and the checker raise types of their own that share no base
        why = str(e).splitlines()[0] if str(e) else type(e).__name__
        raise ReadError(path, f"is not an ONNX file, or is damaged: {why}") from None


def _tensors(message: Any) -> Iterator[Any]:
    """Yield all tensors of a file, wherever they are in it."""
    if isinstance(message, onnx.TensorProto):
        yield message
        return
    for kind, value in message.ListFields():
        if kind.message_type is not None:
            for each in [value] if hasattr(value, "ListFields") else value:
                yield from _tensors(each)


def _info(path: Path, model: onnx.ModelProto) -> PolicyInfo:
    texts = {entry.key: entry.value for entry in model.metadata_props}
    if "format" not in texts:
        raise ReadError(path, f"is no policy of ours: it has no metadata of {FORMAT}; `phuma policy export` writes one")
    try:
        values = {name: json.loads(text) for name, text in texts.items()}
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
    except (ValueError, TypeError, AttributeError, RecursionError) as e:
        raise ReadError(path, f"has metadata that is damaged: {e}") from None


def _check_sizes(path: str | Path, what: str, found: list[Any], expected: dict[str, tuple[int, ...]]) -> None:
    """Check that the graph has what its metadata says."""
    sizes = {each.name: tuple(each.shape[1:]) for each in found}
    if sizes != expected:
        raise ReadError(path, f"has {what}s {sizes}, while its metadata says {expected}; it does not belong to them")
    odd = [each.name for each in found if each.type != "tensor(float)" or isinstance(each.shape[0], int)]
    if odd:
        raise ReadError(path, f"has {what} {odd[0]} that is not of single precision for any number of robots")

"""Open an untrusted ONNX graph and run it: only operators that policies need, and nothing outside the file.

`GraphRunner` belongs in a `LimitedProcess`: even known operators may be asked for any amount of memory or time.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from phuma.core.rotations import Array
from phuma.errors import ReadError, missing_extra

if TYPE_CHECKING:
    import onnx
    import onnxruntime

MOST_BYTES = 256 << 20
MOST_NODES = 50_000
MOST_ELEMENTS = MOST_BYTES
"""Of one tensor, be it stored or declared"""
MOST_TEXT = 4 << 20
"""Characters of all metadata together"""
DOMAINS = ("", "ai.onnx")
OF_ELEMENTS = (
    "Abs Add And BitShift Cast CastLike Ceil Celu Clip Cos Div Dropout Elu Equal Erf Exp Floor Gelu Greater "
    "GreaterOrEqual HardSigmoid HardSwish Identity IsInf IsNaN LeakyRelu Less LessOrEqual Log Max Mean Min Mish Mod "
    "Mul Neg Not Or PRelu Pow Reciprocal Relu Round Selu Sigmoid Sign Sin Softplus Softsign Sqrt Sub Sum Swish Tan "
    "Tanh Where Xor"
)
OF_SHAPES = (
    "Concat Constant ConstantOfShape DepthToSpace Expand Flatten Gather GatherElements GatherND OneHot Pad Range "
    "Reshape ScatterElements ScatterND Shape Size Slice SpaceToDepth Split Squeeze Tile Transpose Trilu Unsqueeze"
)
OF_SUMS = (
    "ArgMax ArgMin CumSum ReduceL1 ReduceL2 ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum "
    "ReduceSumSquare TopK"
)
OF_LAYERS = (
    "Attention AveragePool BatchNormalization Conv ConvTranspose Einsum GRU Gemm GlobalAveragePool GroupNormalization "
    "InstanceNormalization LSTM LayerNormalization LogSoftmax LpNormalization MatMul MaxPool RMSNormalization RNN "
    "RotaryEmbedding Softmax"
)
OPERATORS = frozenset(" ".join((OF_ELEMENTS, OF_SHAPES, OF_SUMS, OF_LAYERS)).split())
"""No loops, no branches, no sequences, nothing random, nothing that reads or writes elsewhere"""


class Port(NamedTuple):
    """An input or an output of a graph."""

    name: str
    type: str
    shape: tuple[int | str | None, ...]


class Graph(NamedTuple):
    """What a file says of itself."""

    metadata: dict[str, str]
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]


class GraphRunner:
    """Open a file at the first call, and run it at all others; every fault of the file is a ReadError. What it returns
    is the first of `outputs` that the graph has."""

    def __init__(self, path: str | Path, *outputs: str) -> None:
        self.path, self.outputs, self.output = Path(path), outputs, outputs[0]
        self.session: onnxruntime.InferenceSession | None = None

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Import what is needed where this arrives, before any time counts; who sends it there needs none of it."""
        self.__dict__.update(state)
        _import()

    def __call__(self, given: Mapping[str, Array] | None = None) -> Any:
        """Return what the file says of itself or, of these inputs, its output; a graph that takes one row at a time is
        given one at a time."""
        if self.session is None or given is None:
            return self._open()
        try:
            if self.session.get_inputs()[0].shape[:1] != [1]:
                return self.session.run([self.output], dict(given))[0]
            rows = range(len(next(iter(given.values()))))
            each = ({name: value[row : row + 1] for name, value in given.items()} for row in rows)
            return np.concatenate([self.session.run([self.output], one)[0] for one in each])
        except Exception as e:  # it raises types of its own that share no base
            raise ReadError(self.path, f"fails while it runs: {_why(e)}") from None

    def _open(self) -> Graph:
        _, onnxruntime = _import()
        data = _bytes(self.path)
        model = _checked(self.path, data)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 4  # its faults are reported below
        try:
            self.session = onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
        except Exception as e:  # it raises types of its own that share no base
            raise ReadError(self.path, f"cannot be run by onnxruntime: {_why(e)}") from None
        there = {port.name for port in self.session.get_outputs()}
        self.output = next((name for name in self.outputs if name in there), self.output)
        texts = {entry.key: entry.value for entry in model.metadata_props}
        return Graph(texts, _ports(self.session.get_inputs()), _ports(self.session.get_outputs()))


def _import() -> tuple[Any, Any]:
    """Return onnx and onnxruntime, or raise an error that says how to install them."""
    try:
        import onnx
        import onnxruntime
    except ModuleNotFoundError as e:
        raise missing_extra(e, "a policy from an ONNX file") from None
    return onnx, onnxruntime


def _ports(found: list[Any]) -> tuple[Port, ...]:
    return tuple(Port(each.name, each.type, tuple(each.shape)) for each in found)


def _bytes(path: Path) -> bytes:
    try:
        if not path.is_file():  # reading a pipe would wait for somebody who writes to it
            raise ReadError(path, "is a folder or a device, not a file" if path.exists() else "does not exist")
        size = path.stat().st_size
        if size > MOST_BYTES:
            raise ReadError(path, f"has {size:,} bytes; a policy has at most {MOST_BYTES:,}")
        return path.read_bytes()
    except OSError as e:
        raise ReadError(path, f"cannot be opened: {e.strerror or e}") from None


def _checked(path: Path, data: bytes) -> onnx.ModelProto:
    """Return the content of a file after a look at all of it; no shape is inferred."""
    onnx, _ = _import()
    try:
        model = onnx.load_model_from_string(data)
        _check_operators(path, model)
        for tensor in _found(model, "TensorProto"):
            _check_tensor(path, tensor)
        for shape in _found(model, "TensorShapeProto"):
            _check_size(path, "a shape", [dim.dim_value for dim in shape.dim])
        if (length := sum(len(entry.key) + len(entry.value) for entry in model.metadata_props)) > MOST_TEXT:
            raise ReadError(path, f"has {length:,} characters of metadata; at most {MOST_TEXT:,} are read")
        onnx.checker.check_model(model)
        return model
    except (ReadError, MemoryError):
        raise
    except Exception as e:  # protobuf and the checker raise types of their own that share no base
        raise ReadError(path, f"is not an ONNX file, or is damaged: {_why(e)}") from None


def _check_operators(path: Path, model: onnx.ModelProto) -> None:
    domains = {entry.domain for entry in model.opset_import} | {node.domain for node in model.graph.node}
    if foreign := sorted(domains - set(DOMAINS)):
        raise ReadError(path, f"uses operators of {foreign[0]!r}; a policy may use those of ONNX itself alone")
    if model.functions:
        raise ReadError(path, f"defines an operator of its own, {model.functions[0].name!r}, which is refused")
    nodes = model.graph.node
    if len(nodes) > MOST_NODES:
        raise ReadError(path, f"has {len(nodes):,} operators; a policy has at most {MOST_NODES:,}")
    for number, node in enumerate(nodes):
        if node.op_type not in OPERATORS:
            name = repr(node.name) if node.name else f"number {number}"
            raise ReadError(
                path,
                f"node {name} is a {node.op_type!r}, which a policy may not use; docs/formats/policy.md lists those "
                "that it may",
            )
    if next(_found(model.graph.node, "GraphProto"), None) is not None:
        raise ReadError(path, "has a graph within its graph, which is refused")


def _check_tensor(path: Path, tensor: onnx.TensorProto) -> None:
    if tensor.data_location == tensor.EXTERNAL:
        raise ReadError(path, "keeps weights in other files, which is refused: export it with its weights inside")
    _check_size(path, f"tensor {tensor.name!r}", tensor.dims)


def _check_size(path: Path, what: str, dims: Any) -> None:
    if any(n < 0 for n in dims) or math.prod(n or 1 for n in dims) > MOST_ELEMENTS:
        raise ReadError(path, f"declares {what} of {list(dims)[:8]}; at most {MOST_ELEMENTS:,} elements are read")


def _found(message: Any, kind: str) -> Iterator[Any]:
    """Yield all parts of one kind of a message, or of several, wherever they are in it."""
    if type(message).__name__ == kind:
        yield message
    elif hasattr(message, "ListFields"):
        for field, value in message.ListFields():
            if field.message_type is not None:
                yield from _found(value, kind)
    else:
        for each in message:
            yield from _found(each, kind)


def _why(error: Exception) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__

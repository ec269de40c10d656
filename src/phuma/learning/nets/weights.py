"""Save and load weights of networks as named arrays."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import nn

from phuma.core.rotations import Array
from phuma.errors import PhumaError

PREFIX = "net."


def weights_of(net: nn.Module) -> dict[str, Array]:
    """Return weights and normalizers as arrays, by names."""
    return {f"{PREFIX}{name}": value.cpu().numpy().copy() for name, value in net.state_dict().items()}


def load_weights(net: nn.Module, arrays: Mapping[str, Array]) -> None:
    """Load weights and normalizers of a snapshot into a network of the same shape."""
    own = net.state_dict()
    state = {
        name.removeprefix(PREFIX): torch.from_numpy(value.copy())
        for name, value in arrays.items()
        if name.startswith(PREFIX)
    }
    for name, value in own.items():
        if name not in state or state[name].shape != value.shape:
            found = tuple(state[name].shape) if name in state else "nothing"
            raise PhumaError(f"weights do not fit: {name} is {found}, expected {tuple(value.shape)}")
    net.load_state_dict(state)


def all_finite(net: nn.Module) -> bool:
    """Return whether weights and normalizers are finite."""
    return all(bool(torch.isfinite(value).all()) for value in net.state_dict().values())

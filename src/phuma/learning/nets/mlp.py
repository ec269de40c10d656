"""Multilayer perceptrons."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from torch import nn


def mlp(widths: Sequence[int], norm: bool = False, activation: type[nn.Module] = nn.SiLU) -> nn.Sequential:
    """Return linear layers of these widths with an activation between them, after a layer norm if asked for."""
    out: list[nn.Module] = []
    for a, b in pairwise(widths):
        out += [nn.Linear(a, b), *([nn.LayerNorm(b)] if norm else []), activation()]
    return nn.Sequential(*out[: -2 if norm else -1])

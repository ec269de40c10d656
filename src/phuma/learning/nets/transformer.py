"""An encoder of tokens that computes what is asked for alone: its first token.

Layers are those of torch's `TransformerEncoderLayer`: attention and two linear layers with ReLU, a layer norm after
each, no dropout. In the last layer only the first token asks; the others are still asked.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn


class Layer(nn.Module):
    """One layer of the encoder; weights are named as torch names them."""

    def __init__(self, width: int, heads: int, feedforward: int) -> None:
        super().__init__()
        self.heads = heads
        self.in_proj = nn.Linear(width, 3 * width)
        self.out_proj = nn.Linear(width, width)
        self.linear1, self.linear2 = nn.Linear(width, feedforward), nn.Linear(feedforward, width)
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        nn.init.xavier_uniform_(self.in_proj.weight)
        nn.init.zeros_(self.in_proj.bias)
        nn.init.zeros_(self.out_proj.bias)

    def forward(self, tokens: Tensor, hidden: Tensor | None = None, asking: int | None = None) -> Tensor:
        """Return (E, T, width) from tokens (E, T, width); with `asking` the first so many of them alone. `hidden`
        (E, T) bool says which tokens nobody attends to."""
        width = tokens.shape[-1]
        first = tokens[:, :asking]
        if asking is None:
            query, key, value = self.in_proj(tokens).split(width, -1)
        else:
            weight, bias = self.in_proj.weight, self.in_proj.bias
            query = nn.functional.linear(first, weight[:width], bias[:width])
            key, value = nn.functional.linear(tokens, weight[width:], bias[width:]).split(width, -1)
        first = self.norm1(first + self.out_proj(self._attended(query, key, value, hidden)))
        return self.norm2(first + self.linear2(nn.functional.relu(self.linear1(first))))

    def _attended(self, query: Tensor, key: Tensor, value: Tensor, hidden: Tensor | None) -> Tensor:
        """Return (E, Q, width):  softmax(q k^T / sqrt(d)) v  by heads."""
        q, k, v = (x.unflatten(-1, (self.heads, -1)).transpose(1, 2) for x in (query, key, value))
        scores = torch.matmul(q, k.transpose(-1, -2)) / q.shape[-1] ** 0.5
        if hidden is not None:
            scores = scores.masked_fill(hidden[:, None, None, :], -1e9)
        return torch.matmul(scores.softmax(-1), v).transpose(1, 2).flatten(-2)


class Encoder(nn.Module):
    """Layers of attention over tokens, the first of which is the answer."""

    def __init__(self, width: int, layers: int, heads: int, feedforward: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(Layer(width, heads, feedforward) for _ in range(layers))

    def forward(self, tokens: Tensor, hidden: Tensor | None = None) -> Tensor:
        """Return (E, width): what the first of tokens (E, T, width) comes to."""
        for layer in self.layers[:-1]:
            tokens = layer(tokens, hidden)
        return self.layers[-1](tokens, hidden, 1)[:, 0]


def encoder_operations(tokens: int, width: int, layers: int, feedforward: int, plain: bool = False) -> int:
    """Return the multiply-adds of an encoder; `plain` for one that computes all tokens of its last layer."""

    def layer(asking: int) -> int:
        projections = asking * width * width + tokens * 2 * width * width + asking * width * width
        attention = 2 * asking * tokens * width
        return projections + attention + asking * 2 * width * feedforward

    return (layers - 1) * layer(tokens) + layer(tokens if plain else 1)

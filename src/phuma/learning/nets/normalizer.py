"""Running normalization of the inputs of networks."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from phuma.runtime.distributed import moments


class Normalizer(nn.Module):
    """A normalizer (x - mean) / std over the last axis, by the statistics of all that was seen in training; where
    `most` is given, no value is further from 0 than that."""

    mean: Tensor
    var: Tensor
    count: Tensor

    def __init__(self, width: int, most: float | None = None, least: float = 1e-2) -> None:
        super().__init__()
        self.most, self.least = most, least
        self.register_buffer("mean", torch.zeros(width))
        self.register_buffer("var", torch.ones(width))
        self.register_buffer("count", torch.zeros(()))

    @property
    def std(self) -> Tensor:
        """Return the standard deviation, not less than `least`, so that what hardly ever changes is not blown up."""
        return self.var.sqrt() + self.least

    def forward(self, x: Tensor) -> Tensor:
        out = (x - self.mean) / self.std
        return out if self.most is None else out.clamp(-self.most, self.most)

    @torch.no_grad()
    def update(self, x: Tensor) -> None:
        """Update the statistics with these samples, and those of the processes that train beside this one: counts n and
        m, means and variances join by Chan's formula."""
        x = x.reshape(-1, x.shape[-1])
        m, mean, var = moments(len(x), x.mean(0), x.var(0, unbiased=False))
        total = self.count + m
        off = mean - self.mean
        self.var = (self.count * self.var + m * var + off**2 * self.count * m / total) / total
        self.mean = self.mean + off * m / total
        self.count = total

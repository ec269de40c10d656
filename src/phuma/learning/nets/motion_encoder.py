"""The encoders of the coming motion: what is done with a frame, and the plain way to join frames."""

from __future__ import annotations

from abc import ABC, abstractmethod

from torch import Tensor, nn

from phuma.learning.nets.normalizer import Normalizer


class FrameEncoder(nn.Module, ABC):
    """An encoder from frames to (E, out): each frame goes through one layer, and all of them are joined."""

    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.normalizer = Normalizer(width)
        self.frame = nn.Linear(width, hidden)

    def forward(self, future: Tensor) -> Tensor:
        """Return (E, out) the code of future (E, frames, width)."""
        return self.joined(self.each(future))

    def shared(self, features: Tensor, rows: Tensor) -> Tensor:
        """Return (E, out) the code of features[rows], rows (E, frames): those that begin alike are alike, and what
        several environments see is encoded once."""
        first, which = rows[:, 0].unique(return_inverse=True)
        seen = rows.new_empty(len(first), rows.shape[1]).index_copy_(0, which, rows)
        if len(features) > seen.numel():
            whole = self(features[seen])
        else:  # index_select, because the gradient of an embedding or of features[seen] takes three times as long
            whole = self.joined(self.each(features).index_select(0, seen.flatten()).view(*seen.shape, -1))
        return whole.index_select(0, which)

    @abstractmethod
    def each(self, frames: Tensor) -> Tensor:
        """Return (..., hidden) what is made of frames (..., width), each by itself."""

    @abstractmethod
    def joined(self, each: Tensor) -> Tensor:
        """Return (E, out) what is made of (E, frames, hidden)."""


class MotionEncoder(FrameEncoder):
    """The plain encoder: all frames through one layer."""

    def __init__(self, frames: int, width: int, hidden: int, out: int) -> None:
        super().__init__(width, hidden)
        self.whole = nn.Linear(frames * hidden, out)

    def each(self, frames: Tensor) -> Tensor:
        return nn.functional.silu(self.frame(self.normalizer(frames)))

    def joined(self, each: Tensor) -> Tensor:
        return nn.functional.silu(self.whole(each.flatten(1)))

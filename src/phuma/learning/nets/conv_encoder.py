"""The convolutional encoder of the coming motion, and of the past."""

from __future__ import annotations

from itertools import pairwise

from torch import Tensor, nn

from phuma.errors import ConfigError
from phuma.learning.nets.config import ConvSizes
from phuma.learning.nets.motion_encoder import FrameEncoder


class ConvEncoder(FrameEncoder):
    """An encoder by convolutions over time: a layer per frame with ReLU, convolutions with SiLU after each, and a layer
    of all that is left."""

    def __init__(self, frames: int, width: int, sizes: ConvSizes) -> None:
        super().__init__(width, sizes.frame)
        left, layers = frames, []
        for (before, after), kernel, stride in zip(
            pairwise((sizes.frame, *sizes.channels)), sizes.kernels, sizes.strides
        ):
            if left < kernel:
                raise ConfigError(
                    f"{frames} frames are too few for convolutions of {sizes.kernels} frames with strides "
                    f"{sizes.strides}: give more of them, or shorter kernels"
                )
            layers += [nn.Conv1d(before, after, kernel, stride), nn.SiLU()]
            left = (left - kernel) // stride + 1
        self.convolutions = nn.Sequential(*layers)
        self.whole = nn.Linear(left * (sizes.frame, *sizes.channels)[-1], sizes.out)

    def each(self, frames: Tensor) -> Tensor:
        return nn.functional.relu(self.frame(self.normalizer(frames)))

    def joined(self, each: Tensor) -> Tensor:
        return self.whole(self.convolutions(each.transpose(1, 2)).flatten(1))

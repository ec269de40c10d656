"""The best policy of a training by its evaluations, kept with its checkpoints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from phuma.core.rotations import Array
from phuma.learning.algorithms.algorithm import below
from phuma.learning.nets.actor_critic import Actor
from phuma.learning.nets.weights import load_weights, weights_of


class Best:
    """The best policy so far of a stage that may not end with a worse one than it began with."""

    def __init__(self) -> None:
        self.score, self._weights = -1.0, dict[str, Array]()

    def add(self, evaluation: Mapping[str, Any], net: Actor) -> None:
        """Note what a network is worth."""
        score = evaluation["success_0.5"] + evaluation["success_0.15"]
        if score >= self.score:
            self.score, self._weights = score, weights_of(net)

    def put(self, net: Actor) -> None:
        """Put the best weights into a network."""
        load_weights(net, self._weights)

    def snapshot(self) -> dict[str, Array]:
        return {"best.score": np.array(self.score), **{f"best.{name}": value for name, value in self._weights.items()}}

    def restore(self, arrays: Mapping[str, Array]) -> None:
        own = below(arrays, "best.")
        self.score, self._weights = float(own.pop("score")), own

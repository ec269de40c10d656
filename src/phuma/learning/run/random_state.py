"""Save and restore the state of numpy's random generator as an array."""

from __future__ import annotations

import numpy as np

from phuma.core.rotations import Array


def rng_state(rng: np.random.Generator) -> Array:
    """Return a PCG64's state as six 64-bit words."""
    own = rng.bit_generator.state
    state, inc = own["state"]["state"], own["state"]["inc"]
    mask = (1 << 64) - 1
    words = [state >> 64, state & mask, inc >> 64, inc & mask, own["has_uint32"], own["uinteger"]]
    return np.array(words, dtype=np.uint64)


def restore_rng(rng: np.random.Generator, words: Array) -> None:
    """Put a generator into a state that `rng_state` gave."""
    a, b, c, d, has, value = (int(w) for w in words)
    rng.bit_generator.state = {
        "bit_generator": "PCG64",
        "state": {"state": (a << 64) | b, "inc": (c << 64) | d},
        "has_uint32": has,
        "uinteger": value,
    }

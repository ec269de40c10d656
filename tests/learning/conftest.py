"""What tests of learning share: each of the two libraries that its arithmetic serves."""

from __future__ import annotations

import numpy as np
import pytest


@pytest.fixture(params=["numpy", "torch"])
def tensor(request):
    """Turns numbers into single precision of one library, then of the other: laws hold in both."""
    if request.param == "numpy":
        return lambda numbers: np.array(numbers, dtype=np.float32)
    torch = pytest.importorskip("torch")
    return lambda numbers: torch.from_numpy(np.array(numbers, dtype=np.float32))


@pytest.fixture(scope="session")
def g1():
    pytest.importorskip("mujoco")
    from phuma.robots import load_robot

    return load_robot("g1")

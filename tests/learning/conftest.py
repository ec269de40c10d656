"""What tests of learning share: a robot."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="session")
def g1():
    pytest.importorskip("mujoco")
    from phuma.robots import load_robot

    return load_robot("g1")

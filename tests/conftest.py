"""What tests share: a motion, and the real recordings where they are on this machine."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from phuma.body import open_body
from phuma.motion import HumanMotion
from tests.motions import smooth_motion

ROOT = Path(__file__).parents[1]
# Recordings of the CMU motion capture database as BVH, with labels.csv; not part of the project.
CMU = Path(os.environ.get("PHUMA_CMU", ROOT.parent / "shared" / "data" / "cmu"))


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory, monkeypatch):
    """No test reads or writes the user's cache."""
    monkeypatch.setenv("PHUMA_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))


@pytest.fixture(scope="session")
def cmu() -> Path:
    if not (CMU / "labels.csv").exists():
        pytest.skip(f"no CMU recordings at {CMU}; set PHUMA_CMU to the folder that holds them")
    return CMU


@pytest.fixture
def motion() -> HumanMotion:
    return smooth_motion(open_body(), frames=60)

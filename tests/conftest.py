"""What tests share: a motion, and the real recordings where they are on this machine."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from phuma.body import open_body
from phuma.core.human_motion import HumanMotion
from phuma.io.cache import cache_dir
from tests.motions import smooth_motion

ROOT = Path(__file__).parents[1]
# Recordings of the CMU motion capture database as BVH, with labels.csv; not part of the project.
CMU = Path(os.environ.get("PHUMA_CMU", ROOT.parent / "shared" / "data" / "cmu"))

USERS_CACHE = cache_dir()  # before tests get one of their own


LENGTHS = {"slow": 1, "faults": 10, "warp": 20}
"""About how long a test with each mark takes, beside one that is slow"""


def pytest_collection_modifyitems(items):
    """Files whose tests take longest come first, so that no worker waits at the end for one that has just begun.

    Those that simulate by mujoco_warp most come first of all: what one of them has compiled the others find done.
    """
    long: Counter[Path] = Counter()
    for item in items:
        long[item.path] += max((LENGTHS[mark.name] for mark in item.iter_markers() if mark.name in LENGTHS), default=0)
    items.sort(key=lambda item: -long[item.path])


@pytest.fixture(scope="session", autouse=True)
def _bytecode():
    """Processes that tests start store what Python compiles of the package, which else each compiles anew."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
        yield


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory):
    """No test reads or writes the user's cache, nor does what tests share."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PHUMA_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))
        yield


@pytest.fixture(scope="session")
def weights(_own_cache) -> Path:
    """The folder of the pose networks' weights, which `make` fetches, in the tests' own cache."""
    from phuma.video.weights import DETECTOR, LANDMARKERS, folder

    folder().mkdir(parents=True, exist_ok=True)
    for name in (DETECTOR.path.name, LANDMARKERS["full"].path.name):
        users = USERS_CACHE / "weights" / name
        if not users.exists():
            pytest.skip(f"no {users}; run: python -m phuma.video.weights")
        if not (folder() / name).exists():
            (folder() / name).symlink_to(users)
    return folder()


@pytest.fixture(scope="session")
def cmu() -> Path:
    if not (CMU / "labels.csv").exists():
        pytest.skip(f"no CMU recordings at {CMU}; set PHUMA_CMU to the folder that holds them")
    return CMU


@pytest.fixture
def motion() -> HumanMotion:
    return smooth_motion(open_body(), frames=60)


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

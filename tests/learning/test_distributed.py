"""Two processes that train together learn what one learns from the samples of both."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("mujoco")

from phuma.runtime.distributed import average, averages, decided, joined, number, processes
from tests.conftest import ROOT

pytestmark = pytest.mark.slow
TORCHRUN = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node"]


def torchrun(count: int, *args: object) -> subprocess.CompletedProcess[str]:
    """What processes say that torchrun starts; they find phuma and the tests where these are."""
    paths = os.pathsep.join([str(ROOT / "src"), str(ROOT), os.environ.get("PYTHONPATH", "")])
    return subprocess.run(
        [*TORCHRUN, str(count), "-m", *map(str, args)], capture_output=True, text=True, check=False, cwd=ROOT,
        env={**os.environ, "PYTHONPATH": paths, "OMP_NUM_THREADS": "1"},
    )  # fmt: skip


@pytest.mark.parametrize("algorithm", ["ppo", "distillation"])
def test_an_update_is_that_of_one_process_with_the_whole_batch(tmp_path, algorithm):
    """Weights, learning rate and what is known of the observations: over several rounds, to single precision."""
    for count in (1, 2):
        done = torchrun(count, "tests.learning.together", tmp_path / str(count), algorithm)
        assert done.returncode == 0, done.stderr
    alone, one, other = (dict(np.load(tmp_path / f"{name}.npz")) for name in ("1_0", "2_0", "2_1"))
    assert alone.keys() == one.keys()
    for name, value in one.items():
        np.testing.assert_array_equal(value, other[name], err_msg=name)
        if not (name.endswith("count") and "encoder" in name):  # both processes see the frames of the references
            np.testing.assert_allclose(value, alone[name], rtol=2e-4, atol=2e-6, err_msg=name)
    fresh = dict(np.load(tmp_path / "1_0.npz"))
    assert any("normalizers" in name and name.endswith("count") and value == 96 for name, value in fresh.items())


def test_a_process_alone_does_as_if_there_were_no_others():
    with joined("cpu") as device:
        assert device == "cpu"
        assert (number(), processes(), decided(0.5), average(2.0)) == (0, 1, 0.5, 2.0)
        assert averages({"a": 1.0}) == {"a": 1.0}

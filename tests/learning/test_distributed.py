"""Two processes that train together learn what one learns from the samples of both."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("mujoco")

from phuma.cli.main import main
from phuma.learning.algorithms import ppo
from phuma.learning.run import runner
from phuma.learning.run.folder import RunFolder
from phuma.learning.run.runner import StageRunner
from phuma.pipelines.evaluate_policy import load_policy
from phuma.runtime.distributed import average, averages, decided, joined, number, processes
from tests.cli.tracking_dataset import STAGE, STEPS, make_dataset
from tests.conftest import ROOT
from tests.learning.sample_motions import library
from tests.learning.small_nets import STAGE as SMALL_STAGE
from tests.learning.small_nets import small_cfg
from tests.learning.together import ALGORITHMS, ENVIRONMENTS, learn, made

pytestmark = pytest.mark.slow
TORCHRUN = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node"]


def torchrun(count: int, *args: object) -> subprocess.CompletedProcess[str]:
    """What processes say that torchrun starts; they find phuma and the tests where these are."""
    paths = os.pathsep.join([str(ROOT / "src"), str(ROOT), os.environ.get("PYTHONPATH", "")])
    return subprocess.run(
        [*TORCHRUN, str(count), "-m", *map(str, args)], capture_output=True, text=True, check=False, cwd=ROOT,
        env={**os.environ, "PYTHONPATH": paths, "OMP_NUM_THREADS": "1"},
    )  # fmt: skip


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    """Where two processes have left what they learned together."""
    out = tmp_path_factory.mktemp("together") / "two"
    done = torchrun(2, "tests.learning.together", out)
    assert done.returncode == 0, done.stderr
    return out


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_an_update_is_that_of_one_process_with_the_whole_batch(two, algorithm):
    """Weights, learning rate and what is known of the observations: over several rounds, to single precision."""
    alone = learn(made(algorithm, ENVIRONMENTS), slice(None))
    one, other = (dict(np.load(f"{two}_{algorithm}_{number}.npz")) for number in (0, 1))
    assert alone.keys() == one.keys()
    for name, value in one.items():
        np.testing.assert_array_equal(value, other[name], err_msg=name)
        if not (name.endswith("count") and "encoder" in name):  # both processes see the frames of the references
            np.testing.assert_allclose(value, alone[name], rtol=2e-4, atol=2e-6, err_msg=name)
    assert any("normalizers" in name and name.endswith("count") and value == 96 for name, value in alone.items())


def test_a_run_of_two_processes_is_a_run_and_goes_on(tmp_path):
    """The first process alone writes and says what happens; steps are those of both; it goes on with two or one."""
    dataset, out = make_dataset(tmp_path / "d"), tmp_path / "run"
    options = ("tests.learning.train_tiny", "train", dataset, "--out", out, "--steps")
    done = torchrun(2, *options, 4 * STEPS, "--from", "scratch", "--preset", "tiny")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("The run is in") == 1
    folder = RunFolder(out)
    assert folder.reached()[0] == 4 * STEPS
    assert int(folder.load(STAGE)["counts"][0]) == 2
    assert len(list(out.glob("events.*"))) == 1
    done = torchrun(2, *options, 6 * STEPS, "--resume")
    assert done.returncode == 0, done.stderr
    assert folder.reached()[0] == 6 * STEPS
    assert main([str(each) for each in (*options[1:], 7 * STEPS, "--resume")]) == 0
    assert folder.reached()[0] == 7 * STEPS
    assert load_policy(out).info.steps == 7 * STEPS
    done = torchrun(2, *options, STEPS)
    assert done.returncode != 0
    assert "holds a run already" in done.stderr


def test_each_process_has_environments_of_its_own_and_the_same_network(g1, monkeypatch):
    """At first, and when it goes on from the first one's checkpoint."""
    motions = library(g1)
    first = StageRunner(motions, small_cfg(), SMALL_STAGE, threads=1)
    first.iterate()
    monkeypatch.setattr(runner, "number", lambda: 1)
    second = StageRunner(motions, small_cfg(), SMALL_STAGE, threads=1)
    assert not np.array_equal(first.simulation.qpos, second.simulation.qpos)
    second.restore(first.snapshot())
    one, other = first.snapshot(), second.snapshot()
    own = {name for name in one if not np.array_equal(one[name], other[name])}
    assert {"rng", "generator", "env.frame"} <= own
    assert all(name.startswith(("env.", "observation.")) for name in own - {"rng", "generator"}), own


def test_the_learning_rate_follows_the_change_of_the_policy_in_all_processes(monkeypatch):
    """Were the mean over all a large one, the rate would fall at each of the nine steps, whatever this one's is."""
    monkeypatch.setattr(ppo, "average", lambda kl, device: 1.0)
    algorithm = made("ppo", ENVIRONMENTS)
    before = algorithm.rate
    assert learn(algorithm, slice(None))["rate"] == pytest.approx(before / 1.5**9)


def test_a_process_alone_does_as_if_there_were_no_others():
    with joined("cpu") as device:
        assert device == "cpu"
        assert (number(), processes(), decided(0.5), average(2.0)) == (0, 1, 0.5, 2.0)
        assert averages({"a": 1.0}) == {"a": 1.0}

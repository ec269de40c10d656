"""Training: repeatable, interruptible, and it learns."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("mujoco")
pytest.importorskip("numba")

import torch

from phuma.core import rotations as rot
from phuma.errors import PhumaError
from phuma.learning.algorithms.ppo import advantages
from phuma.learning.nets.weights import load_weights
from phuma.learning.run import runner as runner_module
from phuma.learning.run.folder import RunFolder, run_info
from phuma.learning.run.runner import Diverged, StageRunner
from phuma.sim import events
from tests.learning.sample_motions import library
from tests.learning.small_nets import STAGE, small_cfg


@pytest.fixture(scope="module")
def small(g1):
    return library(g1)


@pytest.fixture
def train(small):
    def make(threads=1, motions=small, **changes):
        return StageRunner(motions, small_cfg(**changes), STAGE, threads=threads)

    return make


def same(one, other):
    """Whether two runners are alike in all that they are."""
    a, b = one.snapshot(), other.snapshot()
    return a.keys() == b.keys() and all(np.array_equal(a[name], b[name]) for name in a)


def fell(runner, *rows):
    """These robots lie on their backs now."""
    rows, env = np.array(rows), runner.env
    state = env.state[rows]
    flat = np.tile(rot.from_axis("y", -np.pi / 2), (len(rows), 1))
    env.simulation.reset(rows, replace(state, root_pos=state.root_pos * [1, 1, 0.2], root_quat=flat))


@pytest.mark.parametrize("randomize", [False, True])
@pytest.mark.slow
def test_a_seed_has_one_outcome_and_another_seed_another(train, randomize):
    one, again, other = (train(seed=seed, randomize=randomize) for seed in (0, 0, 1))
    for _ in range(3):
        told = one.iterate()
        assert told == again.iterate()
        assert told != other.iterate()
    assert same(one, again)
    assert not same(one, other)


def test_what_happens_to_robots_grows_over_a_share_of_the_training(train):
    runner = train(pushes=True, start=1.0, rise=0.5)
    sizes = []
    for progress in (0.0, 0.25, 0.5, 0.9):
        runner.iterate(progress)
        sizes.append((runner.env.cfg.start, runner.env.cfg.push_linear[0] / events.PUSH_LINEAR[0]))
    np.testing.assert_allclose(sizes, [(x, x) for x in (0.25, 0.625, 1.0, 1.0)])
    full = train(pushes=True, start=1.0)
    full.iterate(0.0)
    assert (full.env.cfg.start, full.env.cfg.push_linear) == (1.0, None)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("randomize", [False, True], ids=["alike", "varied"])
@pytest.mark.slow
def test_a_run_goes_on_from_its_checkpoint_as_if_it_had_not_stopped(
    train, g1, tmp_path, monkeypatch, threads, randomize
):
    """Through a file, in a runner with another past, at every iteration; robots are pushed often."""
    monkeypatch.setattr(events, "PUSH_EVERY", (0.04, 0.1))
    one, other = train(randomize=randomize), train(threads, randomize=randomize)
    other.iterate()
    other.iterate()
    folder = RunFolder(tmp_path / "run")
    folder.begin(run_info(g1, small_cfg(randomize=randomize), 1, {}, ""))
    for _ in range(3):
        one.iterate()
        folder.save(STAGE, one.snapshot())
        other.restore(folder.load(STAGE))
        told = one.iterate()
        assert other.iterate() == told
        assert same(one, other)
        assert (one.iterations, one.steps) == (other.iterations, other.steps)
    assert one.iterations == 6
    assert one.steps == 6 * 4 * 6


def test_a_snapshot_does_not_change_afterwards(train):
    one = train()
    one.iterate()
    taken = one.snapshot()
    kept = {name: value.copy() for name, value in taken.items()}
    one.iterate()
    for name, value in kept.items():
        np.testing.assert_array_equal(taken[name], value, err_msg=name)


def test_what_was_collected_is_what_the_policy_did(train):
    one = train()
    before = one.observation
    one._collect()
    one.algorithm._judge(one.observation)
    own, net = one.algorithm.storage, one.net
    for name, group in before.items():
        assert torch.equal(own.observation[name][0], group)
    flat = own.flat()
    with torch.no_grad():
        torch.testing.assert_close(own["mean"].flatten(0, 1), net.mean(flat), rtol=1e-4, atol=1e-5)
        torch.testing.assert_close(own["value"].flatten(), net.value(flat))
        found, returns = advantages(own["reward"], own["value"], net.value(one.observation), own["done"], 0.9, 0.8)
    torch.testing.assert_close(own["advantage"], (found - found.mean()) / found.std())
    torch.testing.assert_close(own["target"], returns)
    off = (own["action"] - own["mean"]) / net.log_std.detach().exp()
    assert 0.9 < float(off.std()) < 1.1
    np.testing.assert_array_equal(one.env.action[own["done"][-1] == 0], own["action"][-1][own["done"][-1] == 0])
    # What is seen next holds what was done before, where the episode went on.
    goes_on = own["done"][:-1] == 0
    joints = own["action"].shape[-1]
    assert torch.equal(own.observation["proprioception"][1:, :, :joints][goes_on], own["action"][:-1][goes_on])


def test_only_what_was_cut_short_is_credited_with_what_might_have_come(train):
    """The critic expects 10 everywhere: episodes that ran out of time get gamma times that, the one that fell does
    not."""

    def collected(expected):
        one = train()
        one.env.longest = 3
        for part in one.net.critic.layers[-1].parameters():
            part.data.zero_()
        one.net.critic.layers[-1].bias.data.fill_(expected)
        fell(one, 1)
        one._collect()
        return one.algorithm.storage

    own, plain = collected(10.0), collected(0.0)
    assert own["done"][0].tolist() == [0, 1, 0, 0]
    assert own["done"][2].tolist()[0] == 1
    assert own["done"][3].tolist()[1] == 1, "three steps after its fall"
    credit = own["reward"] - plain["reward"]
    cut_short = own["done"].clone()
    cut_short[0, 1] = 0
    torch.testing.assert_close(credit, 9.0 * cut_short, atol=1e-5, rtol=0)


def test_first_actions_stay_near_nought_as_long_as_nothing_was_learned(train):
    """Also where first states are all alike in something that changes later, as the last action does."""
    one = train(horizon=12)
    one._collect()
    assert one.algorithm.storage["mean"].abs().max() < 0.2


def test_what_is_told_is_finite_and_plain(train):
    told = train().iterate()
    assert {"reward", "failed_share", "action_std", "value_loss", "kl", "learning_rate"} <= told.keys()
    assert all(type(value) is float and np.isfinite(value) for value in told.values())
    assert 0 <= told["failed_share"] <= 1


def test_normalizers_see_all_that_the_robots_saw(train):
    one = train()
    for _ in range(2):
        one.iterate()
    count = one.net.actor.normalizers["goal"].count
    assert count == 2 * 4 * 6
    assert one.net.critic.normalizers["critic"].count == count


def test_a_large_library_is_learned_from_in_parts(train, small, monkeypatch):
    """As many motions at a time as may be; after a while others take their place."""
    monkeypatch.setattr(runner_module, "MOST_FRAMES", 120)
    monkeypatch.setattr(runner_module, "REFRESH", 2)
    one = train()
    used = []
    for _ in range(12):
        one.iterate()
        frames = sum(len(small.motions[clip]) for clip in one._clips)
        assert frames == len(one.env.references) == len(one.net.features["future"]) <= 120
        used.append(tuple(one._clips.tolist()))
    assert all(used[i] == used[i + 1] for i in range(0, 12, 2))
    assert len(set(used)) > 1
    assert set(np.concatenate(used)) == {0, 1, 2}


@pytest.mark.slow
def test_a_library_in_parts_goes_on_from_a_checkpoint_too(train, monkeypatch):
    monkeypatch.setattr(runner_module, "MOST_FRAMES", 90)
    monkeypatch.setattr(runner_module, "REFRESH", 3)
    one, other = train(), train()
    for _ in range(5):
        one.iterate()
        other.restore(one.snapshot())
        one.iterate()
        other.iterate()
        assert same(one, other)


def test_a_motion_larger_than_what_may_be_learned_from_at_a_time_is_taken_alone(train, monkeypatch):
    monkeypatch.setattr(runner_module, "MOST_FRAMES", 10)
    one = train()
    assert len(one._clips) == 1
    one.iterate()


def test_a_small_library_is_learned_from_whole(train, monkeypatch):
    monkeypatch.setattr(runner_module, "REFRESH", 1)
    one = train()
    for _ in range(3):
        task = one.env.references
        one.iterate()
        assert one.env.references is task, "and nobody begins anew"
    assert one._clips.tolist() == [0, 1, 2]


@pytest.mark.parametrize("part", ["actor", "critic"])
def test_non_finite_values_stop_the_training(train, part):
    one = train()
    one.iterate()
    getattr(one.net, part).layers[0].weight.data[0, 0] = torch.nan
    with pytest.raises(Diverged, match=r"diverged in iteration 1: .*another seed"):
        one.iterate()
    assert one.iterations == 1


def test_weights_that_do_not_fit_are_named(train):
    one, other = train(), train(hidden=(16, 8))
    with pytest.raises(
        PhumaError, match=r"weights do not fit: actor.layers.2.weight is \(8, 16\), expected \(16, 16\)"
    ):
        load_weights(one.net, other.snapshot())
    arrays = {name: value for name, value in one.snapshot().items() if name != "net.log_std"}
    with pytest.raises(PhumaError, match=r"log_std is nothing"):
        load_weights(one.net, arrays)


def test_the_sampler_learns_of_failures(train):
    one = train()
    fell(one, 0, 2)
    frames = one.env.frame[[0, 2]] + 1
    one._collect()
    assert (one.sampler.failed[one.sampler.bin_of[frames]] > 0).all()
    assert one.sampler.passed.sum() > 0


@pytest.mark.slow
def test_a_little_training_teaches_the_critic_and_the_actor(train):
    """What robots get comes to be expected, and trying around, which costs at first, becomes less."""
    one = train(environments=24, horizon=8, epochs=4, init_std=0.5, critic_rate=5e-3, entropy=0.0)
    told = [one.iterate() for _ in range(12)]
    first, last = (np.mean([each["value_loss"] for each in some]) for some in (told[:2], told[-3:]))
    assert last < 0.6 * first
    assert told[-1]["action_std"] < 0.49


@pytest.mark.warp
@pytest.mark.parametrize("randomize", [False, True])
def test_on_mujoco_warp_the_same_training_takes_its_course(train, monkeypatch, randomize):
    pytest.importorskip("mujoco_warp")
    from phuma.sim.mujoco_warp import WarpSimulation

    native = train(randomize=randomize)

    def on_warp(library, cfg, device, threads, randomization):
        return WarpSimulation(library.robot, cfg.environments, cfg.substeps, device, randomization)

    monkeypatch.setattr(runner_module, "make_simulation", on_warp)
    other = train(randomize=randomize)
    assert isinstance(other.env.simulation, WarpSimulation)
    for _ in range(2):
        a, b = native.iterate(), other.iterate()
        assert b["reward"] == pytest.approx(a["reward"], abs=1e-3)
        assert b["failed_share"] == a["failed_share"]
        torch.testing.assert_close(
            other.algorithm.storage["reward"], native.algorithm.storage["reward"], atol=5e-3, rtol=0
        )
    again = train(randomize=randomize)
    again.restore(other.snapshot())
    torch.testing.assert_close(again.net.state_dict(), other.net.state_dict())

"""Distillation by hand: what a label weighs, what is remembered, and what is learned of it."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch")

import torch

from phuma.learning.algorithms.algorithm import Outcome
from phuma.learning.algorithms.config import DistillationCfg, PPOCfg
from phuma.learning.algorithms.distillation import (
    LARGEST,
    Distillation,
    Label,
    annealed_rate,
    imitation_loss,
    norm_loss,
    trust,
)
from phuma.learning.algorithms.memory import Memory
from phuma.learning.nets.actor_critic import Actor, GroupNet
from phuma.learning.nets.config import MLPCfg
from phuma.learning.recipes.beyondmimic import DIFFERENCE

SAMPLES, SMALL = 64, DistillationCfg(horizon=2, updates=4, batch=32, memory=256)


def test_the_loss_is_the_weighted_mean_squared_difference():
    action, label = torch.tensor([[1.0, 2.0], [0.0, 0.0]]), torch.tensor([[0.0, 2.0], [3.0, 0.0]])
    assert float(imitation_loss(action, label, torch.ones(2))) == (1 + 9) / 4
    assert float(imitation_loss(action, label, torch.tensor([1.0, 0.5]))) == (1 + 4.5) / 4


def test_a_label_counts_half_where_being_off_costs_the_tolerance():
    assert trust(torch.tensor([0.0, 300.0, 900.0]), 300.0).tolist() == [1.0, 0.5, 0.25]


def test_the_learning_rate_stays_and_then_falls_along_a_line():
    assert annealed_rate(1e-3, 0.0) == annealed_rate(1e-3, 0.3) == 1e-3
    assert annealed_rate(1e-3, 0.65) == pytest.approx(0.5e-3)
    assert annealed_rate(1e-3, 1.0) == annealed_rate(1e-3, 2.0) == pytest.approx(0.05e-3)


def filled(room: int, *parts: range, seed: int = 0) -> Memory:
    memory = Memory(room, {"own": torch.zeros(1, 2), "rows": torch.zeros(1, 3, dtype=torch.long)}, {"label": ()})
    generator = torch.Generator().manual_seed(seed)
    for part in parts:
        values = torch.tensor(list(part), dtype=torch.float)
        own = {"own": values[:, None].repeat(1, 2), "rows": values[:, None].repeat(1, 3).long()}
        memory.add(own, generator, label=values)
    return memory


def test_a_memory_with_room_holds_all_and_a_full_one_as_many_as_it_can():
    for parts, held in (([range(3), range(3, 5)], {0, 1, 2, 3, 4}), ([range(3), range(3, 70)], None)):
        memory = filled(5, *parts)
        assert len(memory) == 5
        batch = memory.draw(200, torch.Generator().manual_seed(0))
        kept = set(batch.fields["label"].tolist())
        assert len(kept) == 5
        assert held in (None, kept)
        assert torch.equal(batch.observation["own"][:, 1], batch.fields["label"])
        assert torch.equal(batch.observation["rows"][:, 2].float(), batch.fields["label"])
        assert batch.observation["rows"].dtype == torch.long


def test_each_sample_ever_added_has_the_same_chance_to_be_in_a_full_memory():
    kept = np.zeros(30)
    for seed in range(2000):
        memory = filled(6, range(4), range(4, 12), range(12, 30), seed=seed)
        kept[memory.snapshot()["field.label"].astype(int)] += 1
    assert kept.sum() == 6 * 2000
    np.testing.assert_allclose(kept / 2000, 6 / 30, atol=4 * (0.2 * 0.8 / 2000) ** 0.5)


def test_a_memory_that_forgot_begins_anew():
    memory = filled(5, range(9))
    memory.forget()
    memory.add({"own": torch.zeros(1, 2), "rows": torch.zeros(1, 3, dtype=torch.long)}, torch.Generator(),
               label=torch.ones(1))  # fmt: skip
    assert set(memory.draw(9, torch.Generator()).fields["label"].tolist()) == {1.0}


def test_a_memory_keeps_what_was_observed_to_a_thousandth_in_half_the_room():
    values = torch.tensor([[0.0, 1e-3, -0.7853982, 31.41593, 812.5, -3e6]])
    memory = Memory(4, {"own": values}, {"label": ()})
    memory.add({"own": values}, torch.Generator(), label=torch.ones(1))
    kept = memory.draw(1, torch.Generator()).observation["own"]
    assert kept.dtype == torch.float32
    torch.testing.assert_close(kept[:, :5], values[:, :5], rtol=1e-3, atol=1e-6)
    assert float(kept[0, 5]) == pytest.approx(-6e4, rel=1e-3)  # finite, whatever a fall has measured
    assert memory.snapshot()["own"].itemsize == 2


@pytest.mark.parametrize("parts", [(range(3),), (range(3), range(3, 9))], ids=["not yet full", "full"])
def test_a_memory_that_was_stored_is_the_same(parts):
    memory, again = filled(5, *parts), filled(5)
    again.restore(memory.snapshot())
    for each in (memory, again):
        more = {"own": torch.full((2, 2), 50.0), "rows": torch.full((2, 3), 50)}
        each.add(more, torch.Generator().manual_seed(1), label=torch.full((2,), 50.0))
    one, other = memory.snapshot(), again.snapshot()
    assert one.keys() == other.keys()
    for name, values in one.items():
        np.testing.assert_array_equal(values, other[name])


@pytest.fixture
def distil(g1):
    def make(teacher, cfg=SMALL):
        torch.manual_seed(0)
        net = Actor(GroupNet((DIFFERENCE,), g1, MLPCfg(hidden=(32,)), g1.n_joints))
        observation = {"difference": torch.zeros(SAMPLES, DIFFERENCE.width(g1))}
        return Distillation(net, cfg, observation, torch.Generator().manual_seed(0), teacher)

    return make


def pulls_back(observation):
    """A teacher whose action is the opposite of how far each joint is off, and whom nothing costs."""
    off = observation["difference"][:, 6:35]
    return Label(-off, torch.zeros(len(off)))


def learn(algorithm, iterations, generator):
    nothing = Outcome(*torch.zeros(3, SAMPLES), None)
    for n in range(iterations):
        algorithm.progress = n / iterations
        for _ in range(algorithm.cfg.horizon):
            observation = {"difference": torch.randn(SAMPLES, 64, generator=generator)}
            action = algorithm.act(observation)
            algorithm.record(observation, action, nothing)
        told = algorithm.update(observation)
        algorithm.net.see(algorithm.storage.flat())
    return told


def test_a_student_learns_what_its_teacher_does(distil):
    algorithm = distil(pulls_back, DistillationCfg(horizon=2, updates=16, batch=64, memory=4096))
    generator = torch.Generator().manual_seed(1)
    learn(algorithm, 60, generator)
    fresh = {"difference": torch.randn(256, 64, generator=generator)}
    with torch.no_grad():
        off = algorithm.net.mean(fresh) - pulls_back(fresh).action
    assert float((off**2).mean()) < 0.2


def test_the_policy_is_the_average_of_the_student_s_weights(distil):
    """Without an average it is the student."""
    generator = torch.Generator().manual_seed(1)
    alone, averaged = distil(pulls_back, DistillationCfg(2, average=0.0, updates=1, batch=8)), distil(pulls_back)
    learn(alone, 1, generator)
    for mean, own in zip(alone.net.actor.parameters(), alone.student.actor.parameters()):
        assert torch.equal(mean, own)
    before = [p.clone() for p in averaged.net.actor.parameters()]
    averaged.cfg = DistillationCfg(2, average=0.75, updates=1, batch=8)
    learn(averaged, 1, generator)
    for old, mean, own in zip(before, averaged.net.actor.parameters(), averaged.student.actor.parameters()):
        torch.testing.assert_close(mean, 0.75 * old + 0.25 * own)


def test_a_label_that_no_motor_can_follow_is_cut(distil):
    algorithm = distil(
        lambda o: Label(torch.full((len(o["difference"]), 29), -99.0), torch.zeros(len(o["difference"])))
    )
    learn(algorithm, 1, torch.Generator().manual_seed(1))
    assert float(algorithm.storage["label"].min()) == float(algorithm.storage["label"].max()) == -LARGEST


def test_a_training_that_was_stored_goes_on_as_it_would_have(distil):
    one, other = distil(pulls_back), distil(pulls_back)
    learn(one, 3, torch.Generator().manual_seed(1))
    other.restore(one.snapshot())
    other.net.load_state_dict(one.net.state_dict())
    other.generator.set_state(one.generator.get_state())
    for each in (one, other):
        learn(each, 2, torch.Generator().manual_seed(2))
    a, b = one.snapshot(), other.snapshot()
    assert a.keys() == b.keys()
    for name, values in a.items():
        np.testing.assert_array_equal(values, b[name], err_msg=name)


def test_the_more_motions_the_fewer_steps_of_the_optimizer_down_to_what_any_number_needs():
    steps = [DistillationCfg().for_motions(n).updates for n in (1, 4, 9, 64, 1000)]
    assert steps == [96, 48, 32, 16, 16]
    assert DistillationCfg(updates=8).for_motions(1000).updates == 8
    assert PPOCfg().for_motions(9) == PPOCfg()


def test_by_norm_the_loss_is_the_weighted_mean_length_of_the_difference():
    action, label = torch.tensor([[3.0, 4.0], [0.0, 0.0]]), torch.tensor([[0.0, 0.0], [0.0, 1.0]])
    assert float(norm_loss(action, label, torch.ones(2))) == 3
    assert float(norm_loss(action, label, torch.tensor([0.5, 0.0]))) == 1.25

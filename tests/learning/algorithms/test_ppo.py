"""Proximal policy optimisation against cases computed by hand."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

import torch
from torch.distributions import Independent, Normal, kl_divergence

from phuma.learning.algorithms.algorithm import Outcome
from phuma.learning.algorithms.ppo import PPO, RATES, adapted_rate, advantages, divergence, log_likelihood, policy_loss
from tests.learning.small_nets import JOINTS, any_observation, small_net, small_stage

GAMMA, LAM = 0.9, 0.8
REWARD = torch.tensor([[1.0, 2.0], [3.0, -1.0], [0.5, 4.0]])
VALUE = torch.tensor([[0.1, 0.7], [0.2, -0.3], [0.4, 0.6]])
LAST = torch.tensor([5.0, 7.0])
NEVER = torch.zeros(3, 2)


def any_numbers(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def test_advantages_by_hand():
    """Environment 0 is never interrupted; environment 1's episode ends at step 1, and what follows does not count."""
    done = torch.tensor([[0.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    found, returns = advantages(REWARD, VALUE, LAST, done, GAMMA, LAM)
    d2 = 0.5 + 0.9 * 5.0 - 0.4
    d1 = 3.0 + 0.9 * 0.4 - 0.2
    d0 = 1.0 + 0.9 * 0.2 - 0.1
    a1 = d1 + 0.72 * d2
    assert found[:, 0].tolist() == pytest.approx([d0 + 0.72 * a1, a1, d2])
    e2 = 4.0 + 0.9 * 7.0 - 0.6
    e1 = -1.0 - (-0.3)
    e0 = 2.0 + 0.9 * (-0.3) - 0.7
    assert found[:, 1].tolist() == pytest.approx([e0 + 0.72 * e1, e1, e2])
    torch.testing.assert_close(returns, found + VALUE)


def test_an_end_at_the_last_step_cuts_what_would_have_come():
    done = torch.tensor([[0.0, 0.0], [0.0, 0.0], [1.0, 0.0]])
    found, _ = advantages(REWARD, VALUE, LAST, done, GAMMA, LAM)
    assert found[2].tolist() == pytest.approx([0.5 - 0.4, 4.0 + 0.9 * 7.0 - 0.6])


def test_an_episode_cut_short_is_as_if_it_went_on_to_what_it_saw_last():
    """Its reward holds gamma V of that; its end keeps the next episode out."""
    truncated = REWARD.clone()
    truncated[1, 0] += GAMMA * 2.5
    done = torch.tensor([[0.0, 0.0], [1.0, 0.0], [0.0, 0.0]])
    found, _ = advantages(truncated, VALUE, LAST, done, GAMMA, LAM)
    alone, _ = advantages(REWARD[:2], VALUE[:2], torch.tensor([2.5, 0.4]), NEVER[:2], GAMMA, LAM)
    torch.testing.assert_close(found[:2, 0], alone[:, 0])


def test_with_lambda_nought_it_is_the_error_of_one_step():
    found, _ = advantages(REWARD, VALUE, LAST, NEVER, GAMMA, 0.0)
    after = torch.cat([VALUE[1:], LAST[None]])
    torch.testing.assert_close(found, REWARD + GAMMA * after - VALUE)


def test_with_lambda_one_returns_are_the_discounted_sums():
    _, returns = advantages(REWARD, VALUE, LAST, NEVER, GAMMA, 1.0)
    ahead = LAST
    for t in (2, 1, 0):
        ahead = REWARD[t] + GAMMA * ahead
        torch.testing.assert_close(returns[t], ahead)


def test_a_perfect_critic_leaves_no_advantage():
    value = torch.empty(3, 2)
    ahead = LAST
    for t in (2, 1, 0):
        value[t] = ahead = REWARD[t] + GAMMA * ahead
    found, _ = advantages(REWARD, value, LAST, NEVER, GAMMA, LAM)
    torch.testing.assert_close(found, NEVER, atol=1e-5, rtol=0)


def test_likelihood_is_that_of_independent_normal_actions():
    action, mean, log_std = any_numbers(6, 3), any_numbers(6, 3, seed=1), any_numbers(3, seed=2)
    expected = Independent(Normal(mean, log_std.exp()), 1).log_prob(action)
    torch.testing.assert_close(log_likelihood(action, mean, log_std), expected)
    at_mean = log_likelihood(torch.zeros(1, 1), torch.zeros(1, 1), torch.zeros(1))
    assert float(at_mean) == pytest.approx(-0.9189385)  # -log sqrt(2 pi)


def test_divergence_is_that_from_the_old_policy_to_the_new():
    mean, old_mean = any_numbers(6, 3), any_numbers(6, 3, seed=1)
    log_std, old_log_std = any_numbers(3, seed=2), any_numbers(3, seed=3)
    old, new = (Independent(Normal(m, s.exp().expand(6, 3)), 1) for m, s in ((old_mean, old_log_std), (mean, log_std)))
    torch.testing.assert_close(divergence(mean, log_std, old_mean, old_log_std), kl_divergence(old, new).mean())
    shifted = divergence(torch.tensor([[3.0, 0.0]]), torch.zeros(2), torch.zeros(1, 2), torch.zeros(2))
    assert float(shifted) == pytest.approx(4.5)
    assert float(divergence(mean, log_std, mean, log_std)) == 0


def gain(ratio, advantage):
    """What the policy's loss pulls a ratio of likelihoods by, to where it grows."""
    own = torch.tensor([ratio], requires_grad=True)
    policy_loss(own, torch.tensor([advantage]), 0.2).backward()
    return -float(own.grad)


def test_beyond_the_clip_nothing_is_gained_by_going_further():
    assert gain(1.3, 2.0) == 0
    assert gain(0.7, -2.0) == 0


def test_but_what_went_the_wrong_way_is_pulled_back_from_anywhere():
    assert gain(0.7, 2.0) == 2
    assert gain(1.3, -2.0) == -2


def test_within_the_clip_the_gain_is_the_advantage():
    assert gain(1.1, 2.0) == gain(0.9, 2.0) == 2
    assert gain(1.1, -2.0) == gain(0.9, -2.0) == -2


def test_the_loss_is_the_mean_of_the_lesser_gains():
    ratio, advantage = torch.tensor([1.5, 0.5, 1.5, 1.0]), torch.tensor([1.0, 1.0, -1.0, 3.0])
    assert float(policy_loss(ratio, advantage, 0.2)) == pytest.approx(-(1.2 + 0.5 - 1.5 + 3.0) / 4)


def test_the_learning_rate_falls_where_the_policy_changes_too_much_and_rises_where_too_little():
    assert adapted_rate(1e-3, 0.021, 0.01) < 1e-3
    assert adapted_rate(1e-3, 0.004, 0.01) > 1e-3
    for kl in (0.0051, 0.01, 0.0199):
        assert adapted_rate(1e-3, kl, 0.01) == 1e-3


def test_the_learning_rate_stays_between_its_bounds_and_where_nothing_was_learned_yet():
    low, high = RATES
    rate = 1e-3
    for _ in range(100):
        rate = adapted_rate(rate, 1.0, 0.01)
    assert rate == low
    for _ in range(100):
        rate = adapted_rate(rate, 1e-4, 0.01)
    assert rate == high
    assert adapted_rate(1e-3, 0.0, 0.01) == 1e-3


WANTED = torch.tensor([0.5, -0.3, 0.2])
ENVIRONMENTS, HORIZON = 64, 4


def nearness(action):
    return -((action - WANTED) ** 2).sum(-1)


def bandit(**values):
    """A policy that observes always the same, and what it observes."""
    stage = small_stage(horizon=HORIZON, **values)
    seen = {name: group[:1].expand(ENVIRONMENTS, *group.shape[1:]) for name, group in any_observation(1).items()}
    net = small_net(stage)
    return PPO(net, stage.algorithm, seen, torch.Generator().manual_seed(0)), seen


def tried(ppo, seen, reward=nearness):
    """Let it act for an update; `reward` is of actions, and an episode lasts a step."""
    ended, never = torch.ones(ENVIRONMENTS, dtype=torch.bool), torch.zeros(ENVIRONMENTS, dtype=torch.bool)
    for _ in range(HORIZON):
        action = ppo.act(seen)
        ppo.record(seen, action, Outcome(reward(action), ended, never, None))


def with_advantage(ppo, value):
    """Updates in which every action was as good as every other."""
    judge = ppo._judge

    def judged(observation):
        judge(observation)
        ppo.storage["advantage"][:] = value

    ppo._judge = judged


def updated(updates=1, reward=nearness, change=lambda ppo: None, **values):
    """A network, a copy of what it was, and what the last update told."""
    ppo, seen = bandit(weight_decay=0.0, entropy=0.0, **values)
    net = ppo.net
    before = {name: value.clone() for name, value in net.state_dict().items()}
    change(ppo)
    for _ in range(updates):
        tried(ppo, seen, reward)
        told = ppo.update(seen)
    return net, before, told


def moved(net, before, part):
    """Whether any weight of a part changed."""
    return any(not torch.equal(value, before[name]) for name, value in net.state_dict().items() if part in name)


@pytest.mark.slow
def test_a_bandit_is_solved_in_a_few_updates():
    net, _, _ = updated(20, learning_rate=3e-3, critic_rate=1e-2, epochs=4, minibatches=1)
    seen = any_observation(1)
    with torch.no_grad():
        torch.testing.assert_close(net.mean(seen)[0], WANTED, atol=0.1, rtol=0)
        assert (net.log_std.exp() < 0.25).all(), "and it tries around less and less"
        best = float(net.value(seen))
    assert -0.3 < best < 0.1


def test_where_nothing_is_better_than_anything_else_the_actor_stays():
    net, before, _ = updated(change=lambda ppo: with_advantage(ppo, 0.0))
    assert not moved(net, before, "actor.layers")
    assert not moved(net, before, "log_std")
    assert moved(net, before, "critic.layers")
    assert moved(net, before, "critic.encoders.future.frame")


def test_the_actor_s_loss_does_not_move_the_critic():
    net, before, _ = updated(value=0.0)
    assert moved(net, before, "actor.layers")
    assert moved(net, before, "actor.encoders.future.frame")
    assert moved(net, before, "log_std")
    assert not moved(net, before, "critic.")


def test_entropy_widens_the_distribution():
    ppo, seen = bandit(entropy=1.0, value=0.0)
    with_advantage(ppo, 0.0)
    tried(ppo, seen)
    before = ppo.net.log_std.detach().clone()
    told = ppo.update(seen)
    assert (ppo.net.log_std > before).all()
    expected = Independent(Normal(torch.zeros(JOINTS), before.exp()), 1).entropy()
    assert told["entropy"] == pytest.approx(float(expected), abs=0.1)


def test_advantages_have_mean_zero_and_deviation_one_over_all_samples():
    ppo, seen = bandit()
    tried(ppo, seen)
    ppo._judge(seen)
    own = ppo.storage
    assert own["advantage"].mean() == pytest.approx(0, abs=1e-5)
    assert own["advantage"].std() == pytest.approx(1, abs=1e-4)
    plain = own["reward"] - own["value"]  # every episode lasts a step
    torch.testing.assert_close(own["advantage"], (plain - plain.mean()) / plain.std(), rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(own["target"], own["reward"])


def test_a_fixed_rate_stays_and_an_adapted_one_follows_the_change():
    _, _, fixed = updated(10, desired_kl=0.0, learning_rate=2e-3)
    assert fixed["learning_rate"] == 2e-3
    _, _, eager = updated(10, desired_kl=10.0, learning_rate=2e-3)
    assert eager["learning_rate"] > 2e-3
    _, _, shy = updated(10, desired_kl=1e-6, learning_rate=2e-3)
    assert shy["learning_rate"] < 2e-3


def test_the_critic_comes_to_know_the_returns():
    _, _, first = updated(1)
    _, _, later = updated(20, critic_rate=1e-2, learning_rate=1e-5, desired_kl=0.0)
    assert later["value_loss"] < 0.5 * first["value_loss"]


@pytest.mark.parametrize("critic_rate", [None, 5e-4], ids=["as the actor's", "its own"])
def test_the_critic_s_rate_follows_the_actor_s_where_it_has_none_also_after_a_checkpoint(critic_rate):
    values = {"desired_kl": 10.0, "learning_rate": 2e-3, "critic_rate": critic_rate}
    one, seen = bandit(**values)
    tried(one, seen)
    one.update(seen)
    again, _ = bandit(**values)
    again.restore(one.snapshot())
    assert one.rate > 2e-3
    for ppo in (one, again):
        rates = [group["lr"] for group in ppo.optimizer.param_groups]
        assert rates == [one.rate, *[one.rate if critic_rate is None else critic_rate] * 2]

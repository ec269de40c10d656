"""The policy's and the critic's networks."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

import torch

from phuma.learning.nets.motion_encoder import MotionEncoder
from phuma.learning.nets.normalizer import Normalizer
from tests.learning.small_nets import JOINTS, any_features, any_observation, small_net, small_stage


def some_data(count=300):
    return torch.randn(count, 4, generator=torch.Generator().manual_seed(0)) * torch.tensor([1.0, 10.0, 0.1, 3.0]) + 5


def seen_in(*parts):
    normalizer = Normalizer(4)
    for part in parts:
        normalizer.update(part)
    return normalizer


def test_a_normalizer_holds_mean_and_variance_of_all_that_it_saw():
    data = some_data()
    own = seen_in(data[:7], data[7:200], data[200:201], data[201:])
    torch.testing.assert_close(own.mean, data.mean(0), rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(own.var, data.var(0, unbiased=False), rtol=1e-3, atol=1e-5)
    assert own.count == 300


def test_the_order_and_the_size_of_batches_do_not_matter():
    data = some_data()
    one, other = seen_in(data), seen_in(*reversed(data.split([1, 50, 149, 100])))
    torch.testing.assert_close(one.mean, other.mean, rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(one.var, other.var, rtol=1e-3, atol=1e-5)


def test_normalized_data_have_mean_nought_and_deviation_one():
    data = some_data()
    out = seen_in(data)(data)
    torch.testing.assert_close(out.mean(0), torch.zeros(4), atol=1e-3, rtol=0)
    torch.testing.assert_close(out.std(0, unbiased=False)[[0, 1, 3]], torch.ones(3), atol=0.02, rtol=0)


def test_what_never_changes_is_normalized_to_nought_not_to_nonsense():
    data = torch.full((20, 4), 7.0)
    torch.testing.assert_close(seen_in(data)(data), torch.zeros(20, 4))


def test_axes_before_the_last_are_samples():
    data = some_data()
    torch.testing.assert_close(seen_in(data.view(30, 10, 4)).var, seen_in(data).var)


@pytest.mark.parametrize("robots", [2, 40], ids=["few see little", "many see all"])
def test_frames_encoded_once_give_what_each_robot_s_own_give(robots):
    torch.manual_seed(0)
    features = any_features()
    encoder = MotionEncoder(5, 6, 4, 8)
    encoder.normalizer.update(features)
    rows = any_observation(robots)["future"]
    assert (rows.numel() > len(features)) == (robots == 40)
    torch.testing.assert_close(encoder.shared(features, rows), encoder(features[rows]))


@pytest.mark.parametrize("robots", [2, 40])
def test_and_the_same_gradients(robots):
    features, rows = any_features(), any_observation(robots)["future"]

    def gradients(encode):
        torch.manual_seed(0)
        encoder = MotionEncoder(5, 6, 4, 8)
        (encode(encoder) ** 2).sum().backward()
        return [p.grad for p in encoder.parameters()]

    for a, b in zip(gradients(lambda e: e.shared(features, rows)), gradients(lambda e: e(features[rows]))):
        torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-4)


def test_frames_of_the_future_are_told_apart():
    encoder = MotionEncoder(5, 6, 4, 8)
    future = any_features()[any_observation(3)["future"]]
    assert not torch.allclose(encoder(future), encoder(future.flip(1)))


@pytest.mark.parametrize("name", ["proprioception", "goal", "critic"])
def test_units_do_not_matter_once_they_were_seen(name):
    """The normalizer is part of the network: numbers a thousand times as large make no difference."""
    one, other = small_net(), small_net()
    seen = any_observation(64)
    larger = seen | {name: 1000 * seen[name] - 300}
    one.see(seen)
    other.see(larger)
    torch.testing.assert_close(one.mean(seen), other.mean(larger), rtol=0.05, atol=1e-3)
    torch.testing.assert_close(one.value(seen), other.value(larger), rtol=0.05, atol=5e-3)
    assert not torch.equal(one.actor(seen, one.features), small_net().actor(larger, one.features))


def test_the_future_is_normalized_too():
    one, other = small_net(), small_net(features=1000 * any_features() + 500)
    seen = any_observation(64)
    torch.testing.assert_close(one.value(seen), other.value(seen), rtol=0.05, atol=5e-3)


def test_other_references_are_seen_through_the_same_network():
    net, seen = small_net(), any_observation(8)
    before = net.value(seen)
    net.use({"future": any_features(50).flip(0)})
    assert len(net.features["future"]) == 50
    assert not torch.allclose(net.value(seen), before)


def test_first_actions_are_near_nought_whatever_is_seen():
    net = small_net()
    seen = any_observation(200)
    net.see(seen)
    assert net.mean(seen).abs().max() < 0.2
    torch.testing.assert_close(net.log_std.exp(), torch.full((JOINTS,), 0.3))


def test_a_robot_s_action_and_value_depend_on_what_it_sees_itself():
    net, seen = small_net(), any_observation(20)
    some = {name: group[5:7] for name, group in seen.items()}
    torch.testing.assert_close(net.mean(some), net.mean(seen)[5:7])
    torch.testing.assert_close(net.value(some), net.value(seen)[5:7])
    assert net.mean(seen).shape == (20, JOINTS)
    assert net.value(seen).shape == (20,)


def test_the_actor_does_not_see_what_only_the_critic_may():
    net, seen, other = small_net(), any_observation(5), any_observation(5, seed=1)
    assert torch.equal(net.mean(seen), net.mean(seen | {"critic": other["critic"]}))
    assert not torch.equal(net.value(seen), net.value(seen | {"critic": other["critic"]}))
    for name in ("proprioception", "goal"):
        assert not torch.equal(net.mean(seen), net.mean(seen | {name: other[name]}))
        assert torch.equal(net.value(seen), net.value(seen | {name: other[name]}))
    for of in (net.mean, net.value):
        assert not torch.equal(of(seen), of(seen | {"future": other["future"]}))


def test_without_a_future_it_does_not_matter():
    net, seen = small_net(small_stage(future=False)), any_observation(5)
    other = seen | {"future": any_observation(5, seed=1)["future"]}
    assert torch.equal(net.mean(seen), net.mean(other))
    assert torch.equal(net.value(seen), net.value(other))


def test_weights_and_normalizers_are_saved_and_references_are_not():
    net, other, seen = small_net(), small_net(seed=1), any_observation(6)
    net.see(seen)
    saved = net.state_dict()
    assert "features" not in saved
    other.load_state_dict(saved)
    assert torch.equal(net.mean(seen), other.mean(seen))
    assert torch.equal(net.value(seen), other.value(seen))

"""The convolutional encoder: the paper's sizes, by hand, and shared between those who see the same frames."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

import torch

from phuma.errors import ConfigError
from phuma.learning.nets.config import ConvCfg, ConvSizes
from phuma.learning.nets.conv_encoder import ConvEncoder
from phuma.learning.recipes.recipe import recipe_named
from tests.learning.small_nets import any_features, any_observation

SMALL = ConvSizes(frame=4, channels=(3, 2), kernels=(3, 2), strides=(1, 1), out=8)


def encoder(features: torch.Tensor | None = None) -> ConvEncoder:
    torch.manual_seed(0)
    out = ConvEncoder(5, 6, SMALL)
    if features is not None:
        out.normalizer.update(features)
    return out


def test_the_paper_s_sizes_of_the_future_and_of_the_past():
    """20 frames of 78: windows of 6 give 8, of 4 of these give 3; ten steps of history give 4 and then 3."""
    future = ConvEncoder(20, 78, ConvSizes(60, (40, 20), (6, 4), (2, 2), 128))
    assert [tuple(p.shape) for p in future.parameters()] == [
        (60, 78), (60,), (40, 60, 6), (40,), (20, 40, 4), (20,), (128, 3 * 20), (128,),
    ]  # fmt: skip
    past = ConvEncoder(10, 74, ConvSizes(30, (20, 10), (4, 2), (2, 1), 64))
    assert [tuple(p.shape) for p in past.parameters()] == [
        (30, 74), (30,), (20, 30, 4), (20,), (10, 20, 2), (10,), (64, 3 * 10), (64,),
    ]  # fmt: skip
    assert future(torch.zeros(2, 20, 78)).shape == (2, 128)
    assert past(torch.zeros(2, 10, 74)).shape == (2, 64)


def test_by_hand():
    """One number per frame, one channel, a window of two: with ones for weights it is  silu(r_1 + r_2)  and so on."""
    own = ConvEncoder(3, 1, ConvSizes(1, (1,), (2,), (1,), 1))
    for name, value in own.named_parameters():
        torch.nn.init.constant_(value, 0.0 if "bias" in name else 1.0)
    own.normalizer.var.fill_(0.99**2)  # so that the deviation is one
    found = own(torch.tensor([[[2.0], [-5.0], [1.0]]]))
    expected = torch.nn.functional.silu(torch.tensor([2.0, 1.0])).sum()
    torch.testing.assert_close(found, expected.view(1, 1))


@pytest.mark.parametrize("robots", [2, 40], ids=["few see little", "many see all"])
def test_frames_encoded_once_give_what_each_robot_s_own_give_with_the_same_gradients(robots):
    features, rows = any_features(), any_observation(robots)["future"]
    assert (rows.numel() > len(features)) == (robots == 40)
    results = []
    for encode in (lambda e: e.shared(features, rows), lambda e: e(features[rows])):
        own = encoder(features)
        code = encode(own)
        (code**2).sum().backward()
        results.append([code.detach(), *(p.grad for p in own.parameters())])
    for one, other in zip(*results):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-4)


def test_what_comes_later_is_told_from_what_comes_sooner():
    future = any_features()[any_observation(3)["future"]]
    assert not torch.allclose(encoder()(future), encoder()(future.flip(1)))


def test_too_few_frames_are_told_of():
    with pytest.raises(ConfigError, match=r"3 frames are too few for convolutions of \(3, 2\) frames"):
        ConvEncoder(3, 6, SMALL)


def test_a_convolution_without_a_stride_is_told_of():
    with pytest.raises(ConfigError, match=r"strides \(2,\); expected one of each"):
        ConvCfg(strides=(2,))


@pytest.mark.parametrize("stage", ["policy", "finetuned"])
def test_the_paper_s_beyondmimic_has_one_for_the_actor_and_one_for_the_critic(g1, stage):
    recipe = recipe_named("beyondmimic")
    cfg = recipe.presets["paper"][stage]
    net = recipe.stages[stage].network(recipe.task(stage, cfg.environment), g1, cfg.network)
    one, other = (each.encoders["future"] for each in (net.actor, net.critic))
    assert isinstance(one, ConvEncoder)
    assert isinstance(other, ConvEncoder)
    assert not {id(p) for p in one.parameters()} & {id(p) for p in other.parameters()}
    assert net.actor.layers[0].in_features == 154 + 128

"""Tokens: as torch's own transformer, with fewer multiply-adds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("torch")

import torch
from torch import nn

from phuma.errors import ConfigError
from phuma.learning.nets.config import TransformerCfg
from phuma.learning.nets.masked_net import Latent, divergence
from phuma.learning.nets.token_net import token_operations
from phuma.learning.nets.transformer import Encoder
from phuma.learning.recipes import maskedmimic
from phuma.learning.recipes.recipe import CPU, PAPER
from phuma.robots import load_robot

G1 = load_robot("g1")


def plain(encoder: Encoder, width: int, heads: int, feedforward: int) -> nn.TransformerEncoder:
    """torch's own encoder with the same weights."""
    layer = nn.TransformerEncoderLayer(width, heads, feedforward, dropout=0.0, batch_first=True)
    out = nn.TransformerEncoder(layer, len(encoder.layers), enable_nested_tensor=False)
    for own, theirs in zip(encoder.layers, out.layers):
        state = own.state_dict()
        names = {"in_proj.weight": "self_attn.in_proj_weight", "in_proj.bias": "self_attn.in_proj_bias"}
        names |= {f"out_proj.{n}": f"self_attn.out_proj.{n}" for n in ("weight", "bias")}
        theirs.load_state_dict({names.get(name, name): value for name, value in state.items()})
    return out


def test_the_first_token_is_that_of_torchs_encoder():
    torch.manual_seed(0)
    encoder, tokens = Encoder(32, 3, 4, 48), torch.randn(7, 6, 32)
    theirs = plain(encoder, 32, 4, 48)
    torch.testing.assert_close(encoder(tokens), theirs(tokens)[:, 0], atol=1e-5, rtol=1e-5)
    hidden = torch.rand(7, 6) < 0.5
    hidden[:, 0] = False
    wanted = theirs(tokens, src_key_padding_mask=hidden)[:, 0]
    torch.testing.assert_close(encoder(tokens, hidden), wanted, atol=1e-5, rtol=1e-5)


def paper_net():
    own = maskedmimic.RECIPE.presets[PAPER]["tracker"]
    task = maskedmimic.task(own.environment)
    return maskedmimic.network(task, task.tracked(G1), own.network)


def test_the_papers_sizes():
    net = paper_net()
    actor, critic = (sum(p.numel() for p in part.parameters()) / 1e6 for part in (net.actor, net.critic))
    assert actor == pytest.approx(11.7, abs=0.05)
    assert critic == pytest.approx(12.8, abs=0.05)
    assert net.log_std.exp().unique().item() == pytest.approx(np.exp(-2.9))
    assert not net.log_std.requires_grad


def test_at_least_15_percent_fewer_operations_at_the_papers_sizes():
    net = paper_net().actor
    before = token_operations(net, plain=True)
    assert before == pytest.approx(143e6, rel=0.02)
    assert token_operations(net) < 0.85 * before
    assert token_operations(net, shared=0.9) < token_operations(net)


def test_operations_are_counted_as_the_layers_do_them():
    """The count of a plain forward pass is that of torch's own counter, which has a multiply-add as two."""
    from torch.utils.flop_counter import FlopCounterMode

    torch.manual_seed(0)
    own = maskedmimic.RECIPE.presets[CPU]["tracker"]
    task = maskedmimic.task(replace(own.environment, differences=False))
    net, given = small_net(task), observation(task, 1)
    with FlopCounterMode(display=False) as counter:
        net.actor(given)
    assert counter.get_total_flops() == pytest.approx(2 * token_operations(net.actor), rel=0.01)


def small_net(task):
    return maskedmimic.network(task, task.tracked(G1), TransformerCfg(width=16, layers=2, heads=2, embedding=(8,)))


def observation(task, count: int, seed: int = 0):
    generator, robot = torch.Generator().manual_seed(seed), task.tracked(G1)
    return {group.name: torch.randn(count, *group.shape(robot), generator=generator) for group in task.actor}


def test_frames_that_are_shared_act_as_frames_that_are_given():
    task = maskedmimic.task(maskedmimic.RECIPE.presets[CPU]["tracker"].environment)
    net, given = small_net(task), observation(task, 6)
    nn.init.normal_(net.actor.layers[-1].weight)
    features = {"future": torch.randn(40, 594)}
    net.use(features)
    rows = torch.tensor(
        [[3, 8, 13, 18], [3, 8, 13, 18], [20, 25, 30, 35], [0, 5, 10, 15], [3, 8, 13, 18], [9, 9, 9, 9]]
    )
    shared = net.mean({**given, "future": rows})
    alone = net.actor({**given, "future": features["future"][rows]})
    torch.testing.assert_close(shared, alone, atol=1e-5, rtol=1e-5)
    assert (shared[0] - shared[2]).abs().max() > 0


def test_frames_of_which_nothing_is_told_do_not_count():
    own = maskedmimic.RECIPE.presets[CPU]["student"]
    task = maskedmimic.student_task(own.environment)
    net = maskedmimic.student_network(task, task.tracked(G1), TransformerCfg(width=16, heads=2))
    nn.init.normal_(net.actor.layers[-1].weight)
    width, count = 121, len(task.masking.offsets)
    sparse = torch.zeros(1, count, width)
    sparse[0, 0, :20], sparse[..., -1] = 1.0, torch.arange(count) / 50
    given = {"self": torch.randn(1, 493), "sparse": sparse.flatten(1)}
    later = sparse.clone()
    later[0, 1:, -1] += 1.0  # times of frames that are hidden
    torch.testing.assert_close(net.actor(given), net.actor({**given, "sparse": later.flatten(1)}))
    later[0, 0, 0] += 1.0
    assert (net.actor(given) - net.actor({**given, "sparse": later.flatten(1)})).abs().max() > 1e-4


def masked_net(**environment):
    """A masked policy whose last layer is not near zero, and what it observes of three environments."""
    own = maskedmimic.RECIPE.presets[CPU]["student"]
    task = maskedmimic.student_task(replace(own.environment, **environment))
    robot = task.tracked(G1)
    net = maskedmimic.student_network(task, robot, TransformerCfg(width=16, heads=2))
    nn.init.normal_(net.actor.layers[-1].weight)
    return net, {group.name: torch.randn(3, *group.shape(robot)) for group in task.actor}


def test_a_masked_policy_acts_by_its_past_and_knows_when_that_was():
    torch.manual_seed(0)
    net, given = masked_net(history=4, history_stride=8)
    assert given["past"].shape == (3, 4, 493)
    action = net.actor(given)
    present = given["past"].clone()
    present[:, -1] += 1.0  # the own state says it
    torch.testing.assert_close(net.actor({**given, "past": present}), action)
    turned = given["past"][:, [1, 0, 2, 3]]
    assert (net.actor({**given, "past": turned}) - action).abs().max() > 1e-5


def test_the_divergence_is_that_of_normal_distributions():
    torch.manual_seed(0)
    a, b = (Latent(torch.randn(4, 3), torch.randn(4, 3)) for _ in range(2))
    one, other = (torch.distributions.Normal(x.mean, (0.5 * x.log_var).exp()) for x in (a, b))
    wanted = torch.distributions.kl_divergence(one, other).sum(-1).mean()
    torch.testing.assert_close(divergence(a, b), wanted)
    assert divergence(a, a).item() == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize("wrong", [{"width": 10**9}, {"layers": 0}, {"heads": 3}, {"latent": (10**9,)}, {"width": "4"}])
def test_sizes_of_an_untrusted_run_are_bounded(wrong):
    with pytest.raises(ConfigError):
        TransformerCfg(**wrong)

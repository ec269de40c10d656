"""A latent of what no robot senses, and the guess of it from the past: who learns what from which loss."""

from __future__ import annotations

from dataclasses import replace

import pytest

pytest.importorskip("torch")

import torch

from phuma.errors import ConfigError
from phuma.learning.env.observation import ComingFrames
from phuma.learning.nets.config import LatentCfg
from phuma.learning.nets.latent_net import LatentNet, LatentStudent, LatentTeacher
from tests.learning.small_nets import CRITIC, FUTURE, JOINTS, OWN, GroupNet, any_features, any_observation, group

PRIVILEGED = group("privileged", 3)
PAST = replace(group("past", 4), history=10)
NEXT = group("next", 6, ComingFrames(1, 0))
CFG = LatentCfg(hidden=(16, 8), encoder=(4, 8), channels=(3, 2), kernels=(3, 2), strides=(1, 1), privileged=(5,),
                past_encoder=(6, 7), past_channels=(5, 4), norm=True)  # fmt: skip
FEATURES = {"future": any_features(), "next": any_features()}


def seen(count: int = 12, seed: int = 0) -> dict:
    generator = torch.Generator().manual_seed(seed)
    own = any_observation(count, seed)
    more = {"privileged": torch.randn(count, 3, generator=generator), "next": own["future"][:, :1]}
    return own | more | {"past": torch.randn(count, 10, 4, generator=generator)}


def net(privileged=PRIVILEGED, seed: int = 0) -> LatentNet:
    torch.manual_seed(seed)
    return LatentNet((OWN, NEXT, FUTURE), PAST, privileged, None, CFG, JOINTS)


def teacher() -> LatentTeacher:
    out = LatentTeacher(net(), GroupNet((CRITIC,), None, CFG, 1), JOINTS, 0.5)
    torch.nn.init.normal_(out.actor.layers[-1].weight)
    return out


def learners(loss, own: LatentNet) -> set[str]:
    """The parts of a network that a loss changes."""
    own.zero_grad()
    loss.backward()
    return {name.split(".")[0] for name, p in own.named_parameters() if p.grad is not None and p.grad.any()}


def test_a_teacher_acts_on_facts_and_labels_by_its_past():
    own, one, other = teacher(), seen(), seen(seed=1)
    act = lambda o: own.actor(o, FEATURES)  # noqa: E731
    label = lambda o: own.label(o, FEATURES)  # noqa: E731
    changed = {name: one | {name: other[name]} for name in ("privileged", "past")}
    assert torch.equal(act(one), act(changed["past"]))
    assert not torch.allclose(act(one), act(changed["privileged"]))
    assert torch.equal(label(one), label(changed["privileged"]))
    assert not torch.allclose(label(one), label(changed["past"]))


def test_the_guess_learns_from_its_own_loss_alone_and_facts_from_the_regulariser_alone():
    own, observation = net(), seen()
    assert learners(own.guess_loss(observation), own) == {"history_encoder"}
    assert learners(own.regulariser(observation), own) == {"privileged_encoder"}
    distance = (own.known(observation) - own.guessed(observation)).norm(dim=-1).mean()
    torch.testing.assert_close(own.guess_loss(observation), distance)
    torch.testing.assert_close(own.regulariser(observation), distance)
    torch.testing.assert_close(own.estimation_loss(observation), 1.1 * distance)
    assert learners(own.estimation_loss(observation), own) == {"history_encoder", "privileged_encoder"}
    assert learners(own(observation, FEATURES).sum(), own) == {"layers", "encoders", "privileged_encoder"}


def test_a_guess_comes_to_know_what_the_past_tells():
    own = net()
    optimizer = torch.optim.Adam(own.history_encoder.parameters(), lr=1e-2)

    def told(seed):
        observation = seen(64, seed)
        return observation | {"privileged": observation["past"].mean(1)[:, :3]}

    before = own.guess_loss(told(999)).item()
    for n in range(150):
        optimizer.zero_grad()
        own.guess_loss(told(n)).backward()
        optimizer.step()
    assert own.guess_loss(told(999)).item() < 0.4 * before


def test_a_student_guesses_as_its_teacher_does_and_goes_on_so():
    own = teacher()
    own.see(seen(50))
    student = LatentStudent(net(privileged=None, seed=5))
    observation = seen(seed=2)
    assert not torch.allclose(student.actor.guessed(observation), own.actor.guessed(observation))
    student.learn_from(own)
    torch.testing.assert_close(student.actor.guessed(observation), own.actor.guessed(observation))
    student.see(seen(50, seed=7))
    torch.testing.assert_close(student.actor.guessed(observation), own.actor.guessed(observation))
    assert learners(student.actor(observation, FEATURES).sum(), student.actor) == {"layers", "encoders"}


def test_a_single_coming_frame_is_seen_as_it_is_whether_by_rows_or_by_numbers():
    own, observation = net(), seen()
    own.see_features(FEATURES)
    plain = observation | {name: FEATURES[name][observation[name]] for name in FEATURES}
    torch.testing.assert_close(own(observation, FEATURES), own(plain))
    assert "next" not in own.encoders
    other = observation | {"next": observation["next"].flip(0)}
    assert not torch.allclose(own(observation, FEATURES), own(other, FEATURES))


def test_hidden_layers_are_normalized_and_the_last_is_not():
    kinds = [type(layer).__name__ for layer in net().layers]
    assert kinds == ["Linear", "LayerNorm", "SiLU", "Linear", "LayerNorm", "SiLU", "Linear"]


def test_a_past_that_is_too_short_is_told_of():
    with pytest.raises(ConfigError, match=r"3 frames are too few for convolutions of \(4, 2\)"):
        LatentNet((OWN,), replace(PAST, history=3), None, None, CFG, JOINTS)

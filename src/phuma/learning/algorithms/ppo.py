"""Proximal policy optimisation: pure functions, and an update that calls them."""

from __future__ import annotations

import math
from collections.abc import Mapping

import torch
from torch import Tensor

from phuma.core.rotations import Array
from phuma.learning.algorithms.algorithm import Algorithm, Outcome
from phuma.learning.algorithms.config import PPOCfg
from phuma.learning.algorithms.storage import Batch, Storage
from phuma.learning.env.observation import Observation
from phuma.learning.nets.actor_critic import ActorCritic
from phuma.runtime.distributed import average, moments

RATES = (1e-5, 1e-2)
"""Bounds of the adapted learning rate."""


def advantages(
    reward: Tensor, value: Tensor, last: Tensor, done: Tensor, gamma: float, lam: float
) -> tuple[Tensor, Tensor]:
    """Return (T, E) generalised advantages and returns:

        A_t = d_t + gamma lam (1 - done_t) A_(t+1),  d_t = r_t + gamma (1 - done_t) V_(t+1) - V_t,  R_t = A_t + V_t

    reward, value, done (T, E); last (E,) is the value after the last step. An episode that was cut short by the end of
    its motion or its time has gamma V of what it observed last in its reward already: see `PPO.record`."""
    out = torch.empty_like(reward)
    ahead = torch.zeros_like(last)
    for t in reversed(range(len(reward))):
        after = last if t == len(reward) - 1 else value[t + 1]
        goes_on = 1.0 - done[t]
        delta = reward[t] + gamma * goes_on * after - value[t]
        ahead = delta + gamma * lam * goes_on * ahead
        out[t] = ahead
    return out, out + value


def log_likelihood(action: Tensor, mean: Tensor, log_std: Tensor) -> Tensor:
    """Return (E,) log likelihoods under a normal distribution with independent components."""
    z = (action - mean) / log_std.exp()
    return -0.5 * (z**2).sum(-1) - log_std.sum() - 0.5 * action.shape[-1] * math.log(2 * math.pi)


def policy_loss(ratio: Tensor, advantage: Tensor, clip: float) -> Tensor:
    """Return -mean min(r A, clip(r, 1 - e, 1 + e) A): there is no gain from going further than e."""
    return -torch.minimum(ratio * advantage, ratio.clamp(1 - clip, 1 + clip) * advantage).mean()


def divergence(mean: Tensor, log_std: Tensor, old_mean: Tensor, old_log_std: Tensor) -> Tensor:
    """Return the mean Kullback-Leibler divergence of the new policy from the old."""
    old, new = (2 * old_log_std).exp(), (2 * log_std).exp()
    each = log_std - old_log_std + (old + (old_mean - mean) ** 2) / (2 * new) - 0.5
    return each.sum(-1).mean()


def adapted_rate(rate: float, kl: float, desired: float) -> float:
    """Return the learning rate after a step that changed the policy by kl."""
    if kl > 2 * desired:
        return max(RATES[0], rate / 1.5)
    return min(RATES[1], rate * 1.5) if 0.0 < kl < desired / 2 else rate


class PPO(Algorithm):
    """Proximal policy optimisation. The actor's learning rate follows the change of the policy; that of the critic and
    of the actions' standard deviation stays, as they need no caution, unless they are to have the actor's."""

    per_joint: tuple[str, ...] = ("action", "mean")
    numbers: tuple[str, ...] = ("log_likelihood", "reward", "done", "value", "advantage", "target")
    """Names of what is stored of each control step"""

    def __init__(self, net: ActorCritic, cfg: PPOCfg, observation: Observation, generator: torch.Generator) -> None:
        self.net: ActorCritic = net
        self.cfg, self.generator = cfg, generator
        self.actor = list(net.actor.parameters())
        self.critic = list(net.critic.parameters())
        groups = [
            {"params": self.actor, "lr": cfg.learning_rate},
            {"params": self.critic, "lr": cfg.critic_rate or cfg.learning_rate},
            {"params": [net.log_std], "lr": cfg.critic_rate or cfg.learning_rate, "weight_decay": 0.0},
        ]
        self.optimizer = torch.optim.AdamW(groups, weight_decay=cfg.weight_decay, fused=True)
        joints, numbers = (len(net.log_std),), dict.fromkeys(self.numbers, ())
        self.storage = Storage(cfg.horizon, observation, {**dict.fromkeys(self.per_joint, joints), **numbers})

    @torch.no_grad()
    def act(self, observation: Observation) -> Tensor:
        """Return actions drawn from the policy."""
        if self.storage.filled == self.cfg.horizon:
            self.storage.begin()
        self._mean = self.net.mean(observation)
        noise = torch.randn(self._mean.shape, generator=self.generator).to(self._mean.device)
        return self._mean + self.net.log_std.exp() * noise

    @torch.no_grad()
    def record(self, observation: Observation, action: Tensor, outcome: Outcome) -> None:
        """Remember a control step. To the reward of a truncated episode, gamma V of its last observation is added, as
        it could have gone on."""
        reward = outcome.reward.clone()
        if outcome.final is not None:
            reward[outcome.truncated] += self.cfg.gamma * self.net.value(outcome.final)
        likelihood = log_likelihood(action, self._mean, self.net.log_std)
        self.storage.add(
            observation, action=action, mean=self._mean, log_likelihood=likelihood, reward=reward, done=outcome.done
        )

    def update(self, observation: Observation) -> dict[str, float]:
        self._judge(observation)
        cfg, sums = self.cfg, dict.fromkeys(("policy_loss", "value_loss", "kl", "entropy"), 0.0)
        old_log_std = self.net.log_std.detach().clone()
        batches = 0
        for batch in self.storage.batches(cfg.epochs, cfg.minibatches, self.generator):
            own = batch.fields
            mean, log_std = self.net.mean(batch.observation), self.net.log_std
            kl = divergence(mean.detach(), log_std.detach(), own["mean"], old_log_std).item()
            kl = average(kl, mean.device)
            if cfg.desired_kl:
                self._set_rate(adapted_rate(self.rate, kl, cfg.desired_kl))
            ratio = (log_likelihood(own["action"], mean, log_std) - own["log_likelihood"]).exp()
            surrogate = policy_loss(ratio, own["advantage"], cfg.clip)
            error = ((self.net.value(batch.observation) - own["target"]) ** 2).mean()
            entropy = log_std.sum() + 0.5 * len(log_std) * math.log(2 * math.pi * math.e)
            loss = self.actor_loss(surrogate - cfg.entropy * entropy, mean, batch) + cfg.value * error
            self.descend(loss, cfg.max_grad_norm, self.actor, self.critic)
            for name, value in zip(sums, (surrogate.item(), error.item(), kl, entropy.item())):
                sums[name] += value
            batches += 1
        means = {name: value / batches for name, value in sums.items()}
        return means | {"learning_rate": self.rate, "action_std": self.net.log_std.detach().exp().mean().item()}

    def restore(self, arrays: Mapping[str, Array]) -> None:
        super().restore(arrays)
        self._set_rate(self.rate)

    def _set_rate(self, rate: float) -> None:
        """Set the actor's learning rate and, where they follow it, the others."""
        for group in self.optimizer.param_groups[: 1 if self.cfg.critic_rate else None]:
            group["lr"] = rate

    def actor_loss(self, loss: Tensor, mean: Tensor, batch: Batch) -> Tensor:
        """Return what the actor minimises, from PPO's own loss and its mean actions on a batch."""
        return loss + self.net.actor.estimation_loss(batch.observation)

    @torch.no_grad()
    def _judge(self, observation: Observation) -> None:
        """Fill in values, targets and advantages, which are normalized to mean 0 and standard deviation 1 over all
        samples of all processes."""
        storage, cfg = self.storage, self.cfg
        storage["value"][:] = self.net.value(storage.flat()).view(storage["value"].shape)
        advantage, target = advantages(
            storage["reward"], storage["value"], self.net.value(observation), storage["done"], cfg.gamma, cfg.lam
        )
        count, mean, var = moments(advantage.numel(), advantage.mean(), advantage.var(unbiased=False))
        std = advantage.std() if count == advantage.numel() else (var * count / (count - 1)).sqrt()
        storage["advantage"][:] = (advantage - mean) / (std + 1e-8)
        storage["target"][:] = target

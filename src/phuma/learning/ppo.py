"""Proximal policy optimisation: pure functions, and an update that calls them."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from phuma.learning.config import LearnCfg
from phuma.learning.networks import ActorCritic
from phuma.learning.storage import Storage

RATES = (1e-5, 1e-2)
"""Between which the learning rate moves"""


def advantages(
    reward: Tensor, value: Tensor, last: Tensor, done: Tensor, gamma: float, lam: float
) -> tuple[Tensor, Tensor]:
    """(T, E) advantages and returns, generalised:

        A_t = d_t + gamma lam (1 - done_t) A_(t+1),  d_t = r_t + gamma (1 - done_t) V_(t+1) - V_t,  R_t = A_t + V_t

    reward, value, done (T, E); last (E,) is the value after the last step. An attempt that was cut short by the end of
    its motion or its time has gamma V of what it saw last in its reward already: see `Storage.add`."""
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
    """(E,) of a normal distribution with independent components."""
    z = (action - mean) / log_std.exp()
    return -0.5 * (z**2).sum(-1) - log_std.sum() - 0.5 * action.shape[-1] * math.log(2 * math.pi)


def policy_loss(ratio: Tensor, advantage: Tensor, clip: float) -> Tensor:
    """-mean min(r A, clip(r, 1 - e, 1 + e) A): no gain from going further than e."""
    return -torch.minimum(ratio * advantage, ratio.clamp(1 - clip, 1 + clip) * advantage).mean()


def divergence(mean: Tensor, log_std: Tensor, old_mean: Tensor, old_log_std: Tensor) -> Tensor:
    """Mean Kullback-Leibler divergence of the new policy from the old."""
    old, new = (2 * old_log_std).exp(), (2 * log_std).exp()
    each = log_std - old_log_std + (old + (old_mean - mean) ** 2) / (2 * new) - 0.5
    return each.sum(-1).mean()


def adapted_rate(rate: float, kl: float, desired: float) -> float:
    """The learning rate after a step that changed the policy by kl."""
    if kl > 2 * desired:
        return max(RATES[0], rate / 1.5)
    return min(RATES[1], rate * 1.5) if 0.0 < kl < desired / 2 else rate


class PPO:
    """Updates of a policy from what it did. The actor's learning rate follows the change of the policy; that of the
    critic and of the actions' spread stays, as they need no caution."""

    def __init__(self, net: ActorCritic, cfg: LearnCfg) -> None:
        self.net, self.cfg = net, cfg
        self.actor = list(net.actor.parameters())
        self.critic = list(net.critic.parameters())
        groups = [
            {"params": self.actor, "lr": cfg.learning_rate},
            {"params": self.critic, "lr": cfg.critic_rate},
            {"params": [net.log_std], "lr": cfg.critic_rate, "weight_decay": 0.0},
        ]
        self.optimizer = torch.optim.AdamW(groups, weight_decay=cfg.weight_decay, fused=True)

    @property
    def rate(self) -> float:
        """The actor's learning rate."""
        return self.optimizer.param_groups[0]["lr"]

    def update(self, storage: Storage, generator: torch.Generator) -> dict[str, float]:
        """Improve the policy; means of what is worth watching."""
        cfg, sums = self.cfg, dict.fromkeys(("policy_loss", "value_loss", "kl", "entropy"), 0.0)
        batches = 0
        for batch in storage.batches(cfg.epochs, cfg.minibatches, generator):
            mean, log_std = self.net.mean(batch.observation), self.net.log_std
            kl = divergence(mean.detach(), log_std.detach(), batch.mean, batch.log_std).item()
            if cfg.desired_kl:
                self.optimizer.param_groups[0]["lr"] = adapted_rate(self.rate, kl, cfg.desired_kl)
            ratio = (log_likelihood(batch.action, mean, log_std) - batch.log_likelihood).exp()
            surrogate = policy_loss(ratio, batch.advantage, cfg.clip)
            error = ((self.net.value(batch.observation) - batch.target) ** 2).mean()
            entropy = log_std.sum() + 0.5 * len(log_std) * math.log(2 * math.pi * math.e)
            loss = surrogate + cfg.value * error - cfg.entropy * entropy
            self.optimizer.zero_grad()
            loss.backward()
            for parameters in (self.actor, self.critic):
                torch.nn.utils.clip_grad_norm_(parameters, cfg.max_grad_norm)
            self.optimizer.step()
            for name, value in zip(sums, (surrogate.item(), error.item(), kl, entropy.item())):
                sums[name] += value
            batches += 1
        return {name: value / batches for name, value in sums.items()} | {"learning_rate": self.rate}

"""Learning: robots try, the policy improves, again and again."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor

from phuma.errors import PhumaError
from phuma.learning.config import LearnCfg
from phuma.learning.library import MotionLibrary
from phuma.learning.networks import ActorCritic
from phuma.learning.ppo import PPO, advantages, log_likelihood
from phuma.learning.references import References, expand
from phuma.learning.sampling import Sampler
from phuma.learning.simulation.interface import Simulation
from phuma.learning.simulation.variation import Variation, draw_variation
from phuma.learning.storage import Storage
from phuma.learning.task import Disturbances, Observation, Tracking
from phuma.learning.tensors import to_numpy
from phuma.rotations import Array

MOST_FRAMES = 200_000
"""Of motions that are learned from at a time: an hour, 300 MB"""
REFRESH = 200
"""Iterations after which others of a larger library take their place"""


class Diverged(PhumaError):
    """Numbers of the network mean nothing any more."""


class Trainer:
    """A policy in the making. All of it, the robots' states too, is in `snapshot`, so that a run that goes on from one
    does what it would have done."""

    def __init__(self, library: MotionLibrary, cfg: LearnCfg, device: str = "cpu", threads: int | None = None) -> None:
        torch.manual_seed(cfg.seed)
        self.library, self.cfg, self.device = library, cfg, device
        self.rng = np.random.default_rng(cfg.seed)
        self.generator = torch.Generator().manual_seed(cfg.seed)
        variation = None
        if cfg.randomize:
            variation = draw_variation(self.rng, cfg.environments, library.robot.n_joints)
        self.simulation = make_simulation(library, cfg, device, threads, variation)
        self._clips = np.arange(0)
        references, sampler = self._chosen()
        self.sampler = sampler
        self.task = Tracking(
            library.robot, self.simulation, references, sampler.draw, self.rng,
            training_disturbances(variation), sampler.record,
        )  # fmt: skip
        self.observation = self._tensors(self.task.observe())
        joints = library.robot.n_joints
        features = self._tensor(self.task.references.features)
        self.net = ActorCritic(self.observation, features, joints, cfg).to(device)
        self.ppo = PPO(self.net, cfg)
        self.storage = Storage(cfg.horizon, self.observation, joints)
        self.iterations = self.steps = 0

    def iterate(self) -> dict[str, float]:
        """Let all robots act for a while and improve the policy; means of what is worth watching."""
        if self.iterations and self.iterations % REFRESH == 0 and len(self._clips) < len(self.library):
            self._refresh()
        told = self._collect()
        told |= self.ppo.update(self.storage, self.generator)
        self.net.see(self.storage.flat())
        if not all(math.isfinite(v) for v in told.values()) or not self._finite():
            raise Diverged(
                f"training diverged in iteration {self.iterations}: its numbers mean nothing any more; the checkpoint "
                "before it is kept. Try another seed or a smaller learning rate"
            )
        self.iterations += 1
        self.steps += self.cfg.environments * self.cfg.horizon
        return told

    @torch.no_grad()
    def _collect(self) -> dict[str, float]:
        net, storage, cfg = self.net, self.storage, self.cfg
        storage.begin(net.log_std)
        ended = failed = 0.0
        rewards: list[float] = []
        terms: dict[str, float] = {}
        for _ in range(cfg.horizon):
            mean = net.mean(self.observation)
            noise = torch.randn(mean.shape, generator=self.generator).to(mean.device)
            action = mean + net.log_std.exp() * noise
            step = self.task.step(self._native(action))
            reward = self._tensor(step.reward).clone()
            terminated, truncated = self._tensor(step.terminated), self._tensor(step.truncated)
            rewards.append(float(reward.mean()))
            if step.final is not None:
                reward[truncated] += cfg.gamma * net.value(self._tensors(step.final))
            done = terminated | truncated
            storage.add(self.observation, action, mean, log_likelihood(action, mean, net.log_std), reward, done)
            self.observation = self._tensors(step.observation)
            ended, failed = ended + float(done.sum()), failed + float(terminated.sum())
            terms = {name: terms.get(name, 0.0) + value / cfg.horizon for name, value in step.terms.items()}
        storage.value[:] = net.value(storage.flat()).view(storage.value.shape)
        storage.advantage[:], storage.target[:] = advantages(
            storage.reward, storage.value, net.value(self.observation), storage.done, cfg.gamma, cfg.lam
        )
        return {
            "reward": float(np.mean(rewards)),
            "failures_per_second": 50 * failed / (cfg.horizon * cfg.environments),
            "failed_share": failed / max(ended, 1.0),
            "spread": float(net.log_std.exp().mean()),
            **{f"terms/{name}": value for name, value in terms.items()},
        }

    def snapshot(self) -> dict[str, Array]:
        """Everything as arrays, by names."""
        tensors = {f"net.{name}": value for name, value in self.net.state_dict().items()}
        for i, own in self.ppo.optimizer.state_dict()["state"].items():
            tensors |= {f"optimizer.{i}.{name}": value for name, value in own.items()}
        # Its noise is drawn already.
        tensors |= {f"observation.{name}": value for name, value in self.observation.items()}
        arrays = {name: value.cpu().numpy().copy() for name, value in tensors.items()}
        arrays |= {f"task.{name}": value for name, value in self.task.snapshot().items()}
        arrays |= {f"sampler.{name}": value for name, value in self.sampler.snapshot().items()}
        return arrays | {
            "clips": self._clips,
            "rate": np.array(self.ppo.rate),
            "counts": np.array([self.iterations, self.steps]),
            "generator": self.generator.get_state().numpy(),
            "rng": _rng_words(self.rng),
        }

    def restore(self, arrays: Mapping[str, Array]) -> None:
        """Go on from a snapshot of the same library and configuration."""
        references, sampler = self._chosen(arrays["clips"])
        self.sampler = sampler
        self.task.use(references, sampler.draw, sampler.record)
        self.net.features = self._tensor(self.task.references.features)
        load_net(self.net, arrays)
        state: dict[int, dict[str, Tensor]] = {}
        for name, value in arrays.items():
            if name.startswith("optimizer."):
                _, i, kind = name.split(".")
                state.setdefault(int(i), {})[kind] = torch.from_numpy(value.copy())
        self.ppo.optimizer.load_state_dict(self.ppo.optimizer.state_dict() | {"state": state})
        self.ppo.optimizer.param_groups[0]["lr"] = float(arrays["rate"])
        self.sampler.restore(_below(arrays, "sampler."))
        self.task.restore(_below(arrays, "task."))
        self.iterations, self.steps = (int(n) for n in arrays["counts"])
        self.generator.set_state(torch.from_numpy(arrays["generator"].copy()))
        _set_rng(self.rng, arrays["rng"])
        seen = {name: torch.from_numpy(arrays[f"observation.{name}"].copy()) for name in self.observation}
        self.observation = {name: group.to(self.device) for name, group in seen.items()}

    def _chosen(self, clips: Array | None = None) -> tuple[References, Sampler]:
        """Motions to learn from for a while: all, if they are not too many."""
        if clips is None:
            lengths = np.array([len(m) for m in self.library.motions])
            order = np.arange(len(lengths)) if lengths.sum() <= MOST_FRAMES else self.rng.permutation(len(lengths))
            clips = np.sort(order[: max(1, int(np.searchsorted(np.cumsum(lengths[order]), MOST_FRAMES, "right")))])
        self._clips = clips
        references = expand(self.library, clips, self.cfg.base)
        return references, Sampler(references, self.rng)

    def _refresh(self) -> None:
        references, self.sampler = self._chosen()
        self.task.use(references, self.sampler.draw, self.sampler.record)
        self.net.use(self._tensor(self.task.references.features))
        self.observation = self._tensors(self.task.observe())

    def _finite(self) -> bool:
        """Weights and normalisers."""
        return all(bool(torch.isfinite(value).all()) for value in self.net.state_dict().values())

    def _tensor(self, x: Any) -> Tensor:
        return torch.from_numpy(x) if isinstance(x, np.ndarray) else x

    def _tensors(self, observation: Observation) -> Observation:
        return {name: self._tensor(group) for name, group in observation.items()}

    def _native(self, action: Tensor) -> Any:
        """As the simulator has its numbers."""
        return to_numpy(action) if isinstance(self.task.scale, np.ndarray) else action


def make_simulation(
    library: MotionLibrary, cfg: LearnCfg, device: str, threads: int | None, variation: Variation | None
) -> Simulation:
    """MuJoCo's own on the CPU, MuJoCo Warp elsewhere."""
    if device == "cpu":
        from phuma.learning.simulation.native import NativeSimulation

        return NativeSimulation(library.robot, cfg.environments, cfg.substeps, threads, variation)
    from phuma.learning.simulation.warp import WarpSimulation

    return WarpSimulation(library.robot, cfg.environments, cfg.substeps, device=device, variation=variation)


def training_disturbances(variation: Variation | None) -> Disturbances:
    """The paper's table in full where robots vary, nothing of it where they do not."""
    if variation is None:
        return Disturbances()
    return Disturbances(noise=1.0, pushes=True, start=1.0, joint_bias=variation.joint_bias)


def load_net(net: ActorCritic, arrays: Mapping[str, Array]) -> None:
    """Weights and normalisers of a snapshot into a network of the same shape."""
    own = net.state_dict()
    state = {name: torch.from_numpy(value.copy()) for name, value in _below(arrays, "net.").items()}
    for name, value in own.items():
        if name not in state or state[name].shape != value.shape:
            found = tuple(state[name].shape) if name in state else "nothing"
            raise PhumaError(f"weights do not fit: {name} is {found}, expected {tuple(value.shape)}")
    net.load_state_dict(state)


def _below(arrays: Mapping[str, Array], prefix: str) -> dict[str, Array]:
    return {name.removeprefix(prefix): value for name, value in arrays.items() if name.startswith(prefix)}


def _rng_words(rng: np.random.Generator) -> Array:
    """A PCG64's state as six 64-bit words."""
    own = rng.bit_generator.state
    state, inc = own["state"]["state"], own["state"]["inc"]
    mask = (1 << 64) - 1
    words = [state >> 64, state & mask, inc >> 64, inc & mask, own["has_uint32"], own["uinteger"]]
    return np.array(words, dtype=np.uint64)


def _set_rng(rng: np.random.Generator, words: Array) -> None:
    a, b, c, d, has, value = (int(w) for w in words)
    rng.bit_generator.state = {
        "bit_generator": "PCG64",
        "state": {"state": (a << 64) | b, "inc": (c << 64) | d},
        "has_uint32": has,
        "uinteger": value,
    }

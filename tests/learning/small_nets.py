"""Configurations and networks small enough for tests."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("mujoco")

import torch

from phuma.learning.algorithms.config import PPOCfg
from phuma.learning.env.config import EnvironmentCfg
from phuma.learning.env.observation import ComingFrames, Observation, ObservationGroup, ObservationTerm
from phuma.learning.nets.actor_critic import ActorCritic, GroupNet
from phuma.learning.nets.config import MLPCfg
from phuma.learning.recipes.recipe import RunCfg, StageCfg

torch.set_num_threads(1)
STAGE = "policy"
JOINTS = 3
FEATURES = 30
"""frames of references"""
COMING = ComingFrames(frames=5, steps=8)


def small_cfg(seed: int = 0, **changes) -> RunCfg:
    """Values that laws are tested with, whatever the presets are; changes by their names, whatever they concern."""
    values = {
        "environments": 4, "horizon": 6, "hidden": (16, 16), "encoder": (4, 8), "init_std": 0.3, "learning_rate": 1e-3,
        "critic_rate": 1e-3, "desired_kl": 0.01, "epochs": 2, "minibatches": 2, "gamma": 0.9, "lam": 0.8,
        "clip": 0.2, "entropy": 0.005, "value": 1.0, "max_grad_norm": 1.0, "weight_decay": 0.0, "base": "feedforward",
        "randomize": False, "future": True, "substeps": 2,
    }  # fmt: skip
    values |= changes
    concerns = [
        kind(**{f.name: values.pop(f.name) for f in fields(kind) if f.name in values}) for kind in (MLPCfg, PPOCfg)
    ]
    return RunCfg("beyondmimic", {STAGE: StageCfg(EnvironmentCfg().changed(**values), *concerns)}, seed)


def small_stage(**changes) -> StageCfg:
    return small_cfg(**changes).stages[STAGE]


def group(name: str, size: int, coming: ComingFrames | None = None) -> ObservationGroup:
    """A group of so many numbers, on any robot."""
    term = ObservationTerm(name, "", size=lambda robot: size, reading=lambda context: context.action)
    return ObservationGroup(name, (term,), coming)


OWN, GOAL, CRITIC, FUTURE = (
    group("proprioception", 7),
    group("goal", 5),
    group("critic", 11),
    group("future", 6, COMING),
)


def any_observation(environments: int, seed: int = 0, features: int = FEATURES) -> Observation:
    """Random numbers; five frames of future."""
    rng = np.random.default_rng(seed)
    sizes = {"proprioception": 7, "goal": 5, "critic": 11}
    seen = {n: torch.from_numpy(rng.normal(1, 3, (environments, k)).astype(np.float32)) for n, k in sizes.items()}
    future = np.minimum(rng.integers(0, features, (environments, 1)) + COMING.offsets, features - 1)
    return seen | {"future": torch.from_numpy(future)}


def any_features(count: int = FEATURES) -> torch.Tensor:
    return torch.from_numpy(np.random.default_rng(9).normal(-2, 4, (count, 6)).astype(np.float32))


def small_net(cfg: StageCfg | None = None, seed: int = 0, features: torch.Tensor | None = None) -> ActorCritic:
    torch.manual_seed(seed)
    cfg = cfg or small_stage()
    future = (FUTURE,) if cfg.environment.future else ()
    actor = GroupNet((OWN, GOAL, *future), None, cfg.network, JOINTS)
    critic = GroupNet((CRITIC, *future), None, cfg.network, 1)
    net = ActorCritic(actor, critic, JOINTS, cfg.network.init_std)
    net.use({"future": any_features() if features is None else features})
    return net

"""Configurations and networks small enough for tests."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("mujoco")

import torch

from phuma.learning.config import LearnCfg
from phuma.learning.networks import ActorCritic
from phuma.learning.task import Observation

torch.set_num_threads(1)
JOINTS = 3
FEATURES = 30
"""frames of references"""


def small_cfg(**changes) -> LearnCfg:
    """Values that laws are tested with, whatever the presets are."""
    values = {
        "environments": 4, "horizon": 6, "hidden": (16, 16), "encoder": (4, 8), "init_std": 0.3, "learning_rate": 1e-3,
        "critic_rate": 1e-3, "desired_kl": 0.01, "epochs": 2, "minibatches": 2, "gamma": 0.9, "lam": 0.8,
        "clip": 0.2, "entropy": 0.005, "value": 1.0, "max_grad_norm": 1.0, "weight_decay": 0.0, "base": "feedforward",
        "randomize": False, "future": True, "substeps": 2,
    }  # fmt: skip
    return LearnCfg(**(values | changes))


def any_observation(robots: int, seed: int = 0, features: int = FEATURES) -> Observation:
    """Numbers that mean nothing; five frames of future."""
    rng = np.random.default_rng(seed)
    sizes = {"proprioception": 7, "goal": 5, "critic": 11}
    seen = {name: torch.from_numpy(rng.normal(1, 3, (robots, n)).astype(np.float32)) for name, n in sizes.items()}
    future = np.minimum(rng.integers(0, features, (robots, 1)) + [0, 2, 3, 5, 8], features - 1)
    return seen | {"future": torch.from_numpy(future)}


def any_features(count: int = FEATURES) -> torch.Tensor:
    return torch.from_numpy(np.random.default_rng(9).normal(-2, 4, (count, 6)).astype(np.float32))


def small_net(cfg: LearnCfg | None = None, seed: int = 0, features: torch.Tensor | None = None) -> ActorCritic:
    torch.manual_seed(seed)
    features = any_features() if features is None else features
    return ActorCritic(any_observation(4), features, JOINTS, cfg or small_cfg())

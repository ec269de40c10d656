"""Convert runs of format version 1, which had one stage and flat settings, to version 2's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from phuma.core.rotations import Array
from phuma.learning.algorithms.config import PPOCfg
from phuma.learning.env.config import EnvironmentCfg
from phuma.learning.env.disturbances import DisturbancesCfg
from phuma.learning.nets.config import MLPCfg

CHECKPOINT, STAGE = "checkpoint.npz", "policy"
RENAMED = (
    (".normalisers.", ".normalizers."),
    (".encoder.normaliser.", ".encoders.future.normalizer."),
    (".encoder.", ".encoders.future."),
)


def description(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return a description of version 1 in version 2's layout."""
    flat = document["cfg"]

    def own(kind: type) -> dict[str, Any]:
        return {f.name: flat[f.name] for f in fields(kind) if f.name in flat}

    stage = {
        "environment": {**own(EnvironmentCfg), **own(DisturbancesCfg)},
        "network": own(MLPCfg),
        "algorithm": {"name": PPOCfg.name, **own(PPOCfg)},
        "policy": {**document["policy"], "stage": STAGE},
    }
    return {
        "algo": flat["algo"], "seed": flat["seed"], "motions": document["motions"], "stages": {STAGE: stage}
    }  # fmt: skip


def checkpoint(arrays: Mapping[str, Array]) -> dict[str, Array]:
    """Return a checkpoint of version 1 with today's names."""
    return {_renamed(name): value for name, value in arrays.items()}


def _renamed(name: str) -> str:
    if name.startswith("task."):
        return f"env.{name.removeprefix('task.')}"
    if name.startswith("net."):
        for old, new in RENAMED:
            name = name.replace(old, new)
    return name

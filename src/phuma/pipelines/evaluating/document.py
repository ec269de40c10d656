"""What the document of an evaluation says beside the scores: of the policy, the simulation, and of what failed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from phuma.learning.deploy.policy import Policy, PolicyInfo
from phuma.learning.motions.library import MotionLibrary
from phuma.pipelines.evaluate_policy import physics_steps
from phuma.pipelines.evaluating.options import EvaluateCfg
from phuma.robots import Robot


def about(policy: Policy, robot: Robot) -> dict[str, Any]:
    """Return what a document says of the policy."""
    info = policy.info
    own = {"robot": robot.name, "algo": info.algo, "stage": info.stage, "steps": info.steps, "data": dict(info.data)}
    return own | of_stranger(policy)


def of_stranger(policy: Policy) -> dict[str, Any]:
    """Return what is told of another project's policy alone: what it observes, and where its numbers are not ours."""
    told = getattr(policy, "told", None)
    return {} if told is None else {"observations": list(told.observations), "differs": told.differences}


def physics(info: PolicyInfo, asked: EvaluateCfg) -> dict[str, Any]:
    """Return the conditions of the simulation."""
    step = 1000 / info.control_rate / physics_steps(info, asked.physics_dt)
    return {
        "step_ms": step, "collision": "all shapes", "noise": asked.noise, "pushes": asked.pushes,
        "episodes": asked.episodes, "seed": asked.seed,
    }  # fmt: skip


def left_out(library: MotionLibrary) -> list[dict[str, str]]:
    """Return the motions that nobody was asked to follow, with the reasons."""
    return [{"motion": name, "reason": reason} for name, reason in library.left_out]


def failed(judged: Mapping[str, Any], policy: Path) -> list[dict[str, str]]:
    """Return the motions that the policy could not be tried on to the end, with its fault."""
    rows = [row for row in judged["motions"] if row["fault"] is not None]
    return [{"motion": row["motion"], "reason": f"{policy}: {row['fault']}"} for row in rows]

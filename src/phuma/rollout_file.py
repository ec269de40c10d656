"""Rollouts on disk: `.npz` without pickle. docs/evaluation.md is the specification."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from phuma.errors import PhumaError, ReadError
from phuma.files.arrays import load_npz
from phuma.files.atomic import save_npz
from phuma.files.probe import Probe
from phuma.rollout import Rollout

FORMAT = "phuma-rollout"
VERSION = 1
ARRAYS = ("root_pos", "root_quat", "joint_pos")
NAMES = ("format", "version", "motion", "robot", "joint_names", "rate", "terminated_at", *ARRAYS)
NEVER = -1
"""What stands in a file for no termination"""


def is_rollout(probe: Probe) -> bool:
    """Whether a file is a rollout of ours, by its content."""
    return probe.kind == "npz" and set(NAMES) <= set(probe.arrays)


def save_rollout(path: str | Path, rollout: Rollout) -> None:
    """Write a rollout; whole or not at all."""
    texts = {"format": FORMAT, "motion": rollout.motion, "robot": rollout.robot}
    numbers = {
        "version": np.array(VERSION),
        "rate": np.array(rollout.rate),
        "terminated_at": np.array(NEVER if rollout.terminated_at is None else rollout.terminated_at),
    }
    arrays = {name: getattr(rollout, name).astype(np.float32) for name in ARRAYS}
    save_npz(path, texts | numbers | arrays | {"joint_names": np.array(rollout.joint_names)})


def load_rollout(path: str | Path) -> Rollout:
    """Read a rollout; every fault of the file is a ReadError."""
    probe = Probe(Path(path))
    if not is_rollout(probe):
        raise ReadError(path, f"is not a rollout ({FORMAT}), which has the arrays {', '.join(NAMES)}")
    data = load_npz(path, NAMES)
    try:
        if str(data["format"]) != FORMAT:
            raise PhumaError(f"is of format {str(data['format'])!r}; expected {FORMAT!r}")
        if (version := int(data["version"])) > VERSION:
            raise PhumaError(f"is of version {version}, newer than this program's {VERSION}: pip install -U phuma")
        return Rollout(
            str(data["motion"]),
            str(data["robot"]),
            tuple(str(n) for n in data["joint_names"]),
            float(data["rate"]),
            data["root_pos"],
            data["root_quat"],
            data["joint_pos"],
            terminated_at=None if int(data["terminated_at"]) == NEVER else int(data["terminated_at"]),
        )
    except PhumaError as e:
        raise ReadError(path, str(e)) from None
    except (TypeError, ValueError, OverflowError) as e:
        raise ReadError(path, f"is damaged: {type(e).__name__} {e}") from None

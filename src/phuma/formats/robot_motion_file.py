"""Read and write robot motions: `.npz` without pickle, as docs/formats.md specifies."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from phuma.core.robot_metrics import with_unknowns
from phuma.core.robot_motion import RobotMotion
from phuma.core.skeleton import N_JOINTS
from phuma.errors import PhumaError, ReadError
from phuma.formats.meta import ROBOT_MOTION, provenance_of, read_meta, robot_name
from phuma.io.atomic import save_npz
from phuma.io.npz import load_npz
from phuma.io.probe import Probe

FORMAT = "phuma-robot"
VERSION = 2
"""The version of the format; 2 added `contact_paper`."""
ARRAYS = ("root_pos", "root_quat", "joint_pos", "contact", "contact_paper", "human_joints", "contact_used")
NO_HUMAN = np.zeros((0, N_JOINTS, 3), dtype=np.float32)
"""The value in a file where no human is known, as of motions that others made."""


def is_robot_motion(probe: Probe) -> bool:
    """Return whether a file is a robot motion, by its content."""
    names = {"robot", "joint_names", "fps", "root_pos", "joint_pos", "contact"}  # a rollout has all but the last
    return probe.kind == "npz" and names <= set(probe.arrays)


def save_robot_motion(path: str | Path, motion: RobotMotion) -> None:
    """Write a robot motion atomically.

    >>> phuma.save_robot_motion("first_second.npz", phuma.load_robot_motion("walk.npz").cut(end=1.0))
    """
    arrays: dict[str, Any] = {
        "format": FORMAT,
        "version": np.int64(VERSION),
        "robot": motion.robot,
        "joint_names": np.array(motion.joint_names),
        "fps": np.float64(motion.fps),
        "meta": json.dumps({"provenance": asdict(motion.provenance), "report": motion.report}, sort_keys=True),
    }
    for name in ARRAYS:
        value = getattr(motion, name)
        if value is not None:
            arrays[name] = value.astype(np.float32)
    arrays.setdefault("human_joints", NO_HUMAN)
    save_npz(path, arrays)


def load_robot_motion(path: str | Path) -> RobotMotion:
    """Read a robot motion; every fault of the file is a ReadError.

    >>> phuma.load_robot_motion("walk.npz")
    RobotMotion(g1, 'walk.bvh', 2.00 s, 60 frames at 30 Hz)
    """
    probe = Probe(Path(path))
    if not is_robot_motion(probe):
        raise ReadError(path, f"is not a robot motion ({FORMAT}); `phuma inspect` says what it is")
    names = ("format", "version", "robot", "joint_names", "fps", "meta", *ARRAYS)
    data = load_npz(path, [n for n in names if n in probe.arrays])
    try:
        if int(data["version"].item()) > VERSION:
            version = int(data["version"].item())
            raise PhumaError(f"is of version {version}, newer than this program's {VERSION}: pip install -U phuma")
        meta = read_meta(str(data["meta"]), path, ROBOT_MOTION)
        arrays: dict[str, Any] = {name: data[name] for name in ARRAYS if name in data}
        if not len(arrays.setdefault("human_joints", NO_HUMAN)):
            arrays["human_joints"] = None
        quat = np.asarray(arrays["root_quat"], dtype=float)
        length = np.linalg.norm(quat, axis=-1, keepdims=True)
        # What was written here differs from 1 by rounding alone: left so, it is saved again as the same bytes.
        arrays["root_quat"] = np.where(np.abs(length - 1) > 1e-6, quat / length, quat)
        joint_names = tuple(str(n) for n in data["joint_names"])
        report = dict(meta["report"])
        if "metrics" in report:
            report["metrics"] = with_unknowns(report["metrics"])
        return RobotMotion(
            robot_name(str(data["robot"])),
            joint_names,
            float(data["fps"].item()),
            provenance=provenance_of(meta),
            report=report,
            **arrays,
        )
    except ReadError:
        raise
    except PhumaError as e:
        raise ReadError(path, str(e)) from None
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError) as e:
        raise ReadError(path, f"is damaged: {type(e).__name__} {e}") from None

"""Read and write rollouts: `.npz` without pickle, as docs/formats.md specifies."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path

import numpy as np

from phuma.core.rollout import Bundle, Rollout
from phuma.errors import PhumaError, ReadError
from phuma.formats.meta import ROLLOUT, read_meta, robot_name
from phuma.io.atomic import save_npz
from phuma.io.npz import load_npz
from phuma.io.probe import Probe

FORMAT = "phuma-rollout"
VERSION = 5
"""The version of the format; 2 renamed `rate` to `fps`, 3 added what may have been recorded beside the trajectory, 4
what deviations cost, 5 the law of the feedback."""
ARRAYS = ("root_pos", "root_quat", "joint_pos")
NAMES = ("format", "version", "motion", "robot", "joint_names", "fps", "terminated_at", *ARRAYS)
RATE = "rate"
"""The name of `fps` in version 1."""
RECORDED = ("velocity", "target", "torque", "foot_force", "gains", "value")
"""The names of arrays that only some rollouts have."""
BUNDLED = {f"bundle_{f.name}": f.name for f in fields(Bundle)}
"""The names of the arrays of a bundle, each with the name of its field."""
LATENESS, REGULATOR = "lateness", "regulator"
"""The names of the number and the text that say by which law there is feedback."""
META = "meta"
"""The name of the text that holds the report, where there is one."""
FAULT = "fault"
"""The name of the text that only rollouts of faulty policies have."""
NEVER = -1
"""The value in a file where the rollout was not terminated."""


def is_rollout(probe: Probe) -> bool:
    """Return whether a file is a rollout, by its content."""
    return probe.kind == "npz" and set(_names(probe)) <= set(probe.arrays)


def _names(probe: Probe) -> list[str]:
    """Return the names of the arrays that a file of its version has."""
    return [RATE if name == "fps" and RATE in probe.arrays else name for name in NAMES]


def save_rollout(path: str | Path, rollout: Rollout) -> None:
    """Write a rollout atomically."""
    texts = {"format": FORMAT, "motion": rollout.motion, "robot": rollout.robot}
    if rollout.fault is not None:
        texts[FAULT] = rollout.fault
    numbers = {
        "version": np.array(VERSION),
        "fps": np.array(rollout.fps),
        "terminated_at": np.array(NEVER if rollout.terminated_at is None else rollout.terminated_at),
    }
    if rollout.report:
        texts[META] = json.dumps({"report": rollout.report}, sort_keys=True)
    if rollout.lateness is not None:
        numbers[LATENESS] = np.array(rollout.lateness)
    if rollout.regulator is not None:
        texts[REGULATOR] = rollout.regulator
    recorded = [name for name in RECORDED if getattr(rollout, name) is not None]
    arrays = {name: getattr(rollout, name).astype(np.float32) for name in (*ARRAYS, *recorded)}
    if rollout.bundle is not None:
        arrays |= {name: getattr(rollout.bundle, own).astype(np.float32) for name, own in BUNDLED.items()}
    save_npz(path, texts | numbers | arrays | {"joint_names": np.array(rollout.joint_names)})


def load_rollout(path: str | Path) -> Rollout:
    """Read a rollout; every fault of the file is a ReadError."""
    probe = Probe(Path(path))
    if not is_rollout(probe):
        raise ReadError(path, f"is not a rollout ({FORMAT}), which has the arrays {', '.join(NAMES)}")
    more = [name for name in (*RECORDED, *BUNDLED, LATENESS, REGULATOR, META, FAULT) if name in probe.arrays]
    data = load_npz(path, [*_names(probe), *more])
    try:
        if str(data["format"]) != FORMAT:
            raise PhumaError(f"is of format {str(data['format'])!r}; expected {FORMAT!r}")
        if (version := int(data["version"].item())) > VERSION:
            raise PhumaError(f"is of version {version}, newer than this program's {VERSION}: pip install -U phuma")
        return Rollout(
            robot_name(str(data["robot"])),
            tuple(str(n) for n in data["joint_names"]),
            float(data[RATE if RATE in data else "fps"]),
            data["root_pos"],
            data["root_quat"],
            data["joint_pos"],
            motion=str(data["motion"]),
            terminated_at=None if int(data["terminated_at"].item()) == NEVER else int(data["terminated_at"].item()),
            fault=str(data[FAULT]) if FAULT in data else None,
            report=read_meta(str(data[META]), path, ROLLOUT)["report"] if META in data else {},
            lateness=float(data[LATENESS].item()) if LATENESS in data else None,
            regulator=str(data[REGULATOR]) if REGULATOR in data else None,
            bundle=Bundle(**{own: data[name] for name, own in BUNDLED.items()}) if set(BUNDLED) <= set(data) else None,
            **{name: data[name] for name in RECORDED if name in data},
        )
    except PhumaError as e:
        raise ReadError(path, str(e)) from None
    except (TypeError, ValueError, OverflowError) as e:
        raise ReadError(path, f"is damaged: {type(e).__name__} {e}") from None

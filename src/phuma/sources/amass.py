"""The two layouts of AMASS share path, rate, shape and gender beside the rotations."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from phuma.body.choice import Model, SmplShape
from phuma.body.smplx import GENDERS
from phuma.core.human_motion import HumanMotion, precision_of
from phuma.core.skeleton import N_JOINTS
from phuma.io.npz import load_columns, load_npz
from phuma.io.probe import Probe
from phuma.sources.reader import ReadCfg, check_length
from phuma.sources.smpl import Layout, SmplData, expect_shape, one_number, one_shape, one_text, to_motion

LICENCE = "AMASS licence (research, no redistribution)"
RATES = ("mocap_frame_rate", "mocap_framerate")
BETAS = 16
MODELS: dict[str, Model] = {"smplx": "smplx", "smplh": "smplh", "smpl": "smpl"}


def pose_columns(probe: Probe, name: str) -> NDArray[Any]:
    """Return (T, C) an array of rotation vectors, hands and face left out: at most the first 66 columns."""
    frames, columns = probe.arrays[name].shape
    check_length(probe.path, frames)
    narrow = np.float32 if precision_of(frames) is np.float32 else None
    return load_columns(probe.path, np.arange(min(columns, 3 * N_JOINTS)), name, narrow)


def read_amass(probe: Probe, layout: Layout, rotvecs: NDArray[Any], model: Model, cfg: ReadCfg) -> HumanMotion:
    """Return a motion of rotvecs (T, 66) with what the file has beside them; `model` unless the file names another."""
    path = probe.path
    expect_shape(path, "trans", probe.arrays["trans"].shape, (len(rotvecs), 3))
    extra = _optional(probe, ("betas", "gender", "surface_model_type", "licence", "redistributable", *RATES))
    rate = next((one_number(path, k, extra[k]) for k in RATES if k in extra), None)
    gender = one_text(extra["gender"]) if "gender" in extra else "neutral"
    named = one_text(extra["surface_model_type"]) if "surface_model_type" in extra else ""
    notes = () if gender in GENDERS else (f"gender {gender[:20]!r} is not known; taken as neutral",)
    shape = SmplShape(
        model=MODELS.get(named.split("_")[0], model),  # `smplx_locked_head` is SMPL-X too
        betas=one_shape(path, extra["betas"]) if "betas" in extra else None,
        gender=gender if gender in GENDERS else "neutral",
    )
    licence = one_text(extra["licence"])[:200] if "licence" in extra else None
    may = one_number(path, "redistributable", extra["redistributable"]) if "redistributable" in extra else -1
    trans = load_npz(path, ["trans"])["trans"]
    data = SmplData(trans, rotvecs, rate, shape, notes, licence, None if may < 0 else may > 0)
    return to_motion(path, layout, data, cfg)


def _optional(probe: Probe, names: tuple[str, ...]) -> dict[str, NDArray[Any]]:
    """Those of the arrays that are there and plain; objects are never unpickled."""
    arrays = probe.arrays
    return load_npz(probe.path, [n for n in names if n in arrays and not arrays[n].dtype.hasobject])

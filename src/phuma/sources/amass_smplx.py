"""AMASS in SMPL-X is read and written: `*_stageii.npz`, z-up.

It holds trans, root_orient and pose_body, or all poses in 165 columns.
"""

from __future__ import annotations

import os

import numpy as np

from phuma.core.human_motion import HumanMotion
from phuma.io.atomic import save_npz
from phuma.io.probe import Probe
from phuma.sources.amass import BETAS, LICENCE, pose_columns, read_amass
from phuma.sources.reader import ReadCfg
from phuma.sources.smpl import Layout, beside, betas_of, expect_shape, from_motion

FORMAT = "amass-smplx"
LAYOUT = Layout(FORMAT, up="z", licence=LICENCE, redistributable=False)
COLUMNS = 165  # of all poses: root 3, body 63, jaw 3, eyes 6, hands 90
PARTS = ("root_orient", "pose_body")


def recognises(probe: Probe) -> bool:
    """Return whether the file is AMASS in SMPL-X."""
    arrays = probe.arrays
    in_one = "poses" in arrays and arrays["poses"].shape[1:] == (COLUMNS,)
    return "trans" in arrays and (in_one or all(part in arrays for part in PARTS))


def is_shape_only(probe: Probe) -> bool:
    """Return whether the file is the shape of a person without a motion, as AMASS has beside its recordings."""
    arrays = probe.arrays
    return "betas" in arrays and not any(name in arrays for name in ("poses", "trans", *PARTS))


def read(probe: Probe, cfg: ReadCfg) -> list[HumanMotion]:
    """Return the one person of the recording."""
    arrays, path = probe.arrays, probe.path
    if all(part in arrays for part in PARTS):
        expect_shape(path, "root_orient", arrays["root_orient"].shape, ("frames", 3))
        expect_shape(path, "pose_body", arrays["pose_body"].shape, (arrays["root_orient"].shape[0], 63))
        rotvecs = np.concatenate([pose_columns(probe, part) for part in PARTS], axis=1)
    else:
        rotvecs = pose_columns(probe, "poses")
    return [read_amass(probe, LAYOUT, rotvecs, "smplx", cfg)]


def write(path: str | os.PathLike[str], motion: HumanMotion) -> None:
    """Write a motion in this layout: hands, jaw and eyes at rest."""
    trans, rotvecs = from_motion(motion, LAYOUT.up)
    n = len(motion)
    save_npz(
        path,
        {
            "trans": trans,
            "root_orient": rotvecs[:, :3],
            "pose_body": rotvecs[:, 3:],
            "pose_hand": np.zeros((n, 90)),
            "pose_jaw": np.zeros((n, 3)),
            "pose_eye": np.zeros((n, 6)),
            "poses": np.concatenate([rotvecs, np.zeros((n, COLUMNS - 66))], axis=1),
            "gender": "neutral",
            "surface_model_type": "smplx",
            "mocap_frame_rate": np.array(motion.fps),
            "mocap_time_length": np.array(motion.duration),
            **_betas(motion),
            **beside(motion),
        },
    )


def _betas(motion: HumanMotion) -> dict[str, np.ndarray]:
    """Nothing for a body that has none: zeros would be somebody's shape."""
    if not motion.body.name.startswith("smplx:"):
        return {}
    return {"betas": betas_of(motion, BETAS), "num_betas": np.array(BETAS)}

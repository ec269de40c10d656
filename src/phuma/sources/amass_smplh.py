"""AMASS in SMPL+H is read and written: `*_poses.npz`, z-up.

It holds trans and poses of 156 columns: root 3, body 63, hands 90.
"""

from __future__ import annotations

import os

import numpy as np

from phuma.core.human_motion import HumanMotion
from phuma.io.atomic import save_npz
from phuma.io.probe import Probe
from phuma.sources import amass_smplx
from phuma.sources.amass import BETAS, LICENCE, pose_columns, read_amass
from phuma.sources.reader import ReadCfg
from phuma.sources.smpl import Layout, expect_shape, from_motion

FORMAT = "amass-smplh"
LAYOUT = Layout(FORMAT, up="z", licence=LICENCE, redistributable=False)
COLUMNS = 156


def recognises(probe: Probe) -> bool:
    """Return whether the file is AMASS in SMPL+H."""
    arrays = probe.arrays
    return "poses" in arrays and "trans" in arrays and not amass_smplx.recognises(probe)


def read(probe: Probe, cfg: ReadCfg) -> list[HumanMotion]:
    """Return the one person of the recording."""
    expect_shape(probe.path, "poses", probe.arrays["poses"].shape, ("frames", COLUMNS))
    return [read_amass(probe, LAYOUT, pose_columns(probe, "poses"), "smplh", cfg)]


def write(path: str | os.PathLike[str], motion: HumanMotion) -> None:
    """Write a motion in this layout: hands at rest, and no shape, as no body here is SMPL+H's."""
    trans, rotvecs = from_motion(motion, LAYOUT.up)
    n = len(motion)
    save_npz(
        path,
        {
            "trans": trans,
            "poses": np.concatenate([rotvecs, np.zeros((n, COLUMNS - 66))], axis=1),
            "betas": np.zeros(BETAS),
            "dmpls": np.zeros((n, 8)),
            "gender": "neutral",
            "mocap_framerate": np.array(motion.fps),
        },
    )

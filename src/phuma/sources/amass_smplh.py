"""AMASS in SMPL+H, `*_poses.npz`: poses of 156 columns (root 3, body 63, hands 90) and trans; z-up."""

from __future__ import annotations

import os

import numpy as np

from phuma.files.arrays import load_npz
from phuma.files.atomic import save_npz
from phuma.files.probe import Probe
from phuma.motion import HumanMotion
from phuma.sources import amass_smplx
from phuma.sources.amass import BETAS, LICENCE, read_amass
from phuma.sources.reader import ReadCfg
from phuma.sources.smpl import Layout, expect_shape, from_motion

FORMAT = "amass-smplh"
LAYOUT = Layout(FORMAT, up="z", licence=LICENCE, redistributable=False)
COLUMNS = 156


def recognises(probe: Probe) -> bool:
    arrays = probe.arrays
    return "poses" in arrays and "trans" in arrays and not amass_smplx.recognises(probe)


def read(probe: Probe, cfg: ReadCfg) -> list[HumanMotion]:
    expect_shape(probe.path, "poses", probe.arrays["poses"].shape, ("frames", COLUMNS))
    rotvecs = load_npz(probe.path, ["poses"])["poses"][:, :66]
    return [read_amass(probe, LAYOUT, rotvecs, "smplh", cfg)]


def write(path: str | os.PathLike[str], motion: HumanMotion) -> None:
    """A motion in this layout: hands at rest, and no shape, as no body here is SMPL+H's."""
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

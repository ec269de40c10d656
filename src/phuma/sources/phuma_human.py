"""PHUMA's people are read and written: `.npy` of 69, 73 or 79 columns, y-up, 30 Hz.

The columns are trans 0:3, root 3:6, body 6:69; with 73 of them contacts follow, with 79 betas.
"""

from __future__ import annotations

import os

import numpy as np

from phuma.body.choice import SmplShape
from phuma.core.human_motion import HumanMotion
from phuma.io.atomic import save_npy
from phuma.io.npz import load_npy
from phuma.io.probe import Probe
from phuma.sources.reader import ReadCfg, check_length
from phuma.sources.smpl import Layout, SmplData, betas_of, from_motion, one_shape, to_motion

FORMAT = "phuma-human"
LAYOUT = Layout(FORMAT, up="y", assumed_fps=30.0)
POSE, WITH_CONTACT, WITH_BETAS = 69, 73, 79


def recognises(probe: Probe) -> bool:
    """Return whether the file is one of PHUMA's people."""
    return probe.kind == "npy" and probe.arrays[""].shape[1:] in ((POSE,), (WITH_CONTACT,), (WITH_BETAS,))


def read(probe: Probe, cfg: ReadCfg) -> list[HumanMotion]:
    """Return the one person of the recording."""
    check_length(probe.path, probe.arrays[""].shape[0])
    rows = load_npy(probe.path)
    betas = one_shape(probe.path, rows[:, POSE:]) if rows.shape[1] == WITH_BETAS else None
    # Contacts are measured anew: with 73 columns the last four go unread.
    data = SmplData(rows[:, :3], rows[:, 3:POSE], None, SmplShape("smplx", betas))
    return [to_motion(probe.path, LAYOUT, data, cfg)]


def write(path: str | os.PathLike[str], motion: HumanMotion) -> None:
    """Write a motion in this layout, which has no column for the rate: betas too when the body is SMPL-X's."""
    trans, rotvecs = from_motion(motion, LAYOUT.up)
    columns = [trans, rotvecs]
    if motion.body.name.startswith("smplx:"):
        columns.append(np.tile(betas_of(motion, WITH_BETAS - POSE), (len(motion), 1)))
    save_npy(path, np.concatenate(columns, axis=1).astype(np.float32))

"""Motion-X is read and written: `.npy` of 322 columns, y-up, 30 Hz.

The columns are root 0:3, body 3:66, hands and face, trans 309:312, betas 312:322.

Its AMASS part was turned to y-up without regard to the rest pelvis, which shifts a recording by a constant: harmless,
as the ground is found anew.
"""

from __future__ import annotations

import os

import numpy as np

from phuma.body.choice import SmplShape
from phuma.core.human_motion import HumanMotion
from phuma.io.atomic import save_npy
from phuma.io.npz import load_columns
from phuma.io.probe import Probe
from phuma.sources.reader import ReadCfg, check_length
from phuma.sources.smpl import Layout, SmplData, betas_of, from_motion, one_shape, to_motion

FORMAT = "motion-x"
LAYOUT = Layout(
    FORMAT, up="y", licence="Motion-X licence (research, no redistribution)", redistributable=False, assumed_fps=30.0
)
COLUMNS = 322
TRANS, BETAS = slice(309, 312), slice(312, 322)
USED = np.r_[:66, TRANS, BETAS]


def recognises(probe: Probe) -> bool:
    """Return whether the file is Motion-X."""
    return probe.kind == "npy" and probe.arrays[""].shape[1:] == (COLUMNS,)


def read(probe: Probe, cfg: ReadCfg) -> list[HumanMotion]:
    """Return the one person of the recording."""
    check_length(probe.path, probe.arrays[""].shape[0])
    rows = load_columns(probe.path, USED)
    shape = SmplShape("smplx", one_shape(probe.path, rows[:, 69:]))
    return [to_motion(probe.path, LAYOUT, SmplData(rows[:, 66:69], rows[:, :66], None, shape), cfg)]


def write(path: str | os.PathLike[str], motion: HumanMotion) -> None:
    """Write a motion in this layout, which has no column for the rate: hands and face at rest."""
    rows = np.zeros((len(motion), COLUMNS), dtype=np.float32)
    rows[:, TRANS], rows[:, :66] = from_motion(motion, LAYOUT.up)
    rows[:, BETAS] = betas_of(motion, 10)
    save_npy(path, rows)

"""FreeMoCap is read: `output_data/mediapipe_skeleton_3d.npy`, (frames, points, 3) in millimetres, z-up.

The first 33 points are MediaPipe's body; hands and face, which follow, go unread.
"""

from __future__ import annotations

import numpy as np

from phuma.core.human_motion import HumanMotion
from phuma.errors import ReadError
from phuma.io.npz import load_npy
from phuma.io.probe import Probe
from phuma.sources.points import Points, check_extent, motion_of
from phuma.sources.reader import ReadCfg, check_length
from phuma.video.landmarks import NAMES

FORMAT = "freemocap"
BODY = len(NAMES)
COUNTS = (BODY, BODY + 42, BODY + 42 + 468, BODY + 42 + 478)
"""Numbers of points: the body, with two hands, and with a face without or with its irises"""


def recognises(probe: Probe) -> bool:
    """Return whether the file is FreeMoCap's."""
    if probe.kind != "npy":
        return False
    shape, dtype = probe.arrays[""]
    return len(shape) == 3 and shape[1] in COUNTS and shape[2] == 3 and dtype.kind == "f"


def read(probe: Probe, cfg: ReadCfg) -> list[HumanMotion]:
    """Return the one person of the recording."""
    return [motion_of(probe.path, FORMAT, parse(probe), cfg)]


def parse(probe: Probe) -> Points:
    """Return the points of the body."""
    path = probe.path
    check_length(path, probe.arrays[""].shape[0])
    with np.errstate(all="ignore"):  # of strange bit patterns
        positions = load_npy(path)[:, :BODY].astype(np.float64) / 1000
        positions[~(np.abs(positions) < 1e5).all(axis=2)] = np.nan
    if np.count_nonzero(np.isfinite(positions).any(axis=(1, 2))) < 2:
        raise ReadError(path, "holds fewer than two frames in which a point is known")
    check_extent(path, positions, "millimetres")
    return Points(NAMES, positions, None, "z")

"""GVHMR is read: `hmr4d_results.pt`, one person in SMPL-X, y-up, in the world and in the camera.

It holds `smpl_params_global` and `smpl_params_incam`, each with body_pose (F, 63), global_orient (F, 3), transl (F, 3)
and betas (F, 10); the world's are read.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from phuma.body.choice import SmplShape
from phuma.core.human_motion import HumanMotion
from phuma.io.probe import Probe
from phuma.sources.fields import field, has
from phuma.sources.reader import ReadCfg
from phuma.sources.smpl import Layout, one_shape
from phuma.sources.tracks import FILM_RATE, Track, motions_of

FORMAT = "gvhmr"
LAYOUT = Layout(FORMAT, up="y", assumed_fps=FILM_RATE)
WORLD = "smpl_params_global"
SUNK = "the model put its lowest joint on the ground, so soles lie below it; curation finds the ground"


def recognises(probe: Probe) -> bool:
    """Return whether the file is GVHMR's."""
    return has(probe.content, [WORLD])


def read(probe: Probe, cfg: ReadCfg) -> list[HumanMotion]:
    """Return the one person of the film."""
    return read_parameters(probe.path, LAYOUT, probe.content, WORLD, cfg)


def read_parameters(path: Path, layout: Layout, content: Any, name: str, cfg: ReadCfg) -> list[HumanMotion]:
    """Return the one person whose SMPL-X parameters lie under `name`."""
    parameters = content[name]
    root = field(path, name, parameters, "global_orient", ("frames", 3))
    frames = len(root)
    body = field(path, name, parameters, "body_pose", (frames, 63))
    trans = field(path, name, parameters, "transl", (frames, 3))
    betas = (
        one_shape(path, field(path, name, parameters, "betas", (frames, "betas"))) if "betas" in parameters else None
    )
    track = Track("", np.arange(frames), np.concatenate([root, body], axis=1), trans, SmplShape("smplx", betas))
    return motions_of(path, layout, [track], cfg, (SUNK,))


def is_companion(path: Path) -> bool:
    """Return whether this is what GVHMR made on its way to its results: boxes, key points, features."""
    return path.parent.name == "preprocess" and (path.parent.parent / "hmr4d_results.pt").exists()

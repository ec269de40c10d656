"""TRAM is read: `hps/hps_track_K.npy`, one person in SMPL in the camera, and `camera.npy` in the folder above.

A track holds pred_rotmat (N, 24, 3, 3), pred_trans (N, 1, 3), pred_shape (N, 10) and frame (N,), as tensors; the camera
has a rotation R and a place T for every frame of the film. A point X of the posed body is at R X + T in the world, so
the pelvis is at R (trans + J_0) + T, with J_0 the rest pelvis. `world_cam_R` and `world_cam_T` are y-up by the gravity
that was seen in the first frame; older files have only `pred_cam_R` and `pred_cam_T`, by the first camera, whose y is
down.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from phuma.body.choice import SmplShape
from phuma.core.human_motion import HumanMotion
from phuma.core.rotations import Array
from phuma.errors import ReadError
from phuma.io.probe import Probe
from phuma.sources.fields import field, frame_numbers, has, rotvecs_of
from phuma.sources.reader import ReadCfg
from phuma.sources.smpl import Layout, one_shape
from phuma.sources.tracks import FILM_RATE, SMPL_PELVIS, Track, motions_of

FORMAT = "tram"
LAYOUT = Layout(FORMAT, up="y", assumed_fps=FILM_RATE)
KEYS = ("pred_rotmat", "pred_trans", "frame")
CAMERA = "camera.npy"
BESIDE = (CAMERA, "boxes.npy", "masks.npy", "tracks.npy")
FROM_CAMERA = np.diag([1.0, -1.0, -1.0])
"""Axes of a level camera (right, down, ahead) to a world with y up"""
LEVEL = "no gravity in the file: the camera is taken to be level in the first frame"


def recognises(probe: Probe) -> bool:
    """Return whether the file is a track of TRAM's."""
    return has(probe.content, KEYS)


def read(probe: Probe, cfg: ReadCfg) -> list[HumanMotion]:
    """Return the one person of the track, in the world of the camera's file."""
    path, content = probe.path, probe.content
    rotmat = field(path, "", content, "pred_rotmat", ("frames", 24, 3, 3))
    trans = field(path, "", content, "pred_trans", (len(rotmat), 1, 3))[:, 0]
    frames = frame_numbers(path, "track", content, "frame")
    if len(frames) != len(rotmat):
        raise ReadError(path, f"frame has {len(frames)} numbers for {len(rotmat)} rotations; expected as many")
    betas = field(path, "", content, "pred_shape", (len(rotmat), "betas")) if "pred_shape" in content else None
    turn, place, notes = _camera(path, frames)
    rotvecs = rotvecs_of(path, "pred_rotmat", _turned(rotmat, turn))
    in_camera = trans.astype(np.float64) + SMPL_PELVIS
    in_world = np.einsum("nij,nj->ni", turn, in_camera) + place - SMPL_PELVIS
    shape = SmplShape("smpl", None if betas is None else one_shape(path, betas))
    return motions_of(path, LAYOUT, [Track("", frames, rotvecs, in_world, shape)], cfg, notes)


def is_companion(path: Path) -> bool:
    """Return whether this lies beside TRAM's tracks and is none."""
    return path.name in BESIDE and (path.parent / "hps").is_dir()


def _turned(rotmat: Any, turn: Array) -> Array:
    with np.errstate(all="ignore"):  # of strange bit patterns
        out = rotmat.astype(np.float64)
        out[:, 0] = turn @ out[:, 0]
    return out


def _camera(path: Path, frames: Array) -> tuple[Array, Array, tuple[str, ...]]:
    """Return (N, 3, 3) and (N, 3) m: where the camera of each frame is in a y-up world, and notes."""
    file = next((f for f in (path.parent / CAMERA, path.parent.parent / CAMERA) if f.is_file()), None)
    if file is None:
        raise ReadError(
            path,
            f"is a track of TRAM's without its camera; put {CAMERA}, which TRAM writes into the folder of the film, "
            f"beside it or into {path.parent.parent.resolve()}",
        )
    content = Probe(file).content
    told = has(content, ["world_cam_R", "world_cam_T"])
    name = "world_cam" if told else "pred_cam"
    turn = field(file, "", content, f"{name}_R", ("frames", 3, 3))
    place = field(file, "", content, f"{name}_T", (len(turn), 3))
    if len(frames) and frames[-1] >= len(turn):
        raise ReadError(file, f"has {len(turn)} frames; the track {path.name} goes on to frame {frames[-1]}")
    with np.errstate(all="ignore"):  # of strange bit patterns
        turn, place = turn[frames].astype(np.float64), place[frames].astype(np.float64)
    if not (np.isfinite(turn).all() and np.isfinite(place).all()):
        raise ReadError(file, f"{name}_R or {name}_T holds values that are not finite")
    if told:
        return turn, place, ()
    return FROM_CAMERA @ turn, place @ FROM_CAMERA.T, (LEVEL,)

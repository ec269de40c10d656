"""Files as video models write them, by their own libraries where those are here, else byte for byte as they would."""

from __future__ import annotations

import io
import pickle
import sys
import types
import zlib
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch

from phuma.core import rotations as rot
from phuma.core.human_motion import HumanMotion
from phuma.sources.smpl import from_motion
from phuma.sources.tracks import SMPL_PELVIS

HANDS = 6  # numbers of SMPL's two hands, behind the 66 that are read


# joblib


class NumpyArrayWrapper:
    """What joblib pickles in an array's place."""

    def __init__(self, array: np.ndarray, aligned: bool) -> None:
        self.subclass = type(array)
        self.shape = array.shape
        self.order = "F" if array.flags.f_contiguous and not array.flags.c_contiguous else "C"
        self.dtype = array.dtype
        self.allow_mmap = not array.dtype.hasobject
        if aligned:
            self.numpy_array_alignment_bytes = 16


NumpyArrayWrapper.__module__ = "joblib.numpy_pickle"


class _Pickler(pickle._Pickler):
    """Writes each array behind what stands for it, outside the pickle's frames."""

    def __init__(self, f: io.BytesIO, aligned: bool) -> None:
        super().__init__(f, protocol=4)
        self.f, self.aligned = f, aligned

    def save(self, obj: Any, save_persistent_id: bool = True) -> None:
        if type(obj) is not np.ndarray:
            super().save(obj, save_persistent_id)
            return
        super().save(NumpyArrayWrapper(obj, self.aligned))
        self.framer.commit_frame(force=True)
        if obj.dtype.hasobject:
            pickle.dump(obj, self.f, protocol=5)
            return
        if self.aligned:
            padding = 16 - (self.f.tell() + 1) % 16
            self.f.write(bytes([padding]) + b"\xff" * padding)
        self.f.write(obj.tobytes("F" if obj.flags.f_contiguous and not obj.flags.c_contiguous else "C"))


@contextmanager
def importable() -> Iterator[None]:
    """joblib's module, as far as a pickler looks for it."""
    module = types.ModuleType("joblib.numpy_pickle")
    module.NumpyArrayWrapper = NumpyArrayWrapper  # type: ignore[attr-defined]
    before = {name: sys.modules.get(name) for name in ("joblib", "joblib.numpy_pickle")}
    sys.modules.update({"joblib": types.ModuleType("joblib"), "joblib.numpy_pickle": module})
    try:
        yield
    finally:
        for name, old in before.items():
            if old is None:
                del sys.modules[name]
            else:
                sys.modules[name] = old


def joblib_bytes(value: Any, compress: bool = False, aligned: bool = True) -> bytes:
    """What `joblib.dump` writes; before version 1.2 arrays were not aligned."""
    stream = io.BytesIO()
    with importable():
        _Pickler(stream, aligned).dump(value)
    return zlib.compress(stream.getvalue(), 3) if compress else stream.getvalue()


# The models' files


def single(array: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(array, dtype=np.float32)


def y_up(motion: HumanMotion) -> tuple[np.ndarray, np.ndarray]:
    """Translation (T, 3) and rotation vectors (T, 66), in single precision."""
    trans, rotvecs = from_motion(motion, "y")
    return single(trans), single(rotvecs)


def gvhmr_content(motion: HumanMotion, name: str = "smpl_params") -> dict:
    trans, rotvecs = y_up(motion)
    parameters = {
        "body_pose": torch.from_numpy(rotvecs[:, 3:].copy()),
        "betas": torch.full((1, 10), 0.25).repeat(len(motion), 1),
        "global_orient": torch.from_numpy(rotvecs)[:, :3],  # a view, with strides of the whole
        "transl": torch.from_numpy(trans),
    }
    still = {k: torch.zeros_like(v) for k, v in parameters.items()}
    return {
        f"{name}_global": parameters,
        f"{name}_incam": still,
        "K_fullimg": torch.eye(3).expand(len(motion), 3, 3),
        "net_outputs": {"static_conf_logits": torch.zeros(1, len(motion), 6), "size": torch.zeros(2).shape},
    }


def write_gvhmr(path: Path, motion: HumanMotion) -> Path:
    torch.save(gvhmr_content(motion), path)
    return path


def write_gem(path: Path, motion: HumanMotion) -> Path:
    torch.save({**gvhmr_content(motion, "body_params"), "segment_info": [{"type": "video", "start": 0}]}, path)
    return path


def smpl_matrices(rotvecs: np.ndarray) -> np.ndarray:
    """(N, 24, 3, 3): the 22 joints and SMPL's hands, at rest."""
    full = np.concatenate([rotvecs, np.zeros((len(rotvecs), HANDS))], axis=1)
    return rot.to_matrix(rot.from_rotvec(full.reshape(len(full), 24, 3)))


def camera_path(frames: int) -> tuple[np.ndarray, np.ndarray]:
    """(F, 3, 3) and (F, 3): a camera that walks and turns, seen from a y-up world."""
    time = np.arange(frames) / 30
    turn = rot.from_rotvec(np.stack([np.pi + 0.2 * np.sin(time), 0.8 * time, 0.1 * time], axis=1))
    return rot.to_matrix(turn), np.stack([0.3 * time, 1.2 + 0.05 * np.sin(3 * time), -3 + 0.4 * time], axis=1)


def tram_content(motion: HumanMotion, frames: np.ndarray | None = None) -> tuple[dict, dict]:
    """A track, and the camera: the world's pelvis stands at R (t + J_0) + T."""
    frames = np.arange(len(motion)) if frames is None else frames
    turn, place = camera_path(int(frames[-1]) + 1)
    r, t = turn[frames], place[frames]
    trans, rotvecs = from_motion(motion, "y")
    matrices = smpl_matrices(rotvecs)
    matrices[:, 0] = np.swapaxes(r, 1, 2) @ matrices[:, 0]
    in_camera = np.einsum("nji,nj->ni", r, trans + SMPL_PELVIS - t) - SMPL_PELVIS
    track = {
        "pred_cam": torch.zeros(len(frames), 3),
        "pred_pose": torch.zeros(len(frames), 144),
        "pred_shape": torch.zeros(len(frames), 10),
        "pred_rotmat": torch.from_numpy(single(matrices)),
        "pred_trans": torch.from_numpy(single(in_camera[:, None])),
        "frame": torch.from_numpy(frames),
    }
    camera = {
        "pred_cam_R": single(turn), "pred_cam_T": single(place), "world_cam_R": single(turn),
        "world_cam_T": single(place), "img_focal": np.float32(1000), "img_center": np.array([960.0, 540.0]),
    }  # fmt: skip
    return track, camera


def write_tram(folder: Path, motion: HumanMotion, frames: np.ndarray | None = None) -> Path:
    """FOLDER/hps/hps_track_0.npy, with FOLDER/camera.npy."""
    track, camera = tram_content(motion, frames)
    (folder / "hps").mkdir(parents=True, exist_ok=True)
    np.save(folder / "camera.npy", camera, allow_pickle=True)
    np.save(folder / "hps/hps_track_0.npy", track, allow_pickle=True)
    return folder / "hps/hps_track_0.npy"


Seen = tuple[HumanMotion, np.ndarray]
"""A person, and the frames of the film in which each frame of the motion lies"""


def everything(motion: HumanMotion) -> Seen:
    return motion, np.arange(len(motion))


def wham_content(*people: Seen) -> dict:
    results: dict = defaultdict(dict)
    for number, (motion, frames) in enumerate(people):
        trans, rotvecs = y_up(motion)
        pose = np.concatenate([rotvecs, np.zeros((len(frames), HANDS), np.float32)], axis=1)
        results[np.int64(number)].update(
            pose=np.zeros_like(pose), trans=np.zeros_like(trans), pose_world=pose, trans_world=trans,
            betas=np.zeros((len(frames), 10), np.float32), verts=np.zeros((len(frames), 20, 3), np.float32),
            frame_ids=frames,
        )  # fmt: skip
    return results


def write_wham(path: Path, *people: Seen, **how: bool) -> Path:
    path.write_bytes(joblib_bytes(wham_content(*people), **how))
    return path


def prompthmr_content(*people: Seen) -> dict:
    out: dict = {}
    for number, (motion, frames) in enumerate(people, start=1):
        trans, rotvecs = y_up(motion)
        pose = np.concatenate([rotvecs, np.zeros((len(frames), 99), np.float32)], axis=1)
        world = {"pose": pose, "shape": np.zeros((len(frames), 10), np.float32), "trans": trans}
        out[number] = {"frames": frames, "track_id": number, "smplx_cam": {}, "smplx_world": world}
    masks = np.zeros((4, 6, 8), bool)
    return {"camera": {"img_focal": np.float64(900)}, "people": out, "masks": masks, "has_tracks": True}


def write_prompthmr(path: Path, *people: Seen, **how: bool) -> Path:
    path.write_bytes(joblib_bytes(prompthmr_content(*people), **how))
    return path


def phalp_content(*people: Seen, unseen: tuple[int, ...] = (), shots: tuple[int, ...] = ()) -> dict:
    """Pictures by name. In those numbered `unseen` everybody is only predicted; with those in `shots` a shot begins."""
    last = max(int(frames[-1]) for _, frames in people)
    pictures: dict = {}
    for t in range(last + 1):
        pictures[f"_DEMO/film/{t:06d}.jpg"] = {
            "time": t, "shot": int(t in shots), "frame_path": f"_DEMO/film/{t:06d}.jpg", "tracked_ids": [],
            "tid": [], "bbox": [], "tracked_time": [], "smpl": [], "camera": [], "conf": [], "mask": [],
        }  # fmt: skip
    by_time = list(pictures.values())
    for tid, (motion, frames) in enumerate(people, start=1):
        matrices = smpl_matrices(from_motion(motion, "y")[1])
        matrices[:, 0] = np.diag([1.0, -1.0, -1.0]) @ matrices[:, 0]
        for row, frame in enumerate(frames):
            smpl = {"global_orient": single(matrices[row, :1]), "body_pose": single(matrices[row, 1:])}
            picture = by_time[frame]
            picture["tid"].append(tid)
            picture["tracked_time"].append(int(frame in unseen))
            picture["smpl"].append({**smpl, "betas": np.zeros(10, np.float32)})
            picture["camera"].append(np.array([0.0, 0.0, 40.0], np.float32))
            picture["bbox"].append(np.zeros(4))
            picture["conf"].append(np.float32(0.9))
            picture["mask"].append([{"size": [4, 4], "counts": "04"}])
    return pictures


def write_phalp(path: Path, *people: Seen, **how: Any) -> Path:
    path.write_bytes(joblib_bytes(phalp_content(*people, **how), compress=True))
    return path

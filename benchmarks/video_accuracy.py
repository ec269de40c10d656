"""How well people in real films are lifted: four calibrated views of one person, and somebody who walks by.

The films come with two packages. PHUMA_FILMS names a folder that holds their wheels:
pip download --no-deps --dest FOLDER pose2sim==0.10.49 sports2d==0.8.34
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import NamedTuple

import numpy as np

from lifting import aligned
from phuma.core.rotations import Array
from phuma.curation import curate
from phuma.video.estimate import landmarks_of
from phuma.video.landmarks import NAMES, Landmarks
from phuma.video.lift import LiftCfg, Lifted, lift
from phuma.video.markers import marker_positions
from phuma.video.pinhole import up_of
from tables import markdown, save

FILMS = os.environ.get("PHUMA_FILMS", "")
VIEWS = "Pose2Sim/Demo_SinglePerson"
JOINTS = tuple(
    f"{side}_{part}"
    for part in ("shoulder", "elbow", "wrist", "hip", "knee", "ankle")
    for side in ("left", "right")
)  # fmt: skip
COLUMNS = [NAMES.index(name) for name in JOINTS]
ROUNDS, WIDTH = 6, 0.03
"""Of triangulation: times that rays are weighted anew, and m beyond which a ray counts less"""


class View(NamedTuple):
    """A calibrated camera."""

    rotation: Array
    """(3, 3) from the world to its axes: right, down, away"""
    position: Array
    """(3,) m"""
    focal: float
    centre: Array
    """(2,) px"""
    bent: tuple[float, float]
    """Radial distortion"""


def views(folder: Path) -> list[View]:
    """The calibration of the four films; its rows are the camera's right, up and back."""
    text = (folder / VIEWS / "calibration" / "Calib.qca.txt").read_text()
    out = []
    for transform, intrinsic in zip(re.findall(r"<transform (.*?)/>", text), re.findall(r"<intrinsic (.*?)/>", text)):
        a = {k: float(v) for k, v in re.findall(r'(\w+)="([-\d.]+)"', transform + intrinsic)}
        rows = np.array([[a[f"r{i}{j}"] for j in (1, 2, 3)] for i in (1, 2, 3)])
        out.append(
            View(
                rows * [[1], [-1], [-1]],
                np.array([a["x"], a["y"], a["z"]]) / 1e3,
                a["focalLengthU"] / 64,
                np.array([a["centerPointU"], a["centerPointV"]]) / 64,
                (a["radialDistortion1"], a["radialDistortion2"]),
            )
        )
    return out


def triangulated(seen: list[Landmarks], cameras: list[View]) -> Array:
    """(T, 33, 3) m: the points nearest to the rays of all views, rays that are far off counting less."""
    frames = min(map(len, seen))
    points: Array | None = None
    for _ in range(ROUNDS):
        left, right = np.zeros((frames, len(NAMES), 3, 3)), np.zeros((frames, len(NAMES), 3))
        for landmarks, view in zip(seen, cameras):
            flat = (landmarks.image[:frames] - view.centre) / view.focal
            square = (flat**2).sum(axis=-1, keepdims=True)
            flat = flat / (1 + view.bent[0] * square + view.bent[1] * square**2)
            ray = np.concatenate([flat, np.ones_like(square)], axis=-1) @ view.rotation
            ray /= np.linalg.norm(ray, axis=-1, keepdims=True)
            across = np.eye(3) - ray[..., :, None] * ray[..., None, :]
            weight = landmarks.visibility[:frames] ** 2
            if points is not None:
                away = np.linalg.norm((across @ (points - view.position)[..., None])[..., 0], axis=-1)
                weight = weight / (1 + (away / WIDTH) ** 2)
            left += weight[..., None, None] * across
            right += weight[..., None] * (across @ view.position)
        points = np.linalg.solve(left + 1e-9 * np.eye(3), right[..., None])[..., 0]
    assert points is not None
    return points


def off(found: Array, truth: Array) -> float:
    """mm, PA-MPJPE of points (T, N, 3)."""
    return 1e3 * float(np.mean([np.linalg.norm(aligned(a, b) - b, axis=-1).mean() for a, b in zip(found, truth)]))


def joints_of(one: Lifted) -> Array:
    return marker_positions(one.motion, JOINTS, one.motion.body.shape["stature"])


def view_row(folder: Path, number: int, model: str, reference: Array, view: View) -> list[float]:
    """Frames kept %, PA-MPJPE of the network and of the lifted body mm, tilt of gravity degrees."""
    estimate = landmarks_of(folder / VIEWS / "videos" / f"cam0{number}.mp4", model=model)
    landmarks, kept, errors, raw, tilts = estimate.landmarks, 0, [], [], []
    spans = estimate.info.stretches
    for one in lift(landmarks, LiftCfg(), spans=spans) if spans else []:
        first = round(one.motion.provenance.start * landmarks.fps)
        frames = slice(first, min(first + len(one.motion), len(reference)))
        truth = reference[frames][:, COLUMNS]
        errors.append(off(joints_of(one), truth) * len(truth))
        raw.append(off(landmarks.world[frames][:, COLUMNS], truth) * len(truth))
        cosine = up_of(one.camera.pitch, one.camera.roll) @ view.rotation @ [0.0, 0.0, 1.0]
        tilts.append(np.degrees(np.arccos(cosine)) * len(truth))
        kept += len(truth)
    total = min(len(landmarks), len(reference))
    return [100 * kept / total, *(float(sum(v)) / max(kept, 1) for v in (raw, errors, tilts))]


def four_views(folder: Path) -> str:
    cameras = views(folder)
    films = [folder / VIEWS / "videos" / f"cam0{n}.mp4" for n in (1, 2, 3, 4)]
    reference = triangulated([landmarks_of(f, model="heavy").landmarks for f in films], cameras)
    rows: list[list[object]] = []
    for model in ("full", "heavy"):
        each = [view_row(folder, n, model, reference, view) for n, view in enumerate(cameras, 1)]
        shares = np.array([row[0] for row in each])
        mean = [float(shares.mean()), *(float(np.average(c, weights=shares)) for c in list(zip(*each))[1:])]
        for n, numbers in enumerate([*each, mean], 1):
            rows.append([model, f"view {n}" if n <= len(each) else "mean", *(f"{v:.0f}" for v in numbers[:3])])
            rows[-1].append(f"{numbers[3]:.1f}")
    head = ["model", "", "frames kept %", "network PA-MPJPE mm", "lifted PA-MPJPE mm", "gravity off °"]
    return markdown(head, rows)


def walk(folder: Path) -> str:
    """The woman who walks past, and the man who stands on a box and jumps off it."""
    film, rows = folder / "Sports2D" / "Demo" / "demo.mp4", []
    cases = (("a woman walks by", 2.5, 6.0, 2), ("a man on a box jumps off it", 0.3, 7.7, 1))
    for model in ("full", "heavy"):
        for name, start, end, person in cases:
            estimate = landmarks_of(film, model=model, start=start, end=end, person=person)
            for one in lift(estimate.landmarks, LiftCfg(), spans=estimate.info.stretches):
                path = one.motion.root_pos[:, :2]
                speed = float(np.linalg.norm(path[-1] - path[0])) / one.motion.duration
                clips = curate(one.motion).clips
                reasons = sorted({r.split(":")[0] for c in clips for r in c.verdict.reasons})
                begun = start + one.motion.provenance.start
                seconds = f"{begun:.1f} to {begun + one.motion.duration:.1f}"
                kept = sum(c.verdict.kept for c in clips)
                rows.append([model, name, seconds, f"{speed:.2f}", f"{kept} of {len(clips)}", ", ".join(reasons)])
    return markdown(["model", "film", "seconds", "speed m/s", "clips kept", "reasons"], rows)


def main() -> None:
    wheels = [w for name in ("pose2sim", "sports2d") for w in Path(FILMS).glob(f"{name}-*.whl")] if FILMS else []
    if len(wheels) < 2:
        print(f"skipped: no films at {FILMS or 'PHUMA_FILMS'}; {__doc__.splitlines()[-1]}")
        return
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        for wheel in wheels:
            with zipfile.ZipFile(wheel) as z:
                z.extractall(folder, [n for n in z.namelist() if "/Demo" in n and n.endswith((".mp4", ".txt"))])
        save(
            "video_accuracy",
            "People in real films",
            "Four views of a person who balances (1.7 s, PyPI `pose2sim`, BSD-3): stature, focal length and gravity "
            "unknown; distance of 12 joints from those triangulated from the four views' landmarks, after alignment. "
            "Frames kept are those that the checks leave.",
            four_views(folder),
            "A film with two people (PyPI `sports2d`, BSD-3), judged by the default preset of curation:",
            walk(folder),
        )


if __name__ == "__main__":
    sys.exit(main())

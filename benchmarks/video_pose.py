"""What landmarks of a film cost: CPU time with decoding, memory; and how far they are from mediapipe's own."""

from __future__ import annotations

import os
import re
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from phuma.video.estimate import landmarks_of
from phuma.video.film import ffmpeg, open_film
from phuma.video.frames import frames
from phuma.video.landmarker import SIZE, Landmarker, decode
from phuma.video.region import Region
from phuma.video.weights import LANDMARKERS, fetched
from tables import markdown, save

DATA = Path(__file__).parents[1] / "tests" / "video" / "data"
FILMS = (
    # name, size, seconds, model
    ("1080p, 20 s", "1920:1080", 20, "full"),
    ("1080p, 20 s", "1920:1080", 20, "heavy"),
    ("4K, 20 s", "3840:2160", 20, "full"),
    ("1080p, 10 min", "1920:1080", 600, "full"),
)


def film(path: Path, size: str, seconds: int) -> Path:
    """A walk to and fro, as long as it is wanted."""
    part = path.with_name("part.mp4")
    shape = f"pad=852:480:0:80,split[a][b];[b]reverse[c];[a][c]concat=n=2,scale={size}"
    quiet = [ffmpeg(), "-v", "error", "-y"]
    subprocess.run(
        [*quiet, "-i", DATA / "walk.mp4", "-filter_complex", shape, "-c:v", "libx264", "-preset", "fast", part],
        check=True,
    )
    subprocess.run([*quiet, "-stream_loop", "-1", "-i", part, "-t", str(seconds), "-c", "copy", path], check=True)
    return path


def measure(path: str, model: str) -> None:
    """In a process of its own: CPU seconds of it and of ffmpeg, frames, share seen, and the most memory of both."""
    child = 0.0

    def look(done: int, of: int | None) -> None:
        nonlocal child
        if done % 100 == 0:
            child = max([child, *(peak_megabytes(pid) for pid in children())])

    landmarks = landmarks_of(path, model=model, progress=look).landmarks
    own, theirs = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    seen = float((landmarks.presence > 0).mean())
    print(
        own.ru_utime + own.ru_stime, theirs.ru_utime + theirs.ru_stime, len(landmarks), seen,
        peak_megabytes("self"), child,
    )  # fmt: skip


def children() -> list[str]:
    """The ids of the processes that this one has started."""
    return Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()


def peak_megabytes(process: str) -> float:
    try:
        return int(re.findall(r"VmHWM:\s+(\d+)", Path(f"/proc/{process}/status").read_text())[0]) / 1024
    except (OSError, IndexError):
        return 0.0


def cost_rows(folder: Path) -> list[list[object]]:
    rows: list[list[object]] = []
    for name, size, seconds, model in FILMS:
        path = film(folder / "film.mp4", size, seconds)
        # Landmarks that are known already cost nothing, so each has a cache of its own, but not for the weights.
        with tempfile.TemporaryDirectory() as cache:
            (Path(cache) / "weights").symlink_to(fetched(LANDMARKERS[model]).parent)
            done = subprocess.run(
                [sys.executable, __file__, str(path), model], capture_output=True, text=True, check=True,
                env=os.environ | {"PHUMA_CACHE": cache},
            )  # fmt: skip
        own, theirs, count, seen, memory, child = map(float, done.stdout.split())
        each = (f"{1000 * cpu / count:.1f}" for cpu in (own, theirs))
        rest = (f"{count / (own + theirs):.0f}", f"{memory:.0f}", f"{child:.0f}")
        rows.append([f"{name}, `{model}`", int(count), f"{100 * seen:.0f} %", *each, *rest])
        print(rows[-1], file=sys.stderr)
    return rows


def agreement_rows() -> list[list[object]]:
    """Differences to mediapipe's landmarks in the same regions of the same pictures, by how crops are made."""
    told = np.load(DATA / "mediapipe.npz")
    landmarker = Landmarker(fetched(LANDMARKERS["full"]))
    ways = {
        "as it is done": (lambda region: region, True),
        "samples in the middle of their cells": (middle, True),
        "black beyond the picture": (lambda region: region, False),
    }
    rows: list[list[object]] = []
    for way, (moved, edge) in ways.items():
        world, image = [], []
        for name in ("walk", "beam"):
            pictures = list(frames(open_film(DATA / f"{name}.mp4")))[::10]
            arrays = (told[f"{name}_alone_{key}"] for key in ("region", "world", "image"))
            for picture, where, told_world, told_image in zip(pictures, *arrays):
                height, width = picture.shape[:2]
                region = Region(where[0] * width, where[1] * height, where[2] * width, where[4])
                points, presence, _, maps, flat = landmarker.network(moved(region).crop(picture, SIZE, 0.0, 1.0, edge))
                pose = decode(points, presence, maps, flat, region)
                world.append(1000 * np.linalg.norm(pose.world - told_world[:, :3], axis=1))
                image.append(np.linalg.norm(pose.image - told_image[:, :2] * [width, height], axis=1))
        rows.append([way, *(f"{v:.2f}" for v in (np.median(world), np.percentile(world, 95), np.median(image)))])
    return rows


def middle(region: Region) -> Region:
    """The region whose samples at corners are those of another in the middle of cells and of pixels."""
    x, y = region.to_picture(np.full(2, 0.5 + 0.5 / SIZE)) - 0.5
    return Region(x, y, region.size, region.angle)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        save(
            "video_pose",
            "What landmarks of a film cost",
            "A film of one person at 30 frames/s, from the file to landmarks and findings: milliseconds of CPU time a "
            "frame, on one thread, of this program and of ffmpeg, which decodes and scales; frames/s of one core that "
            "does both; the most memory of each:",
            markdown(
                ["film", "frames", "seen", "ours, ms", "ffmpeg, ms", "frames/s", "memory, MB", "ffmpeg's, MB"],
                cost_rows(Path(folder)),
            ),
            "Distance to the landmarks that mediapipe 0.10.21 itself finds in the same regions of the same pictures "
            "(21 pictures of two films, 33 landmarks), and what it would be if pictures were cropped otherwise:",
            markdown(["crop", "median, mm", "95 %, mm", "median, px"], agreement_rows()),
        )


if __name__ == "__main__":
    measure(*sys.argv[1:]) if len(sys.argv) > 1 else main()

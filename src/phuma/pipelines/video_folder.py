"""The folder of a film: its page, its clips, the robot's motions, and video.json, which says what they are."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from phuma import __version__
from phuma.curation import CurateCfg
from phuma.errors import ConfigError
from phuma.formats.clip_file import save_clip
from phuma.formats.robot_motion_file import save_robot_motion
from phuma.io.atomic import write_atomic
from phuma.pipelines.files_to_clips import clip_row
from phuma.pipelines.retarget import check_method
from phuma.pipelines.video import Video, part_of
from phuma.pipelines.video_page import Layer, write_page
from phuma.video.motions import FilmCfg

RESULT, UNFINISHED, PAGE = "video.json", "video.unfinished", "page.html"
FOLDERS = ("clips", "motions", "performances", "rollouts", "films")


def check_out(out: Path) -> None:
    """Raise a ConfigError for a folder that holds something else."""
    if not out.exists() or (out.is_dir() and not any(out.iterdir())):
        return
    if not ((out / RESULT).exists() or (out / UNFINISHED).exists()):
        raise ConfigError(f"{out} exists and was not written by `phuma video`; choose another --out")


def config(cfg: FilmCfg, robot: str, method: str, curate_cfg: CurateCfg) -> dict[str, Any]:
    """Return the settings; `robot` names one or its folder."""
    return {**asdict(cfg), "robot": robot, "method": check_method(method), "curate": curate_cfg.resolved}


def claim(out: Path, new_policy: bool) -> None:
    """Prepare the folder: an earlier result is removed, and until the new one is written it is marked as unfinished. A
    policy, which took minutes, stays unless there will be a new one."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        (out / UNFINISHED).touch()
        for name in (RESULT, PAGE):
            (out / name).unlink(missing_ok=True)
        for name in (*FOLDERS, *(["policy"] if new_policy else [])):
            shutil.rmtree(out / name, ignore_errors=True)
    except OSError as e:
        raise ConfigError(f"{out} cannot be written: {e.strerror or e}") from None


def stored(name: str, video: Video, out: Path) -> dict[str, Any]:
    """Write clips and motions; return what is said of them."""
    landmarks, info = video.film.estimate.landmarks, video.film.estimate.info
    motions, rows = iter(video.motions), []
    paths = []
    for clip in video.clips:
        row = clip_row(clip)
        if clip.verdict.kept:
            file = f"{part_of(name, clip.start)}.npz"
            for folder in ("clips", "motions"):
                (out / folder).mkdir(exist_ok=True)
            save_clip(out / "clips" / file, clip)
            save_robot_motion(out / "motions" / file, next(motions))
            row["file"] = f"clips/{file}"
            paths.append(f"motions/{file}")
        rows.append(row)
    return {
        "frames": len(landmarks), "fps": landmarks.fps, "people": info.people, "clips": rows, "motions": paths,
        "notes": [*video.guesses, *video.findings],
    }  # fmt: skip


def written(
    out: Path,
    film: Path,
    video: Video,
    config: dict[str, Any],
    further: Callable[[Video], tuple[dict[str, Any], list[Layer]]] = lambda video: ({}, []),
) -> dict[str, Any]:
    """Write clips, motions and the page into a folder that was claimed; return what video.json holds."""
    result = {
        "format": "phuma-video", "version": 1, "phuma": __version__, "film": film.name,
        "sha256": video.film.estimate.info.sha256, "config": config, **stored(film.stem, video, out), "failed": [],
    }  # fmt: skip
    more, layers = further(video) if video.motions else ({}, [])
    result |= more
    write_page(out / PAGE, film.name, video, layers)
    write_atomic(out / RESULT, lambda f: f.write(json.dumps(result, indent=1).encode()))
    (out / UNFINISHED).unlink(missing_ok=True)
    return result

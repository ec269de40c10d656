"""PromptHMR is read: `results.pkl` (joblib), all people of a film in SMPL-X, y-up.

It holds `people`, and of each `frames` (N,) and `smplx_world` with pose (N, 66 and more), shape (N, 10) and trans
(N, 3).
"""

from __future__ import annotations

from phuma.body.choice import SmplShape
from phuma.core.human_motion import HumanMotion
from phuma.errors import ReadError
from phuma.io.probe import Probe
from phuma.sources.fields import field, frame_numbers, has
from phuma.sources.reader import ReadCfg
from phuma.sources.smpl import Layout, one_shape
from phuma.sources.tracks import FILM_RATE, Track, motions_of

FORMAT = "prompthmr"
LAYOUT = Layout(FORMAT, up="y", assumed_fps=FILM_RATE)
COLUMNS = 66


def recognises(probe: Probe) -> bool:
    """Return whether the file is PromptHMR's."""
    content = probe.content
    people = content.get("people") if isinstance(content, dict) else None
    return isinstance(people, dict) and all(has(p, ["frames"]) for p in people.values()) and "camera" in content


def read(probe: Probe, cfg: ReadCfg) -> list[HumanMotion]:
    """Return the people of the film."""
    path, tracks = probe.path, []
    for number, person in probe.content["people"].items():
        where = f"people.{str(number)[:40]}"
        if "smplx_world" not in person:
            raise ReadError(path, f"{where} has no smplx_world: let PromptHMR estimate the world, too")
        frames = frame_numbers(path, where, person, "frames")
        world, where = person["smplx_world"], f"{where}.smplx_world"
        pose = field(path, where, world, "pose", (len(frames), "columns"))
        if pose.shape[1] < COLUMNS:
            raise ReadError(path, f"{where}.pose has {pose.shape[1]} columns; expected {COLUMNS} or more")
        trans = field(path, where, world, "trans", (len(frames), 3))
        betas = one_shape(path, field(path, where, world, "shape", ("frames", "betas"))) if "shape" in world else None
        tracks.append(Track(str(number)[:40], frames, pose[:, :COLUMNS], trans, SmplShape("smplx", betas)))
    return motions_of(path, LAYOUT, tracks, cfg)

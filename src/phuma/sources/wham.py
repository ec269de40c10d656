"""WHAM is read: `wham_output.pkl` (joblib), all people of a film in SMPL, y-up.

It holds, for each person, pose_world (N, 72), trans_world (N, 3), betas (N, 10) and frame_ids (N,).
"""

from __future__ import annotations

from phuma.body.choice import SmplShape
from phuma.core.human_motion import HumanMotion
from phuma.io.probe import Probe
from phuma.sources.fields import field, frame_numbers, has
from phuma.sources.reader import ReadCfg
from phuma.sources.smpl import Layout, one_shape
from phuma.sources.tracks import FILM_RATE, Track, motions_of

FORMAT = "wham"
LAYOUT = Layout(FORMAT, up="y", assumed_fps=FILM_RATE)
KEYS = ("pose_world", "trans_world", "frame_ids")


def recognises(probe: Probe) -> bool:
    """Return whether the file is WHAM's."""
    content = probe.content
    return isinstance(content, dict) and bool(content) and all(has(person, KEYS) for person in content.values())


def read(probe: Probe, cfg: ReadCfg) -> list[HumanMotion]:
    """Return the people of the film."""
    path, tracks = probe.path, []
    for number, person in probe.content.items():
        where = f"person {str(number)[:40]}"
        frames = frame_numbers(path, where, person, "frame_ids")
        pose = field(path, where, person, "pose_world", (len(frames), 72))
        trans = field(path, where, person, "trans_world", (len(frames), 3))
        betas = one_shape(path, field(path, where, person, "betas", ("frames", "betas"))) if "betas" in person else None
        tracks.append(Track(str(number)[:40], frames, pose[:, :66], trans, SmplShape("smpl", betas)))
    return motions_of(path, LAYOUT, tracks, cfg)

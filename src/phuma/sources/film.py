"""Films are read: a person is followed by a pose network and lifted to the motion of a body, once for each film.

What is not known of person and camera is guessed here, and said in the notes; `phuma video` has options for that.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from phuma.core.human_motion import HumanMotion
from phuma.io.probe import Probe
from phuma.sources.reader import ReadCfg
from phuma.video.film import is_film

FORMAT = "film"
SUFFIXES = {".mp4", ".mov", ".m4v", ".mkv", ".webm", ".avi", ".mts", ".m2ts", ".mpg", ".mpeg", ".wmv", ".flv", ".3gp"}
RESULTS = {".pt", ".pkl"}
"""What video models write"""
OWN_RATE = "the rate that was given is not used: a film has its own"


def recognises(probe: Probe) -> bool:
    """Return whether the file begins as films do."""
    return probe.kind == "binary" and is_film(probe.head)


def is_companion(path: Path) -> bool:
    """Return whether this is a film of which a video model's results lie beside it, or one that the model made."""
    if path.suffix.lower() not in SUFFIXES:
        return False
    beside = (f.suffix.lower() for f in path.parent.iterdir())
    return (path.parent / "hps").is_dir() or any(suffix in RESULTS for suffix in beside)


def read(probe: Probe, cfg: ReadCfg) -> list[HumanMotion]:
    """Return a motion for each stretch of the film in which the person can be followed, between start and end."""
    from phuma.video.motions import motions_of_film  # slow to import

    motions = [lifted.motion for lifted in motions_of_film(probe.path, start=cfg.start, end=cfg.end).lifted]
    if cfg.rate is None:
        return motions
    return [m.told(replace(m.provenance, notes=(*m.provenance.notes, OWN_RATE))) for m in motions]

"""The page of a film: what became of it, in step with it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from phuma.pipelines.video import Video
from phuma.video.motions import film_seconds
from phuma.video.stills import stills_of
from phuma.viewer.film_page import FilmPage, Layer, Span, Stretch, write_film_page

__all__ = ["Layer", "write_page"]


def write_page(path: Path, title: str, video: Video, layers: Sequence[Layer] = ()) -> None:
    """Write the page of a film; `layers` are what the robot does beside its retargeted motion."""
    estimate = video.film.estimate
    starts = [clip.start for clip in video.kept]
    own = [Layer("retargeted", list(zip(starts, video.motions)))] if video.motions else []
    page = FilmPage(
        title,
        stills_of(estimate.info.film, estimate.info.start, film_seconds(estimate)),
        estimate.landmarks,
        [
            Stretch(c.motion.provenance.start, c.motion.fps, c.motion.pose.position)
            for c in video.curations
        ],
        video.robot,
        [*own, *layers],
        spans_of(video),
        [*video.guesses, *estimate.info.notes],
    )  # fmt: skip
    write_film_page(path, page)


def spans_of(video: Video) -> list[Span]:
    """Return what is said of parts of the film: findings, then clips with their verdicts."""
    found = [
        Span(f.start, max(f.end, f.start + 0.05), "spoiled" if f.spoils else "noted", f.text)
        for f in video.film.estimate.findings
    ]
    clips = [
        Span(clip.start, clip.end, "kept", "")
        if clip.verdict.kept
        else Span(clip.start, clip.end, "rejected", "; ".join(clip.verdict.reasons))
        for clip in video.clips
    ]
    return found + clips

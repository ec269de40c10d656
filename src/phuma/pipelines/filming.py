"""Film robots side by side, above what was recorded of them: which are filmed, from where, and how large."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from phuma.errors import ConfigError
from phuma.pipelines.performed import certified_performers
from phuma.pipelines.recorded_tracks import strip_plots
from phuma.pipelines.scene_building import MOST, Piece, performers_of
from phuma.robots import Robot
from phuma.runtime.progress import progress_bar
from phuma.viewer import style
from phuma.viewer.film import film, instants
from phuma.viewer.show import Performer

if TYPE_CHECKING:
    from phuma.viewer.scene import Appearance


@dataclass(frozen=True)
class Shot:
    """How robots are filmed."""

    out: Path
    """The file to write: .mp4, .gif, or .png for a sheet of instants"""
    camera: str = "follow"
    """One of `viewer.film.CAMERAS`"""
    size: tuple[int, int] = (640, 480)
    """Width and height in pixels, even numbers, as `size_of` returns them"""
    at: float | None = None
    """The moment to show, s; None for the whole motion"""
    around: float | None = None
    """Seconds before and after that moment; None for the film's default"""


def film_pieces(
    shot: Shot,
    pieces: Sequence[Piece],
    robots: Sequence[Robot],
    methods: Sequence[str],
    human: bool = False,
    certified: bool = False,
    say: Callable[[str], object] = print,
) -> None:
    """Write a film of pieces on robots by methods, with the `human` too; or of the only piece that is `certified`."""
    if certified:
        if len(pieces) != 1 or methods:
            raise ConfigError("--certified films one clip of a dataset as it is stored: give one, and no --compare")
        film_certified(shot, pieces[0], robots, human, say)
        return
    each = max(1, len(robots)) * max(1, len(methods))
    if len(pieces) * each > MOST:
        raise ConfigError(f"{len(pieces) * each} motions in one picture; at most {MOST}")
    performers = [
        replace(p, title=f"{name}{p.title}")
        for name, piece in zip(names_of(pieces), pieces)
        for p in performers_of(piece, robots, methods)
    ]
    film_performers(shot, performers, human, say=say)


def names_of(pieces: Sequence[Piece]) -> list[str]:
    """Return what tells pieces from each other, before the robot: their files, with folders where those differ alone;
    nothing for one piece."""
    if len(pieces) < 2:
        return [""] * len(pieces)
    titles = [piece.title for piece in pieces]
    paths = [piece.title if piece.path is None else str(piece.path) for piece in pieces]
    return [f"{name} on " for name in (titles if len(set(titles)) == len(titles) else paths)]


def film_certified(
    shot: Shot, piece: Piece, robots: Sequence[Robot], human: bool = False, say: Callable[[str], object] = print
) -> None:
    """Write a film of a piece beside its performance, which turns red where it was lost."""
    from phuma.viewer.scene import Appearance

    performers = certified_performers(piece, robots)
    colours = [Appearance(colour, p.ended) for p, colour in zip(performers, style.PERFORMERS)]
    film_performers(shot, performers, human, colours, apart=True, say=say)


def film_performers(
    shot: Shot,
    performers: Sequence[Performer],
    human: bool = False,
    appearances: Sequence[Appearance] = (),
    apart: bool = False,
    say: Callable[[str], object] = print,
) -> None:
    """Write a film of performers side by side, at the frame rate of the first one, above what was recorded of them;
    `say` is told what it shows."""
    motions = [p.motion.resampled(performers[0].motion.fps) for p in performers]
    which = instants(shot.out, motions, shot.at, shot.around)
    with progress_bar("picture", len(which)) as bar:
        robots = [p.robot for p in performers]
        film(
            shot.out,
            motions,
            robots,
            human,
            shot.camera,
            shot.size,
            bar.update,
            appearances,
            apart,
            strip_plots(performers),
            [p.title for p in performers],
            which,
        )
    say(f"{', '.join(p.title for p in performers)} in {shot.out}")


def size_of(text: str) -> tuple[int, int]:
    """Return width and height in pixels, rounded down to even numbers, which films need."""
    width, _, height = text.lower().partition("x")
    if not (width.isdigit() and height.isdigit() and all(64 <= int(v) <= 4096 for v in (width, height))):
        raise ConfigError(f"--size {text!r}; expected like 640x480, each from 64 to 4096")
    return int(width) // 2 * 2, int(height) // 2 * 2

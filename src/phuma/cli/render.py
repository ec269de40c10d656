"""Film motions on a robot, or make a contact sheet of them: on any machine, without a screen or a graphics card.

Takes robot motions, rollouts of policies, clips and recordings; a human's motion is put on the robot first. Several
are drawn side by side, from the side one below another. FILE.mp4 and FILE.gif run at the motion's own rate; FILE.png
shows eight instants. The G1 is drawn with its real shapes where the package example-robot-data is installed.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from phuma.cli.options import add_options, command_parser, from_options, parse_with_lock, split_values
from phuma.cli.progress import progress_bar
from phuma.errors import ConfigError
from phuma.pipelines.performed import certified_performers
from phuma.pipelines.recorded_tracks import strip_plots
from phuma.pipelines.scene_building import MOST, Piece, performers_of, pieces_of
from phuma.retargeting import METHODS
from phuma.robots import Robot, load_robot
from phuma.sources import ReadCfg
from phuma.viewer import style
from phuma.viewer.film import AROUND, CAMERAS, SUFFIXES, film, instants
from phuma.viewer.show import Performer

if TYPE_CHECKING:
    from phuma.viewer.scene import Appearance


def main(argv: Sequence[str]) -> int:
    """Run the command and return its exit code."""
    parser = command_parser("render", __doc__)
    parser.add_argument(
        "sources", nargs="+", type=Path, metavar="CLIP", help="robot motions, rollouts, clips, recordings"
    )
    parser.add_argument("--out", required=True, type=Path, metavar="FILE", help=f"what to write: {', '.join(SUFFIXES)}")
    parser.add_argument(
        "--robot", action="append", default=[], metavar="R",
        help="g1, h1_2 or a robot's folder, may be given more than once (default: the motion's, else g1)",
    )  # fmt: skip
    parser.add_argument(
        "--compare", nargs="+", default=[], metavar="M", help=f"by these methods: some of {', '.join(METHODS)}"
    )
    parser.add_argument(
        "--certified", action="store_true", help="a dataset's clip beside its performance under physics, by `certify`"
    )
    parser.add_argument("--human", action="store_true", help="draw the human that the robot follows, too")
    add_filming(parser)
    add_options(parser, ReadCfg, ("body", "fps", "start", "end", "joint_map"))
    args = parse_with_lock(parser, argv, ["g1"])
    size_of(args.size)
    robots = [load_robot(name) for name in args.robot]
    methods = split_values(args.compare, METHODS, "method") if args.compare else []
    pieces = [piece for path in args.sources for piece in pieces_of(path, from_options(ReadCfg, args), robots=robots)]
    film_pieces(args, pieces, robots, methods)
    return 0


def film_pieces(
    args: argparse.Namespace,
    pieces: Sequence[Piece],
    robots: Sequence[Robot],
    methods: Sequence[str],
    say: Callable[[str], object] = print,
) -> None:
    """Write a film of pieces on robots by methods, as the options say."""
    if args.certified:
        film_certified(args, pieces, robots, say)
        return
    each = max(1, len(robots)) * max(1, len(methods))
    if len(pieces) * each > MOST:
        raise ConfigError(f"{len(pieces) * each} motions in one picture; at most {MOST}")
    performers = [p for piece in pieces for p in performers_of(piece, robots, methods)]
    film_performers(args, performers, args.human, say=say)


def film_certified(
    args: argparse.Namespace, pieces: Sequence[Piece], robots: Sequence[Robot], say: Callable[[str], object] = print
) -> None:
    """Write a film of the only piece beside its performance, which turns red where it was lost."""
    from phuma.viewer.scene import Appearance

    if len(pieces) != 1 or args.compare:
        raise ConfigError("--certified films one clip of a dataset as it is stored: give one, and no --compare")
    performers = certified_performers(pieces[0], robots)
    colours = [Appearance(colour, p.ended) for p, colour in zip(performers, style.PERFORMERS)]
    film_performers(args, performers, args.human, colours, apart=True, say=say)


def add_filming(parser: argparse.ArgumentParser) -> None:
    """Add the options of a film: camera, size and moment."""
    parser.add_argument("--camera", default="follow", help=f"{', '.join(CAMERAS)} (default: follow)")
    parser.add_argument("--size", default="640x480", metavar="WxH", help="pixels (default: 640x480)")
    parser.add_argument("--at", type=float, metavar="S", help="show a moment, in seconds, instead of the whole motion")
    parser.add_argument("--around", type=float, metavar="S", help=f"seconds before and after it (default: {AROUND:g})")


def film_performers(
    args: argparse.Namespace,
    performers: Sequence[Performer],
    human: bool = False,
    appearances: Sequence[Appearance] = (),
    apart: bool = False,
    say: Callable[[str], object] = print,
) -> None:
    """Write a film of performers side by side, at the frame rate of the first one, above what was recorded of them;
    `say` is told what it shows."""
    motions = [p.motion.resampled(performers[0].motion.fps) for p in performers]
    which = instants(args.out, motions, args.at, args.around)
    with progress_bar("picture", len(which)) as bar:
        robots = [p.robot for p in performers]
        film(
            args.out,
            motions,
            robots,
            human,
            args.camera,
            size_of(args.size),
            bar.update,
            appearances,
            apart,
            strip_plots(performers),
            [p.title for p in performers],
            which,
        )
    say(f"{', '.join(p.title for p in performers)} in {args.out}")


def size_of(text: str) -> tuple[int, int]:
    """Return width and height in pixels, rounded down to even numbers, which films need."""
    width, _, height = text.lower().partition("x")
    if not (width.isdigit() and height.isdigit() and all(64 <= int(v) <= 4096 for v in (width, height))):
        raise ConfigError(f"--size {text!r}; expected like 640x480, each from 64 to 4096")
    return int(width) // 2 * 2, int(height) // 2 * 2

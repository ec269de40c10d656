"""Film motions on a robot, or make a contact sheet of them: on any machine, without a screen or a graphics card.

Takes robot motions, rollouts of policies, clips and recordings; a human's motion is put on the robot first. Several
are drawn side by side, from the side one below another. FILE.mp4 and FILE.gif run at the motion's own rate; FILE.png
shows eight instants. The G1 is drawn with its real shapes where the package example-robot-data is installed.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from phuma.cli.options import add_options, command_parser, from_options, parse_with_lock, split_values, split_words
from phuma.pipelines.filming import Shot, film_pieces, size_of
from phuma.pipelines.scene_building import pieces_of
from phuma.retargeting import METHODS
from phuma.robots import load_robot
from phuma.sources import ReadCfg
from phuma.viewer.film import AROUND, CAMERAS, SUFFIXES


def main(argv: Sequence[str]) -> int:
    """Run the command and return its exit code."""
    parser = command_parser("render", __doc__)
    parser.add_argument(
        "sources", nargs="+", type=Path, metavar="CLIP", help="robot motions, rollouts, clips, recordings"
    )
    parser.add_argument("--out", required=True, type=Path, metavar="FILE", help=f"what to write: {', '.join(SUFFIXES)}")
    parser.add_argument(
        "--robot", action="append", default=[], metavar="R",
        help="g1, h1_2 or a robot's folder, several with commas or a flag each (default: the motion's, else g1)",
    )  # fmt: skip
    parser.add_argument(
        "--compare", nargs="+", default=[], metavar="M", help=f"by these methods: some of {', '.join(METHODS)}"
    )
    parser.add_argument(
        "--certified", action="store_true", help="a dataset's clip beside its performance under physics, by `certify`"
    )
    parser.add_argument("--human", action="store_true", help="draw the human that the robot follows, seen through it")
    add_filming(parser)
    add_options(parser, ReadCfg, ("body", "fps", "start", "end", "joint_map"))
    args = parse_with_lock(parser, argv, ["g1"])
    shot = shot_of(args, args.out)
    robots = [load_robot(name) for name in split_words(args.robot)]
    methods = split_values(args.compare, METHODS, "method") if args.compare else []
    pieces = [piece for path in args.sources for piece in pieces_of(path, from_options(ReadCfg, args), robots=robots)]
    film_pieces(shot, pieces, robots, methods, args.human, args.certified)
    return 0


def add_filming(parser: argparse.ArgumentParser) -> None:
    """Add the options of a film: camera, size and moment."""
    parser.add_argument("--camera", default="follow", help=f"{', '.join(CAMERAS)} (default: follow)")
    parser.add_argument("--size", default="640x480", metavar="WxH", help="pixels (default: 640x480)")
    parser.add_argument("--at", type=float, metavar="S", help="show a moment, in seconds, instead of the whole motion")
    parser.add_argument("--around", type=float, metavar="S", help=f"seconds before and after it (default: {AROUND:g})")


def shot_of(args: argparse.Namespace, out: Path) -> Shot:
    """Return how to film into a file, as the options say."""
    return Shot(out, args.camera, size_of(args.size), args.at, args.around)

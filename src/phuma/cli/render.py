"""Film motions on a robot, or make a contact sheet of them: on any machine, without a screen or a graphics card.

Takes robot motions, clips and recordings; what is a human's is put on the robot first. Several stand beside each
other. FILE.mp4 and FILE.gif run at the motion's own rate; FILE.png shows eight instants. The G1 is drawn with its real
shapes where the package example-robot-data is installed.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from phuma.cli.options import add_options, command_parser, from_options, split_values
from phuma.errors import ConfigError
from phuma.retargeting import METHODS
from phuma.robots import load_robot
from phuma.showing import MOST, performers_of, pieces_of
from phuma.sources import ReadCfg
from phuma.view.film import CAMERAS, SUFFIXES, film, pictures_in


def main(argv: Sequence[str]) -> int:
    parser = command_parser("render", __doc__)
    parser.add_argument("sources", nargs="+", type=Path, metavar="CLIP", help="robot motions, clips or recordings")
    parser.add_argument("--out", required=True, type=Path, metavar="FILE", help=f"what to write: {', '.join(SUFFIXES)}")
    parser.add_argument(
        "--robot", action="append", default=[], metavar="R",
        help="g1, h1_2 or a robot's folder, may be given more than once (default: the motion's, else g1)",
    )  # fmt: skip
    parser.add_argument(
        "--compare", nargs="+", default=[], metavar="M", help=f"by these methods: some of {', '.join(METHODS)}"
    )
    parser.add_argument("--human", action="store_true", help="draw the human that the robot follows")
    parser.add_argument("--camera", default="follow", help=f"{', '.join(CAMERAS)} (default: follow)")
    parser.add_argument("--size", default="640x480", metavar="WxH", help="pixels (default: 640x480)")
    add_options(parser, ReadCfg, ("body", "fps", "start", "end", "joint_map"))
    args = parser.parse_args(argv)
    size, robots = size_of(args.size), [load_robot(name) for name in args.robot]
    methods = split_values(args.compare, METHODS, "method") if args.compare else []
    pieces = [piece for path in args.sources for piece in pieces_of(path, from_options(ReadCfg, args))]
    each = max(1, len(robots)) * max(1, len(methods))
    if len(pieces) * each > MOST:
        raise ConfigError(f"{len(pieces) * each} motions in one picture; at most {MOST}")
    performers = [p for piece in pieces for p in performers_of(piece, robots, methods)]
    motions = [p.motion for p in performers]
    total = pictures_in(args.out, motions)

    from tqdm import tqdm

    with tqdm(total=total, unit="picture", disable=None, file=sys.stderr) as bar:
        film(args.out, motions, [p.robot for p in performers], args.human, args.camera, size, bar.update)
    print(", ".join(p.title for p in performers), "in", args.out)
    return 0


def size_of(text: str) -> tuple[int, int]:
    """Width and height; films need even ones."""
    width, _, height = text.lower().partition("x")
    if not (width.isdigit() and height.isdigit() and all(64 <= int(v) <= 4096 for v in (width, height))):
        raise ConfigError(f"--size {text!r}; expected like 640x480, each from 64 to 4096")
    return int(width) // 2 * 2, int(height) // 2 * 2

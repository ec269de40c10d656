"""Film robot motions, or make a contact sheet of them: on any machine, without a screen or a graphics card.

Several motions stand beside each other. FILE.mp4 and FILE.gif run at the motion's own rate; FILE.png shows eight
instants. The G1 is drawn with its real shapes where the package example-robot-data is installed.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from phuma.cli.options import command_parser
from phuma.errors import ConfigError
from phuma.robot_file import load_robot_motion
from phuma.robots import load_robot
from phuma.view.film import CAMERAS, SUFFIXES, film, pictures_in

MOST = 6


def main(argv: Sequence[str]) -> int:
    parser = command_parser("render", __doc__)
    parser.add_argument(
        "motions", nargs="+", type=Path, metavar="CLIP", help="robot motions: `phuma retarget` makes them"
    )
    parser.add_argument("--out", required=True, type=Path, metavar="FILE", help=f"what to write: {', '.join(SUFFIXES)}")
    parser.add_argument("--robot", metavar="FOLDER", help="the robot's folder, for one that is not built in")
    parser.add_argument("--human", action="store_true", help="draw the human that the robot follows")
    parser.add_argument("--camera", default="follow", help=f"{', '.join(CAMERAS)} (default: follow)")
    parser.add_argument("--size", default="640x480", metavar="WxH", help="pixels (default: 640x480)")
    args = parser.parse_args(argv)
    if len(args.motions) > MOST:
        raise ConfigError(f"{len(args.motions)} motions in one picture; at most {MOST}")
    motions = [load_robot_motion(path) for path in args.motions]
    robots = [load_robot(args.robot or motion.robot) for motion in motions]
    total = pictures_in(args.out, motions)

    from tqdm import tqdm

    with tqdm(total=total, unit="picture", disable=None, file=sys.stderr) as bar:
        film(args.out, motions, robots, args.human, args.camera, size_of(args.size), bar.update)
    print(args.out)
    return 0


def size_of(text: str) -> tuple[int, int]:
    """Width and height; films need even ones."""
    width, _, height = text.lower().partition("x")
    if not (width.isdigit() and height.isdigit() and all(64 <= int(v) <= 4096 for v in (width, height))):
        raise ConfigError(f"--size {text!r}; expected like 640x480, each from 64 to 4096")
    return int(width) // 2 * 2, int(height) // 2 * 2

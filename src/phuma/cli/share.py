"""Write one page that plays a motion in 3D in any browser, without a server or a network: for a website or a paper.

Takes a robot's motion (a clip of a dataset too), a human's clip, or a recording, which is put on the robot first.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from phuma.cli.options import add_options, command_parser, from_options, parse_with_lock, split_values, split_words
from phuma.errors import ConfigError
from phuma.pipelines.scene_building import MOST, performers_of, pieces_of, show_of
from phuma.retargeting import METHODS
from phuma.robots import load_robot
from phuma.runtime.progress import progress_bar
from phuma.sources import ReadCfg
from phuma.viewer.share import LAYOUTS, share


def main(argv: Sequence[str]) -> int:
    """Run the command and return its exit code."""
    parser = command_parser("share", __doc__)
    parser.add_argument("source", type=Path, metavar="CLIP", help="a robot's motion, a clip or a recording")
    parser.add_argument("--out", required=True, type=Path, metavar="FILE.html", help="the page to write")
    parser.add_argument(
        "--robot", action="append", default=[], metavar="R", help="g1, h1_2 or a robot's folder (default: the motion's)"
    )
    parser.add_argument("--compare", nargs="+", default=[], metavar="M", help=f"methods: some of {', '.join(METHODS)}")
    parser.add_argument("--layout", default="side", help=f"human and robots: {', '.join(LAYOUTS)} (default: side)")
    add_options(parser, ReadCfg, ("body", "fps", "start", "end", "joint_map"))
    args = parse_with_lock(parser, argv, ["g1"])
    if args.out.suffix.lower() not in (".html", ".htm"):
        raise ConfigError(f"--out {args.out}: expected a name that ends in .html")
    robots = [load_robot(name) for name in split_words(args.robot)]
    pieces = pieces_of(args.source, from_options(ReadCfg, args), robots=robots)
    if len(pieces) > 1:
        raise ConfigError(
            f"{args.source} holds {len(pieces)} people or parts; `phuma curate` cuts it into clips of one each"
        )
    methods = split_values(args.compare, METHODS, "method") if args.compare else []
    if max(1, len(robots)) * max(1, len(methods)) > MOST:
        raise ConfigError(f"{len(robots)} robots by {len(methods)} methods; at most {MOST} on one page")
    show = show_of(pieces[0], performers_of(pieces[0], robots, methods))

    with progress_bar("frame", len(show)) as bar:
        share(args.out, show, args.layout, bar.update)
    print(f"{args.out} ({args.out.stat().st_size / 1e6:.1f} MB)")
    return 0

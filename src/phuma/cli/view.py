"""Show a dataset, clips or recordings in the browser: human and robot, and what is known of every frame.

A dataset shows a list of its clips, kept or not, to search, filter and sort; what `phuma certify` performed is shown
beside what it was to do. Other files are shown one by one: a robot's motion as it is, a human's on the robot. Only this
machine can open the page unless --host says otherwise; then the link that is printed holds a token, without which
nothing is answered. Nothing is written but the file of --review.
"""

from __future__ import annotations

import argparse
import asyncio
import signal
import sys
import webbrowser
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from phuma.cli.options import add_options, command_parser, from_options, parse_with_lock, split_words
from phuma.curation import CurateCfg
from phuma.errors import ConfigError
from phuma.pipelines.open_collection import collection_of
from phuma.sources import ReadCfg
from phuma.viewer.server import PORT, Viewer
from phuma.viewer.session import Collection


def main(argv: Sequence[str]) -> int:
    """Run the command and return its exit code."""
    parser = command_parser("view", __doc__)
    parser.add_argument("sources", nargs="+", type=Path, metavar="SRC", help="a dataset, or clips and recordings")
    parser.add_argument(
        "--robot", action="append", default=[], metavar="R",
        help="g1, h1_2 or a robot's folder, several with commas or a flag each (default: the dataset's, else g1)",
    )  # fmt: skip
    parser.add_argument(
        "--certify", action="store_true",
        help="offer to perform clips under physics that were not yet: seconds to a minute each",
    )  # fmt: skip
    parser.add_argument(
        "--review", type=Path, metavar="FILE.csv",
        help="of a dataset, keep, reject and label clips by hand, in this file, which `select` and `build` take",
    )  # fmt: skip
    add_serving(parser)
    add_options(parser, ReadCfg, ("body", "fps", "start", "end", "joint_map"))
    add_options(parser, CurateCfg, ("preset", "ground", "contacts", "mend"))
    args = parse_with_lock(parser, argv, ["g1"])
    check_port(args)
    cfgs = from_options(ReadCfg, args), from_options(CurateCfg, args)
    serve(collection_of(args.sources, split_words(args.robot), *cfgs, certify=args.certify, review=args.review), args)
    return 0


def add_serving(parser: argparse.ArgumentParser) -> None:
    """Add the options of the server: port, host and browser."""
    parser.add_argument("--port", type=int, help=f"where the page is served; 0: a free one (default: {PORT} or next)")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: 127.0.0.1, this machine)")
    parser.add_argument("--no-browser", action="store_true", help="do not open a browser, only say where the page is")


def check_port(args: argparse.Namespace) -> None:
    """Raise a ConfigError for a port that is out of range."""
    if args.port is not None and not 0 <= args.port <= 65535:
        raise ConfigError(f"--port {args.port}; expected 0 to 65535")


def serve(collection: Collection, args: argparse.Namespace) -> None:
    """Show a collection until Ctrl-C."""
    viewer = Viewer(collection, args.host, args.port)

    def ready() -> None:
        if viewer.link != viewer.url:
            print(exposed(args.host), file=sys.stderr)
        print(f"{viewer.link}  (Ctrl-C ends it)", flush=True)
        if not args.no_browser:
            webbrowser.open(viewer.link)

    with suppress(KeyboardInterrupt, asyncio.CancelledError):
        asyncio.run(until_stopped(viewer, ready))


def exposed(host: str) -> str:
    """Return the warning that other machines can reach the page."""
    return (
        f"warning: --host {host} lets other machines ask. Whoever has the link below sees everything that is shown, "
        "until this ends; in place of `localhost` they need this machine's name. Nothing is encrypted: in a network "
        "that others share, leave out --host and tunnel, `ssh -L 8080:localhost:8080 MACHINE`."
    )


async def until_stopped(viewer: Viewer, ready: Callable[[], None]) -> None:
    """Serve until Ctrl-C or SIGTERM, and end without an error."""
    task, loop = asyncio.current_task(), asyncio.get_running_loop()
    assert task is not None
    for number in (signal.SIGINT, signal.SIGTERM):
        with suppress(NotImplementedError):  # Windows
            loop.add_signal_handler(number, task.cancel)
    await viewer.serve(ready)

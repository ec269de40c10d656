"""Check a dataset: schema, checksums, and that every motion is finite, of the stated length and within its limits.

Files that do not belong to it are faults, too. Each fault comes with what to do about it. Ends with 0 when there is
none, else with 1.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict
from itertools import chain
from pathlib import Path

from phuma.cli.options import command_parser, split_words
from phuma.core.words import harmless
from phuma.dataset.describe import ROBOT_FILES, load_description
from phuma.dataset.faults import Fault
from phuma.dataset.verify import verify
from phuma.errors import ConfigError, ReadError
from phuma.pipelines.build_dataset import robot_identity
from phuma.robots import Robot, is_built_in, load_robot
from phuma.runtime.progress import progress_bar


def main(argv: Sequence[str]) -> int:
    """Run the command and return its exit code."""
    parser = command_parser("verify", __doc__)
    parser.add_argument("dataset", type=Path, metavar="DIR", help="a folder made by `phuma build`")
    parser.add_argument(
        "--robot",
        nargs="+",
        default=[],
        metavar="FOLDER",
        help="folders of robots that are not built in, for their limits",
    )
    parser.add_argument("--json", action="store_true", help='print one object, {"faults": [...], "notes": [...]}')
    args = parser.parse_args(argv)
    robots = robots_of(args.dataset, split_words(args.robot))
    faults: list[Fault] = []
    notes: list[Fault] = []
    for fault in chain(changed_robots(args.dataset, robots), with_bar(args.dataset, robots)):
        (faults if fault.grave else notes).append(fault)
        if not args.json:
            print(("" if fault.grave else "note: ") + harmless(str(fault)), flush=True)
    if args.json:
        print(json.dumps({"faults": [asdict(f) for f in faults], "notes": [asdict(n) for n in notes]}))
    else:
        print(f"{harmless(str(args.dataset))}: " + (f"{len(faults)} faults" if faults else "no fault"))
    return 1 if faults else 0


def robots_of(root: Path, folders: Sequence[str]) -> dict[str, Robot]:
    """Return the robots that were given, and those of the dataset that are built in."""
    given = {robot.name: robot for robot in map(load_robot, folders)}
    with suppress(ReadError):  # a dataset.json that cannot be read is the first fault that is reported
        names = load_description(root).robots
        if unused := [name for name in given if name not in names]:
            raise ConfigError(f"--robot {unused[0]}: the dataset is for {', '.join(names)}")
        given = {name: load_robot(name) for name in names if is_built_in(name) and name not in given} | given
    return given


def changed_robots(root: Path, robots: dict[str, Robot]) -> Iterator[Fault]:
    """Yield a note for each robot whose files differ from those that the dataset was built with."""
    with suppress(ReadError):
        built = load_description(root).config.get(ROBOT_FILES, {})
        for name, robot in robots.items():
            if built.get(name) not in (None, robot_identity(robot)):
                problem = (
                    "its files differ from those that the dataset was built with; limits are those of the files here"
                )
                yield Fault(f"robot {name}", problem, "", grave=False)


def with_bar(root: Path, robots: dict[str, Robot]) -> Iterator[Fault]:
    """Yield all faults, with a progress bar."""
    with progress_bar("clip") as bar:

        def progress(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        for fault in verify(root, robots, progress):
            bar.clear()
            yield fault

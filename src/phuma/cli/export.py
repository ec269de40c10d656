"""Write robot motions in layouts that trainers read: a dataset's kept clips, or what `phuma retarget` wrote.

Each becomes a file below OUT, in a folder of its robot; with --certified, what the robot did under physics in its
place. OUT/export.json lists them with clip, licence, rate and the order of joints and bodies. An earlier export in OUT
is replaced; a folder that holds anything else is refused.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from phuma.cli.options import command_parser, parse_with_lock, split_words
from phuma.dataset.exchange import FORMATS, WRITTEN, format_named
from phuma.dataset.export import RESULT, Selection, licence_warnings
from phuma.errors import ConfigError
from phuma.pipelines.export import chosen_layouts, export_motions


def main(argv: Sequence[str]) -> int:
    """Run the command and return its exit code."""
    parser = command_parser("export", __doc__)
    parser.add_argument("source", type=Path, metavar="DIR", help="a dataset, a robot motion, or a folder of them")
    about = "; ".join(f"{name}: {FORMATS[name].about}" for name in WRITTEN)
    parser.add_argument(
        "--format", required=True, nargs="+", metavar="FORMAT",
        help=f"one or several, each of which then goes to OUT/FORMAT. {about}".replace("%", "%%"),
    )  # fmt: skip
    parser.add_argument("--out", required=True, type=Path, metavar="OUT", help="where the files go")
    parser.add_argument("--where", metavar="SQL", help="only clips of a dataset like \"category = 'walk'\"")
    parser.add_argument("--split", choices=("train", "test"), help="only clips of this split of a dataset")
    parser.add_argument(
        "--robot", nargs="+", default=[], metavar="ROBOT",
        help="only motions of these: g1, h1_2, or the folder of a robot of your own (default: all built-in ones)",
    )  # fmt: skip
    parser.add_argument(
        "--certified", action="store_true",
        help="the performances under physics of certified clips, in place of the motions, and no other clips",
    )  # fmt: skip
    parser.add_argument("--jobs", type=int, metavar="N", help="processes (default: all cores for 64 files or more)")
    parser.add_argument("--json", action="store_true", help=f"print what {RESULT} holds and nothing else")
    args = parse_with_lock(parser, argv, ["g1"])
    robots = tuple(split_words(args.robot))
    if args.jobs is not None and args.jobs < 1:
        raise ConfigError(f"--jobs {args.jobs}; expected at least 1")
    choice = Selection(args.where, args.split, robots, args.certified)
    layouts = chosen_layouts(args.format)
    folders = {layouts[0]: args.out} if len(layouts) == 1 else {layout: args.out / layout for layout in layouts}
    results = {k: export_motions(args.source, out, k, choice, args.jobs) for k, out in folders.items()}
    warnings = licence_warnings(results[layouts[0]]["licences"])
    if args.json:
        print(json.dumps(results if len(layouts) > 1 else results[layouts[0]]))
        print(*warnings, sep="\n", end="\n" * bool(warnings), file=sys.stderr)
    else:
        print("\n".join([*(line for k, out in folders.items() for line in summary(results[k], out)), *warnings]))
    return 1 if any(result["failed"] for result in results.values()) else 0


def summary(result: dict[str, Any], out: Path) -> list[str]:
    """Return a summary for the terminal: counts and failures."""
    files, failed = result["files"], result["failed"]
    robots = ", ".join(result["robots"]) or "no robot"
    what = "performances" if result["certified"] else "files"
    lines = [f"{len(files)} {what} in the layout {result['layout']} for {robots} in {out}, listed in {out / RESULT}"]
    lines += clipping(result["layout"], files)
    lines += [f"Not usable: {f['source']}: {f['reason']}" for f in failed[:20]]
    if len(failed) > 20:
        lines.append(f"... and {len(failed) - 20} more, all in {out / RESULT}")
    return lines


def clipping(layout: str, files: Sequence[dict[str, Any]]) -> list[str]:
    """Return a line on the frames that the layout's trainer will change, if there are any."""
    within, outside = format_named(layout).within, [f["clipped"] for f in files if f.get("clipped")]
    if within is None or not outside:
        return []
    return [
        f"{layout} clips joints to {100 * within:g} % of their range when it begins an episode: {len(outside)} of "
        f"{len(files)} motions have frames beyond that, the worst {max(outside):.0f} % of its frames; `phuma retarget` "
        f"and `phuma build` solve within it by --within {within:g}"
    ]

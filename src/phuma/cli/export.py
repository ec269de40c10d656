"""Write robot motions in layouts that trainers read: a dataset's kept clips, or what `phuma retarget` wrote.

Each becomes a file below OUT, in a folder of its robot; with --certified, what the robot did under physics in its
place. OUT/export.json lists them with clip, licence, rate and the order of joints and bodies. An earlier export in OUT
is replaced; a folder that holds anything else is refused.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from phuma import __version__
from phuma.cli.options import command_parser, parse_with_lock
from phuma.cli.progress import progress_bar
from phuma.dataset.exchange import FORMATS, WRITTEN, format_named
from phuma.dataset.export import (
    RESULT,
    Selection,
    claim,
    export_item,
    find_items,
    gathered,
    licence_warnings,
    licences,
    orders,
    other_models,
    save_result,
)
from phuma.errors import ConfigError
from phuma.pipelines.build_dataset import robot_identity
from phuma.robots import load_robot
from phuma.runtime.process_pool import map_in_order


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
    robots = tuple(name for word in args.robot for name in word.split(",") if name)
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


def chosen_layouts(words: Sequence[str]) -> list[str]:
    """Return the formats that some words name, each once, with commas in them or not; others are an error."""
    names = list(dict.fromkeys(name for word in words for name in word.split(",") if name))
    for name in names:
        if format_named(name).write is None:
            raise ConfigError(f"format {name!r} is only read; written are: {', '.join(WRITTEN)}")
        format_named(name).check_library()
    if not names:
        raise ConfigError(f"--format names no format; written are: {', '.join(WRITTEN)}")
    return names


def export_motions(source: Path, out: Path, layout: str, choice: Selection, jobs: int | None = None) -> dict[str, Any]:
    """Write everything that is chosen into `out`; return what export.json holds."""
    models = choice.models(source)
    items = find_items(source, choice, out)
    for name in other_models(source, {name: robot_identity(load_robot(spec)) for name, spec in models.items()}):
        print(f"{source} was made with another model of {name}; bodies are of the present one", file=sys.stderr)
    claim(out, source, models)
    jobs = jobs or ((os.cpu_count() or 1) if len(items) >= 64 else 1)
    rows: list[dict[str, Any]] = []
    failed: list[dict[str, str]] = []
    work = partial(export_item, out=out, layout=layout, models=models, only=bool(choice.robots))
    with progress_bar("file", len(items), title=layout) as bar:
        for outcome in map_in_order(work, items, jobs):
            rows += [outcome.row] if outcome.row else []
            failed += [outcome.failed] if outcome.failed else []
            bar.update()
    if not rows and not failed:
        raise ConfigError(f"no motion in {source} is of {', '.join(models)}")
    rows = gathered(rows, out, layout, models)
    return save_result(out, {
        "finished": True, "phuma": __version__, "layout": layout, "certified": choice.certified,
        "robots": orders(rows, layout, models), "licences": licences(rows), "files": rows, "failed": failed,
    })  # fmt: skip


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

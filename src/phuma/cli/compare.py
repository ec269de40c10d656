"""Compare retargeting methods on your own data: one row per method, with CPU seconds per clip.

Takes curated clips, or recordings, of which the clips that curation keeps are used. The cost is that of the solver
alone, already compiled, for 120 frames. Leaps are clips in which an ankle is over 1.5 times as fast as the human's ever
is, flagged are those of which somebody should know more. A metric that a clip does not have is a mean over the others.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from phuma.cli.options import add_options, command_parser, from_options, parse_with_lock, split_values
from phuma.cli.scores import flag_counts, score, unknown_lines
from phuma.cli.table import number
from phuma.core.clip import Clip
from phuma.core.robot_metrics import COMPARED, FIVE, LEAP
from phuma.core.words import count_of
from phuma.curation import CurateCfg
from phuma.errors import ConfigError
from phuma.pipelines.files_to_clips import all_kept_clips, check_reading
from phuma.pipelines.retarget import retarget
from phuma.retargeting import METHODS
from phuma.retargeting.measure import combine, known_in
from phuma.robots import Robot, load_robot
from phuma.runtime.progress import progress_bar
from phuma.sources import ReadCfg

FRAMES = 120  # the cost is given for so many
COUNTED = ("leaps", "flagged")
PAPER_RULER = ("non_floating", "non_penetration", "non_skating")
"""Metrics that are also given by the paper's contacts"""


@dataclass(frozen=True)
class CompareCfg:
    """Choose the robot."""

    robot: str = "g1"
    """Robot: g1, h1_2, or a folder with model.xml and robot.json"""


def main(argv: Sequence[str]) -> int:
    """Run the command and return its exit code."""
    parser = command_parser("compare", __doc__)
    parser.add_argument("sources", nargs="+", metavar="SRC", help="clips, recordings, or folders of them")
    parser.add_argument(
        "--methods", nargs="+", default=list(METHODS), metavar="M", help=f"some of {', '.join(METHODS)} (default: all)"
    )
    add_options(parser, CompareCfg, ("robot",))
    add_options(parser, CurateCfg, ("preset", "contacts", "mend"))
    add_options(parser, ReadCfg, ("body", "fps", "start", "end", "joint_map"))
    parser.add_argument("--json", action="store_true", help="print the table as JSON and nothing else")
    args = parse_with_lock(parser, argv)
    robot = load_robot(from_options(CompareCfg, args).robot)
    read_cfg = from_options(ReadCfg, args)
    check_reading(read_cfg)
    clips, failed = all_kept_clips(args.sources, read_cfg, from_options(CurateCfg, args))
    if not clips:
        raise ConfigError(f"no clip to compare on: curation keeps nothing of {', '.join(args.sources)}")
    rows = compare(clips, robot, split_values(args.methods, METHODS, "method"))
    if args.json:
        print(json.dumps({"robot": robot.name, "clips": len(clips), "methods": rows, "failed": failed}))
    else:
        print(table(rows, len(clips), robot.name))
        for f in failed:
            print(f"Not usable: {f['source']}: {f['reason']}")
    return 1 if failed else 0


def compare(clips: Sequence[Clip], robot: Robot, methods: Sequence[str]) -> list[dict[str, Any]]:
    """Return one row of metrics per method."""
    rows = []
    with progress_bar("solve", len(clips) * len(methods)) as bar:
        for method in methods:
            retarget(clips[0], robot, method)  # compiles, and fills the caches
            reports, seconds = [], 0.0
            for clip in clips:
                motion = retarget(clip, robot, method)
                reports.append(motion.report)
                seconds += motion.solve_seconds
                bar.update()
            frames = sum(len(c.motion) for c in clips)
            rows.append({"method": method, **summed(reports), "cpu_seconds_per_clip": seconds / frames * FRAMES})
    return rows


def summed(reports: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the metrics of many motions, how many clips each is known in, how many are flagged
    for what, and the metrics by the paper's contacts."""
    scores, flags = [r["metrics"] for r in reports], [r["flags"] for r in reports]
    counts = flag_counts(flags)
    return combine(scores) | {
        "leaps": counts.get(LEAP, 0),
        "flagged": sum(map(bool, flags)),
        "flags": counts,
        "known_in": known_in(scores),
        "by_paper_contacts": combine([r["by_paper_contacts"] for r in reports]),
    }


def table(rows: Sequence[dict[str, Any]], clips: int, robot: str) -> str:
    """Return a table of percentages, the cost, the other metrics and how many clips are flagged, with each name on two
    lines."""
    names = ["method", *FIVE, "cpu_s/clip", *COMPARED, *COUNTED]
    halves = [name.split("_", 1) if "_" in name else ["", name] for name in names]
    lines = [f"{count_of(clips, 'clip')} on {robot}, percent"]
    lines += ["".join(_cell(i, half[k].replace("_", " ")) for i, half in enumerate(halves)) for k in range(2)]
    for row in rows:
        shown = [score(n, row[n]) for n in FIVE], [score(n, row[n]) for n in COMPARED], [str(row[n]) for n in COUNTED]
        cells = [row["method"], *shown[0], number(row["cpu_seconds_per_clip"], 3), *shown[1], *shown[2]]
        lines.append("".join(_cell(i, cell) for i, cell in enumerate(cells)))
    for row in rows:
        flags = ", ".join(f"{word} {n}" for word, n in row["flags"].items())
        lines.append(f"{row['method']}: {row['flagged']} of {clips} clips are flagged{f': {flags}' if flags else ''}")
    lines += unknown_lines(rows[0]["known_in"], clips)
    lines.append("by the paper's contacts, by height: " + ", ".join(PAPER_RULER))
    lines += ["".join(_cell(i, c) for i, c in enumerate(_paper_cells(row))) for row in rows]
    return "\n".join(lines)


def _paper_cells(row: dict[str, Any]) -> list[str]:
    return [row["method"], *(number(row["by_paper_contacts"][name]) for name in PAPER_RULER)]


def _cell(column: int, text: str) -> str:
    return f"{text:18}" if column == 0 else f"{text:>13}"

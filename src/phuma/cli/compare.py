"""Compare retargeting methods on your own data: one row per method, with CPU seconds per clip.

Takes curated clips, or recordings, of which the clips that curation keeps are used. The cost is that of the solver
alone, already compiled, for 120 frames.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from phuma.cli.options import add_options, command_parser, from_options, split_values
from phuma.core.clip import Clip
from phuma.core.robot_metrics import COMPARED, FIVE
from phuma.curation import CurateCfg
from phuma.errors import ConfigError
from phuma.pipelines.files_to_clips import all_kept_clips, check_reading
from phuma.pipelines.retarget import retarget
from phuma.retargeting import METHODS
from phuma.retargeting.measure import combine
from phuma.robots import Robot, load_robot
from phuma.sources import ReadCfg

FRAMES = 120  # the cost is given for so many
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
    add_options(parser, CurateCfg, ("contacts", "mend"))
    add_options(parser, ReadCfg, ("body", "fps", "start", "end", "joint_map"))
    parser.add_argument("--json", action="store_true", help="print the table as JSON and nothing else")
    args = parser.parse_args(argv)
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
    from tqdm import tqdm

    rows = []
    with tqdm(total=len(clips) * len(methods), unit="solve", disable=None, file=sys.stderr) as bar:
        for method in methods:
            retarget(clips[0], robot, method)  # compiles, and fills the caches
            reports, seconds = [], 0.0
            for clip in clips:
                motion = retarget(clip, robot, method)
                reports.append(motion.report)
                seconds += motion.solve_seconds
                bar.update()
            frames = sum(len(c.motion) for c in clips)
            by_paper = combine([r["by_paper_contacts"] for r in reports])
            row = {"method": method, **combine([r["metrics"] for r in reports]), "by_paper_contacts": by_paper}
            rows.append(row | {"cpu_seconds_per_clip": seconds / frames * FRAMES})
    return rows


def table(rows: Sequence[dict[str, Any]], clips: int, robot: str) -> str:
    """Return a table of percentages, the cost and the other metrics, with each name on two lines."""
    names = ["method", *FIVE, "cpu_s/clip", *COMPARED]
    halves = [name.split("_", 1) if "_" in name else ["", name] for name in names]
    lines = [f"{clips} clips on {robot}, percent"]
    lines += ["".join(_cell(i, half[k].replace("_", " ")) for i, half in enumerate(halves)) for k in range(2)]
    for row in rows:
        shown = [f"{row[n]:.2f}" for n in FIVE], [f"{row[n]:.2f}" for n in COMPARED]
        cells = [row["method"], *shown[0], f"{row['cpu_seconds_per_clip']:.3f}", *shown[1]]
        lines.append("".join(_cell(i, cell) for i, cell in enumerate(cells)))
    lines.append("by the paper's contacts, by height: " + ", ".join(PAPER_RULER))
    lines += ["".join(_cell(i, c) for i, c in enumerate(_paper_cells(row))) for row in rows]
    return "\n".join(lines)


def _paper_cells(row: dict[str, Any]) -> list[str]:
    return [row["method"], *(f"{row['by_paper_contacts'][name]:.2f}" for name in PAPER_RULER)]


def _cell(column: int, text: str) -> str:
    return f"{text:18}" if column == 0 else f"{text:>13}"

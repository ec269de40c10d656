"""Write one HTML page on a dataset: what it holds, what curation did, and how well the robots follow.

The page shows hours and clips by source, type and split, the filters one after the other and each by itself, the
distributions of all metrics with their limits, the worst clips as pictures, and what robots performed under physics.
It needs no network and no other file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from phuma.cli.options import command_parser, split_words
from phuma.core.dataset_summary import Summary
from phuma.core.words import count_of
from phuma.dataset.dataset import Dataset, open_dataset
from phuma.errors import ConfigError, PhumaError
from phuma.io.atomic import write_atomic
from phuma.robots import Robot, is_built_in, load_robot
from phuma.viewer.html import Html

NAME = "report.html"


def main(argv: Sequence[str]) -> int:
    """Run the command and return its exit code."""
    parser = command_parser("report", __doc__)
    parser.add_argument("dataset", type=Path, metavar="DIR", help="a dataset that `phuma build` has finished")
    parser.add_argument("--out", type=Path, metavar="FILE", help=f"where the page goes (default: DIR/{NAME})")
    parser.add_argument(
        "--robot", nargs="+", default=[], metavar="FOLDER",
        help="folders of robots that are not built in, for the pictures",
    )  # fmt: skip
    args = parser.parse_args(argv)
    out: Path = args.out or args.dataset / NAME
    if out.is_dir():
        raise ConfigError(f"--out {out} is a folder; give the name of a file in it")
    summary = write_report(open_dataset(args.dataset), out, split_words(args.robot))
    print("\n".join([str(out), *key_figures(summary)]))
    return 0


def write_report(dataset: Dataset, out: Path, robot_folders: Sequence[str | Path] = ()) -> Summary:
    """Write the report on a dataset and return the summary that it shows."""
    from phuma.dataset.statistics import summarise
    from phuma.viewer.report import report_page

    summary = summarise(dataset)
    robots = _robots(summary, robot_folders)
    page = report_page(summary, _pictures(dataset, summary, robots), _performances(dataset, summary, robots))
    out.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(out, lambda f: f.write(page.encode()))
    return summary


def _robots(summary: Summary, folders: Sequence[str | Path]) -> dict[str, Robot]:
    """Return the robots of a dataset that are known: built-in ones, and those whose folders are given."""
    given = {robot.name: robot for robot in map(load_robot, folders)}
    own = [about.name for about in summary.robots if is_built_in(about.name) and about.name not in given]
    return given | {name: load_robot(name) for name in own}


def _pictures(dataset: Dataset, summary: Summary, robots: Mapping[str, Robot]) -> dict[tuple[str, str], Html]:
    """Return pictures of the worst clips, by robot and clip; a clip whose file is damaged has none.

    Of a robot that is not built in and whose folder is not given, the human is drawn alone.
    """
    from phuma.viewer.robot_stills import robot_stills

    out = {}
    for about in summary.robots:
        for clip in {c.clip for clips in about.worst.values() for c in clips}:
            with suppress(PhumaError):
                motion = dataset.entry(clip, about.name).motion()
                out[about.name, clip] = robot_stills(motion, robots.get(about.name))
    return out


def _performances(dataset: Dataset, summary: Summary, robots: Mapping[str, Robot]) -> dict[tuple[str, str], Html]:
    """Return pictures of performances that are not certified, up to where they were lost, by robot and clip; of a robot
    that is not known there are none."""
    from phuma.contacts.performed import performed_motion
    from phuma.core.provenance import Provenance
    from phuma.viewer.robot_stills import robot_stills

    out = {}
    for clip in (clip for about in summary.certification if about.robot in robots for clip in about.lost):
        with suppress(PhumaError):
            rollout = dataset.entry(clip.clip, clip.robot).performance()
            motion = performed_motion(rollout, robots[clip.robot], Provenance(clip.recording, "rollout"))
            out[clip.robot, clip.clip] = robot_stills(motion, robots[clip.robot])
    return out


def key_figures(summary: Summary) -> list[str]:
    """Return a few lines: clips kept, the filter that rejects most, the weakest metric, and each robot's flags."""
    total = summary.total
    share = f" ({100 * total.passed / total.considered:.0f} % of {total.considered:,})" if total.considered else ""
    lines = [f"  kept      {count_of(total.kept, 'clip')}{share}, {total.hours:.2f} hours"]
    if hardest := max(summary.filters, key=lambda f: f.rejects, default=None):
        lines.append(
            f"  filters   {hardest.metric.label} rejects most: {hardest.rejects:,} of {summary.judged:,} clips"
        )
    scores = [(v, name, robot.name) for robot in summary.robots for name, v in robot.five.items() if v is not None]
    if scores:
        value, name, robot = min(scores)
        lines.append(f"  robots    weakest of the five metrics: {name.replace('_', '-')} {value:.1f} % on {robot}")
    for about in summary.robots:
        words = ", ".join(f"{word} {n}" for word, n in about.flags)
        said = f": {words}" if words else ""
        lines.append(f"  flags     {about.flagged:,} of {about.clips:,} clips on {about.name}{said}")
    for found in summary.certification:
        good, tried = found.total.certified, found.total.tried
        lines.append(f"  physics   {good:,} of {tried:,} clips that were tried on {found.robot} are certified")
    return lines

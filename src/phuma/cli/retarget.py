"""Put motion on a robot: curated clips, or recordings directly.

A recording is taken whole and uncut, with a warning that lists why curation would reject it. Each motion becomes one
.npz below DIR, with its metrics inside; DIR/retarget.json lists them all, those of earlier runs too. The first motion
ever takes half a minute more: the solver is compiled then.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from phuma import __version__
from phuma.cli.batch import Row, check_jobs, earlier, run_batch
from phuma.cli.mend_lines import mend_lines, rate_lines
from phuma.cli.options import add_options, command_parser, from_options, parse_with_lock
from phuma.cli.scores import score_lines
from phuma.core.words import count_of, harmless
from phuma.curation import CurateCfg
from phuma.formats.robot_motion_file import save_robot_motion
from phuma.io.atomic import write_atomic
from phuma.io.names import mistakable, part_name
from phuma.pipelines.files_to_clips import Outcome, check_reading, outcome_of, whole_clips
from phuma.pipelines.retarget import check_within, retarget
from phuma.retargeting import DEFAULT_METHOD
from phuma.robots import cached_robot
from phuma.sources import ReadCfg, find_recordings
from phuma.sources.registry import Recording
from phuma.sources.skipped import none_found, skipped_lines

RESULT = "retarget.json"


@dataclass(frozen=True)
class RetargetCfg:
    """Choose robot and method."""

    robot: str = "g1"
    """Robot: g1, h1_2, or a folder with model.xml and robot.json"""
    method: str = DEFAULT_METHOD
    """Method: physink+dynamics, physink+collision, physink, sink+ground, sink+feasibility, sink, ik or gmr"""
    within: float = 1.0
    """Share of the joints' ranges, around their middle, that motions are solved within; mjlab clips to 0.9"""
    jobs: int | None = None
    """Number of worker processes (default: all cores for eight files or more, else one)"""

    def __post_init__(self) -> None:
        check_jobs(self.jobs)
        object.__setattr__(self, "method", check_within(self.within, self.method))


def main(argv: Sequence[str]) -> int:
    """Run the command and return its exit code."""
    parser = command_parser("retarget", __doc__)
    parser.add_argument("sources", nargs="+", metavar="SRC", help="clips, recordings, or folders of them")
    parser.add_argument(
        "--out", type=Path, default=Path("retargeted"), metavar="DIR", help="where motions go (default: retargeted)"
    )
    add_options(parser, RetargetCfg, ("robot", "method", "within", "jobs"))
    add_options(parser, CurateCfg, ("preset", "contacts", "mend"))
    add_options(parser, ReadCfg, ("body", "fps", "start", "end", "joint_map"))
    parser.add_argument("--json", action="store_true", help="print the result as JSON and nothing else")
    args = parse_with_lock(parser, argv)
    cfg = from_options(RetargetCfg, args)
    result = retarget_sources(args.sources, args.out, cfg, from_options(ReadCfg, args), from_options(CurateCfg, args))
    if args.json:
        print(json.dumps(result))
    else:
        print("\n".join([*map(harmless, skipped_lines(args.sources, args.out)), summary(result, args.out)]))
    return 1 if result["failed"] else 0


def retarget_sources(
    sources: Sequence[str], out: Path, cfg: RetargetCfg, read_cfg: ReadCfg, curate_cfg: CurateCfg | None = None
) -> dict[str, Any]:
    """Retarget everything below `sources` into `out`; return what came of it, which retarget.json then holds beside
    what it held. Where nothing came of it, nothing is written."""
    cached_robot(cfg.robot)  # a fault of the robot is reported once, not once per file
    check_reading(read_cfg)
    files = find_recordings(sources, leave_out=out)
    if not files:
        raise none_found(sources, out)
    curate_cfg = curate_cfg or CurateCfg()
    others = mistakable(file.name for file in files)
    work = partial(retarget_file, out=out, cfg=cfg, read_cfg=read_cfg, curate_cfg=curate_cfg, others=others)
    rows, failed = run_batch(work, files, cfg.jobs, "file")
    result = {
        "format": "phuma-retarget", "version": 1, "phuma": __version__, "robot": cfg.robot, "method": cfg.method,
        "within": cfg.within,
        "contacts": curate_cfg.estimator, "mend": curate_cfg.mends, "motions": rows, "failed": failed,
    }  # fmt: skip
    if rows:
        kept = earlier(out / RESULT, "file", rows)
        held = result | {"motions": sorted([*rows, *kept], key=lambda row: row["file"])}
        write_atomic(out / RESULT, lambda f: f.write(json.dumps(held, indent=1).encode()))
    return result


def retarget_file(
    file: Recording, out: Path, cfg: RetargetCfg, read_cfg: ReadCfg, curate_cfg: CurateCfg, others: Collection[str] = ()
) -> Outcome:
    """Retarget one file: one motion per person, called as none of the `others` is."""

    def work() -> list[Row]:
        robot = cached_robot(cfg.robot)
        clips = whole_clips(file.path, read_cfg, curate_cfg)
        rows = []
        for person, clip in enumerate(clips):
            motion = retarget(clip, robot, cfg.method, within=cfg.within)
            name = part_name(file.name, person, others) if len(clips) > 1 else file.name
            path = out / f"{name}.npz"
            path.parent.mkdir(parents=True, exist_ok=True)
            replaced = path.exists()
            save_robot_motion(path, motion)
            rows.append({
                "robot": robot.name, "method": cfg.method, "replaced": replaced,
                "source": motion.provenance.source, "start": clip.start, "end": clip.end,
                "file": path.relative_to(out).as_posix(), "warnings": list(clip.verdict.reasons),
                "notes": list(clip.motion.provenance.notes),
                "flags": motion.report["flags"], "metrics": motion.report["metrics"],
                "by_paper_contacts": motion.report["by_paper_contacts"],
            })  # fmt: skip
        return rows

    return outcome_of(file.path, work)


def summary(result: dict[str, Any], out: Path) -> str:
    """Return a summary for the terminal: metrics, warnings, failures, and where the motions are."""
    rows, failed = result["motions"], result["failed"]
    lines = []
    if rows:
        lines.append(f"{count_of(len(rows), 'motion')} on {rows[0]['robot']} by {result['method']}:")
        lines += score_lines([r["metrics"] for r in rows], [r["flags"] for r in rows])
    lines += [*rate_lines(rows), *mend_lines(rows)]
    for r in [r for r in rows if r["warnings"]][:10]:
        lines.append(f"Curation would reject {r['source']}: {'; '.join(r['warnings'])}")
    for r in [r for r in rows if r["flags"]][:10]:
        lines.append(f"Warning for {r['file']}: {'; '.join(r['flags'])}")
    lines += [f"Not usable: {f['source']}: {f['reason']}" for f in failed[:20]]
    if replaced := [r["file"] for r in rows if r["replaced"]]:
        lines.append(f"Replaced in {out}: {', '.join(replaced[:5])}{' and others' if len(replaced) > 5 else ''}")
    if rows:
        lines.append(f"Motions are in {out}, with all metrics in {out / RESULT}")
    else:
        lines.append("No motion was made, and nothing was written")
    return "\n".join(lines)

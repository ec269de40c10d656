"""Certify motion: a robot performs each clip under physics, by an expert that knows its model, in seconds.

Takes a dataset, whose manifest then says which clips are certified, with the performances beside them; or clips,
recordings and robot motions, whose performances go to DIR. A clip is certified if the robot stays within 0.15 m of it,
loosely if within 0.5 m. What is not certified may be possible all the same: the reason says where the motion was lost
and what it asks for there. Run it again, and a dataset goes on where it stopped; files are performed anew.
"""

from __future__ import annotations

import json
import os
from argparse import Namespace
from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from phuma import __version__
from phuma.cli.batch import Row, check_jobs, earlier, run_batch
from phuma.cli.options import add_options, add_ray_option, command_parser, from_options, parse_with_lock
from phuma.cli.render import add_filming, shot_of
from phuma.core.words import harmless
from phuma.curation import CurateCfg
from phuma.dataset.dataset import Dataset
from phuma.dataset.manifest import quoted
from phuma.errors import ConfigError
from phuma.io.atomic import write_atomic
from phuma.io.names import mistakable
from phuma.pipelines.certify import CertifyCfg
from phuma.pipelines.certify_dataset import COLUMNS, certify_dataset, limited_runner
from phuma.pipelines.certify_files import Performed, certify_file, perform_file, row_of
from phuma.pipelines.files_to_clips import Outcome, check_reading, outcome_of
from phuma.pipelines.filming import Shot, film_performers, size_of
from phuma.pipelines.progress_bars import ClipBar
from phuma.pipelines.scene_building import performer, rollout_motion, stored_performer
from phuma.robots import Robot, cached_robot, load_robot
from phuma.sources import ReadCfg, find_recordings
from phuma.sources.skipped import none_found, skipped_lines

RESULT = "certify.json"
SHOWN = 20


def main(argv: Sequence[str]) -> int:
    """Run the command and return its exit code."""
    parser = command_parser("certify", __doc__)
    parser.add_argument(
        "sources",
        nargs="+",
        type=Path,
        metavar="SRC",
        help="a dataset; or clips, recordings, robot motions, or folders of them",
    )
    parser.add_argument(
        "--robot",
        metavar="R",
        help="g1, h1_2, or a folder with model.xml and robot.json (default: the dataset's, else g1)",
    )
    parser.add_argument("--where", metavar="SQL", help="of a dataset, only clips under this condition")
    parser.add_argument("--again", action="store_true", help="of a dataset, also clips that have a certificate")
    add_options(parser, CertifyCfg, ("effort", "gains", "bundle"))
    parser.add_argument(
        "--jobs", type=int, metavar="N", help="number of worker processes (default: one for each processor)"
    )
    add_ray_option(parser, "of a dataset, run the work")
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("certified"),
        metavar="DIR",
        help="of files, where performances go (default: certified)",
    )
    parser.add_argument(
        "--film",
        type=Path,
        metavar="FILE",
        help="of one file, perform its first clip alone and film it: FILE.mp4, .gif or .png",
    )
    add_filming(parser)
    add_options(parser, CurateCfg, ("preset", "contacts", "mend"))
    add_options(parser, ReadCfg, ("body", "fps", "start", "end", "joint_map"))
    parser.add_argument("--json", action="store_true", help="print the result as JSON and nothing else")
    args = parse_with_lock(parser, argv)
    check_jobs(args.jobs)
    size_of(args.size)
    if any((path / "dataset.json").is_file() for path in args.sources):
        return in_dataset(args)
    if args.where or args.again or args.ray is not None:
        raise ConfigError("--where, --again and --ray are for a dataset; these are files")
    return in_files(args)


def in_dataset(args: Namespace) -> int:
    """Certify a dataset in place."""
    if len(args.sources) > 1 or args.film:
        raise ConfigError("one dataset at a time, and no --film: `phuma render` films its clips")
    root = args.sources[0]
    robots = {} if args.robot is None else {load_robot(args.robot).name: args.robot}
    where = args.where
    if robots:
        (name,) = robots
        where = f"robot = {quoted(name)}" + (f" AND ({where}\n)" if where else "")
    with ClipBar() as bar:
        failed = certify_dataset(
            root, from_options(CertifyCfg, args), limited_runner(args.jobs, args.ray), robots, where, args.again, bar
        )
    rows = Dataset(root).rows("kept AND certified_effort IS NOT NULL")
    result = {
        "dataset": str(root), "kept": len(Dataset(root).rows("kept")), "tried": len(rows),
        "certified": sum(bool(r["certified"]) for r in rows),
        "certified_loosely": sum(bool(r["certified_loosely"]) for r in rows),
        "failed": [{"source": name, "reason": reason} for name, reason in failed],
    }  # fmt: skip
    if args.json:
        named = ({name: row[column] for name, column in COLUMNS.items()} | {"clip": row["clip"]} for row in rows)
        print(json.dumps({**result, "clips": [agreed(row) for row in named]}))
    else:
        print(f"{result['tried']} of {result['kept']} kept clips were performed.")
        print("\n".join(told([{**r, "reason": r["certified_reason"], "source": r["clip"]} for r in rows])))
        for name, reason in failed[:SHOWN]:
            print(harmless(f"Not done: {name}: {reason}"))
    return 1 if failed else 0


def in_files(args: Namespace) -> int:
    """Certify files into a folder."""
    cfg, read_cfg, curate_cfg = (
        from_options(CertifyCfg, args),
        from_options(ReadCfg, args),
        from_options(CurateCfg, args),
    )
    robot = cached_robot(args.robot or "g1")  # a fault of the robot is reported once, not once per file
    check_reading(read_cfg)
    files = find_recordings(args.sources, leave_out=args.out)
    if not files:
        raise none_found(args.sources, args.out)
    cores = args.jobs or os.cpu_count() or 1
    if args.film:
        rows, failed = filmed(args, files, cfg, read_cfg, curate_cfg, cores)
    else:
        threads = cores if len(files) == 1 else 1
        work = partial(
            certify_file, out=args.out, robot=robot, cfg=cfg, read_cfg=read_cfg, curate_cfg=curate_cfg, threads=threads,
            others=mistakable(file.name for file in files),
        )  # fmt: skip
        rows, failed = run_batch(work, files, 1 if len(files) == 1 else cores, "file", told_so_far)
    result = {
        "format": "phuma-certify", "version": 1, "phuma": __version__, "robot": robot.name, "effort": cfg.effort,
        "motions": rows, "failed": failed,
    }  # fmt: skip
    if rows:
        args.out.mkdir(parents=True, exist_ok=True)
        stored = [{k: v for k, v in row.items() if k != "cpu_seconds"} for row in rows]
        held = {**result, "motions": [*earlier(args.out / RESULT, "source", rows), *stored]}
        write_atomic(args.out / RESULT, lambda f: f.write(json.dumps(held, indent=1).encode()))
    if args.json:
        print(json.dumps({**result, "clips": [agreed(row) for row in rows]}))
    else:
        print("\n".join([*map(harmless, skipped_lines(args.sources, args.out)), *told(rows)]))
        print("\n".join(harmless(f"Not usable: {f['source']}: {f['reason']}") for f in failed[:SHOWN]))
        if rows:
            print(f"Performances are in {args.out}")
    return 1 if failed else 0


def filmed(
    args: Namespace, files: Sequence[Any], cfg: CertifyCfg, read_cfg: ReadCfg, curate_cfg: CurateCfg, threads: int
) -> Outcome:
    """Perform the first clip of the only file, write it, and film it beside its reference and its human."""
    if len(files) > 1:
        raise ConfigError(f"{len(files)} files; a film is of one")
    robot = cached_robot(args.robot or "g1")
    (file,) = files
    done: list[Performed] = []

    def work() -> list[Row]:
        done.extend(perform_file(file.path, file.name, robot, cfg, read_cfg, curate_cfg, threads, most=1))
        return [row_of(str(file.path), performed, args.out) for performed in done]

    outcome = outcome_of(file.path, work)
    for performed in done:
        film_performance(shot_of(args, args.film), performed, robot)
    return outcome


def film_performance(shot: Shot, performed: Performed, robot: Robot) -> None:
    """Write a film of a performance beside its reference and its human; nothing where there is none."""
    if performed.certificate.performance is None:
        return
    reference = stored_performer(performed.motion, robot)
    motion = rollout_motion(performed.certificate.performance, robot)
    who = performer("performed", "performed under physics", motion, robot)
    film_performers(shot, [reference, who], human=performed.motion.human_joints is not None)


def told_so_far(rows: Sequence[Row]) -> str:
    """Return what is known while more is performed."""
    return f"{sum(r['certified'] for r in rows)} of {len(rows)} certified"


def agreed(row: Row) -> Row:
    """Return what --json says of a clip; the time is not known of those in a dataset, which does not hold it."""
    said = {"clip": row["clip"], "certified_0.15": bool(row["certified"]), "certified_0.5": bool(row["loosely"])}
    return said | {name: row.get(name) for name in ("error_mm", "cpu_seconds", "effort", "reason")}


def told(rows: Sequence[Row]) -> list[str]:
    """Return what came of the motions, in lines for the terminal."""
    if not rows:
        return ["Nothing was performed, and nothing was written."]
    loosely = "loosely" if "loosely" in rows[0] else "certified_loosely"
    good, near = (sum(bool(r[name]) for r in rows) for name in ("certified", loosely))
    lines = [
        f"{good} of {len(rows)} certified ({100 * good / len(rows):.0f} %): performed within 0.15 m; "
        f"{near} within 0.5 m"
    ]
    lost = [r for r in rows if not r["certified"]]
    lines += [harmless(f"  {r['source']}: {r['reason']}") for r in lost[:SHOWN]]
    if len(lost) > SHOWN:
        lines.append(f"  ... and {len(lost) - SHOWN} more")
    lines += [harmless(f"  {r['source']}: {r['locked']}") for r in rows[:SHOWN] if "locked" in r]
    ways = Counter(r.get("way") or r.get("certified_way") for r in rows if r["certified"])
    if ways:
        lines.append("by " + ", ".join(f"{way} {n}" for way, n in ways.most_common()))
    return lines

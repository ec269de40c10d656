"""Turn folders of raw recordings into a dataset for one robot or several: read, curate, retarget, measure, store.

Run it again and it continues where it stopped: recordings that have not changed are not done twice. Every clip that was
considered, kept or not, is a row of DIR/manifest.parquet; `phuma report DIR` shows what it holds.
"""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from phuma.cli.mend_lines import mend_counts, rate_lines
from phuma.cli.options import add_options, add_ray_option, command_parser, from_options, parse_with_lock
from phuma.core.words import count_of, harmless
from phuma.curation import CurateCfg
from phuma.dataset.builder import Runner
from phuma.dataset.dataset import Dataset
from phuma.dataset.describe import Description
from phuma.dataset.review import read_review
from phuma.pipelines.build_dataset import BuildCfg, WorkCfg, build_dataset
from phuma.pipelines.certify import CertifyCfg
from phuma.pipelines.progress_bars import ClipBar, RecordingBar
from phuma.robots import cached_robot
from phuma.runtime.process_pool import WorkerLimits
from phuma.runtime.ray_pool import run_on_ray
from phuma.sources import ReadCfg
from phuma.sources.skipped import skipped_lines


def main(argv: Sequence[str]) -> int:
    """Run the command and return its exit code."""
    parser = command_parser("build", __doc__)
    parser.add_argument("sources", nargs="+", metavar="SRC", help="recordings, or folders of them")
    parser.add_argument("--out", required=True, type=Path, metavar="DIR", help="the dataset's folder")
    parser.add_argument(
        "--robot", action="append", nargs="+", metavar="ROBOT",
        help="g1, h1_2, or a folder with model.xml and robot.json; several are allowed (default: g1)",
    )  # fmt: skip
    parser.add_argument(
        "--review", type=Path, metavar="FILE.csv",
        help="judgements by hand, which count before curation's: what `phuma view --review` wrote",
    )  # fmt: skip
    parser.add_argument("--mirror", action="store_true", help="add each clip's mirror image")
    parser.add_argument(
        "--certify", action="store_true", help="perform each kept clip under physics too, as `phuma certify DIR` does"
    )
    add_options(parser, CertifyCfg, ("effort",))
    parser.add_argument("--rebuild", action="store_true", help="delete what DIR holds and start anew")
    add_options(parser, BuildCfg, ("method", "within"))
    add_options(parser, CurateCfg, ("preset", "ground", "contacts", "mend"))
    add_options(parser, ReadCfg, ("body", "fps", "start", "end", "joint_map"))
    add_options(parser, WorkCfg, ("jobs", "timeout", "memory"))
    add_ray_option(parser, "run the work")
    parser.add_argument("--json", action="store_true", help="print what dataset.json holds and nothing else")
    args = parse_with_lock(parser, argv, [["g1"]])
    robots = tuple(name for words in args.robot or [["g1"]] for word in words for name in word.split(",") if name)
    chosen = {name: getattr(args, name) for name in ("method", "within") if hasattr(args, name)}
    cfg = BuildCfg(
        robots,
        mirror=args.mirror,
        read=from_options(ReadCfg, args),
        curate=from_options(CurateCfg, args),
        review=read_review(args.review) if args.review else {},
        **chosen,
    )
    with RecordingBar() as bar:
        result = build_dataset(args.sources, args.out, cfg, runner(args), args.rebuild, bar)
    undone = certified(args, {cached_robot(name).name: name for name in robots}) if args.certify else False
    if args.json:
        print(json.dumps(dict(result.counts)))
    else:
        print("\n".join([*map(harmless, skipped_lines(args.sources, args.out)), summary(result, args.out)]))
    return 1 if result.failed or undone else 0


def certified(args: Namespace, robots: Mapping[str, str]) -> bool:
    """Perform the kept clips and return whether some could not be done; without a kept clip there is nothing to do."""
    from phuma.pipelines.certify_dataset import certify_dataset, limited_runner

    if not Dataset(args.out).rows("kept", "clip"):
        return False
    with ClipBar() as bar:
        run = limited_runner(getattr(args, "jobs", None), args.ray)
        failed = certify_dataset(args.out, from_options(CertifyCfg, args), run, robots, progress=bar)
    for name, reason in failed:
        print(harmless(f"not certified: {name}: {reason}"), file=sys.stderr)
    return bool(failed)


def runner(args: Namespace) -> Runner:
    """Return a runner on worker processes, or on Ray if --ray is given, which decides itself how many it uses."""
    work = from_options(WorkCfg, args)
    if args.ray is not None:
        limits = WorkerLimits(work.timeout, work.memory)
        return partial(run_on_ray, address=args.ray or None, limits=limits, jobs=work.jobs)
    return work.runner()


def summary(result: Description, out: Path) -> str:
    """Return a summary for the terminal: counts, failures, and what to run next."""
    counts = result.counts
    share = f" ({100 * counts['kept'] / counts['clips']:.0f} %)" if counts["clips"] else ""
    lines = [
        f"{count_of(counts['recordings'], 'recording')}, {count_of(counts['clips'], 'clip')}, {counts['kept']} "
        f"kept{share}, for {', '.join(result.robots)}",
    ]
    if counts["clips"]:
        noted = Dataset(out).rows("len(notes) > 0", "clip, recording, notes")
        lines += [*rate_lines(noted, "recording"), *mend_counts(noted)]
    if result.failed:
        lines.append(f"{count_of(len(result.failed), 'recording')} could not be used:")
        lines += [harmless(f"  {f['recording']}: {f['reason']}") for f in result.failed[:20]]
        lines += (
            [f"  ... and {len(result.failed) - 20} more, all in {out / 'dataset.json'}"]
            if len(result.failed) > 20
            else []
        )
    if counts["clips"]:
        lines.append(f"View it: phuma view {out}   its numbers: phuma report {out}")
    else:
        lines.append("Nothing was built" + ("" if out.exists() else ", and nothing was written"))
    return "\n".join(lines)

"""Add robot motions that others made to a dataset: tables, arrays, pickles and LeRobot datasets of many tools.

Each is brought to 30 Hz, put on the ground, cut into clips of 4 s, measured, judged by the forces that it takes, and
marked as imported. DIR is created, or extended if it is a dataset of the same robot. Run it again and only new and
changed files are done. labels.csv beside the files, or else the words of a file's name, say what type of motion it is;
the split follows from the name.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from phuma.cli.options import add_options, command_parser, from_options, parse_with_lock
from phuma.cli.scores import flag_counts, score_lines
from phuma.core.robot_metrics import ROBOT, SAMPLES
from phuma.core.words import count_of
from phuma.pipelines.build_dataset import WorkCfg
from phuma.pipelines.import_motions import ImportCfg, Imported, import_motions
from phuma.pipelines.progress_bars import RecordingBar
from phuma.retargeting.measure import combine

TOLD = (
    "clip", "recording", "start", "end", "kept", "reasons", "file", "format", "fps", "frames", "split", "category",
    "flags", "notes",
)  # fmt: skip


def main(argv: Sequence[str]) -> int:
    """Run the command and return its exit code."""
    parser = command_parser("import", __doc__)
    parser.add_argument("sources", nargs="+", metavar="SRC", help="files, or folders of them")
    parser.add_argument("--out", required=True, type=Path, metavar="DIR", help="the dataset's folder")
    add_options(parser, ImportCfg, ("robot", "format", "fps", "licence", "redistributable"))
    add_options(parser, WorkCfg, ("jobs", "timeout", "memory"))
    parser.add_argument("--json", action="store_true", help="print the result as JSON and nothing else")
    args = parse_with_lock(parser, argv)
    work = from_options(WorkCfg, args)
    with RecordingBar() as bar:
        done = import_motions(args.sources, args.out, from_options(ImportCfg, args), work.runner(), bar)
    result = as_result(done)
    print(json.dumps(result) if args.json else summary(result, args.out))
    return 1 if result["failed"] else 0


def as_result(done: Imported) -> dict[str, Any]:
    """Return all clips of the imported motions, the files that failed, the metrics of the kept clips, how many of these
    are flagged for what, and the counts of the whole dataset."""
    rows = [row for record in done.records for row in record.rows]
    kept = [row for row in rows if row["kept"]]
    return {
        "motions": [{**{name: row.get(name) for name in TOLD}, "metrics": _scores(row)} for row in rows],
        "failed": [{"source": r.name, "reason": r.failed} for r in done.records if r.failed is not None],
        "metrics": combine([_scores(row) for row in kept]),
        "flags": flag_counts([row["flags"] for row in kept]),
        "counts": dict(done.description.counts),
    }


def _scores(row: dict[str, Any]) -> dict[str, Any]:
    return {name: row[name] for name in (*(metric.name for metric in ROBOT), *SAMPLES) if name in row}


def summary(result: dict[str, Any], out: Path) -> str:
    """Return a summary for the terminal: counts, metrics, rejections, warnings and failures."""
    motions, failed = result["motions"], result["failed"]
    kept, rejected = [m for m in motions if m["kept"]], [m for m in motions if not m["kept"]]
    recordings = len({m["recording"] for m in motions})
    of = f"{count_of(len(motions), 'clip')} of {count_of(recordings, 'motion')}"
    lines = [f"{len(kept)} of {of} imported into {out}, which now holds {result['counts']['kept']}"]
    if not motions:
        lines = ["Nothing was imported" + ("" if out.exists() else ", and nothing was written")]
    if kept:
        lines += score_lines([m["metrics"] for m in kept], [m["flags"] for m in kept])
    if unnamed := sum(m["category"] is None for m in motions):
        lines.append(f"{unnamed} without a category: neither labels.csv nor their names say one")
    lines += [f"Rejected: {_named(m)}: {'; '.join(m['reasons'])}" for m in rejected[:10]]
    if len(rejected) > 10:
        lines.append(f"... and {len(rejected) - 10} more")
    lines += [f"Warning for {_named(m)}: {'; '.join(m['flags'])}" for m in motions if m["flags"]][:10]
    lines += [f"Not usable: {f['source']}: {f['reason']}" for f in failed[:20]]
    if len(failed) > 20:
        lines.append(f"... and {len(failed) - 20} more, all in {out / 'dataset.json'}")
    return "\n".join(lines)


def _named(clip: dict[str, Any]) -> str:
    return f"{clip['recording']} from {clip['start']:.1f} to {clip['end']:.1f} s"

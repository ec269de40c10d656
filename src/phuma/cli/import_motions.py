"""Add robot motions that others made to a dataset: PHUMA's .npy, Unitree's CSV, mjlab's .npz, GMR's .pkl.

They are stored whole as they are, measured, and marked as imported. DIR is created, or extended if it is a dataset of
the same robot. Run it again and only new and changed files are done. labels.csv beside the files, or else the words of
a file's name, say what type of motion it is; the split follows from the name.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from phuma.cli.build import Bar
from phuma.cli.options import add_options, command_parser, from_options
from phuma.core.robot_metrics import FIVE
from phuma.pipelines.build_dataset import WorkCfg
from phuma.pipelines.import_motions import ImportCfg, Imported, import_motions
from phuma.retargeting.measure import combine


def main(argv: Sequence[str]) -> int:
    """Run the command and return its exit code."""
    parser = command_parser("import", __doc__)
    parser.add_argument("sources", nargs="+", metavar="SRC", help="files, or folders of them")
    parser.add_argument("--out", required=True, type=Path, metavar="DIR", help="the dataset's folder")
    add_options(parser, ImportCfg, ("robot", "format", "fps", "licence", "redistributable"))
    add_options(parser, WorkCfg, ("jobs", "timeout", "memory"))
    parser.add_argument("--json", action="store_true", help="print the result as JSON and nothing else")
    args = parser.parse_args(argv)
    work = from_options(WorkCfg, args)
    with Bar() as bar:
        done = import_motions(args.sources, args.out, from_options(ImportCfg, args), work.runner(), bar)
    result = as_result(done)
    print(json.dumps(result) if args.json else summary(result, args.out))
    return 1 if result["failed"] else 0


def as_result(done: Imported) -> dict[str, Any]:
    """Return the imported motions, the files that failed, the metrics, and the counts of the whole dataset."""
    rows = [row for record in done.records for row in record.rows]
    names = ("clip", "recording", "file", "format", "fps", "frames", "split", "category", "flags")
    return {
        "motions": [{name: row[name] for name in names} for row in rows],
        "failed": [{"source": r.name, "reason": r.failed} for r in done.records if r.failed is not None],
        "metrics": combine([_scores(row) for row in rows]),
        "counts": dict(done.description.counts),
    }


def _scores(row: dict[str, Any]) -> dict[str, Any]:
    names = (*FIVE, "contact_samples", "step_samples", "frames")
    return {name: row[name] for name in names if name in row}


def summary(result: dict[str, Any], out: Path) -> str:
    """Return a summary for the terminal: counts, metrics, warnings and failures."""
    motions, failed, scores = result["motions"], result["failed"], result["metrics"]
    lines = [f"{len(motions)} motions imported into {out}, which now holds {result['counts']['kept']}"]
    lines += [f"  {name.replace('_', '-'):16}{scores[name]:7.2f} %" for name in FIVE if name in scores]
    if unnamed := sum(m["category"] is None for m in motions):
        lines.append(f"{unnamed} without a category: neither labels.csv nor their names say one")
    lines += [f"Warning for {m['recording']}: {'; '.join(m['flags'])}" for m in motions if m["flags"]][:10]
    lines += [f"Not usable: {f['source']}: {f['reason']}" for f in failed[:20]]
    if len(failed) > 20:
        lines.append(f"... and {len(failed) - 20} more, all in {out / 'dataset.json'}")
    return "\n".join(lines)

"""Make a new dataset of a part of one. All conditions have to hold; without any, all kept clips are taken.

  phuma select DIR --category walk run --split train --min fidelity=95 --out DIR2
  phuma select DIR --where "duration IS NULL AND root_jerk < 20" --sample 100 --seed 1 --out DIR2

Files are linked, not copied, where the disk allows it. Nothing can be built on top of a selection.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from math import isfinite
from pathlib import Path

from phuma.cli.options import command_parser, split_values
from phuma.core.names import did_you_mean
from phuma.core.words import count_of
from phuma.dataset.category import GROUPS, TYPES
from phuma.dataset.describe import Description
from phuma.dataset.review import read_review
from phuma.dataset.select import NUMBERS, SelectCfg, select
from phuma.dataset.split import SPLITS
from phuma.errors import ConfigError
from phuma.runtime.progress import progress_bar


def main(argv: Sequence[str]) -> int:
    """Run the command and return its exit code."""
    parser = command_parser("select", __doc__)
    parser.add_argument("dataset", type=Path, metavar="DIR", help="a folder made by `phuma build`")
    parser.add_argument(
        "--out", required=True, type=Path, metavar="DIR2", help="the new dataset; a new or empty folder"
    )
    parser.add_argument(
        "--where", metavar="SQL", help="a condition over the manifest's columns, for example \"robot = 'g1'\""
    )
    parser.add_argument(
        "--category", nargs="+", default=[], metavar="C", help=f"any of {', '.join(TYPES)}; or of {', '.join(GROUPS)}"
    )
    parser.add_argument("--source", nargs="+", default=[], metavar="S", help="names of source folders")
    parser.add_argument("--split", choices=SPLITS, help="clips of one split")
    for option, text in (("--min", "at least VALUE, for example non_skating=99"), ("--max", "at most VALUE")):
        parser.add_argument(option, nargs="+", default=[], metavar="METRIC=VALUE", help=f"columns that are {text}")
    parser.add_argument("--sample", type=int, metavar="N", help="a random sample of N of these clips")
    parser.add_argument("--seed", type=int, metavar="S", help="seed of the sample (default: 0)")
    parser.add_argument(
        "--rejected", action="store_true", help="rejected clips too; they have a row and no robot's motion"
    )
    parser.add_argument(
        "--review", type=Path, metavar="FILE.csv",
        help="leave out what was rejected by hand, and take the labels: what `phuma view --review` wrote",
    )  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print the new dataset's counts and nothing else")
    args = parser.parse_args(argv)
    if args.seed is not None and args.sample is None:
        raise ConfigError("--seed says which sample: give --sample N too")
    cfg = SelectCfg(
        args.where, tuple(split_values(args.category, (*TYPES, *GROUPS), "category")) if args.category else (),
        tuple(args.source), args.split, limits("--min", args.min), limits("--max", args.max), args.sample,
        args.seed or 0, args.rejected, read_review(args.review) if args.review else {},
    )  # fmt: skip
    made = select_with_bar(args.dataset, args.out, cfg)
    counts, out = made.counts, shlex.quote(str(args.out))
    found = f"{count_of(counts['clips'], 'clip')} of {count_of(counts['recordings'], 'recording')}"
    said = f"{found} in {out}. Its status: phuma status {out}"
    print(json.dumps(dict(counts)) if args.json else said)
    return 0


def limits(option: str, words: Sequence[str]) -> dict[str, float]:
    """Return limits such as `fidelity=95` as {"fidelity": 95.0}."""
    out = {}
    for word in (w for given in words for w in given.split(",") if w):
        name, _, value = word.partition("=")
        if name not in NUMBERS:
            near = did_you_mean(name, NUMBERS)
            raise ConfigError(f"{option} {word}: there is no metric {name!r}{near}; there are: {', '.join(NUMBERS)}")
        try:
            out[name] = float(value)
        except ValueError:
            out[name] = float("nan")
        if not isfinite(out[name]):
            raise ConfigError(f"{option} {word}: expected METRIC=VALUE, for example {name}=95")
    return out


def select_with_bar(root: Path, out: Path, cfg: SelectCfg) -> Description:
    """Select with a progress bar; return the new dataset's description."""
    with progress_bar("clip") as bar:

        def progress(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        return select(root, out, cfg, progress)

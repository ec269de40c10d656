"""The speed of two checkouts of this project, measured in one run and in turns: old, new, new, old, and so on.

    python benchmarks/before_after.py OLD_TREE NEW_TREE --repeats 5

Figures are CPU seconds, user and system, of a command and of all processes that it starts, on one thread of numerics;
for the solve it is what `phuma compare` tells, without the start. Both are driven by their command lines on the same
inputs, which the old one makes. Each runs every command once before anything is measured, as the first run compiles.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from tables import markdown

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
MINUTES = 2  # of each of the eleven types, for curation
STEPS = 40_000  # of training
METHOD = "physink+collision"


class Tree:
    """A checkout, run in `folder`."""

    def __init__(self, name: str, root: Path, folder: Path) -> None:
        self.name, self.folder = name, folder
        source = (root / "src").resolve()
        self.env = os.environ | dict.fromkeys(THREADS, "1") | {"PYTHONPATH": str(source), "COLUMNS": "200"}
        found = Path(self._run("-c", "import phuma; print(phuma.__file__)")[0].strip())
        if not found.is_relative_to(source):
            raise SystemExit(f"{root} is no checkout of this project: the program that is found is {found}")

    def __call__(self, *words: object) -> tuple[str, float]:
        """What a command prints, and the CPU seconds it takes."""
        return self._run("-m", "phuma", *map(str, words))

    def out(self) -> Path:
        """A folder's name that is free."""
        shutil.rmtree(self.folder / f"out_{self.name}", ignore_errors=True)
        return Path(f"out_{self.name}")

    def _run(self, *words: str) -> tuple[str, float]:
        before = _spent()
        done = subprocess.run([sys.executable, *words], cwd=self.folder, env=self.env, capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(
                f"{self.name}: {' '.join(words)} ended with {done.returncode}: {done.stderr.strip()[-400:]}"
            )
        return done.stdout, _spent() - before


def _spent() -> float:
    """CPU seconds of all children that have ended, and of theirs."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


@dataclass(frozen=True)
class Figure:
    """What is measured: a name, and a function that gives seconds of a checkout."""

    name: str
    seconds: Callable[[Tree], float]


def start(tree: Tree) -> float:
    """Ten times, as one is near to what the clock can tell."""
    return sum(tree("--help")[1] for _ in range(10)) / 10


def curate(tree: Tree) -> float:
    return tree("curate", "long", "--jobs", 1, "--out", tree.out())[1]


def solve(tree: Tree) -> float:
    rows = json.loads(tree("compare", "short", "--methods", METHOD, "--json")[0])["methods"]
    return float(rows[0]["cpu_seconds_per_clip"])


def build(tree: Tree) -> float:
    return tree("build", "short", "--robot", "g1", "--jobs", 1, "--out", tree.out())[1]


def train(tree: Tree) -> float:
    return tree("train", "dataset", "--steps", STEPS, "--seed", 1, "--out", tree.out())[1]


FIGURES = (
    Figure("start", start),
    Figure("curate", curate),
    Figure("solve", solve),
    Figure("build", build),
    Figure("train", train),
)
ABOUT = (
    f"start: `phuma --help`. curate: {MINUTES} minutes of each of eleven types. solve: `{METHOD}` on a clip of 120 "
    f"frames. build: 22 recordings of 4 s, one job. train: {STEPS:,} environment steps."
)


def prepare(tree: Tree) -> None:
    """The inputs of both."""
    tree("synth", "--out", "long", "--seconds", 60 * MINUTES)
    tree("synth", "--out", "short", "--count", 2)
    tree("build", "short", "--robot", "g1", "--preset", "dynamic", "--out", "dataset")


def row(figure: Figure, old: Sequence[float], new: Sequence[float]) -> list[object]:
    ratios = [b / a for a, b in zip(old, new)]
    spread = f"{min(ratios):.3f} to {max(ratios):.3f}"
    return [figure.name, f"{median(old):.4g}", f"{median(new):.4g}", f"{median(ratios):.3f}", spread]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", type=Path, metavar="OLD_TREE")
    parser.add_argument("new", type=Path, metavar="NEW_TREE")
    parser.add_argument("--repeats", type=int, default=5, metavar="N", help="turns of both (default: 5)")
    names = [figure.name for figure in FIGURES]
    parser.add_argument("--only", nargs="+", choices=names, default=names, help="some of the figures (default: all)")
    args = parser.parse_args()
    chosen = [figure for figure in FIGURES if figure.name in args.only]
    with tempfile.TemporaryDirectory() as folder:
        trees = [Tree("old", args.old, Path(folder)), Tree("new", args.new, Path(folder))]
        prepare(trees[0])
        spent: dict[tuple[str, str], list[float]] = {(f.name, t.name): [] for f in chosen for t in trees}
        for turn in range(args.repeats + 1):
            for figure in chosen:
                for tree in trees if turn % 2 else trees[::-1]:
                    seconds = figure.seconds(tree)
                    if turn:
                        spent[figure.name, tree.name].append(seconds)
            print(f"turn {turn} of {args.repeats}", file=sys.stderr, flush=True)
    rows = [row(f, spent[f.name, "old"], spent[f.name, "new"]) for f in chosen]
    print(markdown(["CPU seconds", "old", "new", "new / old, median", f"spread of {args.repeats}"], rows))
    print(f"\n{ABOUT}")


if __name__ == "__main__":
    main()

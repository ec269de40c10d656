"""See the whole system work, without any data of your own.

People who stand, reach, walk, kick and jump are generated, some of them with the faults that real recordings have. They
become a small dataset for a Unitree G1: curated, retargeted and measured like any recording. Look at the report, at the
pictures, and at what was rejected, and why.

With --policy a policy that has learned a squat is shown in the browser, under physics. With --train one is trained
first that walks, in about two minutes; Ctrl-C ends that, and shows what was learned so far.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import phuma
from phuma.cli.options import command_parser
from phuma.cli.report import write_report
from phuma.cli.synth import SynthCfg, write_motions
from phuma.cli.table import number
from phuma.cli.view import add_serving, check_port, serve
from phuma.core.dataset_summary import Summary
from phuma.curation import curate
from phuma.dataset.dataset import Dataset, open_dataset
from phuma.errors import ConfigError
from phuma.pipelines.build_dataset import BuildCfg, WorkCfg, build_dataset
from phuma.pipelines.collections import DatasetCollection, FileCollection
from phuma.pipelines.progress_bars import RecordingBar
from phuma.robots import Robot, load_robot
from phuma.sources import ReadCfg
from phuma.synth import FAULTS, KINDS, generate

FAULTY_KINDS = ("walk", "reach")
POLICY = Path(phuma.__file__).parent / "learning" / "demo"
"""The folder of a motion and a policy.onnx that tracks it, made by benchmarks/demo_policy.py."""
TRACKED = "squat"
WALK, MINUTES = "walk", 1.0
"""The motion that is learned by --train, and how long that takes."""


def main(argv: Sequence[str]) -> int:
    """Run the command and return its exit code."""
    parser = command_parser("demo", __doc__)
    parser.add_argument(
        "--out", type=Path, default=Path("phuma-demo"), metavar="DIR", help="where results go (default: phuma-demo)"
    )
    parser.add_argument("--policy", action="store_true", help="watch a policy that tracks a motion")
    parser.add_argument(
        "--train", action="store_true", help="with --policy: train it in DIR/policy, or resume the run there"
    )
    add_serving(parser)
    args = parser.parse_args(argv)
    if args.train and not args.policy:
        raise ConfigError("--train trains a policy: give --policy too")
    check_port(args)
    if args.policy:
        play_policy(args)
    else:
        build_and_report(args.out)
    return 0


def play_policy(args: argparse.Namespace) -> None:
    """Show the policy that comes with the package, or one that is trained now."""
    from phuma.pipelines.evaluate_policy import load_policy
    from phuma.pipelines.playback import PolicyCollection

    robot = load_robot("g1")
    if args.train:
        pieces: Any = DatasetCollection(train(robot, args.out), [robot])
        policy = load_policy(args.out / "policy", robot)
    else:
        pieces = FileCollection([POLICY / f"{TRACKED}.npz"], [robot], ReadCfg())
        policy = load_policy(POLICY / "policy.onnx", robot)
    serve(PolicyCollection(pieces, policy, "the demo's", robot), args)


def train(robot: Robot, out: Path) -> Path:
    """Train a policy that walks in `out`, or resume the run there; return the dataset of its clip."""
    from phuma.learning.recipes.recipe import recipe_named
    from phuma.learning.run.folder import RunFolder
    from phuma.pipelines.experts import expert_library
    from phuma.pipelines.train_policy import Budget, train_policy
    from phuma.pipelines.training.options import ALGO
    from phuma.pipelines.training.table import Table
    from phuma.runtime.stopping import stopping

    recordings, root, run = (out / name for name in ("walker", "walk", "policy"))
    print("1. Somebody who walks, on a Unitree G1")
    if not recordings.exists():
        write_motions(recordings, (WALK,), SynthCfg())
    build_dataset([recordings], root, BuildCfg(), WorkCfg().runner())
    print("2. An expert performs it under physics", flush=True)
    library = expert_library(root, robot)
    print(
        f"3. A policy learns it in {MINUTES:g} minute: Ctrl-C ends that and shows what was learned so far", flush=True
    )
    cfg = None if RunFolder(run).description.exists() else recipe_named(ALGO).settings()
    with stopping() as stopped:
        train_policy(library, run, cfg, Budget(minutes=MINUTES), stop=lambda: bool(stopped), log=Table())
    return root


def build_and_report(out: Path) -> None:
    """Go from synthetic people to a dataset with a report."""
    began = time.perf_counter()
    recordings, root = out / "recordings", out / "dataset"
    print(f"1. Generating {len(KINDS)} kinds of motion, and {len(FAULTS)} kinds of fault")
    write_motions(recordings, KINDS, SynthCfg())
    for fault in FAULTS.values():
        write_motions(recordings, FAULTY_KINDS, SynthCfg(), f"{fault.name}:{fault.strengths[-1]:g}")
    print("2. Building a dataset of them for a Unitree G1 (the first run ever compiles, for half a minute)")
    with RecordingBar() as bar:
        build_dataset([recordings], root, BuildCfg(), WorkCfg().runner(), progress=bar)
    dataset = open_dataset(root)
    print(table(dataset))
    print("3. Reporting")
    summary = write_report(dataset, root / "report.html")
    print("\n".join(figures(summary)))
    draw_kinds(out / "motions.png")
    print(f"Done in {time.perf_counter() - began:.1f} s.\n\n{next_steps(dataset, out)}")


def table(dataset: Dataset) -> str:
    """Return one line per clip with its verdict."""
    lines = []
    for row in dataset.rows():
        name = Path(row["recording"]).stem.replace("_0000", "")
        verdict = "kept" if row["kept"] else "rejected: " + "; ".join(row["reasons"])
        lines.append(f"   {name:16} {verdict}")
    return "\n".join(lines)


def figures(summary: Summary) -> list[str]:
    """Return lines with the clips that each filter leaves, and the five metrics of each robot."""
    lines = [f"   {summary.judged:4} clips considered"]
    lines += [f"   {f.remaining:4} left after {f.metric.label}" for f in summary.filters]
    for robot in summary.robots:
        five = ", ".join(f"{name.replace('_', '-')} {number(value, 1)} %" for name, value in robot.five.items())
        lines.append(f"   on the {robot.name}: {five}; {robot.flagged} of {robot.clips} clips flagged")
    return lines


def next_steps(dataset: Dataset, out: Path) -> str:
    """Return the files and commands to try next."""
    phuma = called()
    walk: Any = next(dataset.entries("recording LIKE '%/walk_0000.npz'"))
    seen = [
        (f"{phuma} view {out / 'dataset'}", "human and robot in the browser, also what was rejected and why"),
        (out / "dataset" / "report.html", "the report: open it in a browser"),
        (out / "motions.png", "the eleven motions, with contacts lit"),
        (f"{phuma} render {walk.path} --human --out walk.gif", "a film of the robot and the human it follows"),
        (f'{phuma} query {out / "dataset"} "SELECT clip, reasons FROM manifest WHERE NOT kept"', "ask anything"),
        (f"{phuma} demo --policy", "a policy that makes the robot do it under physics"),
        (f"{phuma} inspect {out / 'recordings' / 'walk_0000.npz'} --plot walk.png", "one recording in detail"),
    ]
    lines = [f"  {what}\n      {why}" for what, why in seen]
    return "\n".join(["What to see next:", *lines, f"Then build your own: {phuma} build FOLDER --robot g1 --out DIR"])


def called() -> str:
    """Return how this program is called from here: by its name where that is found, else as it was called now."""
    if shutil.which("phuma"):
        return "phuma"
    script = Path(sys.argv[0])
    return "python -m phuma" if script.name == "__main__.py" else os.path.relpath(script)


def draw_kinds(path: Path, seed: int = 3) -> None:
    """Draw all kinds of synthetic motion as rows of stills."""
    from phuma.viewer import style
    from phuma.viewer.stills import draw_stills

    fig = style.figure(13, 5.3)
    axes = fig.subplots(4, 3)
    for ax in axes.ravel():
        ax.axis("off")
    for ax, kind in zip(axes.T.ravel(), KINDS):
        curation = curate(generate(kind, 4.0, seed).motion)
        draw_stills(ax, curation.motion, curation.contact.ratio, count=7, azimuth=35.0)
        ax.set_title(kind, fontsize=9, color=style.INK, loc="left", pad=0)
    fig.savefig(path)

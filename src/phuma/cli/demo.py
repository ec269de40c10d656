"""See the whole system work, without any data of your own.

People who stand, reach, walk, kick and jump are generated, some of them with the faults that real recordings have. They
become a small dataset for a Unitree G1: curated, retargeted and measured like any recording. Look at the report, at the
pictures, and at what was rejected, and why.
"""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from phuma.building import BuildCfg, WorkCfg, build_dataset
from phuma.cli.build import Bar
from phuma.cli.options import command_parser
from phuma.cli.report import write_report
from phuma.cli.synth import SynthCfg, write_motions
from phuma.curation import curate
from phuma.dataset.dataset import Dataset, open_dataset
from phuma.sources.synth import FAULTS, KINDS, generate
from phuma.summary import Summary

FAULTY_KINDS = ("walk", "reach")


def main(argv: Sequence[str]) -> int:
    parser = command_parser("demo", __doc__)
    parser.add_argument(
        "--out", type=Path, default=Path("phuma-demo"), metavar="DIR", help="where results go (default: phuma-demo)"
    )
    out: Path = parser.parse_args(argv).out
    began = time.perf_counter()
    recordings, root = out / "recordings", out / "dataset"
    print(f"1. Generating {len(KINDS)} kinds of motion, and {len(FAULTS)} kinds of fault")
    write_motions(recordings, KINDS, SynthCfg())
    for fault in FAULTS.values():
        write_motions(recordings, FAULTY_KINDS, SynthCfg(), f"{fault.name}:{fault.strengths[-1]:g}")
    print("2. Building a dataset of them for a Unitree G1 (the first run ever compiles, for half a minute)")
    with Bar() as bar:
        build_dataset([recordings], root, BuildCfg(), WorkCfg(jobs=os.cpu_count() or 1).runner(), progress=bar)
    dataset = open_dataset(root)
    print(table(dataset))
    print("3. Reporting")
    summary = write_report(dataset, root / "report.html")
    print("\n".join(figures(summary)))
    draw_kinds(out / "motions.png")
    print(f"Done in {time.perf_counter() - began:.1f} s.\n\n{where_to_look(dataset, out)}")
    return 0


def table(dataset: Dataset) -> str:
    """One line a clip."""
    lines = []
    for row in dataset.rows():
        name = Path(row["recording"]).stem.replace("_0000", "")
        verdict = "kept" if row["kept"] else "rejected: " + "; ".join(row["reasons"])
        lines.append(f"   {name:16} {verdict}")
    return "\n".join(lines)


def figures(summary: Summary) -> list[str]:
    """The funnel and the five metrics."""
    lines = [f"   {summary.judged:4} clips considered"]
    lines += [f"   {f.remaining:4} left after {f.label}" for f in summary.filters]
    for robot in summary.robots:
        five = ", ".join(f"{name.replace('_', '-')} {value:.1f} %" for name, value in robot.five.items())
        lines.append(f"   on the {robot.name}: {five}")
    return lines


def where_to_look(dataset: Dataset, out: Path) -> str:
    phuma = "phuma" if shutil.which("phuma") else os.path.relpath(sys.argv[0])
    walk: Any = next(dataset.entries("recording LIKE '%/walk_0000.npz'"))
    seen = [
        (f"{phuma} view {out / 'dataset'}", "human and robot in the browser, also what was rejected and why"),
        (out / "dataset" / "report.html", "the report: open it in a browser"),
        (out / "motions.png", "the eleven motions, with contacts lit"),
        (f"{phuma} render {walk.path} --human --out walk.gif", "a film of the robot and the human it follows"),
        (f'{phuma} query {out / "dataset"} "SELECT clip, reasons FROM manifest WHERE NOT kept"', "ask anything"),
        (f"{phuma} inspect {out / 'recordings' / 'walk_0000.npz'} --plot walk.png", "one recording in detail"),
    ]
    lines = [f"  {what}\n      {why}" for what, why in seen]
    return "\n".join(["Look at", *lines, f"Then build your own: {phuma} build FOLDER --robot g1 --out DIR"])


def draw_kinds(path: Path, seed: int = 3) -> None:
    """All kinds of embedded motion as rows of stills."""
    from phuma.view import style
    from phuma.view.stills import draw_stills

    fig = style.figure(13, 5.3)
    axes = fig.subplots(4, 3)
    for ax in axes.ravel():
        ax.axis("off")
    for ax, kind in zip(axes.T.ravel(), KINDS):
        curation = curate(generate(kind, 4.0, seed).motion)
        draw_stills(ax, curation.motion, curation.contact.ratio, count=7, turn=35.0)
        ax.set_title(kind, fontsize=9, color=style.INK, loc="left", pad=0)
    fig.savefig(path)

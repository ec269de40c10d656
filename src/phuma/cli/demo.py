"""See the whole system work, without any data of your own.

People who stand, reach, walk, kick and jump are generated, some of them with the faults that real recordings have. They
are curated like any recording, and what is kept is put on a Unitree G1. Look at the pictures and at what was rejected,
and why.
"""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from phuma.cli.curate import curate_sources
from phuma.cli.options import command_parser
from phuma.cli.synth import SynthCfg, write_motions
from phuma.curation import CurateCfg, curate
from phuma.errors import MissingExtraError
from phuma.sources import ReadCfg
from phuma.sources.synth import FAULTS, KINDS, generate

FAULTY_KINDS = ("walk", "reach")


def main(argv: Sequence[str]) -> int:
    parser = command_parser("demo", __doc__)
    parser.add_argument(
        "--out", type=Path, default=Path("phuma-demo"), metavar="DIR", help="where results go (default: phuma-demo)"
    )
    args = parser.parse_args(argv)
    out: Path = args.out
    began = time.perf_counter()
    recordings = out / "recordings"
    print(f"1. Generating {len(KINDS)} kinds of motion, and {len(FAULTS)} kinds of fault")
    write_motions(recordings, KINDS, SynthCfg())
    for fault in FAULTS.values():
        write_motions(recordings, FAULTY_KINDS, SynthCfg(), f"{fault.name}:{fault.strengths[-1]:g}")
    print("2. Curating them")
    result = curate_sources([str(recordings)], out / "curated", ReadCfg(), CurateCfg(), jobs=1)
    print(table(result))
    robot_lines = put_on_robot(out)
    print(f"Done in {time.perf_counter() - began:.1f} s.\n\nLook at")
    try:
        draw_kinds(out / "motions.png")
        print(f"  {out / 'motions.png'}      the eleven motions, with contacts lit")
    except MissingExtraError as e:
        print(f"  ({e})", file=sys.stderr)
    walk = recordings / "walk_0000.npz"
    print(f"  {out / 'curated' / 'curation.json'}   every verdict with every metric")
    print("\n".join(robot_lines))
    phuma = "phuma" if shutil.which("phuma") else os.path.relpath(sys.argv[0])
    print(f"  {phuma} inspect {walk} --plot walk.png   one recording in detail")
    print(f"Then try your own: {phuma} curate FOLDER --out curated")
    return 0


def put_on_robot(out: Path) -> list[str]:
    """The kept clips on a G1; returns where to look. Without the extra for it, only how to get it."""
    try:
        from phuma.cli.retarget import RetargetCfg, retarget_sources
        from phuma.retargeting import FIVE
        from phuma.retargeting.measure import combine
    except ImportError as e:
        return [f"  ({e.name} is not installed; for the next step: pip install 'phuma[retarget]')"]
    print("3. Putting the kept ones on a Unitree G1 (the first run ever compiles, for half a minute)")
    result = retarget_sources([str(out / "curated")], out / "g1", RetargetCfg(jobs=1), ReadCfg())
    total = combine([m["metrics"] for m in result["motions"]])
    print("   " + ", ".join(f"{name.replace('_', '-')} {total[name]:.1f} %" for name in FIVE))
    return [f"  {out / 'g1'}   {len(result['motions'])} motions of the robot, with all metrics in retarget.json"]


def table(result: dict[str, Any]) -> str:
    """One line a clip."""
    lines = []
    for clip in result["clips"]:
        name = Path(clip["source"]).stem.replace("_0000", "")
        verdict = "kept" if clip["kept"] else "rejected: " + "; ".join(clip["reasons"])
        lines.append(f"   {name:16} {verdict}")
    kept = sum(c["kept"] for c in result["clips"])
    return "\n".join([*lines, f"   {kept} of {len(result['clips'])} clips kept"])


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

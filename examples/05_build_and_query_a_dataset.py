"""Build a dataset from a folder of recordings, and ask it by SQL.

    python examples/05_build_and_query_a_dataset.py [FOLDER...]

Without folders, synthetic people of a few kinds are built. Run it again: it goes on where it was.
"""

import sys
from pathlib import Path

import phuma
from phuma.cli.main import main as phuma_command
from phuma.curation import CurateCfg
from phuma.pipelines.build_dataset import BuildCfg, WorkCfg, build_dataset

OUT = Path("phuma-examples")


def main() -> None:
    folders = sys.argv[1:]
    if not folders:
        folders = [str(OUT / "recordings")]
        words = ["synth", "--type", "stand", "squat", "reach", "walk", "--count", "2", "--out", folders[0]]
        phuma_command(words)

    cfg = BuildCfg(robots=("g1",), curate=CurateCfg(preset="dynamic"))
    build_dataset(folders, OUT / "dataset", cfg, WorkCfg().runner())

    dataset = phuma.open_dataset(OUT / "dataset")
    names, rows = dataset.query(
        "SELECT category, count(*) AS clips, round(avg(fidelity), 1) AS fidelity FROM manifest WHERE kept GROUP BY ALL"
    )
    for row in [names, *rows]:
        print("".join(f"{value!s:>12}" for value in row))
    for entry in dataset.entries("category = 'squat'"):
        print(entry.id, entry.motion())


if __name__ == "__main__":  # worker processes import this file
    main()

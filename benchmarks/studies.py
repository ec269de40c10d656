"""A study of the paper's questions on CMU recordings, and its table.

    python benchmarks/studies.py NAME MINUTES [ROBOT]

PHUMA_CMU names the folder of the recordings, PHUMA_STUDIES the one of the studies, by default below the system's folder
for temporary files; a study goes on where it was. Writes docs/tables/study_*.md.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from cmu_table import CMU
from phuma.cli.main import main as phuma
from tables import save

STUDIES = Path(os.environ.get("PHUMA_STUDIES", Path(tempfile.gettempdir()) / "phuma-studies"))


def main() -> None:
    if len(sys.argv) < 3:
        print(__doc__)
        return
    name, minutes, robot = sys.argv[1], sys.argv[2], (sys.argv[3:] or ["g1"])[0]
    out = STUDIES / f"{name}_{robot}"
    STUDIES.mkdir(parents=True, exist_ok=True)
    words = [name, "--data", str(CMU), "--robot", robot, "--budget", minutes, "--jobs", "1", "--out", str(out)]
    if phuma(["study", *words]) == 2:
        return
    title, _, text = (out / "table.md").read_text().partition("\n")
    command = f"`phuma study {name} --robot {robot} --budget {minutes}` on CMU recordings:"
    save(f"study_{name}_{robot}", title.removeprefix("# "), command, text.strip())


if __name__ == "__main__":
    main()

"""rerun: it writes the recording, as its library is needed for that, and its own tool verifies it."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

TITLE, FORMAT = "rerun", None
INSTALL = [["rerun-sdk==0.41.0"], ["--constraint", "constraints.txt", ".[rerun]"]]


def main(folder: Path) -> None:
    out = folder / "rerun"
    command = [sys.executable, "-m", "phuma", "export", folder / "walk.npz", "--format", "rerun", "--out", out]
    subprocess.run(command, check=True, capture_output=True)
    (recording,) = out.rglob("*.rrd")
    tool = [sys.executable, "-m", "rerun", "rrd"]
    verified = subprocess.run([*tool, "verify", recording], check=True, capture_output=True, text=True)
    counted = subprocess.run([*tool, "stats", recording], check=True, capture_output=True, text=True).stdout
    entities = next(line.split("=")[1].strip() for line in counted.splitlines() if line.startswith("num_entity_paths"))
    assert "1 file verified without error" in verified.stdout + verified.stderr
    print(json.dumps({
        "version": version("rerun-sdk"), "what its own code did": "wrote the recording; `rerun rrd verify`",
        "positions differ by [mm]": "not compared", "velocities differ by": "none are in it",
        "remarks": f"{entities} entities",
    }))  # fmt: skip


if __name__ == "__main__":
    main(Path(sys.argv[1]))

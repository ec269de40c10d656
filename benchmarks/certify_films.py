"""Films of recorded people beside a G1 that performs what they did under physics: docs/images/certified_*.mp4 and .png.

PHUMA_CMU names the folder of the recordings.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from cmu_table import CMU
from phuma.cli.main import main as phuma
from tables import PICTURES

CLIPS = {"walk": "133_16", "run": "104_04", "jump": "02_04", "kick": "135_04", "dance": "60_02"}
SIZE = "480x300"


def main() -> None:
    if not (CMU / "labels.csv").exists():
        print(f"skipped: no CMU recordings at {CMU}; set PHUMA_CMU")
        return
    with tempfile.TemporaryDirectory() as folder:
        for name, recording in CLIPS.items():
            data = Path(folder) / name
            phuma(["build", str(CMU / f"{recording}.bvh"), "--out", str(data), "--end", "5", "--jobs", "1"])
            phuma(["certify", str(data), "--jobs", "1"])
            clip = next(iter(sorted(data.glob("clips/g1/*/*.npz"))))
            for suffix in ("mp4", "png"):
                out = PICTURES / f"certified_{name}.{suffix}"
                phuma(["render", str(clip), "--certified", "--human", "--out", str(out), "--size", SIZE])


if __name__ == "__main__":
    main()

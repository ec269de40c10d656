"""Films and sheets of policies that tracking.py has trained: one that does what it should, and one that falls.

python benchmarks/tracking_films.py [--folder DIR]
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from phuma.cli.main import main as phuma
from phuma.formats.robot_motion_file import save_robot_motion
from tables import PICTURES
from tracking import library_of_motions, run_folder, studies

FILMED = ("walk", "lunge")
SIZES = {"mp4": "480x360", "png": "320x240"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=Path("tracking-runs"), help="where checkpoints are")
    args = parser.parse_args()
    for training in (t for t in studies()["types"] if t.name in FILMED):
        _, made = library_of_motions(training.motions, training.method)
        ((name, (motion, _)),) = made.items()
        with tempfile.TemporaryDirectory() as folder:
            clip = Path(folder) / f"{name}.npz"
            save_robot_motion(clip, motion)
            for kind, size in SIZES.items():
                out = PICTURES / f"tracking_{training.name}.{kind}"
                words = ["play", run_folder(training, args.folder), clip, "--physics-dt", "0.005", "--size", size]
                assert phuma([*map(str, words), "--render", str(out)]) == 0


if __name__ == "__main__":
    main()

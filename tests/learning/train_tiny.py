"""`phuma ARGS` as a script, with a preset `tiny` that trains in no time."""

from __future__ import annotations

import sys

from phuma.cli.main import main
from tests.cli.tracking_dataset import PRESETS, TINY

if __name__ == "__main__":
    PRESETS["tiny"] = TINY
    raise SystemExit(main(sys.argv[1:]))

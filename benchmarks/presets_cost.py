"""What the presets and their steps cost: CPU seconds a minute of motion, on one thread, from parsed arrays to
verdicts."""

from __future__ import annotations

import os
from functools import partial

from curation_speed import cpu_seconds, long_walk, smplx_like
from phuma.core.human_motion import HumanMotion
from phuma.curation import CurateCfg, curate
from tables import markdown, save

WAYS = {
    "paper": CurateCfg(preset="paper"),
    "dynamic, contacts of paper, nothing mended": CurateCfg(contacts="paper", mend=False),
    "dynamic, nothing mended": CurateCfg(mend=False),
    "dynamic": CurateCfg(),
}
"""From the paper's filters to the default: forces, then contacts that stand, then a look for what is to be mended"""


def judged(motion: HumanMotion, cfg: CurateCfg) -> None:
    curate(motion, cfg).clips  # noqa: B018


def main() -> None:
    walk = long_walk(1, 120.0)
    motions = {
        "own skeleton or known body, 30 Hz": long_walk(1, 30.0),
        "the same, 120 Hz": walk,
        "SMPL-X body (skinning and pose blend shapes), 120 Hz": smplx_like(walk),
    }
    rows = [[name, *(cpu_seconds(partial(judged, m, cfg)) for cfg in WAYS.values())] for name, m in motions.items()]
    save(
        "presets_cost",
        "What the presets cost",
        f"CPU seconds a minute of motion; {os.getloadavg()[0]:.0f} processes ran at the time:",
        markdown(["", *WAYS], rows),
    )


if __name__ == "__main__":
    main()

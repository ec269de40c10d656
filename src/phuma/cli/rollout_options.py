"""Options of commands that roll out a policy: on which clips, in which simulation, and in which worlds."""

from __future__ import annotations

import argparse
from pathlib import Path

from phuma.pipelines.evaluate_policy import SPLITS
from phuma.sim.worlds import MAKER


def add_rollout_options(parser: argparse.ArgumentParser, split: str | None) -> None:
    """Add options for the clips that a policy is rolled out on, and for the simulation; without a split those of
    `own_clips`."""
    default = split or "test, or where that is empty what it was trained on"
    parser.add_argument("--split", default=split, choices=(*SPLITS, "all"), help=f"which clips (default: {default})")
    own = "" if split else " (default: as it was trained on this dataset; true for all)"
    parser.add_argument("--where", metavar="SQL", help=f"only clips like \"category = 'walk'\"{own}")
    parser.add_argument(
        "--physics-dt",
        type=float,
        metavar="S",
        help="length of a physics step in seconds, as 0.005 (default: that of training)",
    )
    parser.add_argument(
        "--noise",
        type=float,
        default=0.0,
        metavar="S",
        help="noise of observations, as a multiple of the paper's (default: 0)",
    )
    parser.add_argument("--pushes", action="store_true", help="push the robot every 1 to 3 s, as the paper does")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="seed of all random numbers (default: 0)")
    parser.add_argument("--robot", metavar="FOLDER", help="folder of the policy's robot, if it is not built in")
    parser.add_argument(
        "--stage", metavar="NAME", help="of a RUN of several stages, as teacher (default: the last one that was begun)"
    )


def add_world_options(parser: argparse.ArgumentParser) -> None:
    """Add options that make worlds known beside the built-in ones."""
    parser.add_argument("--worlds", type=Path, metavar="FILE", help="worlds of your own: JSON, see docs/transfer.md")
    parser.add_argument(
        "--model", type=Path, metavar="XML", help=f"the maker's own model file of the robot, which is the world {MAKER}"
    )

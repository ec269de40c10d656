"""Train a policy that makes a robot track the clips of a dataset under physics.

From experts, clips that were not certified yet are certified first, into the dataset, and a policy is distilled from
the performances, in minutes; from scratch it learns by trial and error, in hours. Clips that cannot be followed are
left out and named. RUN gets run.json (its settings), checkpoint_STAGE.npz (each minute and at the end) and curves for
TensorBoard. Ctrl-C ends it with a checkpoint; the same command with --resume continues from there. --minutes and
--steps count for the whole run, without the experts and without --finetune.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from phuma.cli.options import add_ray_option, command_parser, from_options, parse_with_lock
from phuma.learning.env.conditions import CONDITIONS
from phuma.learning.recipes.recipe import CPU, DEPLOY, EXPERTS, PAPER, SCRATCH, recipe_names
from phuma.pipelines.training.budget import FEW, MINUTES
from phuma.pipelines.training.options import ALGO, OBSERVATIONS, ROBOT, TrainCfg
from phuma.pipelines.training.train import train
from phuma.sim.feedforward import BASES


def main(argv: Sequence[str]) -> int:
    """Run the command and return its exit code."""
    return train(from_options(TrainCfg, parse_with_lock(parser(), argv, ROBOT)))


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command's options."""
    out = command_parser("train", __doc__)
    out.add_argument("dataset", type=Path, metavar="DATASET", help="a folder made by `phuma build` or `phuma import`")
    out.add_argument("--out", required=True, type=Path, metavar="RUN", help="the run's folder")
    out.add_argument(
        "--robot",
        help=f"g1, h1_2, or a folder with model.xml and robot.json (default: {ROBOT}, or the run's with --resume)",
    )
    out.add_argument("--where", metavar="SQL", help="only clips like \"category = 'walk'\"")
    out.add_argument("--split", choices=("train", "all"), help="the clips to learn from (default: train)")
    out.add_argument(
        "--minutes", type=float, metavar="M",
        help=f"time to train (default: {FEW[0]:g} and {FEW[1]:g} a clip from experts for each stage, at most "
        f"{MINUTES:g}; from scratch {MINUTES:g})",
    )  # fmt: skip
    out.add_argument(
        "--steps", type=whole_number, metavar="N",
        help="environment steps to train, instead of --minutes; rounded up to whole updates",
    )  # fmt: skip
    out.add_argument("--jobs", type=int, metavar="N", help="processes that certify (default: one for each processor)")
    add_ray_option(out, "certify")
    out.add_argument("--device", default="cpu", help="cpu, or cuda, which needs phuma[warp] (default: cpu)")
    out.add_argument("--resume", action="store_true", help="continue the run in RUN, with its settings")
    out.add_argument(
        "--finetune", type=float, metavar="M",
        help=f"from {EXPERTS}: go on with PPO for so many minutes more; the policy never ends worse than it was",
    )  # fmt: skip
    add_new_run_options(out.add_argument_group("a new run"))
    return out


def add_new_run_options(new: argparse._ArgumentGroup) -> None:
    """Add the options that a run is begun with, and keeps."""
    new.add_argument(
        "--from", dest="begin", metavar="|".join((EXPERTS, SCRATCH)),
        help=f"{EXPERTS}: distil certified performances; {SCRATCH}: learn by PPO alone (default: {EXPERTS} where the "
        "recipe can)",
    )  # fmt: skip
    new.add_argument("--algo", help=f"the recipe: {', '.join(recipe_names())} (default: {ALGO})")
    new.add_argument(
        "--stage", metavar="teacher|student",
        help="one of the stages alone, of a recipe that has a teacher and a student (default: one after the other)",
    )  # fmt: skip
    new.add_argument(
        "--teacher", metavar=f"RUN|{EXPERTS}", help="what a student alone learns from: a run, or certified performances"
    )
    new.add_argument(
        "--condition", metavar="C",
        help=f"what a masked student is told: {', '.join(CONDITIONS)} (default: the preset's)",
    )  # fmt: skip
    new.add_argument(
        "--preset",
        help=f"{CPU}, {PAPER}: sizes of networks and settings of learning; {DEPLOY}: as {CPU}, but a policy that other "
        f"projects' programs can run (default: {CPU})",
    )
    new.add_argument(
        "--randomize", action="store_true", default=None,
        help="randomize physics, add noise and pushes as in the paper's table; always on with --preset paper",
    )  # fmt: skip
    new.add_argument(
        "--disturb", action="store_true", default=None,
        help="add noise and pushes as in the paper's table, to robots that differ in weight, strength, grip and soles",
    )  # fmt: skip
    new.add_argument(
        "--no-future", action="store_true", default=None, help="a policy that does not see the coming 1.9 s"
    )
    new.add_argument(
        "--observations", choices=tuple(OBSERVATIONS),
        help="what the policy observes: the paper's, or differences from the reference too (default: the preset's)",
    )  # fmt: skip
    new.add_argument(
        "--base",
        help=f"what an action is added to: {', '.join(BASES)} (default: the preset's; see docs/formats/training.md)",
    )
    new.add_argument("--seed", type=int, metavar="N", help="seed of all random numbers (default: 0)")


def whole_number(text: str) -> int:
    """Return the whole number that an option states, as 4000000, 4e6 or 4_000_000."""
    value = float(text)
    if not value.is_integer():
        raise ValueError(text)
    return int(value)

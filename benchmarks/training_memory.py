"""What learning from very many clips takes: the peak memory of a process that holds so many certified clips and trains.

    python benchmarks/training_memory.py [--clips 1000 ...]

The clips are 22 generated ones with their experts (those of benchmarks/distillation.py), each many times over; each is
read from its file as if it were another. Every training runs three iterations, and then once takes other clips in
their place, as one of a larger library does every 200 iterations. Written to docs/tables/training_memory.md.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
from functools import partial
from pathlib import Path

from distillation import cached_robot, expert, generated
from phuma.control.bundle import strands_of
from phuma.formats.robot_motion_file import load_robot_motion
from phuma.formats.rollout_file import load_rollout
from phuma.learning.motions.library import MotionLibrary, performance_of
from phuma.sim.feedback import Strand
from tables import markdown, save

ROBOT = "g1"
RECIPES = ("beyondmimic", "estimator", "maskedmimic", "kungfubot")
"""Of each its first stage, which learns from experts"""
ITERATIONS = 3


def feedback(file: str) -> list[Strand]:
    return strands_of(load_rollout(file), cached_robot(ROBOT))


def many(count: int) -> MotionLibrary:
    """A library of so many clips, each with a performance of its own."""
    robot, out = cached_robot(ROBOT), MotionLibrary(cached_robot(ROBOT))
    paths = [Path(expert((name, 0))["path"]) for name in generated(22)]
    for n in range(count):
        path = paths[n % len(paths)]
        file = str(path.with_suffix(".rollout.npz"))
        performance = performance_of(load_rollout(file), robot, partial(feedback, file))
        out.add(f"{path.name} {n}", load_robot_motion(path.with_suffix(".motion.npz")), None, performance)
    return out


def train(recipe: str, count: int) -> None:
    """Train for a few iterations, and print the peak of this process in GB."""
    import torch

    torch.set_num_threads(1)
    from phuma.learning.recipes.recipe import EXPERTS, recipe_named
    from phuma.learning.run.runner import StageRunner

    cfg = recipe_named(recipe).settings(begin=EXPERTS)
    runner = StageRunner(many(count), cfg, next(iter(cfg.stages)), threads=1)
    for _ in range(ITERATIONS):
        runner.iterate()
    runner._refresh()
    runner.iterate()
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6)


def peak(recipe: str, count: int) -> float:
    """The same in a process of its own."""
    asked = [sys.executable, __file__, "--recipe", recipe, "--clips", str(count)]
    return float(subprocess.run(asked, check=True, capture_output=True, text=True).stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clips", type=int, nargs="+", default=[1000])
    parser.add_argument("--recipe", choices=RECIPES, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.recipe:
        train(args.recipe, args.clips[0])
        return
    rows = [[name, *(f"{peak(name, count):.2f}" for count in args.clips)] for name in RECIPES]
    save(
        "training_memory", "Memory of a training from experts",
        markdown(["recipe, GB with so many clips of 4 s", *map(str, args.clips)], rows),
        "Peak of a process with 256 environments, networks, remembered samples and experts included; of a library of "
        "more than 100,000 frames (500 clips) a part is learned from at a time.",
    )  # fmt: skip


if __name__ == "__main__":
    main()

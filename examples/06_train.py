"""Train a policy that makes the robot do, under physics, what clips of a dataset show: distilled from experts.

    python examples/06_train.py [MINUTES]

Takes the dataset of 05_build_and_query_a_dataset.py. Run it again with more minutes: it goes on where it was.
"""

import sys
from pathlib import Path

import phuma
from phuma.learning.recipes.recipe import recipe_named
from phuma.pipelines.experts import expert_library
from phuma.pipelines.train_policy import Budget, Progress, train_policy

OUT = Path("phuma-examples")
RUN = OUT / "run"


def log(now: Progress) -> None:
    reward, failed = now.values["reward"], 100 * now.values["failed_share"]
    print(f"{now.seconds:6.0f} s {now.steps:9,} steps  reward {reward:.3f}, {failed:.0f} % of episodes failed")


def main() -> None:
    minutes = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
    library = expert_library(OUT / "dataset", phuma.load_robot("g1"), where="category = 'squat'")  # performs it first
    print(f"{len(library)} clips, {library.frames} frames at 50 Hz")

    cfg = None if RUN.exists() else recipe_named("beyondmimic").settings()  # None goes on with the run that is there
    train_policy(library, RUN, cfg, Budget(minutes=minutes), log=log)
    print(f"{RUN}: judge it by 07_evaluate_and_play.py")


if __name__ == "__main__":  # worker processes import this file
    main()

"""The policy of `phuma demo --policy`, made from scratch: a generated motion is curated, put on the G1 and learned.

    python benchmarks/demo_policy.py [--steps N] [--out DIR]

Writes the robot's motion and policy.onnx, by default into the package, and says how well the policy does.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from phuma.cli.demo import POLICY, TRACKED
from phuma.formats.robot_motion_file import load_robot_motion, save_robot_motion
from phuma.learning.deploy.onnx_export import export_policy
from phuma.learning.deploy.torch_policy import policy_of_run
from phuma.learning.motions.library import MotionLibrary, library_of
from phuma.learning.recipes.recipe import recipe_named
from phuma.pipelines.evaluate_policy import judge_policy, load_policy
from phuma.pipelines.retarget import retarget
from phuma.pipelines.train_policy import Budget, train_policy
from phuma.pipelines.training.table import Table
from phuma.robots import load_robot
from phuma.synth import generate

SEED, STEPS = 0, 1_000_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--out", type=Path, default=POLICY)
    parser.add_argument("--judge", action="store_true", help="only judge the policy that is there")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    motion, policy = args.out / f"{TRACKED}.npz", args.out / "policy.onnx"
    robot = load_robot("g1")
    save_robot_motion(motion, retarget(generate(TRACKED, seed=SEED).motion, robot))
    library = library_of(robot, [(TRACKED, load_robot_motion(motion), None)])
    if not args.judge:
        learn(library, args.steps, policy)
    total = judge_policy(load_policy(policy), library, physics_dt=0.005, episodes=32)["total"]
    print(f"{policy}: {policy.stat().st_size / 1e6:.2f} MB; {motion}: {motion.stat().st_size / 1e6:.2f} MB")
    print({name: total[name] for name in ("rollouts", "tracked", "success_0.5", "success_0.15")})


def learn(library: MotionLibrary, steps: int, out: Path) -> None:
    with tempfile.TemporaryDirectory() as run:
        about = {"embedded": TRACKED, "seed": SEED}
        folder = train_policy(
            library, run, recipe_named("beyondmimic").settings(begin="scratch"), Budget(steps), about, log=Table()
        )
        export_policy(policy_of_run(folder, library.robot), out)


if __name__ == "__main__":
    main()

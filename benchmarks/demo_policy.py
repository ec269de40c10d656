"""The policy of `phuma demo --policy`, made from scratch: a generated motion is curated, put on the G1 and learned.

    python benchmarks/demo_policy.py [--steps N] [--out DIR]

Writes the robot's motion and policy.onnx, by default into the package, and says how well the policy does.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import phuma
from phuma.cli.demo import POLICY, STEPS, TRACKED
from phuma.cli.train import Table
from phuma.curation import curate
from phuma.learning.config import PRESETS
from phuma.learning.export import export_policy
from phuma.learning.library import library_of
from phuma.policies import judge_policy, load_policy
from phuma.robot_file import load_robot_motion, save_robot_motion
from phuma.robots import load_robot
from phuma.sources.synth import generate
from phuma.training import Budget, train_policy

SECONDS, SEED = 4.0, 1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--out", type=Path, default=POLICY)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    motion, policy = args.out / f"{TRACKED}.npz", args.out / "policy.onnx"
    (clip,) = curate(generate(TRACKED, SECONDS, SEED).motion).clips
    save_robot_motion(motion, phuma.retarget(clip))
    library = library_of(load_robot("g1"), [(TRACKED, load_robot_motion(motion), None)])
    with tempfile.TemporaryDirectory() as run:
        about = {"dataset": "embedded", "motion": TRACKED, "seed": SEED}
        folder = train_policy(library, run, PRESETS["cpu"], Budget(args.steps), about, tell=Table())
        export_policy(load_policy(folder.root), policy)
    total = judge_policy(load_policy(policy), library, full_collision=True, episodes=32)["total"]
    print(f"{policy}: {policy.stat().st_size / 1e6:.2f} MB; {motion}: {motion.stat().st_size / 1e6:.2f} MB")
    print({name: total[name] for name in ("rollouts", "tracked", "success_0.5", "success_0.15")})


if __name__ == "__main__":
    main()

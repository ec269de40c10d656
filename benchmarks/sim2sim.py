"""A policy in every world: success, error, the difference to the world of its training, and what each costs.

    python benchmarks/sim2sim.py [RUN|POLICY.onnx DATASET] [--split S] [--episodes N] [--model XML] [--name NAME]

Without a policy it is the shipped one on its squat. Writes docs/tables/sim2sim.md, or sim2sim_NAME.md for a policy that
is given. The maker's model file is that of Unitree's G1 in the folder PHUMA_ROBOTS, or --model.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from phuma.cli.demo import POLICY, TRACKED
from phuma.cli.sim2sim import verdict, world_row
from phuma.formats.robot_motion_file import load_robot_motion
from phuma.learning.motions.library import MotionLibrary, library_of
from phuma.pipelines.evaluate_policy import dataset_library, load_policy
from phuma.pipelines.sim2sim import NO_MODEL, Judged, all_worlds, judge_worlds
from phuma.robots import load_robot
from phuma.sim.feedforward import CERTIFIED
from phuma.sim.worlds import MAKER, World
from tables import markdown, save

EPISODES, SEED = 32, 0
HEAD = ["world", "what", "SR@0.5", "SR@0.15", "error, mm", "difference", "CPU s"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("policy", nargs="?", type=Path, default=POLICY / "policy.onnx")
    parser.add_argument("dataset", nargs="?", type=Path)
    parser.add_argument("--split", choices=("train", "test"), help="default: both")
    parser.add_argument("--episodes", type=int, default=EPISODES)
    parser.add_argument("--model", type=Path, default=unitrees())
    parser.add_argument("--name", help="of the table")
    args = parser.parse_args()
    policy = load_policy(args.policy)
    library = squat() if args.dataset is None else motions(args, policy.info.base == CERTIFIED)
    judged = judge_worlds(policy, library, all_worlds(model=args.model), args.episodes, SEED)
    judged.setdefault(MAKER, Judged(World(), reason=NO_MODEL))
    trained = f"{policy.info.algo}, stage {policy.info.stage}, after {policy.info.steps:,} environment steps"
    about = f"A policy for {policy.info.robot} by {trained}; {len(library)} motions, {args.episodes} rollouts of each."
    missing = [f"Not tried: {name}: {one.reason}." for name, one in judged.items() if one.reason is not None]
    rows = [["-" if cell is None else cell for cell in world_row(name, one)] for name, one in judged.items()]
    title = "The shipped policy in other worlds" if args.dataset is None else f"{args.name} in other worlds"
    name = "sim2sim" if args.dataset is None else f"sim2sim_{args.name}"
    save(name, title, about, markdown(HEAD, rows), verdict(judged), NOTE, *missing)


def unitrees() -> Path | None:
    file = Path(os.environ.get("PHUMA_ROBOTS", "")) / "unitree_g1" / "g1_29dof_rev_1_0.xml"
    return file if file.is_file() else None


def squat() -> MotionLibrary:
    return library_of(load_robot("g1"), [(TRACKED, load_robot_motion(POLICY / f"{TRACKED}.npz"), TRACKED)])


def motions(args: argparse.Namespace, performed: bool) -> MotionLibrary:
    if args.name is None:
        raise SystemExit("--name NAME: of the table of this policy")
    return dataset_library(args.dataset, load_robot("g1"), split=args.split, performed=performed)


NOTE = (
    "SR: success rate in percent [95 % interval]; of a single motion that is very wide, as it says nothing of others. "
    "Error: global, of successful rollouts, or (up to the failure). Difference: SR@0.5 less that of as-trained, in "
    "points [95 % interval]. Rollouts begin a fifth of the paper's ranges of first states off the reference, in the "
    "same states in every world. CPU s: of the simulation; mujoco_warp loads or compiles its kernels."
)

if __name__ == "__main__":
    main()

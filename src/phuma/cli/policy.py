"""Export a policy, or a motion for it, with everything that is needed to run it on a robot.

  phuma policy export RUN --out policy.onnx              weights, normalisers, and all else in the metadata
  phuma policy motion POLICY CLIP --out motion.npz       a motion with what that policy needs to follow it
  phuma policy motion POLICY DATASET --clip ID --out motion.npz

POLICY is a RUN or a policy.onnx. docs/formats/policy.md says how to feed a motion to a policy.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from phuma.cli.options import command_parser
from phuma.core.robot_motion import RobotMotion
from phuma.errors import ConfigError
from phuma.formats.robot_motion_file import load_robot_motion
from phuma.learning.deploy.reference_file import save_reference
from phuma.learning.motions.library import Performance, library_of
from phuma.learning.run.folder import RunFolder
from phuma.pipelines.evaluate_policy import fitting, load_policy, performance_in, robot_named
from phuma.robots import Robot, load_robot
from phuma.robots.locked_motion import locked_motion


def main(argv: Sequence[str]) -> int:
    """Run the command and return its exit code."""
    parser = command_parser("policy", __doc__)
    commands = parser.add_subparsers(dest="what", required=True, metavar="export|motion")
    export = commands.add_parser("export", help="write the policy of a run as ONNX")
    export.add_argument("run", type=Path, metavar="RUN", help="a folder made by `phuma train`")
    motion = commands.add_parser("motion", help="write a motion for a policy")
    motion.add_argument("policy", type=Path, metavar="POLICY", help="a RUN or a policy.onnx")
    motion.add_argument("source", type=Path, metavar="CLIP", help="a robot motion, or a dataset and --clip")
    motion.add_argument("--clip", metavar="ID", help="the clip of a dataset")
    for command in (export, motion):
        command.add_argument("--out", required=True, type=Path, metavar="FILE", help="the file to write")
        command.add_argument("--robot", metavar="FOLDER", help="folder of the policy's robot, if it is not built in")
    args = parser.parse_args(argv)
    return {"export": _export, "motion": _motion}[args.what](args)


def _export(args: argparse.Namespace) -> int:
    _check_out(args.out, ".onnx")
    from phuma.learning.deploy.onnx_export import export_policy
    from phuma.learning.deploy.torch_policy import policy_of_run

    folder = RunFolder(args.run)
    info = folder.info().policy(folder.reached_stage())
    robot = load_robot(args.robot) if args.robot else robot_named(info.robot)
    fitting(args.run, info, robot)
    policy = policy_of_run(folder, robot)
    export_policy(policy, args.out)
    inputs = ", ".join(f"{each['name']} {' x '.join(map(str, each['shape']))}" for each in policy.info.inputs)
    size = f"{args.out.stat().st_size / 1e6:.1f} MB"
    print(f"{args.out}: a policy for {info.robot} after {policy.info.steps:,} steps, {size}; inputs {inputs}")
    print(f"A motion for it: phuma policy motion {args.out} DATASET --clip ID --out motion.npz")
    return 0


def _check_out(path: Path, suffix: str) -> None:
    """Raise a ConfigError for another suffix, so that no other file is overwritten by mistake."""
    if path.suffix != suffix:
        raise ConfigError(f"--out {path}: expected a name that ends in {suffix}")


def _motion(args: argparse.Namespace) -> int:
    _check_out(args.out, ".npz")
    own = load_robot(args.robot) if args.robot else None
    policy = load_policy(args.policy, own)
    robot = own or robot_named(policy.info.robot)
    name, motion, performance = _source(args, robot)
    library = library_of(robot, [(name, motion, None, performance)])
    save_reference(args.out, library, 0, policy.info)
    frames = len(library.motions[0])
    print(f"{args.out}: {name} for {robot.name}, {frames} frames at {policy.info.control_rate:g} Hz")
    return 0


def _source(args: argparse.Namespace, robot: Robot) -> tuple[str, RobotMotion, Performance | None]:
    if not args.source.is_dir():
        if args.clip is not None:
            raise ConfigError(f"--clip {args.clip}: {args.source} is a file, not a dataset")
        return args.source.stem, locked_motion(load_robot_motion(args.source), robot), None
    from phuma.dataset.dataset import Dataset

    dataset = Dataset(args.source)
    if args.clip is None:
        raise ConfigError(
            f'which clip of {args.source}? --clip ID; `phuma query {args.source} "SELECT clip FROM manifest"`'
        )
    entry = dataset.entry(args.clip, robot.name)
    return args.clip, entry.motion(), performance_in(entry, robot)

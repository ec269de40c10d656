"""Export a policy, or a motion for it, with everything that is needed to run it on a robot.

  phuma policy export RUN --out policy.onnx              weights, normalisers, and all else in the metadata
  phuma policy export RUN --stage teacher --out teacher.onnx
  phuma policy export RUN --dialect beyondmimic --motion CLIP --out policy.onnx      in another project's layout
  phuma policy motion POLICY CLIP --out motion.npz       a motion with what that policy needs to follow it
  phuma policy motion POLICY DATASET --clip ID --out motion.npz

POLICY is a RUN or a policy.onnx. docs/formats/policy.md says how to feed a motion to a policy, docs/policies.md what
the dialects of other projects are and which policies fit them.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from phuma.cli.options import command_parser
from phuma.cli.policy_words import told_recipe
from phuma.core.robot_motion import RobotMotion
from phuma.errors import ConfigError
from phuma.formats.robot_motion_file import load_robot_motion
from phuma.learning.deploy.dialects.registry import DIALECTS, OWN
from phuma.learning.deploy.reference_file import save_reference
from phuma.learning.motions.library import Performance, library_of
from phuma.learning.run.folder import RunFolder
from phuma.pipelines.evaluate_policy import fitting, load_policy, performance_in, robot_named
from phuma.robots import Robot, load_robot
from phuma.robots.locked_motion import locked_motion

if TYPE_CHECKING:
    from phuma.learning.deploy.torch_policy import TorchPolicy


def main(argv: Sequence[str]) -> int:
    """Run the command and return its exit code."""
    parser = command_parser("policy", __doc__)
    commands = parser.add_subparsers(dest="what", required=True, metavar="export|motion")
    export = commands.add_parser("export", help="write the policy of a run as ONNX")
    export.add_argument("run", type=Path, metavar="RUN", help="a folder made by `phuma train`")
    export.add_argument(
        "--dialect", choices=(OWN, *DIALECTS), default=OWN,
        help=f"the layout: {OWN}, or {'; '.join(f'{name}, of {each.about}' for name, each in DIALECTS.items())} "
        f"(default: {OWN})",
    )  # fmt: skip
    export.add_argument(
        "--motion", type=Path, metavar="CLIP",
        help="the motion inside the file, in dialects that have one: a robot motion, or a dataset and --clip",
    )  # fmt: skip
    export.add_argument(
        "--stage", metavar="NAME", help="of a run of several stages, as teacher (default: the last one that was begun)"
    )
    motion = commands.add_parser("motion", help="write a motion for a policy")
    motion.add_argument("policy", type=Path, metavar="POLICY", help="a RUN or a policy.onnx")
    motion.add_argument("source", type=Path, metavar="CLIP", help="a robot motion, or a dataset and --clip")
    for command in (export, motion):
        command.add_argument("--clip", metavar="ID", help="the clip of a dataset")
        command.add_argument("--out", required=True, type=Path, metavar="FILE", help="the file to write")
        command.add_argument("--robot", metavar="FOLDER", help="folder of the policy's robot, if it is not built in")
    args = parser.parse_args(argv)
    return {"export": _export, "motion": _motion}[args.what](args)


def _export(args: argparse.Namespace) -> int:
    _check_out(args.out, ".onnx")
    if args.dialect == OWN and args.motion is not None:
        raise ConfigError(f"--motion: {OWN}'s policies have none inside; `phuma policy motion` writes one beside them")
    from phuma.learning.deploy.onnx_export import export_policy
    from phuma.learning.deploy.torch_policy import policy_of_run

    folder = RunFolder(args.run)
    stage = folder.begun_stage(args.stage)
    info = folder.info().policy(stage)
    robot = load_robot(args.robot) if args.robot else robot_named(info.robot)
    fitting(args.run, info, robot)
    if args.dialect != OWN:
        DIALECTS[args.dialect].check(info)
    policy = policy_of_run(folder, robot, stage)
    if args.dialect != OWN:
        return _export_in_dialect(args, policy, robot)
    export_policy(policy, args.out)
    inputs = ", ".join(f"{each['name']} {' x '.join(map(str, each['shape']))}" for each in policy.info.inputs)
    print(f"{_written(args.out, policy)}; inputs {inputs}")
    print(f"A motion for it: phuma policy motion {args.out} DATASET --clip ID --out motion.npz")
    return 0


def _export_in_dialect(args: argparse.Namespace, policy: TorchPolicy, robot: Robot) -> int:
    from phuma.learning.deploy.onnx_dialect import export_in_dialect

    library = None
    if args.motion is not None:
        name, motion, _ = _source(args.motion, args.clip, robot)
        library = library_of(robot, [(name, motion, None)])
    dialect = DIALECTS[args.dialect]
    files = export_in_dialect(policy, robot, dialect, args.out, args.run.resolve().name, library)
    inside = "no motion inside" if library is None else f"{library.names[0]} inside, {library.frames} frames"
    print(f"{_written(args.out, policy)}, in {dialect.name}'s layout; {inside}")
    for file in files[1:]:
        print(f"{file}: what belongs beside it")
    print(f"Judge it as a stranger's: phuma evaluate {args.out} DATASET --dialect {dialect.name}")
    return 0


def _written(path: Path, policy: TorchPolicy) -> str:
    size = f"{path.stat().st_size / 1e6:.1f} MB"
    info = policy.info
    return f"{path}: {told_recipe(info.algo, info.stage)} for {info.robot} after {info.steps:,} steps, {size}"


def _check_out(path: Path, suffix: str) -> None:
    """Raise a ConfigError for another suffix, so that no other file is overwritten by mistake."""
    if path.suffix != suffix:
        raise ConfigError(f"--out {path}: expected a name that ends in {suffix}")


def _motion(args: argparse.Namespace) -> int:
    _check_out(args.out, ".npz")
    own = load_robot(args.robot) if args.robot else None
    policy = load_policy(args.policy, own)
    robot = own or robot_named(policy.info.robot)
    name, motion, performance = _source(args.source, args.clip, robot)
    library = library_of(robot, [(name, motion, None, performance)])
    save_reference(args.out, library, 0, policy.info)
    frames = len(library.motions[0])
    print(f"{args.out}: {name} for {robot.name}, {frames} frames at {policy.info.control_rate:g} Hz")
    return 0


def _source(source: Path, clip: str | None, robot: Robot) -> tuple[str, RobotMotion, Performance | None]:
    if not source.is_dir():
        if clip is not None:
            raise ConfigError(f"--clip {clip}: {source} is a file, not a dataset")
        return source.stem, locked_motion(load_robot_motion(source), robot), None
    from phuma.dataset.dataset import Dataset

    dataset = Dataset(source)
    if clip is None:
        raise ConfigError(f'which clip of {source}? --clip ID; `phuma query {source} "SELECT clip FROM manifest"`')
    entry = dataset.entry(clip, robot.name)
    return clip, entry.motion(), performance_in(entry, robot)

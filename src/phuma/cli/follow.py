"""Let a robot walk a path that nobody recorded: a masked policy is told where its pelvis is to be, and nothing else.

  phuma follow RUN --path circle --out walk.npz
  phuma follow RUN --path "1,0 2,1 3,0" --speed 0.6 --out walk.npz
  phuma render walk.npz --out walk.mp4

A path is circle (radius 1.5 m), figure-eight, a .csv of x,y in m, or points; it is moved so that it begins at the
robot, which faces along it. Needs a policy that was trained with --condition pelvis, pelvis-position or any.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from phuma.cli.options import command_parser
from phuma.errors import ConfigError
from phuma.formats.rollout_file import save_rollout
from phuma.learning.motions.paths import FASTEST, named_path, path_motion
from phuma.pipelines.evaluate_policy import load_policy, robot_named
from phuma.pipelines.follow_path import follow
from phuma.robots import load_robot

SPEED, LONGEST = 0.7, 600.0


def main(argv: Sequence[str]) -> int:
    """Run the command and return its exit code."""
    args = parser().parse_args(argv)
    if args.out.suffix != ".npz":
        raise ConfigError(f"--out {args.out}: expected a name that ends in .npz")
    if args.seconds is not None and not 1.0 <= args.seconds <= LONGEST:
        raise ConfigError(f"--seconds {args.seconds:g}; expected 1 to {LONGEST:g}")
    points = named_path(args.path)
    own = load_robot(args.robot) if args.robot else None
    policy = load_policy(args.policy, own)
    robot = own or robot_named(policy.info.robot)
    path = path_motion(points, robot, args.speed, args.seconds)
    rollout, about = follow(policy, path, robot)
    save_rollout(args.out, rollout)
    if args.json:
        print(json.dumps({"path": args.path, "speed": args.speed, **about}))
        return 0
    end = f"fell after {about['seconds']:.1f} of {about['of']:.1f} s" if about["fell"] else f"{about['of']:.1f} s"
    off = f"{about['mean_m']:.2f} m off on average, {about['most_m']:.2f} m at most"
    print(f"{args.path} at {args.speed:g} m/s: {end}; {off}")
    print(f"Film it: phuma render {args.out} --out {args.out.with_suffix('.mp4')}")
    return 0


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command's options."""
    out = command_parser("follow", __doc__)
    out.add_argument("policy", type=Path, metavar="POLICY", help="a RUN of `phuma train`, or a policy.onnx")
    out.add_argument("--path", required=True, metavar="PATH", help='circle, figure-eight, a .csv, or "1,0 2,1 3,0"')
    out.add_argument("--out", required=True, type=Path, metavar="FILE", help="the rollout to write, .npz")
    out.add_argument(
        "--speed", type=float, default=SPEED, metavar="V", help=f"m/s, at most {FASTEST:g} (default: {SPEED:g})"
    )
    out.add_argument("--seconds", type=float, metavar="S", help="end then; a closed path goes round until then")
    out.add_argument("--robot", metavar="FOLDER", help="folder of the policy's robot, if it is not built in")
    out.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    return out

"""Let a robot walk a path that nobody recorded: a masked policy is told where its pelvis is to be, and nothing else.

  phuma follow RUN                                     draw the path in the browser, and watch
  phuma follow RUN --path circle                       the same, with a path to begin with
  phuma follow RUN --path circle --out walk.npz        write what the robot does
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
from phuma.cli.view import add_serving, check_port, serve
from phuma.core.rotations import Array
from phuma.errors import ConfigError
from phuma.formats.rollout_file import save_rollout
from phuma.learning.deploy.policy import Policy
from phuma.learning.motions.path_walks import FASTEST, path_motion
from phuma.learning.motions.paths import named_path
from phuma.pipelines.evaluate_policy import load_policy, robot_named
from phuma.pipelines.follow_path import floor_path, follow
from phuma.robots import Robot, load_robot

SPEED, LONGEST = 0.6, 600.0


def main(argv: Sequence[str]) -> int:
    """Run the command and return its exit code."""
    args = parser().parse_args(argv)
    check(args)
    points = None if args.path is None else named_path(args.path)
    own = load_robot(args.robot) if args.robot else None
    policy = load_policy(args.policy, own)
    robot = own or robot_named(policy.info.robot)
    if args.out is None:
        serve_floor(args, policy, robot, points)
    else:
        assert points is not None
        write_rollout(args, policy, robot, points)
    return 0


def check(args: argparse.Namespace) -> None:
    """Raise a ConfigError for options that are out of range or do not go together."""
    if not 0 < args.speed <= FASTEST:
        raise ConfigError(f"--speed {args.speed:g}; expected more than 0 and at most {FASTEST:g} m/s")
    if args.out is None:
        check_port(args)
        if args.seconds is not None or args.json:
            raise ConfigError("--seconds and --json are for a rollout that is written: give --out FILE.npz, too")
        return
    if args.path is None:
        raise ConfigError("--out writes a rollout of a path: give --path, or leave out --out and draw one")
    if args.out.suffix != ".npz":
        raise ConfigError(f"--out {args.out}: expected a name that ends in .npz")
    if args.seconds is not None and not 1.0 <= args.seconds <= LONGEST:
        raise ConfigError(f"--seconds {args.seconds:g}; expected 1 to {LONGEST:g}")


def serve_floor(args: argparse.Namespace, policy: Policy, robot: Robot, points: Array | None) -> None:
    """Let paths be drawn in the browser until Ctrl-C."""
    from phuma.pipelines.live_path import PathCollection

    given = None if points is None else floor_path(path_motion(points, robot, args.speed))
    serve(PathCollection(policy, args.policy.resolve().name, robot, args.speed, given), args)


def write_rollout(args: argparse.Namespace, policy: Policy, robot: Robot, points: Array) -> None:
    """Write what the robot does along a path, and say how near it stayed."""
    path = path_motion(points, robot, args.speed, args.seconds)
    rollout, about = follow(policy, path, robot)
    save_rollout(args.out, rollout)
    if args.json:
        print(json.dumps({"path": args.path, "speed": args.speed, **about}))
        return
    end = f"fell after {about['seconds']:.1f} of {about['of']:.1f} s" if about["fell"] else f"{about['of']:.1f} s"
    off = f"{about['mean_m']:.2f} m off on average, {about['most_m']:.2f} m at most"
    print(f"{args.path} at {args.speed:g} m/s: {end}; {off}")
    print(f"Film it: phuma render {args.out} --out {args.out.with_suffix('.mp4')}")


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command's options."""
    out = command_parser("follow", __doc__)
    out.add_argument("policy", type=Path, metavar="POLICY", help="a RUN of `phuma train`, or a policy.onnx")
    out.add_argument(
        "--path",
        metavar="PATH",
        help='circle, figure-eight, a .csv, or "1,0 2,1 3,0" (default: draw it in the browser)',
    )
    out.add_argument("--out", type=Path, metavar="FILE", help="the rollout to write, .npz, instead of a browser")
    out.add_argument(
        "--speed", type=float, default=SPEED, metavar="V", help=f"m/s, at most {FASTEST:g} (default: {SPEED:g})"
    )
    out.add_argument(
        "--seconds", type=float, metavar="S", help="with --out: end then; a closed path goes round until then"
    )
    out.add_argument("--robot", metavar="FOLDER", help="folder of the policy's robot, if it is not built in")
    out.add_argument("--json", action="store_true", help="with --out: print one JSON object and nothing else")
    add_serving(out)
    return out

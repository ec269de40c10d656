"""Make a folder for your own robot from its model file, check such a folder, or list the built-in robots.

  phuma robot init MODEL --out FOLDER [--urdf FILE]   from MJCF or URDF; robot.png shows what was understood
  phuma robot check FOLDER                            say what is wrong with it and what to edit
  phuma robot list                                    list the built-in robots and where they come from

Every command that takes --robot takes such a folder.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from phuma.cli.options import command_parser
from phuma.io.json_file import read_json
from phuma.robots import built_in_robots, load_robot
from phuma.robots.check import check_robot
from phuma.robots.onboarding import AMBIGUITIES, OnboardedRobot, as_text, onboard_robot

PICTURE = "robot.png"


def main(argv: Sequence[str]) -> int:
    """Run the command and return its exit code."""
    parser = command_parser("robot", __doc__)
    commands = parser.add_subparsers(dest="what", required=True, metavar="init|check|list")
    init = commands.add_parser("init", help="make a robot's folder from its model file")
    init.add_argument("model", type=Path, metavar="MODEL", help="MJCF (.xml) or URDF (.urdf)")
    init.add_argument(
        "--out", required=True, type=Path, metavar="FOLDER", help="the robot's folder; its name is the robot's"
    )
    init.add_argument("--urdf", type=Path, metavar="FILE", help="a URDF beside an MJCF, for torque and speed limits")
    init.add_argument(
        "--allow-outside", action="store_true", help="let the model name files outside its folder or ROS package"
    )
    check = commands.add_parser("check", help="check a robot's folder")
    check.add_argument(
        "robot", metavar="FOLDER", help="a folder with model.xml and robot.json, or a built-in robot's name"
    )
    commands.add_parser("list", help="the built-in robots")
    args = parser.parse_args(argv)
    return {"init": _init, "check": _check, "list": _list}[args.what](args)


def _init(args: argparse.Namespace) -> int:
    from phuma.viewer.robot_picture import (
        robot_picture,  # first: if it is missing, no folder is made
    )

    made = onboard_robot(args.model, args.out, args.urdf, args.allow_outside)
    robot_picture(args.out / PICTURE, made.robot)
    print(summary(made, args.out))
    return 0


def summary(made: OnboardedRobot, out: Path) -> str:
    """Say what was found, what is ambiguous, and what comes next."""
    counts = Counter(made.parts.values())
    parts = ", ".join(
        f"{counts[p]} {p}" for p in ("hip", "knee", "ankle", "waist", "shoulder", "elbow", "wrist", "other")
    )
    return "\n".join([
        f"{made.robot.name}: {made.robot.n_joints} joints ({parts}), {made.robot.n_bodies} bodies",
        *([f"\nAmbiguities, listed in {out / AMBIGUITIES}:"] if made.ambiguities else []),
        as_text(made.ambiguities).rstrip(),
        f"\nLook at {out / PICTURE}. After an edit: phuma robot check {out}",
        f"Then: phuma retarget walk.bvh --robot {out}",
    ])  # fmt: skip


def _check(args: argparse.Namespace) -> int:
    robot = load_robot(args.robot)
    findings = check_robot(robot)
    for finding in findings:
        print(f"{'Wrong' if finding.wrong else 'Check'}: {finding.what}\n  To fix it: {finding.edit}")
    wrong = sum(f.wrong for f in findings)
    if not findings:
        print(f"{robot.name}: {robot.n_joints} joints, {robot.n_bodies} bodies; complete, and nothing looks wrong.")
    else:
        print(f"{robot.name}: {wrong} wrong, {len(findings) - wrong} to check.")
    return 1 if wrong else 0


def _list(args: argparse.Namespace) -> int:
    for name in built_in_robots():
        robot = load_robot(name)
        about = read_json(robot.folder / "robot.json")
        print(f"{name:8}{about['title']}\n{'':8}{about['source']}")
    print("\nYour own: phuma robot init MODEL.xml --out FOLDER, then --robot FOLDER")
    return 0

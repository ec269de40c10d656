"""Watch a policy: what the robot does under physics beside its reference, in the browser or as a film.

The reference is pale, the policy's robot in full colour; overlaid or side by side. A rollout is simulated when its
clip is opened. The robot turns red where the rollout is terminated, and its last pose is held. Only a film is written.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from phuma.cli.options import command_parser
from phuma.cli.render import add_filming, shot_of
from phuma.cli.rollout_options import add_rollout_options, add_world_options
from phuma.cli.view import add_serving, check_port, serve
from phuma.dataset.dataset import Dataset
from phuma.dataset.manifest import quoted
from phuma.errors import ConfigError
from phuma.formats.robot_motion_file import is_robot_motion, load_robot_motion
from phuma.io.probe import Probe
from phuma.learning.deploy.policy import PolicyInfo
from phuma.pipelines.collections import DatasetCollection, FileCollection
from phuma.pipelines.evaluate_policy import chosen_clips, load_policy, physics_steps, robot_named
from phuma.pipelines.evaluating.options import check_alone, check_rollouts
from phuma.pipelines.filming import film_performers, size_of
from phuma.pipelines.playback import Pieces, PlayCfg, PolicyCollection
from phuma.pipelines.sim2sim import all_worlds
from phuma.robots import Robot, load_robot
from phuma.sim.world_simulation import simulation_in
from phuma.sim.worlds import World, world_named
from phuma.sources import ReadCfg
from phuma.viewer import style
from phuma.viewer.film import SUFFIXES


def main(argv: Sequence[str]) -> int:
    """Run the command and return its exit code."""
    parser = command_parser("play", __doc__)
    parser.add_argument("policy", type=Path, metavar="POLICY", help="a RUN of `phuma train`, or a policy.onnx")
    parser.add_argument("sources", nargs="+", type=Path, metavar="SRC", help="a dataset, or robot motions")
    parser.add_argument("--clip", metavar="ID", help="only this clip of the dataset")
    add_rollout_options(parser, split="all")
    parser.add_argument("--world", metavar="NAME", help="play it in this world of `phuma evaluate --sim2sim`")
    add_world_options(parser)
    add_serving(parser)
    parser.add_argument(
        "--render", dest="out", type=Path, metavar="FILE", help=f"write a film instead: {', '.join(SUFFIXES)}"
    )
    add_filming(parser)
    args = parser.parse_args(argv)
    check_rollouts(args.noise, args.seed)
    check_port(args)
    size_of(args.size)
    own = load_robot(args.robot) if args.robot else None
    policy = load_policy(args.policy, own, args.stage)
    robot = own or robot_named(policy.info.robot)
    cfg = PlayCfg(world_of(args, policy.info, robot), args.seed)
    collection = PolicyCollection(pieces_of(args, robot), policy, args.policy.resolve().name, robot, cfg)
    if args.out is None:
        serve(collection, args)
    else:
        film_rollout(collection, args)
    return 0


def world_of(args: argparse.Namespace, info: PolicyInfo, robot: Robot) -> World:
    """Return the world that was asked for; a fault of it is an error here, not when a clip is opened."""
    if args.world is None:
        if args.worlds is not None or args.model is not None:
            raise ConfigError("--worlds and --model make worlds known: choose one of them by --world NAME")
        return World(physics_dt=args.physics_dt, noise=args.noise, pushes=args.pushes)
    check_alone("--world", args.physics_dt, args.noise, args.pushes)
    world = world_named(args.world, all_worlds(args.worlds, args.model))
    simulation_in(world, robot, physics_steps(info, world.physics_dt))
    return world


def pieces_of(args: argparse.Namespace, robot: Robot) -> Pieces:
    """Return the motions to play: those of one dataset, or of files."""
    root = args.sources[0]
    if not any(path.is_dir() for path in args.sources):
        if args.clip or args.where or args.split != "all":
            raise ConfigError("--clip, --where and --split choose from a dataset; these are files")
        for path in args.sources:
            if is_robot_motion(Probe(path)) and (motion := load_robot_motion(path)).robot != robot.name:
                raise ConfigError(f"{path} is a motion of {motion.robot}; the policy is of {robot.name}")
        return FileCollection(args.sources, [robot], ReadCfg())
    if len(args.sources) > 1:
        raise ConfigError("one dataset at a time, or any number of files")
    if args.clip is not None and (args.where or args.split != "all"):
        raise ConfigError("--clip names one clip; --where and --split choose others: leave them out")
    where = args.where if args.clip is None else f"clip = {quoted(Dataset(root).entry(args.clip, robot.name).id)}"
    split = None if args.split == "all" else args.split
    if (of := chosen_clips(Dataset(root), robot, where, split)[0].row["robot"]) != robot.name:
        raise ConfigError(f"{root} holds motions of {of}; the policy is of {robot.name}")
    tests = ["kept", f"robot = {quoted(robot.name)}", *([f"({where}\n)"] if where else [])]
    return DatasetCollection(root, [robot], " AND ".join([*tests, *([f"split = {quoted(split)}"] if split else [])]))


def film_rollout(collection: PolicyCollection, args: argparse.Namespace) -> None:
    """Write a film of the only clip of a collection."""
    from phuma.viewer.scene import Appearance

    found = collection.find({})
    if found["total"] > 1:
        some = f"--clip {found['rows'][0]['clip']}" if args.sources[0].is_dir() else "one file"
        raise ConfigError(f"{found['total']} clips; a film is of one: choose it, as by {some}")
    show = collection.show(found["rows"][0]["clip"])
    appearances = [Appearance(colour, p.ended) for p, colour in zip(show, style.PERFORMERS)]
    film_performers(shot_of(args, args.out), show.performers, appearances=appearances)
    print(show.verdict)

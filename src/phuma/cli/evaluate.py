"""Measure how well a policy tracks the clips of a dataset: success rates and errors with intervals, in total and by
category, and the worst clips. docs/formats/evaluation.md says what each number is.

A policy in the layout of another project is judged by --dialect, with its own gains, default pose and action scale;
docs/policies.md says which are read.

The simulation uses the physics steps that the policy was trained with; --physics-dt 0.005 uses steps of 5 ms. Both use
all collision shapes of the robot's model.

--sim2sim judges it in many worlds instead: another simulator, physics step, friction, mass, gains, delay, noise and
pushes. docs/transfer.md says what each is.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from phuma.cli.options import command_parser
from phuma.cli.progress import with_progress
from phuma.cli.sim2sim import add_world_options, check_alone, sim2sim, world_document, world_lines
from phuma.cli.table import aligned, harmless
from phuma.cli.train import reading_bar
from phuma.cli.training_notes import described
from phuma.core.rollout import Rollout
from phuma.core.words import count_of
from phuma.dataset.dataset import Dataset
from phuma.errors import ConfigError
from phuma.evaluation import table, worst
from phuma.evaluation.asked import WITHIN
from phuma.formats.rollout_file import save_rollout
from phuma.io.names import unique_name
from phuma.learning.deploy.dialects.registry import DIALECTS, OWN
from phuma.learning.deploy.policy import Policy, PolicyInfo
from phuma.learning.env.conditions import CONDITIONS
from phuma.learning.motions.library import MotionLibrary
from phuma.pipelines.evaluate_policy import (
    SPLITS,
    chosen_clips,
    dataset_library,
    exit_code,
    follows_performances,
    judge_rollouts,
    judge_what_was_asked,
    load_policy,
    load_stranger,
    physics_steps,
    robot_named,
    try_out,
)
from phuma.pipelines.follow_path import told
from phuma.robots import Robot, load_robot

MOST_TOLD = 20


class Evaluated(NamedTuple):
    """What came of an evaluation."""

    document: dict[str, Any]
    """What --json prints"""
    lines: list[str]
    """The same for the terminal"""
    code: int
    """Exit code of the command"""


def main(argv: Sequence[str]) -> int:
    """Run the command and return its exit code."""
    args = parser().parse_args(argv)
    found = evaluated(args)
    print(json.dumps(found.document) if args.json else "\n".join(found.lines))
    return found.code


def evaluated(args: argparse.Namespace) -> Evaluated:
    """Evaluate as the options say."""
    check_numbers(args)
    policy, robot = loaded(args)
    masked = policy.info.task.masking is not None
    if args.condition is not None or masked:
        policy = told(policy, args.condition)
    dataset = Dataset(args.dataset)
    args.split, args.where = own_clips(args, dataset, robot, policy.info)
    split = None if args.split == "all" else args.split
    library = dataset_library(
        dataset, robot, args.where, split, reading_bar, performed=follows_performances(policy.info)
    )
    if args.sim2sim:
        return in_worlds(policy, library, args)
    if args.out is not None:
        args.out.mkdir(parents=True, exist_ok=True)  # a fault of it is reported before the work, not after
    rollouts: Iterable[Rollout] = rollouts_with_bar(policy, library, args)
    if args.out is not None or masked:
        rollouts = list(rollouts)
    if args.out is not None:
        write_rollouts(args.out, list(rollouts))
    judged = judge_rollouts(rollouts, library)
    document = {
        **judged,
        "policy": about(policy, robot),
        "split": args.split,
        "where": args.where,
        "physics": physics(policy.info, args),
        "left_out": [{"motion": name, "reason": reason} for name, reason in library.left_out],
        "failed": failed(judged, args.policy),
    }
    if masked:
        document["asked"] = judge_what_was_asked(rollouts, library, policy.info)
    return Evaluated(document, lines(document, library, args), 1 if document["failed"] else exit_code(library))


def own_clips(args: argparse.Namespace, dataset: Dataset, robot: Robot, info: PolicyInfo) -> tuple[str, str | None]:
    """Return the split and the condition of the clips to judge by: those asked for, else those that the policy was
    trained for on this dataset and has not seen; where there are none, those that it learned from."""
    data = info.data if info.data.get("dataset") == args.dataset.resolve().name else {}
    where = args.where if args.where is not None else data.get("where")
    if args.split is not None:
        return args.split, where
    learned = data.get("split") or "train"
    if learned == "all":
        return learned, where
    try:
        chosen_clips(dataset, robot, where, "test")
    except ConfigError:
        return learned, where
    return "test", where


def loaded(args: argparse.Namespace) -> tuple[Policy, Robot]:
    """Return the policy and the robot to evaluate it with."""
    own = load_robot(args.robot) if args.robot else None
    if args.dialect != OWN:
        stranger = load_stranger(args.policy, args.dialect, own)
        return stranger, stranger.robot
    policy = load_policy(args.policy, own)
    return policy, own or robot_named(policy.info.robot)


def of_stranger(policy: Policy) -> dict[str, Any]:
    """Return what is told of another project's policy alone: what it observes, and where its numbers are not ours."""
    told = getattr(policy, "told", None)
    return {} if told is None else {"observations": list(told.observations), "differs": told.differences}


def asked_line(asked: dict[str, Any]) -> str:
    """Return how near what was asked for alone was."""
    shares = [f"{asked[name]:.1f} % within {name.removeprefix('within_')} m" for name in WITHIN]
    return (
        f"Told {asked['condition']} alone; {', '.join(asked['bodies'])}: {', '.join(shares)}, "
        f"{asked['distance_mm']:.0f} mm off on average"
    )


def in_worlds(policy: Policy, library: MotionLibrary, args: argparse.Namespace) -> Evaluated:
    """Judge the policy in all worlds."""
    judged = sim2sim(policy, library, args)
    documents = [one.document for one in judged.values() if one.document is not None]
    faulty = {row["motion"]: row for document in documents for row in failed(document, args.policy)}
    of_policy = about(policy, library.robot)
    document = {
        **world_document(judged),
        "policy": of_policy,
        "split": args.split,
        "where": args.where,
        "episodes": args.episodes,
        "seed": args.seed,
        "left_out": [{"motion": name, "reason": reason} for name, reason in library.left_out],
        "failed": list(faulty.values()),
    }
    head = [
        *policy_lines(of_policy, args),
        f"{count_of(len(library), 'motion')} of {clips_line(args)}, "
        f"{count_of(len(library) * args.episodes, 'rollout')} in each world",
    ]
    told = [*head, *described(library)[1:], "", *world_lines(judged), *told_failures(document["failed"])]
    return Evaluated(document, told, 1 if faulty else exit_code(library))


def about(policy: Policy, robot: Robot) -> dict[str, Any]:
    """Return what a document says of the policy."""
    info = policy.info
    own = {"robot": robot.name, "algo": info.algo, "steps": info.steps, "data": dict(info.data)}
    return own | of_stranger(policy)


def failed(judged: Mapping[str, Any], policy: Path) -> list[dict[str, str]]:
    """Return the motions that the policy could not be tried on to the end, with its fault."""
    rows = [row for row in judged["motions"] if row["fault"] is not None]
    return [{"motion": row["motion"], "reason": f"{policy}: {row['fault']}"} for row in rows]


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command's options."""
    out = command_parser("evaluate", __doc__)
    out.add_argument("policy", type=Path, metavar="POLICY", help="a RUN of `phuma train`, or a policy.onnx")
    out.add_argument("dataset", type=Path, metavar="DATASET", help="a folder made by `phuma build` or `phuma import`")
    add_rollout_options(out, split=None)
    out.add_argument(
        "--dialect", choices=(OWN, *DIALECTS), default=OWN,
        help=f"whose layout a policy.onnx has (default: {OWN})",
    )  # fmt: skip
    out.add_argument(
        "--episodes", type=int, default=1, metavar="N",
        help="rollouts per clip; a single one starts on the reference, several start near it (default: 1)",
    )  # fmt: skip
    out.add_argument(
        "--condition", metavar="C", help=f"what a masked policy is told: {', '.join(CONDITIONS)} (default: as trained)"
    )
    out.add_argument("--out", type=Path, metavar="DIR", help="write every rollout there, CLIP.EPISODE.npz")
    out.add_argument("--sim2sim", action="store_true", help="judge it in every world instead, and compare them")
    add_world_options(out)
    out.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    return out


def add_rollout_options(parser: argparse.ArgumentParser, split: str | None) -> None:
    """Add options for the clips that a policy is rolled out on, and for the simulation; without a split those of
    `own_clips`."""
    default = split or "test, or where that is empty what it was trained on"
    parser.add_argument("--split", default=split, choices=(*SPLITS, "all"), help=f"which clips (default: {default})")
    own = "" if split else " (default: as it was trained on this dataset; true for all)"
    parser.add_argument("--where", metavar="SQL", help=f"only clips like \"category = 'walk'\"{own}")
    parser.add_argument(
        "--physics-dt",
        type=float,
        metavar="S",
        help="length of a physics step in seconds, as 0.005 (default: that of training)",
    )
    parser.add_argument(
        "--noise",
        type=float,
        default=0.0,
        metavar="S",
        help="noise of observations, as a multiple of the paper's (default: 0)",
    )
    parser.add_argument("--pushes", action="store_true", help="push the robot every 1 to 3 s, as the paper does")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="seed of all random numbers (default: 0)")
    parser.add_argument("--robot", metavar="FOLDER", help="folder of the policy's robot, if it is not built in")


def check_numbers(args: argparse.Namespace) -> None:
    """Raise a ConfigError for options that are out of range, and for an --out that is not empty."""
    check_range(args, "episodes", 1, 10_000)
    check_rollout_options(args)
    if not args.sim2sim and (args.worlds is not None or args.model is not None):
        raise ConfigError("--worlds and --model are for --sim2sim: give that too")
    if args.sim2sim:
        check_alone(args, "--sim2sim")
        if args.out is not None:
            raise ConfigError("--sim2sim and --out: rollouts are written of one world at a time; leave one out")
    if args.out is not None and args.out.exists() and (not args.out.is_dir() or any(args.out.iterdir())):
        raise ConfigError(f"{args.out} exists and is not an empty folder; choose another one for the rollouts")


def check_rollout_options(args: argparse.Namespace) -> None:
    """Raise a ConfigError for a noise or a seed that is out of range."""
    check_range(args, "noise", 0.0, 100.0)
    check_range(args, "seed", 0, 2**32 - 1)


def check_range(args: argparse.Namespace, name: str, least: float, most: float) -> None:
    """Raise a ConfigError if an option is not between `least` and `most`."""
    if not least <= getattr(args, name) <= most:
        raise ConfigError(f"--{name} {getattr(args, name):g}; expected {least:g} to {most:g}")


def rollouts_with_bar(policy: Any, library: MotionLibrary, args: argparse.Namespace) -> Iterable[Rollout]:
    """Yield rollouts as they are made, with a progress bar."""
    rollouts = try_out(policy, library, args.physics_dt, args.noise, args.pushes, args.episodes, args.seed)
    total = len(library) * args.episodes
    return with_progress(rollouts, "rollout", total)


def physics(info: PolicyInfo, args: argparse.Namespace) -> dict[str, Any]:
    """Return the conditions of the simulation."""
    step = 1000 / info.control_rate / physics_steps(info, args.physics_dt)
    return {
        "step_ms": step, "collision": "all shapes", "noise": args.noise, "pushes": args.pushes,
        "episodes": args.episodes, "seed": args.seed,
    }  # fmt: skip


def write_rollouts(out: Path, rollouts: Sequence[Rollout]) -> None:
    """Write each rollout to a file that is named after its clip, without characters that are unsafe in file names."""
    out.mkdir(parents=True, exist_ok=True)
    seen: Counter[str] = Counter()
    names: dict[str, str] = {}
    taken: set[str] = set()
    for rollout in rollouts:
        motion = rollout.motion
        if motion not in names:
            names[motion] = unique_name(re.sub(r"[^\w.-]", "_", motion).lstrip("."), taken)
        save_rollout(out / f"{names[motion]}.{seen[motion]}.npz", rollout)
        seen[motion] += 1


def policy_lines(policy: dict[str, Any], args: argparse.Namespace) -> list[str]:
    """Return what a policy is, and what is used of a stranger's where it differs from ours."""
    if "differs" not in policy:
        return [
            f"{args.policy}: {policy['algo']} for {policy['robot']} after {policy['steps']:,} environment steps",
        ]
    observed = f"observes {', '.join(policy['observations'])}"
    return [f"{args.policy}: in {args.dialect}'s layout, for {policy['robot']}; {observed}"] + [
        f"Its {each['name']} differs from ours and is used: {each['joint']} {each['theirs']:g}, ours {each['ours']:g}"
        for each in policy["differs"]
    ]


def lines(document: dict[str, Any], library: MotionLibrary, args: argparse.Namespace) -> list[str]:
    """Return the evaluation as lines for the terminal."""
    total, how = document["total"], document["physics"]
    noises = [f"noise {args.noise:g} times the paper's"] * (args.noise > 0) + ["pushes"] * args.pushes
    out = [
        *policy_lines(document["policy"], args),
        f"{count_of(total['motions'], 'motion')} of {clips_line(args)}, {count_of(total['rollouts'], 'rollout')}; "
        f"physics steps of {how['step_ms']:g} ms, all collision shapes, {', '.join(noises) or 'no noise, no pushes'}",
        *(described(library)[1:]),
        "",
        aligned(*table(document)),
        "",
        "SR: success rate in percent [95 % interval]. Progress: percent of a motion before it failed at 0.5 m",
        "Errors of successful motions, or (up to the failure) where none succeeded: mm, mm/frame, mm/frame^2; degrees",
        f"Tracked to the end without a termination, however far away: {total['tracked']:.1f} %",
    ]
    if "asked" in document:
        out.append(asked_line(document["asked"]))
    columns, rows = worst(document)
    if rows:
        out += ["", "The worst:", aligned(columns, rows)]
    return out + told_failures(document["failed"])


def clips_line(args: argparse.Namespace) -> str:
    """Return which clips a policy was judged by."""
    split = "both splits" if args.split == "all" else f"the {args.split} split"
    return split + (f" under {harmless(args.where)}" if args.where else "")


def told_failures(faulty: Sequence[Mapping[str, str]]) -> list[str]:
    """Return lines for motions that the policy could not be tried on."""
    out = [f"Failed: {harmless(f['motion'])}: {f['reason']}" for f in faulty[:MOST_TOLD]]
    if len(faulty) > MOST_TOLD:
        out.append(f"... and {len(faulty) - MOST_TOLD} more motions, all in --json")
    return out

"""Options for worlds, and the table of `phuma evaluate --sim2sim`."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from phuma.cli.progress import progress_bar
from phuma.cli.table import aligned
from phuma.errors import ConfigError
from phuma.learning.deploy.policy import Policy
from phuma.learning.motions.library import MotionLibrary
from phuma.pipelines.sim2sim import NO_MODEL, Judged, all_worlds, first_look, judge_worlds, worst_world
from phuma.sim.worlds import MAKER, TRAINED

NOTE = (
    "SR: success rate in percent [95 % interval]. Error: global, mm, of successful motions, or (up to the failure). "
    f"Difference: SR@0.5\nless that of {TRAINED}, in points [95 % interval]. CPU s: of the simulation; mujoco_warp "
    "compiles when it first runs."
)


def add_world_options(parser: argparse.ArgumentParser) -> None:
    """Add options that make worlds known beside the built-in ones."""
    parser.add_argument("--worlds", type=Path, metavar="FILE", help="worlds of your own: JSON, see docs/transfer.md")
    parser.add_argument(
        "--model", type=Path, metavar="XML", help=f"the maker's own model file of the robot, which is the world {MAKER}"
    )


def check_alone(args: argparse.Namespace, option: str) -> None:
    """Raise a ConfigError where a world is asked for and the simulation is described beside it."""
    given = {"--physics-dt": args.physics_dt is not None, "--noise": args.noise != 0, "--pushes": args.pushes}
    for name in (name for name, there in given.items() if there):
        raise ConfigError(f"{option} and {name}: worlds say that; write one of your own and name its file by --worlds")


def sim2sim(policy: Policy, library: MotionLibrary, args: argparse.Namespace) -> dict[str, Judged]:
    """Judge a policy in all worlds, with a progress bar."""
    worlds = all_worlds(args.worlds, args.model)
    total = len(worlds) * len(library) * args.episodes
    with progress_bar("rollout", total) as bar:
        judged = judge_worlds(policy, library, worlds, args.episodes, args.seed, bar.update)
    if MAKER not in judged:
        judged[MAKER] = Judged(worlds[TRAINED], reason=NO_MODEL)
    return judged


def world_document(judged: Mapping[str, Judged]) -> dict[str, Any]:
    """Return plain values of what was found: `worlds`, `not_tried` and `worst`."""
    worlds = {}
    for name, one in judged.items():
        if one.document is not None:
            points, *interval = one.difference or (0.0, 0.0, 0.0)
            gained = {"difference": points, "difference_interval": interval, "cpu_seconds": one.cpu_seconds}
            worlds[name] = {**one.document["total"], **gained}
    worst = worst_world(judged)
    return {
        "worlds": worlds,
        "not_tried": [{"world": n, "reason": one.reason} for n, one in judged.items() if one.reason is not None],
        "worst": None if worst is None else {"world": worst, "look": first_look(judged, worst)},
    }


def world_lines(judged: Mapping[str, Judged]) -> list[str]:
    """Return what was found as lines for the terminal."""
    columns = ["world", "what", "SR@0.5", "SR@0.15", "error", "difference", "CPU s"]
    rows = [world_row(name, one) for name, one in judged.items()]
    missing = [f"Not tried: {name}: {one.reason}" for name, one in judged.items() if one.reason is not None]
    return [aligned(columns, rows), "", NOTE, *missing, "", verdict(judged)]


def world_row(name: str, one: Judged) -> list[Any]:
    """Return a row of the table."""
    if one.document is None:
        return [name, "not tried", "-", None, "-", "-", None]
    total, gained = one.document["total"], one.difference
    low, high = total["interval"]["success_0.5"]
    error, early = total["mpjpe_global_mm"], total["up_to_failure"]["mpjpe_global_mm"]
    return [
        name,
        str(one.world),
        f"{total['success_0.5']:.1f} [{low:.0f}, {high:.0f}]",
        round(total["success_0.15"], 1),
        f"{error:.1f}" if error is not None else "-" if early is None else f"({early:.1f})",
        "-" if gained is None else f"{gained.points:+.1f} [{gained.low:+.0f}, {gained.high:+.0f}]",
        round(one.cpu_seconds, 1),
    ]


def verdict(judged: Mapping[str, Judged]) -> str:
    """Return what to look at first, in a sentence."""
    worst = worst_world(judged)
    if worst is None:
        return f"In no world is it significantly worse than {TRAINED}."
    return f"It loses most in {worst}. First thing to look at: {first_look(judged, worst)}."

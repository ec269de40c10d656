"""The table of `phuma evaluate --sim2sim`: how a policy does in each world."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from phuma.cli.table import aligned
from phuma.pipelines.sim2sim import Judged, first_look, worst_world
from phuma.sim.worlds import TRAINED

NOTE = (
    "SR: success rate in percent [95 % interval]. Error: global, mm, of successful motions, or (up to the failure). "
    f"Difference: SR@0.5\nless that of {TRAINED}, in points [95 % interval]. CPU s: of the simulation; mujoco_warp "
    "compiles when it first runs."
)


def world_lines(judged: Mapping[str, Judged]) -> list[str]:
    """Return what was found as lines for the terminal."""
    columns = ["world", "what", "SR@0.5", "SR@0.15", "error", "difference", "CPU s"]
    rows = [world_row(name, one) for name, one in judged.items()]
    missing = [f"Not tried: {name}: {one.reason}" for name, one in judged.items() if one.reason is not None]
    differ = [f"{name}: {difference}" for name, one in judged.items() for difference in one.differs]
    return [aligned(columns, rows), "", NOTE, *differ, *missing, "", verdict(judged)]


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
    worst, document = worst_world(judged), judged[TRAINED].document
    if document is not None and document["total"]["success_0.5"] == 0:
        return f"It never succeeds {TRAINED}, so that no other world shows what it loses: train it for longer."
    if worst is None:
        return f"In no world is it significantly worse than {TRAINED}."
    return f"It loses most in {worst}. First thing to look at: {first_look(judged, worst)}."

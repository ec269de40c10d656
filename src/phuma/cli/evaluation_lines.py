"""What `phuma evaluate` says of a policy on the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from phuma.cli.policy_words import told_recipe
from phuma.cli.sim2sim import world_lines
from phuma.cli.table import aligned
from phuma.core.words import count_of, harmless
from phuma.evaluation import table, worst
from phuma.evaluation.asked import WITHIN
from phuma.learning.motions.library import MotionLibrary
from phuma.pipelines.evaluating.evaluate import Evaluated
from phuma.pipelines.library_notes import described

MOST_TOLD = 20


def lines(found: Evaluated, path: Path, dialect: str) -> list[str]:
    """Return the evaluation of the policy at a path, in a project's layout, as lines for the terminal."""
    if found.worlds is None:
        return one_world_lines(found.document, found.library, path, dialect)
    document, library = found.document, found.library
    return [
        *policy_lines(document["policy"], path, dialect),
        f"{count_of(len(library), 'motion')} of {clips_line(document)}, "
        f"{count_of(len(library) * document['episodes'], 'rollout')} in each world",
        *described(library)[1:],
        "",
        *world_lines(found.worlds),
        *told_failures(document["failed"]),
    ]


def one_world_lines(document: dict[str, Any], library: MotionLibrary, path: Path, dialect: str) -> list[str]:
    """Return the evaluation in one world as lines for the terminal."""
    total, how = document["total"], document["physics"]
    noises = [f"noise {how['noise']:g} times the paper's"] * (how["noise"] > 0) + ["pushes"] * how["pushes"]
    out = [
        *policy_lines(document["policy"], path, dialect),
        f"{count_of(total['motions'], 'motion')} of {clips_line(document)}, {count_of(total['rollouts'], 'rollout')}; "
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


def policy_lines(policy: dict[str, Any], path: Path, dialect: str) -> list[str]:
    """Return what a policy is, and what is used of a stranger's where it differs from ours."""
    if "differs" not in policy:
        return [
            f"{path}: {told_recipe(policy['algo'], policy['stage'])} for {policy['robot']} after {policy['steps']:,} "
            "environment steps",
        ]
    observed = f"observes {', '.join(policy['observations'])}"
    return [f"{path}: in {dialect}'s layout, for {policy['robot']}; {observed}"] + [
        f"Its {each['name']} differs from ours and is used: {each['joint']} {each['theirs']:g}, ours {each['ours']:g}"
        for each in policy["differs"]
    ]


def clips_line(document: Mapping[str, Any]) -> str:
    """Return which clips a policy was judged by."""
    split, where = document["split"], document["where"]
    return ("both splits" if split == "all" else f"the {split} split") + (f" under {harmless(where)}" if where else "")


def asked_line(asked: dict[str, Any]) -> str:
    """Return how near what was asked for alone was."""
    shares = [f"{asked[name]:.1f} % within {name.removeprefix('within_')} m" for name in WITHIN]
    return (
        f"Told {asked['condition']} alone; {', '.join(asked['bodies'])}: {', '.join(shares)}, "
        f"{asked['distance_mm']:.0f} mm off on average"
    )


def told_failures(faulty: Sequence[Mapping[str, str]]) -> list[str]:
    """Return lines for motions that the policy could not be tried on."""
    out = [f"Failed: {harmless(f['motion'])}: {f['reason']}" for f in faulty[:MOST_TOLD]]
    if len(faulty) > MOST_TOLD:
        out.append(f"... and {len(faulty) - MOST_TOLD} more motions, all in --json")
    return out

"""Retargeting of inputs good and bad: with and without curation's filters, and with faults put in on purpose.

PHUMA_CMU names the folder of the recordings; a number as argument takes every so-many-th clip only.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cmu_table import CMU
from phuma.core.clip import Clip
from phuma.core.human_motion import HumanMotion
from phuma.core.robot_motion import RobotMotion
from phuma.curation import CurateCfg, curate
from phuma.pipelines.files_to_clips import people_in
from phuma.pipelines.retarget import retarget
from phuma.retargeting import FIVE
from phuma.retargeting.dynamics import dynamics_report
from phuma.retargeting.measure import combine
from phuma.robots import cached_robot
from phuma.runtime.process_pool import map_in_order
from phuma.sources import find_recordings
from phuma.synth import FAULTS, KINDS, generate
from tables import markdown, save

JOBS = 2
METHOD = "physink+collision"
PAPER = CurateCfg(preset="paper")
ROBOTS = ("g1", "h1_2")
FILTERS = {
    "root jerk": ("root_jerk",),
    "foot contact": ("contact_score",),
    "pelvis height": ("pelvis_min", "pelvis_max"),
    "base of support": ("pelvis_support", "spine_support"),
}
SECONDS = 4.0
PEOPLE = 2  # of each synthetic type
CMU_STRIDE = 10  # of the kept clips, for faults
FIVE_HEAD = [name.replace("_", "-") for name in FIVE]
PHYSICS = {
    "over_torque": "frames over a torque limit, %",
    "root_force": "root residual, weights",
    "root_moment": "its moment, weights x m",
}


@dataclass(frozen=True)
class Outcome:
    """A clip on some robots."""

    failed: tuple[str, ...]
    """filters that it does not pass"""
    seconds: float
    scores: dict[str, dict[str, Any]]
    """robot -> metrics"""
    flags: dict[str, list[str]]
    """robot -> what the solver says of it"""


@dataclass(frozen=True, eq=False)
class Case:
    """A motion into which a fault is put."""

    motion: HumanMotion
    fault: str
    strength: float
    seed: int


def physics(motion: RobotMotion) -> dict[str, float]:
    """What inverse dynamics says of the motion, frame by frame in the mean."""
    report = dynamics_report(cached_robot(motion.robot), motion)
    force = float(np.linalg.norm(report.residual[:, :3], axis=1).mean())
    return dict(zip(PHYSICS, (report.frames_over_limit, force, report.residual_moment)))


def on_robots(clip: Clip, names: Sequence[str] = ROBOTS) -> Outcome:
    """The clip retargeted, whatever its verdict."""
    made = {n: retarget(clip, cached_robot(n), METHOD) for n in names}
    return Outcome(
        failed=tuple(m.name for m in clip.verdict.measures if not m.passed),
        seconds=clip.motion.duration,
        scores={n: m.report["metrics"] | physics(m) for n, m in made.items()},
        flags={n: m.report["flags"] for n, m in made.items()},
    )


def with_fault(case: Case) -> Outcome:
    """The faulty motion, curated, and retargeted to the G1 even if it is rejected."""
    faulty = FAULTS[case.fault].apply(case.motion, case.strength, case.seed)
    return on_robots(curate(faulty, PAPER).clips[0], ROBOTS[:1])


def cmu_clips() -> list[Clip]:
    """Every clip of the CMU recordings, kept or not."""
    people = (person for found in find_recordings([str(CMU)]) for person in people_in(found.path, None, PAPER))
    return [clip for person in people for clip in person.clips]


def not_settled(outcomes: Sequence[Outcome], robot: str) -> int:
    return sum(any("settled" in flag for flag in o.flags[robot]) for o in outcomes)


def poor(outcomes: Sequence[Outcome], robot: str) -> int:
    """How many have one of the five metrics so low that it is flagged."""
    return sum(any(flag.startswith(FIVE) for flag in o.flags[robot]) for o in outcomes)


def figures(scores: dict[str, float]) -> list[object]:
    """The five metrics, and physics."""
    return [*(f"{scores[n]:.2f}" for n in FIVE), f"{scores['over_torque']:.1f}", *(scores[n] for n in [*PHYSICS][1:])]


def filter_row(name: str, outcomes: Sequence[Outcome], robot: str) -> list[object]:
    minutes = sum(o.seconds for o in outcomes) / 60
    shown = figures(combine([o.scores[robot] for o in outcomes])) if outcomes else ["-"] * (len(FIVE) + len(PHYSICS))
    return [name, len(outcomes), f"{minutes:.1f}", *shown, poor(outcomes, robot), not_settled(outcomes, robot)]


def filter_table(outcomes: Sequence[Outcome], robot: str) -> str:
    """Rows as in the paper's appendix E.2: no filter, each alone, all together; and what all together take away."""
    rows = [filter_row("no filter", outcomes, robot)]
    for name, measures in FILTERS.items():
        rows.append(filter_row(f"{name} only", [o for o in outcomes if not {*measures} & {*o.failed}], robot))
    rows.append(filter_row("all filters", [o for o in outcomes if not o.failed], robot))
    rows.append(filter_row("what they reject", [o for o in outcomes if o.failed], robot))
    return markdown(["", "clips", "minutes", *FIVE_HEAD, *PHYSICS.values(), "a metric below 80", "not settled"], rows)


def clean_people() -> list[HumanMotion]:
    """Synthetic motions that curation keeps."""
    made = [generate(kind, SECONDS, seed).motion for kind in KINDS for seed in range(PEOPLE)]
    return [m for m in made if curate(m, PAPER).clips[0].verdict.kept]


def clean_cmu(clips: Sequence[Clip]) -> list[HumanMotion]:
    """Full-length clips that curation keeps, and keeps again when it sees the clip alone."""
    full = [c.motion for c in clips if c.verdict.kept and c.motion.duration == SECONDS]
    return [m for m in full[::CMU_STRIDE] if curate(m, PAPER).clips[0].verdict.kept]


def fault_cases(motions: Sequence[HumanMotion]) -> dict[tuple[str, float], list[Case]]:
    """Fault and strength -> what to do; the clean motions first, as any fault of strength zero."""
    levels = [(next(iter(FAULTS)), 0.0), *((f.name, s) for f in FAULTS.values() for s in f.strengths)]
    return {level: [Case(m, *level, seed) for seed, m in enumerate(motions)] for level in levels}


def fault_table(motions: Sequence[HumanMotion]) -> str:
    robot = ROBOTS[0]
    levels = fault_cases(motions)
    outcomes = map_in_order(with_fault, [case for cases in levels.values() for case in cases], JOBS)
    rows = []
    for (fault, strength), cases in levels.items():
        here = [next(outcomes) for _ in cases]
        scores = combine([o.scores[robot] for o in here])
        name = [fault, f"{strength:g} {FAULTS[fault].unit}"] if strength else ["none", ""]
        rejected = 100 * sum(bool(o.failed) for o in here) / len(here)
        stands = 100 * scores["contact_samples"] / (4 * scores["frames"])
        beside = [f"{stands:.0f}", f"{scores['joint_jerk']:.0f}", not_settled(here, robot)]
        rows.append([*name, f"{rejected:.0f} %", *figures(scores), *beside])
    beside_head = [*PHYSICS.values(), "soles in contact, %", "joint jerk, rad/s^3", "not settled"]
    return markdown(["fault", "strength", "curation rejects", *FIVE_HEAD, *beside_head], rows)


def main() -> None:
    if not (CMU / "labels.csv").exists():
        print(f"skipped: no CMU recordings at {CMU}; set PHUMA_CMU")
        return
    every = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    clips = cmu_clips()
    people, real = clean_people()[::every], clean_cmu(clips)[::every]
    outcomes = list(map_in_order(on_robots, clips[::every], JOBS))
    parts = []
    for name in ROBOTS:
        parts += [f"## Filters, {name}", filter_table(outcomes, name)]
    save(
        "retargeting_inputs",
        "Retargeting of inputs good and bad",
        f"Method `{METHOD}`, preset `paper`; percent, over all frames and samples of the clips together. Fidelity is "
        "measured against the input as it is, faults and all. Physics, by inverse dynamics, in the mean over frames: "
        "at the root no motor acts, so what is left over there, in units of the robot's weight, nothing could provide.",
        f"Clips of the CMU recordings ({len(outcomes)}; they overlap by half a second), with those removed that fail "
        "one of curation's filters, or any. *A metric below 80*: so many clips have one; *not settled*: so many in "
        "which the solver stopped before it had.",
        *parts,
        "## Faults, g1",
        "Motions that curation keeps, with a fault put in; then curated, and retargeted even where curation rejects "
        f"them. Strengths are slight, plain and gross. {len(people)} synthetic motions:",
        fault_table(people),
        f"{len(real)} clips of the CMU recordings:",
        fault_table(real),
    )


if __name__ == "__main__":
    main()

"""The plan of a study: how many clips, seeds and seconds fit into its budget."""

from __future__ import annotations

from dataclasses import dataclass, replace

from phuma.errors import ConfigError
from phuma.studies.frame.study import Mean, Study

SEEDS = 3
FEWEST, MOST = 6, 64
"""Clips to learn from, at least and at most; of fewer recordings than six, no two rows can be told apart"""
TEST_SHARE = 0.5
"""Clips to be judged on, as a share of those to learn from; FEWEST at least"""
EXPERT, RETARGETED, CURATED = 15.0, 1.0, 1.5
"""CPU seconds, about, of performing a clip, of putting it on the robot, and of curating a recording"""
FIXED, EACH = 20.0, 8.0
"""CPU seconds of training a policy: for itself, and for each clip that it learns from"""
JUDGED = 0.3
"""CPU seconds, about, of judging a policy on a clip once"""
EVALUATIONS = 3
"""Evaluations over which success is averaged: the last of a training"""
FILMS = 3.0
"""CPU seconds, about, of the films of a cell"""


@dataclass(frozen=True)
class Plan:
    """What fits into a budget."""

    clips: int
    """Clips to learn from, at most"""
    tests: int
    """Clips to be judged on, at most"""
    seeds: int
    """Trainings of each row; none where only motions are measured"""
    seconds: float
    """CPU seconds of each training, that of experts aside"""
    performed: bool = True
    """Whether experts perform what is learned from"""

    def __str__(self) -> str:
        if not self.seeds:
            what = "performed and measured" if self.performed else "measured"
            return f"Up to {self.clips} clips, {what} alone, as the budget is too small for policies"
        return (
            f"Up to {self.clips} clips to learn from and {self.tests} to be judged on, {self.seeds} seeds, "
            f"{self.seconds:.0f} CPU s a policy"
        )


def plan_of(study: Study, minutes: float) -> Plan:
    """Return the largest plan that costs at most so many CPU minutes, of all processes together.

    Three seeds come first, then clips, for which policies get more time; what is left is time to learn. Where not even
    the fewest clips can be learned from, motions are performed and measured alone, and where not even that, measured,
    if the study has anything to say of them.
    """
    means = [column for column in study.columns if isinstance(column, Mean)]
    tiers = [(SEEDS, True)] + [(0, True)] * study.performs + [(0, False)] * any(not column.experts for column in means)
    for seeds, performed in tiers:
        for clips in range(MOST, FEWEST - 1, -1):
            plan = _plan(clips, seeds, performed)
            if (spare := 60 * minutes - cost_of(study, plan)) >= 0:
                more = spare / (seeds * len(study.rows)) if seeds and clips == MOST else 0.0
                return replace(plan, seconds=round(plan.seconds + more, 1))
    least = _plan(FEWEST, *tiers[-1])
    raise ConfigError(
        f"--budget {minutes:g} is too small: the least study of {study.name} takes about "
        f"{cost_of(study, least) / 60:.0f} CPU minutes"
    )


def _plan(clips: int, seeds: int, performed: bool) -> Plan:
    return Plan(clips, max(FEWEST, round(TEST_SHARE * clips)), seeds, FIXED + EACH * clips, performed)


def cost_of(study: Study, plan: Plan) -> float:
    """Return the CPU seconds that a plan takes, about."""
    ways = len({row.method for row in study.rows}) * len(study.views)
    views = len(study.views) + 1  # as many recordings are held out as half of them, and seen twice
    motion = RETARGETED + EXPERT * plan.performed
    motions = plan.clips * ways * motion + CURATED * views * plan.clips
    judged = JUDGED * plan.tests * (EVALUATIONS * len(study.tests) + len(study.worlds))
    films = FILMS * len(study.rows) * bool(plan.seeds)
    return motions + len(study.rows) * plan.seeds * (plan.seconds + judged) + films

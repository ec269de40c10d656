"""Which CMU subjects preset `dynamic` was tuned on, and which nobody looked at while that was done."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from typing import NamedTuple

from cmu_table import CMU
from phuma.core.human_motion import HumanMotion
from phuma.sources import read

OPENED = (15, 55, 69, 75, 83, 135, 139)
"""Odd subjects that were looked at after a first version had failed on the odd half"""
GROUPS = ("tuned", "opened", "unseen")
"""Even subject numbers; odd ones opened later; odd ones of which only totals were seen"""


class Recording(NamedTuple):
    name: str
    expected: str
    """feasible or infeasible, of the whole recording"""
    label: str
    group: str


def group_of(name: str) -> str:
    """By the subject's number, which a CMU recording's name begins with."""
    subject = int(name.split("_")[0])
    return "tuned" if subject % 2 == 0 else "opened" if subject in OPENED else "unseen"


def recordings() -> list[Recording]:
    with open(CMU / "labels.csv", newline="") as f:
        rows = list(csv.DictReader(f))
    return [Recording(r["clip"], r["expected"], r["label"], group_of(r["clip"])) for r in rows]


def motions() -> Iterator[tuple[Recording, HumanMotion]]:
    for recording in recordings():
        yield recording, read(CMU / f"{recording.name}.bvh")

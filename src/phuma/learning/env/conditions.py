"""Conditions: what a masked policy is told of the coming motion."""

from __future__ import annotations

from typing import NamedTuple

ROLES = ("pelvis", "head", "left_foot", "right_foot", "left_hand", "right_hand")
"""Bodies that a masked policy can be told of, on every robot."""
KINDS = ("position", "rotation")
"""What it can be told of each."""
ANY = "any"
"""Name of the condition that changes all the time, for training."""


class Condition(NamedTuple):
    """Bodies and what is told of each, in all near frames."""

    roles: tuple[str, ...]
    kinds: tuple[str, ...] = KINDS


CONDITIONS: dict[str, Condition] = {
    "all": Condition(ROLES),
    ANY: Condition(ROLES),
    "pelvis": Condition(("pelvis",)),
    "pelvis-position": Condition(("pelvis",), ("position",)),
    "head": Condition(("head",)),
    "hands-head": Condition(("head", "left_hand", "right_hand")),
    "feet": Condition(("left_foot", "right_foot")),
}
"""Conditions by their names; `any` is judged as `all`."""

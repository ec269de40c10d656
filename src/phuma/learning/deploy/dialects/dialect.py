"""What a dialect is: names, orders and texts of a policy's file in another project's layout.

Their observations are numbers of ours in another order, so that one list of columns leads from one to the other. They
are of a policy that sees the coming frame alone and adds its actions to the default pose.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from phuma.core.rotations import Array
from phuma.errors import ConfigError
from phuma.learning.deploy.dialects.texts import Texts
from phuma.learning.deploy.policy import PolicyInfo
from phuma.learning.env.observation import ObservationTerm, RobotSizes
from phuma.learning.env.terms import observations as obs
from phuma.robots.order import Order
from phuma.robots.robot import Indices, Robot
from phuma.robots.urdf_text import urdf_text
from phuma.sim.state import State

OBS, TIME_STEP, ACTIONS = "obs", "time_step", "actions"
"""Names of the inputs and of the first output, in all dialects"""
ROWS = np.array([0, 3, 1, 4, 2, 5])
"""Where the numbers of two columns of a matrix, row by row, are among those column by column"""


@dataclass(frozen=True)
class Dialect:
    """The layout of another project's policies."""

    name: str
    about: str
    """Whose files these are, in words"""
    order: Callable[[Robot], Order]
    """Function to the order of joints"""
    terms: Mapping[str, tuple[ObservationTerm, ...]]
    """Our terms by the names of theirs; rotations are row by row"""
    observed: tuple[str, ...]
    """Names, in their order, of what a policy observes that has no other estimate of its state than ours have"""
    keys: Mapping[str, str]
    """Their names of metadata by ours, which are those of `facts`"""
    texts: Texts
    """How values of metadata are written"""
    motion: Mapping[str, Callable[[State, int], Array]]
    """Functions from the frames of a motion and the index of the anchor body to what the file puts out of a frame, by
    the outputs' names; `joint_` outputs are in the robot's order"""
    needs_motion: bool
    """Whether the programs that run such a file take the motion from it"""
    fixed: Mapping[str, Any] = field(default_factory=dict)
    """Further metadata, the same for every policy"""
    plain_terms: Mapping[str, Any] = field(default_factory=dict)
    """Further metadata with one value per observed term, which says that the term is as it is"""
    deploy_terms: Mapping[str, str] = field(default_factory=dict)
    """Names of the terms in a deploy.yaml, where there is one beside the file"""

    def flat(self, names: Sequence[str]) -> list[ObservationTerm]:
        """Return our terms of their terms, side by side."""
        return [term for name in names for term in self.terms[name]]

    def facts(self, info: PolicyInfo, robot: Robot, run: str) -> dict[str, Any]:
        """Return what metadata tells, by our names, in the dialect's order."""
        joints = self.order(robot).joints
        numbers = {
            name: [getattr(info, name)[j] for j in joints]
            for name in ("joint_names", "stiffness", "damping", "default_pose", "action_scale")
        }
        return {
            "run": run,
            **numbers,
            "commands": ["motion"],
            "observations": list(self.observed),
            "anchor_body": info.anchor_body,
            "key_bodies": list(info.key_bodies),
            **({"urdf": urdf_text(robot)} if "urdf" in self.keys else {}),
        }

    def metadata(self, info: PolicyInfo, robot: Robot, run: str) -> dict[str, str]:
        """Return the texts of a file's metadata."""
        facts = self.facts(info, robot, run)
        values = {theirs: facts[ours] for ours, theirs in self.keys.items()} | dict(self.fixed)
        values |= {key: [value] * len(self.observed) for key, value in self.plain_terms.items()}
        return {key: self.texts.write(value) for key, value in values.items()}

    def check(self, info: PolicyInfo) -> None:
        """Raise a ConfigError for a policy that cannot be written in this dialect, with the reasons."""
        reasons = [reason for reason, told in (
            (f"its actions are added to the base {info.base!r}, theirs to the default pose", info.base != "default"),
            ("it observes the coming 1.9 s", info.future),
            ("it observes differences from the reference", info.differences),
            (f"it observes {info.history} steps of its past", info.history > 1),
        ) if told]  # fmt: skip
        observed = {term for group in info.task.actor for term in group.terms}
        if not reasons and observed != set(self.flat(self.observed)):
            reasons = [f"it observes {', '.join(group.name for group in info.task.actor)}"]
        if reasons:
            raise ConfigError(
                f"the policy does not fit {self.name}: {'; '.join(reasons)}. One that fits: "
                f"`phuma train DATASET --preset deploy --out RUN`"
            )


def columns(
    own: Sequence[ObservationTerm], theirs: Sequence[ObservationTerm], robot: RobotSizes, joints: Indices
) -> Indices:
    """Return (W,) where each number of their terms is among those of our terms, both side by side; `joints` are theirs
    by their numbers in our order."""
    starts = dict(zip(own, np.cumsum([0, *(term.size(robot) for term in own)])))
    return np.concatenate([starts[term] + _within(term, robot, joints) for term in theirs])


def _within(term: ObservationTerm, robot: RobotSizes, joints: Indices) -> Array:
    if term.size is obs.joints:
        return joints
    return ROWS if term is obs.anchor_rotation else np.arange(term.size(robot))

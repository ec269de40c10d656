"""A policy in the viewer: its attempt at a motion, made when somebody looks, beside what it was to do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from threading import Lock
from typing import Any, Protocol

import numpy as np

from phuma.errors import ConfigError
from phuma.evaluation import Score, judge
from phuma.evaluation.judging import RATE, SUCCESS, THRESHOLDS
from phuma.evaluation.metrics import deviations
from phuma.learning.library import fault, library_of
from phuma.learning.policy import Policy
from phuma.libraries import REMEMBERED, check_choice, choices_of
from phuma.policies import try_out
from phuma.robot_motion import RobotMotion
from phuma.robots import Robot
from phuma.robots.kinematics import body_poses
from phuma.rollout import Rollout
from phuma.rotations import Array
from phuma.showing import Piece, performer, rollout_motion, show_of, stored_performer
from phuma.view.session import Opened
from phuma.view.show import Lane, Performer, Show, Track

POLICY, REFERENCE = "policy", "reference"
CLOSE = "success_0.15"
NOT_KNOWN = ("torque",)
"""Tracks that do not follow from where a simulated robot was: its motors pushed it there"""


@dataclass(frozen=True)
class PlayCfg:
    """What a policy has to cope with."""

    full_collision: bool = False
    noise: float = 0.0
    pushes: bool = False
    seed: int = 0

    def __str__(self) -> str:
        said = ["full collision"] * self.full_collision + [f"noise {self.noise:g}"] * bool(self.noise)
        return ", ".join(said + ["pushes"] * self.pushes) or "the training's physics"


class Pieces(Protocol):
    """Motions to play."""

    def about(self) -> dict[str, Any]: ...

    def find(self, request: Mapping[str, str]) -> dict[str, Any]: ...

    def piece(self, clip: str, robot: str | None) -> Piece: ...


class PolicyLibrary:
    """A policy at motions, by choice the reference or the policy alone. What was tried once is remembered."""

    opening = comparing = "simulating"

    def __init__(self, pieces: Pieces, policy: Policy, name: str, robot: Robot, cfg: PlayCfg = PlayCfg()) -> None:  # noqa: B008
        self._pieces, self._policy, self._name, self._robot, self._cfg = pieces, policy, name, robot, cfg
        self._lock = Lock()
        self._tried: dict[str, Rollout] = {}

    def about(self) -> dict[str, Any]:
        return self._pieces.about()

    def find(self, request: Mapping[str, str]) -> dict[str, Any]:
        return self._pieces.find(request)

    def open(self, clip: str, robot: str | None, performers: Sequence[str] | None) -> Opened:
        show = self.show(clip)
        titles = {p.id: p.title for p in show}
        chosen = list(titles if performers is None else dict.fromkeys(performers))
        check_choice(chosen, titles)
        if not chosen:
            raise ConfigError(f"choose at least one of {', '.join(titles)}")
        return Opened(replace(show, performers=tuple(p for p in show if p.id in chosen)), choices_of(titles, chosen))

    def show(self, clip: str) -> Show:
        """The attempt at a clip with its reference."""
        piece = self._pieces.piece(clip, self._robot.name)
        if piece.motion is None:
            raise ConfigError(f"{piece.title} is no robot's motion: put it on one by `phuma retarget`")
        if (reason := fault(piece.motion, self._robot)) is not None:
            raise ConfigError(f"{piece.title} cannot be played: it {reason}")
        facts = (("policy", self._name), ("simulated with", str(self._cfg)))
        return attempt_show(
            replace(piece, facts=(*facts, *piece.facts)), self._rollout(clip, piece.motion), self._robot
        )

    def _rollout(self, clip: str, motion: RobotMotion) -> Rollout:
        """One at a time."""
        cfg = self._cfg
        with self._lock:
            if clip not in self._tried:
                library = library_of(self._robot, [(clip, motion, None)])
                (self._tried[clip],) = try_out(
                    self._policy, library, cfg.full_collision, cfg.noise, cfg.pushes, seed=cfg.seed
                )
                while len(self._tried) > REMEMBERED:
                    del self._tried[next(iter(self._tried))]
            return self._tried[clip]


def attempt_show(piece: Piece, rollout: Rollout, robot: Robot) -> Show:
    """A rollout with the motion of the piece that it was to follow, in step: at the motion's rate, as long as it."""
    assert piece.motion is not None
    reference = replace(piece.motion, human_joints=None).reordered(robot.joint_names)
    ghost = replace(stored_performer(reference, robot), id=REFERENCE, title=REFERENCE, ghost=True, scores={}, flags=())
    who, error = attempted(rollout, reference, robot)
    score = judge(replace(rollout, motion=piece.title), reference, robot)
    show = show_of(replace(piece, clip=None, motion=reference, measures=(), path=None), [ghost, who])
    over = np.arange(len(show)) >= (len(show) if who.ended is None else who.ended)
    ending = who.flags[0] if who.flags else f"stopped at {len(rollout) / rollout.rate:.1f} s"
    verdict = verdict_of(score) if who.ended is None else ending
    lanes = [
        Lane(ending, "violation", over),
        Lane(f"more than {100 * THRESHOLDS[CLOSE]:g} cm away", "violation", error > THRESHOLDS[CLOSE]),
    ]
    lanes += [replace(lane, holds=lane.holds & ~over) for lane in show.lanes]
    facts = [("mean body error", f"{100 * np.nanmean(error):.1f} cm")]
    facts += [(f"within {100 * THRESHOLDS[name]:g} cm", _until(score.failed_at[name])) for name in (CLOSE, SUCCESS)]
    return replace(
        show, lanes=tuple(lane for lane in lanes if lane.holds.any() or lane.kind == "contact"),
        kept=score.successful, verdict=verdict, facts=(*facts, *show.facts),
    )  # fmt: skip


def attempted(rollout: Rollout, reference: RobotMotion, robot: Robot) -> tuple[Performer, Array]:
    """The policy's robot at the reference's rate, and how far it is from it, (T,) m. Where it ended early it stays as
    it was, and nothing more is measured."""
    motion = rollout_motion(rollout, robot).resampled(reference.fps)
    reached, total = min(len(motion), len(reference)), len(reference)
    motion = _frames(motion, np.arange(reached))
    who = performer(POLICY, POLICY, motion, robot)
    error = deviations(*(_key_bodies(robot, m, reached) for m in (motion, reference)))
    error = _longer(error, total)
    tracks = [Track("body error", "cm", 100 * error, (100 * THRESHOLDS[CLOSE],))]
    tracks += [replace(t, value=_longer(t.value, total)) for t in who.tracks if t.label not in NOT_KNOWN]
    early = rollout.terminated_at is not None or reached < total - 1  # rounding of rates may cost the last frame
    return replace(
        who, motion=_frames(motion, np.minimum(np.arange(total), reached - 1)), over=_longer(who.over, total),
        slips=_longer(who.slips, total), tracks=tuple(tracks), ended=reached if early and reached < total else None,
    ), error  # fmt: skip


def verdict_of(score: Score) -> str:
    """Of one that was not given up, in a few words."""
    away = score.failed_at[SUCCESS]
    return "tracked to its end" if away is None else f"{100 * THRESHOLDS[SUCCESS]:g} cm away at {away / RATE:.1f} s"


def _until(frame: int | None) -> str:
    return "to its end" if frame is None else f"until {frame / RATE:.1f} s"


def _key_bodies(robot: Robot, motion: RobotMotion, frames: int) -> Array:
    """(T, B, 3) m"""
    place, _ = body_poses(robot, motion.root_pos[:frames], motion.root_quat[:frames], motion.joint_pos[:frames])
    return place[:, robot.body_index(robot.key_bodies)]


def _frames(motion: RobotMotion, which: Array) -> RobotMotion:
    """Of a motion without a human, some frames, each as often as it is named."""
    names = ("root_pos", "root_quat", "joint_pos", "contact")
    return replace(motion, **{name: getattr(motion, name)[which] for name in names})


def _longer(values: Array, frames: int) -> Array:
    """With frames at the end of which nothing is known."""
    more = np.full((frames - len(values), *values.shape[1:]), False if values.dtype == bool else np.nan, values.dtype)
    return np.concatenate([values, more])

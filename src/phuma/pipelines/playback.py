"""Show a policy in the viewer: its rollout of a motion, simulated when the clip is opened, beside the reference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from threading import Lock
from typing import Any, Protocol

import numpy as np

from phuma.control.bundle import strands_of
from phuma.core.rollout import Rollout
from phuma.errors import ConfigError, PhumaError
from phuma.evaluation import Score, judge
from phuma.evaluation.judging import RATE, SUCCESS, THRESHOLDS
from phuma.learning.deploy.policy import Policy
from phuma.learning.env.telling import told_by
from phuma.learning.motions.library import Performance, library_of, performance_of
from phuma.learning.run.live import LiveEpisode
from phuma.pipelines.collections import REMEMBERED, check_choice, choices_of
from phuma.pipelines.evaluate_policy import follows_performances, live_episode, try_in
from phuma.pipelines.live_play import LiveClip
from phuma.pipelines.performed import CLOSE, follower
from phuma.pipelines.recorded_tracks import ERROR
from phuma.pipelines.scene_building import Piece, show_of, stored_performer
from phuma.robots import Robot
from phuma.sim.reference import fault
from phuma.sim.worlds import TRAINED, WORLDS, World
from phuma.viewer.live import Live
from phuma.viewer.session import Opened
from phuma.viewer.show import Show

POLICY, REFERENCE = "policy", "reference"


@dataclass(frozen=True)
class PlayCfg:
    """Choose the world of a simulation, and the seed of its random numbers."""

    world: World = WORLDS[TRAINED]
    seed: int = 0

    def __str__(self) -> str:
        return str(self.world)


class Pieces(Protocol):
    """Provide motions to play."""

    def about(self) -> dict[str, Any]: ...

    def find(self, request: Mapping[str, str]) -> dict[str, Any]: ...

    def piece(self, clip: str, robot: str | None) -> Piece: ...


class PolicyCollection:
    """Provide rollouts of a policy beside their references, or either alone; the last rollouts are remembered."""

    opening = comparing = "simulating"

    def __init__(self, pieces: Pieces, policy: Policy, name: str, robot: Robot, cfg: PlayCfg = PlayCfg()) -> None:
        self._pieces, self._policy, self._name, self._robot, self._cfg = pieces, policy, name, robot, cfg
        self._lock = Lock()
        self._rollouts: dict[str, Rollout] = {}

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
        shown = replace(show, performers=tuple(p for p in show if p.id in chosen))
        return Opened(shown, choices_of(titles, chosen), self._live(clip, show))

    def _live(self, clip: str, show: Show) -> Live | None:
        """Return the simulation in which a masked policy can be told other things; None for a policy that is not."""
        info, cfg = self._policy.info, self._cfg
        if info.task.masking is None:
            return None

        def episode() -> LiveEpisode:
            piece = self._pieces.piece(clip, self._robot.name)
            assert piece.motion is not None
            library = library_of(self._robot, [(clip, piece.motion, None, self._performance(piece))])
            return live_episode(cfg.world, self._policy, library, cfg.seed)

        return LiveClip(POLICY, episode, told_by(info.condition), show.fps, self._lock)

    def show(self, clip: str) -> Show:
        """Return the rollout of a clip with its reference."""
        piece = self._pieces.piece(clip, self._robot.name)
        if piece.motion is None:
            raise ConfigError(f"{piece.title} is no robot's motion: put it on one by `phuma retarget`")
        if (reason := fault(piece.motion, self._robot)) is not None:
            raise ConfigError(f"{piece.title} cannot be played: it {reason}")
        facts = (("policy", self._name), ("simulated with", str(self._cfg)))
        rollout = self._rollout(clip, piece)
        if rollout.fault is not None:
            raise PhumaError(f"{piece.title} cannot be played by {self._name}: {rollout.fault}")
        return rollout_show(replace(piece, facts=(*facts, *piece.facts)), rollout, self._robot)

    def _rollout(self, clip: str, piece: Piece) -> Rollout:
        """Return the rollout of a clip, simulated one at a time."""
        cfg = self._cfg
        assert piece.motion is not None
        with self._lock:
            if clip not in self._rollouts:
                library = library_of(self._robot, [(clip, piece.motion, None, self._performance(piece))])
                (self._rollouts[clip],) = try_in(cfg.world, self._policy, library, seed=cfg.seed)
                while len(self._rollouts) > REMEMBERED:
                    del self._rollouts[next(iter(self._rollouts))]
            return self._rollouts[clip]

    def _performance(self, piece: Piece) -> Performance | None:
        """Return how a clip is performed, where its policy goes by that and it was performed to the end."""
        if piece.performance is None or not follows_performances(self._policy.info):
            return None
        stored = piece.performance()
        if stored.terminated_at is not None:
            return None
        return performance_of(stored, self._robot, lambda: strands_of(stored, self._robot))


def rollout_show(piece: Piece, rollout: Rollout, robot: Robot) -> Show:
    """Return a rollout beside the motion that it was to follow, at the motion's frame rate and length."""
    assert piece.motion is not None
    reference = replace(piece.motion, human_joints=None).reordered(robot.joint_names)
    ghost = replace(stored_performer(reference, robot), id=REFERENCE, title=REFERENCE, ghost=True, scores={}, flags=())
    who = follower(POLICY, POLICY, rollout, reference, robot)
    score = judge(replace(rollout, motion=piece.title), reference, robot)
    show = show_of(replace(piece, clip=None, motion=reference, measures=(), path=None), [ghost, who])
    first, error = who.lanes[:2], next(track.value for track in who.tracks if track.label == ERROR)
    others = [lane for lane in show.lanes if lane.label not in {lane.label for lane in first}]
    lanes = [*first, *(replace(lane, holds=lane.holds & ~first[0].holds) for lane in others)]
    facts = [("mean body error", f"{np.nanmean(error):.1f} cm")]
    facts += [(f"within {100 * THRESHOLDS[name]:g} cm", _until(score.failed_at[name])) for name in (CLOSE, SUCCESS)]
    return replace(
        show, lanes=tuple(lane for lane in lanes if lane.holds.any() or lane.kind == "contact"), kept=score.successful,
        verdict=verdict_of(score) if who.ended is None else first[0].label, facts=(*facts, *show.facts),
    )  # fmt: skip


def verdict_of(score: Score) -> str:
    """Return a short verdict on a rollout that was not terminated."""
    away = score.failed_at[SUCCESS]
    return "tracked to its end" if away is None else f"{100 * THRESHOLDS[SUCCESS]:g} cm away at {away / RATE:.1f} s"


def _until(frame: int | None) -> str:
    return "to its end" if frame is None else f"until {frame / RATE:.1f} s"

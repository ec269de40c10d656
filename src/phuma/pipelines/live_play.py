"""Play a masked policy live: it follows a clip over and over, and one changes what it is told of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from threading import Lock
from typing import Any

import numpy as np

from phuma.errors import ConfigError
from phuma.learning.env.conditions import KINDS, ROLES
from phuma.learning.env.telling import LONGEST, Told
from phuma.learning.run.live import LiveEpisode, Watched
from phuma.robots.whole import role_bodies
from phuma.sim.model import CONTROL_RATE
from phuma.viewer.live import Live, LiveFrame

HELD = 1.0
"""s for which a robot that fell is shown before it begins anew"""


class Watch:
    """Watch an episode: a robot that fell lies for a while before it begins anew."""

    def __init__(self, episode: LiveEpisode) -> None:
        self.episode = episode
        self.fallen: Watched | None = None
        self.falls = 0
        self._left = 0

    @property
    def lies(self) -> bool:
        """Return whether the robot fell and will be shown so again."""
        return self._left > 0

    def step(self) -> Watched:
        if self._left:
            self._left -= 1
            assert self.fallen is not None
            return self.fallen
        seen = self.episode.step()
        self.fallen = seen if seen.failed else None
        if seen.failed:
            self._left, self.falls = round(HELD * CONTROL_RATE), self.falls + 1
        return seen

    def restart(self, frame: int = 0) -> None:
        self._left, self.fallen = 0, None
        self.episode.restart(frame)


class LiveClip:
    """Let a policy follow a clip under physics, told what one chooses; the simulation is made when it is first needed,
    and steps hold the lock, as the rollouts of all pages do."""

    always = False
    rate = CONTROL_RATE

    def __init__(self, performer: str, make: Callable[[], LiveEpisode], told: Told, fps: float, lock: Lock) -> None:
        self.performer = performer
        self._make, self._told, self._fps, self._lock = make, told, fps, lock
        self._watch: Watch | None = None

    def controls(self) -> dict[str, Any]:
        told = self._told
        rows = [
            {"body": role, "name": role.replace("_", " "), **{kind: bool(own) for kind, own in zip(KINDS, row)}}
            for role, row in zip(ROLES, told.mask)
        ]
        note = None
        if not told.mask.any():
            note = f"Nothing is told: in training that lasted {LONGEST:g} s at most."
        return {
            "kind": "told", "bodies": rows, "fixed": told.fixed, "gap": told.gap, "longest_gap": LONGEST,
            "far": told.far, "note": note,
        }  # fmt: skip

    def order(self, message: Mapping[str, Any]) -> None:
        match message:
            case {"type": "tell", "body": str(role), "kind": str(kind), "value": bool(value)}:
                self._told = self._told.changed(role, kind, value)
            case {"type": "gap", "value": int(seconds) | float(seconds)}:
                self._told = self._told.with_gap(seconds)
            case {"type": "far", "value": bool(far)}:
                self._told = self._told.with_far(far)
            case _:
                raise ConfigError(f"unknown message: {str(message)[:200]}")

    def take_over(self, before: Live) -> None:
        if isinstance(before, LiveClip) and before._told.condition == self._told.condition:
            self._told = before._told

    def seek(self, frame: int) -> None:
        with self._lock:
            self._watched().restart(round(frame / self._fps * CONTROL_RATE))

    def step(self) -> LiveFrame:
        with self._lock:
            watch = self._watched()
            watch.episode.told = self._told
            seen = watch.step()
        return LiveFrame(
            int(seen.frame / CONTROL_RATE * self._fps), seen.qpos, self._facts(watch, seen), seen.failed, seen.over
        )

    def lines(self) -> Mapping[str, Any]:
        return {}

    def _watched(self) -> Watch:
        if self._watch is None:
            self._watch = Watch(self._make())
        return self._watch

    def _facts(self, watch: Watch, seen: Watched) -> tuple[tuple[str, str], ...]:
        robot = watch.episode.robot
        names, named = list(robot.key_bodies), role_bodies(robot)
        asked = [names.index(named[role]) for role, row in zip(ROLES, self._told.mask) if row[0]]
        told = f"{100 * seen.off[asked].mean():.1f} cm off" if asked else "no place is told"
        return (
            ("told bodies", told),
            ("all bodies", f"{100 * np.mean(seen.off):.1f} cm off"),
            ("falls", str(watch.falls)),
        )

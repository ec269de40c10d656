"""Let a masked policy walk a path that somebody draws on the floor while it walks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from threading import Lock
from typing import Any

import numpy as np

from phuma.core import rotations as rot
from phuma.core.provenance import Provenance
from phuma.core.robot_motion import RobotMotion
from phuma.core.rotations import Array
from phuma.core.trajectory import Trajectory, split_qpos
from phuma.errors import ConfigError
from phuma.learning.deploy.policy import Policy
from phuma.learning.motions.drawn_paths import DrawnPath, cut, drawn_path, frame_after, standing
from phuma.learning.motions.library import MotionLibrary
from phuma.learning.motions.path_walks import FASTEST, RISE
from phuma.learning.motions.paths import LEAST
from phuma.learning.run.live import LiveEpisode
from phuma.pipelines.collections import check_choice
from phuma.pipelines.evaluate_policy import live_episode
from phuma.pipelines.follow_path import path_policy
from phuma.pipelines.live_play import Watch
from phuma.pipelines.playback import POLICY, PlayCfg
from phuma.pipelines.scene_building import performer
from phuma.robots import Robot
from phuma.sim.model import CONTROL_RATE
from phuma.viewer import style
from phuma.viewer.live import Live, LiveFrame
from phuma.viewer.session import Opened
from phuma.viewer.show import Show

FARTHEST = 50.0
"""m from the middle of the floor at which a point may be drawn"""
MOST_POINTS = 2000
"""Number of points of a path, at most"""
APART = 0.08
"""m between points that are drawn, at least: nearer ones are a shaking hand"""
TRACK_SECONDS = 120.0
"""s of the past in which the robot's track is shown"""
TRACK_EVERY = 5
"""Control steps between two points of the track"""
CLIP = "path"


class LivePath:
    """A robot that waits, without physics, until it is given a path, walks it, and stands at its end.
    Points are drawn in the world; what is drawn is walked once that is ordered, and what is drawn later is added."""

    performer, always, rate = POLICY, True, CONTROL_RATE

    def __init__(
        self, policy: Policy, robot: Robot, cfg: PlayCfg, speed: float, points: Sequence[Array], lock: Lock
    ) -> None:
        self._policy, self._robot, self._cfg, self._speed, self._lock = policy, robot, cfg, speed, lock
        self._given: list[Array] = list(points)
        self._watch: Watch | None = None
        self._begin()

    def _begin(self) -> None:
        self._drawn = list(self._given)
        self._walked = np.zeros((0, 2))
        self._heading = 0.0
        self._path = standing(np.zeros(2), 0.0, self._robot, round(2 * CONTROL_RATE))
        self._track: list[Array] = []
        self._off: list[float] = []
        self._most, self._steps = 0.0, 0
        self._begun = False

    def controls(self) -> dict[str, Any]:
        return {
            "kind": "path", "speed": self._speed, "fastest": FASTEST, "drawn": len(self._drawn),
            "walking": self._is_walking(), "length": round(float(_length(self._line())), 2),
        }  # fmt: skip

    def order(self, message: Mapping[str, Any]) -> None:
        with self._lock:
            match message:
                case {"type": "point", "at": [float(x), float(y)]}:
                    self._add(np.array([x, y]))
                case {"type": "walk"}:
                    self._walk()
                case {"type": "clear"}:
                    self._clear()
                case {"type": "again"}:
                    self._begin()
                    if self._watch is not None:
                        self._follow(self._path, 0)
                        self._watch.restart()
                case {"type": "pace", "value": int(speed) | float(speed)}:
                    if not 0 < speed <= FASTEST:
                        raise ConfigError(f"a speed of {speed:g}; expected more than 0 and at most {FASTEST:g} m/s")
                    self._set_speed(float(speed))
                case _:
                    raise ConfigError(f"unknown message: {str(message)[:200]}")

    def take_over(self, before: Live) -> None:
        pass

    def seek(self, frame: int) -> None:
        pass

    def step(self) -> LiveFrame:
        with self._lock:
            watch = self._watched()
            if not self._begun:
                return LiveFrame(0, watch.episode.qpos, ())
            if watch.episode.frame >= watch.episode.last - 1:
                watch.episode.wait()
            if watch.fallen is not None and not watch.lies:  # another episode begins
                self._track, self._off, self._most = [], [], 0.0
            lies, seen = watch.lies, watch.step()
            if not lies:
                self._note(seen.qpos, float(np.linalg.norm(seen.qpos[:2] - self._path.motion.root_pos[seen.frame, :2])))
            return LiveFrame(0, seen.qpos, self._facts(watch, seen.frame), seen.failed)

    def lines(self) -> Mapping[str, tuple[Array, str]]:
        with self._lock:
            return {
                "walked": (self._walked, style.WANTED),
                "drawn": (self._line() if self._drawn else np.zeros((0, 2)), style.LATER),
                "track": (np.array(self._track).reshape(-1, 2), style.PERFORMERS[0]),
            }

    def _add(self, place: Array) -> None:
        if not np.abs(place).max() <= FARTHEST:
            raise ConfigError(f"a point at {place[0]:g},{place[1]:g}; expected within {FARTHEST:g} m")
        if len(self._drawn) + len(self._walked) >= MOST_POINTS:
            raise ConfigError(f"the path has {MOST_POINTS} points already: clear it and draw anew")
        if np.linalg.norm(place - self._line()[-1]) >= APART:
            self._drawn.append(place)

    def _line(self) -> Array:
        """Return (P, 2) m: what is drawn and not walked yet, from where it begins."""
        begins = self._walked[-1] if self._is_walking() else self._here()
        return np.array([begins, *self._drawn])

    def _here(self) -> Array:
        """Return (2,) m: where the robot stands."""
        return np.zeros(2) if self._watch is None else self._watch.episode.qpos[:2]

    def _is_walking(self) -> bool:
        return len(self._walked) > 0 and (
            self._watch is None or self._watch.episode.frame < self._watch.episode.last - 1
        )

    def _walk(self) -> None:
        if not self._drawn:
            raise ConfigError("no path is drawn yet: draw one on the floor")
        watch = self._watched()
        if self._is_walking():
            self._go_along(np.concatenate([self._walked, self._drawn]))
        else:
            points, heading = self._line(), _heading(watch.episode.qpos)
            self._follow(drawn_path(points, self._robot, self._speed, heading), 0)
            self._walked, self._heading, self._off, self._most = points, heading, [], 0.0
        self._drawn, self._begun = [], True

    def _go_along(self, points: Array) -> None:
        """Go on along a path that begins as the present one does."""
        path = drawn_path(points, self._robot, self._speed, self._heading)
        self._follow(path, frame_after(self._path, self._watched().episode.frame, path))
        self._walked = points

    def _set_speed(self, speed: float) -> None:
        self._speed = speed
        if self._is_walking():
            self._go_along(self._walked)

    def _clear(self) -> None:
        """Forget what is not walked yet; a robot that walks comes to stand."""
        self._drawn = []
        if not self._is_walking():
            self._walked, self._track = np.zeros((0, 2)), []
            return
        assert self._watch is not None
        done = float(self._path.way[self._watch.episode.frame])
        self._go_along(cut(self._walked, done + max(self._speed * RISE, LEAST)))

    def _follow(self, path: DrawnPath, frame: int) -> None:
        self._path = path
        self._watched().episode.go_on(_library(self._robot, path.motion), frame)

    def _watched(self) -> Watch:
        if self._watch is None:
            self._watch = Watch(self._episode())
        return self._watch

    def _episode(self) -> LiveEpisode:
        return live_episode(self._cfg.world, self._policy, _library(self._robot, self._path.motion), self._cfg.seed)

    def _note(self, qpos: Array, off: float) -> None:
        self._steps += 1
        self._most = max(self._most, off)
        self._off.append(off)
        if self._steps % TRACK_EVERY == 0:
            self._track = [*self._track, qpos[:2]][-round(TRACK_SECONDS * CONTROL_RATE / TRACK_EVERY) :]

    def _facts(self, watch: Watch, frame: int) -> tuple[tuple[str, str], ...]:
        way, done = self._path.way[[-1, frame]] if len(self._walked) else (0.0, 0.0)
        return (
            ("pelvis error", f"{self._off[-1]:.2f} m"),
            ("mean, largest", f"{np.mean(self._off):.2f} m, {self._most:.2f} m"),
            ("walked", f"{done:.1f} of {way:.1f} m" if len(self._walked) else "no path yet"),
            ("falls", str(watch.falls)),
        )


class PathCollection:
    """Provide one floor to the viewer: each page has a robot of its own on it."""

    opening = comparing = "simulating"

    def __init__(
        self, policy: Policy, name: str, robot: Robot, speed: float, points: Sequence[Sequence[float]] | None = None,
        cfg: PlayCfg = PlayCfg(),  # noqa: B008 (it is frozen)
    ) -> None:  # fmt: skip
        self._policy, self._name, self._robot = path_policy(policy), name, robot
        self._speed, self._points, self._cfg = speed, _sparse(points or ()), cfg
        self._lock = Lock()

    def about(self) -> dict[str, Any]:
        nothing: list[str] = []
        return {
            "title": self._name, "clips": 1, "kept": 1, "categories": nothing, "splits": nothing,
            "robots": [self._robot.name], "metrics": nothing, "floor": True,
        }  # fmt: skip

    def find(self, request: Mapping[str, str]) -> dict[str, Any]:
        row = {
            "clip": CLIP, "robot": self._robot.name, "recording": self._name, "start": 0.0, "end": 0.0, "kept": None,
            "category": None, "label": None, "split": None, "mirrored": False, "reasons": [], "value": None,
        }  # fmt: skip
        return {"rows": [row], "total": 1, "page": 0, "pages": 1}

    def open(self, clip: str, robot: str | None, performers: Sequence[str] | None) -> Opened:
        check_choice([clip], {CLIP: CLIP})
        own, still = self._robot, standing(np.zeros(2), 0.0, self._robot, 1).motion
        motion = RobotMotion.of(
            still, contact=np.zeros((1, 4)), human_joints=None, provenance=Provenance(self._name, "policy")
        )
        who = performer(POLICY, self._name, motion, own)
        facts = (("policy", self._name), ("told", self._policy.info.condition), ("simulated with", str(self._cfg)))
        show = Show(self._name, "draw a path on the floor", CONTROL_RATE, None, motion.contact, (who,), facts=facts)
        return Opened(show, (), LivePath(self._policy, own, self._cfg, self._speed, self._points, self._lock))


def _library(robot: Robot, motion: Trajectory) -> MotionLibrary:
    return MotionLibrary(robot, ["path"], [None], [motion], [None])


def _heading(qpos: Array) -> float:
    """Return the heading in rad of a root's quaternion."""
    w, _, _, z = rot.heading(split_qpos(qpos[None])[1])[0]
    return float(2 * np.arctan2(z, w))


def _sparse(points: Sequence[Sequence[float]]) -> list[Array]:
    """Return those points of a path that are apart as points that are drawn are, and its last one."""
    out: list[Array] = []
    for point in (np.array(point) for point in points):
        if np.linalg.norm(point - (out[-1] if out else np.zeros(2))) >= APART:
            out.append(point)
    return out


def _length(points: Array) -> float:
    return float(np.linalg.norm(np.diff(points, axis=0), axis=1).sum())

"""Which frame is due: a clock over the frames of a clip."""

from __future__ import annotations

import time
from collections.abc import Callable

from phuma.errors import ConfigError

SPEEDS = (0.05, 4.0)
"""slowest and fastest, of the motion's own"""


class Player:
    """Plays, pauses, seeks, loops. Frames follow from the time, so one that is late is left out."""

    def __init__(self, frames: int, fps: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.frames, self.fps = frames, fps
        self.playing, self.loop, self.speed = False, True, 1.0
        self._clock = clock
        self._from, self._since = 0.0, clock()  # position in frames, and when it was there

    @property
    def frame(self) -> int:
        """The frame to be seen now. At the end of a clip that does not loop, playing is over."""
        at = self._position()
        if at < self.frames:
            return int(at)
        if self.loop:
            return int(at % self.frames)
        self.seek(self.frames - 1)
        self.playing = False
        return self.frames - 1

    @property
    def pause_to_next(self) -> float:
        """Seconds until another frame is due; only while it plays."""
        at = self._position()
        return (int(at) + 1 - at) / (self.fps * self.speed)

    def play(self) -> None:
        if not self.playing and not self.loop and self.frame == self.frames - 1:
            self.seek(0)
        self._keep()
        self.playing = True

    def pause(self) -> None:
        self._keep()
        self.playing = False

    def seek(self, frame: int) -> None:
        """To a frame of the clip; beyond its ends, to the end."""
        self._from, self._since = float(min(max(frame, 0), self.frames - 1)), self._clock()

    def set_speed(self, speed: float) -> None:
        if not SPEEDS[0] <= speed <= SPEEDS[1]:
            raise ConfigError(f"a speed of {speed:g}; expected {SPEEDS[0]:g} to {SPEEDS[1]:g}")
        self._keep()
        self.speed = speed

    def set_loop(self, loop: bool) -> None:
        self._keep()
        self.loop = loop

    def _keep(self) -> None:
        """Go on from where it is, whatever changes next."""
        at = self._position()
        self._from, self._since = (at % self.frames if self.loop else min(at, self.frames - 1.0)), self._clock()

    def _position(self) -> float:
        elapsed = self._clock() - self._since if self.playing else 0.0
        return self._from + elapsed * self.fps * self.speed

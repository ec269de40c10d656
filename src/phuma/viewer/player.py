"""Play a clip: a clock says which of its frames is due."""

from __future__ import annotations

import time
from collections.abc import Callable

from phuma.errors import ConfigError

SPEEDS = (0.05, 4.0)
"""The slowest and the fastest speed, as multiples of real time."""


class Player:
    """Play, pause, seek and loop. The frame follows from the time, so a frame that is late is skipped."""

    def __init__(self, frames: int, fps: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.frames, self.fps = frames, fps
        self.playing, self.loop, self.speed = False, True, 1.0
        self._clock = clock
        self._from, self._since = 0.0, clock()  # position in frames, and when it was there

    @property
    def frame(self) -> int:
        """Return the frame that is due now; at the end of a clip that does not loop, playback stops."""
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
        """Return the seconds until the next frame is due; only valid while it plays."""
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
        """Go to a frame of the clip; a number beyond its ends means the end."""
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
        """Fix the present position, so that playback goes on from there whatever changes next."""
        at = self._position()
        self._from, self._since = (at % self.frames if self.loop else min(at, self.frames - 1.0)), self._clock()

    def _position(self) -> float:
        elapsed = self._clock() - self._since if self.playing else 0.0
        return self._from + elapsed * self.fps * self.speed

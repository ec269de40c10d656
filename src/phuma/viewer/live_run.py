"""Run the live simulation of one page: as fast as time goes by, with what is due in a thread."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from phuma.errors import ConfigError
from phuma.viewer.live import MOST_STEPS, SHOWN_EVERY, Live, LiveFrame
from phuma.viewer.player import Player

if TYPE_CHECKING:
    from phuma.viewer.stage import Stage

Message = dict[str, Any]


class LiveRun:
    """Hold the live simulation of the clip on a stage, and whether it is shown instead of what is recorded."""

    def __init__(self, stage: Stage, send: Callable[[Message], Awaitable[None]]) -> None:
        self._stage, self._send = stage, send
        self._live: Live | None = None
        self.on = False
        self._owed = 0.0
        """Control steps that are due"""

    def take(self, live: Live | None, again: bool) -> Message | None:
        """Take the simulation of a clip that was opened, and return what can be ordered of it; with the same clip the
        one that runs goes on."""
        if live is not None and self._live is not None:
            if again:
                live = self._live
            else:
                live.take_over(self._live)
        self._live = live
        return None if live is None else live.controls()

    async def switch(self, on: bool, player: Player) -> None:
        """Show the simulation from the player's frame on, or what is recorded."""
        live = self._live
        begins, self.on, self._owed = not self.on, live is not None and (on or live.always), 0.0
        if not self.on:
            self._stage.end_live()
        elif begins and live is not None:
            player.play()
            await asyncio.to_thread(live.seek, player.frame)

    async def seek(self, frame: int) -> None:
        """Begin anew at a frame."""
        if self.on and self._live is not None:
            await asyncio.to_thread(self._live.seek, frame)

    async def order(self, message: Message, player: Player) -> None:
        """Do what the page asks for, at once."""
        live = self._live
        if live is None:
            raise ConfigError(f"nothing is live here: {str(message)[:200]}")
        match message:
            case {"type": "live", "value": bool(on)}:
                await self.switch(on, player)
                return
            case {"type": "draw", "at": [int(u) | float(u), int(v) | float(v)]}:
                message = {"type": "point", "at": self._stage.floor_at(u, v)}
        await asyncio.to_thread(live.order, message)
        self._stage.draw_lines(await asyncio.to_thread(live.lines))
        await self._send({"type": "controls", "controls": await asyncio.to_thread(live.controls)})
        if not self.on:
            await self.switch(True, player)

    async def advance(self, player: Player) -> None:
        """Simulate what is due and show it; a machine that is too slow shows slow motion."""
        live = self._live
        assert live is not None
        self._owed = min(self._owed + SHOWN_EVERY * live.rate * player.speed, MOST_STEPS)
        count = int(self._owed)
        if not count:
            return
        self._owed -= count
        seen: list[LiveFrame] = await asyncio.to_thread(lambda: [live.step() for _ in range(count)])
        if live is not self._live or not self.on:
            return  # another clip was opened meanwhile
        last = seen[-1]
        player.seek(last.frame)
        self._stage.pose_live(live.performer, last)
        self._stage.draw_lines(await asyncio.to_thread(live.lines))
        await self._send({"type": "live", "frame": last.frame, "facts": last.facts, "fallen": last.fallen})
        if any(each.over for each in seen) and not player.loop:
            player.pause()

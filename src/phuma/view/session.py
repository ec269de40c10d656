"""One browser's view: a stage of its own, what is on it, and what its page asks for."""

from __future__ import annotations

import asyncio
import contextlib
import json
import secrets
import sys
import traceback
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from phuma.errors import ConfigError, PhumaError, missing_extra
from phuma.view.player import Player
from phuma.view.show import Show
from phuma.view.stage import Stage
from phuma.view.telling import Choice, told

Message = dict[str, Any]


class Opened(NamedTuple):
    """A clip as it is shown, and what could be shown beside."""

    show: Show
    choices: tuple[Choice, ...]


class Library(Protocol):
    """Clips that can be looked at. Called from several threads."""

    opening: str
    """What is done to open a clip, in a word"""
    comparing: str
    """What is done to have others perform it"""

    def about(self) -> Message:
        """What there is to search in."""

    def find(self, request: Mapping[str, str]) -> Message:
        """A page of rows."""

    def open(self, clip: str, robot: str | None, performers: Sequence[str] | None) -> Opened:
        """A clip with the performers of these choices; None: those that it is stored with."""


class Session:
    """State of one page. All methods run in the server's event loop; what takes long runs in a thread."""

    def __init__(self, library: Library, send: Callable[[Message], Awaitable[None]]) -> None:
        self.token = secrets.token_urlsafe(12)
        self._library, self._send = library, send
        self._server = start_viser()
        self.stage = Stage(self._server)
        self.player = Player(1, 30.0)
        self._opened: tuple[str, str | None] | None = None
        self._wake = asyncio.Event()
        self._opening = asyncio.Lock()
        self._asked: asyncio.Queue[Any] = asyncio.Queue()

    @property
    def port(self) -> int:
        """Where viser listens, on loopback."""
        return int(self._server.get_port())

    def close(self) -> None:
        self._server.stop()

    async def greet(self) -> None:
        await self._send({"type": "hello", "stage": f"/stage/{self.token}/"})

    def ask(self, text: str | bytes) -> None:
        """Take a message of the page, to be done in its turn."""
        try:
            message = json.loads(text)
        except ValueError:
            message = str(text)[:100]
        self._asked.put_nowait(message)

    async def obey(self) -> None:
        """Do what the page asks for, one after another; a fault is told, and the session goes on."""
        while True:
            messages = [await self._asked.get()]
            while not self._asked.empty():
                messages.append(self._asked.get_nowait())
            for message in newest(messages):
                try:
                    await self._do(message)
                except PhumaError as e:
                    await self._send({"type": "error", "text": str(e)})
                except Exception as e:  # whatever it is, this page and the others go on
                    traceback.print_exc(file=sys.stderr)
                    await self._send({"type": "error", "text": f"{type(e).__name__}: {e}"})

    async def _do(self, message: Any) -> None:
        player, stage = self.player, self.stage
        match message:
            case {"type": "open", "clip": str(clip), "robot": str(robot) | (None as robot)}:
                await self._open(clip, robot, None)
            case {"type": "compare", "performers": list(names)} if self._opened is not None:
                await self._open(*self._opened, [str(name) for name in names])
            case {"type": "play"}:
                player.play()
            case {"type": "pause"}:
                player.pause()
            case {"type": "seek", "frame": int(frame)}:
                player.seek(frame)
            case {"type": "speed", "value": int(speed) | float(speed)}:
                player.set_speed(speed)
            case {"type": "loop", "value": bool(loop)}:
                player.set_loop(loop)
            case {"type": "layout", "value": str(layout)}:
                stage.set_layout(layout)
            case {"type": "show", **what}:
                stage.set_shown(stage.shown.changed(what))
            case {"type": "follow", "value": bool(follow)}:
                stage.set_follow(follow)
            case {"type": "reset"}:
                stage.reset_camera()
            case _:
                raise ConfigError(f"a message that means nothing here: {str(message)[:200]}")
        self._wake.set()
        await (self._show_frame() if message["type"] == "seek" else self._tell_state())

    async def _open(self, clip: str, robot: str | None, performers: Sequence[str] | None) -> None:
        async with self._opening:
            words = self._library
            await self._send({"type": "busy", "text": words.opening if performers is None else words.comparing})
            opened = await asyncio.to_thread(self._library.open, clip, robot, performers)
            again = self._opened == (clip, robot)
            message = await asyncio.to_thread(told, opened.show, opened.choices)
            await asyncio.to_thread(self.stage.load, opened.show)
            before, self.player = self.player, Player(len(opened.show), opened.show.fps)
            self.player.loop, self.player.speed = before.loop, before.speed
            if again:
                self.player.seek(before.frame)
            if not again or before.playing:
                self.player.play()
            self._opened = (clip, robot)
            await self._send({"type": "clip", "clip": clip, "robot": robot, **message})

    async def _tell_state(self) -> None:
        player, stage = self.player, self.stage
        await self._send({
            "type": "state", "playing": player.playing, "frame": player.frame, "speed": player.speed,
            "loop": player.loop, "layout": stage.layout, "follow": stage.follow, "shown": vars(stage.shown),
        })  # fmt: skip

    async def _show_frame(self) -> None:
        frame = self.player.frame
        if frame != self.stage.frame:
            self.stage.pose(frame)
        await self._send({"type": "frame", "frame": frame})

    async def run(self) -> None:
        """Show frames as they fall due, one batch of messages each; a page that is slow gets fewer."""
        while True:
            player = self.player
            plays, frame = player.playing, player.frame
            if frame != self.stage.frame and not self._opening.locked():
                await self._show_frame()
            if plays and not player.playing:  # it came to its end
                await self._tell_state()
            self._wake.clear()
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._wake.wait(), player.pause_to_next if plays else None)


def newest(messages: Sequence[Any]) -> list[Any]:
    """Without the clips and frames that a later message passes by: nobody waits for them."""
    out, later = [], set()
    for message in reversed(messages):
        kind = message.get("type") if isinstance(message, dict) else None
        if kind not in later:
            out.append(message)
        if kind in ("open", "seek"):
            later.add(kind)
    return out[::-1]


def start_viser() -> Any:
    """A viser server that only this machine reaches, on a port that is free."""
    try:
        import rich
        import viser
    except ModuleNotFoundError as e:
        raise missing_extra(e, "the viewer") from None
    rich.get_console().quiet = True  # it greets, and says farewell
    server = viser.ViserServer(host="127.0.0.1", port=0, verbose=False)
    server.gui.configure_theme(show_logo=False, show_share_button=False)
    return server

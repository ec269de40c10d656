"""Run one browser's session: its own stage, the clip on it, and the requests of its page."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import secrets
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from phuma.errors import ConfigError, PhumaError, missing_extra
from phuma.viewer.live import SHOWN_EVERY, Live
from phuma.viewer.live_run import LiveRun
from phuma.viewer.payload import Choice, payload_of
from phuma.viewer.player import Player
from phuma.viewer.show import Show

Message = dict[str, Any]


class Opened(NamedTuple):
    """Hold a clip as it is shown, and what could be shown beside it."""

    show: Show
    choices: tuple[Choice, ...]
    live: Live | None = None
    """The simulation of one of its performers, where it can run while it is watched"""


class Collection(Protocol):
    """Provide clips to the viewer; its methods are called from several threads."""

    opening: str
    """One word for what is done to open a clip, as `reading`."""
    comparing: str
    """One word for what is done to add other performers, as `retargeting`."""

    def about(self) -> Message:
        """Return the title, the counts and the values to search by."""

    def find(self, request: Mapping[str, str]) -> Message:
        """Return the page of rows that a request asks for."""

    def open(self, clip: str, robot: str | None, performers: Sequence[str] | None) -> Opened:
        """Return a clip with the chosen performers; None chooses those that it is stored with."""


class Session:
    """Hold the state of one page. All methods run in the server's event loop; long work runs in a thread."""

    def __init__(self, collection: Collection, send: Callable[[Message], Awaitable[None]]) -> None:
        from phuma.viewer.stage import Stage  # the robots' kinematics: not before a page is open

        self.token = secrets.token_urlsafe(12)
        self._collection, self._send = collection, send
        self._server = start_viser()
        self.stage = Stage(self._server)
        self.player = Player(1, 30.0)
        self._opened: tuple[str, str | None] | None = None
        self._live = LiveRun(self.stage, send)
        self._wake = asyncio.Event()
        self._opening = asyncio.Lock()
        self._messages: asyncio.Queue[Any] = asyncio.Queue()

    @property
    def address(self) -> str:
        """Return the loopback address and port on which viser listens."""
        return f"{self._server.get_host()}:{self._server.get_port()}"

    def close(self) -> None:
        self._server.stop()

    async def greet(self) -> None:
        """Send the page the address of its stage."""
        await self._send({"type": "hello", "stage": f"/stage/{self.token}/"})

    def receive(self, text: str | bytes) -> None:
        """Queue a message of the page; raise a RecursionError for one that is nested without end."""
        try:
            message = json.loads(text)
        except ValueError:
            message = str(text)[:100]
        self._messages.put_nowait(message)

    async def handle_messages(self) -> None:
        """Handle the page's messages one after another; an error is sent to the page, and the session goes on."""
        while True:
            messages = [await self._messages.get()]
            while not self._messages.empty():
                messages.append(self._messages.get_nowait())
            for message in newest(messages):
                try:
                    await self._do(message)
                except PhumaError as e:
                    await self._send({"type": "error", "text": str(e)})
                except Exception as e:  # whatever it is, this page and the others go on
                    await self._send({"type": "error", "text": f"{type(e).__name__}: {e}"})

    async def _do(self, message: Any) -> None:
        player, stage = self.player, self.stage
        match message:
            case {"type": "open", "clip": str(clip), "robot": str(robot) | (None as robot)}:
                await self._open(clip, robot, None)
            case {"type": "compare", "performers": list(names)} if self._opened is not None:
                await self._open(*self._opened, [str(name) for name in names])
            case {"type": "review", "clip": str(clip), "verdict": str(verdict), "label": str(label)}:
                await self._review(clip, verdict, label)
                return
            case {"type": "play"}:
                player.play()
            case {"type": "pause"}:
                player.pause()
            case {"type": "seek", "frame": int(frame)}:
                player.seek(frame)
                await self._live.seek(player.frame)
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
            case {"type": "pen", "down": bool(down)}:
                stage.still = down
            case {"type": "live" | "tell" | "gap" | "far" | "draw" | "walk" | "clear" | "again" | "pace"}:
                await self._live.order(message, player)
            case _:
                raise ConfigError(f"unknown message: {str(message)[:200]}")
        self._wake.set()
        await (self._show_frame() if message["type"] == "seek" else self._send_state())

    async def _open(self, clip: str, robot: str | None, performers: Sequence[str] | None) -> None:
        async with self._opening:
            collection = self._collection
            work = collection.opening if performers is None else collection.comparing
            await self._send({"type": "busy", "text": work})
            opened = await asyncio.to_thread(collection.open, clip, robot, performers)
            again = self._opened == (clip, robot)
            message = await asyncio.to_thread(payload_of, opened.show, opened.choices)
            await asyncio.to_thread(self.stage.load, opened.show)
            before, self.player = self.player, Player(len(opened.show), opened.show.fps)
            self.player.loop, self.player.speed = before.loop, before.speed
            if again:
                self.player.seek(before.frame)
            if not again or before.playing:
                self.player.play()
            self._opened = (clip, robot)
            controls = self._live.take(opened.live, again)
            await self._send({"type": "clip", "clip": clip, "robot": robot, "controls": controls, **message})
            await self._live.switch(self._live.on, self.player)

    async def _review(self, clip: str, verdict: str, label: str) -> None:
        write = getattr(self._collection, "review", None)
        if write is None:
            raise ConfigError("clips of a dataset can be judged by hand; these are none")
        judged = await asyncio.to_thread(write, clip, verdict, label)
        await self._send({"type": "reviewed", "clip": clip, "review": judged})

    async def _send_state(self) -> None:
        player, stage = self.player, self.stage
        await self._send({
            "type": "state", "playing": player.playing, "frame": player.frame, "speed": player.speed,
            "loop": player.loop, "layout": stage.layout, "follow": stage.follow, "shown": vars(stage.shown),
            "live": self._live.on,
        })  # fmt: skip

    async def _show_frame(self) -> None:
        frame = self.player.frame
        if frame != self.stage.frame:
            self.stage.pose(frame)
        await self._send({"type": "frame", "frame": frame})

    async def run(self) -> None:
        """Show frames as they fall due, with one batch of messages for each; a slow page gets fewer frames."""
        while True:
            player = self.player
            if self._live.on and player.playing and not self._opening.locked():
                await self._run_live()
                continue
            plays, frame = player.playing, player.frame
            if frame != self.stage.frame and not self._opening.locked():
                await self._show_frame()
            if plays and not player.playing:  # it came to its end
                await self._send_state()
            self._wake.clear()
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._wake.wait(), player.pause_to_next if plays else None)

    async def _run_live(self) -> None:
        """Simulate for as long as a picture is shown; what goes wrong is sent to the page, and the simulation rests."""
        loop, player = asyncio.get_running_loop(), self.player
        due = loop.time() + SHOWN_EVERY
        try:
            await self._live.advance(player)
        except PhumaError as e:
            player.pause()
            await self._send({"type": "error", "text": str(e)})
        if not player.playing:
            await self._send_state()
        await asyncio.sleep(max(due - loop.time(), 0.002))


def newest(messages: Sequence[Any]) -> list[Any]:
    """Return the messages without requests for clips and frames that a later message replaces."""
    out, later = [], set()
    for message in reversed(messages):
        kind = message.get("type") if isinstance(message, dict) else None
        if kind not in later:
            out.append(message)
        if kind in ("open", "seek"):
            later.add(kind)
    return out[::-1]


def start_viser() -> Any:
    """Start a viser server that only this machine can reach, where no foreign page finds it.

    It has no check of its own: it is reached by whoever knows its address, so it is at one that is not guessed.
    """
    try:
        import rich
        import viser
    except ModuleNotFoundError as e:
        raise missing_extra(e, "the viewer") from None
    rich.get_console().quiet = True  # viser prints when it starts and stops
    quiet_logger("websockets.server")  # what a page sent and viser cannot read ends the connection, no more
    server = viser.ViserServer(host=loopback_address(), port=0, verbose=False)
    loop = server.get_event_loop()
    loop.call_soon_threadsafe(loop.set_exception_handler, lambda *_: None)
    server.gui.configure_theme(show_logo=False, show_share_button=False)
    return server


def loopback_address() -> str:
    """Return one of the 16 million addresses of this machine, drawn at random where the system has them all."""
    if sys.platform == "darwin":
        return "127.0.0.1"
    return f"127.{secrets.randbelow(256)}.{secrets.randbelow(256)}.{1 + secrets.randbelow(254)}"


def quiet_logger(name: str) -> logging.Logger:
    """Return a logger that prints nothing, whatever is logged."""
    logger = logging.getLogger(name)
    if not logger.handlers:
        logger.addHandler(logging.NullHandler())
    logger.propagate = False
    return logger

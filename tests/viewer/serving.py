"""A viewer that really serves, in a thread of the test."""

from __future__ import annotations

import asyncio
import json
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import urlsplit
from urllib.request import urlopen

from phuma.viewer.server import Viewer
from phuma.viewer.session import Collection
from tests.waiting import PATIENCE


@contextmanager
def serving(collection: Collection) -> Iterator[Viewer]:
    viewer = Viewer(collection, port=0)
    ready, loop = threading.Event(), asyncio.new_event_loop()

    def run() -> None:
        asyncio.set_event_loop(loop)
        nonlocal task
        task = loop.create_task(viewer.serve(ready.set))
        try:
            loop.run_until_complete(task)
        except asyncio.CancelledError:
            pass
        finally:
            loop.run_until_complete(loop.shutdown_default_executor())
            loop.close()

    task: asyncio.Task | None = None
    thread = threading.Thread(target=run)
    thread.start()
    try:
        assert ready.wait(PATIENCE)
        yield viewer
    finally:
        loop.call_soon_threadsafe(lambda: task.cancel())
        thread.join(PATIENCE)
        assert not thread.is_alive()


class Page:
    """The page's side of a session."""

    def __init__(self, viewer: Viewer, **headers: str) -> None:
        from websockets.sync.client import connect

        self.viewer = viewer
        url = viewer.url.replace("http", "ws") + "session"
        self.socket = connect(url, max_size=None, open_timeout=PATIENCE, ping_interval=None, additional_headers=headers)
        self.stage = self.until("hello")["stage"]

    def __enter__(self) -> Page:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def say(self, kind: str, /, **more) -> None:
        self.socket.send(json.dumps({"type": kind, **more}))

    def next(self) -> dict:
        """The next message of any type."""
        return json.loads(self.socket.recv(PATIENCE))

    def until(self, kind: str) -> dict:
        """The next message of a type; an error that was not waited for fails the test."""
        while True:
            message = self.next()
            if message["type"] == kind:
                return message
            assert message["type"] != "error", message["text"]

    def seek(self, frame: int, arrives: int | None = None) -> None:
        """Go to a frame; one that was on its way may be told of before."""
        self.say("seek", frame=frame)
        while self.until("frame")["frame"] != (frame if arrives is None else arrives):
            pass

    def open(self, clip: str, robot: str | None) -> dict:
        self.say("open", clip=clip, robot=robot)
        message = self.until("clip")
        self.until("state")
        return message


def get(viewer: Viewer, path: str) -> dict:
    with urlopen(viewer.url + path) as answer:
        return json.load(answer)


@contextmanager
def commanded(root: Path, *options: str, cwd: Path | None = None) -> Iterator[SimpleNamespace]:
    """`phuma view` as a user starts it, with `link`, `url` and `port`; at its end it must not have complained.

    What it writes as a warning on its start is in `warning` afterwards.
    """
    command = [sys.executable, "-m", "phuma", "view", str(root), "--port", "0", "--no-browser", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=cwd) as process:
        try:
            link = process.stdout.readline().split()[0]
            parts = urlsplit(link)
            viewer = SimpleNamespace(link=link, url=f"http://{parts.netloc}/", port=parts.port)
            yield viewer
        finally:
            process.send_signal(signal.SIGTERM)
            out, err = process.communicate(timeout=PATIENCE)
    viewer.warning = err
    assert (process.returncode, out) == (0, "")
    assert re.fullmatch(r"(warning: [^\n]*\n)?", err), err


def exchange(port: int, request: bytes) -> bytes:
    """All that the server answers to these bytes until it ends the connection."""
    with socket.create_connection(("127.0.0.1", port), PATIENCE) as connection:
        connection.sendall(request)
        answer = b""
        while more := connection.recv(65536):
            answer += more
    return answer

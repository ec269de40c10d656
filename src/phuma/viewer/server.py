"""Serve `phuma view`: a page, a search, and a stage for every browser, all on one port.

    GET /, /page.css, /page.js      the page
    GET /api/about, /api/clips      what there is, as JSON
    /session                        WebSocket: requests of the page and the answers
    /stage/TOKEN/                   viser's page and its WebSocket, for the session of that token

Each session has its own viser server on a loopback port that only this server knows; its traffic is forwarded.
"""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import json
from collections.abc import Callable
from functools import lru_cache
from http import HTTPStatus
from importlib import import_module, resources
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from phuma.errors import PhumaError, missing_extra
from phuma.viewer.session import Collection, Message, Session

PORT = 8080
"""The default port; where it is taken, one of the next 19 that is free is used."""
MOST_SESSIONS = 12
FAREWELL = 3.0  # s for sessions to end
PAGES = {"/": "index.html", "/page.css": "page.css", "/page.js": "page.js"}
KINDS = {".html": "text/html", ".css": "text/css", ".js": "text/javascript"}
LOOPBACK = ("127.0.0.1", "localhost", "::1")
POLICY = "default-src 'self'; img-src 'self' data:; connect-src 'self'; frame-ancestors 'self'; base-uri 'none'"
"""The content security policy of our page; viser's own page needs more and has none."""


ONLY_THE_PICTURE = b"<style>body * { visibility: hidden } canvas { visibility: visible }</style>"


class Viewer:
    """Serve a collection until it is stopped."""

    def __init__(self, collection: Collection, host: str = "127.0.0.1", port: int | None = None) -> None:
        self.host, self.port = host, port
        self._collection = collection
        self._sessions: dict[str, Session] = {}

    @property
    def url(self) -> str:
        """Return the address of the page."""
        shown = "localhost" if self.host in (*LOOPBACK, "0.0.0.0", "::") else self.host
        return f"http://{shown}:{self.port}/"

    async def serve(self, ready: Callable[[], None] = lambda: None) -> None:
        """Serve until cancelled; port 0 takes a free one, and `ready` is called when the server listens."""
        try:
            import_module("viser")  # a page needs it: report that it is missing now, not later
            from websockets.asyncio.server import serve
        except ModuleNotFoundError as e:
            raise missing_extra(e, "the viewer") from None
        for port in range(PORT, PORT + 20) if self.port is None else [self.port]:
            try:
                server = await serve(
                    self._talk, self.host, port, process_request=self._answer, compression=None,
                    select_subprotocol=lambda _, offered: offered[0] if offered else None, logger=_quiet(),
                )  # fmt: skip
                break
            except OSError as e:
                fault = e
        else:
            where = f"{self.host}:{port}"
            raise PhumaError(f"cannot listen on {where}: {fault.strerror or fault}; --port 0 finds a free port")
        self.port = next(iter(server.sockets)).getsockname()[1]
        try:
            ready()
            await server.wait_closed()
        finally:
            server.close()
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(server.wait_closed(), FAREWELL)

    # Requests by GET.

    async def _answer(self, connection: Any, request: Any) -> Any:
        """Return a response, or None to let a WebSocket through."""
        headers, url = request.headers, urlsplit(request.path)
        if not self._trusted(headers.get("Host", ""), headers.get("Origin")):
            return _response(HTTPStatus.FORBIDDEN, "text/plain", b"this address is not served here")
        upgrade = headers.get("Upgrade", "").lower() == "websocket"
        if url.path.startswith("/stage/"):
            if url.path.split("/")[2] not in self._sessions:
                return _response(HTTPStatus.NOT_FOUND, "text/plain", b"no such session")
            return None if upgrade else _response(HTTPStatus.OK, KINDS[".html"], *_viser_page())
        if upgrade:
            return None if url.path == "/session" else _response(HTTPStatus.NOT_FOUND, "text/plain", b"nothing here")
        if url.path in PAGES:
            name = PAGES[url.path]
            kind = KINDS[name[name.rindex(".") :]]
            return _response(HTTPStatus.OK, kind, _page(name), headers=(("Content-Security-Policy", POLICY),))
        if url.path == "/api/about":
            return _json(HTTPStatus.OK, await asyncio.to_thread(self._collection.about))
        if url.path == "/api/clips":
            request_of = dict(parse_qsl(url.query))
            try:
                return _json(HTTPStatus.OK, await asyncio.to_thread(self._collection.find, request_of))
            except PhumaError as e:
                return _json(HTTPStatus.BAD_REQUEST, {"error": str(e)})
        return _response(HTTPStatus.NOT_FOUND, "text/plain", b"nothing here")

    def _trusted(self, host: str, origin: str | None) -> bool:
        """Return whether a page of ours asks; a foreign page must not reach a loopback server under another name."""
        name = urlsplit(f"//{host}").hostname
        if self.host in LOOPBACK and name not in LOOPBACK:
            return False
        return origin is None or urlsplit(origin).netloc == host

    # Messages over a WebSocket.

    async def _talk(self, connection: Any) -> None:
        from websockets.exceptions import ConnectionClosed

        path = urlsplit(connection.request.path).path
        with contextlib.suppress(ConnectionClosed):
            if path == "/session":
                await self._hold_session(connection)
            else:
                await self._pass_on(connection, self._sessions[path.split("/")[2]])

    async def _hold_session(self, connection: Any) -> None:
        async def send(message: Message) -> None:
            await connection.send(json.dumps(message))

        if len(self._sessions) >= MOST_SESSIONS:
            await send({"type": "error", "text": f"{MOST_SESSIONS} pages are open already: close one and reload"})
            return
        session = await asyncio.to_thread(Session, self._collection, send)
        self._sessions[session.token] = session
        working = [asyncio.create_task(session.run()), asyncio.create_task(session.handle_messages())]
        try:
            await session.greet()
            async for text in connection:
                session.receive(text)
        finally:
            for task in working:
                task.cancel()
            del self._sessions[session.token]
            await asyncio.to_thread(session.close)

    async def _pass_on(self, outer: Any, session: Session) -> None:
        """Forward messages between a browser and viser, both ways, until either ends."""
        from websockets.asyncio.client import connect

        protocols = [outer.subprotocol] if outer.subprotocol else None
        address = f"ws://127.0.0.1:{session.port}"
        async with connect(address, subprotocols=protocols, compression=None, max_size=None) as inner:
            ways = [asyncio.create_task(_pump(a, b)) for a, b in ((outer, inner), (inner, outer))]
            try:
                await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for way in ways:
                    way.cancel()


async def _pump(source: Any, sink: Any) -> None:
    async for message in source:
        await sink.send(message)


def _json(status: HTTPStatus, value: Any) -> Any:
    return _response(status, "application/json", json.dumps(value).encode())


def _response(
    status: HTTPStatus, kind: str, body: bytes, encoding: str | None = None, headers: tuple[tuple[str, str], ...] = ()
) -> Any:
    from websockets.datastructures import Headers
    from websockets.http11 import Response

    given = [
        ("Content-Type", f"{kind}; charset=utf-8"), ("Content-Length", str(len(body))), ("Connection", "close"),
        ("Cache-Control", "no-store"), ("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "no-referrer"),
        *headers, *([("Content-Encoding", encoding)] if encoding else []),
    ]  # fmt: skip
    return Response(status.value, status.phrase, Headers(given), body)


@lru_cache(maxsize=8)
def _page(name: str) -> bytes:
    return (resources.files("phuma.viewer") / "page" / name).read_bytes()


@lru_cache(maxsize=1)
def _viser_page() -> tuple[bytes, str]:
    """Return viser's client, compressed, with everything but the picture hidden, since our page has the controls."""
    client = (resources.files("viser") / "client" / "build" / "index.html").read_bytes()
    head, end, rest = client.partition(b"</head>")
    return gzip.compress(head + ONLY_THE_PICTURE + end + rest), "gzip"


def _quiet() -> Any:
    """Return a logger without output, since websockets reports every answered GET as a failed handshake."""
    import logging

    logger = logging.getLogger("phuma.viewer.server")
    logger.addHandler(logging.NullHandler())
    logger.propagate = False
    return logger

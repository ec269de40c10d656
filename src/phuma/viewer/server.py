"""Serve `phuma view`: a page, a search, and a stage for every browser, all on one port.

    GET /, /page.css, /*.js         the page
    GET /?token=TOKEN               where other machines may ask: leaves the token in a cookie, then the page
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
from importlib import resources
from importlib.util import find_spec
from typing import Any
from urllib.parse import parse_qsl

from phuma.errors import PhumaError, missing_extra
from phuma.viewer.access import LOOPBACK, Access, Refusal, single
from phuma.viewer.session import Collection, Message, Session, quiet_logger

PORT = 8080
"""The default port; where it is taken, one of the next 19 that is free is used."""
MOST_SESSIONS = 12
FAREWELL = 3.0  # s for sessions to end
PAGES = {"/": "index.html", "/page.css": "page.css", "/page.js": "page.js", "/live.js": "live.js"}
KINDS = {".html": "text/html", ".css": "text/css", ".js": "text/javascript"}
EVERY_ADDRESS = ("", "0.0.0.0", "::")
POLICY = "default-src 'self'; img-src 'self' data:; connect-src 'self'; frame-ancestors 'self'; base-uri 'none'"
"""The content security policy of our page; viser's own page needs more and has none."""


ONLY_THE_PICTURE = (
    b"<style>html, body { background: #eef0f3 } body * { visibility: hidden } canvas { visibility: visible }</style>"
)
TO_THE_PAGE = (
    b'<!doctype html><link rel="icon" href="data:,"><meta http-equiv="refresh" content="0;url=/">'
    b'<a href="/">to the page</a>'
)
"""Leads on from the link with the token, so that the next request comes from our own page and has the cookie."""
NOT_HTTP = b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


class Viewer:
    """Serve a collection until it is stopped."""

    def __init__(self, collection: Collection, host: str = "127.0.0.1", port: int | None = None) -> None:
        self.host, self.port = host, port
        self._collection = collection
        self._access = Access(host)
        self._sessions: dict[str, Session] = {}
        self._places = MOST_SESSIONS
        """Number of sessions that may still be opened"""

    @property
    def url(self) -> str:
        """Return the address of the page."""
        name = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{'localhost' if self.host in (*LOOPBACK, *EVERY_ADDRESS) else name}:{self.port}/"

    @property
    def link(self) -> str:
        """Return the address to open first: with the token, where other machines may ask."""
        return self.url if self._access.token is None else f"{self.url}?token={self._access.token}"

    async def serve(self, ready: Callable[[], None] = lambda: None) -> None:
        """Serve until cancelled; port 0 takes a free one, and `ready` is called when the server listens."""
        try:
            if find_spec("viser") is None:  # a page needs it: report that it is missing now, not later
                raise ModuleNotFoundError(name="viser")
            from websockets.asyncio.server import serve
        except ModuleNotFoundError as e:
            raise missing_extra(e, "the viewer") from None
        logger = quiet_logger("phuma.viewer.server")  # websockets reports every answered GET as a failed handshake
        for port in range(PORT, PORT + 20) if self.port is None else [self.port]:
            try:
                server = await serve(
                    self._talk, self.host, port, process_request=self._answer, compression=None,
                    create_connection=_connection_class(), close_timeout=FAREWELL,
                    select_subprotocol=lambda _, offered: offered[0] if offered else None, logger=logger,
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
        path, _, query = request.path.partition("?")
        try:
            upgrade = (single(request.headers, "Upgrade") or "").lower() == "websocket"
            self._access.check_site(request.headers)
            if path == "/" and not upgrade and self._access.is_token(dict(parse_qsl(query)).get("token", "")):
                cookie = ("Set-Cookie", self._access.cookie(self.port))
                return _response(HTTPStatus.OK, KINDS[".html"], TO_THE_PAGE, headers=(cookie,))
            self._access.check_token(request.headers, self.port)
        except Refusal as e:
            return _response(e.status, "text/plain", str(e).encode())
        if upgrade:
            known = path == "/session" or self._session_at(path) is not None
            return None if known else _response(HTTPStatus.NOT_FOUND, "text/plain", b"nothing here")
        return await self._content(path, query)

    async def _content(self, path: str, query: str) -> Any:
        """Return the response to a GET of somebody who may ask."""
        if path in PAGES:
            name = PAGES[path]
            kind = KINDS[name[name.rindex(".") :]]
            return _response(HTTPStatus.OK, kind, _page(name), headers=(("Content-Security-Policy", POLICY),))
        if self._session_at(path) is not None:
            return _response(HTTPStatus.OK, KINDS[".html"], *_viser_page())
        if path == "/api/about":
            return _json(HTTPStatus.OK, await asyncio.to_thread(self._collection.about))
        if path == "/api/clips":
            try:
                return _json(HTTPStatus.OK, await asyncio.to_thread(self._collection.find, dict(parse_qsl(query))))
            except PhumaError as e:
                return _json(HTTPStatus.BAD_REQUEST, {"error": str(e)})
        return _response(HTTPStatus.NOT_FOUND, "text/plain", b"nothing here")

    def _session_at(self, path: str) -> Session | None:
        """Return the session whose stage has this address."""
        return self._sessions.get(path.split("/")[2]) if path.startswith("/stage/") else None

    # Messages over a WebSocket.

    async def _talk(self, connection: Any) -> None:
        from websockets.exceptions import ConnectionClosed

        path = connection.request.path.partition("?")[0]
        with contextlib.suppress(ConnectionClosed):
            if path == "/session":
                await self._hold_session(connection)
            elif (session := self._session_at(path)) is not None:
                await self._pass_on(connection, session)

    async def _hold_session(self, connection: Any) -> None:
        if not self._places:
            text = f"{MOST_SESSIONS} pages are open already: close one and reload"
            await connection.send(json.dumps({"type": "error", "text": text}))
            return
        self._places -= 1  # before anything is waited for, so that no other takes the same place
        try:
            await self._run_session(connection)
        finally:
            self._places += 1

    async def _run_session(self, connection: Any) -> None:
        async def send(message: Message) -> None:
            await connection.send(json.dumps(message))

        session = await asyncio.to_thread(Session, self._collection, send)
        self._sessions[session.token] = session
        working = [asyncio.create_task(session.run()), asyncio.create_task(session.handle_messages())]
        try:
            await session.greet()
            async for text in connection:
                session.receive(text)
        except RecursionError:
            await connection.close(1008, "nested too deeply")
        finally:
            for task in working:
                task.cancel()
            del self._sessions[session.token]
            await asyncio.to_thread(session.close)

    async def _pass_on(self, outer: Any, session: Session) -> None:
        """Forward messages between a browser and viser, both ways, until either ends."""
        from websockets.asyncio.client import connect

        protocols = [outer.subprotocol] if outer.subprotocol else None
        address = f"ws://{session.address}"
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


def _connection_class() -> Any:
    """Return websockets' connection, which also answers what cannot be read as a request, instead of only ending."""
    from websockets.asyncio.server import ServerConnection

    class Connection(ServerConnection):
        answered = False

        def send_data(self) -> None:
            if self.request is None and self.protocol.handshake_exc is not None and not self.answered:
                self.answered = True
                self.transport.write(NOT_HTTP)
            super().send_data()

    return Connection

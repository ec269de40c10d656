"""Decide who may ask the viewer: on this machine by the name it is asked under, elsewhere by a token.

A page on a foreign site reaches a server by the user's own browser: by a name that its owner lets point to the server's
address. A server on loopback therefore answers to the names of loopback alone. Under which names other machines know
this one is not known, so a server that they can reach asks for a token instead. The token is drawn when the server
starts and is valid until it ends, for as many browsers as are given the link; the link leaves it in a cookie, which no
script reads and which the browser sends only from pages of this server.
"""

from __future__ import annotations

import re
import secrets
from http import HTTPStatus
from typing import Any

LOOPBACK = ("127.0.0.1", "localhost", "::1")
ASK_FOR_TOKEN = "This server asks for a token: open the link that it printed when it was started."
_HOST = re.compile(r"(?:\[([0-9a-f:.]+)\]|([0-9a-z._-]+))(?::[0-9]{1,5})?", re.ASCII | re.IGNORECASE)
_LONGEST_HOST = 300  # characters; a name has at most 253


class Refusal(Exception):
    """A request that is not answered: the status, and why."""

    def __init__(self, status: HTTPStatus, why: str) -> None:
        super().__init__(why)
        self.status = status


class Access:
    """Check the headers of every request to a server that listens on `host`."""

    def __init__(self, host: str) -> None:
        self.token = None if host in LOOPBACK else secrets.token_urlsafe(32)
        """The secret that other machines have to know; None on loopback"""

    def check_site(self, headers: Any) -> None:
        """Raise a Refusal unless the request comes from a page of this server, or from no page at all."""
        host, origin = single(headers, "Host"), single(headers, "Origin")
        name = host_name(host or "")
        if self.token is None and name not in LOOPBACK:
            raise Refusal(HTTPStatus.FORBIDDEN, "this address is not served here")
        if origin is not None and origin.partition("://")[2] != host:
            raise Refusal(HTTPStatus.FORBIDDEN, "other sites are not answered")

    def check_token(self, headers: Any, port: int | None) -> None:
        """Raise a Refusal unless a token is not needed, or one of the cookies holds it."""
        pairs = (pair.strip().partition("=") for line in headers.get_all("Cookie") for pair in line.split(";"))
        given = [value for name, _, value in pairs if name == _cookie_name(port)]
        if self.token is not None and not any(map(self.is_token, given)):
            raise Refusal(HTTPStatus.FORBIDDEN, ASK_FOR_TOKEN)

    def is_token(self, given: str) -> bool:
        """Return whether a text is the token, in a time that does not depend on where they differ."""
        wanted = (self.token or "").encode()
        return bool(wanted) and secrets.compare_digest(given.encode("utf-8", "surrogatepass"), wanted)

    def cookie(self, port: int | None) -> str:
        """Return the header that leaves the token with the browser, until that or the server ends."""
        return f"{_cookie_name(port)}={self.token}; Path=/; HttpOnly; SameSite=Strict"


def _cookie_name(port: int | None) -> str:
    """Return a name of this server alone: a browser sends all cookies of a machine to each of its ports."""
    return f"phuma_{port}"


def single(headers: Any, name: str) -> str | None:
    """Return the value of a header that is given once, or None; raise a Refusal where it is given more often."""
    values = headers.get_all(name)
    if len(values) > 1:
        raise Refusal(HTTPStatus.BAD_REQUEST, f"{len(values)} headers {name}; expected one")
    return str(values[0]) if values else None


def host_name(host: str) -> str:
    """Return the name in a Host header, without the port; raise a Refusal for what is none."""
    found = _HOST.fullmatch(host) if len(host) <= _LONGEST_HOST else None
    if found is None:
        raise Refusal(HTTPStatus.BAD_REQUEST, "the header Host is not the name of a machine")
    return (found[1] or found[2]).lower()

"""Who may ask the viewer, and what it does with what nobody should send: a real server, asked over the network."""

import asyncio
import http.client
import json
import socket
from concurrent.futures import ThreadPoolExecutor

import pytest

from phuma.viewer.access import Access
from phuma.viewer.server import MOST_SESSIONS
from tests.viewer.serving import Page, commanded, exchange
from tests.waiting import PATIENCE, wait_for

connect = pytest.importorskip("websockets.sync.client").connect
exceptions = pytest.importorskip("websockets.exceptions")
pytest.importorskip("viser")

pytestmark = pytest.mark.slow

DEEP = 100_000
WRONG_HOSTS = {
    "empty": b"Host: \r\n",
    "missing": b"",
    "half an address": b"Host: [::1\r\n",
    "no address": b"Host: [zz]\r\n",
    "no port": b"Host: localhost:http\r\n",
    "a port without end": b"Host: localhost:" + b"9" * 100 + b"\r\n",
    "two colons": b"Host: localhost:80:80\r\n",
    "without end": b"Host: " + b"a" * 10_000 + b"\r\n",
    "long": b"Host: " + b"a" * 5_000 + b"\r\n",
    "not ASCII": b"Host: caf\xc3\xa9\r\n",
    "no text": b"Host: \xff\xfe\r\n",
    "an account": b"Host: me@localhost\r\n",
    "two": b"Host: localhost\r\nHost: evil.example\r\n",
    "the same twice": b"Host: localhost\r\nHost: localhost\r\n",
}
WRONG_ORIGINS = {
    "half an address": b"Origin: http://[::1\r\n",
    "no port": b"Origin: http://localhost:http\r\n",
    "no text": b"Origin: \xff\xfe\r\n",
    "null": b"Origin: null\r\n",
    "empty": b"Origin: \r\n",
    "without end": b"Origin: http://" + b"a" * 10_000 + b"\r\n",
    "two": b"Origin: http://localhost\r\nOrigin: http://localhost\r\n",
}
UPGRADE = (
    b"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
    b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
)


@pytest.fixture(scope="module")
def local(root):
    """A server on loopback, as a process of its own: its end tells whether it ever complained."""
    with commanded(root) as viewer:
        yield viewer


@pytest.fixture(scope="module")
def exposed(root):
    """A server that other machines can ask."""
    with commanded(root, "--host", "0.0.0.0") as viewer:
        yield viewer


def get(viewer, path, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", viewer.port, timeout=PATIENCE)
    connection.request("GET", path, headers=headers)
    answer = connection.getresponse()
    return answer.status, answer.read(), answer.headers


def cookie_of(viewer):
    """What a browser sends once the link was opened."""
    path = viewer.link.removeprefix(viewer.url.rstrip("/"))
    return get(viewer, path)[2]["Set-Cookie"].partition(";")[0]


def status_of(viewer, headers, path=b"/api/about"):
    answer = exchange(viewer.port, b"GET " + path + b" HTTP/1.1\r\n" + headers + b"\r\n")
    return int(answer.split(b" ", 2)[1]) if answer else None


# The token of a server that other machines can ask.


def test_nothing_is_answered_without_the_token(exposed):
    with Page(exposed, Cookie=cookie_of(exposed)) as page:
        for path in ("/", "/page.js", "/page.css", "/api/about", "/api/clips", page.stage, "/nowhere", "/?token=guess",
                     "/?token=", "/?token=%ff", "/api/about?token=" + exposed.link.partition("=")[2]):  # fmt: skip
            status, body, headers = get(exposed, path)
            assert (status, headers["Set-Cookie"]) == (403, None), path
            assert b"link" in body
        for path in ("/session", page.stage):
            with pytest.raises(exceptions.InvalidStatus) as e:
                connect(f"ws://127.0.0.1:{exposed.port}{path}")
            assert e.value.response.status_code == 403


def test_a_name_that_was_made_to_point_here_reads_nothing(exposed):
    """DNS rebinding: the browser has no cookie for the name of the attacker, whose page is of the same origin."""
    name = f"evil.example:{exposed.port}"
    assert get(exposed, "/api/clips", Host=name)[0] == 403
    assert get(exposed, "/api/clips", Host=name, Origin=f"http://{name}")[0] == 403


def test_the_link_becomes_a_cookie_that_opens_everything(exposed):
    cookie = cookie_of(exposed)
    status, _, headers = get(exposed, "/?" + exposed.link.partition("?")[2])
    assert status == 200
    assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= set(headers["Set-Cookie"].split("; "))
    for path in ("/", "/page.js", "/api/about", "/api/clips"):
        assert get(exposed, path, Cookie=cookie)[0] == 200
        assert get(exposed, path, Cookie=f"other=1; {cookie}; more=2")[0] == 200
    with Page(exposed, Cookie=cookie) as page:
        assert get(exposed, page.stage, Cookie=cookie)[0] == 200


def test_a_wrong_cookie_opens_nothing(exposed):
    name, _, token = cookie_of(exposed).partition("=")
    for wrong in ("", token[:-1], token + "x", token[::-1], "\xff" + token[1:], f'"{token}"'):
        assert get(exposed, "/api/about", Cookie=f"{name}={wrong}")[0] == 403, wrong
    assert get(exposed, "/api/about", Cookie=f"phuma={token}")[0] == 403


def test_other_sites_cannot_ask_even_with_the_cookie(exposed):
    cookie = cookie_of(exposed)
    assert get(exposed, "/api/about", Cookie=cookie, Origin="http://evil.example")[0] == 403
    here = f"127.0.0.1:{exposed.port}"
    assert get(exposed, "/api/about", Cookie=cookie, Host=here, Origin=f"http://{here}")[0] == 200


def test_every_start_has_a_token_of_its_own_and_warns(root, exposed):
    with commanded(root, "--host", "0.0.0.0") as other:
        assert other.link.partition("=")[2] != exposed.link.partition("=")[2]
        token = cookie_of(exposed).partition("=")[2]
        assert get(other, "/api/about", Cookie=f"phuma_{other.port}={token}")[0] == 403
    assert other.warning.startswith("warning: --host 0.0.0.0 lets other machines ask")
    with commanded(root) as local:
        assert local.link == local.url
    assert local.warning == ""


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "", "192.168.1.2", "127.0.0.2", "machine.example"])
def test_only_loopback_needs_no_token(host):
    assert len(Access(host).token) >= 32
    assert not Access(host).is_token("")


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1"])
def test_on_loopback_nothing_is_a_token(host):
    assert Access(host).token is None
    assert not Access(host).is_token("")


# Requests that nobody should send.


@pytest.mark.parametrize("which", ["local", "exposed"])
@pytest.mark.parametrize("upgrade", [b"", UPGRADE], ids=["get", "websocket"])
def test_a_malformed_host_or_origin_is_refused(request, which, upgrade):
    viewer = request.getfixturevalue(which)
    host = f"Host: localhost:{viewer.port}\r\n".encode()
    path = b"/session" if upgrade else b"/api/about"
    statuses = {name: status_of(viewer, wrong + upgrade, path) for name, wrong in WRONG_HOSTS.items()}
    statuses |= {f"origin {name}": status_of(viewer, host + w + upgrade, path) for name, w in WRONG_ORIGINS.items()}
    assert {name: status for name, status in statuses.items() if status not in (400, 403)} == {}


def test_a_path_or_a_header_that_makes_no_sense_is_refused(local):
    host = f"Host: localhost:{local.port}\r\n".encode()
    for path in (b"//[", b"//[::1", b"/\xff\xfe", b"/stage/", b"/stage", b"http://[/", b"/?%ff=%00", b"?", b"*"):
        assert status_of(local, host, path) in (200, 404), path
    assert status_of(local, host + b"Upgrade: websocket\r\nUpgrade: h2c\r\n") == 400
    assert status_of(local, host + b"no header at all\r\n") == 400
    assert status_of(local, host + b"X: y\r\n" * 1000) == 400
    assert status_of(local, host, b"/api/clips?page=" + b"9" * 5000) == 400
    assert exchange(local.port, b"POST / HTTP/1.1\r\n" + host + b"\r\n").startswith(b"HTTP/1.1 400 ")


def test_requests_that_never_end_keep_nobody_waiting(local):
    """More of them than there are threads; each is dropped in time."""
    slow = [socket.create_connection(("127.0.0.1", local.port), PATIENCE) for _ in range(100)]
    try:
        for connection in slow:
            connection.sendall(b"GET / HTTP/1.1\r\nHost: loc")
        assert get(local, "/api/about")[0] == 200
        with Page(local) as page:
            page.say("pause")
            page.until("state")
        assert slow[0].recv(1000) == b"", "nothing is answered, and the connection ends"
    finally:
        for connection in slow:
            connection.close()


# Messages that nobody should send.


def closed_by(viewer, path, message, **options):
    """Send a message and return the code with which the connection ends."""
    with connect(f"ws://127.0.0.1:{viewer.port}{path}", max_size=None, open_timeout=PATIENCE, **options) as connection:
        connection.send(message)
        try:
            while True:
                connection.recv(PATIENCE)
        except exceptions.ConnectionClosed as e:
            return e.rcvd.code if e.rcvd else None


@pytest.mark.parametrize("deep", ["[" * DEEP, '{"a":' * DEEP, b"[" * DEEP], ids=["lists", "objects", "bytes"])
def test_a_page_that_nests_without_end_is_ended_and_the_others_go_on(local, deep):
    with Page(local) as other:
        assert closed_by(local, "/session", deep) == 1008
        other.say("pause")
        assert other.until("state")["playing"] is False


def test_a_page_that_sends_too_much_is_ended_and_the_others_go_on(local):
    with Page(local) as other:
        assert closed_by(local, "/session", " " * 2_000_000) == 1009
        other.say("pause")
        assert other.until("state")["playing"] is False


def test_numbers_and_texts_without_end_are_told_and_the_session_goes_on(local):
    wrong = [
        '{"type": "speed", "value": 1' + 400 * "0" + "}", '{"type": "speed", "value": NaN}',
        '{"type": "open", "clip": "\\ud800", "robot": null}', '{"type": "open", "clip": "\\u0000", "robot": null}',
        '{"type": "compare", "performers": ["\\ud800"]}', "[" * 900 + "]" * 900, "[" * 500 + "]" * 500,
    ]  # fmt: skip
    with Page(local) as page:
        for text in wrong:
            page.socket.send(text)
            while (told := page.next())["type"] == "busy":
                pass
            assert told["type"] == "error", text[:80]
        page.say("pause")
        assert page.until("state")["playing"] is False


@pytest.mark.parametrize(
    "message",
    [b"\x91" * DEEP, b"\x81\xa4type" * DEEP, b"\xc1", b"", "text", b"\x81\xa4type\xa7Nothing", b"\x00" * 2_000_000],
    ids=["lists", "maps", "no msgpack", "nothing", "text", "unknown", "too much"],
)
def test_a_stage_that_is_sent_nonsense_is_ended_and_the_others_go_on(local, message):
    import viser

    with Page(local) as one, Page(local) as two:
        closed_by(local, one.stage, message, subprotocols=[f"viser-v{viser.__version__}"])
        for page in (one, two):
            page.say("pause")
            assert page.until("state")["playing"] is False


# The number of sessions.


def test_of_many_pages_at_once_as_many_as_there_are_places_are_let_in(root):
    from websockets.asyncio.client import connect

    async def first_word(url, over):
        async with connect(url, open_timeout=PATIENCE, ping_interval=None) as connection:
            message = json.loads(await asyncio.wait_for(connection.recv(), PATIENCE))
            heard.append(message["type"])
            if len(heard) == MANY:
                over.set()
            await over.wait()  # all of them stay until the last was answered
            return message["type"]

    async def all_at_once(url):
        over = asyncio.Event()
        return await asyncio.gather(*(first_word(url, over) for _ in range(MANY)))

    MANY, heard = 200, []
    with commanded(root) as viewer:
        told = asyncio.run(all_at_once(viewer.url.replace("http", "ws") + "session"))
        assert (told.count("hello"), told.count("error")) == (MOST_SESSIONS, MANY - MOST_SESSIONS)

        def let_in(_):
            try:
                with Page(viewer):
                    return True
            except AssertionError:  # a place may not be free again yet
                return False

        wait_for(lambda: let_in(0))
        with ThreadPoolExecutor(MOST_SESSIONS) as pool:  # places are given back, one for each
            wait_for(lambda: all(pool.map(let_in, range(MOST_SESSIONS))))

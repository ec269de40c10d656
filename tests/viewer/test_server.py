"""The viewer's server, asked over the network as pages ask it."""

import asyncio
import contextlib
import http.client
import json
import signal
import subprocess
import sys
from types import SimpleNamespace
from urllib.error import HTTPError
from urllib.parse import urlencode

import pytest

from phuma.dataset.dataset import Dataset
from phuma.viewer import server
from tests.viewer.serving import Page, get
from tests.waiting import PATIENCE, wait_for

connect = pytest.importorskip("websockets.sync.client").connect
InvalidStatus = pytest.importorskip("websockets.exceptions").InvalidStatus

pytestmark = pytest.mark.slow


@pytest.fixture
def page(viewer):
    with Page(viewer) as page:
        yield page


def kept_clip(root, robot="g1"):
    return next(iter(Dataset(root).entries(f"robot = '{robot}' AND NOT mirrored"))).id


def plain_get(viewer, path, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", viewer.port)
    connection.request("GET", path, headers=headers)
    answer = connection.getresponse()
    return answer.status, answer.read(), answer.headers


def test_pages_of_the_search_hold_every_row_that_sql_finds(viewer, root):
    request = {"verdict": "kept", "robot": "h1_2", "sort": "fidelity", "descending": 1}
    answer = get(viewer, f"api/clips?{urlencode(request)}")
    sql = "SELECT clip FROM manifest WHERE kept AND robot = 'h1_2' ORDER BY fidelity DESC, clip"
    assert [row["clip"] for row in answer["rows"]] == [clip for (clip,) in Dataset(root).query(sql)[1]]
    assert answer["total"] == len(answer["rows"]) > 2


def test_a_question_that_makes_no_sense_is_answered_with_what_is_valid(viewer):
    for request, says in (({"verdict": "good"}, "kept, rejected"), ({"metric": "x; DROP", "min": 1}, "fidelity"),
                          ({"page": "one"}, "number")):  # fmt: skip
        with pytest.raises(HTTPError) as e:
            get(viewer, f"api/clips?{urlencode(request)}")
        assert e.value.code == 400
        assert says in json.load(e.value)["error"]
        e.value.close()


def test_nothing_else_is_served(viewer, root):
    for path in ("/dataset.json", "/../dataset.json", "/stage/../../dataset.json", "/manifest.parquet", "//etc/passwd",
                 "/page/index.html", "/page.js/..", "/api", "/stage/guessed/", "/%2e%2e/page.py"):  # fmt: skip
        status, body, _ = plain_get(viewer, path)
        assert status == 404, path
        assert len(body) < 100


def test_other_sites_cannot_ask(viewer):
    here = f"127.0.0.1:{viewer.port}"
    assert plain_get(viewer, "/api/about", Host=here)[0] == 200
    assert plain_get(viewer, "/api/about", Host=f"localhost:{viewer.port}")[0] == 200
    # A name that its owner lets point to this machine.
    assert plain_get(viewer, "/api/about", Host=f"evil.example:{viewer.port}")[0] == 403
    assert plain_get(viewer, "/api/about", Host=here, Origin="http://evil.example")[0] == 403
    connect(f"ws://{here}/session", origin=f"http://{here}").close()
    with pytest.raises(InvalidStatus) as e:
        connect(f"ws://{here}/session", origin="http://evil.example")
    assert e.value.response.status_code == 403


def test_the_page_may_load_nothing_from_elsewhere(viewer):
    status, body, headers = plain_get(viewer, "/")
    assert status == 200
    assert b"page.js" in body
    assert headers["Content-Security-Policy"].startswith("default-src 'self'")
    assert headers["X-Content-Type-Options"] == "nosniff"


def test_it_listens_on_loopback_only(viewer):
    with open("/proc/net/tcp") as f:
        listening = [line.split()[1] for line in f if line.split()[3] == "0A"]
    ours = [address for address in listening if int(address.split(":")[1], 16) == viewer.port]
    assert ours == [f"0100007F:{viewer.port:04X}"]


def test_a_clip_plays_by_itself_and_begins_again(page, root):
    """At which rate, and that late frames are left out, is a law of the player, whose clock is the test's."""
    shown = page.open(kept_clip(root), "g1")
    assert shown["fps"] == 30.0
    frame, gone = page.until("frame")["frame"], 0
    while gone < 2 * shown["frames"]:
        before, frame = frame, page.until("frame")["frame"]
        assert frame != before
        gone += (frame - before) % shown["frames"]


def test_pause_seek_and_speed_are_obeyed(page, root):
    shown = page.open(kept_clip(root), "g1")
    page.say("pause")
    assert page.until("state")["playing"] is False
    page.seek(17)
    page.seek(10**6, arrives=shown["frames"] - 1)
    page.say("speed", value=0.5)
    assert page.until("state")["speed"] == 0.5


def test_a_clip_that_does_not_loop_says_when_it_is_over(page, root):
    shown = page.open(kept_clip(root), "g1")
    last = shown["frames"] - 1
    for word in ({"type": "pause"}, {"type": "loop", "value": False}):
        page.socket.send(json.dumps(word))
        assert page.until("state")["playing"] is False
    page.seek(last - 4)
    page.say("play")
    while (state := page.until("state"))["playing"]:
        pass
    assert state["frame"] == last
    page.say("play")
    state = page.until("state")
    assert state["playing"]
    assert state["frame"] < last, "it begins again"


def test_two_browsers_do_not_disturb_each_other(viewer, root):
    with Page(viewer) as one, Page(viewer) as two:
        assert one.stage != two.stage
        first = one.open(kept_clip(root), "g1")
        second = two.open(kept_clip(root, "h1_2"), "h1_2")
        one.say("pause")
        one.until("state")
        one.seek(3)
        two.say("layout", value="side")
        state = two.until("state")
        assert (state["playing"], state["layout"]) == (True, "side")
        one.say("follow", value=False)
        state = one.until("state")
        assert (state["playing"], state["frame"], state["layout"]) == (False, 3, "overlay")
        assert [shown["performers"][0]["id"] for shown in (first, second)] == ["g1:stored", "h1_2:stored"]


def test_a_session_that_ends_takes_its_stage_along(viewer):
    with Page(viewer) as page:
        stage = page.stage
        assert plain_get(viewer, stage)[0] == 200
    wait_for(lambda: plain_get(viewer, stage)[0] == 404)


def test_a_rejected_clip_comes_with_its_reason_and_can_be_put_on_a_robot(page, root):
    row = Dataset(root).rows("NOT kept AND robot = 'g1' AND root_jerk > root_jerk_limit")[0]
    shown = page.open(row["clip"], "g1")
    assert (shown["kept"], shown["reasons"], shown["performers"]) == (False, row["reasons"], [])
    (lane,) = [lane for lane in shown["lanes"] if lane["label"] == "root jerk"]
    assert lane["kind"] == "reason"
    assert lane["spans"]
    page.say("compare", performers=["g1:physink", "h1_2:physink"])
    both = page.until("clip")
    assert [p["title"] for p in both["performers"]] == ["g1 by physink", "h1_2 by physink"]
    assert {c["id"] for c in both["choices"] if c["chosen"]} == {"g1:physink", "h1_2:physink"}


def test_faults_are_told_and_the_session_goes_on(page, root):
    wrong = [
        {"type": "open", "clip": "../../etc/passwd", "robot": "g1"}, {"type": "fly"}, ["play"], "play",
        {"type": "seek", "frame": "last"}, {"type": "speed", "value": 1e9}, {"type": "layout", "value": "up"},
        {"type": "show", "human": "yes"}, {"type": "compare", "performers": ["g1:magic"]},
    ]  # fmt: skip
    for message in wrong:
        page.socket.send(json.dumps(message))
        while (told := page.next())["type"] == "busy":
            pass
        assert told["type"] == "error", message
    page.socket.send("not JSON at all {")
    assert page.next()["type"] == "error"
    assert page.open(kept_clip(root), "g1")["frames"] > 10


def test_only_the_last_of_many_hasty_choices_is_opened(page, root):
    clips = 20 * [row["clip"] for row in Dataset(root).rows("kept AND robot = 'g1'")]
    for clip in clips:
        page.say("open", clip=clip, robot="g1")
    page.say("reset")  # done after them
    opened, states = [], 0
    while not opened or opened[-1] != clips[-1] or not states:
        message = page.next()
        opened += [message["clip"]] if message["type"] == "clip" else []
        states += message["type"] == "state"
    assert len(opened) < len(clips) / 2


def test_looking_writes_nothing(viewer, root):
    def tree():
        return {p: (p.stat().st_size, p.stat().st_mtime_ns) for p in root.rglob("*")}

    before = tree()
    with Page(viewer) as page:
        page.open(kept_clip(root), "g1")
        page.say("compare", performers=["g1:ik"])
        page.until("clip")
    assert tree() == before


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_command_ends_cleanly_with_a_page_open(root, number):
    command = [sys.executable, "-m", "phuma", "view", str(root), "--port", "0", "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        url = process.stdout.readline().split()[0]
        with Page(SimpleNamespace(url=url)) as page:
            page.open(kept_clip(root), "g1")
            process.send_signal(number)
            out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0
    assert (out, err) == ("", "")


async def silent_page(port, path="/session", *more):
    """A page that greets, and then neither reads nor answers: the writer of its connection, and the greeting."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    asked = [
        f"GET {path} HTTP/1.1", f"Host: 127.0.0.1:{port}", "Upgrade: websocket", "Connection: Upgrade",
        "Sec-WebSocket-Key: c2lsZW50IHNpbGVudCBzaQ==", "Sec-WebSocket-Version: 13", *more,
    ]  # fmt: skip
    writer.write("\r\n".join([*asked, "", ""]).encode())
    assert b" 101 " in await reader.readuntil(b"\r\n\r\n")
    if path != "/session":
        return writer, None
    await reader.readuntil(b"{")
    return writer, json.loads(b"{" + await reader.readuntil(b"}"))


def test_the_end_waits_for_a_page_that_does_not_answer_no_longer_than_its_farewell(monkeypatch):
    """Its session and its stage are silent. Judged is how long a wait that ran out was to be, not how long it was."""
    viser = pytest.importorskip("viser")
    monkeypatch.setattr(server, "FAREWELL", 0.5)
    ran_out = []

    def noting(loop, call_at):
        def noted(when, callback, *args, **more):
            seconds = when - loop.time()
            return call_at(when, lambda: (ran_out.append(seconds), callback(*args)), **more)

        return noted

    async def end():
        loop, ready = asyncio.get_running_loop(), asyncio.Event()
        viewer = server.Viewer(SimpleNamespace(), port=0)  # no clip is asked for
        serving = asyncio.create_task(viewer.serve(ready.set))
        await ready.wait()
        page, told = await silent_page(viewer.port)
        stage, _ = await silent_page(viewer.port, told["stage"], f"Sec-WebSocket-Protocol: viser-v{viser.__version__}")
        monkeypatch.setattr(loop, "call_at", noting(loop, loop.call_at))
        serving.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await serving
        left = asyncio.all_tasks() - {asyncio.current_task()}
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)
        for writer in (page, stage):
            writer.close()

    asyncio.run(end())
    assert ran_out, "pages that do not answer were not waited for at all"
    assert max(ran_out) <= 0.5, "seconds"

"""The viewer in a real browser: Chromium without a screen, drawing by software."""

from __future__ import annotations

import io
import os
import re
import shlex
import shutil
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import pytest

from phuma.cli.main import main
from phuma.dataset.dataset import Dataset
from phuma.dataset.review import Reviewed, read_review
from phuma.formats.robot_motion_file import save_robot_motion
from phuma.pipelines.collections import DatasetCollection, FileCollection
from phuma.pipelines.playback import PolicyCollection
from phuma.retargeting import DEFAULT_METHOD
from phuma.robots import load_robot
from phuma.sources import ReadCfg
from phuma.viewer import style
from tests.conftest import ROOT
from tests.learning.sample_motions import dip
from tests.pipelines.test_playback import G1, Lame
from tests.report_dataset import HOSTILE, ROBOTS
from tests.viewer.serving import commanded, serving
from tests.waiting import PATIENCE, wait_for

iio = pytest.importorskip("imageio.v3")
playwright = pytest.importorskip("playwright.sync_api")

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine: `apt install chromium`"),
]
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--use-gl=angle", "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
]  # fmt: skip
SIZE = {"width": 1000, "height": 560}
LONGEST = 1000 * PATIENCE  # ms


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as p:
        browser = p.chromium.launch(executable_path=CHROMIUM, args=FLAGS, timeout=LONGEST)
        yield browser
        browser.close()


@pytest.fixture
def page(browser):
    """A page that must not complain, nor ask anybody else for anything."""
    page = browser.new_page(viewport=SIZE)
    page.set_default_timeout(LONGEST)
    faults, hosts = [], set()
    page.on("console", lambda m: faults.append(m.text) if m.type == "error" else None)
    page.on("pageerror", lambda e: faults.append(str(e)))
    page.on("request", lambda r: hosts.add(urlsplit(r.url).hostname) if r.url.startswith(("http", "ws")) else None)
    page.on("websocket", lambda s: hosts.add(urlsplit(s.url).hostname))
    yield page
    page.close()
    assert faults == []
    assert hosts <= {"localhost", None}


def opened(page, viewer):
    """The page with its first clip on the stage."""
    page.goto(viewer.url)
    page.wait_for_selector("#badge:visible")
    page.frame_locator("#stage").locator("canvas").first.wait_for()
    return page


def picture(page, selector="#stage"):
    return iio.imread(io.BytesIO(page.locator(selector).screenshot())).astype(int)[..., :3]


def drawn(page):
    """Wait until the stage has been drawn some more times, which takes as long as the machine is slow."""
    page.frame_locator("#stage").locator("canvas").first.evaluate(
        "() => new Promise(done => { let n = 4; (function next() { n-- ? requestAnimationFrame(next) : done() })() })"
    )


def changed(a, b):
    """How many pixels differ visibly."""
    return int((np.abs(a - b).max(axis=-1) > 30).sum())


def seen(page, what):
    """The first picture of the stage for which `what` holds: software draws when it can."""
    pictures = []

    def found():
        pictures[:] = [picture(page)]
        return what(pictures[0])

    wait_for(found, pause=0.3)
    return pictures[0]


def settled(page):
    """A picture that has stopped changing."""
    last = []

    def still(now):
        drawn(page)
        last.append(now)
        return len(last) > 3 and all(np.array_equal(now, before) for before in last[-3:])

    return seen(page, still)


def keeps_changing(page, selector="#stage"):
    """Wait until four different pictures have been seen."""
    pictures = set()
    wait_for(lambda: pictures.add(picture(page, selector).tobytes()) or len(pictures) > 3, pause=0.1)


def at(page, share):
    """The stage at a share of the timeline, once two visits look alike and unlike another frame: software may show a
    frame before it has drawn it, so what was seen too early is visited again."""
    visits = []
    for _ in range(20):
        seek(page, 0.75)
        elsewhere = settled(page)
        seek(page, share)
        visits.append(settled(page))
        if len(visits) > 1 and changed(*visits[-2:]) <= 20 and changed(visits[-1], elsewhere) > 150:
            return visits[-1]
    pytest.fail("no two visits of a frame look alike")


def pause(page):
    if page.get_attribute("#play", "aria-label") == "Pause":
        page.click("#play")
    page.wait_for_selector("#play[aria-label=Play]")


def seek(page, share):
    """Click into the timeline, at a share of its length; returns the frame."""
    box = page.locator("#scrubber").bounding_box()
    page.mouse.click(box["x"] + share * box["width"], box["y"] + 6)
    until(page, "share => Math.abs(frame.textContent / document.querySelector('#last-frame').textContent"
                           " - share) < 0.05", arg=share)  # fmt: skip
    return int(page.inner_text("#frame"))


def until(page, expression, arg=None):
    """Wait for something; playwright's own way would need a page that may evaluate strings."""
    wait_for(lambda: page.evaluate(expression, arg), pause=0.1)


def rows(page):
    return page.locator("#rows [data-clip]").evaluate_all("all => all.map(e => e.dataset.clip)")


def lists(page, clips):
    """Wait until the list holds these clips; their number alone may be that of the list before."""
    wait_for(lambda: sorted(rows(page)) == sorted(clips), pause=0.1)


def test_a_clip_plays_scrubs_and_is_compared(page, viewer):
    opened(page, viewer)
    assert page.inner_text("#title") == "dataset"

    # It plays: the frames count, and the stage changes.
    page.wait_for_selector("#play[aria-label=Pause]")
    seen(page, lambda now: len(np.unique(now.reshape(-1, 3), axis=0)) > 200)  # it is not empty
    frames = set()
    wait_for(lambda: frames.add(page.inner_text("#frame")) or len(frames) > 3)
    keeps_changing(page)

    # The timeline scrubs, and a frame looks the same again.
    pause(page)
    at(page, 0.25)
    page.focus("#scrubber")
    frame = int(page.inner_text("#frame"))
    page.keyboard.press("ArrowRight")
    until(page, f"frame.textContent == {frame + 1}")

    # Two robots perform it, in step.
    alone = settled(page)
    page.check("#layout input[value=side]")
    page.check("#choices [data-choice='h1_2:stored']")
    until(page, "document.querySelectorAll('[data-performer]').length == 2")
    seen(page, lambda now: changed(now, alone) > 1000)
    both = settled(page)
    seek(page, 0.25)
    seen(page, lambda now: changed(now, both) > 150)


def test_the_list_filters_sorts_finds_and_says_why_a_clip_was_rejected(page, viewer, root):
    opened(page, viewer)
    pause(page)
    dataset = Dataset(root)
    page.check("#verdict input[value=rejected]")
    wanted = [row["clip"] for row in dataset.rows("NOT kept AND robot = 'g1'")]
    lists(page, wanted)

    row = dataset.rows("NOT kept AND robot = 'g1' AND root_jerk > root_jerk_limit")[0]
    page.click(f"[data-clip='{row['clip']}']")
    until(page, "badge.textContent == 'rejected'")
    wait_for(lambda: row["reasons"][0] in page.inner_text("#reasons"), pause=0.1)
    assert page.locator("#lanes [data-kind=reason] rect").count() > 0

    page.check("#verdict input[value='']")
    page.fill("#search", "reach")
    texts = ("recording", "clip", "label", "category")
    found = [r for r in dataset.rows("robot = 'g1'") if any("reach" in str(r[c]).lower() for c in texts)]
    lists(page, [r["clip"] for r in found])
    page.fill("#search", "nobody ever did this")
    page.wait_for_selector("#empty:visible")
    page.click("#clear")
    lists(page, [r["clip"] for r in dataset.rows("robot = 'g1'")])
    page.select_option("#sort", "root_jerk")
    wanted = [r[0] for r in dataset.query("SELECT clip FROM manifest WHERE robot = 'g1' ORDER BY root_jerk DESC")[1]]
    wait_for(lambda: rows(page) == wanted[:50], pause=0.1)

    # Names from files are text.
    page.fill("#search", HOSTILE.split(">")[0])
    until(page, "document.querySelectorAll('#rows [data-clip]').length > 0 && [...document.querySelectorAll("
                "'#rows [data-clip]')].every(e => e.textContent.includes('<script>'))")  # fmt: skip
    page.locator("#rows [data-clip]").first.click()
    until(page, "document.querySelector('#clip-title').textContent.includes('<script>')")
    assert page.locator("#clips img, #clips script, #details img, #bar img").count() == 0


def test_two_browsers_show_what_each_has_chosen(browser, page, viewer):
    opened(page, viewer)
    pause(page)
    still, frame = at(page, 0.5), page.inner_text("#frame")
    other = browser.new_page(viewport=SIZE)
    other.set_default_timeout(LONGEST)
    try:
        opened(other, viewer)
        other.check("#layout input[value=side]")
        until(other, "frame.textContent > 20")
        pause(other)
        beside = settled(other)
    finally:
        other.close()
    assert page.inner_text("#frame") == frame
    assert page.is_checked("#layout input[value=overlay]")
    # A picture that software drew late may differ a little; one that took the other's choice would be the other's.
    now = at(page, 0.5)
    assert 4 * changed(now, still) < changed(now, beside)


def test_a_policy_falls_beside_its_reference_and_turns_red(page, tmp_path):
    save_robot_motion(tmp_path / "dip.npz", dip(G1, 2.0))
    files = FileCollection([tmp_path / "dip.npz"], [G1], ReadCfg())
    with serving(PolicyCollection(files, Lame(action=1.0), "lame", G1)) as viewer:
        opened(page, viewer)
        pause(page)
        verdict = page.inner_text("#badge")
        assert re.fullmatch(r"terminated at [01]\.\d s", verdict)
        assert page.locator("#lane-labels button").first.inner_text() == verdict
        assert page.locator(".plot .label").first.inner_text() == "body error"
        assert page.locator("#shown [data-show=human]").is_hidden()
        assert page.locator("#sets button").count() == 0, "a policy and its reference are not two robots"

        def red(now):
            return ((now[..., 0] > 150) & (now[..., 1:].max(axis=-1) < 100)).sum()

        seek(page, 0.98)
        seen(page, lambda now: red(now) > 150)
        seek(page, 0.02)
        seen(page, lambda now: red(now) < 30)
        assert page.inner_text("#legend").split("\n")[:2] == ["reference", "policy"]
        page.goto("about:blank")  # before the server goes, or it would call for it


def test_a_student_is_told_less_while_it_is_watched(page, tmp_path):
    pytest.importorskip("torch")
    from tests.learning.students import student

    save_robot_motion(tmp_path / "dip.npz", dip(G1, 2.0))
    files = FileCollection([tmp_path / "dip.npz"], [G1], ReadCfg())
    with serving(PolicyCollection(files, student(G1, "any"), "student", G1)) as viewer:
        opened(page, viewer)
        page.wait_for_selector("#told:visible")
        assert page.locator("#told-bodies input:checked").count() == 12
        assert page.locator("#live-facts").is_hidden()
        page.uncheck("#tell-head-rotation")
        page.wait_for_selector("#live-facts dd:visible")
        until(page, "document.querySelector('#live-mode :checked').value == 'live'")
        until(page, "document.querySelectorAll('#told-bodies input:checked').length == 11")
        frames = set()
        wait_for(lambda: frames.add(page.inner_text("#frame")) or len(frames) > 3)
        page.focus("#gap")
        page.keyboard.press("ArrowRight")
        until(page, "document.querySelector('#gap-value').textContent == '0.02 s'")
        page.check("#live-mode input[value=recorded]", force=True)
        page.wait_for_selector("#live-facts", state="hidden")
        page.goto("about:blank")
    with serving(PolicyCollection(files, student(G1, "pelvis"), "student", G1)) as viewer:
        page.goto(viewer.url)
        page.wait_for_selector("#told:visible")
        assert page.locator("#told input:enabled").count() == 0
        assert page.inner_text("#told-fixed").startswith(
            "Not available: the policy was trained to be told pelvis alone"
        )
        page.goto("about:blank")


def test_a_path_is_drawn_on_the_floor_and_walked(page):
    pytest.importorskip("torch")
    from phuma.pipelines.live_path import PathCollection
    from tests.learning.students import student

    with serving(PathCollection(student(G1, "pelvis"), "student", G1, 0.7)) as viewer:
        page.goto(viewer.url)
        page.frame_locator("#stage").locator("canvas").first.wait_for()
        page.wait_for_selector("#path:visible")
        assert page.locator("#clips").is_hidden()
        box = page.locator("#drawing").bounding_box()

        def at(u, v):
            return box["x"] + u * box["width"], box["y"] + v * box["height"]

        def length():
            return float(page.inner_text("#path-note").split(" m are drawn")[0])

        def clicked():  # until there is a picture, nothing can be drawn in it
            page.mouse.click(*at(0.5, 0.5))
            return page.locator("#walk").is_enabled()

        seen(page, lambda now: len(np.unique(now.reshape(-1, 3), axis=0)) > 200)
        wait_for(clicked, pause=0.5)
        # The middle of the picture looks past 0.75 m above the robot's place, from (3.4, -3.2, 1.75).
        assert length() == pytest.approx(1.75 * np.hypot(3.4, 3.2) - np.hypot(3.4, 3.2), abs=0.2)
        before = settled(page)
        page.mouse.move(*at(0.45, 0.5))
        page.mouse.down()
        for k in range(12):
            page.mouse.move(*at(0.45, 0.5 + 0.03 * k))
            drawn(page)
        page.mouse.up()
        wait_for(lambda: length() > 4.5, pause=0.1)
        line = seen(page, lambda now: changed(now, before) > 300)
        page.click("#walk")
        page.wait_for_selector("#live-facts dd:visible")
        assert page.inner_text("#live-facts dt >> nth=0") == "pelvis error"
        seen(page, lambda now: changed(now, line) > 300)
        page.click("#clear-path")
        page.click("#again")
        until(page, "document.querySelector('#path-note').textContent.startsWith('Press and drag')")
        assert page.locator("#error").is_hidden()
        page.goto("about:blank")


def test_a_shared_page_plays_without_a_server(page, root, tmp_path):
    clip = next(iter(Dataset(root).entries("robot = 'g1'")))
    path = tmp_path / "page.html"
    assert main(["share", str(clip.path), "--out", str(path)]) == 0
    page.set_viewport_size({"width": 500, "height": 400})
    page.goto(path.as_uri())
    page.wait_for_selector("canvas")
    assert "non-skating" not in page.inner_text("#about"), "on a phone facts would cover the robot"
    page.click("#about summary >> nth=0")
    assert "non-skating" in page.inner_text("#about")
    page.click("#about summary >> nth=0")
    keeps_changing(page, "canvas >> nth=0")


def test_the_link_with_the_token_opens_the_page_even_from_another_site(page, root):
    """A browser sends a strict cookie only from the site's own pages: the link has to lead on by one."""
    with commanded(root, "--host", "0.0.0.0") as viewer:
        page.goto(f"data:text/html,<a href='{viewer.link}'>to the viewer</a>")
        page.click("a")
        page.wait_for_selector("#badge:visible")
        page.frame_locator("#stage").locator("canvas").first.wait_for()
        assert "token" not in page.url
        assert page.evaluate("document.cookie") == "", "no script reads the token"
        page.goto("about:blank")


AXE = Path(os.environ.get("PHUMA_AXE", ROOT / "node_modules" / "axe-core" / "axe.min.js"))


@pytest.fixture
def workbench(root, tmp_path):
    """A viewer with a file for judgements by hand."""
    robots = [load_robot(name) for name in ROBOTS]
    with serving(DatasetCollection(root, robots, review=tmp_path / "review.csv")) as viewer:
        yield viewer


def test_a_clip_is_judged_compared_and_sought_by_its_worst_frame(page, workbench, tmp_path):
    """By the keyboard and by a click; the file has it, and the commands name it."""
    opened(page, workbench)
    clip = page.evaluate("document.querySelector('.row').dataset.clip")
    page.keyboard.press("r")
    page.fill("#label", "by hand")
    page.keyboard.press("Enter")
    wait_for(lambda: page.inner_text(".row .by-hand") == "rejected by hand: by hand")
    assert read_review(tmp_path / "review.csv") == {clip: Reviewed("reject", "by hand")}
    page.locator("#clip-title").click()
    page.keyboard.press("w")
    wait_for(lambda: "% of its limit" in page.inner_text("#said"))
    worst = re.search(r"Frame (\d+)", page.inner_text("#said")).group(1)
    wait_for(lambda: page.inner_text("#frame") == worst)
    page.locator("#sets button", has_text="Robots").click()
    wait_for(lambda: page.locator("#choices input:checked").count() == len(ROBOTS))
    assert page.locator("#layout input:checked").get_attribute("value") == "side"
    commands = page.locator("#commands code").all_inner_texts()
    assert all(f"--robot {name}" in commands[0] for name in ROBOTS)
    assert any("--review" in text for text in page.locator("#review-commands code").all_inner_texts())


def coloured(picture, colour):
    """How many pixels have a colour, lighter or darker."""
    wanted, length = np.array(style.rgb(colour)), np.linalg.norm(picture, axis=-1)
    near = picture @ wanted / np.maximum(length * np.linalg.norm(wanted), 1)
    return int(((near > 0.995) & (np.ptp(picture, axis=-1) > 20)).sum())


def test_robots_methods_and_presets_of_a_recording_stand_side_by_side_by_a_click(page, tmp_path):
    """Each button chooses its own, again and again; every robot is on the stage in the colour that the list has."""
    assert main(["synth", "--type", "squat", "--seconds", "1.5", "--out", str(tmp_path)]) == 0
    robots = [load_robot(name) for name in ROBOTS]
    usual, other = f"g1:{DEFAULT_METHOD}", f"g1:{DEFAULT_METHOD}@paper"
    sets = {
        "Presets": [usual, other],
        "Robots": [usual, f"h1_2:{DEFAULT_METHOD}"],
        "Methods": [usual, "g1:physink", "g1:sink", "g1:gmr", "g1:ik"],
    }

    def chosen():
        return page.locator("#choices input:checked").evaluate_all("all => all.map(e => e.dataset.choice)")

    with serving(FileCollection([tmp_path / "squat_0000.npz"], robots, ReadCfg())) as viewer:
        opened(page, viewer)
        pause(page)
        assert sorted(page.locator("#sets button").all_inner_texts()) == sorted(sets)
        for name in (*sets, "Presets"):
            page.locator("#sets button", has_text=name).click()
            wait_for(lambda ids=sets[name]: chosen() == ids, pause=0.1)
            assert page.locator("#layout input:checked").get_attribute("value") == "side"
            count = len(sets[name])
            assert page.locator("#choices [data-performer]").count() == count
            assert page.locator("#scores tr").nth(1).locator("td").count() == 1 + count
            seen(page, lambda now, count=count: min(coloured(now, c) for c in style.PERFORMERS[:count]) > 40)

        # What a preset says of the recording is no fault unless it rejects it.
        assert page.locator(f"[data-performer='{other}'] .note").inner_text() == "preset paper keeps it as a whole"
        assert page.locator(f"[data-performer='{other}'] .flag").count() == 0
        # A preset is compared with the same method by the preset that is in use, whatever is on the stage.
        page.locator("#sets button", has_text="Methods").click()
        wait_for(lambda: chosen() == sets["Methods"], pause=0.1)
        page.uncheck(f"#choices [data-choice='{usual}']")
        wait_for(lambda: chosen() == sets["Methods"][1:], pause=0.1)
        page.locator("#sets button", has_text="Presets").click()
        wait_for(lambda: chosen() == sets["Presets"], pause=0.1)
        first, second, *_ = page.locator("#commands code").all_inner_texts()
        assert first.endswith("squat_0000.npz --robot g1 --preset paper --out by_paper")
        assert "by_paper/squat_0000.npz" in second
        page.goto("about:blank")


def commands_of(page, viewer):
    """The commands that the page offers, word by word."""
    opened(page, viewer)
    commands = page.locator("#commands code").all_inner_texts()
    page.goto("about:blank")
    return [shlex.split(command) for command in commands]


def test_commands_name_what_one_would_type_where_the_viewer_was_started(page, root, tmp_path, monkeypatch):
    """A path below the working directory is relative to it, however it was given; another one is as it was given."""
    started, path = root.parent, next(iter(Dataset(root).entries("robot = 'g1'"))).path
    file = str(path.relative_to(started))
    for typed in (root.name, root):
        with commanded(Path(typed), cwd=started) as viewer:
            files = [words[2] for words in commands_of(page, viewer)]
        assert files == [*[files[0]] * 2, root.name]
        assert (started / files[0]).is_file()
        assert files[0].startswith(f"{root.name}/")
    shutil.copytree(G1.folder, started / "mine" / "handy")
    monkeypatch.chdir(started)
    for typed in (path, path.relative_to(started)):
        with serving(FileCollection([typed], [load_robot("mine/handy")], ReadCfg())) as viewer:
            assert [words[2] for words in commands_of(page, viewer)] == [file] * 2
    with serving(FileCollection([path], [load_robot(started / "mine" / "handy")], ReadCfg())) as viewer:
        opened(page, viewer)
        page.check("#choices [data-choice='handy:ik']")
        wait_for(lambda: "--robot mine/handy --compare ik" in page.inner_text("#commands"), pause=0.1)
        page.goto("about:blank")
    monkeypatch.chdir(tmp_path)
    with serving(FileCollection([path], [G1], ReadCfg())) as viewer:
        assert [words[2] for words in commands_of(page, viewer)] == [str(path)] * 2


def test_a_checker_of_accessibility_finds_nothing(page, workbench):
    """axe-core, where it is installed: `npm install axe-core`, or PHUMA_AXE names axe.min.js."""
    if not AXE.exists():
        pytest.skip(f"no {AXE}; `npm install axe-core`, or set PHUMA_AXE")
    opened(page, workbench)
    page.evaluate(AXE.read_text())
    rejected = "document.querySelector('#verdict input[value=rejected]').click()"
    for prepare in ("1", rejected, "document.querySelector('#help').click()", "phone"):
        if prepare == "phone":
            page.set_viewport_size({"width": 390, "height": 844})
        else:
            page.evaluate(prepare)
        if prepare == rejected:
            page.locator("#rows [data-clip]:has(.why)").first.click()
            page.wait_for_selector("#reasons li")
        found = page.evaluate("axe.run(document, { iframes: false, resultTypes: ['violations'] })")
        assert [(fault["id"], [node["target"] for node in fault["nodes"]]) for fault in found["violations"]] == []

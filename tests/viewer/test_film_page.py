"""The page of a film in a real browser: it plays film, human and robot in step, and asks nobody for anything."""

from __future__ import annotations

import io
from dataclasses import replace

import numpy as np
import pytest

from phuma.body import open_body
from phuma.core.trajectory import Trajectory
from phuma.robots import load_robot
from phuma.video.landmarks import NAMES, Landmarks
from phuma.video.stills import Stills
from phuma.viewer.film_page import FilmPage, Layer, Span, Stretch, page_of, write_film_page
from tests.motions import smooth_motion
from tests.viewer.test_browser import CHROMIUM, FLAGS, LONGEST, iio, playwright
from tests.waiting import wait_for

pytestmark = [pytest.mark.slow, pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")]
FRAMES, FPS = 40, 20.0
GREY, BRIGHT = 60, 200


def jpeg(level: int) -> bytes:
    stream = io.BytesIO()
    iio.imwrite(stream, np.full((48, 64, 3), level, np.uint8), extension=".jpg")
    return stream.getvalue()


def a_page() -> FilmPage:
    """Two seconds: the picture is grey and then bright, the human is always there, the robot in the second half."""
    robot = load_robot("g1")
    rng = np.random.default_rng(0)
    image = rng.uniform(0, 48, (FRAMES, len(NAMES), 2))
    nothing = np.zeros((FRAMES, len(NAMES)))  # no landmark is drawn over the picture
    landmarks = Landmarks(FPS, (64, 48), image, np.zeros((FRAMES, len(NAMES), 3)), nothing, np.ones(FRAMES))
    half = FRAMES // 2
    root = np.tile([0.0, 0.0, robot.default_height], (half, 1))
    motion = Trajectory(
        robot.name, robot.joint_names, FPS, root, np.tile([1.0, 0, 0, 0], (half, 1)),
        np.tile(robot.default_pose, (half, 1)),
    )  # fmt: skip
    stills = Stills(3.0, 1.0, [jpeg(GREY), jpeg(BRIGHT)])
    people = [Stretch(3.0, FPS, smooth_motion(open_body(), frames=FRAMES).pose.position)]
    spans = [Span(3.0, 4.0, "rejected", "it </script> floats"), Span(4.0, 5.0, "kept", "")]
    layers = [Layer("retargeted", [(4.0, motion)])]
    return FilmPage("a <b>film</b>", stills, landmarks, people, robot, layers, spans, ["stature guessed"])


@pytest.fixture(scope="module")
def opened(tmp_path_factory):
    path = tmp_path_factory.mktemp("film") / "page.html"
    write_film_page(path, a_page())
    with playwright.sync_playwright() as p:
        browser = p.chromium.launch(executable_path=CHROMIUM, args=FLAGS, timeout=LONGEST)
        page = browser.new_page(viewport={"width": 1000, "height": 600})
        page.set_default_timeout(LONGEST)
        faults, asked = [], []
        page.on("console", lambda m: faults.append(m.text) if m.type == "error" else None)
        page.on("pageerror", lambda e: faults.append(str(e)))
        page.on("request", lambda r: asked.append(r.url) if not r.url.startswith(("file:", "data:")) else None)
        page.goto(path.as_uri())
        wait_for(lambda: page.evaluate("stills.every((s) => s.complete)"))
        yield page
        browser.close()
    assert not faults
    assert not asked


def middle(page, canvas: str) -> np.ndarray:
    """Pixels in the middle of a canvas."""
    picture = iio.imread(page.locator(f"#{canvas}").screenshot())[..., :3].astype(int)
    height, width = picture.shape[:2]
    return picture[height // 4 : 3 * height // 4, width // 4 : 3 * width // 4]


def test_at_a_time_the_picture_the_human_and_the_robot_of_that_time_are_seen(opened):
    opened.evaluate("seek(0.5)")
    assert opened.inner_text("#clock").startswith("0:03.5")
    assert np.median(middle(opened, "film")) == pytest.approx(GREY, abs=6)
    assert middle(opened, "human").std() > 5
    assert opened.inner_text("#norobot") == "it </script> floats"
    without = middle(opened, "robot")
    opened.evaluate("seek(1.5)")
    assert np.median(middle(opened, "film")) == pytest.approx(BRIGHT, abs=6)
    assert opened.inner_text("#norobot") == ""
    assert np.abs(middle(opened, "robot") - without).mean() > 5


def test_it_plays_and_pauses(opened):
    opened.evaluate("seek(0)")
    opened.click("#play")
    wait_for(lambda: opened.evaluate("now > 0.05"))
    opened.click("#play")
    stopped = opened.evaluate("now")
    opened.wait_for_timeout(200)
    assert opened.evaluate("now") == stopped


def test_a_frame_that_began_before_the_click_does_not_stop_the_film(opened):
    """Browsers stamp a frame with its beginning, which may be earlier than the click that is handled in it."""
    opened.evaluate("seek(0); playing = true; before = performance.now(); step(before - 30)")
    wait_for(lambda: opened.evaluate("now > 0.05"))
    opened.evaluate("play(false)")


def test_what_a_page_is_told_cannot_break_it():
    text = page_of(a_page())
    assert "<b>" not in text
    assert text.count("</script>") == 2


def test_the_time_of_an_instant_is_one_time():
    cut = Span(3.5, 3.52, "noted", "a cut")
    text = page_of(replace(a_page(), spans=[cut, Span(3.5, 4.5, "kept", "")]))
    assert "<td>3.5 s</td>" in text
    assert "<td>3.5 to 4.5 s</td>" in text

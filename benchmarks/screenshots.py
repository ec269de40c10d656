"""The pictures of the viewer in docs/images, taken in Chromium of generated motion."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from phuma.cli.demo import POLICY

IMAGES = Path(__file__).parents[1] / "docs" / "images"
FLAGS = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
SIZE = {"width": 1366, "height": 768}


def phuma(*words: str | Path) -> None:
    subprocess.run([sys.executable, "-m", "phuma", *map(str, words)], check=True)


def make_dataset(folder: Path) -> Path:
    """All types of synthetic motion and some that are spoilt, on both robots."""
    phuma("synth", "--seconds", "4", "--out", folder / "people")
    for fault in ("jitter:40", "float:20", "tilt:12"):
        name = fault.split(":")[0]
        phuma("synth", "--type", "walk", "--seconds", "4", "--fault", fault, "--out", folder / name)
    spoilt = [folder / name for name in ("jitter", "float", "tilt")]
    phuma("build", folder / "people", *spoilt, "--robot", "g1", "--robot", "h1_2", "--out", folder / "motions")
    return folder / "motions"


def rest(page: Page, selector: str, share: float) -> None:
    """Pause at a share of the clip, and wait until software has drawn it."""
    if page.get_attribute("#play", "aria-label") == "Pause":
        page.click("#play")
    box = page.locator(selector).bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + share * box["width"], box["y"] + 6)
    time.sleep(4)


def take_still(page: Page, path: Path) -> None:
    """Write a picture of the page once it stands still: however long software takes to draw what was asked for."""
    before, now = b"", page.screenshot()
    while now != before:
        time.sleep(3)
        before, now = now, page.screenshot()
    path.write_bytes(now)


def take(page: Page, url: str, folder: Path) -> None:
    page.goto(url)
    page.fill("#search", "kick_0000 people")
    page.locator("#rows [data-clip]", has_text="people/kick").first.click()
    page.check("#layout input[value=side]")
    page.check("#choices [data-choice='h1_2:stored']")
    page.fill("#search", "")
    page.select_option("#sort", "fidelity")
    page.wait_for_selector("[data-performer] >> nth=1")
    rest(page, "#scrubber", 0.3)
    take_still(page, IMAGES / "viewer.png")
    page.check("#verdict input[value=rejected]")
    page.locator("#rows [data-clip]", has_text="jitter").first.click()
    page.wait_for_selector("#reasons li")
    rest(page, "#scrubber", 0.4)
    take_still(page, IMAGES / "viewer_rejected.png")
    clip = next((folder / "motions" / "clips" / "g1").glob("*people-walk*/*.npz"))
    phuma("share", clip, "--out", folder / "page.html")
    page.goto((folder / "page.html").as_uri())
    page.locator("button.mantine-CloseButton-root, [class*=Notification] button").first.click()  # of a note on software
    time.sleep(6)
    page.mouse.click(22, SIZE["height"] - 20)  # pause; software needs a moment to catch up
    time.sleep(8)
    take_still(page, IMAGES / "share.png")


def take_policy(page: Page, url: str) -> None:
    """The demo's policy, which has learned a squat, asked to kick."""
    page.goto(url)
    page.fill("#search", "kick")
    page.wait_for_selector("#range >> text=1-1 of 1")
    page.locator("#rows [data-clip]").first.click()
    page.wait_for_selector("#badge >> text=terminated")
    page.locator("#lane-labels button").first.click()  # to where it was given up
    for _ in range(6):
        page.keyboard.press("ArrowLeft")
    time.sleep(6)
    take_still(page, IMAGES / "play.png")


@contextmanager
def served(browser: Browser, *words: str | Path) -> Iterator[tuple[Page, str]]:
    """A page, and where a command serves the viewer."""
    command = [sys.executable, "-m", "phuma", *map(str, words), "--port", "0", "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        url = server.stdout.readline().split()[0]
        page = browser.new_page(viewport=SIZE)
        page.set_default_timeout(120_000)
        yield page, url
        page.close()
        server.terminate()


def main() -> None:
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    with tempfile.TemporaryDirectory() as name, sync_playwright() as p:
        dataset = make_dataset(Path(name))
        browser = p.chromium.launch(executable_path=chromium, args=FLAGS)
        with served(browser, "view", dataset) as (page, url):
            take(page, url, Path(name))
        with served(browser, "play", POLICY / "policy.onnx", dataset) as (page, url):
            take_policy(page, url)
        browser.close()


if __name__ == "__main__":
    main()

"""A shared page is one file that holds the clip and its facts, and nothing that a file is called can change it."""

import base64
import re
from html.parser import HTMLParser

import numpy as np
import pytest

pytest.importorskip("viser")

from phuma.core.skeleton import REGIONS
from phuma.errors import ConfigError, StorageError
from phuma.viewer import style
from phuma.viewer.share import about, page_of, share
from tests.viewer.test_stage import FPS, FRAMES, a_show, performer, person

msgspec, zstandard = pytest.importorskip("msgspec"), pytest.importorskip("zstandard")  # as viser packs a scene

pytestmark = pytest.mark.slow
EVIL = "</title></aside></body></script><script>alert(1)</script><img src=//evil onerror='a'>\"'`é漢\n\x00\u202e\ud800"
SPELLED = (
    "</title></aside></body></script><script>alert(1)</script><img src=//evil onerror='a'>\"'`é漢\\n\\x00\\u202e\\ud800"
)
FACTS = {
    "title": "walk.bvh", "kept": False, "reasons": ("root_jerk 94 m/s^3, needs < 50 m/s^3",),
    "facts": (("licence", "free & open"), ("note", "fitted")),
}  # fmt: skip
TAGS = {"style", "aside", "h1", "div", "span", "table", "tr", "td", "details", "summary", "footer"}


class Page(HTMLParser):
    """What a browser would make of it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags, self.attributes, self.texts, self.facts = [], [], [], []
        self._inside = False
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        self._inside |= ("id", "about") in attrs

    def handle_endtag(self, tag):
        self._inside &= tag != "aside"

    def handle_data(self, data):
        (self.facts if self._inside else self.texts).append(data)


def shown(**more):
    return a_show([performer(), performer("h1_2", seed=2)], person(), **{**FACTS, **more})


@pytest.fixture(scope="module")
def calls():
    return []


@pytest.fixture(scope="module")
def file(tmp_path_factory, calls):
    path = tmp_path_factory.mktemp("shared") / "page.html"
    share(path, shown(), progress=lambda: calls.append(1))
    return path


@pytest.fixture(scope="module")
def hostile():
    names = {"title": EVIL, "reasons": (EVIL,), "facts": ((EVIL, EVIL), ("note", "fitted"))}
    return page_of(shown(**names)).encode("utf-8", "replace").decode()


def recording_in(page):
    """What viser's player is given: length, and messages with the second at which each is due."""
    packed = base64.b64decode(re.search(r'__VISER_EMBED_DATA__="([^"]+)"', page)[1])
    size = int.from_bytes(packed[:8], "little")
    raw = zstandard.ZstdDecompressor().decompress(packed[8:], max_output_size=size)
    length = int.from_bytes(raw[:8], "little")
    return msgspec.msgpack.decode(raw[8 : 8 + length])


def test_a_page_is_one_file_that_needs_no_other(file):
    assert list(file.parent.iterdir()) == [file]
    page = Page(file.read_text(encoding="utf-8"))
    for name, value in page.attributes:
        if name in ("src", "href", "srcset", "action", "data", "poster"):
            assert value.startswith(("data:", "#")), (name, value[:80])
    assert not {"iframe", "object", "embed", "base", "img"} & set(page.tags)
    assert not re.search(r"@import|url\((?!['\"]?(data:|#))", about(shown()))


def test_a_page_says_the_facts_of_the_clip(file):
    said = Page(file.read_text(encoding="utf-8")).facts
    for text in (
        "walk.bvh",
        "0.0 to 0.4 s",
        "rejected",
        *FACTS["reasons"],
        "g1 by x",
        "h1_2 by x",
        "99.1 %",
        "fidelity",
    ):
        assert text in said, text
    for name, value in FACTS["facts"]:
        assert said[said.index(name) + 1] == value


def test_a_verdict_is_told_where_there_is_one():
    assert ">kept<" in about(shown(kept=True, reasons=()))
    assert ">rejected<" not in about(shown(kept=True, reasons=()))
    assert ">rejected<" in about(shown())
    unknown = about(shown(kept=None, reasons=()))
    assert ">kept<" not in unknown
    assert ">rejected<" not in unknown


def test_robots_have_the_colours_that_they_are_drawn_in():
    dots = re.findall(r"background:(#\w+)", about(shown()))
    assert dots == list(style.PERFORMERS[:2])


def test_a_page_plays_all_frames_at_the_clips_own_rate(file, calls):
    recording = recording_in(file.read_text(encoding="utf-8"))
    assert recording["durationSeconds"] == pytest.approx(FRAMES / FPS)
    assert len(calls) == FRAMES
    root = performer().motion.root_pos
    seen = {}
    for due, message in recording["messages"]:
        if message["type"] == "SetPositionMessage" and message["name"] == "/world/1/robot0/body0":
            seen[round(due * FPS)] = message["position"]
    assert set(seen) == set(range(FRAMES))
    for frame, position in seen.items():
        np.testing.assert_allclose(position, root[frame], atol=1e-5)
    placed = {
        m["name"].rsplit("/")[-1] for due, m in recording["messages"] if due and m["type"] == "SetPositionMessage"
    }
    assert placed <= {"world", "body0", "spine1", "left_hip", "right_hip", *REGIONS}, "links are turned, not moved"


def test_names_from_files_are_text_and_the_page_is_made_of_the_same_elements(file, hostile):
    plain, evil = Page(file.read_text(encoding="utf-8")), Page(hostile)
    assert evil.tags == plain.tags
    assert [name for name, _ in evil.attributes] == [name for name, _ in plain.attributes]
    assert evil.facts.count(SPELLED) == 4
    assert "".join(evil.texts).count("alert(1)") == "".join(plain.texts).count("alert(1)")
    own = Page(about(shown(title=EVIL)))
    assert set(own.tags) <= TAGS


def test_overlaid_or_side_by_side(file):
    def places(page):
        return [m["position"] for _, m in recording_in(page)["messages"]
                if m["type"] == "SetPositionMessage" and m["name"] == "/world/1/robot1"]  # fmt: skip

    assert np.abs(places(file.read_text(encoding="utf-8"))[-1]).max() > 0.5
    assert np.abs(places(page_of(shown(), "overlay"))).max(initial=0.0) == 0


def test_a_layout_that_is_not_there_leaves_nothing(tmp_path):
    with pytest.raises(ConfigError, match="no layout 'stack'; there are: overlay, side"):
        share(tmp_path / "page.html", shown(), "stack")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("before", [None, "old"])
def test_a_disk_that_refuses_leaves_what_was_there_and_nothing_else(tmp_path, monkeypatch, before):
    path = tmp_path / "page.html"
    if before:
        path.write_text(before)
    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(StorageError, match=r"page\.html: cannot be written: No space left"):
        share(path, a_show([], person(1)))
    assert [p.read_text() for p in tmp_path.iterdir()] == ([before] if before else [])


def full(_):
    raise OSError(28, "No space left on device")


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(StorageError, match=r"missing/page\.html: cannot be written: No such file"):
        share(tmp_path / "missing" / "page.html", a_show([], person(1)))
    assert list(tmp_path.iterdir()) == []

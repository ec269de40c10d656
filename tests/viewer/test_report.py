"""The page says what was counted, needs nothing from outside, and nothing that a file is called can change it."""

import json
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from html.parser import HTMLParser
from unicodedata import normalize

import numpy as np
import pytest

from phuma.cli.main import main
from phuma.core import rotations as rot
from phuma.core.dataset_summary import Amount, Failure, Histogram, Licence
from phuma.core.metric import Metric
from phuma.dataset.dataset import open_dataset
from phuma.dataset.statistics import summarise
from phuma.robots import load_robot
from phuma.viewer.charts import BOTTOM, TOP, histogram, ticks
from phuma.viewer.formatting import listed, percent, score, time
from phuma.viewer.html import Html, escaped, h
from phuma.viewer.report import POLICY, report_page
from phuma.viewer.robot_stills import robot_stills
from tests.report_dataset import HOSTILE, RECORDING, built

pytestmark = pytest.mark.slow

TAGS = {
    "html", "head", "meta", "title", "style", "body", "header", "h1", "h2", "h3", "p", "div", "span", "b", "i", "small",
    "table", "tr", "th", "td", "svg", "g", "path", "line", "rect", "circle", "text",
}  # fmt: skip
ATTRIBUTES = {
    "lang", "charset", "http-equiv", "content", "name", "class", "style", "title", "viewbox", "role", "aria-label", "d",
    "x", "y", "x1", "x2", "y1", "y2", "cx", "cy", "r", "width", "height", "text-anchor",
}  # fmt: skip
EVIL = "</title></style></script><script>alert(1)</script><img src=//evil onerror='a'>\"'`é漢\n\r\x00\u202e\ud800"

METRIC = Metric("m", "m", "%", "low", "")


class Page(HTMLParser):
    """What a browser would make of it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags, self.attributes, self.styles, self.texts = [], {}, [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        for name, value in attrs:
            self.attributes.setdefault(name, []).append(value)

    def handle_data(self, data):
        (self.styles if self.tags and self.tags[-1] == "style" else self.texts).append(data)

    @property
    def text(self) -> str:
        return " ".join(self.texts)


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    return built(tmp_path_factory.getbasetemp())


@pytest.fixture(scope="module")
def summary(dataset):
    return summarise(open_dataset(dataset))


@pytest.fixture(scope="module")
def page(dataset, tmp_path_factory):
    out = tmp_path_factory.mktemp("report") / "page.html"
    assert main(["report", str(dataset), "--out", str(out)]) == 0
    return out.read_text(encoding="utf-8")


def harmless(text: str) -> Page:
    """Only elements and attributes that draw and say something, and nothing that reaches out."""
    page = Page(text)
    assert set(page.tags) <= TAGS
    assert set(page.attributes) <= ATTRIBUTES
    assert POLICY in page.attributes["content"]
    outside = [*page.styles, *page.attributes["style"]]
    for word in ("http:", "https:", "//", "url(", "@import", "expression", "<", "\\"):
        assert not any(word in style for style in outside), word
    assert not re.search(r"https?://|\bsrc=(?!x |//evil)|\bhref=|url\(|<script|<link|<iframe|javascript:", text)
    return page


def test_nothing_comes_from_outside_and_names_are_only_text(page):
    shown = harmless(page).text
    name = normalize("NFC", RECORDING).replace("\n", "\\n").replace("\u202e", "\\u202e")
    assert f"{HOSTILE}/{name}" in shown, "a recording among the worst"
    assert f"{HOSTILE}/<b>two.bvh, {HOSTILE}/one.bvh" in shown, "recordings that failed"
    assert HOSTILE in shown.split("What there is")[1].split("What curation does")[0], "a source"


def test_evil_anywhere_is_only_text(summary):
    robot = summary.robots[0]
    worst = {n: tuple(replace(c, recording=EVIL, category=EVIL, clip=EVIL) for c in w) for n, w in robot.worst.items()}
    evil = replace(
        summary,
        sources=(Amount(EVIL, 1, 1, 1, 1.0, EVIL),),
        categories=(Amount(EVIL, 1, 1, 1, 1.0, EVIL),),
        splits=(Amount(EVIL, 1, 1, 1, 1.0),),
        licences=(Licence(EVIL, EVIL, None, 1),),
        failures=(Failure(EVIL, (EVIL,)),),
        robots=(replace(robot, name=EVIL, worst=worst, flags=((EVIL, 1),)),),
        filters=tuple(replace(f, metric=replace(f.metric, label=EVIL, unit=EVIL)) for f in summary.filters),
        curation=tuple(replace(c, metric=replace(c.metric, label=EVIL, unit=EVIL)) for c in summary.curation),
        config={EVIL: {EVIL: EVIL}},
        versions={EVIL: EVIL},
    )
    text = report_page(evil, {})
    text.encode("utf-8")  # half a character would not do
    assert harmless(text).text.count("<script>alert(1)</script>") > 15


def test_what_is_unknown_is_told_and_nothing_is_called_perfect_for_it(summary):
    robot = summary.robots[0]
    five = dict.fromkeys(robot.five, 100.0) | {"non_skating": None}
    known = dict.fromkeys(five, robot.clips) | {"non_skating": 0, "non_floating": robot.clips - 1}
    worst = dict.fromkeys(five, ())
    floats = replace(robot, five=five, known=known, worst=worst, flags=(("leap", 2), ("torque_peak", 1)), flagged=3)
    text = harmless(report_page(replace(summary, robots=(floats,)), {})).text
    assert f"unknown in {robot.clips} clips" in text
    assert "unknown in 1 clip" in text
    assert "Every clip reaches 100 % in motion fidelity, joint feasibility and non-penetration." in text
    said = "leap (2 clips); torque_peak: greatest torque, of the motor's limit (1 clip)"
    assert f"3 of {robot.clips} clips on {robot.name} are flagged: {said}." in text


def test_text_is_escaped_and_markup_is_not():
    assert h("p", "a < b & c", h("b", 1), title='"x"') == '<p title="&quot;x&quot;">a &lt; b &amp; c<b>1</b></p>'
    assert h("p", None, [["x"], Html("<br>")]) == "<p>x<br></p>"
    assert escaped("a\nb\x1b") == "a\\nb\\x1b"


def test_the_same_dataset_gives_the_same_bytes_wherever_it_lies(dataset, page, tmp_path):
    copy = shutil.copytree(dataset, tmp_path / "elsewhere")
    for _ in range(2):
        assert main(["report", str(copy)]) == 0
        assert (copy / "report.html").read_text(encoding="utf-8") == page


def test_the_page_says_what_was_counted(summary, page):
    text = " ".join(Page(page).texts)
    for step in summary.filters:
        row = rf"{re.escape(step.metric.label)} [^%]* {step.remaining} [\d.<> ]+ % {step.rejects} {step.only} "
        assert re.search(row, text), step.name
    assert f" {summary.total.kept} clips kept" in text
    for robot in summary.robots:
        for value in robot.five.values():
            assert f"{score(value)} " in text
    for clip in (c for robot in summary.robots for clips in robot.worst.values() for c in clips):
        assert f"{score(clip.value)} %" in text


def test_every_worst_clip_has_a_picture_and_a_damaged_one_only_a_word(dataset, summary, page, tmp_path):
    count = sum(len(clips) for robot in summary.robots for clips in robot.worst.values())
    assert count
    assert page.count('aria-label="the robot at some instants"') == count
    copy = shutil.copytree(dataset, tmp_path / "copy")
    for file in (copy / "clips" / "g1").rglob("*.npz"):
        file.write_bytes(b"nothing")
    assert main(["report", str(copy)]) == 0
    damaged = sum(len(clips) for clips in summary.robots[0].worst.values())
    assert (copy / "report.html").read_text(encoding="utf-8").count("its file cannot be read") == damaged


def test_the_command_says_where_to_look_and_what_matters(dataset, summary, tmp_path, capsys):
    out = tmp_path / "new" / "page.html"
    assert main(["report", str(dataset), "--out", str(out)]) == 0
    told = capsys.readouterr().out.splitlines()
    assert told[0] == str(out)
    assert len(told) == 4 + len(summary.robots)
    assert f"{summary.total.kept} clips" in told[1]
    for robot, line in zip(summary.robots, told[4:]):
        assert line.startswith(f"  flags     {robot.flagged} of {robot.clips} clips on {robot.name}")


def test_an_unfinished_dataset_is_told_what_to_run(dataset, tmp_path, capsys):
    about = json.loads((dataset / "dataset.json").read_text())
    (tmp_path / "dataset.json").write_text(json.dumps(about | {"finished": False}))
    assert main(["report", str(tmp_path)]) == 1
    assert "phuma build" in capsys.readouterr().err
    assert main(["report", str(tmp_path / "nothing")]) == 1
    assert "phuma build" in capsys.readouterr().err
    assert main(["report", str(dataset), "--out", str(tmp_path)]) == 2


@pytest.mark.parametrize("library", ["duckdb", "numba"])
def test_a_missing_library_is_named_with_what_to_install(dataset, library):
    code = (
        f"import sys; sys.modules[{library!r}] = None\n"
        f"from phuma.cli.main import main\nsys.exit(main(['report', {str(dataset)!r}]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 2
    assert "pip install 'phuma[" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_page_stays_small_however_many_sources_there_are(summary):
    many = replace(
        summary,
        sources=tuple(Amount(f"source {i}", 10, 5, 5, 1.0) for i in range(5000)),
        licences=tuple(Licence(f"source {i}", "free", True, 5) for i in range(5000)),
        failures=tuple(Failure(f"line {i} is wrong" * 1000, (f"{i}.bvh",)) for i in range(5000)),
    )
    text = report_page(many, {})
    assert len(text) < 300_000
    assert "and 4,970 more sources" in text


def test_nothing_kept_is_a_page_too(summary):
    nothing = replace(summary, total=Amount("all", 0, 0, 0, 0.0), robots=(), filters=(), curation=(), judged=0)
    assert "Motion dataset" in harmless(report_page(nothing, {})).text


def bars(svg: str, kind: str) -> list[float]:
    d = re.search(rf'd="([^"]*)" class="f-{kind}"', svg)[1]
    return [-float(height) for height in re.findall(r"v(-[\d.]+)", d)]


def test_bars_are_as_tall_as_their_counts_and_few_are_still_seen():
    counts = {"kept": (100, 50, 1, 0), "this": (0, 50, 0, 0)}
    svg = histogram(Histogram(METRIC, (0, 1, 2, 3, 4), counts, False, True, 3.0), ("kept", "this"))
    full = BOTTOM - TOP
    assert bars(svg, "kept") == pytest.approx([full, full / 2, 1.5], abs=0.1)
    assert bars(svg, "this") == pytest.approx([full / 2], abs=0.1)
    foot = float(re.search(r'd="M[\d.]+ ([\d.]+)v[^"]*" class="f-this"', svg)[1])
    assert foot == pytest.approx(BOTTOM - full / 2, abs=0.1), "it stands on the other"
    assert "needs &lt; 3" in svg
    assert svg.count("<title>") == 3
    assert "arrow" in svg
    alone = histogram(Histogram(METRIC, (0, 1, 2), {"kept": (1, 1000)}, False, False), ("kept",), log=True)
    low, high = bars(alone, "kept")
    assert low > 5
    assert high == pytest.approx(full, abs=0.1)


def test_ticks_are_round_and_inside():
    for first, last in ((0, 1), (90, 100), (0.0, 0.24), (-3, 86.1), (0, 1e-6)):
        found = ticks(first, last)
        assert 2 <= len(found) <= 8
        assert first <= found[0] + 1e-9
        assert found[-1] <= last + 1e-9
        assert all(len(f"{v:g}") <= 6 for v in found)


def test_numbers_do_not_promise_too_much():
    assert [percent(*v) for v in ((1, 1), (9999, 10000), (1, 10000), (0, 5), (1, 3))] == [
        "100", "> 99.9", "< 0.1", "0", "33.3",
    ]  # fmt: skip
    assert [score(v) for v in (100.0, 99.999, 99.96, 98.76, None)] == ["100.0", "99.99", "99.96", "98.8", "–"]
    assert [time(v) for v in (73.0, 0.5, 0.002)] == ["73.0 h", "30.0 min", "7 s"]
    assert [listed(v) for v in ([], ["a"], ["a", "b"], ["a", "b", "c"])] == ["", "a", "a and b", "a, b and c"]


@pytest.fixture(scope="module")
def motion(dataset):
    return next(open_dataset(dataset).entries("robot = 'g1' AND label = 'walk'")).motion()


def numbers(svg: str) -> np.ndarray:
    return np.array([float(n) for n in re.findall(r"-?\d+(?=[ L\"M])", " ".join(re.findall(r' d="[^"]*"', svg)))])


def test_a_robot_looks_the_same_wherever_it_is_and_goes(motion):
    robot = load_robot("g1")
    turn = np.array([np.cos(0.4), 0.0, 0.0, np.sin(0.4)])
    moved = replace(
        motion,
        root_pos=rot.rotate(turn, motion.root_pos) + [3.0, -2.0, 0.0],
        root_quat=rot.multiply(turn, motion.root_quat),
        human_joints=rot.rotate(turn, motion.human_joints) + [3.0, -2.0, 0.0],
    )
    before, after = (numbers(robot_stills(m, robot)) for m in (motion, moved))
    assert len(before) > 200
    assert np.abs(before - after).max() <= 2, "but for rounding"


def test_what_stands_is_lit_and_who_is_missing_is_not_drawn(motion):
    robot = load_robot("g1")

    def lines(svg, kind):
        return re.search(rf'd="([^"]*)" class="bone {kind}"', svg)

    still = robot_stills(replace(motion, contact_used=np.ones((len(motion), 4))), robot)
    assert lines(still, "contact")[1].count("M") == 4 * 5
    assert lines(robot_stills(replace(motion, contact_used=np.zeros((len(motion), 4))), robot), "contact")[1] == ""
    assert lines(robot_stills(replace(motion, human_joints=None), robot), "human") is None
    assert lines(robot_stills(motion, None), "left") is None
    assert still.count("<circle") == 5


def test_who_is_far_off_is_tied(motion):
    robot = load_robot("g1")
    away = replace(motion, human_joints=motion.human_joints + [0.5, 0.0, 0.0])
    ties = [re.search(r'd="([^"]*)" class="bone tie"', robot_stills(m, robot))[1].count("M") for m in (motion, away)]
    assert ties == [0, 5]

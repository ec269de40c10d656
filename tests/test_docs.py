"""The pages for people: their links lead somewhere, guides are short, and what they tell to type can be typed."""

from __future__ import annotations

import argparse
import ast
import re
import shlex
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

import phuma
from phuma.cli.main import COMMANDS, MODULES, main
from tests.conftest import ROOT

DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *sorted(DOCS.rglob("*.md"))]
GUIDES = [page for page in sorted(DOCS.glob("*.md")) if page.name != "formats.md"]
WORDS = 800
"""of a guide, at most; studies and specifications may be longer"""
FENCE = re.compile(r"^ *```(\w*)\n(.*?)^ *```$", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\[[^\]]*\]\(([^()\s]+)\)")


def prose(page: Path) -> str:
    """A page without its code."""
    return FENCE.sub("", page.read_text(encoding="utf-8"))


def anchors(page: Path) -> set[str]:
    """The names that GitHub gives to a page's headings."""
    heads = re.findall(r"^#+ (.*)$", prose(page), flags=re.MULTILINE)
    plain = (re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", head).strip().lower() for head in heads)
    return {re.sub(r"[^\w\- ]", "", head).replace(" ", "-") for head in plain}


def links(page: Path) -> Iterator[tuple[str, Path, str]]:
    """Each relative link of a page as it is written, the file that it names, and the anchor."""
    for link in LINK.findall(prose(page)):
        if not re.match(r"[a-z]+:", link):
            path, _, anchor = link.partition("#")
            yield link, (page.parent / path).resolve() if path else page, anchor


def test_every_link_leads_somewhere():
    broken = [
        f"{page.relative_to(ROOT)}: {link}"
        for page in PAGES
        for link, target, anchor in links(page)
        if not target.exists() or (anchor and anchor not in anchors(target))
    ]
    assert not broken, "\n".join(broken)


def test_every_page_and_picture_can_be_reached_from_the_readme():
    reached, waiting = set(), [ROOT / "README.md"]
    while waiting:
        page = waiting.pop()
        if page not in reached:
            reached.add(page)
            waiting += [target for _, target, _ in links(page) if target.is_file()] if page.suffix == ".md" else []
    orphans = {*PAGES, *(DOCS / "images").iterdir()} - reached
    assert not orphans, sorted(str(page.relative_to(ROOT)) for page in orphans)


def test_every_page_that_code_names_is_there():
    files = [*(ROOT / "src").rglob("*.py"), *(ROOT / "benchmarks").glob("*.py"), *(ROOT / "tests").rglob("*.py")]
    named = {(file, path) for file in files for path in re.findall(r"docs/[\w/]+\.(?:md|png)", file.read_text())}
    missing = [f"{file.relative_to(ROOT)}: {path}" for file, path in sorted(named) if not (ROOT / path).exists()]
    assert not missing, "\n".join(missing)


def test_guides_are_short():
    long = {page.name: words for page in GUIDES if (words := len(page.read_text(encoding="utf-8").split())) > WORDS}
    assert not long, f"at most {WORDS} words; move what was measured to docs/studies, what is specified to docs/formats"


def blocks(*languages: str) -> list[tuple[Path, str]]:
    """The code of all pages in these languages."""
    found = [(page, *block) for page in PAGES for block in FENCE.findall(page.read_text(encoding="utf-8"))]
    return [(page, code) for page, language, code in found if language in languages]


def test_what_pages_import_is_there():
    """Only imports: what follows them needs data."""
    missing = []
    for page, code in blocks("python"):
        for node in ast.walk(ast.parse(code)):
            if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("phuma"):
                try:
                    names = dir(import_module(node.module))
                except ModuleNotFoundError:
                    names = []
                missing += [f"{page.name}: {node.module}.{a.name}" for a in node.names if a.name not in names]
    assert not missing, "\n".join(missing)


def commands() -> list[tuple[Path, list[str]]]:
    """Every `phuma ...` of the pages' shell blocks, with the page."""
    found = []
    for page, code in blocks("sh"):
        for line in code.splitlines():
            words = shlex.split(line.split("  #")[0], comments=True)
            if words[:1] == ["phuma"]:
                found.append((page, words[1:]))
    return found


def test_what_pages_tell_to_type_is_understood(monkeypatch, capsys):
    """Each command's own parser takes the words; nothing is run."""

    class Understood(Exception):
        pass

    parse = argparse.ArgumentParser.parse_args

    def only_parse(self, args=None, namespace=None):
        parsed = parse(self, args, namespace)
        if self.prog != "phuma":
            raise Understood
        return parsed

    monkeypatch.setattr(argparse.ArgumentParser, "parse_args", only_parse)
    wrong, tried = [], set()
    for page, words in commands():
        try:
            main(words)
        except Understood:
            tried.add(words[0])
        except SystemExit:
            said = capsys.readouterr().err.strip().splitlines()[-1]
            wrong.append(f"{page.relative_to(ROOT)}: phuma {shlex.join(words)}: {said}")
    assert not wrong, "\n".join(wrong)
    assert tried == set(COMMANDS), f"no page shows {set(COMMANDS) - tried}"


@pytest.mark.parametrize("page", [DOCS / "studies", DOCS / "formats", DOCS / "have"], ids=lambda page: page.name)
def test_its_index_names_every_page(page):
    """docs/studies/README.md, docs/formats.md and docs/have/README.md."""
    index = page / "README.md" if (page / "README.md").exists() else page.with_suffix(".md")
    named = {target for _, target, _ in links(index)}
    assert not {p for p in page.glob("*.md") if p != index} - named


def test_the_readme_is_short_and_begins_with_one_sentence_a_picture_that_moves_and_two_commands():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) < 120
    sentence, picture, commands = text.split("\n\n")[1:4]
    assert sentence.count(".") == 1
    film = ROOT / LINK.findall(picture)[0]
    assert film.suffix == ".webp"
    assert film.stat().st_size < 3e6
    assert len(FENCE.findall(commands)[0][1].splitlines()) == 2


def test_the_gallery_has_twenty_films_and_pages_on_five_robots_each_with_the_command_that_makes_it(monkeypatch):
    """The page is what the script writes, which runs the very commands that stand there."""
    pytest.importorskip("mujoco")
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    gallery = import_module("gallery")
    assert gallery.page() == (DOCS / "gallery" / "README.md").read_text(encoding="utf-8")
    assert len(gallery.EXHIBITS) >= 20
    wanted = {exhibit.name.replace(".mp4", ".webp") for exhibit in gallery.EXHIBITS}
    assert {file.name for file in (DOCS / "gallery").iterdir()} == wanted | {"README.md"}
    assert all(exhibit.command.endswith(f" {exhibit.name}") for exhibit in gallery.EXHIBITS)
    robots = ("h1_2", "talos", "icub", "romeo")  # a command that names none is for the G1
    named = {robot for exhibit in gallery.EXHIBITS for robot in robots if f"--robot {robot}" in exhibit.command}
    assert named == set(robots)


def test_the_site_leads_to_every_page():
    """All but tables, which pages link to where they speak of them."""
    tomllib = pytest.importorskip("tomllib")  # of Python 3.11
    config = tomllib.loads((ROOT / "zensical.toml").read_text(encoding="utf-8"))

    def pages(nav: object) -> set[str]:
        inside = nav.values() if isinstance(nav, dict) else nav if isinstance(nav, list) else ()
        return {nav} if isinstance(nav, str) else set().union(*map(pages, inside))

    written = {"index.md", "api.md", "commands.md", "changelog.md", "contributing.md", "examples/README.md"}
    here = {str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md") if page.parent.name != "tables"}
    assert pages(config["project"]["nav"]) == here | written


def test_the_site_has_all_that_its_pages_link_to_and_every_public_name(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "website")
    stage = import_module("stage")
    stage.stage(tmp_path)
    staged = sorted(tmp_path.rglob("*.md"))
    broken = [f"{page.name}: {link}" for page in staged for link, target, _ in links(page) if not target.exists()]
    assert not broken, "\n".join(broken)
    api = (tmp_path / "api.md").read_text(encoding="utf-8")
    assert not [name for name in phuma.__all__ if name[0] != "_" and f"`phuma.{name}`" not in api]


def test_the_page_of_commands_has_their_words_as_text_and_their_options_as_code(monkeypatch):
    """Text takes the width of a phone; code is scrolled."""
    monkeypatch.syspath_prepend(ROOT / "website")
    page = import_module("reference").commands()
    for name, section in zip(COMMANDS, re.split(r"^## ", page, flags=re.MULTILINE)[1:], strict=True):
        text, code = FENCE.sub("", section), [block for _, block in FENCE.findall(section)]
        assert section.startswith(f"phuma {name}\n")
        assert code[-1].startswith(f"usage: phuma {name} ")
        assert "-h, --help" in code[-1]
        assert not [line for line in text.splitlines() if line.startswith((" ", "--")) or " --" in line], name
        says = (import_module(f"phuma.cli.{MODULES.get(name, name)}").__doc__ or "").split("\n\n")[0].split()
        assert text.replace("`", "").split()[2 : 2 + len(says)] == " ".join(says).replace("`", "").split(), name


def test_formulas_are_drawn_without_a_script_and_code_stays_as_it_is(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "website")
    formulas = import_module("stage").formulas
    assert "<msub><mi>c</mi><mi>r</mi></msub>" in formulas("the ratio $c_r$ of a region")
    assert 'display="block"' in formulas("$$x$$")
    assert formulas(r"`$HOME` and `a\|b` in a table") == "`$HOME` and `a|b` in a table"
    with pytest.raises(SystemExit, match="nonsense"):
        formulas(r"$\nonsense{x}$")


def test_nothing_on_the_site_may_come_from_elsewhere(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "website")
    finish = import_module("finish")
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "page.html").write_text(finish.SHIM + '<a href="https://pypi.org">a link is fine</a>')
    assert finish.finish(tmp_path) == []
    assert '<script src="../worker.js">' in (tmp_path / "deep" / "page.html").read_text()
    (tmp_path / "page.html").write_text('<link rel="stylesheet" href="https://fonts.example/css">')
    (tmp_path / "style.css").write_text("@import url(//fonts.example/css)")
    assert [fault.split(":")[0] for fault in finish.finish(tmp_path)] == ["page.html", "style.css"]


def test_the_newcomer_runs_what_the_pages_say(monkeypatch):
    """Every command of README and tutorial, as it stands there; what serves a page is told from what ends by itself."""
    monkeypatch.syspath_prepend(ROOT / "website")
    newcomer = import_module("newcomer")
    lines = [line for page in newcomer.PAGES for line in newcomer.lines_of(ROOT / page)]
    assert lines[0] == newcomer.FIRST
    told = [words for name in newcomer.PAGES for page, words in commands() if page == ROOT / name]
    assert [shlex.split(line)[1:] for line in lines if line.startswith("phuma ")] == told
    assert {line.split()[1] for line in lines if newcomer.serves(line)} == {"view", "demo"}

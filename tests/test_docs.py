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

from phuma.cli.main import COMMANDS, main
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


def commands() -> list[tuple[str, list[str]]]:
    """Every `phuma ...` of the pages' shell blocks, with the page's name."""
    found = []
    for page, code in blocks("sh"):
        for line in code.splitlines():
            words = shlex.split(line.split("  #")[0], comments=True)
            if words[:1] == ["phuma"]:
                found.append((page.name, words[1:]))
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
            wrong.append(f"{page}: phuma {shlex.join(words)}: {capsys.readouterr().err.strip().splitlines()[-1]}")
    assert not wrong, "\n".join(wrong)
    assert tried == set(COMMANDS), f"no page shows {set(COMMANDS) - tried}"


@pytest.mark.parametrize("page", [DOCS / "studies", DOCS / "formats"], ids=lambda page: page.name)
def test_its_index_names_every_page(page):
    """docs/studies/README.md and docs/formats.md."""
    index = page / "README.md" if (page / "README.md").exists() else page.with_suffix(".md")
    named = {target for _, target, _ in links(index)}
    assert not {p for p in page.glob("*.md") if p != index} - named

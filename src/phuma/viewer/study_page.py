"""Write the page of a study: one self-contained HTML page, made of plain values."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from phuma.viewer.html import Html, h
from phuma.viewer.report_style import stylesheet

POLICY = "default-src 'none'; style-src 'unsafe-inline'; media-src data:"
RULES = """
.study th, .study td { padding: .26rem .55rem; text-align: right; white-space: nowrap; }
.study td:first-child, .study th:first-child { text-align: left; position: sticky; left: 0; background: var(--page); }
.study .head { text-align: center; border-bottom: 1px solid var(--line); }
.study small { display: block; color: var(--soft); }
.films video { width: 256px; display: block; border-radius: 4px; background: var(--card); }
.films td { vertical-align: top; padding-right: 1rem; }
pre { background: var(--card); border-radius: 8px; padding: .8rem; overflow-x: auto; font-size: .82rem; }
li { max-width: 100ch; }
"""


@dataclass(frozen=True)
class Clip:
    """A film on the page."""

    row: str
    column: str
    outcome: str
    motion: str
    path: Path


@dataclass(frozen=True)
class StudyPage:
    """All that the page shows, in words and plain values."""

    title: str
    question: str
    facts: Sequence[str]
    heads: Sequence[tuple[str, str]]
    """Head and label of each column; neighbours with the same head stand under one"""
    rows: Sequence[tuple[str, Sequence[str]]]
    """Label and cells of each row; what follows the first space of a cell is its interval"""
    verdicts: Sequence[tuple[str, str, str]]
    """Column, row, and whom the row can be told apart from by it"""
    limits: Sequence[str]
    """What the study can and cannot tell"""
    notes: Sequence[str]
    films: Sequence[Clip]
    commands: Sequence[str]
    failed: Sequence[str]


def study_page(page: StudyPage) -> str:
    """Return the page; the same values give the same text."""
    head = h(
        "head",
        h("meta", charset="utf-8"),
        h("meta", http_equiv="Content-Security-Policy", content=POLICY),
        h("meta", name="viewport", content="width=device-width, initial-scale=1"),
        h("title", page.title),
        h("style", Html(stylesheet() + RULES)),
    )
    sections = [
        h("header", h("h1", page.title), h("p", page.question)),
        _list(page.facts),
        h("h2", "Results"),
        h("p", "Below each value is its 95 % interval, by a bootstrap over recordings and, of policies, seeds."),
        h("div", _table(page), class_="scroll"),
        _verdicts(page.verdicts),
        _section("What this study can and cannot tell", page.limits),
        _section("Notes", page.notes),
        *_films(page.films),
        h("h2", "The commands behind it"),
        h("pre", Html("\n".join(map(_line, page.commands)))),
        _section("What could not be done", page.failed),
    ]
    return f"<!DOCTYPE html>\n{h('html', head, h('body', sections), lang='en')}\n"


def _line(text: str) -> str:
    return h("span", text)


def _list(texts: Sequence[str]) -> Html | None:
    return h("ul", [h("li", text) for text in texts]) if texts else None


def _section(title: str, texts: Sequence[str]) -> list[Html | None]:
    return [h("h2", title), _list(texts)] if texts else []


def _verdicts(verdicts: Sequence[tuple[str, str, str]]) -> list[Html]:
    if not verdicts:
        return []
    out = [h("h2", "Which rows can be told apart")]
    for column in dict.fromkeys(column for column, _, _ in verdicts):
        rows = [h("tr", h("td", row), h("td", text)) for own, row, text in verdicts if own == column]
        out += [h("h3", column), h("table", rows)]
    return out


def _table(page: StudyPage) -> Html:
    groups: list[tuple[str, int]] = []
    for name, _ in page.heads:
        if groups and groups[-1][0] == name:
            groups[-1] = name, groups[-1][1] + 1
        else:
            groups.append((name, 1))
    return h(
        "table",
        h("tr", h("th"), [h("th", name, colspan=count, class_="head") for name, count in groups]),
        h("tr", h("th"), [h("th", label) for _, label in page.heads]),
        [h("tr", h("td", label), [h("td", _cell(cell)) for cell in cells]) for label, cells in page.rows],
        class_="study",
    )


def _cell(text: str) -> list[Html | str]:
    value, _, interval = text.partition(" ")
    return [value, h("small", interval)] if interval else [value]


def _films(films: Sequence[Clip]) -> list[Html]:
    if not films:
        return []
    kinds = list(dict.fromkeys((f.column, f.outcome) for f in films))
    rows = []
    for label in dict.fromkeys(f.row for f in films):
        own = {(f.column, f.outcome): f for f in films if f.row == label}
        rows.append(h("tr", h("td", label), [h("td", _film(own.get(kind))) for kind in kinds]))
    heads = [h("th", f"{column}: {outcome}") for column, outcome in kinds]
    return [
        h("h2", "What one sees"),
        h("p", "The reference and, beside it, what the policy of the first seed does; within 0.15 m, or not."),
        h("div", h("table", h("tr", h("th"), heads), rows, class_="films"), class_="scroll"),
    ]


def _film(film: Clip | None) -> list[Html | str]:
    if film is None:
        return ["–"]
    data = base64.b64encode(film.path.read_bytes()).decode()
    video = h("video", "", src=f"data:video/mp4;base64,{data}", controls="", loop="", muted="", preload="metadata")
    return [video, h("small", film.motion, class_="soft")]

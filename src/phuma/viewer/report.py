"""Write the report on a dataset: one self-contained HTML page, made of plain numbers."""

from __future__ import annotations

from collections.abc import Mapping

from phuma.core.dataset_summary import Amount, Filter, Histogram, Summary
from phuma.core.metric import quantity
from phuma.viewer.charts import LEGEND, bar, histogram, legend
from phuma.viewer.formatting import count, decimal, listed, percent, time
from phuma.viewer.html import Child, Html, h
from phuma.viewer.report_certified import certified_sections
from phuma.viewer.report_robots import five_tiles, robot_sections
from phuma.viewer.report_style import stylesheet
from phuma.viewer.report_tables import configuration, confusion_section, failures_section, licences_section

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
Pictures = Mapping[tuple[str, str], Html]
MOST = 30  # lines of a table; of the rest only the number is given
FATES = ("kept", "other", "this")
COLOURS = {"kept": "kept", "other": "quiet", "this": "rejected"}


def report_page(summary: Summary, pictures: Pictures, performances: Pictures | None = None) -> str:
    """Return the page; `pictures` are of the worst clips and `performances` of those that were not performed under
    physics to the end, both by robot and clip. The same numbers give the same text."""
    robots = listed([r.name for r in summary.robots])
    title = f"Motion dataset for {robots}" if robots else "Motion dataset"
    head = h(
        "head",
        h("meta", charset="utf-8"),
        h("meta", http_equiv="Content-Security-Policy", content=POLICY),
        h("meta", name="viewport", content="width=device-width, initial-scale=1"),
        h("title", title),
        h("style", Html(stylesheet())),
    )
    sections = [
        *composition(summary),
        *curation(summary),
        *robot_sections(summary.robots, pictures),
        *certified_sections(summary.certification, performances or {}),
        *confusion_section(summary.confusion),
        *licences_section(summary.licences),
        *failures_section(summary.failures),
        *configuration(summary),
    ]
    body = h("body", h("header", h("h1", title), h("p", lede(summary))), hero(summary), sections)
    return f"<!DOCTYPE html>\n{h('html', head, body, lang='en')}\n"


def lede(summary: Summary) -> str:
    """Return a sentence on what the dataset is made of."""
    sources = [a.name for a in summary.sources]
    named = listed(sources if len(sources) <= 5 else [*sources[:4], f"{len(sources) - 4} more"])
    overlap = summary.config.get("curate", {}).get("overlap_seconds")
    recordings, clips = count(summary.recordings, "recording"), count(summary.judged, "clip")
    text = f"{recordings} from {named or 'no source'}, cut into {clips}."
    return text + (f" Clips of a recording overlap by {overlap:g} s and count in full." if overlap else "")


def hero(summary: Summary) -> list[Html]:
    """Return the key figures: hours, clips, share kept, recordings, and the five metrics of each robot."""
    total = summary.total
    value, unit = time(total.hours).split(" ")
    unit = {"h": "hours", "min": "minutes", "s": "seconds"}[unit]
    beside = [f"{summary.mirrored:,} mirror images"] * bool(summary.mirrored)
    beside += [f"{summary.imported:,} made by others"] * bool(summary.imported)
    unusable = sum(len(f.recordings) for f in summary.failures)
    tiles = [
        (value, unit, "of motion kept"),
        (f"{total.kept:,}", "clips", ", ".join(["kept", *beside])),
        (percent(total.passed, total.considered), "%", f"kept of {count(total.considered, 'clip')} considered"),
        (f"{summary.recordings:,}", "recordings", f"{unusable:,} could not be used" if unusable else "all usable"),
    ]
    return [
        h("div", [_tile(*tile) for tile in tiles], class_="hero"),
        *[five_tiles(r, len(summary.robots) > 1, explained=i == 0) for i, r in enumerate(summary.robots)],
    ]


def _tile(value: str, unit: str, note: str) -> Html:
    figure = h("div", value, h("small", unit), class_="big")
    return h("div", figure, h("div", note, class_="note"), class_="card")


def composition(summary: Summary) -> list[Html]:
    """Return the section on how much motion there is by type, source and split."""
    return [
        h("h2", "What there is"),
        h("p", "Time of kept clips. “Passed” is the share of the clips of that kind that curation let through."),
        h(
            "div",
            h("div", h("h3", "By type of motion"), _categories(summary.categories)),
            h("div", h("h3", "By source"), _sources(summary.sources), h("h3", "By split"), _splits(summary.splits)),
            class_="two",
        ),
    ]


def _categories(amounts: tuple[Amount, ...]) -> list[Html]:
    most = max((a.hours for a in amounts), default=0) or 1
    groups = dict.fromkeys(a.group for a in amounts if a.group)
    parts = []
    for group in groups:
        own = sum(a.hours for a in amounts if a.group == group)
        parts.append((group, f"{group} {percent(own, sum(a.hours for a in amounts))} %"))
    rows = [_amount_row(a, most, a.group) for a in amounts]
    return [legend(parts), _amount_table("type", rows)]


def _sources(amounts: tuple[Amount, ...]) -> list[Html | None]:
    most = max((a.hours for a in amounts), default=0) or 1
    rows = [_amount_row(a, most, "left") for a in amounts[:MOST]]
    return [_amount_table("source", rows), _more(len(amounts), "sources")]


def _amount_row(a: Amount, most: float, colour: str) -> Html:
    passed = f"{percent(a.passed, a.considered)} %" if a.considered else "–"
    cells: list[Child] = [time(a.hours) if a.hours else "–", f"{a.kept:,}", passed]
    hint = f"{a.name}: {a.passed:,} of {a.considered:,} clips passed"
    return h(
        "tr", h("td", a.name), h("td", bar([(a.hours / most, colour)], ""), class_="wide"),
        [h("td", c, class_="n") for c in cells], title=hint,
    )  # fmt: skip


def _amount_table(name: str, rows: list[Html]) -> Html:
    heads = [h("th", text, class_="n") for text in ("time", "clips", "passed")]
    return h("table", h("tr", h("th", name), h("th"), heads), rows)


def _splits(amounts: tuple[Amount, ...]) -> list[Html]:
    whole = sum(a.hours for a in amounts) or 1
    colours = dict(zip((a.name for a in amounts), ("stationary", "vertical", "angular", "horizontal")))
    texts = [
        (colours.get(a.name, ""), f"{a.name}: {time(a.hours)}, {count(a.kept, 'clip')} ({percent(a.hours, whole)} %)")
        for a in amounts
    ]
    return [bar([(a.hours / whole, colours.get(a.name, "")) for a in amounts], "track tall"), legend(texts)]


def curation(summary: Summary) -> list[Html]:
    """Return the section on what the filters reject, and how the clips' metrics are distributed about the limits."""
    if not summary.filters:
        return []
    rows = [_step_row(summary.judged, summary.judged, None)]
    for before, step in zip((None, *summary.filters), summary.filters):
        rows.append(_step_row(summary.judged, before.remaining if before else summary.judged, step))
    heads = [h("th", text, class_="n") for text in ("clips left", "", "rejects", "only it")]
    return [
        h("h2", "What curation does"),
        h("p", "Each filter is applied to what the ones before it left. “Rejects” counts the clips that fail a filter "
          "whatever the others say, “only it” those that no other filter would have stopped."),
        legend([("kept", "left"), ("rejected", "rejected here"), ("line", "rejected before")]),
        h("div", h("table", h("tr", h("th", "filter"), h("th", "needs"), h("th"), heads), rows), class_="scroll"),
        h("h3", "Where the clips lie"),
        h("p", "All clips that were judged. The bar at an arrow also holds everything beyond it."),
        legend([(COLOURS[fate], LEGEND[fate]) for fate in FATES]),
        h("div", [_metric_card(data) for data in summary.curation], class_="grid"),
    ]  # fmt: skip


def _step_row(judged: int, before: int, step: Filter | None) -> Html:
    whole = judged or 1
    left = step.remaining if step else judged
    needs = ""
    if step:
        needs = f"{step.metric.sign} {quantity(' or '.join(f'{v:g}' for v in step.limits), step.metric.unit)}"
    numbers: list[str] = [f"{left:,}", f"{percent(left, whole)} %"]
    numbers += [f"{step.rejects:,}", f"{step.only:,}"] if step else ["", ""]
    parts = [(left / whole, "kept"), ((before - left) / whole, "rejected")]
    return h(
        "tr", h("td", step.metric.label if step else "all clips"), h("td", needs, class_="soft"),
        h("td", bar(parts), class_="wide"), [h("td", n, class_="n") for n in numbers],
        title=f"{before - left:,} clips rejected here" if step else None,
    )  # fmt: skip


def _metric_card(data: Histogram) -> Html:
    worse = "above" if data.metric.better == "low" else "below"
    note = f"median {decimal(data.median)}, 5 % {worse} {decimal(data.tail)}, most extreme {decimal(data.worst)}"
    return h(
        "div", h("div", h("b", data.metric.label), h("span", data.metric.unit, class_="soft"), class_="name"),
        histogram(data, FATES), h("div", note, class_="note"), class_="card",
    )  # fmt: skip


def _more(found: int, what: str) -> Html | None:
    return h("p", f"and {found - MOST:,} more {what}") if found > MOST else None

"""Write the report's sections on robots: the five metrics, the other metrics, the worst clips."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from phuma.core.dataset_summary import Histogram, RobotSummary, WorstClip
from phuma.core.robot_metrics import MAIN, ROBOT_METRICS
from phuma.viewer.charts import NARROW, bar, histogram, legend
from phuma.viewer.formatting import count, decimal, listed, score
from phuma.viewer.html import Html, h

LABELS = {metric.name: metric.label for metric in MAIN}
FIGURE = (
    ("trunk", "robot"), ("left", "its left"), ("right", "its right"), ("contact", "foot in contact"),
    ("human", "the human that it follows; far off, a dotted line joins them"),
)  # fmt: skip


def five_tiles(robot: RobotSummary, named: bool, explained: bool) -> Html:
    """Return large tiles with the five metrics over all kept clips."""
    tiles = []
    for metric in MAIN:
        value = robot.five.get(metric.name)
        figure = h("div", score(value), None if value is None else h("small", "%"), class_="big")
        meter = bar([((value or 0) / 100, "kept")], "track meter")
        missing = robot.clips - robot.known.get(metric.name, robot.clips)
        unknown = h("div", f"unknown in {count(missing, 'clip')}", class_="note") if missing else None
        note = h("div", metric.about, class_="note") if explained else None
        tiles.append(h("div", h("div", metric.label), figure, meter, unknown, note, class_="card", title=metric.about))
    return h("div", h("h3", robot.name) if named else None, h("div", tiles, class_="five"), _flags(robot))


def robot_sections(robots: Sequence[RobotSummary], pictures: Mapping[tuple[str, str], Html]) -> list[Html]:
    """Return the sections of every robot in turn."""
    out: list[Html] = []
    for robot in robots:
        out += [
            h("h2", f"How it went on {robot.name}"),
            h("p", f"How many of the {count(robot.clips, 'clip')} reach which score, in percent of their frames or "
              "contacts. Counts are on a logarithmic scale: most clips are at the right end."),
            h("div", [_score_card(data) for data in robot.histograms], class_="five"),
            h("h3", "What else was measured"),
            _beside(robot),
            h("h3", "The worst clips by each metric"),
            *_perfect(robot),
            legend(FIGURE),
            h("div", _worst(robot, pictures), class_="cards"),
        ]  # fmt: skip
    return out


def _score_card(data: Histogram) -> Html:
    tail = f"5 % of clips below {score(data.tail)}" if data.tail < 100 else "95 % of clips at 100"
    note = f"median {score(data.median)}, {tail}, worst {score(data.worst)}"
    chart = histogram(replace(data, counts={"score": data.counts.get("kept", ())}), ("score",), NARROW, log=True)
    return h(
        "div", h("div", h("b", data.metric.label), class_="name"), chart, h("div", note, class_="note"), class_="card"
    )


def _beside(robot: RobotSummary) -> Html:
    heads = [h("th", text, class_="n") for text in ("mean", "median", "95 % are better than", "worst", "")]
    rows = []
    for s in robot.beside:
        numbers = [h("td", decimal(v), class_="n") for v in (s.mean, s.median, s.tail, s.worst)]
        rows.append(h("tr", h("td", s.metric.label), numbers, h("td", s.metric.unit, class_="soft")))
    return h("div", h("table", h("tr", h("th", "measure"), heads), rows), class_="scroll")


def _flags(robot: RobotSummary) -> Html:
    """Return what there is to know beside the five metrics: clips that have all of them at 100 % may be impossible."""
    flags = "; ".join(f"{_flag(word)} ({count(n, 'clip')})" for word, n in robot.flags[:12])
    said = f" are flagged: {flags}." if flags else " are flagged."
    return h("p", f"{robot.flagged:,} of {count(robot.clips, 'clip')} on {robot.name}{said}")


def _flag(word: str) -> str:
    """Return a flag's word with what it is about."""
    return f"{word}: {ROBOT_METRICS[word].label}" if word in ROBOT_METRICS else word


def _perfect(robot: RobotSummary) -> list[Html]:
    everywhere = [name for name in LABELS if robot.known.get(name) == robot.clips]
    names = [LABELS[name] for name in everywhere if not robot.worst.get(name)]
    return [h("p", f"Every clip reaches 100 % in {listed(names)}.")] if names else []


def _worst(robot: RobotSummary, pictures: Mapping[tuple[str, str], Html]) -> list[Html]:
    return [
        _clip_card(name, clip, pictures.get((clip.robot, clip.clip)))
        for name in LABELS
        for clip in robot.worst.get(name, ())
    ]


def _clip_card(name: str, clip: WorstClip, picture: Html | None) -> Html:
    scores = {n: v for n, v in clip.scores.items() if n != name and n in LABELS and v is not None}
    others = [f"{LABELS[n]} {score(v)} %" for n, v in scores.items() if v < 99.95]
    about = [f"{clip.start:.1f} to {clip.end:.1f} s", *([clip.category] if clip.category else []), *others]
    return h(
        "div",
        h("div", h("b", LABELS[name]), h("b", f"{score(clip.value)} %"), class_="name"),
        h("div", clip.recording, class_="note"),
        picture or h("p", "No picture: its file cannot be read. Run: phuma verify DIR"),
        h("div", ", ".join(about), class_="note", title=clip.clip),
        class_="card",
    )

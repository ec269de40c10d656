"""A show as the page is told of it: plain values for JSON."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from phuma.clip import Measure
from phuma.rotations import Array
from phuma.view import style, words
from phuma.view.show import Show, Track

HUMAN = "human"
DIGITS = 5  # that count, in a plot


class Choice(NamedTuple):
    """A robot by a method that can be looked at beside the others."""

    id: str
    title: str
    chosen: bool


def told(show: Show, choices: Sequence[Choice]) -> dict[str, Any]:
    """Everything of a clip but what is drawn."""
    colours = dict(zip((p.id for p in show), style.PERFORMERS * (1 + len(show.performers))))
    series = [(HUMAN, style.TRUNK, track) for track in show.tracks]
    series += [(p.title, colours[p.id], track) for p in sorted(show, key=lambda p: p.ghost) for track in p.tracks]
    return {
        "title": show.title,
        "subtitle": show.subtitle,
        "fps": show.fps,
        "frames": len(show),
        "human": show.human is not None or any(p.motion.human_joints is not None for p in show),
        "kept": show.kept,
        "verdict": show.verdict,
        "reasons": list(show.reasons),
        "facts": [list(fact) for fact in show.facts],
        "measures": [_measure(m) for m in show.measures],
        "performers": [
            {
                "id": p.id,
                "title": p.title,
                "colour": colours[p.id],
                "scores": [[name, f"{words.score(value)} %"] for name, value in p.scores.items()],
                "flags": list(p.flags),
            }
            for p in show
        ],
        "choices": [choice._asdict() for choice in choices],
        "lanes": [{"label": lane.label, "kind": lane.kind, "spans": lane.spans()} for lane in show.lanes],
        "tracks": _plots(series),
        "path": show.path,
    }


def _measure(measure: Measure) -> dict[str, Any]:
    wanted = ">" if measure.bound == "above" else "<"
    return {
        "name": measure.name.replace("_", " "),
        "value": f"{measure.value:.3g}{measure.unit}",
        "limit": f"{wanted} {measure.limit:g}{measure.unit}",
        "passed": measure.passed,
    }


def _plots(series: Iterable[tuple[str, str, Track]]) -> list[dict[str, Any]]:
    """One plot for all tracks of a label."""
    plots: dict[str, dict[str, Any]] = {}
    for name, colour, track in series:
        empty = {"label": track.label, "unit": track.unit, "limits": list(track.limits), "series": []}
        plot = plots.setdefault(track.label, empty)
        plot["series"].append({"name": name, "colour": colour, "values": _numbers(track.value)})
    return list(plots.values())


def _numbers(values: Array) -> list[float | None]:
    return [float(f"{v:.{DIGITS}g}") if np.isfinite(v) else None for v in values]

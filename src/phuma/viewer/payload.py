"""Turn a show into the payload of the page: plain values for JSON."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from phuma.core.clip import Measure
from phuma.core.metric import quantity
from phuma.core.rotations import Array
from phuma.viewer import formatting, style
from phuma.viewer.formatting import beside
from phuma.viewer.show import Show, Track

HUMAN = "human"
DIGITS = 5  # significant digits in a plot


class Choice(NamedTuple):
    """Name a robot and a method that can be shown beside the others."""

    id: str
    title: str
    chosen: bool


def payload_of(show: Show, choices: Sequence[Choice]) -> dict[str, Any]:
    """Return everything about a clip except its geometry, as plain values."""
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
                "scores": [[name, formatting.percentage(value)] for name, value in p.scores.items()],
                "flags": list(p.flags),
                "notes": list(p.notes),
            }
            for p in show
        ],
        "choices": [choice._asdict() for choice in choices],
        "lanes": [{"label": lane.label, "kind": lane.kind, "spans": lane.spans()} for lane in show.lanes],
        "tracks": _plots(series),
        "path": show.path,
    }


def _measure(measure: Measure) -> dict[str, Any]:
    return {
        "name": measure.metric.label,
        "value": quantity(beside(measure.value, measure.limit), measure.metric.unit),
        "limit": measure.metric.needs(measure.limit),
        "passed": measure.passed,
    }


def _plots(series: Iterable[tuple[str, str, Track]]) -> list[dict[str, Any]]:
    """Return one plot for all tracks of a label."""
    plots: dict[str, dict[str, Any]] = {}
    for name, colour, track in series:
        empty = {"label": track.label, "unit": track.unit, "limits": list(track.limits), "series": []}
        plot = plots.setdefault(track.label, empty)
        plot["series"].append({"name": name, "colour": colour, "values": _numbers(track.value)})
    return list(plots.values())


def _numbers(values: Array) -> list[float | None]:
    return [float(f"{v:.{DIGITS}g}") if np.isfinite(v) else None for v in values]

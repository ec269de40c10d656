"""Write a small animation of moving figures as HTML, for a notebook: a canvas and a few kilobytes, without a server.

A figure is made of capsules, segments with a radius. The canvas draws them as thick lines, the farthest first.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from importlib import resources

import numpy as np

from phuma.core.rotations import Array
from phuma.core.skeleton import JOINTS, PARENTS
from phuma.viewer import style
from phuma.viewer.figure import BONE_RADIUS, BONES, HEAD_RADIUS
from phuma.viewer.html import Html, h

RATE, MOST = 15.0, 400
"""Frames a second that are stored, between which the page interpolates, and the number of them at most: of a longer
motion fewer a second are stored"""
UNIT = 0.001
"""Metres of the whole numbers that positions are stored as"""
SIZE = (520, 360)
POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'"


@dataclass(frozen=True, eq=False)
class Capsules:
    """A figure of C capsules over time."""

    start: Array
    """(T, C, 3) m"""
    end: Array
    """(T, C, 3) m"""
    radius: Array
    """(C,) m"""
    colour: str
    ghost: bool = False
    """Whether it is drawn pale"""


def person_of(joints: Array, ghost: bool = False) -> Capsules:
    """Return the bones of a person whose joints (T, 22, 3) are known."""
    start, end = joints[:, [PARENTS[j] for j in BONES]], joints[:, list(BONES)]
    radius = np.array([HEAD_RADIUS if JOINTS[j] == "head" else 1.6 * BONE_RADIUS for j in BONES])
    head = [JOINTS[j] == "head" for j in BONES]
    start = np.where(np.array(head)[None, :, None], end, start)  # a head is a ball
    return Capsules(start, end, radius, style.TRUNK, ghost)


def animation_html(title: str, figures: Sequence[Capsules], fps: float) -> Html:
    """Return a frame that plays figures of the same number of frames, and names them by `title`."""
    frames = len(figures[0].start)
    every = max(1, round(fps / RATE), -(-frames // MOST))
    middle = np.mean([f.start[::every].mean(axis=1) for f in figures], axis=0)
    data = {
        "fps": fps / every,
        "frames": len(middle),
        "tall": round(max(0.5, *(top_of(f) for f in figures)), 3),
        "middle": _packed(middle),
        "figures": [
            {
                "points": _packed(np.stack([f.start[::every], f.end[::every]], axis=2)),
                "radius": [round(float(r), 4) for r in f.radius],
                "colour": f.colour,
                "ghost": f.ghost,
            }
            for f in figures
        ],
    }
    files = resources.files("phuma.viewer") / "page"
    css, script = ((files / f"animation.{kind}").read_text("utf-8") for kind in ("css", "js"))
    page = (
        "<!doctype html>"
        + h("html", Html(
            h("meta", charset="utf-8")
            + h("meta", http_equiv="Content-Security-Policy", content=POLICY)
            + h("title", title)
            + h("style", Html(css))
            + h("canvas", id="stage", role="img", aria_label=title)
            + h("div", Html(
                h("button", "pause", id="play", type="button")
                + h("input", id="time", type="range", min="0", max=str(len(middle) - 1), step="any", value="0",
                    aria_label="time")
                + h("output", "", id="now")))
            + h("p", title)
            + f'<script type="application/json" id="data">{json.dumps(data, separators=(",", ":"))}</script>'
            + f"<script>{script}</script>"), lang="en")
    )  # fmt: skip
    width, height = SIZE
    frame = h(
        "iframe", width=str(width), height=str(height + 64), title=title, loading="lazy", sandbox="allow-scripts",
        style="border:0;max-width:100%",
    )  # fmt: skip
    return Html(frame.replace("<iframe ", f'<iframe srcdoc="{escape(page)}" ', 1))  # `h` would spell out line ends


def top_of(figure: Capsules) -> float:
    """Return the height in m that a figure reaches, but for a tenth of the time."""
    top = np.maximum(figure.start[..., 2], figure.end[..., 2]) + figure.radius
    return float(np.quantile(top.max(axis=1), 0.9))


def _packed(values: Array) -> str:
    """Return positions in m as base64 of little-endian whole numbers of 16 bits; 32 m are the farthest."""
    whole = np.round(values / UNIT).clip(-(2**15), 2**15 - 1)
    return base64.b64encode(np.ascontiguousarray(whole, dtype="<i2").tobytes()).decode()

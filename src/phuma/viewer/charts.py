"""Draw bars and histograms as SVG inside a page, in the page's colours."""

from __future__ import annotations

import math
from collections.abc import Sequence

from phuma.core.dataset_summary import Histogram
from phuma.core.metric import quantity
from phuma.viewer.html import Html, h
from phuma.viewer.report_style import colour

HEIGHT, LEFT, TOP, BOTTOM = 142, 5, 20, 120
WIDE, NARROW = 320, 215
LEAST = 1.5  # a bar of few clips stays visible
LEGEND = {"kept": "kept", "other": "rejected by another filter", "this": "rejected by this filter", "score": "clips"}


def bar(parts: Sequence[tuple[float, str]], kind: str = "track") -> Html:
    """Return a bar across the page; parts are shares of its width with the names of their colours."""
    return h(
        "div",
        [h("i", style=f"width:{100 * share:.2f}%;background:{colour(name)}") for share, name in parts if share > 0],
        class_=f"bar {kind}",
    )


def legend(entries: Sequence[tuple[str, str]]) -> Html:
    """Return a legend of (name of a colour, what it stands for)."""
    return h("div", [h("span", h("i", style=f"background:{colour(c)}"), text) for c, text in entries], class_="legend")


class Frame:
    """Map values and counts to positions in the picture."""

    def __init__(self, data: Histogram, highest: int, width: int, log: bool) -> None:
        self.data, self.width, self.right, self.log = data, width, width - 5, log
        self.highest = max(highest, 10 if log else 1)
        self.step = (self.right - LEFT) / (len(data.edges) - 1)

    def x(self, value: float) -> float:
        first, last = self.data.edges[0], self.data.edges[-1]
        return LEFT + (value - first) / (last - first) * (self.right - LEFT)

    def tall(self, clips: int) -> float:
        """Return the height of a bar; on a logarithmic scale one clip has a bar, too."""
        share = (math.log10(clips) + 0.25) / (math.log10(self.highest) + 0.25) if self.log else clips / self.highest
        return max(LEAST, share * (BOTTOM - TOP))


def histogram(data: Histogram, kinds: Sequence[str], width: int = WIDE, log: bool = False) -> Html:
    """Return bars piled up in the order of `kinds`, with the limit drawn in. Only single bars may be logarithmic."""
    assert not log or len(kinds) == 1, "the parts of a pile cannot be read off a logarithmic scale"
    piles = [data.counts.get(kind, ()) or (0,) * (len(data.edges) - 1) for kind in kinds]
    totals = [sum(counts) for counts in zip(*piles)]
    frame = Frame(data, max(totals), width, log)
    return h(
        "svg",
        _levels(frame),
        _piles(frame, kinds, piles),
        h("line", x1=LEFT, x2=frame.right, y1=BOTTOM, y2=BOTTOM, class_="axis"),
        _beyond(frame),
        [_tick(frame, v) for v in ticks(data.edges[0], data.edges[-1], width // 60)],
        _limit(frame, data.limit) if data.limit is not None else None,
        _hovers(frame, kinds, piles, totals),
        viewBox=f"0 0 {width} {HEIGHT}", role="img", aria_label=f"distribution of {data.metric.label}",
    )  # fmt: skip


def _levels(frame: Frame) -> list[Html]:
    """Return horizontal grid lines with the number of clips that each stands for."""
    levels = [10**k for k in range(1 + int(math.log10(frame.highest)))] if frame.log else [frame.highest]
    out = []
    for n in levels:
        y, text, above = BOTTOM - frame.tall(n), *((f"{n:,}", 2) if frame.log else (f"{n:,} clips", 5))
        out += [
            h("line", x1=LEFT, x2=frame.right, y1=f"{y:.1f}", y2=f"{y:.1f}", class_="grid-line"),
            h("text", text, x=LEFT, y=f"{y - above:.1f}"),
        ]
    return out


def _piles(frame: Frame, kinds: Sequence[str], piles: Sequence[Sequence[int]]) -> list[Html]:
    """Return one path for each colour."""
    bottoms, width = [float(BOTTOM)] * (len(frame.data.edges) - 1), frame.step - 0.8
    out = []
    for kind, counts in zip(kinds, piles):
        d = ""
        for i, clips in enumerate(counts):
            if clips:
                tall = frame.tall(clips)
                d += f"M{LEFT + i * frame.step + 0.4:.1f} {bottoms[i]:.1f}v{-tall:.1f}h{width:.1f}v{tall:.1f}z"
                bottoms[i] -= tall
        out.append(h("path", d=d, class_=f"f-{kind}"))
    return out


def _tick(frame: Frame, value: float) -> Html:
    at = frame.x(value)
    anchor = "start" if at < LEFT + 9 else "end" if at > frame.right - 9 else "middle"
    return h("text", f"{value:g}", x=f"{at:.1f}", y=BOTTOM + 13, text_anchor=anchor)


def _beyond(frame: Frame) -> list[Html]:
    """Return arrows at the ends whose bars hold all clips beyond them."""
    low = h("path", d=f"M{LEFT} {BOTTOM - 3}l-4 3l4 3", class_="arrow") if frame.data.open_low else None
    high = h("path", d=f"M{frame.right} {BOTTOM - 3}l4 3l-4 3", class_="arrow") if frame.data.open_high else None
    return [mark for mark in (low, high) if mark is not None]


def _limit(frame: Frame, limit: float) -> list[Html]:
    at, data = frame.x(limit), frame.data
    label = f"needs {data.metric.needs(limit)}"
    side = ("start", at + 4) if at < frame.width / 2 else ("end", at - 4)
    return [
        h("line", x1=f"{at:.1f}", x2=f"{at:.1f}", y1=TOP - 14, y2=BOTTOM, class_="limit"),
        h("text", label, x=f"{side[1]:.1f}", y=TOP - 5, text_anchor=side[0], class_="limit-text"),
    ]


def _hovers(frame: Frame, kinds: Sequence[str], piles: Sequence[Sequence[int]], totals: Sequence[int]) -> list[Html]:
    """Return the text that each bar shows when a pointer rests on it."""
    data, out = frame.data, []
    for i, total in enumerate(totals):
        if not total:
            continue
        low, high = (f"{v:.4g}" for v in data.edges[i : i + 2])
        where = quantity(f"{low} to {high}", data.metric.unit)
        if data.open_low and i == 0:
            where = f"below {quantity(high, data.metric.unit)}"
        if data.open_high and i == len(totals) - 1:
            where = f"above {quantity(low, data.metric.unit)}"
        counts = ", ".join(f"{pile[i]:,} {LEGEND[kind]}" for kind, pile in zip(kinds, piles) if pile[i])
        x, width = f"{LEFT + i * frame.step:.1f}", f"{frame.step:.1f}"
        area = h("rect", x=x, y=TOP, width=width, height=BOTTOM - TOP, class_="hover")
        out.append(h("g", h("title", f"{where}: {counts}"), area))
    return out


def ticks(first: float, last: float, about: int = 5) -> list[float]:
    """Return round values between first and last."""
    raw = (last - first) / about
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(m * power for m in (1, 2, 2.5, 5, 10) if m * power >= raw * 0.999)
    places = max(0, 2 - math.floor(math.log10(step)))
    start, end = math.ceil(first / step - 1e-6), math.floor(last / step + 1e-6)
    return [round(i * step, places) + 0.0 for i in range(start, end + 1)]

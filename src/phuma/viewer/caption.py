"""Write beside pictures what they show."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from phuma.core.rotations import Array
from phuma.viewer import style

HEIGHT = 20
"""Height of a caption in pixels: even, as films need it"""
DPI = 80
LEAST_WIDTH = 320
"""Width in pixels of a picture that is written on: in less nobody could read it"""


def differences(titles: Sequence[str]) -> list[str]:
    """Return what is not the same in all titles, word by word from both ends; the whole titles where nothing is left of
    one."""
    words = [title.split() for title in titles]
    if len(words) < 2:
        return list(titles)
    shortest = min(map(len, words))
    first = next((k for k in range(shortest) if len({w[k] for w in words}) > 1), shortest)
    last = next((k for k in range(shortest - first) if len({w[-1 - k] for w in words}) > 1), shortest - first)
    left = [" ".join(w[first : len(w) - last]) for w in words]
    return left if all(left) else list(titles)


def caption(texts: Sequence[str], width: int) -> Array:
    """Return a picture (HEIGHT, width, 3) uint8 with the texts evenly across it."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    figure = style.figure((width + 0.5) / DPI, (HEIGHT + 0.5) / DPI)  # matplotlib cuts to whole pixels
    figure.set_dpi(DPI)
    canvas = FigureCanvasAgg(figure)
    for k, text in enumerate(texts):
        figure.text((k + 0.5) / len(texts), 0.5, text, ha="center", va="center", fontsize=8, color=style.INK)
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())[..., :3].copy()

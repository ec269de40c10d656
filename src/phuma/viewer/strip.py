"""Draw what was recorded over time as a strip below a film, with a line at the instant that is shown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from phuma.core.rotations import Array
from phuma.viewer import style
from phuma.viewer.show import Track

HEIGHT = 120
"""Height of a strip in pixels: even, as films need it"""
DPI = 80
LINE = np.array(style.rgb(style.REJECTED), dtype=np.uint8)


class Plot(NamedTuple):
    """Hold a quantity over time to be drawn in a strip; those of one title share a panel."""

    title: str
    colour: str
    track: Track
    fps: float


class Strip:
    """Draw the panels of a strip once, and then only the instants."""

    def __init__(self, plots: Sequence[Plot], seconds: float, width: int) -> None:
        from matplotlib.backends.backend_agg import FigureCanvasAgg

        figure = style.figure((width + 0.5) / DPI, (HEIGHT + 0.5) / DPI)  # matplotlib cuts to whole pixels
        figure.set_dpi(DPI)
        canvas = FigureCanvasAgg(figure)
        titles = list(dict.fromkeys(plot.title for plot in plots))
        panels = figure.subplots(1, len(titles), squeeze=False)[0]
        for ax, title in zip(panels, titles):
            for plot in (plot for plot in plots if plot.title == title):
                ax.plot(np.arange(len(plot.track.value)) / plot.fps, plot.track.value, color=plot.colour, linewidth=1)
                for limit in plot.track.limits:
                    ax.axhline(limit, color=style.REJECTED, linewidth=1, linestyle=(0, (4, 3)))
            style.tidy(ax, xlim=(0, seconds), ylim=(0, None))
            ax.tick_params(labelsize=6)
            ax.set_title(title, fontsize=7, color=style.INK, loc="left")
        canvas.draw()
        self._picture = np.asarray(canvas.buffer_rgba())[..., :3].copy()
        self._panels = [ax.get_window_extent().extents.round().astype(int) for ax in panels]
        self._seconds = seconds

    def at(self, times: Iterable[float]) -> Array:
        """Return the picture (HEIGHT, width, 3) uint8 with a line at each of the times, s."""
        picture = self._picture.copy()
        for share in (min(time / self._seconds, 1.0) for time in times):
            for left, bottom, right, top in self._panels:
                x = min(left + round(share * (right - left)), picture.shape[1] - 1)
                picture[len(picture) - top : len(picture) - bottom, x] = LINE
        return picture

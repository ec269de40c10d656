"""Draw what curation measured over time, with its limits and verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from phuma.core.human_motion import HumanMotion
from phuma.core.rotations import Array
from phuma.core.skeleton import REGIONS
from phuma.viewer import style
from phuma.viewer.show import Track
from phuma.viewer.stills import draw_stills

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class Span(NamedTuple):
    """Hold the start and end of a clip in its recording, s, and whether it is kept."""

    start: float
    end: float
    kept: bool


def recording_figure(
    title: str, motion: HumanMotion, contact: Array, tracks: Sequence[Track], spans: Sequence[Span]
) -> Figure:
    """Return a picture of a recording: stills on top, clips in green and red, contacts, then one row per track."""
    rows = 3 + len(tracks)
    heights = [2.4, 0.35, 0.9] + [1.0] * len(tracks)
    fig = style.figure(11, sum(heights) + 0.4)
    grid = fig.add_gridspec(rows, 1, height_ratios=heights)
    fig.suptitle(title, fontsize=10, color=style.INK, x=0.01, ha="left")
    draw_stills(fig.add_subplot(grid[0]), motion, contact, count=10)
    end = len(motion) / motion.fps
    _draw_spans(fig.add_subplot(grid[1]), spans, end)
    _draw_contacts(fig.add_subplot(grid[2]), contact, end)
    for i, track in enumerate(tracks):
        _draw_track(fig.add_subplot(grid[3 + i]), track, motion.fps, end, i == len(tracks) - 1)
    return fig


def draw_tracks(path: Path, title: str, tracks: Sequence[Track], fps: float) -> None:
    """Write a picture of tracks."""
    tracks_figure(title, tracks, fps).savefig(path)


def tracks_figure(title: str, tracks: Sequence[Track], fps: float) -> Figure:
    """Return one row per track, where there is no person to be drawn."""
    fig = style.figure(11, 1.7 * len(tracks) + 0.4)
    fig.suptitle(title, fontsize=10, color=style.INK, x=0.01, ha="left")
    end = max(len(track.value) for track in tracks) / fps
    for i, (ax, track) in enumerate(zip(fig.subplots(len(tracks), 1, squeeze=False)[:, 0], tracks)):
        _draw_track(ax, track, fps, end, i == len(tracks) - 1)
    return fig


def _draw_track(ax: Axes, track: Track, fps: float, end: float, last: bool) -> None:
    ax.plot(np.arange(len(track.value)) / fps, track.value, color=style.TRUNK, linewidth=1)
    for limit in track.limits:
        ax.axhline(limit, color=style.REJECTED, linewidth=1, linestyle=(0, (4, 3)))
    top = max([*track.limits, float(np.nanquantile(np.append(track.value, 0.0), 0.99))])
    style.tidy(ax, xlim=(0, end), ylim=(0, 1.15 * top), ylabel=f"{track.label}\n{track.unit}")
    ax.set_xlabel("seconds" if last else "")


def _draw_spans(ax: Axes, spans: Sequence[Span], end: float) -> None:
    for k, span in enumerate(spans):
        colour = style.KEPT if span.kept else style.REJECTED
        ax.barh(k % 2, span.end - span.start, left=span.start, height=0.8, color=colour)
    ax.set(xlim=(0, end), ylim=(-0.6, 1.6), yticks=[], xticks=[])
    ax.set_ylabel("clips", fontsize=8, color=style.INK, rotation=0, ha="right", va="center")
    ax.spines[:].set_visible(False)


def _draw_contacts(ax: Axes, contact: Array, end: float) -> None:
    ax.imshow(
        contact.T, aspect="auto", cmap="Greens", vmin=0, vmax=1, interpolation="nearest", extent=(0, end, 3.5, -0.5)
    )
    ax.set(yticks=range(4), yticklabels=[r.replace("_", " ") for r in REGIONS], xticks=[])
    ax.tick_params(labelsize=7, length=0, colors=style.INK)
    ax.spines[:].set_visible(False)

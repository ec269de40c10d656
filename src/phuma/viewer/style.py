"""Define the colours and lettering that all pictures share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from phuma.errors import MissingExtraError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LEFT, RIGHT, TRUNK = "#2a6fbb", "#d9722e", "#3c4048"
CONTACT, GROUND = "#2f9e5b", "#b9bec7"
KEPT, REJECTED = "#2f9e5b", "#c8403a"
FAR = "#a8328f"
"""The colour of a foot that is far from where it should be"""
INK, FAINT = "#2b2f36", "#e7e9ed"
WANTED, LATER = "#2f9e5b", "#8fb8a0"
"""The colours of a path on the floor that a robot is to walk, and of one that is drawn and not walked yet."""
PERFORMERS = ("#4f6486", "#d6a54a", "#9a80cf", "#45a5a0", "#c07c9f", "#83a05f")
"""The colours of robots that are shown together, in their order."""


def rgb(colour: str) -> tuple[int, int, int]:
    """Return red, green and blue, 0 to 255, of a colour like "#d6a54a"."""
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def tinted(shape: Sequence[int], colour: str) -> tuple[int, int, int]:
    """Return a robot's colour, as light or dark as a shape's own; values are 0 to 255."""
    light = 0.6 + 0.6 * sum(shape) / (3 * 255)
    r, g, b = (min(255, round(light * c)) for c in rgb(colour))
    return r, g, b


def figure(width: float, height: float) -> Figure:
    """Return an empty figure of this size in inches, drawn without a screen."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError("matplotlib", "plot", "a picture") from None
    return Figure(figsize=(width, height), dpi=110, facecolor="white", layout="constrained")


def tidy(ax: Axes, **labels: Any) -> None:
    """Give axes a plain frame and a light grid."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(GROUND)
    ax.tick_params(colors=INK, labelsize=8, length=2)
    ax.grid(True, color=FAINT, linewidth=0.7)
    ax.set_axisbelow(True)
    ax.set(**labels)
    ax.xaxis.label.set(size=8, color=INK)
    ax.yaxis.label.set(size=8, color=INK)

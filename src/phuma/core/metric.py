"""The declaration of a metric: its name, which way is better, and how it is reported.

The declarations are in `core.curation_metrics` (of a human's clip) and `core.robot_metrics` (of a robot's motion). They
are the one source of the manifest's columns, the funnel, the report, the viewer's plots and lanes, the tables of the
commands and the documentation; the functions that compute the values are in `curation/` and `retargeting/`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

MOST_PLACES = 6


@dataclass(frozen=True)
class Series:
    """A quantity that a metric judges in every frame: an attribute of the frames that its stage measured.

    Booleans become a lane on the viewer's timeline, numbers a plot. An array (T, K) is reduced over K: any of the
    booleans, the largest of the numbers.
    """

    name: str
    """Name of the attribute of `FrameMetrics`, `FrameDynamics` or `RobotFrames`"""
    label: str
    unit: str = ""
    factor: float = 1.0
    """Factor by which the attribute is multiplied to be in `unit`"""
    limit: float | None = None
    """Limit in `unit` that every single frame is held against; None where only the clip as a whole has a limit"""


@dataclass(frozen=True)
class Rejection:
    """The text by which a rejection is reported, in a unit that people grasp: factor * value + offset."""

    text: str
    """A clause with `{value}` in it, to which the limit is added"""
    unit: str
    factor: float = 1.0
    offset: float = 0.0

    def words(self, value: float, limit: float, better: Literal["high", "low"]) -> str:
        """Return the clause with the value, and the limit in brackets, both in `unit`."""
        shown, bound = (self.factor * number + self.offset for number in (value, limit))
        wanted = "at most" if (better == "low") == (self.factor > 0) else "at least"
        shown_value = quantity(number_beside(shown, bound), self.unit)
        return f"{self.text.format(value=shown_value)} ({wanted} {quantity(f'{bound:g}', self.unit)})"


def quantity(number: str, unit: str) -> str:
    """Return a number with its unit: `0.8 s`, `54 %`, `6.2°`."""
    return f"{number}{unit}" if unit == "°" else f"{number} {unit}".rstrip()


def number_beside(value: float, limit: float) -> str:
    """Return a value with few decimal places, but with so many that it does not read like the limit."""
    places = 0 if abs(limit) >= 10 else 1
    while places < MOST_PLACES and float(f"{value:.{places}f}") == float(f"{limit:.{places}f}") and value != limit:
        places += 1
    return f"{value:.{places}f}"


@dataclass(frozen=True)
class Metric:
    """One number of a clip or of a robot's motion, declared once for all that uses it."""

    name: str
    """Name of the metric and of its column in the manifest; with `_limit` behind it the column of its limit"""
    label: str
    """Heading in plain words"""
    unit: str
    better: Literal["high", "low"]
    about: str
    """Description for the documentation"""
    limit: float | None = None
    """Limit that a value has to be better than: beyond it a human's clip is rejected and a robot's motion flagged; None
    where neither is done for it"""
    rejection: Rejection | None = None
    """Words by which a value beyond the limit is reported"""
    series: tuple[Series, ...] = ()
    """Quantities of it that can be seen in every frame"""
    weight: str = "frames"
    """Count that weighs a motion's value when motions are averaged; where it is 0 the value is unknown"""
    flag: str = ""
    """Word that a report of a value beyond the limit begins with; the metric's name where empty"""

    @property
    def sign(self) -> str:
        """Return the sign between a value and a limit that it passes."""
        return ">" if self.better == "high" else "<"

    @property
    def bound(self) -> Literal["above", "below"]:
        """Return the side of the limit on which a value has to be."""
        return "above" if self.better == "high" else "below"

    def passes(self, value: float, limit: float) -> bool:
        """Return whether a value is on the good side of a limit; at the limit it is not."""
        return value > limit if self.better == "high" else value < limit

    def needs(self, limit: float) -> str:
        """Return what a value has to be, as in `< 50 m/s³`."""
        return f"{self.sign} {quantity(f'{limit:g}', self.unit)}"

    def why(self, value: float, limit: float) -> str:
        """Return in plain words what is wrong with a value beyond the limit."""
        if self.rejection is None:
            return f"{quantity(f'{value:.3g}', self.unit)}, needs {self.needs(limit)}"
        return self.rejection.words(value, limit, self.better)

    def report(self, value: float, limit: float) -> str:
        """Return a value beyond the limit as it is told: `duration: the clip lasts 0.8 s (at least 1 s)`."""
        return f"{self.flag or self.name}: {self.why(value, limit)}"

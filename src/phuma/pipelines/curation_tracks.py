"""Turn the series that curation measures into tracks for the plot and the viewer."""

from __future__ import annotations

from collections.abc import Sequence

from phuma.core.clip import Measure
from phuma.core.metric import Series
from phuma.curation.config import PRESETS
from phuma.curation.dynamic import FrameDynamics
from phuma.curation.paper import FrameMetrics
from phuma.viewer.show import Track


def human_tracks(frames: FrameMetrics | FrameDynamics, measures: Sequence[Measure]) -> tuple[Track, ...]:
    """Return a track for each series that the preset's filters use, with the limits of the clip's measures."""
    preset = PRESETS["dynamic" if isinstance(frames, FrameDynamics) else "paper"]
    found: dict[Series, list[float]] = {series: [] for metric in preset for series in metric.series}
    for measure in measures:
        for series in measure.metric.series:
            if series in found:
                found[series].append(measure.limit)
    return tuple(Track(s.label, s.unit, s.factor * getattr(frames, s.name), tuple(own)) for s, own in found.items())

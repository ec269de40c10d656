"""What curation looks at, over time, as the plot and the viewer draw it."""

from __future__ import annotations

from collections.abc import Sequence

from phuma.clip import Measure
from phuma.curation.dynamic import FrameDynamics
from phuma.curation.paper import FrameMetrics
from phuma.view.show import Track


def human_tracks(frames: FrameMetrics | FrameDynamics, measures: Sequence[Measure]) -> tuple[Track, ...]:
    """What the filters look at, with their limits."""
    by_name = {m.name: m for m in measures}

    def track(series: str, unit: str, *names: str, scale: float = 1.0) -> Track:
        limits = tuple(by_name[name].limit for name in names or (series,) if name in by_name)
        return Track(series.replace("_", " "), unit, scale * getattr(frames, series), limits)

    if isinstance(frames, FrameDynamics):
        return (
            track("helping_force", "body weights"),
            track("sliding", "m/s", "sole_slide"),
            track("away", "mm", "shake", scale=1000.0),
        )
    return (
        track("root_jerk", "m/s^3"),
        track("contact_score", ""),
        track("pelvis_height", "m", "pelvis_min", "pelvis_max"),
        track("pelvis_support", "m"),
        track("spine_support", "m"),
    )

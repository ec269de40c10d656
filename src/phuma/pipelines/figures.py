"""Draw a person's motion over time: stills, contacts and what curation measures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phuma.core.clip import Clip
from phuma.curation import Curation

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def recording_figure(title: str, curation: Curation) -> Figure:
    """Return a picture of a curated recording."""
    from phuma.pipelines.curation_tracks import human_tracks
    from phuma.viewer import timeline

    start = curation.motion.provenance.start
    tracks = human_tracks(curation.frames, curation.verdict.measures)
    spans = [timeline.Span(c.start - start, c.end - start, c.verdict.kept) for c in curation.clips]
    return timeline.recording_figure(title, curation.motion, curation.contact.ratio, tracks, spans)


def clip_figure(title: str, clip: Clip) -> Figure:
    """Return a picture of a clip."""
    from phuma.viewer import timeline
    from phuma.viewer.show import Track

    height = Track("pelvis height", "m", clip.motion.root_pos[:, 2])
    span = timeline.Span(0.0, clip.motion.duration, clip.verdict.kept)
    return timeline.recording_figure(title, clip.motion, clip.contact.ratio, [height], [span])

"""The metrics of curation: one declaration of each filter, its limit included.

To add a filter, declare it here in the preset that it belongs to, and return its value in the `judge` of that preset:
`curation/paper.py` or `curation/dynamic.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from phuma.core.metric import Metric, Rejection, Series

_PELVIS_HEIGHT = Series("pelvis_height", "pelvis height", "m")

PAPER: tuple[Metric, ...] = (
    Metric(
        "root_jerk", "root jerk", "m/s³", "low", "mean jerk of the pelvis", 50.0,
        Rejection("the pelvis jerks by {value} on average", "m/s³"),
        (Series("root_jerk", "root jerk", "m/s³"),),
    ),
    Metric(
        "contact_score", "foot contact score", "", "high",
        "mean over frames of the best region's contact ratio, 0 to 1", 0.6,
        Rejection("no sole on the ground for {value} of the clip", "%", -100.0, 100.0),
        (Series("contact_score", "contact score"),),
    ),
    Metric(
        "pelvis_min", "lowest pelvis height", "m", "high", "lowest height of the pelvis", 0.6,
        Rejection("the pelvis comes down to {value} above the ground", "cm", 100.0), (_PELVIS_HEIGHT,),
    ),
    Metric(
        "pelvis_max", "greatest pelvis height", "m", "low", "greatest height of the pelvis", 1.5,
        Rejection("the pelvis rises to {value} above the ground", "cm", 100.0), (_PELVIS_HEIGHT,),
    ),
    Metric(
        "pelvis_support", "pelvis to base of support", "m", "low",
        "mean distance of the pelvis to the base of support", 0.06,
        Rejection("the pelvis is {value} outside the base of support on average", "cm", 100.0),
        (Series("pelvis_support", "pelvis support", "m"),),
    ),
    Metric(
        "spine_support", "spine1 to base of support", "m", "low",
        "mean distance of the lowest spine joint to the base of support", 0.11,
        Rejection("the lowest spine joint is {value} outside the base of support on average", "cm", 100.0),
        (Series("spine_support", "spine support", "m"),),
    ),
)  # fmt: skip
"""Filters of preset `paper` in the paper's order (jitter, contact, height, support), with the paper's limits (appendix
A.1)"""

DYNAMIC: tuple[Metric, ...] = (
    Metric(
        "external_support_force", "external support force", "body weights", "low",
        "the most that the ground alone could not give, in the mean over a second", 0.15,
        Rejection("a force of {value} of the body weight, held for a second, comes from elsewhere than the ground", "%",
                  100.0),
        (Series("external_support_force", "external support force", "body weights"),),
    ),
    Metric(
        "sole_slide", "sliding of loaded soles", "m/s", "low", "speed of soles that are loaded, lower quartile", 0.15,
        Rejection("soles that carry the weight slide at {value}", "cm/s", 100.0),
        (Series("sliding", "sliding of loaded soles", "m/s"),),
    ),
    Metric(
        "ground_drift", "drift of the ground", "m/s", "low", "by how much the ground seems to rise or sink", 0.03,
        Rejection("the ground seems to rise or sink at {value}", "cm/s", 100.0),
    ),
    Metric(
        "ground_tilt", "tilt of the ground", "°", "low", "by how much the world seems to be tilted", 4.0,
        Rejection("the whole recording is tilted by {value}", "°"),
    ),
    Metric(
        "shake", "shake of the pelvis", "mm", "low",
        "what of the pelvis' path is faster than 9 Hz, root mean square", 3.0,
        Rejection("the pelvis shakes by {value} about its path", "mm"),
        (Series("away", "shake of the pelvis", "mm", 1000.0),),
    ),
)  # fmt: skip
"""Filters of preset `dynamic`, in the order in which they are reported"""

MENDING: tuple[Metric, ...] = (
    Metric(
        "mended_tilt", "levelled by", "°", "low", "by how much the recording was levelled", 15.0,
        Rejection("the whole recording would have to be levelled by {value}", "°"),
    ),
    Metric(
        "mended_drift", "drift taken out", "m/s", "low", "the drift of the ground that was taken out", 0.075,
        Rejection("a ground that rises or sinks at {value} would have to be held", "cm/s", 100.0),
    ),
    Metric(
        "mended_float", "set down by", "m", "low", "by how much a part that floated was set down, at most", 0.25,
        Rejection("a part would have to be set down by {value}", "cm", 100.0),
    ),
    Metric(
        "mended_slide", "slide taken out", "m/s", "low", "the slide of standing feet that was taken out, at most", 0.45,
        Rejection("a slide of {value} would have to be taken out", "cm/s", 100.0),
    ),
)  # fmt: skip
"""Sizes of what was mended before a clip was judged; what would take more than the limit is left and rejected"""

DURATION = Metric(
    "duration", "length of the clip", "s", "high", "only where a clip is too short, else null",
    rejection=Rejection("the clip lasts {value}", "s"),
)  # fmt: skip
"""Filter of recordings that are too short for a clip, measured of them alone; its limit is the configuration's"""

CURATION: tuple[Metric, ...] = (*PAPER, *DYNAMIC, *MENDING, DURATION)
CURATION_METRICS = {metric.name: metric for metric in CURATION}

_RENAMED = {"helping_force": "external_support_force"}
RENAMED = {f"{old}{end}": f"{new}{end}" for old, new in _RENAMED.items() for end in ("", "_limit")}
"""Names of metrics and of the columns of their limits in files of earlier versions, with their names today"""


def with_current_names(values: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return values by the names that metrics have today."""
    if RENAMED.keys().isdisjoint(values):
        return values
    return {RENAMED.get(name, name): value for name, value in values.items()}

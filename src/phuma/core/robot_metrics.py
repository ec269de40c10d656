"""The metrics of a robot's motion: one declaration of each, the limits that they are counted by, and the limits beyond
which a motion is flagged.

To add a metric, declare it here and return its value in `retargeting.measure.measure`. A value of None is unknown:
there was nothing to measure it on.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from phuma.core.metric import Metric, Rejection, Series

POSITION_LIMIT = 0.10
"""Mean distance in m of the joints from the human's below which a frame counts as near the human"""
DIRECTION_LIMIT = 10.0
"""Mean angle in degrees of the limbs from the human's below which a frame counts as near the human"""
MARGIN = 0.98
"""Share of its range and of its speed limit within which a joint counts as feasible"""
HEIGHT_LIMIT = 0.01
"""Height in m above or below the ground within which a sole in contact neither floats nor penetrates"""
SLIP_LIMIT = 0.10
"""Speed in m/s over the ground below which a sole in contact does not skate"""

STANDING_SPEED = 0.50
"""Speed in m/s that a heel has when it is merely lifted: the human's fastest ankle counts as at least that fast"""

SAMPLES: Mapping[str, str] = {
    "frames": "the clip has no frame",
    "contact_samples": "no sole is in contact in this clip",
    "step_samples": "no sole is in contact for two frames running",
}
"""Counts that metrics are averages over, and what it means that there are none: frames, sole regions in contact, and
those in contact at two frames running"""

LOWEST = 80.0
"""Percent that a main metric has to be above, or else a motion is flagged"""
ALL, NONE = 99.99, 0.01
"""Percent of frames that are all, and that are none: a single frame beyond limits, or inside itself, is flagged"""

MAIN: tuple[Metric, ...] = (
    Metric(
        "fidelity", "motion fidelity", "%", "high",
        "frames near the human: joints within 10 cm, limbs within 10° on average",
        LOWEST, Rejection("{value} of frames are near the human", "%"),
        (Series("position_error", "position error", "cm", 100.0, 100 * POSITION_LIMIT),
         Series("direction_error", "direction error", "°", limit=DIRECTION_LIMIT),
         Series("feet_far", "foot far off"),
         Series("foot_error", "foot off the human's", "cm", 100.0, 100 * POSITION_LIMIT)),
    ),
    Metric(
        "feasibility", "joint feasibility", "%", "high", "frames with every joint within 98 % of its range and speed",
        ALL, Rejection("{value} of frames have every joint within its range and speed", "%"),
        (Series("over", "joint beyond its limit"),
         Series("joint_use", "joint use", "% of range", limit=100 * MARGIN)),
    ),
    Metric(
        "non_floating", "non-floating", "%", "high", "contacts at most 1 cm above the ground",
        LOWEST, Rejection("{value} of contacts are at most 1 cm above the ground", "%"),
        (Series("stance_height", "standing soles off the ground", "mm", 1000.0, 1000 * HEIGHT_LIMIT),),
        weight="contact_samples",
    ),
    Metric(
        "non_penetration", "non-penetration", "%", "high", "contacts at most 1 cm below the ground",
        LOWEST, Rejection("{value} of contacts are at most 1 cm below the ground", "%"), weight="contact_samples",
    ),
    Metric(
        "non_skating", "non-skating", "%", "high", "contacts that slip by less than 10 cm/s",
        LOWEST, Rejection("{value} of contacts slip by less than 10 cm/s", "%"),
        (Series("slips", "standing sole slides"),
         Series("slip", "slip of standing soles", "cm/s", 100.0, 100 * SLIP_LIMIT)),
        weight="step_samples",
    ),
)  # fmt: skip
"""The five metrics that matter most, in percent: 100 is perfect"""

BESIDE: tuple[Metric, ...] = (
    Metric(
        "fidelity_aligned", "fidelity, pelvis on pelvis", "%", "high",
        "as `fidelity`, with the roots laid on one another",
    ),
    Metric(
        "fidelity_every", "fidelity of every joint at once", "%", "high",
        "as `fidelity`, but every joint and link has to be that near",
    ),
    Metric(
        "fidelity_samples", "fidelity of single joints and limbs", "%", "high",
        "joints and links, frame by frame, that are that near",
    ),
    Metric("position_error_cm", "distance to the human's joints", "cm", "low", "mean over 12 joints"),
    Metric("direction_error_deg", "angle to the human's limbs", "°", "low", "mean over 12 links"),
    Metric(
        "non_penetration_all", "non-penetration, also out of contact", "%", "high",
        "sole points in all frames, contact or not, at most 1 cm below the ground",
    ),
    Metric(
        "stance_roll_deg", "sideways lean of standing soles", "°", "low", "mean sideways lean of standing soles",
        1.0, Rejection("standing soles lean sideways by {value} on average", "°"),
    ),
    Metric("slip_cm_s_median", "median slip in contact", "cm/s", "low", "speed of contacts over the ground: median"),
    Metric(
        "slip_cm_s_p99", "99th percentile of slip in contact", "cm/s", "low",
        "speed of contacts over the ground: 99th percentile",
    ),
    Metric(
        "height_mm_p99", "99th percentile of sole heights in contact", "mm", "low",
        "distance of contacts from the ground, either way: 99th percentile",
    ),
    Metric(
        "ankle_speed", "speed of the fastest ankle", "m/s", "low", "greatest speed of either ankle in any frame",
        series=(Series("ankle_speed", "fastest ankle", "m/s"),),
    ),
    Metric(
        "ankle_speed_ratio", "fastest ankle, by the human's", "", "low",
        "`ankle_speed` over that of the adapted human, which counts as 0.5 m/s at least; beyond the limit it is a leap",
        1.5, Rejection("an ankle is {value} as fast as the human's ever is", "times"), flag="leap",
    ),
    Metric(
        "joint_speed", "greatest joint speed, of its limit", "%", "low", "largest speed of any joint, of its limit",
        100.0, Rejection("a joint turns at {value} of its greatest speed", "%"),
    ),
    Metric(
        "joint_jerk", "joint jerk", "rad/s³", "low", "mean over joints and frames",
        500.0, Rejection("the joints jerk by {value} on average", "rad/s³"),
    ),
    Metric(
        "self_penetration", "frames with limbs over 1 cm inside each other", "%", "low",
        "frames in which links are more than 1 cm inside each other",
        NONE, Rejection("links are more than 1 cm inside each other in {value} of frames", "%"),
    ),
    Metric(
        "torque_peak", "greatest torque, of the motor's limit", "%", "low", "largest torque of any joint, of its limit",
        200.0, Rejection("a motor would need {value} of its torque", "%"),
        (Series("torque_use", "torque", "% of limit", limit=100.0),),
    ),
    Metric(
        "torque_over", "frames that ask more than the motors have", "%", "low",
        "frames in which a torque is over its limit",
        20.0, Rejection("a motor would need more than its torque in {value} of frames", "%"),
    ),
    Metric(
        "residual_contact", "unactuated root residual, on the ground", "body weights", "low",
        "mean force at the root that nothing supplies, in frames with contact; null if there are none",
        0.15, Rejection("a force of {value} of the robot's weight, which nothing supplies, holds it on the ground", "%",
                        100.0),
    ),
    Metric(
        "residual_flight", "unactuated root residual, in the air", "body weights", "low",
        "mean force at the root that nothing supplies, in frames without contact; null if there are none",
        0.5, Rejection("a force of {value} of the robot's weight, which nothing supplies, holds it in the air", "%",
                       100.0),
    ),
)  # fmt: skip
"""Metrics that are reported beside the five"""

HUMAN: tuple[Metric, ...] = tuple(
    Metric(
        f"human_{metric.name}", f"the human's own {metric.label}", metric.unit, metric.better,
        f"the human's own {metric.label}: what a robot that follows can reach", weight=metric.weight,
    )
    for metric in MAIN if metric.weight != "frames"
)  # fmt: skip
"""Scores of the human by the same definitions, region by region: the ceiling for any robot"""

ROBOT: tuple[Metric, ...] = (*MAIN, *BESIDE, *HUMAN)
ROBOT_METRICS = {metric.name: metric for metric in ROBOT}

FIVE = tuple(metric.name for metric in MAIN)
COMPARED = (
    "fidelity_aligned", "fidelity_samples", "stance_roll_deg", "self_penetration", "torque_over", "residual_contact",
)  # fmt: skip
"""Metrics that the table of `phuma compare` shows beside the five"""
LEAP = ROBOT_METRICS["ankle_speed_ratio"].flag
UNKNOWN = "unknown"
"""Word that a flag begins with where one of the five metrics could not be measured"""


def flags_of(values: Mapping[str, Any]) -> list[str]:
    """Return what somebody should know before using a motion with these values of metrics and counts, in words.

    A flag is a word, a colon and what is wrong: the metric's name, `leap` or `unknown`.
    """
    out = _unknown(values)
    for metric in ROBOT:
        value, limit = values.get(metric.name), metric.limit
        if value is not None and limit is not None and not metric.passes(value, limit):
            out.append(metric.report(value, limit))
    return out


def _unknown(values: Mapping[str, Any]) -> list[str]:
    """Return a flag for each count that is 0 although main metrics are averages over it; no contact is told once."""
    out: dict[str, list[str]] = {}
    for metric in MAIN:
        if metric.name in values and values[metric.name] is None:
            empty = next(name for name in SAMPLES if values.get(name) == 0 or name == metric.weight)
            out.setdefault(SAMPLES[empty], []).append(metric.label)
    return [f"{UNKNOWN}: {why}, so nothing is known of {', '.join(labels)}" for why, labels in out.items()]


def flag_word(flag: str) -> str:
    """Return the word that a flag begins with, by which flags are counted: `leap`, or a metric's name.

    Flags of earlier versions are a metric's name and a value; one that is neither is counted as it is.
    """
    found = re.fullmatch(r"([a-z_]+)(?:: .*| [0-9.]+(?: %|°))", flag, re.DOTALL)
    return found[1] if found else flag


def with_unknowns(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return values in which a metric that was measured on nothing is None: earlier versions wrote 100 for it."""
    empty = {name for name in SAMPLES if values.get(name) == 0}
    if not empty:
        return dict(values)
    averaged = {metric.name for metric in ROBOT if metric.weight in empty}
    return {name: None if name in averaged else value for name, value in values.items()}

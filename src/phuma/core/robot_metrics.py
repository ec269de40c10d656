"""The metrics of a robot's motion: one declaration of each, and the limits that they are counted by.

To add a metric, declare it here and return its value in `retargeting.measure.measure`.
"""

from __future__ import annotations

from phuma.core.metric import Metric, Series

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

SAMPLES = ("frames", "contact_samples", "step_samples")
"""Counts that metrics are averages over: frames, sole regions in contact, and those in contact at two frames running"""

MAIN: tuple[Metric, ...] = (
    Metric(
        "fidelity", "motion fidelity", "%", "high",
        "frames near the human: joints within 10 cm, limbs within 10° on average",
        series=(Series("position_error", "position error", "cm", 100.0, 100 * POSITION_LIMIT),
                Series("direction_error", "direction error", "°", limit=DIRECTION_LIMIT)),
    ),
    Metric(
        "feasibility", "joint feasibility", "%", "high", "frames with every joint within 98 % of its range and speed",
        series=(Series("over", "joint beyond its limit"),
                Series("joint_use", "joint use", "% of range", limit=100 * MARGIN)),
    ),
    Metric(
        "non_floating", "non-floating", "%", "high", "contacts at most 1 cm above the ground",
        series=(Series("stance_height", "standing soles off the ground", "mm", 1000.0, 1000 * HEIGHT_LIMIT),),
        weight="contact_samples",
    ),
    Metric(
        "non_penetration", "non-penetration", "%", "high", "contacts at most 1 cm below the ground",
        weight="contact_samples",
    ),
    Metric(
        "non_skating", "non-skating", "%", "high", "contacts that slip by less than 10 cm/s",
        series=(Series("slips", "standing sole slides"),
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
    Metric("stance_roll_deg", "sideways lean of standing soles", "°", "low", "mean sideways lean of standing soles"),
    Metric("slip_cm_s_median", "median slip in contact", "cm/s", "low", "speed of contacts over the ground: median"),
    Metric(
        "slip_cm_s_p99", "99th percentile of slip in contact", "cm/s", "low",
        "speed of contacts over the ground: 99th percentile",
    ),
    Metric(
        "height_mm_p99", "99th percentile of sole heights in contact", "mm", "low",
        "distance of contacts from the ground, either way: 99th percentile",
    ),
    Metric("joint_jerk", "joint jerk", "rad/s³", "low", "mean over joints and frames"),
    Metric(
        "self_penetration", "frames with limbs over 1 cm inside each other", "%", "low",
        "frames in which links are more than 1 cm inside each other",
    ),
    Metric(
        "torque_peak", "greatest torque, of the motor's limit", "%", "low", "largest torque of any joint, of its limit",
        series=(Series("torque_use", "torque", "% of limit", limit=100.0),),
    ),
    Metric(
        "torque_over", "frames that ask more than the motors have", "%", "low",
        "frames in which a torque is over its limit",
    ),
    Metric(
        "residual_contact", "unactuated root residual, on the ground", "body weights", "low",
        "mean force at the root that nothing supplies, in frames with contact; null if there are none",
    ),
    Metric(
        "residual_flight", "unactuated root residual, in the air", "body weights", "low",
        "mean force at the root that nothing supplies, in frames without contact; null if there are none",
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
COMPARED = ("fidelity_aligned", "fidelity_samples", "stance_roll_deg", "self_penetration", "torque_over")
"""Metrics that the table of `phuma compare` shows beside the five"""

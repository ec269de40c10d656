"""Show over time what was recorded of a robot under physics: its motors and the forces on its feet."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from phuma.core.performed_motion import PerformedMotion
from phuma.core.robot_metrics import ROBOT_METRICS
from phuma.robots.masses import weight_of
from phuma.robots.robot import Robot
from phuma.viewer import style
from phuma.viewer.show import Performer, Track
from phuma.viewer.strip import Plot

ERROR = "body error"
FEET = ("force on the left foot", "force on the right foot")
TORQUE = ROBOT_METRICS["torque_peak"].series[0]
"""The series by which torques are shown that follow from a motion alone; those of motors share its plot"""


def recorded_tracks(motion: PerformedMotion, robot: Robot) -> tuple[Track, ...]:
    """Return the largest torque as a share of its limit, and the vertical force on each foot in body weights.

    What was not recorded has no track. Joints are in the robot's order.
    """
    tracks = []
    if motion.torque is not None:
        share = 100 * np.max(np.abs(motion.torque) / robot.torque_limit, axis=1)
        tracks.append(Track(TORQUE.label, TORQUE.unit, share, (100.0,)))
    if motion.foot_force is not None:
        vertical = motion.foot_force[:, :, 2] / weight_of(robot)
        tracks += [Track(label, "body weights", vertical[:, side]) for side, label in enumerate(FEET)]
    return tuple(tracks)


def strip_plots(performers: Sequence[Performer]) -> list[Plot]:
    """Return what a film shows below robots of which something was recorded: error, torques and forces over time."""
    plots = []
    for who in performers:
        tracks = {track.label: track for track in who.tracks}
        motion = who.motion
        if not isinstance(motion, PerformedMotion) or (motion.torque is None and motion.foot_force is None):
            continue
        named = [(ERROR, ERROR, style.TRUNK), (TORQUE.label, TORQUE.label, style.TRUNK)]
        named += [
            (label, "force on left, right foot", colour) for label, colour in zip(FEET, (style.LEFT, style.RIGHT))
        ]
        plots += [
            Plot(f"{title} [{tracks[label].unit}]", colour, tracks[label], motion.fps)
            for label, title, colour in named if label in tracks
        ]  # fmt: skip
    return plots

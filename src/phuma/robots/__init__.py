"""This folder holds robots: their models, kinematics, shapes, and the onboarding of new ones.

A robot is one folder with `model.xml` (its MJCF) and `robot.json` (what retargeting must know).
"""

from phuma.robots.folder import built_in_robots, cached_robot, free_robot, is_built_in, load_robot, spec_of
from phuma.robots.robot import KEYPOINTS, Robot

__all__ = [
    "KEYPOINTS",
    "Robot",
    "built_in_robots",
    "cached_robot",
    "free_robot",
    "is_built_in",
    "load_robot",
    "spec_of",
]

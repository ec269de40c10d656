"""Robots: a robot is one folder that holds `model.xml` (its MJCF) and `robot.json` (what retargeting must know)."""

from phuma.robots.folder import built_in_robots, load_robot
from phuma.robots.robot import KEYPOINTS, Robot

__all__ = ["KEYPOINTS", "Robot", "built_in_robots", "load_robot"]

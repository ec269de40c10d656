"""Rivals: the ways to retarget that others use, written as they published them, for comparison."""

from phuma.retargeting.rivals.gmr import gmr
from phuma.retargeting.rivals.ik import ik
from phuma.retargeting.rivals.path import RobotPath

__all__ = ["RobotPath", "gmr", "ik"]

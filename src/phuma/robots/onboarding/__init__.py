"""This folder holds the onboarding of a robot: `phuma robot init` makes its folder from an untrusted model file."""

from phuma.robots.onboarding.ambiguities import Ambiguity, as_text
from phuma.robots.onboarding.onboard import AMBIGUITIES, OnboardedRobot, onboard_robot

__all__ = ["AMBIGUITIES", "Ambiguity", "OnboardedRobot", "as_text", "onboard_robot"]

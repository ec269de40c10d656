"""Stage: motions performed under physics, by experts that know the robot's model."""

from phuma.control.expert import EFFORTS, Attempt, perform

__all__ = ["EFFORTS", "Attempt", "perform"]

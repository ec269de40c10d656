"""Stage: motions performed under physics, by experts that know the robot's model."""

from phuma.control.expert import EFFORTS, Episode, perform

__all__ = ["EFFORTS", "Episode", "perform"]

"""Judge how well a robot tracked its reference, from trajectories alone."""

from phuma.evaluation.judging import ERRORS, SHARES, Score, judge
from phuma.evaluation.summary import summarise, table, worst

__all__ = ["ERRORS", "SHARES", "Score", "judge", "summarise", "table", "worst"]

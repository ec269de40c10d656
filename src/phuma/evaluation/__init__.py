"""Judge how well a robot tracked its reference, from trajectories alone."""

from phuma.evaluation.judging import ERRORS, SHARES, Score, judge
from phuma.evaluation.paired import Difference, difference
from phuma.evaluation.summary import summarise, table, worst

__all__ = ["ERRORS", "SHARES", "Difference", "Score", "difference", "judge", "summarise", "table", "worst"]

"""Physics of many robots at once, behind one small interface."""

from phuma.learning.simulation.interface import Simulation
from phuma.learning.simulation.model import CONTROL_RATE

__all__ = ["CONTROL_RATE", "Simulation"]

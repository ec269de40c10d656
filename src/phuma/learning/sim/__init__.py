"""Physics of many environments at once, behind one small interface."""

from phuma.learning.sim.interface import Simulation
from phuma.learning.sim.model import CONTROL_RATE

__all__ = ["CONTROL_RATE", "Simulation"]

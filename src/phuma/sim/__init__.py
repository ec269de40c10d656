"""Physics of many environments at once, behind one small interface."""

from phuma.sim.interface import Simulation
from phuma.sim.model import CONTROL_RATE

__all__ = ["CONTROL_RATE", "Simulation"]

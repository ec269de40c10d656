"""This folder holds synthetic motions: a generator of people who move on the open body, and faults to add."""

from phuma.synth.faults import FAULTS, Fault
from phuma.synth.generator import KINDS, STROLL, Synthetic, generate

__all__ = ["FAULTS", "KINDS", "STROLL", "Fault", "Synthetic", "generate"]

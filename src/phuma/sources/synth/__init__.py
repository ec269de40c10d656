"""Embedded motions: a generator of people who stand, reach, walk and jump on the open body, and faults to add."""

from phuma.sources.synth.faults import FAULTS, Fault
from phuma.sources.synth.generator import KINDS, Synthetic, generate

__all__ = ["FAULTS", "KINDS", "Fault", "Synthetic", "generate"]

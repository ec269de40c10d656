"""Embedded motions: a generator of people who stand, reach, walk and jump on the open body."""

from phuma.sources.synth.generate import KINDS, Synthetic, generate

__all__ = ["KINDS", "Synthetic", "generate"]

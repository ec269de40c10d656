"""A recording as a video model would give it: it shakes, its world is tilted, and its feet slide."""

from __future__ import annotations

import numpy as np

from phuma.core.human_motion import HumanMotion
from phuma.synth.faults import FAULTS

TYPICAL = {"jitter": 3.0, "tilt": 4.0, "slide": 0.1}
"""Faults and their typical strengths in their units: mm, degrees, m/s"""
WORST = 2.0
"""Most that a recording's faults are of the typical strength"""


def as_video(motion: HumanMotion, seed: int) -> HumanMotion:
    """Return a recording with all of TYPICAL's faults at one strength, drawn between none and WORST times the typical:
    some films are good and some are not."""
    strength = np.random.default_rng(seed).uniform(0.0, WORST)
    for name, typical in TYPICAL.items():
        motion = FAULTS[name].apply(motion, strength * typical, seed)
    return motion

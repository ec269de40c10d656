"""Estimate contacts by height, as in the paper: a sole point near the ground is in contact, whether it stands or
swings."""

from __future__ import annotations

import numpy as np

from phuma.contacts.evidence import Evidence
from phuma.core.foot_contacts import FootContacts
from phuma.core.rotations import Array
from phuma.core.skeleton import POINTS_PER_REGION, REGIONS


def contacts_by_height(evidence: Evidence) -> FootContacts:
    """Return the contact ratios by the height of the sole points above the ground alone."""
    above = evidence.heights - np.float32(evidence.ground)
    return FootContacts(contact_ratios(above, evidence.band), evidence.motion.fps)


def contact_ratios(heights: Array, band: float) -> Array:
    """Return (T, 4) the share of each region's 22 points with |height| < band; heights (T, 88) above the ground,
    metres."""
    inside = np.abs(heights) < band
    return inside.reshape(len(heights), len(REGIONS), POINTS_PER_REGION).mean(axis=2)

"""Release contacts above a speed: a foot that swings low is near the ground, and does not stand."""

from __future__ import annotations

import numpy as np

from phuma.core.foot_contacts import FootContacts
from phuma.core.human_motion import HumanMotion
from phuma.core.skeleton import INDEX

BONES = [INDEX[f"{side}_{joint}"] for side in ("left", "right") for joint in ("ankle", "foot")]
"""Joint that moves with each region: the ankle with a heel, the ball of the foot with a toe"""


def release_fast(motion: HumanMotion, contact: FootContacts, speed: float) -> FootContacts:
    """Return the contacts without those of regions that move at `speed` [m/s] or faster, over the ground, from the
    frame before or to the next one. An infinite speed releases none."""
    if len(motion) < 2 or not np.isfinite(speed):
        return contact
    step = np.linalg.norm(np.diff(motion.pose.position[:, BONES, :2], axis=0), axis=-1) * motion.fps
    fast = np.zeros(contact.ratio.shape, dtype=bool)
    fast[:-1] |= step >= speed
    fast[1:] |= step >= speed
    return FootContacts(np.where(fast, 0.0, contact.ratio), contact.fps)

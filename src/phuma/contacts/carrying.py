"""Estimate contacts by height in those regions that can carry: a foot that swings low is near the ground too."""

from __future__ import annotations

from phuma.contacts.evidence import Evidence
from phuma.contacts.height import contacts_by_height
from phuma.core.foot_contacts import FootContacts


def contacts_that_carry(evidence: Evidence) -> FootContacts:
    """Return the contact ratios by height, 0 in every heel and toe of which no corner can carry."""
    by_height = contacts_by_height(evidence)
    return FootContacts(by_height.ratio * evidence.support.regions, by_height.fps)

"""The estimators of contacts: what each adds, that every preset has one, and that nothing unasked is computed."""

import numpy as np
import pytest

from phuma.body import open_body
from phuma.contacts.carrying import contacts_that_carry
from phuma.contacts.evidence import Evidence
from phuma.contacts.height import contact_ratios, contacts_by_height
from phuma.contacts.speed import BONES, release_fast
from phuma.core.foot_contacts import FootContacts
from phuma.curation import PRESETS, CurateCfg, curate
from phuma.curation.pipeline import CONTACTS
from phuma.synth import generate
from tests.motions import smooth_motion

BAND = 0.025


def evidence_of(motion, ground=None):
    return Evidence(motion, motion, motion.sole_heights().astype(np.float32), BAND, ground)


@pytest.fixture(scope="module")
def kick():
    return generate("kick", 4.0, 1).motion


def test_every_preset_has_its_estimator():
    assert set(CONTACTS) == set(PRESETS)


@pytest.mark.parametrize("preset", PRESETS)
def test_a_recordings_contacts_are_its_estimators(kick, preset, monkeypatch):
    """An estimator of one's own takes one line."""
    monkeypatch.setitem(CONTACTS, preset, lambda e: FootContacts(np.full((len(e.motion), 4), 0.25), e.motion.fps))
    clip = curate(kick, CurateCfg(preset=preset)).clips[0]
    np.testing.assert_array_equal(clip.contact.ratio, 0.25)


def test_by_height_a_told_ground_is_taken_and_else_the_vote(kick):
    told, voted = evidence_of(kick, 0.03), evidence_of(kick)
    assert told.ground == 0.03
    assert voted.ground != 0.03
    for evidence in (told, voted):
        above = evidence.heights - np.float32(evidence.ground)
        np.testing.assert_array_equal(contacts_by_height(evidence).ratio, contact_ratios(above, BAND))


def test_only_regions_with_a_corner_that_carries_keep_their_contact(kick):
    evidence = evidence_of(kick)
    by_height, found = contacts_by_height(evidence).ratio, contacts_that_carry(evidence).ratio
    carrying = evidence.support.soles.carrying(evidence.support.floor)
    can = np.stack([carrying[:, 4 * r : 4 * r + 4].any(axis=1) for r in range(4)], axis=1)
    assert ((by_height > 0) & ~can).any()
    np.testing.assert_array_equal(found, np.where(can, by_height, 0.0))


def test_contacts_by_height_need_no_forces(kick):
    evidence = evidence_of(kick)
    contacts_by_height(evidence)
    assert not {"light", "support"} & set(vars(evidence))


def test_regions_that_move_fast_before_or_after_a_frame_are_released():
    motion, speed = smooth_motion(open_body(), frames=40, seed=2), 2.0
    contact = FootContacts(np.random.default_rng(0).uniform(0.2, 1.0, (40, 4)), motion.fps)
    found = release_fast(motion, contact, speed).ratio
    place = motion.pose.position[:, BONES, :2]
    released = 0
    for t in range(40):
        for r in range(4):
            near = [n for n in (t - 1, t + 1) if 0 <= n < 40]
            fast = any(np.linalg.norm(place[n, r] - place[t, r]) * motion.fps >= speed for n in near)
            assert found[t, r] == (0.0 if fast else contact.ratio[t, r])
            released += fast
    assert 0 < released < 160


def test_an_infinite_speed_and_a_single_frame_release_nothing():
    motion = smooth_motion(open_body(), frames=5)
    contact = FootContacts(np.ones((5, 4)), motion.fps)
    np.testing.assert_array_equal(release_fast(motion, contact, np.inf).ratio, 1.0)
    np.testing.assert_array_equal(release_fast(motion.frames(0, 1), contact.frames(0, 1), 0.0).ratio, 1.0)

"""The estimators of contacts: what each adds, that every preset has one, and that nothing unasked is computed."""

import numpy as np
import pytest

from phuma.contacts.evidence import Evidence
from phuma.contacts.height import contact_ratios, contacts_by_height
from phuma.contacts.stance import contacts_that_stand
from phuma.core.foot_contacts import FootContacts
from phuma.curation import PRESETS, CurateCfg, curate
from phuma.curation.config import CONTACTS, PRESET_CONTACTS
from phuma.errors import ConfigError
from phuma.synth import generate

BAND = 0.025


def evidence_of(motion, ground=None):
    return Evidence(motion, motion, motion.sole_heights().astype(np.float32), BAND, ground)


@pytest.fixture(scope="module")
def kick():
    return generate("kick", 4.0, 1).motion


def test_every_preset_has_its_contacts():
    assert set(PRESET_CONTACTS) == set(PRESETS)
    assert {p: CurateCfg(preset=p).estimator for p in PRESETS} == {"paper": "paper", "dynamic": "stance"}
    for preset in PRESETS:
        for name in CONTACTS:
            assert CurateCfg(preset=preset, contacts=name).resolved["contacts"] == name
    with pytest.raises(ConfigError, match="unknown contacts 'magic'; there are: stance, paper"):
        CurateCfg(contacts="magic")


@pytest.mark.parametrize("name", CONTACTS)
def test_a_recordings_contacts_are_its_estimators(kick, name, monkeypatch):
    """An estimator of one's own takes one line."""
    monkeypatch.setitem(CONTACTS, name, lambda e: FootContacts(np.full((len(e.motion), 4), 0.25), e.motion.fps))
    clip = curate(kick, CurateCfg(contacts=name, mend=False)).clips[0]
    np.testing.assert_array_equal(clip.contact.ratio, 0.25)


@pytest.mark.parametrize("preset", PRESETS)
def test_verdicts_do_not_depend_on_the_contacts_that_are_asked_for(kick, preset):
    found = {name: curate(kick, CurateCfg(preset=preset, contacts=name)) for name in CONTACTS}
    assert found["stance"].verdict == found["paper"].verdict
    assert found["stance"].ground == found["paper"].ground
    np.testing.assert_array_equal(found["stance"].contact.paper, found["paper"].contact.ratio)
    assert (found["stance"].contact.mask != found["paper"].contact.mask).any()


def test_by_height_a_told_ground_is_taken_and_else_the_vote(kick):
    told, voted = evidence_of(kick, 0.03), evidence_of(kick)
    assert told.ground == 0.03
    assert voted.ground != 0.03
    for evidence in (told, voted):
        above = evidence.heights - np.float32(evidence.ground)
        np.testing.assert_array_equal(contacts_by_height(evidence).ratio, contact_ratios(above, BAND))


def test_ratios_by_height_stand_beside_what_stands(kick):
    by_height, found = contacts_by_height(evidence_of(kick)), contacts_that_stand(evidence_of(kick))
    np.testing.assert_array_equal(found.paper, by_height.ratio)
    np.testing.assert_array_equal(by_height.paper, by_height.ratio)
    assert (by_height.mask & ~found.mask).any()


def test_contacts_by_height_need_no_forces(kick):
    evidence = evidence_of(kick)
    contacts_by_height(evidence)
    assert not {"light", "support"} & set(vars(evidence))

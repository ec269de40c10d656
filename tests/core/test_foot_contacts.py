"""What a contact ratio means, and that its meaning stands in one place."""

import re
from pathlib import Path

import numpy as np
import pytest

import phuma
from phuma.core.foot_contacts import FootContacts, feet_in_contact, in_contact
from phuma.errors import PhumaError

RATIO = np.array([[0.6, 0.0, 0.0, 0.0], [0.0, 0.5, 0.0, 0.51], [0.0, 0.0, 0.01, 0.0], [0.0, 0.0, 0.0, 0.0]])


def test_a_region_is_in_contact_from_more_than_half_of_its_points_on():
    expected = [[True, False, False, False], [False, False, False, True], [False] * 4, [False] * 4]
    np.testing.assert_array_equal(in_contact(RATIO), expected)
    np.testing.assert_array_equal(FootContacts(RATIO, 30.0).mask, expected)


def test_a_foot_stands_when_its_heel_or_its_toe_does():
    contact = np.array([[0.6, 0.0, 0.0, 0.0], [0.0, 0.4, 0.0, 0.51]])
    np.testing.assert_array_equal(feet_in_contact(contact), [[True, False], [False, True]])


def test_who_is_airborne_touches_the_ground_with_no_point_at_all():
    np.testing.assert_array_equal(FootContacts(RATIO, 30.0).airborne, [False, False, False, True])


def test_both_rulers_are_cut_and_mirrored_together():
    both = FootContacts(RATIO[::-1], 30.0, RATIO)
    np.testing.assert_array_equal(both.airborne, FootContacts(RATIO, 30.0).airborne)
    np.testing.assert_array_equal(both.frames(1, 3).paper, RATIO[1:3])
    np.testing.assert_array_equal(both.mirror().paper, RATIO[:, [2, 3, 0, 1]])
    np.testing.assert_array_equal(both.mirror().ratio, RATIO[::-1][:, [2, 3, 0, 1]])
    np.testing.assert_array_equal(FootContacts(RATIO, 30.0).mirror().paper, RATIO[:, [2, 3, 0, 1]])
    with pytest.raises(PhumaError, match="contact ratios by height run from 0 to 2; expected 0 to 1"):
        FootContacts(RATIO, 30.0, RATIO / 0.3)
    with pytest.raises(PhumaError, match="foot contacts"):
        FootContacts(RATIO, 30.0, RATIO[:2])


def test_no_other_module_compares_a_contact_ratio_with_a_number():
    """The threshold stands once."""
    compares = re.compile(r"(\bcontact(_used)?|\.ratio)(\[[^]]*\])*\s+[<>]|IN_CONTACT")
    source = Path(phuma.__file__).parent
    found = [
        f"{file.relative_to(source)}:{number}: {line.strip()}"
        for file in sorted(source.rglob("*.py"))
        for number, line in enumerate(file.read_text().splitlines(), 1)
        if compares.search(line) and file.name != "foot_contacts.py"
    ]
    assert not found, "\n".join(found)

"""A schema lets plain data of its kind through, and says where other data differs."""

import pytest

from phuma.io.schema import ANYTHING, BOOLEAN, COUNT, NUMBER, TEXT, ListOf, Object, OrNull, between

SCHEMA = Object(
    {"name": TEXT, "rows": ListOf(Object({"kept": BOOLEAN}, {"fps": OrNull(between(1, 100))}))},
    {"counts": Object(others=COUNT), "more": ANYTHING},
)
GOOD = {"name": "a", "rows": [{"kept": True, "fps": 30}, {"kept": False, "fps": None}], "counts": {"clips": 3}}


def test_data_of_the_schema_has_no_fault():
    assert SCHEMA.fault(GOOD, "") is None
    assert SCHEMA.fault({**GOOD, "more": [{"any": None}]}, "") is None


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ([], "the content is a list; expected an object"),
        (None, "the content is null; expected an object"),
        ({"rows": []}, "the content has no 'name'"),
        ({**GOOD, "surprise": 1}, "the content has an unknown key 'surprise'"),
        ({**GOOD, "name": 3}, "name is 3; expected a text"),
        ({**GOOD, "name": None}, "name is null; expected a text"),
        ({**GOOD, "rows": {}}, "rows is an object; expected a list"),
        ({**GOOD, "rows": [{"kept": True}, {"kept": 1}]}, "rows[1].kept is 1; expected true or false"),
        ({**GOOD, "rows": [{}]}, "rows[0] has no 'kept'"),
        ({**GOOD, "rows": [{"kept": True, "fps": 0}]}, "rows[0].fps is 0; expected a number of 1 to 100"),
        ({**GOOD, "rows": [{"kept": True, "fps": True}]}, "rows[0].fps is True; expected a number of 1 to 100"),
        ({**GOOD, "rows": [{"kept": True, "fps": "30"}]}, "rows[0].fps is '30'; expected a number of 1 to 100"),
        ({**GOOD, "counts": {"clips": -1}}, "counts.clips is -1; expected a count"),
        ({**GOOD, "name": ["x"]}, "name is a list; expected a text"),
    ],
)
def test_other_data_is_told_with_its_place_and_value(wrong, says):
    assert SCHEMA.fault(wrong, "") == says


def test_a_long_value_is_cut():
    assert len(NUMBER.fault("x" * 10_000, "fps") or "") < 150


@pytest.mark.parametrize("number", [float("nan"), float("inf"), 1e16])
def test_what_is_not_finite_or_too_large_is_no_number(number):
    assert NUMBER.fault(number, "x")

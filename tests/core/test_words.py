"""Numbers of things, in words."""

import pytest

from phuma.core.words import count_of


@pytest.mark.parametrize(("number", "said"), [(0, "0 clips"), (1, "1 clip"), (2, "2 clips"), (12000, "12,000 clips")])
def test_one_thing_is_one_thing_and_others_are_things(number, said):
    assert count_of(number, "clip") == said


def test_an_irregular_plural_is_given():
    assert [count_of(n, "person", "people") for n in (1, 2)] == ["1 person", "2 people"]

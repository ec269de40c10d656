"""Names that people type."""

import pytest

from phuma.core.names import known_name
from phuma.errors import ConfigError

ROBOTS = ("g1", "h1_2")


@pytest.mark.parametrize(
    ("given", "meant"),
    [("g1", "g1"), ("G1", "g1"), ("unitree_g1", "g1"), ("Unitree-H1-2", "h1_2"), (" h1 2", "h1_2")],
)
def test_case_dashes_and_maker_do_not_matter(given, meant):
    assert known_name(given, ROBOTS, "robot") == meant


def test_a_name_that_two_could_mean_is_not_guessed():
    with pytest.raises(ConfigError, match="unknown robot 'A'"):
        known_name("A", ("a", "a "), "robot")


def test_the_nearest_name_is_offered_and_all_are_listed():
    with pytest.raises(
        ConfigError, match=r"unknown preset 'dynamc', did you mean 'dynamic'\?; there are: paper, dynamic"
    ):
        known_name("dynamc", ("paper", "dynamic"), "preset")
    with pytest.raises(ConfigError, match="unknown preset 'xyz'; there are: paper, dynamic"):
        known_name("xyz", ("paper", "dynamic"), "preset")

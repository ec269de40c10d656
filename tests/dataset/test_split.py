"""The split of a recording hangs on its name and on nothing else."""

import hashlib
import random
import unicodedata

import pytest

from phuma.dataset.split import relative_name, split_of
from phuma.errors import PhumaError

NAMES = [f"subject{i % 97}/take_{i}.bvh" for i in range(10_000)]


def test_a_tenth_of_ten_thousand_names_is_for_testing():
    """Within four standard deviations of a fair draw, 30 names each."""
    assert abs(sum(split_of(n) == "test" for n in NAMES) - 1000) < 120


def test_the_rule_is_the_one_that_is_documented():
    for name in NAMES[:200]:
        share = int(hashlib.sha256(name.encode()).hexdigest()[:16], 16) / 2**64
        assert split_of(name) == ("test" if share < 0.1 else "train")


def test_some_names_are_pinned_so_that_no_release_moves_them():
    assert [n for n in NAMES[:43] if split_of(n) == "test"] == [
        f"subject{i}/take_{i}.bvh" for i in (8, 12, 16, 19, 40, 42)
    ]


def test_neither_order_nor_more_data_changes_a_split():
    before = {n: split_of(n) for n in NAMES[:500]}
    shuffled = list(NAMES)
    random.Random(0).shuffle(shuffled)
    after = {n: split_of(n) for n in shuffled}
    assert all(after[n] == s for n, s in before.items())


def test_the_place_of_the_folder_does_not_matter(tmp_path, monkeypatch):
    here = [split_of(n) for n in NAMES[:200]]
    monkeypatch.chdir(tmp_path)
    assert [split_of(n) for n in NAMES[:200]] == here


def test_a_path_that_names_its_place_is_refused():
    for path in ("/data/walk.bvh", "../walk.bvh", "a/../walk.bvh", "C:\\data\\walk.bvh", "", ".", "\\walk.bvh"):
        with pytest.raises(PhumaError, match="relative to the folder"):
            split_of(path)


@pytest.mark.parametrize("name", ["Café/gehen.bvh", "señor/año.npz", "歩く/がぎぐ.bvh"])
def test_machines_spell_a_name_in_different_ways(name):
    spelled = [unicodedata.normalize(form, name) for form in ("NFC", "NFD")]
    assert spelled[0] != spelled[1]
    assert relative_name(spelled[0]) == relative_name(spelled[1]) == relative_name(spelled[0].replace("/", "\\"))
    assert split_of(spelled[0]) == split_of(spelled[1])


def test_dots_and_doubled_slashes_say_nothing():
    assert relative_name("./a//b/./c.bvh") == "a/b/c.bvh"


def test_case_and_suffix_belong_to_the_name():
    assert len({relative_name(n) for n in ("a/Walk.bvh", "a/walk.bvh", "a/walk.npz")}) == 3


def test_a_name_that_is_no_text_has_a_split_too():
    assert split_of("caf\udce9.bvh") in ("train", "test")

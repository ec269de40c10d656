"""Names made unique: numbered from 2, in the order in which they are asked for."""

from phuma.io.names import mistakable, part_name, unique_name


def test_alike_names_are_numbered_also_where_only_case_differs():
    taken = set()
    found = [unique_name(name, taken) for name in ("walk", "Walk", "run", "walk", "walk~2", "WALK")]
    assert found == ["walk", "Walk~2", "run", "walk~3", "walk~2~2", "WALK~4"]
    assert len({name.lower() for name in found}) == len(found)


def test_the_number_goes_before_what_is_behind():
    taken = set()
    assert [unique_name("a", taken, "/b.npz") for _ in range(3)] == ["a/b.npz", "a~2/b.npz", "a~3/b.npz"]
    assert unique_name("a~2", taken, "/b.npz") == "a~2~2/b.npz"


def test_where_case_counts_it_tells_names_apart():
    taken = set()
    assert [unique_name(name, taken, key=str) for name in ("walk", "Walk", "walk")] == ["walk", "Walk", "walk~2"]


def test_no_part_of_a_recording_has_the_name_of_another():
    """Two people in `walk`, and a recording that is called as the first of them would be."""
    names = ["walk", "Walk_0", "walk_0~2", "run_1", "walk_a"]
    others = mistakable(names)
    assert others == {"walk_0", "walk_0~2"}
    parts = [part_name("walk", k, others) for k in range(3)]
    assert parts == ["walk_0~3", "walk_1", "walk_2"]
    assert not {p.lower() for p in parts} & {n.lower() for n in names}

"""labels.csv: what is read, what is refused and how, and what words say."""

import csv

import pytest

from phuma.dataset.labels import TEXT_COLUMNS, WORDS, Labels, read_labels, type_of_text
from phuma.errors import ReadError


def labels(folder, text, encoding="utf-8"):
    (folder / "labels.csv").write_bytes(text.encode(encoding))
    return read_labels(folder)


def test_no_file_is_no_labels(tmp_path):
    assert read_labels(tmp_path).text_of("walk.bvh") is None


@pytest.mark.parametrize("mark", [",", ";", "\t"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_delimiters_and_line_ends(tmp_path, mark, end):
    rows = ["FileName", "Motion-Type ", "note"], ["a/walk.bvh", "walk", ""], ["b", "jump", "x"]
    found = labels(tmp_path, end.join(mark.join(r) for r in rows) + end)
    assert (found.text_of("a/walk.bvh"), found.text_of("b.npz"), found.text_of("c.npz")) == ("walk", "jump", None)


def test_a_byte_order_mark_of_a_spreadsheet_is_not_part_of_the_header(tmp_path):
    assert labels(tmp_path, "file,label\nä,walk\n", "utf-8-sig").text_of("ä.bvh") == "walk"


def test_quoted_texts_may_hold_commas_and_lines(tmp_path):
    found = labels(tmp_path, 'file,label\na,"bend over,\nrise"\n\nb,run\n')
    assert (found.text_of("a.bvh"), found.text_of("b.bvh")) == ("bend over,\nrise", "run")


def test_of_several_texts_the_most_particular_that_says_something_counts(tmp_path):
    found = labels(tmp_path, "clip,description,label\na,a long walk,run\nb,a long walk,\nc,,\n")
    assert [found.text_of(n) for n in "abc"] == ["run", "a long walk", None]
    assert TEXT_COLUMNS.index("label") < TEXT_COLUMNS.index("description")


def test_paths_go_before_names():
    found = Labels({"one/walk": "kick", "walk": "run", "two/walk.bvh": "jump", "four/hop.bvh": "hop", "hop.bvh": "run"})
    assert (found.text_of("four/hop.bvh"), found.text_of("five/hop.bvh")) == ("hop", "run")
    assert found.text_of("one/walk.bvh") == "kick"
    assert found.text_of("two\\walk.bvh") == "jump"
    assert found.text_of("three/walk.bvh") == "run"
    assert found.text_of("walk.bvh") == "run"
    assert found.text_of("three/walk.extra.bvh") is None
    assert Labels({".hidden": "run"}).text_of("a/.hidden") == "run"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "has no header"),
        ("file,sound\na,b\n", "has columns file, sound; expected one column of file, .* and one of label, category"),
        ("label\nwalk\n", "expected one column of file"),
        ("file,label\na,walk\nb\n", "line 3 has 1 cells; the header has 2"),
        ("file,label\n/a/b,walk\n", "line 2, column file: '/a/b' is no path below a source folder"),
        ("file,label\n,walk\n", "line 2, column file: '' is no path"),
        ("file,label\na,walk\nb,run\na,run\n", "line 4 calls a 'run', line 2 called it 'walk'; keep one"),
        ('file,label\na,"walk\n', "no error"),
    ],
)
def test_what_is_refused_names_file_line_and_what_was_valid(tmp_path, text, said):
    if said == "no error":  # a quote that is never closed reads to the end, as in every spreadsheet
        assert labels(tmp_path, text).text_of("a") == "walk"
        return
    with pytest.raises(ReadError, match=said) as e:
        labels(tmp_path, text)
    assert str(tmp_path / "labels.csv") in str(e.value)


def test_other_encodings_are_refused(tmp_path):
    with pytest.raises(ReadError, match="is not UTF-8 text"):
        labels(tmp_path, "file,label\nä,walk\n", "latin-1")


def test_the_same_said_twice_is_no_fault(tmp_path):
    assert labels(tmp_path, "file,label\na,walk\na,walk\n").text_of("a") == "walk"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("walk forward", "walk"),
        ("jumping jacks", "jump"),
        ("bend over", "bend"),
        ("RegularWalk8", "walk"),
        ("JogThrough", "run"),
        ("a person stands still", "stand"),
        ("standing long jump", "jump"),
        ("a man stands and waves his right hand", "reach"),
        ("Lunging", "lunge"),
        ("spinning twice", "turn"),
        ("hopped", "jump"),
        ("KICK", "kick"),
        ("walk, then turn", None),
        ("sit down, stand up", None),
        ("walk up stairs", None),
        ("dancing the twist", None),
        ("return of the bowler", None),
        ("playing the violin", None),
        ("", None),
    ],
)
def test_words(text, kind):
    assert type_of_text(text) == kind


@pytest.mark.parametrize("kind", WORDS)
def test_every_type_names_itself_in_its_usual_forms(kind):
    ing = {"squat": "squatting", "run": "running", "lunge": "lunging"}.get(kind, f"{kind}ing")
    for text in (kind, kind.upper(), f"{kind}s", ing, f"A quick {kind}!"):
        assert type_of_text(text) == kind, text


def test_no_word_names_two_types():
    words = [w for kinds in WORDS.values() for w in kinds]
    assert len(words) == len(set(words))


@pytest.mark.real
def test_the_labels_of_real_recordings_are_found(cmu):
    found = read_labels(cmu)
    with open(cmu / "labels.csv", newline="") as f:
        for row in csv.DictReader(f):
            assert found.text_of(f"{row['clip']}.bvh") == row["label"]

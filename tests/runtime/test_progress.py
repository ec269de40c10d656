"""Progress through a pipe."""

import pytest

from phuma.runtime import progress


@pytest.fixture(autouse=True)
def told_at_once(monkeypatch):
    monkeypatch.setattr(progress, "LINE_EVERY", 0.0)


def test_items_come_through_as_they_are_and_every_one_is_told(capsys):
    assert list(progress.with_progress(iter("abc"), "clip", 3, title="reading")) == ["a", "b", "c"]
    lines = capsys.readouterr().err.splitlines()
    assert [line.rsplit(",", 1)[0] for line in lines] == [f"reading: {n} of 3 clips" for n in (1, 2, 3)]


def test_how_many_there_are_is_asked_of_what_is_given(capsys):
    assert list(progress.with_progress(["a"], "clip")) == ["a"]
    assert "1 of 1 clip, " in capsys.readouterr().err


def test_a_line_says_what_else_is_known(capsys):
    with progress.progress_bar("recording", 5, done=2) as bar:
        bar.set_postfix_str("90 % kept")
        bar.update(1)
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("3 of 5 recordings, ")
    assert line.endswith(", 90 % kept")


def test_what_is_quick_says_nothing(capsys, monkeypatch):
    monkeypatch.setattr(progress, "LINE_EVERY", 1e9)
    assert list(progress.with_progress([1, 2], "clip")) == [1, 2]
    assert capsys.readouterr().err == ""

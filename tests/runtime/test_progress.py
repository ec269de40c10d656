"""Progress through a pipe."""

from threading import Event

import pytest

from phuma.runtime import progress
from tests.waiting import wait_for


@pytest.fixture
def told(monkeypatch):
    """What was printed, line by line, with hardly a wait before and between lines."""
    lines = []
    monkeypatch.setattr(progress, "FIRST_LINE", 0.001)
    monkeypatch.setattr(progress, "LINE_EVERY", 0.001)
    monkeypatch.setattr(progress, "print", lambda bar, **_: lines.append(str(bar)), raising=False)
    return lines


def test_items_come_through_as_they_are_and_are_told(told):
    done = []
    for item in progress.with_progress(iter("abc"), "clip", 3, title="reading"):
        done.append(item)
        wait_for(lambda: any(line.startswith(f"reading: {len(done) - 1} of 3 clips, ") for line in told))
    assert done == ["a", "b", "c"]


def test_an_item_that_takes_long_is_told_while_it_does_and_nothing_after_the_end(told):
    with progress.progress_bar("clip", 1):
        wait_for(lambda: len(told) >= 2)
    assert told[0].startswith("0 of 1 clip, ")
    before = len(told)
    Event().wait(0.05)
    assert len(told) <= before + 1  # one may have been under way


def test_how_many_there_are_is_asked_of_what_is_given(told):
    for _ in progress.with_progress(["a"], "clip"):
        wait_for(lambda: told)
    assert told[0].startswith("0 of 1 clip, ")


def test_a_line_says_what_else_is_known():
    with progress.progress_bar("recording", 5, done=2) as bar:
        bar.set_postfix_str("90 % kept")
        bar.update(1)
        assert str(bar) == "3 of 5 recordings, 0 s, 90 % kept"


def test_what_is_quick_says_nothing(capsys, monkeypatch):
    monkeypatch.setattr(progress, "FIRST_LINE", 1e6)
    assert list(progress.with_progress([1, 2], "clip")) == [1, 2]
    assert capsys.readouterr().err == ""

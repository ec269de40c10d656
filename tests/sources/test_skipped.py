"""What a folder holds beside recordings is counted, and named by what it is."""

from __future__ import annotations

import pytest

from phuma.errors import ConfigError
from phuma.sources.skipped import none_found, skipped_lines


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "a.fbx").write_bytes(b"Kaydara FBX Binary  \x00\x1a\x00")
    (tmp_path / "b.FBX").write_bytes(b"Kaydara FBX Binary  \x00\x1a\x00")
    (tmp_path / "notes.txt").write_text("of the day")
    (tmp_path / ".hidden.fbx").write_bytes(b"")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "old.glb").write_bytes(b"glTF")
    return tmp_path


def test_every_file_that_is_skipped_is_counted_and_one_of_each_kind_is_explained(folder):
    first, *more = skipped_lines([folder], leave_out=folder / "out")
    assert first == "Skipped, as recordings are not called so: 3 files (2 .fbx, 1 .txt)"
    assert len(more) == 1
    assert f"{folder / 'a.fbx'} is an animation (FBX)" in more[0]
    assert "blender" in more[0]


def test_a_file_that_is_named_itself_and_a_recording_are_not_skipped(folder):
    (folder / "walk.BVH").write_text("")
    assert skipped_lines([folder / "notes.txt"]) == []
    assert "4 files (2 .fbx, 1 .glb, 1 .txt)" in skipped_lines([folder])[0]


def test_where_nothing_is_found_the_error_says_what_is_there(folder):
    error = none_found([folder])
    assert isinstance(error, ConfigError)
    assert "2 .fbx" in str(error)


def test_endings_beyond_the_most_frequent_are_counted_together(tmp_path):
    for ending in "abcdefg":
        (tmp_path / f"x.{ending}").write_text("")
    assert skipped_lines([tmp_path])[0].endswith(": 7 files (1 .a, 1 .b, 1 .c, 1 .d, 1 .e, 1 .f, 1 other)")

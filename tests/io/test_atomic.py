from __future__ import annotations

import os
import stat
import time
from pathlib import Path

import numpy as np
import pytest

from phuma.errors import PhumaError
from phuma.io.atomic import save_npy, save_npz, write_atomic
from phuma.io.cache import cache_dir


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.bin"
    path.write_bytes(b"old")
    seen = []

    def write(f):
        f.write(b"new")
        seen.append(path.read_bytes())

    write_atomic(path, write)
    assert seen == [b"old"]
    assert path.read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["a.bin"]


@pytest.mark.parametrize("error", [ValueError("no"), KeyboardInterrupt(), OSError(28, "No space left on device")])
def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path: Path, error: BaseException) -> None:
    path = tmp_path / "a.bin"
    path.write_bytes(b"old")

    def write(f):
        f.write(b"half")
        raise error

    with pytest.raises((type(error), PhumaError)):
        write_atomic(path, write)
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a.bin"]


def test_what_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(PhumaError, match=r"missing/a\.npy: cannot be written: No such file"):
        save_npy(tmp_path / "missing" / "a.npy", np.zeros(3))


def test_it_is_named_where_nothing_can_be_taken_away_either(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a read-only disk, which refuses to unlink even what is not there."""

    def refuse(*_: object, **__: object) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(Path, "unlink", refuse)
    with pytest.raises(PhumaError, match=r"missing/a\.npy: cannot be written: No such file"):
        save_npy(tmp_path / "missing" / "a.npy", np.zeros(3))


def test_files_have_the_rights_of_any_new_file(tmp_path: Path) -> None:
    (tmp_path / "plain").write_bytes(b"")
    save_npy(tmp_path / "a.npy", np.zeros(1))
    assert stat.S_IMODE((tmp_path / "a.npy").stat().st_mode) == stat.S_IMODE((tmp_path / "plain").stat().st_mode)


def test_the_same_values_are_the_same_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.random.default_rng(0).normal(size=(30, 4))
    save_npz(tmp_path / "a.npz", {"x": values, "name": "walk", "fps": np.array(30.0)})
    monkeypatch.setattr(time, "time", lambda: 2e9)
    monkeypatch.setattr(time, "localtime", lambda *_: time.gmtime(2e9))
    save_npz(tmp_path / "b.npz", {"fps": np.array(30.0), "x": np.asfortranarray(values), "name": "walk"})
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
    with np.load(tmp_path / "a.npz") as back:
        np.testing.assert_array_equal(back["x"], values)
        assert str(back["name"]) == "walk"
        assert back["fps"].shape == ()


def test_objects_are_not_written(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="allow_pickle"):
        save_npz(tmp_path / "a.npz", {"x": np.array([{}])})
    assert os.listdir(tmp_path) == []


def test_the_cache_is_where_the_user_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PHUMA_CACHE", "/somewhere/own")
    assert cache_dir() == Path("/somewhere/own")
    monkeypatch.delenv("PHUMA_CACHE")
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    assert cache_dir() == Path("/somewhere/phuma")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache_dir() == Path.home() / ".cache" / "phuma"
    monkeypatch.setattr("sys.platform", "darwin")
    assert cache_dir() == Path.home() / "Library" / "Caches" / "phuma"

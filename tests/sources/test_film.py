"""A film is a recording like any other: recognised by content, cut by time, and what is wrong with it is told."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

from phuma.cli.main import main
from phuma.dataset.dataset import Dataset
from phuma.errors import MissingExtraError, ReadError
from phuma.io.probe import Probe
from phuma.sources import ReadCfg, film, find_recordings, read, read_all
from phuma.sources.registry import recognise
from tests.video.films import PAIR, WALK, edited, run

pytest.importorskip("ai_edge_litert")
pytest.importorskip("imageio_ffmpeg")
pytestmark = pytest.mark.usefixtures("weights")


@pytest.fixture(scope="module")
def walk(weights):
    return read(WALK)


def test_a_film_is_known_by_its_content_and_gives_the_person_in_metres(walk, tmp_path):
    unnamed = tmp_path / "take.three"
    shutil.copy(WALK, unnamed)
    other = read(unnamed)
    assert np.array_equal(walk.joint_quat, other.joint_quat)
    assert walk.provenance.format == "film"
    assert (len(walk), walk.fps) == (102, 30.0)
    speed = np.linalg.norm(walk.root_pos[-1, :2] - walk.root_pos[0, :2]) / walk.duration
    assert 0.8 < speed < 1.4
    assert np.ptp(walk.pose.position[..., 2], axis=1).mean() == pytest.approx(1.4, abs=0.15)


def test_what_was_guessed_is_noted_with_its_number_and_its_flag(walk):
    notes = "\n".join(walk.provenance.notes)
    for guess in (
        r"stature guessed as 1\.\d\d m; .*--stature",
        "guessed as 852 px; .*--focal",
        r"look down by \d\.\d° .*--camera=-\d\.\d,",
    ):
        assert re.search(guess, notes), guess


def test_start_and_end_are_seconds_of_the_film_and_only_these_are_looked_at(walk):
    (part,) = read_all(WALK, ReadCfg(start=1.0, end=2.5))
    assert part.provenance.start == pytest.approx(1.0)
    assert part.duration == pytest.approx(1.5, abs=0.05)


def test_a_rate_that_is_given_for_other_files_is_not_used_and_that_is_said(walk):
    assert read(WALK, ReadCfg(fps=25.0)).provenance.notes == (*walk.provenance.notes, film.OWN_RATE)
    assert read(WALK, ReadCfg(fps=25.0)).fps == walk.fps


def test_findings_of_the_time_are_notes_of_the_motion():
    assert any("more than one person; --person N" in note for note in read(PAIR).provenance.notes)


def test_a_film_of_many_gigabytes_is_a_film(tmp_path):
    """It is never held as a whole, so that the limits of other files are not its."""
    path = tmp_path / "long.mp4"
    with open(path, "wb") as f:
        f.write(b"\0\0\0 ftypisom" + b"\0" * 64)
        f.truncate(5 << 30)
    assert recognise(Probe(path)) is film


def test_in_a_folder_films_are_found_but_not_those_whose_results_lie_beside_them(tmp_path):
    for name in ("a.mp4", "b.MOV", "sub/c.webm", "gvhmr/input.mp4", "gvhmr/hmr4d_results.pt", "tram/d.mp4", "e.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "tram" / "hps").mkdir()
    found = [r.path.relative_to(tmp_path).as_posix() for r in find_recordings([tmp_path])]
    assert found == ["a.mp4", "b.MOV", "gvhmr/hmr4d_results.pt", "sub/c.webm"]


def nobody(path: Path) -> None:
    run("-f", "lavfi", "-i", "color=gray:s=320x240:r=10:d=2", path)


def sound(path: Path) -> None:
    run("-f", "lavfi", "-i", "sine=d=1", "-c:a", "aac", path)


def slides(path: Path) -> None:
    edited(path, "fps=1", WALK, "-r", "1")


def held(path: Path) -> None:
    edited(path, "trim=end=2,fps=1,fps=10")


def truncated(path: Path) -> None:
    path.write_bytes(WALK.read_bytes()[:40_000])


def one(path: Path) -> None:
    edited(path, "trim=end_frame=1")


def legless(path: Path) -> None:
    edited(path, "trim=end=1.5,crop=iw:ih*0.45:0:ih*0.1")


def night(path: Path) -> None:
    edited(path, "trim=end=1.5,eq=brightness=-0.9:contrast=0.1")


BAD = {
    nobody: r"no second of its 2 s can be used: 0:00 to 0:02: nobody is seen",
    sound: "holds sound and no pictures",
    slides: "has pictures at 1 Hz, as a slide show",
    held: r"no second of its 2 s can be used: 0:00.* a still picture: nothing moves",
    truncated: "is cut off: the index at its end is missing",
    one: r"is too short: there is only one picture, 0\.033 s; motion needs at least 1 s",
    legless: r"no second of its 1\.5 s can be used: .*0:0\d.*legs out of the picture",
    night: r"no second of its 1\.5 s can be used: .*0:00 to 0:02: (it is too dark|nobody is seen)",
}


@pytest.mark.parametrize("make", BAD, ids=lambda make: make.__name__)
def test_what_is_wrong_with_a_film_is_told_with_its_time(tmp_path, make):
    make(tmp_path / "film.mp4")
    with pytest.raises(ReadError, match=rf"film\.mp4: {BAD[make]}"):
        read_all(tmp_path / "film.mp4")


def test_a_person_who_is_upside_down_is_told(tmp_path):
    (motion, *_) = read_all(edited(tmp_path / "down.mp4", "trim=end=1.5,vflip,hflip"))
    assert any("0:00 to 0:02: the person is far from upright" in note for note in motion.provenance.notes)


@pytest.mark.parametrize("module", ["imageio_ffmpeg", "ai_edge_litert.interpreter"])
def test_without_the_extra_the_error_names_it(tmp_path, monkeypatch, module):
    monkeypatch.setitem(sys.modules, module, None)
    copy = edited(tmp_path / "new.mp4", "trim=end=0.2") if module != "imageio_ffmpeg" else WALK
    with pytest.raises(MissingExtraError, match=r"pip install 'phuma\[video\]'"):
        read_all(copy)


def test_in_a_dataset_of_films_a_bad_one_is_a_row(tmp_path, walk, capsys):
    (tmp_path / "films").mkdir()
    shutil.copy(WALK, tmp_path / "films")
    sound(tmp_path / "films" / "sound.mp4")
    code = main(["build", str(tmp_path / "films"), "--out", str(tmp_path / "out"), "--method", "sink", "--jobs", "1"])
    assert code == 1
    assert "films/sound.mp4: holds sound and no pictures" in capsys.readouterr().out
    (row,) = Dataset(tmp_path / "out").rows()
    assert (row["recording"], row["kept"], row["format"]) == ("films/walk.mp4", True, "film")

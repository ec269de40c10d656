"""A film is looked at once: its landmarks are kept by its content and by the settings that matter."""

import numpy as np
import pytest

from phuma.errors import ConfigError, PhumaError, ReadError
from tests.video.films import BEAM, PAIR, WALK, edited, run

pytest.importorskip("ai_edge_litert")
pytest.importorskip("imageio_ffmpeg")

from phuma.video import estimate, landmark_cache
from phuma.video.estimate import landmarks_of
from phuma.video.landmarks import Landmarks
from phuma.video.pictures import Pictures
from phuma.video.weights import folder

ARRAYS = ("image", "world", "visibility", "presence")


@pytest.fixture
def own_cache(weights, tmp_path, monkeypatch):
    """An empty cache with the weights, which can be taken away."""
    monkeypatch.setenv("PHUMA_CACHE", str(tmp_path / "cache"))
    folder().parent.mkdir()
    folder().symlink_to(weights)
    return tmp_path / "cache"


def same(one: Landmarks, other: Landmarks) -> bool:
    return one.fps == other.fps and one.size == other.size and all(
        np.array_equal(getattr(one, a), getattr(other, a)) for a in ARRAYS
    )  # fmt: skip


def test_a_second_call_needs_neither_weights_nor_frames(own_cache, tmp_path, monkeypatch):
    first = landmarks_of(WALK, end=0.5)
    assert not first.info.cached
    folder().unlink()
    monkeypatch.setattr(estimate, "frames", lambda *_: pytest.fail("decodes again"))
    copy = tmp_path / "renamed.mp4"
    copy.write_bytes(WALK.read_bytes())
    second = landmarks_of(copy, end=0.5)
    assert second.info.cached
    assert same(first.landmarks, second.landmarks)
    assert first.findings == second.findings
    assert first.info.stretches == second.info.stretches


def test_settings_that_matter_and_other_films_are_looked_at_anew(own_cache, tmp_path):
    landmarks_of(PAIR, end=0.1)
    assert not landmarks_of(PAIR, end=0.1, person=2).info.cached
    assert not landmarks_of(PAIR, end=0.2).info.cached
    assert not landmarks_of(PAIR, start=0.1, end=0.2).info.cached
    changed = tmp_path / "changed.mp4"
    changed.write_bytes(PAIR.read_bytes() + b"\0\0\0\x08free")
    assert not landmarks_of(changed, end=0.1).info.cached
    assert landmarks_of(PAIR, end=0.1).info.cached


@pytest.mark.parametrize("damage", [lambda b: b[:100], lambda b: b"", lambda b: b.replace(b"presence", b"absences")])
def test_a_damaged_entry_is_made_again(own_cache, damage):
    first = landmarks_of(BEAM, end=0.1)
    (entry,) = (own_cache / "landmarks").iterdir()
    entry.write_bytes(damage(entry.read_bytes()))
    again = landmarks_of(BEAM, end=0.1)
    assert not again.info.cached
    assert same(first.landmarks, again.landmarks)


def test_a_cache_that_cannot_be_written_is_no_error(own_cache):
    (own_cache / "landmarks").write_bytes(b"in the way")
    assert len(landmarks_of(BEAM, end=0.1).landmarks) == 6


def test_the_cache_forgets_what_was_not_used_for_longest(own_cache, monkeypatch):
    frames = 100
    rng = np.random.default_rng(0)
    numbers = (rng.random((frames, 33, 2)), rng.random((frames, 33, 3)), rng.random((frames, 33)))
    landmarks = Landmarks(30.0, (640, 480), *numbers, np.ones(frames))
    pictures = Pictures(*(np.zeros(frames) for _ in range(9)))
    landmark_cache.store("a", landmarks, pictures)
    size = (own_cache / "landmarks" / "a.npz").stat().st_size
    monkeypatch.setattr(landmark_cache, "MOST_BYTES", 2.5 * size)
    landmark_cache.store("b", landmarks, pictures)
    for name, seconds in (("a", 1000), ("b", 2000)):
        landmark_cache.os.utime(own_cache / "landmarks" / f"{name}.npz", (seconds, seconds))
    assert landmark_cache.load("a") is not None  # now b was not used for longest
    landmark_cache.store("c", landmarks, pictures)
    assert [landmark_cache.load(name) is not None for name in "abc"] == [True, False, True]


def test_pixels_are_those_of_the_film_and_not_of_the_scaled_frames(own_cache, tmp_path):
    """The same walk three times as large has its landmarks three times as far from the corner."""
    large = edited(tmp_path / "large.mp4", "scale=iw*3:ih*3:flags=bicubic")
    small_film, large_film = landmarks_of(WALK, end=0.2).landmarks, landmarks_of(large, end=0.2).landmarks
    assert large_film.size == (2556, 960)
    assert np.median(np.abs(large_film.image / 3 - small_film.image)) < 2
    assert np.median(np.abs(large_film.world - small_film.world)) < 0.03


def test_progress_is_told_frame_by_frame_with_the_number_there_will_be(own_cache):
    told = []
    landmarks_of(BEAM, start=0.5, end=0.6, progress=lambda done, of: told.append((done, of)))
    assert told == [(i, 6) for i in range(1, 7)]


def test_what_is_wrong_with_a_long_film_is_told_once_long_before_its_end(own_cache, tmp_path):
    path, done, said = tmp_path / "empty.mp4", [], []
    run("-f", "lavfi", "-i", "testsrc2=s=64x64:r=5:d=20", "-c:v", "libx264", "-preset", "ultrafast", path)
    landmarks_of(path, progress=lambda count, of: done.append(count), say=lambda text: said.append((len(done), text)))
    assert [(at, text) for at, text in said if "nobody" in text] == [(2 * 5, "so far, 0:00 to 0:02: nobody is seen")]


def test_what_a_film_says_of_itself_is_told_before_it_is_looked_at(own_cache, tmp_path):
    path, told = tmp_path / "slow.mp4", []
    run("-i", BEAM, "-c", "copy", "-movflags", "use_metadata_tags", "-metadata", "com.android.capture.fps=240.0", path)
    landmarks_of(path, end=0.1, progress=lambda count, of: told.append(count), say=told.append)
    assert "4 times slower" in told[0]
    assert told[1:] == [1, 2, 3, 4, 5, 6]


def test_what_goes_wrong_late_in_a_long_film_is_told_within_seconds_of_film(own_cache, tmp_path):
    """Pictures that stop after 22 of 60 seconds are told at 24, not where the film is twice as long or over."""
    path, done, said = tmp_path / "stops.mp4", [], []
    stops = "testsrc2=s=64x64:r=5:d=22,tpad=stop_mode=clone:stop_duration=38"
    run("-f", "lavfi", "-i", stops, "-c:v", "libx264", "-preset", "ultrafast", path)
    landmarks_of(path, progress=lambda count, of: done.append(count), say=lambda text: said.append((len(done), text)))
    assert [(at, text) for at, text in said if "still" in text] == [
        (24 * 5, "so far, 0:22 to 0:24: a still picture: nothing moves")
    ]


def test_times_of_findings_count_from_the_films_beginning(own_cache):
    assert landmarks_of(PAIR, start=0.3).findings[0].start == pytest.approx(0.3)


def test_wrong_use_is_told(own_cache):
    with pytest.raises(ConfigError, match="counted from 1"):
        landmarks_of(WALK, person=0)
    with pytest.raises(ConfigError, match="unknown model"):
        landmarks_of(WALK, model="huge")
    with pytest.raises(ConfigError, match="0 <= start < end"):
        landmarks_of(WALK, start=2, end=1)
    with pytest.raises(ReadError, match=r"is 3\.4 s long, so that nothing begins at 9 s"):
        landmarks_of(WALK, start=9)


def test_a_film_of_ten_hours_is_told_before_it_is_looked_at(own_cache, tmp_path):
    minute, path = tmp_path / "minute.mkv", tmp_path / "long.mkv"
    run("-f", "lavfi", "-i", "color=s=64x64:r=5:d=60", "-c:v", "libx264", "-preset", "ultrafast", minute)
    run("-stream_loop", "599", "-i", minute, "-c", "copy", path)
    with pytest.raises(ReadError, match=r"would give 10:00:00 to look at.*at most 1:00:00.*--start and --end"):
        landmarks_of(path)
    assert len(landmarks_of(path, start=30_000, end=30_001).landmarks) == 5


def test_one_picture_and_a_film_that_ends_early_are_told(own_cache, tmp_path):
    one = landmarks_of(edited(tmp_path / "one.mp4", "trim=end_frame=1", BEAM))
    assert one.info.stretches == []
    assert "only one picture" in one.info.notes[0]
    run("-i", WALK, "-c", "copy", "-movflags", "faststart", tmp_path / "whole.mp4")
    path = tmp_path / "cut.mp4"
    path.write_bytes((tmp_path / "whole.mp4").read_bytes()[:60_000])
    missing, short = landmarks_of(path).info.notes
    assert "it is cut off: the last 31 % of the file are missing" in missing
    assert "says that it is 3.4 s long but ends at" in short


def test_a_bad_film_leaves_nothing_in_the_cache(own_cache, tmp_path):
    run("-i", WALK, "-c", "copy", "-movflags", "faststart", tmp_path / "whole.mp4")
    content = (tmp_path / "whole.mp4").read_bytes()
    start = content.index(b"mdat") + 4
    (tmp_path / "bad.mp4").write_bytes(content[:start] + bytes(len(content) - start))
    with pytest.raises(PhumaError, match="gives no picture"):
        landmarks_of(tmp_path / "bad.mp4")
    assert not (own_cache / "landmarks").exists()

"""Films are told by their bytes, decoded at their own rate as they are shown, and open nothing but themselves."""

import socket
import subprocess
import threading
from contextlib import contextmanager, suppress
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from phuma.errors import ReadError
from tests.video.films import BEAM, WALK, edited, run

pytest.importorskip("imageio_ffmpeg")

from phuma.video import frames as frames_module
from phuma.video.boxes import missing_share
from phuma.video.film import CONTAINERS, described, ffmpeg, input_options, open_film
from phuma.video.frames import frame_size, frames


def decoded(path, start=None, end=None):
    return list(frames(open_film(path), start, end))


def test_a_film_tells_its_rate_size_length_and_codec():
    film = open_film(WALK)
    assert (film.codec, film.size, film.fps, film.variable, film.notes) == ("h264", (852, 320), 30, False, [])
    assert film.seconds == pytest.approx(3.4, abs=0.01)
    assert len(decoded(WALK)) == 102


@pytest.mark.parametrize("suffix", ["mp4", "mkv", "avi", "ts", "mov", "mpg", "flv"])
def test_every_container_gives_the_same_pictures_by_its_content_whatever_its_name(tmp_path, suffix):
    path = tmp_path / f"film.{suffix}"
    codec = ["-c:v", "mpeg2video", "-q:v", "2"] if suffix == "mpg" else ["-c:v", "libx264", "-crf", "10"]
    run("-i", WALK, "-t", "0.5", *codec, path)
    pictures = decoded(path.rename(tmp_path / "film.bin"))
    # Some containers lose a frame at one end, for the want of its neighbour's time.
    assert len(pictures) in (14, 15, 16)
    assert np.abs(pictures[7].astype(int) - decoded(WALK)[7]).mean() < 8


def test_a_turned_film_is_decoded_as_it_is_shown(tmp_path):
    path = tmp_path / "turned.mp4"
    run("-display_rotation", "90", "-i", WALK, "-c", "copy", path)
    assert open_film(path).size == (320, 852)
    upright, turned = decoded(WALK)[5].astype(int), decoded(path)[5].astype(int)
    assert turned.shape == (852, 320, 3)
    # A matrix of 90 degrees turns the picture anticlockwise.
    assert np.abs(np.rot90(upright) - turned).mean() < 1


def test_pixels_that_are_not_square_are_made_square(tmp_path):
    path = edited(tmp_path / "wide.mp4", "scale=426:320,setsar=2")
    assert open_film(path).size == (852, 320)
    assert decoded(path)[0].shape == (320, 852, 3)


def test_large_films_are_scaled_on_the_way_with_their_shape(tmp_path):
    path = edited(tmp_path / "large.mp4", "scale=3840:2160,trim=end_frame=3")
    film = open_film(path)
    assert film.size == (3840, 2160)
    assert frame_size(film) == (1280, 720)
    assert decoded(path)[0].shape == (720, 1280, 3)


def test_broadcast_rates_are_exact(tmp_path):
    path = edited(tmp_path / "ntsc.mp4", "setpts=N*1001/30000/TB", WALK, "-r", "30000/1001")
    assert open_film(path).rate == Fraction(30000, 1001)
    assert len(decoded(path)) == 102


def test_frames_at_different_intervals_come_at_a_constant_rate_and_that_is_said(tmp_path):
    """60 frames in the first 2 s, then 20 in 2 s: every second of the film has as many pictures as any other."""
    times = "trim=end_frame=80,setpts='if(lt(N,60),N/30,2+(N-60)/10)/TB'"
    path = edited(tmp_path / "variable.mp4", times, WALK, "-fps_mode", "vfr")
    film = open_film(path)
    assert film.variable
    assert "different intervals" in film.notes[0]
    original, pictures = decoded(WALK), decoded(path)
    assert len(pictures) == pytest.approx(4 * film.fps, abs=3)
    at = np.abs(np.array([p.astype(int) for p in original[:80]]) - pictures[round(3.0 * film.fps)]).mean(axis=(1, 2, 3))
    assert abs(int(at.argmin()) - 70) <= 1  # the frame that was shown at 3 s


def test_fast_films_are_thinned_and_that_is_said(tmp_path):
    path = edited(tmp_path / "fast.mp4", "setpts=N/240/TB", WALK, "-r", "240")
    film = open_film(path)
    assert (film.rate, film.fps) == (240, 60)
    assert "one in 4" in film.notes[0]
    assert len(decoded(path)) == pytest.approx(102 / 4, abs=1.5)


def test_slow_motion_that_the_camera_noted_is_said(tmp_path):
    path = tmp_path / "slow.mp4"
    run("-i", WALK, "-c", "copy", "-movflags", "use_metadata_tags", "-metadata", "com.android.capture.fps=240.0", path)
    film = open_film(path)
    assert film.slower == 8
    assert "8 times slower" in film.notes[0]
    assert "ffmpeg -itsscale 0.125 -i slow.mp4 -c copy REAL.mp4" in film.notes[0]
    run("-itsscale", "0.125", "-i", path, "-c", "copy", tmp_path / "REAL.mp4")
    real = open_film(tmp_path / "REAL.mp4")
    assert real.slower == 1
    assert real.seconds == pytest.approx(3.4 / 8, abs=1 / 30)  # the last frame stays as long as it did


def test_a_part_of_a_film_is_that_part():
    whole = decoded(WALK)
    part = decoded(WALK, 1.0, 2.0)
    assert len(part) == 30
    assert np.array_equal(part[0], whole[30])
    assert np.array_equal(part[-1], whole[59])


def test_frames_come_one_by_one_and_ffmpeg_ends_when_nobody_wants_more(monkeypatch):
    started = []
    original = frames_module.subprocess.Popen
    monkeypatch.setattr(
        frames_module.subprocess, "Popen", lambda *a, **k: started.append(original(*a, **k)) or started[-1]
    )
    pictures = frames(open_film(WALK))
    next(pictures)
    assert started[-1].poll() is None  # 100 frames do not fit into a pipe
    pictures.close()
    assert started[-1].poll() is not None


BAD = {
    "still.png": (["-i", WALK, "-frames:v", "1"], "is a still picture, not a film"),
    "still.jpg": (["-i", WALK, "-frames:v", "1"], "is a still picture, not a film"),
    "sound.wav": (["-f", "lavfi", "-i", "sine=d=1"], "is a sound recording, not a film"),
    "sound.mp4": (["-f", "lavfi", "-i", "sine=d=1"], "holds sound and no pictures"),
    "slides.mp4": (["-i", WALK, "-vf", "fps=1"], "pictures at 1 Hz, as a slide show"),
    "tiny.mp4": (["-i", WALK, "-vf", "scale=32:32"], "pictures of 32 x 32 pixels"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_no_film_is_told_as_what_it_is(tmp_path, name):
    words, told = BAD[name]
    run(*words, tmp_path / name)
    with pytest.raises(ReadError, match=told):
        open_film(tmp_path / name)


def test_files_of_other_kinds_are_refused(tmp_path):
    path = tmp_path / "film.mp4"
    with pytest.raises(ReadError, match="cannot be opened: No such file"):
        open_film(path)
    with pytest.raises(ReadError, match="is a folder"):
        open_film(tmp_path)
    for content, told in (
        (b"", "is empty"),
        (b"HIERARCHY\n", "no film of a known kind"),
        (bytes(999), "no film of a known"),
    ):
        path.write_bytes(content)
        with pytest.raises(ReadError, match=told):
            open_film(path)


def test_a_film_without_its_end_is_told_and_one_without_its_tail_gives_what_is_there(tmp_path):
    """Where the index is at the end nothing can be read; where it is in front, the beginning can."""
    path = tmp_path / "cut.mp4"
    path.write_bytes(WALK.read_bytes()[:60_000])
    with pytest.raises(ReadError, match="is cut off"):
        open_film(path)
    run("-i", WALK, "-c", "copy", "-movflags", "faststart", tmp_path / "whole.mp4")
    path.write_bytes((tmp_path / "whole.mp4").read_bytes()[:60_000])
    assert 30 < len(decoded(path)) < 102


@pytest.mark.parametrize("long", [False, True])
def test_how_much_of_a_file_is_missing_is_told_before_it_is_decoded(tmp_path, long):
    """By the lengths of the boxes, also where one has eight bytes."""
    run("-i", WALK, "-c", "copy", "-movflags", "faststart", tmp_path / "whole.mp4")
    whole = (tmp_path / "whole.mp4").read_bytes()
    at = whole.rindex(b"mdat") - 4
    if long:
        at -= 8  # of the box `free`, which makes room for it
        size = len(whole) - at
        whole = whole[:at] + (1).to_bytes(4, "big") + b"mdat" + size.to_bytes(8, "big") + whole[at + 16 :]
    path = tmp_path / "cut.mp4"
    path.write_bytes(whole)
    assert (open_film(path).missing, open_film(path).notes) == (0.0, [])
    path.write_bytes(whole[: len(whole) * 3 // 4])
    assert open_film(path).missing == pytest.approx(0.25, abs=1e-4)
    assert open_film(path).notes == ["it is cut off: the last 25 % of the file are missing; copy it again for the rest"]


@given(st.binary(max_size=200))
def test_bytes_that_are_no_boxes_are_not_said_to_be_missing_nor_looped_over(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("boxes") / "film.mp4"
    path.write_bytes(content)
    assert 0 <= missing_share(path) <= 1


def test_a_film_whose_pictures_are_destroyed_is_an_error_that_names_it(tmp_path):
    run("-i", WALK, "-c", "copy", "-movflags", "faststart", tmp_path / "whole.mp4")
    content = (tmp_path / "whole.mp4").read_bytes()
    start = content.index(b"mdat") + 4
    path = tmp_path / "destroyed.mp4"
    path.write_bytes(content[:start] + bytes(len(content) - start))
    with pytest.raises(ReadError, match=r"destroyed\.mp4: gives no picture"):
        decoded(path)


MANIFEST = """<MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" mediaPresentationDuration="PT9S"
 profiles="urn:mpeg:dash:profile:isoff-on-demand:2011"><Period><AdaptationSet mimeType="video/mp4"><Representation
 id="v" bandwidth="9" width="640" height="480"><BaseURL>{}</BaseURL></Representation></AdaptationSet></Period></MPD>"""
SCRIPTS = ["#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXTINF:9,\n{}\n", "ffconcat version 1.0\nfile {}\n", MANIFEST]
STARTS = [b"", b"\0\0\0\x20ftypisom", b"\x1aE\xdf\xa3", b"OggS", b"\0\0\x01\xba", b"G" + b" " * 187 + b"G"]


@contextmanager
def server():
    """A real server: its address, and who called."""
    heard: list[object] = []
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(0.1)
        ended = threading.Event()

        def listen():
            while not ended.is_set():
                with suppress(OSError):
                    caller, _ = listening.accept()
                    heard.append(caller)
                    caller.close()

        thread = threading.Thread(target=listen)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}/x.mp4", heard
        finally:
            ended.set()
            thread.join()


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("script", SCRIPTS, ids=["hls", "concat", "dash"])
def test_no_file_makes_us_open_another_or_an_address(tmp_path, start, script):
    """A server hears nothing, whatever the file pretends to be; nor is a film read that it names."""
    path = tmp_path / "film.mp4"
    with server() as (address, heard):
        for named in (address, str(BEAM)):
            path.write_bytes(start + script.format(named).encode())
            with pytest.raises(ReadError):
                decoded(path)
    assert not heard


@pytest.mark.parametrize("container", CONTAINERS)
def test_ffmpeg_itself_follows_no_script_even_one_that_we_would_take_for_a_film(tmp_path, container):
    (tmp_path / "named.mp4").write_bytes(BEAM.read_bytes())
    path = tmp_path / "film.mp4"
    path.write_text("ffconcat version 1.0\nfile named.mp4\n")

    def told(*options):
        done = subprocess.run([ffmpeg(), *options, "-i", f"file:{path}"], stdin=subprocess.DEVNULL, capture_output=True)
        return done.stderr

    assert b"Video: h264" in told()  # it would, if nothing forbade it
    assert b"Video: h264" not in told(*input_options(container))


def test_a_name_with_a_colon_is_a_file(tmp_path):
    path = tmp_path / "http:film.mp4"
    path.write_bytes(WALK.read_bytes())
    assert len(decoded(path, 0, 0.2)) == 6


def test_what_ffmpeg_says_is_read_whatever_stands_in_the_titles(tmp_path):
    told = (
        "Input #0, mov,mp4, from 'x':\n  Metadata:\n    title           : Stream #0:0: Video: h264, 10x10, 3 fps\n"
        "  Duration: 01:02:03.50, start: 0.000000\n"
        "  Stream #0:0(und): Video: hevc (Main) (hvc1 / 0x31), yuv420p(tv, bt709), 1920x1080 [SAR 1:1 DAR 16:9], 9 kb"
        "/s, 59.94 fps, 59.94 tbr, 90k tbn (default)\n    Side data:\n      displaymatrix: rotation of -90.00 degrees\n"
    )
    film = described(tmp_path / "x.mp4", "mov", told)
    assert (film.codec, film.size, film.rate, film.seconds) == ("hevc", (1080, 1920), Fraction(60000, 1001), 3723.5)

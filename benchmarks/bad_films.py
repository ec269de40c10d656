"""Bad films: what `phuma video` says of each, how soon, and what is left of it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from phuma.video.film import ffmpeg
from phuma.video.weights import DETECTOR, LANDMARKERS, fetched, folder
from tables import markdown, save

DATA = Path(__file__).parents[1] / "tests" / "video" / "data"
WALK, BEAM, PAIR = (str(DATA / f"{name}.mp4") for name in ("walk", "beam", "pair"))
CODEC = ["-an", "-c:v", "libx264", "-preset", "ultrafast", "-crf", "20", "-pix_fmt", "yuv420p"]
FIT = "scale=1280:720:force_original_aspect_ratio=decrease,pad=1280:720:-1:-1,setsar=1,fps=30"
TO_AND_FRO = "split[a][b];[b]reverse[c];[a][c]concat=n=2"
SECONDS = 12
TICKS = os.sysconf("SC_CLK_TCK")


def run(*words: str | Path) -> None:
    """Run ffmpeg with these words."""
    subprocess.run([ffmpeg(), "-v", "error", "-y", *map(str, words)], check=True, stdin=subprocess.DEVNULL)


def shot(path: Path, seconds: float, filters: str = "null", source: str = WALK) -> Path:
    """Write so many seconds of a person to and fro at 720p, filtered."""
    loop = f"{TO_AND_FRO},{FIT},loop=-1:{round(30 * seconds)},trim=end={seconds},{filters}"
    run("-i", source, "-filter_complex", loop, *CODEC, path)
    return path


def joined(path: Path, *parts: Path) -> Path:
    """Write films of one kind one after another."""
    listed = path.with_suffix(".txt")
    listed.write_text("".join(f"file '{part}'\n" for part in parts))
    run("-f", "concat", "-safe", "0", "-i", listed, "-c", "copy", path)
    return path


def between(path: Path, filters: str, source: str = WALK, part: float = 6.0) -> Path:
    """Write good film, as much of another kind, and good film again."""
    good = shot(path.with_name("good.mp4"), part)
    bad = shot(path.with_name("bad.mp4"), part, filters, source)
    return joined(path, good, bad, good)


def nobody(path: Path) -> None:
    """The background alone, with the noise of a camera."""
    shot(path, SECONDS, "crop=iw/5:ih/5:0:ih/3,scale=1280:720,noise=alls=8:allf=t")


def long(path: Path) -> None:
    """Ten hours at 720p."""
    minute = path.with_name("minute.mp4")
    run("-f", "lavfi", "-i", "testsrc2=s=1280x720:r=30:d=60", *CODEC, "-crf", "40", minute)
    run("-stream_loop", "599", "-i", minute, "-c", "copy", path)


def late(path: Path) -> None:
    """Ten minutes, in which the legs are out of the picture from 1:00 to 1:12."""
    good = shot(path.with_name("good.mp4"), SECONDS)
    bad = shot(path.with_name("bad.mp4"), SECONDS, "crop=iw*0.5:ih*0.25:iw/4:ih*0.3,scale=1280:720")
    joined(path, *[good] * 5, bad, *[good] * 44)


def cut_off(path: Path) -> None:
    path.write_bytes(shot(path.with_name("whole.mp4"), SECONDS).read_bytes()[:-20_000])


def ends_early(path: Path) -> None:
    whole = path.with_name("whole.mp4")
    run("-i", shot(path.with_name("take.mp4"), SECONDS), "-c", "copy", "-movflags", "faststart", whole)
    content = whole.read_bytes()
    path.write_bytes(content[: len(content) // 2])


def noted(path: Path) -> None:
    film = shot(path.with_name("take.mp4"), SECONDS)
    run("-i", film, "-c", "copy", "-movflags", "use_metadata_tags", "-metadata", "com.android.capture.fps=240.0", path)


class Bad(NamedTuple):
    """A bad film, and what has to be said of it."""

    name: str
    make: Callable[[Path], object]
    says: str
    """What the line that tells it holds"""
    left: bool = True
    """Whether something of it can be used"""


PAN = "scale=1920:1080,crop=1280:720:'320+150*sin(2*PI*n/30)':180"
FILMS = (
    Bad("nobody in it", nobody, "nobody is seen", left=False),
    Bad("nobody for 6 s", lambda p: between(p, "crop=iw/5:ih/5:0:ih/3,scale=1280:720,noise=alls=8:allf=t"),
        "nobody is seen"),
    Bad("two people", lambda p: shot(p, SECONDS, "null", PAIR), "more than one person"),
    Bad("the camera pans to and fro for 6 s", lambda p: between(p, PAN), "the camera moves"),
    Bad("a cut to another person", lambda p: between(p, "null", BEAM), "a cut"),
    Bad("upside down", lambda p: shot(p, SECONDS, "vflip,hflip"), "far from upright"),
    Bad("night", lambda p: shot(p, SECONDS, "eq=brightness=-0.42:contrast=0.3"), "dark"),
    Bad("a slide show, 1 picture a second", lambda p: shot(p, SECONDS, "fps=1"), "slide show", left=False),
    Bad("a slide show at 30 Hz", lambda p: shot(p, SECONDS, "fps=1/3,fps=30"), "a still picture", left=False),
    Bad("sound, WAV", lambda p: run("-f", "lavfi", "-i", "sine=d=12", "-f", "wav", p), "sound", left=False),
    Bad("sound, MP4", lambda p: run("-f", "lavfi", "-i", "sine=d=12", "-c:a", "aac", p), "holds sound", left=False),
    Bad("cut off, index at the end", cut_off, "cut off", left=False),
    Bad("cut off, index in front", ends_early, "is cut off"),
    Bad("240 frames/s", lambda p: shot(p, SECONDS, "setpts=PTS/8,fps=240"), "one in 4"),
    Bad("slow motion that the camera noted", noted, "slow motion"),
    Bad("one picture", lambda p: shot(p, SECONDS, "trim=end_frame=1"), "only one picture", left=False),
    Bad("ten hours", long, "10:00:00", left=False),
    Bad("ten minutes, legs out from 1:00 to 1:12", late, "legs out of the picture"),
)  # fmt: skip


class Told(NamedTuple):
    """When something was told."""

    wall: float
    cpu: float
    line: str


def cpu_of(process: subprocess.Popen[bytes]) -> float:
    """CPU seconds of a process and of those that it started."""
    each = f"/proc/{process.pid}/task/{process.pid}/children"
    total = 0.0
    for pid in [str(process.pid), *Path(each).read_text().split()]:
        try:
            numbers = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        total += sum(map(int, numbers[11:15])) / TICKS
    return total


def told(film: Path, out: Path, bad: Bad) -> tuple[Told | None, str]:
    """When the command says it, and the share of the film that it can use, if it comes to that."""
    words = [sys.executable, "-m", "phuma", "video", str(film), "--method", "sink", "--out", str(out)]
    began, found, used = time.monotonic(), None, "-"
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert process.stdout
    for line in (raw.decode().strip() for raw in process.stdout):
        if share := re.search(r"(\d+ %) can be used", line):
            used = share[1]
        if found is None and bad.says in line:
            found = Told(time.monotonic() - began, cpu_of(process), line.removeprefix("phuma video: "))
        if found and (used != "-" or bad.make is late):
            process.kill()  # the rest is as with any film
    assert (process.wait() == 1) != bad.left, bad.name
    return found, used


def shown(line: str, film: Path) -> str:
    """What was said, without the film's path; of a list of findings the beginning."""
    line = line.replace(f"{film}: ", "").replace("Error: ", "").replace("|", "\\|")
    return re.split(r"; (?=\d+:\d\d)|, from \d", line)[0][:200]


def row(bad: Bad, folder: Path) -> list[object]:
    folder.mkdir()
    film = folder / "film.mp4"
    bad.make(film)
    found, used = told(film, folder / "out", bad)
    shutil.rmtree(folder)
    out = [bad.name, "-", "-", used, "-"]
    if found is not None:
        out = [bad.name, f"{found.wall:.1f}", f"{found.cpu:.1f}", used, shown(found.line, film)]
    print(*out, sep=" | ", file=sys.stderr, flush=True)
    return out


def main(only: str = "") -> None:
    with tempfile.TemporaryDirectory() as scratch:
        for weights in (DETECTOR, LANDMARKERS["full"]):
            fetched(weights)
        cache = Path(scratch) / "cache"
        cache.mkdir()
        for known in folder().parent.iterdir():
            if known.name != "landmarks":
                (cache / known.name).symlink_to(known)
        os.environ["PHUMA_CACHE"] = str(cache)
        rows = [row(bad, Path(scratch) / str(n)) for n, bad in enumerate(FILMS) if only in bad.name]
        head = ["film", "told after, s", "of a processor, s", "can be used", "what is said"]
        if only:
            print(markdown(head, rows))
            return
        save(
            "bad_films",
            "Bad films",
            "`phuma video` of films of 12 to 18 s at 720p that are made of real ones: seconds until it is said what is "
            "wrong, on the clock of a machine that was busy with other work, and of a processor, with the start of the "
            "program and with ffmpeg; and how much of the film can be used.",
            markdown(head, rows),
        )


if __name__ == "__main__":
    main(*sys.argv[1:])

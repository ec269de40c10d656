"""Bad films: what `phuma video` says of each, how soon, and what is left of it."""

from __future__ import annotations

import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from phuma.video.film import ffmpeg
from phuma.video.weights import DETECTOR, LANDMARKERS, fetched, folder
from tables import markdown, save

DATA = Path(__file__).parents[1] / "tests" / "video" / "data"
WALK, BEAM, PAIR = (str(DATA / f"{name}.mp4") for name in ("walk", "beam", "pair"))
CODEC = ["-an", "-c:v", "libx264", "-preset", "veryfast", "-crf", "23", "-pix_fmt", "yuv420p"]
FIT = "scale=1920:1080:force_original_aspect_ratio=decrease,pad=1920:1080:-1:-1,setsar=1,fps=30"
TO_AND_FRO = "split[a][b];[b]reverse[c];[a][c]concat=n=2"
TICKS = os.sysconf("SC_CLK_TCK")


def run(*words: str | Path) -> None:
    """Run ffmpeg with these words."""
    subprocess.run([ffmpeg(), "-v", "error", "-y", *map(str, words)], check=True, stdin=subprocess.DEVNULL)


def shot(path: Path, seconds: float, filters: str = "null", source: str = WALK) -> Path:
    """Write so many seconds of a person to and fro at 1080p, filtered."""
    base = path.with_name(f"{Path(source).stem}.{path.name}")
    run("-i", source, "-filter_complex", f"{TO_AND_FRO},{FIT}", *CODEC, base)
    run("-stream_loop", "-1", "-i", base, "-t", seconds, "-vf", filters, *CODEC, path)
    base.unlink()
    return path


def joined(path: Path, *parts: Path) -> Path:
    """Write films of one kind one after another."""
    listed = path.with_suffix(".txt")
    listed.write_text("".join(f"file '{part}'\n" for part in parts))
    run("-f", "concat", "-safe", "0", "-i", listed, "-c", "copy", path)
    return path


def between(path: Path, filters: str, source: str = WALK, part: float = 7.0) -> Path:
    """Write good film, as much of another kind, and good film again."""
    good = shot(path.with_name("good.mp4"), part)
    bad = shot(path.with_name("bad.mp4"), part, filters, source)
    return joined(path, good, bad, good)


def nobody(path: Path) -> None:
    """The background alone, with the noise of a camera."""
    shot(path, 20, "crop=iw/5:ih/5:0:ih/3,scale=1920:1080,noise=alls=8:allf=t")


def long(path: Path) -> None:
    """Ten hours at 1080p."""
    minute = path.with_name("minute.mp4")
    run("-f", "lavfi", "-i", "testsrc2=s=1920x1080:r=30:d=60", *CODEC, "-crf", "40", minute)
    run("-stream_loop", "599", "-i", minute, "-c", "copy", path)


def late(path: Path) -> None:
    """Ten minutes, in which the legs are out of the picture from 1:10 to 1:24."""
    good = shot(path.with_name("good.mp4"), 14)
    bad = shot(path.with_name("bad.mp4"), 14, "crop=iw*0.5:ih*0.25:iw/4:ih*0.3,scale=1920:1080")
    joined(path, *[good] * 5, bad, *[good] * 37)


def cut_off(path: Path) -> None:
    path.write_bytes(shot(path.with_name("whole.mp4"), 20).read_bytes()[:-20_000])


def ends_early(path: Path) -> None:
    whole = path.with_name("whole.mp4")
    run("-i", shot(path.with_name("film.mp4"), 20), "-c", "copy", "-movflags", "faststart", whole)
    content = whole.read_bytes()
    path.write_bytes(content[: len(content) // 2])


def noted(path: Path) -> None:
    film = shot(path.with_name("film.mp4"), 20)
    run("-i", film, "-c", "copy", "-movflags", "use_metadata_tags", "-metadata", "com.android.capture.fps=240.0", path)


class Bad(NamedTuple):
    """A bad film, and what has to be said of it."""

    name: str
    make: Callable[[Path], object]
    says: str
    """What the line that tells it holds"""
    left: bool = True
    """Whether something of it can be used"""


PAN = "scale=2880:1620,crop=1920:1080:'480+470*sin(2*PI*n/40)':270"
FILMS = (
    Bad("nobody in it", nobody, "nobody is seen", left=False),
    Bad("nobody for 7 s", lambda p: between(p, "crop=iw/5:ih/5:0:ih/3,scale=1920:1080,noise=alls=8:allf=t"),
        "nobody is seen"),
    Bad("two people", lambda p: shot(p, 20, "null", PAIR), "more than one person"),
    Bad("the camera pans to and fro for 7 s", lambda p: between(p, PAN, BEAM), "the camera moves"),
    Bad("a cut to another person", lambda p: between(p, "null", BEAM), "a cut"),
    Bad("upside down", lambda p: shot(p, 20, "vflip,hflip"), "far from upright"),
    Bad("night", lambda p: shot(p, 20, "eq=brightness=-0.42:contrast=0.3"), "dark"),
    Bad("a slide show, 1 picture a second", lambda p: shot(p, 20, "fps=1"), "slide show", left=False),
    Bad("a slide show at 30 Hz", lambda p: shot(p, 20, "fps=1/3,fps=30"), "a still picture", left=False),
    Bad("sound, WAV", lambda p: run("-f", "lavfi", "-i", "sine=d=20", "-f", "wav", p), "sound", left=False),
    Bad("sound, MP4", lambda p: run("-f", "lavfi", "-i", "sine=d=20", "-c:a", "aac", p), "holds sound", left=False),
    Bad("cut off, index at the end", cut_off, "cut off", left=False),
    Bad("cut off, index in front", ends_early, "ends at"),
    Bad("240 frames/s", lambda p: shot(p, 20, "setpts=PTS/8,fps=240"), "one in 4"),
    Bad("slow motion that the camera noted", noted, "slow motion"),
    Bad("one picture", lambda p: shot(p, 20, "trim=end_frame=1"), "only one picture", left=False),
    Bad("ten hours", long, "10:00:00", left=False),
    Bad("ten minutes, legs out from 1:10 to 1:24", late, "legs out of the picture"),
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


def told(film: Path, out: Path, says: str, whole: bool) -> tuple[Told | None, int | None, float]:
    """When the command says it; its exit code at the end, and its CPU seconds then."""
    began, found, before = time.monotonic(), None, resource.getrusage(resource.RUSAGE_CHILDREN)
    words = [sys.executable, "-m", "phuma", "video", str(film), "--method", "sink", "--out", str(out)]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert process.stdout
    last = threading.Event()
    for raw in process.stdout:
        line = raw.decode().strip()
        if found is None and says in line:
            found = Told(time.monotonic() - began, cpu_of(process), line.removeprefix("phuma: "))
            if not whole:
                process.kill()
    last.set()
    code = process.wait()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return found, code, cpu


def shown(line: str, film: Path) -> str:
    """What was said, without the film's path; of a list of findings the beginning."""
    line = line.replace(f"{film}: ", "").replace("Error: ", "").replace("|", "\\|")
    return re.split(r"; (?=\d+:\d\d)|, from \d", line)[0][:150]


def row(bad: Bad, folder: Path) -> list[object]:
    folder.mkdir()
    film, out = folder / "film.mp4", folder / "out"
    bad.make(film)
    whole = bad.make is not late
    found, code, cpu = told(film, out, bad.says, whole)
    if found is None:
        return [bad.name, "-", "-", f"-, {code}", "-", "-"]
    left = "-"
    if whole and (out / "video.json").is_file():
        result = json.loads((out / "video.json").read_text())
        left = f"{sum(c['end'] - c['start'] for c in result['clips']):.0f} of {result['frames'] / result['fps']:.0f} s"
    assert not whole or (code == 0) == bad.left, (bad.name, code)
    ended = f"{cpu:.1f}" if whole else "-"
    return [bad.name, f"{found.wall:.1f}", f"{found.cpu:.1f}", ended, left, shown(found.line, film)]


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
        head = ["film", "told after, s", "CPU s until then", "CPU s in all", "used", "what is said"]
        if only:
            print(markdown(head, rows))
            return
        save(
            "bad_films",
            "Bad films",
            "`phuma video` of films of 20 s at 1080p that are made of real ones: seconds on the clock, on a machine "
            "that did other work besides, and of a processor (start of the program and ffmpeg included) until it is "
            "said what is wrong; what it takes to its end, with the robot's motion where something is left; and what "
            "can be used. The longest is only followed until it is told.",
            markdown(head, rows),
        )


if __name__ == "__main__":
    main(*sys.argv[1:])

"""Damaged and hostile files of video models: each gives motions or an error that names it; nothing in one is executed.

`python benchmarks/attack_recordings.py [NUMBER]`. All are read in this process, by the readers that a user's files go
through. Of each file bytes are changed, cut out, put in or left off, in the file or within its container, or one of the
values that it holds is another; in every fourth one a call of `os.system` was planted before. A failure is another
exception, more than ten seconds of CPU time, or an attempt to run anything, which Python's own audit events tell.
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from pathlib import Path

import numpy as np

from phuma.errors import ReadError
from phuma.io.probe import Probe
from phuma.sources import freemocap, read_all, trc
from tables import markdown, save

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.fuzz import Change
from tests.sources import model_files
from tests.sources.model_attacks import LAYOUTS, MOTION, Evil, content_of, shaken, spoil, store
from tests.sources.test_points import landmarks, trc_text

NUMBER = 10_000
LONGEST = 10.0
"""CPU seconds that a file may take"""
RUNS = ("os.system", "os.exec", "os.fork", "os.posix_spawn", "os.spawn", "subprocess.Popen", "os.startfile", "compile",
        "ctypes.dlopen", "socket.connect", "os.remove", "os.rename", "shutil.rmtree")  # fmt: skip
"""Audit events of which none may come from a file"""
PARSED = ("freemocap", "trc")
"""Of these the points are asked for, not the body that is fitted to them"""
HEAD = ("layout", "files", "with a call in them", "read", "refused with a reason", "failed", "slowest [CPU s]")
events: list[str] = []


def watch(event: str, args: tuple[object, ...]) -> None:
    """Note what tries to run; NumPy compiles the header of an array, which is a literal."""
    literal = event == "compile" and len(args) > 1 and args[1] in ("<unknown>", "<string>")
    if event in RUNS and not literal:
        events.append(f"{event}{args!r}"[:200])


def whole_files(folder: Path) -> dict[str, list[bytes]]:
    """Return each layout's file, whole, and the same with a call planted in it."""
    model_files.write_tram(folder, MOTION)  # the camera
    marker, out = folder / "marker", {}
    for layout in LAYOUTS:
        contents = content_of(layout), {**content_of(layout), "extra": Evil(marker)}
        out[layout] = [store(layout, folder / "whole", content).read_bytes() for content in contents]
    np.save(folder / "points.npy", 1000 * landmarks()[:40])
    np.save(folder / "evil.npy", np.array(Evil(marker), dtype=object), allow_pickle=True)
    out["freemocap"] = [(folder / "points.npy").read_bytes(), (folder / "evil.npy").read_bytes()]
    text = "\n".join(trc_text().splitlines()[:40]).encode()
    return {**out, "trc": [text, text]}


def edits(dice: random.Random) -> list[Change]:
    """Return one to four changes, or one of a single byte, which goes deeper."""
    if dice.random() < 0.5:
        return [("flip", dice.random(), dice.randbytes(1))]
    kinds = ("flip", "cut", "insert", "delete", "head")
    return [(dice.choice(kinds), dice.random(), dice.randbytes(dice.randint(1, 8))) for _ in range(dice.randint(1, 4))]


def attack(layout: str, path: Path) -> str:
    """Read a file; return how it went."""
    try:
        if layout == "trc":
            trc.parse(path)
        elif layout == "freemocap":
            probe = Probe(path)
            if not freemocap.recognises(probe):
                read_all(path)
            freemocap.parse(probe)
        else:
            read_all(path)
    except ReadError:
        return "refused"
    except Exception:
        traceback.print_exc()
        return "failed"
    return "read"


def main() -> None:
    """Make the table."""
    number = int(sys.argv[1]) if len(sys.argv) > 1 else NUMBER
    warnings.simplefilter("error")
    counts: dict[str, Counter[str]] = {layout: Counter() for layout in (*LAYOUTS, *PARSED)}
    slowest: dict[str, float] = dict.fromkeys(counts, 0.0)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        whole = whole_files(folder)
        sys.addaudithook(watch)
        for i in range(number):
            layout, dice = list(counts)[i % len(counts)], random.Random(i)
            hostile = layout != "trc" and dice.random() < 0.25
            path = folder / f"damaged_{layout}"
            if layout in LAYOUTS and not hostile and dice.random() < 0.4:
                path = store(layout, path, shaken(content_of(layout), dice))
            else:
                path.write_bytes(spoil(whole[layout][hostile], layout, edits(dice), dice.random() < 0.5))
            events.clear()
            began = time.process_time()
            outcome = attack(layout, path)
            seconds = time.process_time() - began
            if events or (folder / "marker").exists() or seconds > LONGEST:
                print(f"{layout}, seed {i}: {seconds:.1f} s, {events}", flush=True)
                outcome = "failed"
            counts[layout].update([outcome, *(["hostile"] if hostile else [])])
            slowest[layout] = max(slowest[layout], seconds)
    rows = [row(layout, counts[layout], slowest[layout]) for layout in counts]
    total = row("all", sum(counts.values(), Counter()), max(slowest.values()))
    about = (
        f"Each of {number:,} files is laid out as a video model writes it, with changes that a seed draws: one to four "
        "of its bytes, in the file or within its container, or one of the values that it holds. In about a quarter a "
        f"call of `os.system` was planted before. Failed would be a traceback, more than {LONGEST:g} CPU seconds, or "
        "anything that runs. Of FreeMoCap's and marker files the points are read, without a body."
    )
    table = markdown(HEAD, [*rows, total])
    if number == NUMBER:
        save("attack_recordings", "Damaged files of video models", about, table)
    else:
        print(table)


def row(name: str, found: Counter[str], slowest: float) -> list[object]:
    """One line of the table."""
    files = found["read"] + found["refused"] + found["failed"]
    return [name, files, found["hostile"], found["read"], found["refused"], found["failed"], slowest]


if __name__ == "__main__":
    main()

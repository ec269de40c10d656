"""What retargeting costs beside the solve: two processes at once, memory, the first start, and long motions.

On synthetic motions, so that no recordings are needed. A number as argument takes so many times less of everything. The
package is imported where it is used: what importing it costs is measured here too.
"""

from __future__ import annotations

import compileall
import json
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

from tables import markdown, save

ROBOT = "g1"
FRAMES = 120  # the cost is told for so many
REPEATS = 7
PEOPLE = 2  # of each type, in one pass
LENGTHS = (4.0, 30.0, 120.0, 600.0)  # s
AT_LEAST = 60.0  # s of motion that are solved in pieces of each length
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
CACHES = ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME", "PHUMA_CACHE")
LOCKED = {"all can be written": (), "package read-only": ("site",), "package and home read-only": ("site", "home")}
UNPRIVILEGED = ("setpriv", "--inh-caps", "-dac_override", "--bounding-set", "-dac_override")
"""Run a command as a root user who is bound to files' permissions like anybody else"""


# What runs in processes of its own.


def serve_passes(people: int) -> None:
    """Retarget the same clips once for each line of input, and say what it took."""
    from curation_speed import peak_megabytes
    from phuma.curation import curate
    from phuma.retargeting import retarget_motion
    from phuma.robots import load_robot
    from phuma.synth import KINDS, generate

    robot = load_robot(ROBOT)
    clips = [curate(generate(kind, 4.0, seed).motion).clips[0] for kind in KINDS for seed in range(people)]
    retarget_motion(clips[0].motion, clips[0].contact, robot)  # compiles, and fills the caches
    print(json.dumps({"clips": len(clips)}), flush=True)
    for _ in sys.stdin:
        began, wall = time.process_time(), time.perf_counter()
        solve = sum(retarget_motion(c.motion, c.contact, robot).solve_seconds for c in clips)
        spent = {"solve": solve, "all": time.process_time() - began, "wall": time.perf_counter() - wall}
        print(json.dumps(spent | {"peak": peak_megabytes()}), flush=True)


def cpu_of_all() -> float:
    """Return the CPU seconds of this process and of those that it waited for: another one compiles."""
    spent = os.times()
    return spent.user + spent.system + spent.children_user + spent.children_system


def first_motion() -> None:
    """From nothing to the first robot motion, and to the second."""
    marks = [cpu_of_all()]
    import phuma.retargeting
    from phuma.curation import curate
    from phuma.robots import load_robot
    from phuma.synth import generate

    clip = curate(generate("walk").motion).clips[0]
    robot = load_robot(ROBOT)
    marks.append(cpu_of_all())
    for _ in range(2):
        phuma.retargeting.retarget_motion(clip.motion, clip.contact, robot)
        marks.append(cpu_of_all())
    from curation_speed import peak_megabytes

    spent = dict(zip(("import", "first", "second"), (b - a for a, b in pairwise(marks))))
    print(json.dumps(spent | {"where": str(Path(phuma.retargeting.__file__)), "peak": peak_megabytes()}))


def one_length(seconds: float) -> None:
    """A long walk in pieces of so many seconds, each solved as one motion."""
    from curation_speed import peak_megabytes
    from phuma.curation import curate
    from phuma.retargeting import FIVE, retarget_motion
    from phuma.retargeting.measure import combine
    from phuma.robots import load_robot
    from phuma.synth import generate

    robot = load_robot(ROBOT)
    walk = curate(generate("walk", max(seconds, AT_LEAST), seed=3).motion)
    size, frames = round(seconds * walk.motion.fps), len(walk.motion)
    short = walk.motion.frames(0, FRAMES), walk.contact.frames(0, FRAMES)
    retarget_motion(*short, robot)  # compiles, and fills the caches
    forget_peak()
    before, began, made = peak_megabytes(), time.process_time(), []
    for first in range(0, frames - size + 1, size):
        last = first + size
        made.append(retarget_motion(walk.motion.frames(first, last), walk.contact.frames(first, last), robot))
    spent = {"solve": sum(m.solve_seconds for m in made), "all": time.process_time() - began}
    scores = combine([m.report["metrics"] for m in made])
    per_clip = {name: value * FRAMES / sum(map(len, made)) for name, value in spent.items()}
    settled = not any("settled" in flag for m in made for flag in m.report["flags"])
    memory = {"before": before, "peak": peak_megabytes()}
    print(json.dumps(per_clip | memory | {"five": [scores[n] for n in FIVE], "settled": settled, "frames": size}))


def forget_peak() -> None:
    """Let the kernel count the peak of this process' memory from now on, where it can."""
    if Path("/proc/self/clear_refs").exists():
        Path("/proc/self/clear_refs").write_text("5")


CHILDREN = {"passes": lambda n: serve_passes(int(n)), "first": first_motion, "length": lambda s: one_length(float(s))}


# What starts them and makes tables of what they say.


def command(*words: object) -> list[str]:
    return [sys.executable, str(Path(__file__).resolve()), *map(str, words)]


def environment(**changed: str) -> dict[str, str]:
    return os.environ | dict.fromkeys(THREADS, "1") | changed


class Server:
    """A process that makes a pass over its clips when told to."""

    def __init__(self, people: int) -> None:
        self.process = subprocess.Popen(
            command("passes", people), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment()
        )
        self.clips = int(self.answer()["clips"])

    def answer(self) -> dict[str, float]:
        assert self.process.stdout is not None
        return json.loads(self.process.stdout.readline())

    def go(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write("go\n")
        self.process.stdin.flush()

    def stop(self) -> None:
        self.process.communicate()


def together(repeats: int, people: int) -> tuple[str, str]:
    """One process against two at once, in turns, as the machine has better and worse minutes."""
    servers = [Server(people), Server(people)]
    ratios, alone, pair = [], [], []
    for turn in range(repeats):
        single = servers[turn % 2]
        single.go()
        alone.append(single.answer())
        for server in servers:
            server.go()
        both = [server.answer() for server in servers]
        pair += both
        ratios.append(sum(b["solve"] for b in both) / 2 / alone[-1]["solve"])
    clips = servers[0].clips
    for server in servers:
        server.stop()
    rows = []
    for name, passes in (("one process", alone), ("two at once, each", pair)):
        cells = [[p[what] / clips for p in passes] for what in ("solve", "all")]
        peak = max(p["peak"] for p in passes)
        rows.append([name, *(f"{f(c):.4f}" for c in cells for f in (median, min, max)), f"{peak:.0f}"])
    head = ["", "solve, median", "least", "most", "all, median", "least", "most", "peak memory, MB"]
    text = f"Two at once over one alone, CPU seconds of the solve: {median(ratios):.2f} in the median of {repeats} "
    return markdown(head, rows), text + f"turns ({min(ratios):.2f} to {max(ratios):.2f}); {clips} clips a turn."


@contextmanager
def read_only(*folders: Path) -> Iterator[None]:
    """Nothing in these folders may be written; afterwards it may again, so that they can be removed."""
    places = [path for folder in folders for path in (folder, *folder.rglob("*"))]
    for path in places:
        path.chmod(path.stat().st_mode & ~(stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH))
    try:
        yield
    finally:
        for path in places:
            path.chmod(path.stat().st_mode | stat.S_IWUSR)


def start_row(name: str, site: Path, home: Path) -> list[object]:
    """A start with the package in `site` and the user's home in `home`, and where compiled code is found after it."""
    env = environment(PYTHONPATH=str(site), HOME=str(home))
    for variable in CACHES:
        env.pop(variable, None)
    bound = UNPRIVILEGED if os.geteuid() == 0 else ()
    done = subprocess.run([*bound, *command("first")], capture_output=True, text=True, env=env)
    if done.returncode:
        error = done.stderr.strip().splitlines()[-1].split(" for file ")[0]
        return [name, *["-"] * 4, f"fails: {error}"]
    found: dict[str, Any] = json.loads(done.stdout)
    assert Path(found["where"]).is_relative_to(site), f"another package was used: {found['where']}"
    kept = [
        text for text, at in (("beside the package", site), ("in the user's cache", home)) if any(at.rglob("*.nbc"))
    ]
    times = [f"{found[n]:.2f}" for n in ("import", "first", "second")]
    return [name, *times, f"{found['peak']:.0f}", " and ".join(kept) or "nowhere"]


def start_rows() -> list[list[object]]:
    """First and second start, where all can be written, where only the home can, and where neither."""
    rows = []
    for name, locked in LOCKED.items():
        with tempfile.TemporaryDirectory() as folder:
            site, home = Path(folder) / "site", Path(folder) / "home"
            home.mkdir()
            shutil.copytree(package_folder(), site / "phuma", ignore=shutil.ignore_patterns("__pycache__"))
            compileall.compile_dir(str(site), quiet=1)  # as an installer does
            with read_only(*(Path(folder) / place for place in locked)):
                rows += [start_row(f"{name}, {turn} start", site, home) for turn in ("first", "second")]
    return rows


def package_folder() -> str:
    """Where the package is, without importing it."""
    spec = find_spec("phuma")
    assert spec is not None
    assert spec.submodule_search_locations
    return spec.submodule_search_locations[0]


def length_rows(lengths: Sequence[float]) -> list[list[object]]:
    rows = []
    for seconds in lengths:
        done = subprocess.run(command("length", seconds), capture_output=True, text=True, check=True, env=environment())
        found = json.loads(done.stdout)
        costs = [f"{found[n]:.4f}" for n in ("solve", "all")]
        memory = [f"{found[n]:.0f}" for n in ("before", "peak")]
        settled = "yes" if found["settled"] else "no"
        rows.append([f"{seconds:g} s, {found['frames']} frames", *costs, *memory, f"{min(found['five']):.2f}", settled])
    return rows


def main(less: int) -> None:
    from phuma.retargeting import DEFAULT_METHOD, SolveCfg

    processes, ratio = together(max(2, REPEATS // less), max(1, PEOPLE // less))
    lengths = [s for s in LENGTHS if s <= max(LENGTHS) / less]
    bound = os.geteuid() != 0 or shutil.which(UNPRIVILEGED[0])
    head = ["", "import, a clip and the robot", "first motion", "second", "peak memory, MB", "compiled code is then"]
    starts = (
        markdown(head, start_rows()) if bound else "Not measured: root may write everywhere, and there is no setpriv."
    )
    save(
        "retargeting_cost",
        "What retargeting costs",
        f"Method `{DEFAULT_METHOD}` on the {ROBOT}, synthetic motions, CPU seconds, one thread.",
        "Processes at once, CPU seconds a clip of 120 frames, of the solve alone and of all (target, solve, metrics):",
        processes,
        ratio,
        "The first start of a new process compiles what later starts read from a cache:",
        starts,
        f"Length: a walk in pieces of so many seconds, each solved as one motion; beyond {SolveCfg().window:,} frames "
        "in windows. CPU seconds for 120 frames; memory before and at its peak:",
        markdown(
            ["piece", "solve", "all", "before, MB", "peak, MB", "lowest of the five, %", "settled"],
            length_rows(lengths),
        ),
    )


if __name__ == "__main__":
    if sys.argv[1:2] and sys.argv[1] in CHILDREN:
        CHILDREN[sys.argv[1]](*sys.argv[2:])
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 1)

"""What building a dataset costs: two jobs against one, where the time goes, a tenth of the paper's scale, very many
recordings and very long ones.

A number as argument takes so many times less of everything; `scale` measures the last two alone, `corpus` the tenth of
the paper's, `steps` the first two. The table of CMU recordings needs them: PHUMA_CMU.
"""

from __future__ import annotations

import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from cmu_table import CMU
from tables import markdown, save

ROBOT = "g1"
PAPER_CLIPS, PAPER_HOURS = 76_000, 73.0
METHODS = {"physink+dynamics": 7.0, "physink+collision": 2.0}  # hours wanted at most for the whole of the paper
RECORDINGS = 845  # of 30 s, which are 9 clips each: a tenth of the paper's clips
SECONDS = 30.0
COMPARED = 60  # recordings that are built by one job and by two
SMALL = 10_000  # recordings of less than a second, none of which is kept: what a file costs beside its motion
SMALL_FRAMES = 24
JUDGED, JUDGED_FRAMES = 1000, 36  # recordings that are long enough to be judged, and none of which is kept either
MANY_SECONDS = 30
LONG_FRAMES = 1_000_000  # of one recording
WARMING = 11  # recordings that are done before time is taken: the first motions compile and fill caches


# What runs in processes of its own.


def write_one(task: tuple[str, int]) -> None:
    """A generated recording, of another type and person each."""
    from phuma.sources import amass_smplx
    from phuma.synth import KINDS, generate

    folder, n = task
    kind = KINDS[n % len(KINDS)]
    amass_smplx.write(Path(folder) / f"{kind}_{n:05d}.npz", generate(kind, SECONDS, n).motion)


def open_it(folder: str) -> None:
    """Open a dataset as a user does, and ask it something."""
    from curation_speed import peak_megabytes
    from phuma.dataset.dataset import open_dataset

    began = time.perf_counter()
    rows = open_dataset(folder).query("SELECT count(*), sum(frames / fps) / 3600 FROM manifest WHERE kept")[1]
    print(json.dumps({"s": time.perf_counter() - began, "kept": rows[0][0], "h": rows[0][1], "peak": peak_megabytes()}))


def spend_on_recordings(source: str, out: str, every: str) -> None:
    """Do every so-manieth recording in this process, and say what each step took, in CPU seconds."""
    from functools import partial

    from phuma.dataset import builder
    from phuma.dataset.layout import Layout
    from phuma.pipelines import build_dataset as building

    spent = put_clocks_in(building, builder)
    cfg, root = building.BuildCfg((ROBOT,)), Path(out)
    Layout(root).make()
    jobs = building.jobs_of([source], root)[:: int(every)]
    produce = partial(building.produce, cfg=cfg)
    for job in jobs[:WARMING]:
        builder.do_job(job, root, produce)
    spent.clear()
    began = time.process_time()
    done = [builder.do_job(job, root, produce) for job in jobs]
    total = time.process_time() - began
    print(json.dumps({**spent, "total": total, "clips": sum(d.clips for d in done), "kept": sum(d.kept for d in done)}))


def put_clocks_in(building: Any, builder: Any) -> Counter[str]:
    """Have the steps of a build count their CPU seconds."""
    from phuma.curation import pipeline
    from phuma.pipelines import files_to_clips

    spent: Counter[str] = Counter()

    def clocked(step: str, work: Callable) -> Callable:
        def run(*args: Any, **named: Any) -> Any:
            began = time.process_time()
            made = work(*args, **named)
            if step == "curate":
                made.clips  # noqa: B018  # they are made when they are first asked for
            spent[step] += time.process_time() - began
            spent["solve"] += getattr(made, "solve_seconds", 0.0)
            return made

        return run

    files_to_clips.read_all = clocked("read", files_to_clips.read_all)
    pipeline.curate = clocked("curate", pipeline.curate)
    steps = {
        "categorise": "categorise", "retarget": "retarget", "save human": "save_clip",
        "save robot": "save_robot_motion", "hash": "file_sha256",
    }  # fmt: skip
    for step, name in steps.items():
        setattr(building, name, clocked(step, getattr(building, name)))
    builder.file_sha256 = clocked("hash", builder.file_sha256)
    builder.save_record = clocked("save record", builder.save_record)
    return spent


CHILDREN = {"open": open_it, "spend": spend_on_recordings}


# What starts them and makes tables of what they say.


def ask_child(*words: object) -> dict[str, float]:
    command = [sys.executable, str(Path(__file__).resolve()), *map(str, words)]
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=os.environ | threads)
    return json.loads(done.stdout.splitlines()[-1])


def generate_recordings(folder: Path, count: int) -> Path:
    from phuma.runtime.process_pool import map_in_order

    folder.mkdir()
    for _ in map_in_order(write_one, [(str(folder), n) for n in range(count)], os.cpu_count() or 1):
        pass
    return folder


def run_build(sources: list[Path], out: Path, jobs: int, *options: str) -> dict[str, float]:
    return run_command("build", *sources, "--out", out, "--robot", ROBOT, "--jobs", jobs, *options)


def run_command(*words: object) -> dict[str, float]:
    """A command as a user runs it: wall and CPU seconds, and the most memory that its processes took."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    process = subprocess.Popen([sys.executable, "-m", "phuma", *map(str, words)], stdout=subprocess.DEVNULL)
    peaks = {"parent": 0.0, "worker": 0.0}
    while process.poll() is None:
        for who, megabytes in peak_of_each(process.pid):
            peaks[who] = max(peaks[who], megabytes)
        time.sleep(0.25)
    assert process.returncode == 0, f"phuma {words[0]} ended with {process.returncode}"
    after, wall = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter() - began
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"wall": wall, "cpu": cpu, **peaks}


def peak_of_each(parent: int) -> Iterator[tuple[str, float]]:
    """The highest memory so far of a process and of each of its children, MB; nothing where there is no /proc."""
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            text = status.read_text()
        except OSError:
            continue  # it has ended meanwhile
        pid, above, peak = (re.search(rf"^{name}:\s+(\d+)", text, re.M) for name in ("Pid", "PPid", "VmHWM"))
        if pid and above and peak and parent in (int(pid[1]), int(above[1])):
            yield ("parent" if int(pid[1]) == parent else "worker"), int(peak[1]) / 1024


def jobs_part(folder: Path, less: float) -> list[str]:
    source = generate_recordings(folder / "compared", max(4, round(COMPARED / less)))
    run_build(sorted(source.iterdir())[:2], folder / "warm", 2)  # what is compiled first is not counted
    spent = {jobs: run_build([source], folder / f"by {jobs}", jobs) for jobs in (1, 2)}
    kept = ask_child("open", folder / "by 1")["kept"]
    rows = [[f"{jobs}", s["cpu"], s["cpu"] / kept, s["wall"]] for jobs, s in spent.items()]
    ratio = spent[2]["cpu"] / spent[1]["cpu"]
    count = len(list(source.iterdir()))
    return [
        f"## Two jobs against one\n\n{count} generated recordings of {SECONDS:g} s, {kept} clips kept, "
        "from the start of the command to its end:",
        markdown(["jobs", "CPU s", "CPU s a kept clip", "s"], rows),
        f"CPU seconds with two jobs: {ratio:.2f} times those with one (at most 1.1 are wanted).",
    ]


def cmu_part(folder: Path, less: float) -> list[str]:
    if not (CMU / "labels.csv").exists():
        return [f"## Recordings\n\nNot measured: no CMU recordings at {CMU.name}; set PHUMA_CMU."]
    spent = ask_child("spend", CMU, folder / "cmu", max(1, round(less)))
    kept, total = spent["kept"], spent["total"]
    rest = total - spent["read"]
    parts = {
        "read (BVH)": spent["read"],
        "curate": spent["curate"],
        "guess the category": spent["categorise"],
        "retarget: solve": spent["solve"],
        "retarget: targets, measure, dynamics": spent["retarget"] - spent["solve"],
        "save": spent["save human"] + spent["save robot"] + spent["save record"],
        "hash": spent["hash"],
    }
    parts["the rest"] = total - sum(parts.values())
    rows = [[name, s, f"{1000 * s / kept:.0f}", f"{100 * s / total:.0f} %"] for name, s in parts.items()]
    rows.append(["all", total, f"{1000 * total / kept:.0f}", ""])
    return [
        f"## Where the time goes\n\nCMU recordings, {spent['clips']} clips, {kept} kept, one process, caches warm:",
        markdown(["step", "CPU s", "ms a kept clip", "share"], rows),
        f"Everything but BVH parsing: {rest / kept:.2f} CPU s a kept clip (at most 0.25 are wanted).",
    ]


def corpus_part(folder: Path, less: float) -> list[str]:
    """A tenth of the paper's clips, with the dynamics pass and without, and what the whole would take."""
    count = max(WARMING, round(RECORDINGS / less))
    source = generate_recordings(folder / "corpus", count)
    warming = sorted(source.iterdir())[:2]
    columns, whole = [], []
    for method, wanted in METHODS.items():
        run_build(warming, folder / f"warm {method}", 2, "--method", method)  # what is compiled first is not counted
        spent = run_build([source], folder / method, 2, "--method", method)
        print(method, spent, flush=True)
        columns.append(
            corpus_column(folder / method, spent, run_build([source], folder / method, 2, "--method", method))
        )
        whole.append(whole_paper(method, wanted, spent, ask_child("open", folder / method)))
    many = ask_child("open", repeated(folder / method, folder / "many"))
    rows = [[what, *(column[what] for column in columns)] for what in columns[0]]
    return [
        f"Made by the generator, all types in turn, recordings of {SECONDS:g} s, one part in {10 * less:g} of the "
        f"paper's {PAPER_CLIPS} clips, built onto the {ROBOT} in one run by two jobs; by the default method, and "
        f"without the dynamics pass. Other work ran on the same two cores (load {os.getloadavg()[0]:.1f}), so seconds "
        "by the clock are no measure of the two cores, CPU seconds are:",
        markdown(["", *(f"`{method}`" for method in METHODS)], rows),
        *whole,
        f"To open a dataset and ask it something where its manifest has {PAPER_CLIPS} rows takes {many['s']:.2f} s "
        "(under 2 are wanted).",
    ]


def corpus_column(out: Path, spent: dict[str, float], again: dict[str, float]) -> dict[str, object]:
    """One column of the table: counts, seconds and megabytes of a build and of the same run again."""
    opened, counts = ask_child("open", out), json.loads((out / "dataset.json").read_text())["counts"]
    size = sum(f.stat().st_size for f in out.rglob("*") if f.is_file()) / 1e6
    return {
        "recordings": counts["recordings"], "clips, kept": f"{counts['clips']}, {counts['kept']}",
        "hours kept": opened["h"], "s by the clock": f"{spent['wall']:.0f}", "CPU s": f"{spent['cpu']:.0f}",
        "CPU s a kept clip": spent["cpu"] / counts["kept"],
        "peak memory of a worker, MB (under 400 are wanted)": f"{spent['worker']:.0f}",
        "peak memory of the parent, MB (under 300)": f"{spent['parent']:.0f}",
        "on disk, MB": f"{size:.0f}", "run again with nothing to do, CPU s": again["cpu"],
        "open and ask, s": opened["s"],
    }  # fmt: skip


def whole_paper(method: str, wanted: float, spent: dict[str, float], opened: dict[str, float]) -> str:
    """What the whole of the paper would take on two cores of their own, in words."""
    hours = spent["cpu"] / 2 / 3600
    return (
        f"From that the whole of the paper by `{method}`, on two cores of their own: "
        f"{hours * PAPER_CLIPS / opened['kept']:.1f} h for its {PAPER_CLIPS} clips, "
        f"{hours * PAPER_HOURS / opened['h']:.1f} h for its {PAPER_HOURS:g} hours of motion (at most {wanted:g} h are "
        "wanted)."
    )


def repeated(dataset: Path, out: Path) -> Path:
    """A dataset without clips whose manifest has as many rows as the paper's has clips, taken from another's."""
    from phuma.dataset.dataset import open_dataset
    from phuma.dataset.describe import save_description
    from phuma.dataset.manifest import write_manifest

    whole = open_dataset(dataset)
    rows = whole.rows("kept")
    out.mkdir()
    write_manifest(out / "manifest.parquet", ({**rows[n % len(rows)], "clip": f"c{n}"} for n in range(PAPER_CLIPS)))
    save_description(out, whole.description)
    return out


def person_rows(seconds: float) -> Any:
    """Every type of motion in turn, (T, 69), shaken so much that curation keeps nothing: no robot is needed."""
    import numpy as np

    from phuma.io.npz import load_npy
    from phuma.sources import phuma_human
    from phuma.synth import KINDS, generate

    rng, rows = np.random.default_rng(0), []
    with tempfile.TemporaryDirectory() as name:
        for n, kind in enumerate(KINDS):
            phuma_human.write(Path(name) / "one.npy", generate(kind, seconds, n).motion)
            rows.append(load_npy(Path(name) / "one.npy").copy())
            rows[-1][:, :3] += rng.normal(scale=0.05, size=(len(rows[-1]), 3))
    return rows


def many_part(folder: Path, less: float) -> list[str]:
    import numpy as np

    rows, lines = person_rows(2.0), []
    for most, frames in ((SMALL, SMALL_FRAMES), (JUDGED, JUDGED_FRAMES)):
        source, out, count = folder / f"small {frames}", folder / f"of small {frames}", max(WARMING, round(most / less))
        source.mkdir()
        for n in range(count):
            np.save(source / f"{n:05d}.npy", rows[n % len(rows)][:frames] + np.float32(1e-6 * n))
        for what in ("built by two jobs", "run again with nothing to do"):
            s = run_build([source], out, 2)
            peaks = f"{s['parent']:.0f}", f"{s['worker']:.0f}"
            lines.append([f"{count} of {frames} frames", what, s["wall"], s["cpu"], 1000 * s["cpu"] / count, *peaks])
    return [
        "## Very many recordings\n\nFiles of which no clip is kept; those of less than a second are judged by their "
        "length alone:",
        markdown(["", "", "s", "CPU s", "CPU ms a file", "peak of the parent, MB", "peak of a worker, MB"], lines),
        f"For {SMALL} files of {SMALL_FRAMES} frames on two cores of their own at most {MANY_SECONDS} s are wanted; "
        f"the load was {os.getloadavg()[0]:.1f}.",
    ]


def long_part(folder: Path, less: float) -> list[str]:
    import numpy as np

    frames, source = round(LONG_FRAMES / less), folder / "long"
    source.mkdir()
    rows = np.concatenate(person_rows(30.0))
    np.save(source / "long.npy", np.tile(rows, (-(-frames // len(rows)), 1))[:frames])
    spent = {
        "inspect": run_command("inspect", source / "long.npy"),
        "inspect --preset dynamic": run_command("inspect", source / "long.npy", "--preset", "dynamic"),
        "curate": run_command("curate", source, "--out", folder / "curated", "--jobs", 1),
        "build": run_build([source], folder / "of long", 1),
    }
    lines = [[f"`phuma {what}`", s["cpu"], f"{max(s['parent'], s['worker']):.0f}"] for what, s in spent.items()]
    return [
        f"## Very long recordings\n\nOne file of {frames} frames, {frames / 30 / 3600:.1f} hours, of which no clip is "
        "kept:",
        markdown(["", "CPU s", "peak memory of a process, MB (under 1000 are wanted)"], lines),
    ]


def main(less: float, *wanted: str) -> None:
    """Measure the tables that are wanted, all by default, and write them where nothing was left out."""
    tables = {
        "building_scale": ("What very many and very long recordings cost", [many_part, long_part]),
        "building": ("What building a dataset costs", [jobs_part, cmu_part]),
        "building_corpus": ("What the paper's corpus costs", [corpus_part]),
    }
    for name in wanted or tables:
        title, parts = tables[name]
        with tempfile.TemporaryDirectory() as folder:
            found = [text for part in parts for text in part(Path(folder), less)]
        if less == 1 or name == "building_corpus":  # which says what part it took
            save(name, title, *found)
        else:
            print(f"one part in {less:g} of everything: a try, not written down", *found, sep="\n\n")


TABLES = {"scale": "building_scale", "steps": "building", "corpus": "building_corpus"}

if __name__ == "__main__":
    first = sys.argv[1] if len(sys.argv) > 1 else "1"
    if first in CHILDREN:
        CHILDREN[first](*sys.argv[2:])
    elif first in TABLES:
        main(float(sys.argv[2]) if len(sys.argv) > 2 else 1.0, TABLES[first])
    else:
        main(float(first))

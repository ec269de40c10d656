"""Proves that a change of the code changes no result: records hashes of all that the program makes, and checks them.

    python benchmarks/golden.py record --out before.json
    python benchmarks/golden.py check --against before.json

The program is driven by its command line alone, so that everything behind it may be moved and renamed. It is the one
that `python -m phuma` finds: set PYTHONPATH to another checkout's src to record that one. Results depend on the code,
on the versions of the libraries and on the kind of processor. The recordings that PHUMA_CMU names are used where they
are; of them only hashes and measures are kept. With --quick they are left out, and some of the rest.

Left out are times: `cpu_seconds_per_clip` of a comparison, `seconds` of a checkpoint, and a run's curves, which bear
the time. Everything else is the same in every run of the same code.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from fingerprints import Leaves, compare, content, of_dataset, of_document, of_files

FORMAT = "phuma-golden"
NOTE = "Hashes depend on the code, on the versions of the libraries below and on the kind of processor."
LIBRARIES = ("numpy", "scipy", "numba", "mujoco", "mink", "duckdb", "torch", "onnxruntime")
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
ROBOTS = ("g1", "h1_2")
FAULTS = ("jitter:15", "float:10", "drift:5", "tilt:6", "slide:0.3", "chair:35")
SEED, COUNT = 3, 2  # of generated motions; the first of each type has its seed in its name
FIRST = f"recording LIKE '%\\_{SEED:04d}.npz' ESCAPE '\\'"
STEPS = 20_000  # of training
QUICK_TYPES = ("walk", "kick", "squat")
OTHER_TYPES = ("bend", "jump", "lunge", "reach", "run", "turn", "twist")
SOME = 30  # CMU recordings whose verdicts by both presets are recorded
TIMES = ("cpu_seconds_per_clip",)
Items = dict[str, Any]
"""Leaves by title, or a text that says why there are none"""


class FailedError(Exception):
    """A command did not end as it should."""


class Program:
    """`python -m phuma` in a folder of its own, on one thread of numerics, with paths that are the same everywhere."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.env = os.environ | dict.fromkeys(THREADS, "1") | {"COLUMNS": "200"}
        if paths := self.env.get("PYTHONPATH"):
            self.env["PYTHONPATH"] = os.pathsep.join(os.path.abspath(p) for p in paths.split(os.pathsep) if p)

    def __call__(self, *words: object) -> str:
        """What a command prints; one that fails is an error."""
        return self._run("-m", "phuma", *map(str, words))

    def json(self, *words: object) -> Any:
        return json.loads(self(*words, "--json"))

    def knows(self, option: str, *command: str) -> bool:
        return re.search(rf"{option}\b", self(*command, "--help")) is not None

    def package(self) -> Path:
        """The folder of the package that is run."""
        return Path(self._run("-c", "import phuma; print(phuma.__file__)").strip()).parent

    def _run(self, *words: str) -> str:
        done = subprocess.run([sys.executable, *words], cwd=self.folder, env=self.env, capture_output=True, text=True)
        if done.returncode:
            raise FailedError(f"{' '.join(words)} ended with {done.returncode}: {done.stderr.strip()[-400:]}")
        return done.stdout


# What is recorded: each function makes some of it, and needs only what `prepare` made.


def prepare(phuma: Program) -> Items:
    """Generated motions, clean and spoilt, and the dataset of them that the other jobs use."""
    phuma("synth", "--out", "synth", "--count", COUNT, "--seed", SEED)
    for fault in FAULTS:
        phuma("synth", "--out", "faults", "--type", "walk", "squat", "--seed", SEED, "--fault", fault)
    folders = [phuma.folder / name for name in ("synth", "faults")]
    phuma("build", "synth", "faults", "--robot", *ROBOTS, "--preset", "dynamic", "--out", "dynamic")
    return {
        **{f"synth, {f.name}": of_files(f, (*f.glob("*.npz"), *f.glob("*.json"))) for f in folders},
        "build synth, dynamic": of_dataset(phuma.folder / "dynamic"),
    }


def mirrored(phuma: Program) -> Items:
    options = ("--mirror", "--contacts", "stance")
    phuma("build", "synth", "faults", "--robot", *ROBOTS, *options, "--out", "mirrored")
    return {"build synth, paper, mirrored, contacts that stand": of_dataset(phuma.folder / "mirrored")}


def recorded(phuma: Program) -> Items:
    """The dataset of all CMU recordings."""
    phuma("build", "cmu", "--robot", *ROBOTS, "--out", "dataset_cmu")
    return {"build CMU, paper": of_dataset(phuma.folder / "dataset_cmu", few=0)}


def exports(phuma: Program) -> Items:
    """Every layout, and what is made of those that can be read again. Bytes may be another library's."""
    listed = re.search(r"--format \{(.*?)\}", phuma("export", "--help"))
    if listed is None:
        raise FailedError("phuma export --help lists no formats")
    items: Items = {}
    for layout in listed[1].split(","):
        out = phuma.folder / f"export_{layout}"
        shown = phuma.json("export", "dynamic", "--format", layout, "--where", FIRST, "--out", out.name)
        files = [path for path in out.rglob("*") if path.is_file() and path.name != "export.json"]
        leaves = of_files(out, files, bytes_matter=False)
        items[f"export {layout}"] = leaves | of_document(shown, "shown") | of_document(content(out / "export.json"))
    return items


def imports(phuma: Program) -> Items:
    """What is made of layouts that can be read again."""
    items: Items = {}
    for layout in ("csv", "mjlab", "beyondmimic", "gmr", "phuma"):
        made, out = f"to_import_{layout}", f"imported_{layout}"
        chosen = ("--where", f"{FIRST} AND category = 'walk'")
        phuma("export", "dynamic", "--format", layout, *chosen, "--out", made)
        phuma("import", f"{made}/g1", "--robot", "g1", "--out", out)
        items[f"import {layout}"] = of_dataset(phuma.folder / out)
    return items


def verdicts(phuma: Program) -> Items:
    return curated(phuma, "synth", "synth", "faults")


def some_verdicts(phuma: Program) -> Items:
    return curated(phuma, f"{SOME} of CMU", "some_cmu")


def curated(phuma: Program, name: str, *sources: str) -> Items:
    """Of both presets, with the clips that are kept."""
    items: Items = {}
    for preset in ("paper", "dynamic"):
        out = phuma.folder / f"curated_{sources[0]}_{preset}"
        shown = phuma.json("curate", *sources, "--preset", preset, "--out", out.name)
        clips = of_files(out, out.glob("clips/**/*.npz"), few=0, at="clips")
        items[f"curate {name}, {preset}"] = of_document(shown) | clips
    return items


def methods(phuma: Program, robot: str, types: Sequence[str]) -> Items:
    """The table of all methods: a leaf for each measure of each method."""
    shown = phuma.json("compare", *(f"synth/{t}_{SEED:04d}.npz" for t in types), "--robot", robot)
    rows = {row.pop("method"): row for row in shown.pop("methods")}
    title = f"compare all methods, {robot}, {', '.join(types)}"
    return {title: of_document(shown | {"methods": rows}, leave_out=TIMES)}


def plain(phuma: Program) -> Items:
    return learned(phuma, "plain")


def randomized(phuma: Program) -> Items:
    return learned(phuma, "randomized", "--randomize")


def learned(phuma: Program, name: str, *options: str) -> Items:
    """A short training with every array of its checkpoint, and the policy that it gives as others run it."""
    run, onnx = f"run_{name}", f"{name}.onnx"
    phuma("train", "dynamic", "--where", FIRST, "--steps", STEPS, "--seed", 1, *options, "--out", run)
    (checkpoint,) = (phuma.folder / run).glob("checkpoint*.npz")
    arrays = content(checkpoint)
    items = {
        f"train {name}, checkpoint": of_document(arrays, few=0, leave_out=("seconds",)),
        f"train {name}, run.json": of_document(content(phuma.folder / run / "run.json")),
    }
    phuma("policy", "export", run, "--out", onnx)
    items[f"policy export {name}"] = of_policy(phuma.folder / onnx)
    clip = clip_of(phuma, "walk")
    phuma("policy", "motion", onnx, "dynamic", "--clip", clip, "--out", f"motion_{name}.npz")
    motion = content(phuma.folder / f"motion_{name}.npz")
    return items | {f"policy motion {name}": of_document(motion)} | judged(phuma, name, run, onnx)


def judged(phuma: Program, name: str, run: str, onnx: str) -> Items:
    """What is said of a policy: as a run and as ONNX, with both steps of physics, calm and disturbed."""
    finer = ("--physics-dt", "0.005") if phuma.knows("--physics-dt", "evaluate") else ("--full-collision",)
    out = phuma.folder / f"rollouts_{name}"
    disturbed = ("--noise", "1", "--pushes", "--episodes", "2", "--seed", "5", "--out", out.name)
    ways: dict[str, tuple[str, ...]] = {
        "the run": (run,), "the run, finer physics": (run, *finer),
        "ONNX": (onnx,), "ONNX, finer physics": (onnx, *finer),
    }  # fmt: skip
    if name != "plain":
        ways = {"the run, disturbed": (run, *disturbed)}
    items: Items = {}
    for way, (policy, *options) in ways.items():
        shown = phuma.json("evaluate", policy, "dynamic", "--split", "all", "--where", FIRST, *options)
        items[f"evaluate {name}, {way}"] = of_judgement(shown)
    if out.exists():
        items[f"evaluate {name}, rollouts"] = of_files(out, out.glob("*.npz"), few=0)
    return items


def of_judgement(shown: dict[str, Any]) -> Leaves:
    """With one leaf for what all categories have under one name."""
    categories = [{"category": name, **row} for name, row in shown.pop("categories").items()]
    return of_document(shown | {"categories": categories})


def tracked(phuma: Program) -> Items:
    """The policy that comes with the program, which is a good one, on motions of its type."""
    shipped = sorted(phuma.package().rglob("*.onnx"))
    if len(shipped) != 1:
        raise FailedError(f"expected one policy in the package, found {len(shipped)}")
    items = {"shipped policy": of_policy(shipped[0])}
    shown = phuma.json("evaluate", shipped[0], "dynamic", "--split", "all", "--where", "category = 'squat'")
    return items | {"evaluate shipped policy": of_judgement(shown)}


def of_policy(path: Path) -> Leaves:
    """What a policy answers to fixed random numbers, and its metadata."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    rng = np.random.default_rng(0)
    given = {
        i.name: rng.standard_normal([d if isinstance(d, int) else 4 for d in i.shape]).astype(np.float32)
        for i in sorted(session.get_inputs(), key=lambda i: i.name)
    }
    answers = {o.name: a for o, a in zip(session.get_outputs(), session.run(None, given))}
    about = session.get_modelmeta().custom_metadata_map
    inputs = {name: list(array.shape) for name, array in given.items()}
    return of_document({"inputs": inputs, "outputs": answers, "metadata": dict(sorted(about.items()))})


def clip_of(phuma: Program, kind: str) -> str:
    """The name of the dataset's first clip of a type."""
    sql = f"SELECT clip FROM manifest WHERE {FIRST} AND recording LIKE '%{kind}%' AND kept ORDER BY clip LIMIT 1"
    names = re.findall(rf"\S*{kind}\S*", phuma("query", "dynamic", sql))
    if not names:
        raise FailedError(f"phuma query finds no clip of type {kind}")
    return names[-1]


def single(phuma: Program) -> Items:
    """One walk on each robot, and what is said of it, of a recording and of a dataset."""
    recording = f"synth/walk_{SEED:04d}.npz"
    items: Items = {"inspect a recording": of_document(phuma("inspect", recording).splitlines())}
    for robot in ROBOTS:
        out = f"retargeted_{robot}"
        shown = phuma.json("retarget", recording, "--robot", robot, "--out", out)
        files = list((phuma.folder / out).rglob("*.npz"))
        items[f"retarget, {robot}"] = of_files(phuma.folder, files) | of_document(shown, "shown")
        text = phuma("inspect", files[0].relative_to(phuma.folder))
        items[f"inspect a robot motion, {robot}"] = of_document(text.splitlines())
    checked = {name: phuma(name, "dynamic").splitlines() for name in ("status", "verify")}
    return items | {f"{name} of a dataset": of_document(lines) for name, lines in checked.items()}


def jobs(quick: bool, cmu: bool) -> list[Callable[[Program], Items]]:
    """All that is recorded beside what `prepare` makes: what a quick record has, or what it has not."""
    if quick:
        return [
            plain, randomized, exports, *(partial(methods, robot=robot, types=QUICK_TYPES) for robot in ROBOTS),
            mirrored, verdicts, single, tracked,
        ]  # fmt: skip
    rest = [imports, *(partial(methods, robot=robot, types=OTHER_TYPES) for robot in ROBOTS)]
    return [recorded, some_verdicts, *rest] if cmu else rest


def attempt(job: Callable[[Program], Items], phuma: Program) -> Items:
    """A job that fails must not cost the others: it is told under its name, and its items are missing."""
    name = getattr(job, "func", job).__name__
    began = time.monotonic()
    try:
        return job(phuma)
    except Exception as e:
        return {f"FAILED: {name}": f"{type(e).__name__}: {e}"}
    finally:
        print(f"{time.monotonic() - began:6.0f} s  {name}", file=sys.stderr, flush=True)


def collect(quick: bool, processes: int) -> dict[str, Any]:
    """Run everything; what is returned is what a golden file holds."""
    cmu = os.environ.get("PHUMA_CMU", "")
    with working_folder() as folder:
        phuma = Program(folder)
        print(f"the program in {phuma.package()}", file=sys.stderr)
        if cmu and not quick:
            link_recordings(Path(cmu), folder)
        items = attempt(prepare, phuma)
        with ThreadPoolExecutor(processes) as pool:
            more = [] if quick else [pool.submit(attempt, job, phuma) for job in jobs(False, bool(cmu))]
            for made in [pool.submit(attempt, job, phuma) for job in jobs(True, bool(cmu))]:
                items |= made.result()
            in_quick = sorted(items)
            for made in more:
                items |= made.result()
    skipped = "" if cmu or quick else "PHUMA_CMU is not set: items of CMU recordings are skipped"
    if skipped:
        print(skipped, file=sys.stderr)
    return {
        "format": FORMAT, "note": NOTE, "quick": quick, "in_quick": in_quick, "skipped": skipped,
        "machine": f"{platform.machine()}, Python {platform.python_version()}",
        "libraries": {name: version(name) for name in LIBRARIES}, "items": dict(sorted(items.items())),
    }  # fmt: skip


@contextmanager
def working_folder() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="golden-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


def link_recordings(cmu: Path, folder: Path) -> None:
    """Under names that do not depend on where they are: all of them, and some evenly among them."""
    files = sorted(path for path in cmu.iterdir() if path.is_file())
    recordings = [path for path in files if path.suffix == ".bvh"]
    chosen = {
        recordings[i] for i in np.linspace(0, len(recordings) - 1, min(SOME, len(recordings))).round().astype(int)
    }
    for name, linked in (("cmu", files), ("some_cmu", sorted(chosen))):
        (folder / name).mkdir()
        for path in linked:
            (folder / name / path.name).symlink_to(path.resolve())


# The commands.


def record(args: argparse.Namespace) -> int:
    golden = collect(args.quick, args.processes)
    args.out.write_text(written(golden))
    failed = [f"{title}: {text}" for title, text in golden["items"].items() if isinstance(text, str)]
    print("\n".join([f"{len(golden['items'])} items in {args.out}, {args.out.stat().st_size / 1000:.0f} kB", *failed]))
    return 1 if failed else 0


def written(golden: Mapping[str, Any]) -> str:
    """A line a leaf, so that two files can be compared by eye."""
    head = {name: value for name, value in golden.items() if name != "items"}
    items = []
    for title, leaves in golden["items"].items():
        if isinstance(leaves, str):
            items.append(f"{json.dumps(title)}: {json.dumps(leaves)}")
            continue
        lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(leaf)}" for name, leaf in leaves.items())
        items.append(f"{json.dumps(title)}: {{\n{lines}}}")
    return json.dumps(head, indent=1)[:-2] + ',\n "items": {\n' + ",\n".join(items) + "}}\n"


def check(args: argparse.Namespace) -> int:
    golden = json.loads(args.against.read_text())
    if golden.get("format") != FORMAT:
        raise SystemExit(f"{args.against} is not a file that `record` wrote")
    quick = args.quick or golden["quick"]
    now = json.loads(args.now.read_text()) if args.now else collect(quick, args.processes)
    for name in ("machine", "libraries", "skipped"):
        if golden[name] != now[name]:
            print(f"Beware: {name} was {golden[name] or 'nothing'}, is {now[name] or 'nothing'}")
    expected = golden["in_quick"] if now["quick"] else golden["items"]
    renamed = dict(pair.split("=", 1) for pair in args.rename)
    failed = False
    for title in sorted({*expected, *now["items"]}):
        if now["skipped"] and "CMU" in title:
            print(f"{'skipped':24}{title}")
            continue
        bad, line = row(title, golden["items"].get(title), now["items"].get(title), renamed, args.ignore)
        failed |= bad
        print(line, flush=True)
    print("DIFFERENT" if failed else f"Nothing differs by more than the tolerance, of {len(now['items'])} items")
    return 1 if failed else 0


def row(title: str, old: Any, new: Any, renamed: Mapping[str, str], ignored: Sequence[str]) -> tuple[bool, str]:
    """A line of the table, and whether it tells of a fault."""
    if isinstance(new, str) or isinstance(old, str):
        return True, f"{'FAILED':24}{title}: {new if isinstance(new, str) else old}"
    if new is None:
        return True, f"{'MISSING':24}{title}"
    if old is None:
        return False, f"{'added':24}{title}"
    found = compare(old, new, renamed, ignored, title, names_matter=not title.endswith("checkpoint"))
    told = "".join(f"\n{'':28}{detail}" for detail in found.details)
    return found.failed, f"{found.verdict:24}{title} ({len(old)}){told}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    for name, about in (("record", "write down what the program makes"), ("check", "compare with what was recorded")):
        command = commands.add_parser(name, help=about)
        command.add_argument("--quick", action="store_true", help="without CMU recordings, fewer comparisons")
        command.add_argument("--processes", type=int, default=os.cpu_count() or 1, metavar="N", help="jobs at once")
        if name == "record":
            command.add_argument("--out", type=Path, required=True, metavar="FILE.json")
            continue
        command.add_argument("--against", type=Path, required=True, metavar="FILE.json")
        command.add_argument(
            "--now", type=Path, metavar="FILE.json", help="another record, instead of running anything"
        )
        command.add_argument(
            "--rename", action="append", default=[], metavar="OLD=NEW", help="a name of a column, an array or a key"
        )
        command.add_argument(
            "--ignore", action="append", default=[], metavar="PATTERN", help="leaves like 'policy export *: metadata.*'"
        )
    args = parser.parse_args()
    began = time.monotonic()
    code = {"record": record, "check": check}[args.command](args)
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"{time.monotonic() - began:.0f} s, {spent.ru_utime + spent.ru_stime:.0f} s of CPU", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())

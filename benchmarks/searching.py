"""What looking for clips costs in a dataset of 200,000 rows: by the commands, from start to end, and in a process.

`searching.py [SRC]`: the `src` folder of an earlier version, to run its commands beside.
"""

from __future__ import annotations

import os
import random
import resource
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from building import SECONDS, generate_recordings
from phuma.dataset.dataset import Dataset, open_dataset
from phuma.dataset.describe import save_description
from phuma.dataset.manifest import write_manifest
from phuma.dataset.search import METRICS, Search, facets, search
from phuma.pipelines.build_dataset import BuildCfg, WorkCfg, build_dataset
from tables import markdown, save

ROWS = 200_000
RECORDINGS = 11  # one of each type, built for real: where the rows come from
OPENINGS, SEARCHES = 7, 60
BROWSERS = 4
WANTED = 200  # ms
SUBJECTS = 300
STARTS = 3  # of each command, of which the quickest counts
QUESTION = "SELECT category, count(*), avg(fidelity) FROM manifest WHERE kept GROUP BY category ORDER BY ALL"


def spread(rows: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Rows until there are enough, each with a name of its own and metrics a little beside the original's."""
    dice = random.Random(0)
    for n in range(ROWS):
        row = dict(rows[n % len(rows)])
        subject, take = dice.randrange(SUBJECTS), n // len(rows)
        row["recording"] = f"lab_{subject % 20:02d}/subject_{subject:03d}/{row['category']}_take_{take:04d}_poses.npz"
        row["clip"] = f"{row['recording'].replace('/', '__')}__{n % len(rows):03d}"
        row["source"] = f"lab_{subject % 20:02d}"
        row["label"] = dice.choice([None, f"{row['category']} {dice.choice(('slowly', 'fast', 'in a circle'))}"])
        for name in METRICS:
            if row[name] is not None:
                row[name] *= dice.uniform(0.95, 1.0)
        yield row


def make(folder: Path) -> Path:
    """A dataset without clips, but for its rows."""
    sources = generate_recordings(folder / "recordings", RECORDINGS)
    build_dataset([sources], folder / "small", BuildCfg(("g1", "h1_2")), WorkCfg(jobs=1).runner())
    small, out = open_dataset(folder / "small"), folder / "large"
    out.mkdir()
    write_manifest(out / "manifest.parquet", spread(small.rows()))
    save_description(out, small.description)
    return out


def questions(dataset: Dataset) -> dict[str, list[Search]]:
    """Typical searches, each in as many variants as it is asked."""
    there = facets(dataset)
    last = search(dataset, Search()).pages - 1
    metrics = [m.name for m in there.metrics]

    def each(make: Callable[[int], Search]) -> list[Search]:
        return [make(n) for n in range(SEARCHES)]

    def combined(n: int) -> Search:
        return Search(
            f"Subject_{n:03d} lab slowly", there.categories[n % len(there.categories)], None, "kept", None, "g1",
            "fidelity", 50.0, 99.5, metrics[n % len(metrics)], n % 2 == 0,
        )  # fmt: skip

    return {
        "nothing asked, first page": each(lambda n: Search()),
        "nothing asked, last page": each(lambda n: Search(page=last)),
        "a word": each(lambda n: Search(f"take_{n:04d}")),
        "a word that is nowhere": each(lambda n: Search(f"nowhere{n}")),
        "three words": each(lambda n: Search(f"SUBJECT_{n:03d} lab poses")),
        "all rows by a metric": each(lambda n: Search(sort=metrics[n % len(metrics)], descending=n % 2 == 0)),
        "all rows by a metric, last page": each(lambda n: Search(sort=metrics[n % len(metrics)], page=last)),
        "a category by a metric": each(
            lambda n: Search(category=there.categories[n % len(there.categories)], sort=metrics[n % len(metrics)])
        ),
        "rejected clips": each(lambda n: Search(verdict="rejected")),
        "a metric's range": each(lambda n: Search(metric="fidelity", low=90.0, high=90 + n / 10)),
        "words, category, robot, verdict, range and order": each(combined),
    }


def spent_on(work: Callable[[], object]) -> tuple[float, float]:
    """Milliseconds by the clock and of CPU time of this process."""
    clock, cpu = time.perf_counter(), time.process_time()
    work()
    return 1000 * (time.perf_counter() - clock), 1000 * (time.process_time() - cpu)


def open_and_look(root: Path) -> None:
    """From nothing to the first page, as `phuma view` does it."""
    dataset = open_dataset(root)
    facets(dataset)
    search(dataset, Search())


def query_it(root: Path, phuma: list[str], env: dict[str, str]) -> None:
    subprocess.run([*phuma, "query", str(root), QUESTION], env=env, check=True, stdout=subprocess.DEVNULL)


def report_it(root: Path, phuma: list[str], env: dict[str, str]) -> None:
    out = str(root.parent / "report.html")
    subprocess.run([*phuma, "report", str(root), "--out", out], env=env, check=True, stdout=subprocess.DEVNULL)


def view_it(root: Path, phuma: list[str], env: dict[str, str]) -> None:
    """Until a browser has the page and the first rows of the list."""
    command = [*phuma, "view", str(root), "--port", "0", "--no-browser"]
    with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        url = process.stdout.readline().split()[0]
        for path in ("", "page.js", "api/about", "api/clips"):
            urlopen(url + path).read()
        process.send_signal(signal.SIGTERM)


COMMANDS = {
    "`phuma query`, types with counts and a mean": query_it,
    "`phuma view`, until the page has its first rows": view_it,
    "`phuma report`": report_it,
}


def commands(root: Path, sources: Sequence[str]) -> list[list[str]]:
    """Seconds by the clock and of CPU time of each command, by each version; the versions take turns."""
    rows = []
    for what, run in COMMANDS.items():
        spent: dict[str, list[tuple[float, float]]] = {source: [] for source in sources}
        for source in [*sources] * STARTS:
            clock, cpu = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
            run(root, [sys.executable, "-m", "phuma"], {**os.environ, "PYTHONPATH": source})
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            used = after.ru_utime + after.ru_stime - cpu.ru_utime - cpu.ru_stime
            spent[source].append((time.perf_counter() - clock, used))
        rows.append([what, *(f"{min(times):.1f}" for source in sources for times in zip(*spent[source]))])
    return rows


def row(what: str, spent: list[tuple[float, float]], alone: bool = True) -> list[str]:
    clock, cpu = zip(*spent)
    shown = [statistics.median(clock), max(clock), *([statistics.median(cpu), max(cpu)] if alone else [])]
    return [what, *(f"{v:.0f}" for v in shown), *([] if alone else ["", ""])]


def main() -> None:
    ours = str(Path(__file__).parents[1] / "src")
    versions = {"before": sys.argv[1], "now": ours} if sys.argv[1:] else {"now": ours}
    with tempfile.TemporaryDirectory() as name:
        root = make(Path(name))
        started = commands(root, list(versions.values()))
        opened = [spent_on(lambda: open_and_look(root)) for _ in range(OPENINGS)]
        dataset = open_dataset(root)
        asked = questions(dataset)
        alone = {what: [spent_on(lambda q=q: search(dataset, q)) for q in qs] for what, qs in asked.items()}
        mixed = [q for together in zip(*asked.values()) for q in together]
        with ThreadPoolExecutor(BROWSERS) as pool:
            at_once = list(pool.map(lambda q: spent_on(lambda: search(dataset, q)), mixed))
    every = [spent for searches in alone.values() for spent in searches]
    late = sum(clock >= WANTED for clock, _ in every)
    save(
        "searching",
        "What looking for clips costs",
        f"A manifest of {ROWS:,} rows: those of {RECORDINGS} generated recordings of {SECONDS:g} s on two "
        "robots, built, repeated under other names and with other values. Commands from start to end, the quickest of "
        f"{STARTS} starts, in seconds:",
        markdown(["", *(f"{version}{kind}" for version in versions for kind in ("", ", CPU"))], started),
        f"Each search in {SEARCHES} variants, opening {OPENINGS} times, in one process, in milliseconds:",
        markdown(
            ["", "median", "worst", "median, CPU", "worst, CPU"],
            [
                row("opening the dataset, what there is in it, and the first page", opened),
                *(row(what, spent) for what, spent in alone.items()),
                row(f"all of these searches, {BROWSERS} at once", at_once, alone=False),
            ],
        ),
        f"{late} of {len(every)} searches took {WANTED} ms or more by the clock (none is wanted); the most CPU time "
        f"that one took is {max(cpu for _, cpu in every):.0f} ms. The clock also counts what else the machine does: "
        f"its load was {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores.",
    )


if __name__ == "__main__":
    main()

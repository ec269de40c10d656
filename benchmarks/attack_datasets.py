"""How commands take datasets that were tampered with or damaged: 2,000 of them, through every command that reads one.

`python benchmarks/attack_datasets.py [NUMBER [KIND]]`; failures are printed with their tracebacks.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from phuma.runtime.process_pool import WorkerLimits, run_all
from tables import markdown, save

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.dataset.attacks import COMMANDS, DAMAGES, Result, attack
from tests.dataset.tiny import least

NUMBER = 2000
LIMITS = WorkerLimits(seconds=600, megabytes=3000)
"""Of a dataset with all commands; a machine may be busy"""
LONGEST = 10.0
"""CPU seconds that a command may take"""
HEAD = (
    "damage", "datasets", "`verify` names a fault", "refused with a reason", "accepted by all", "failed",
    "slowest command [CPU s]",
)  # fmt: skip


def work(job: tuple[str, int], whole: Path) -> Result:
    """Damage one dataset in a folder of its own and run all commands."""
    with tempfile.TemporaryDirectory(dir=whole.parent) as folder:
        return attack(whole, Path(folder), *job)


def row(name: str, results: Sequence[Result]) -> list[object]:
    """One line of the table."""
    failed = [r for r in results if r.failed or r.seconds > LONGEST]
    refused = [r for r in results if r.refused and r not in failed]
    verified = sum("verify" in r.refused for r in results)
    accepted = len(results) - len(failed) - len(refused)
    return [name, len(results), verified, len(refused), accepted, len(failed), max(r.seconds for r in results)]


def main() -> None:
    """Make the table."""
    number = int(sys.argv[1]) if len(sys.argv) > 1 else NUMBER
    kinds = [kind for kind in DAMAGES if kind in sys.argv[2:]] or list(DAMAGES)
    jobs = [(kinds[i % len(kinds)], i) for i in range(number)]
    results: list[Result] = []
    with tempfile.TemporaryDirectory() as folder:
        whole = least(Path(folder))
        for done in run_all(partial(work, whole=whole), jobs, os.cpu_count() or 1, LIMITS):
            result = done.value or Result(*jobs[done.index], failed={"all": str(done.failure)})
            results.append(result)
            for command, text in result.failed.items():
                print(f"{result.kind}, seed {result.seed}, {command}:\n{text}", flush=True)
    rows = [row(kind, [r for r in results if r.kind == kind]) for kind in kinds]
    about = (
        f"Each of {number:,} datasets is a small one with one change, drawn by a seed: a value of a JSON file, of the "
        "manifest or of an array, some bytes, or a file. It goes through "
        f"{', '.join(f'`{name}`' for name in COMMANDS)}. A change is accepted by all where no reader can see "
        "that it is one, such as the version of a program in `dataset.json`. Failed would be a traceback, an exit code "
        f"other than 0, 1 and 2, more than {LONGEST:g} CPU seconds in a command, or a change of a file that is not the "
        "command's own."
    )
    if number == NUMBER:
        save("attack_datasets", "Damaged datasets", about, markdown(HEAD, [*rows, row("all", results)]))
    else:
        print(markdown(HEAD, [*rows, row("all", results)]))


if __name__ == "__main__":
    main()

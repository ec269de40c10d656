"""Ask a question of your own data: train and judge policies on several variants of it, and write a page with the table.

    phuma study --list                                        # what can be asked
    phuma study retargeting --data mocap/ --budget 120 --out study

A third of the recordings is held out; all rows are judged on the same motions, get the same CPU time and three seeds,
and are compared by a paired bootstrap. Run it again and it goes on where it stopped; a larger budget adds to it.
"""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from phuma.cli.batch import check_jobs
from phuma.cli.options import add_ray_option, command_parser
from phuma.core.words import harmless
from phuma.errors import ConfigError
from phuma.runtime.process_pool import Done, run_all
from phuma.runtime.ray_pool import run_on_ray

BUDGET = 120.0
SHOWN = 10


def main(argv: Sequence[str]) -> int:
    """Run the command and return its exit code."""
    args = parser().parse_args(argv)
    from phuma.studies.frame.study import study_named, study_names  # slow to import: not for --help

    if args.list:
        for name in study_names():
            print(f"{name:12}{study_named(name).question}")
        return 0
    for option in ("name", "data", "out"):
        if not getattr(args, option):
            wanted = "the name of a study" if option == "name" else f"--{option}"
            raise ConfigError(f"{wanted} is missing; `phuma study --list` names the studies")
    check_jobs(args.jobs)
    if not args.budget > 0:
        raise ConfigError(f"--budget {args.budget:g}; expected CPU minutes above zero")
    return run_study(study_named(args.name), args)


def run_study(study: Any, args: Namespace) -> int:
    """Run a study and print its table, what it tells, and where the page is."""
    from phuma.robots import load_robot, spec_of
    from phuma.studies.frame.data import find_sources, split
    from phuma.studies.frame.films import films_of
    from phuma.studies.frame.folder import StudyFolder
    from phuma.studies.frame.plan import cost_of, plan_of
    from phuma.studies.frame.report import PAGE, facts, limits, write_report
    from phuma.studies.frame.runner import StudyRun
    from phuma.studies.frame.table import verdicts

    robot = spec_of(load_robot(args.robot))
    data = split(find_sources(args.data, args.out))
    plan = plan_of(study, args.budget)
    print(f"{study.question}\n{plan}: about {cost_of(study, plan) / 60:.0f} CPU minutes", flush=True)
    run = runner(args)
    results = StudyRun(study, data, robot, plan, StudyFolder(args.out), run, Progress()).do()
    named = [str(each) for each in args.data]
    write_report(results, args.out, named, args.budget)
    films, unfilmed = films_of(results, args.out, run)
    table = write_report(results, args.out, named, args.budget, films, unfilmed or "")
    print(table.markdown())
    for line in (*facts(results), *verdicts(table), *limits(results, table)):
        print(f"- {line}")
    for name, reason in list(results.failed.items())[:SHOWN]:
        print(harmless(f"Not done: {name}: {reason}"))
    print(f"The page: {args.out / PAGE}")
    return 1 if results.failed else 0


def runner(args: Namespace) -> Callable[[Callable[[Any], Any], list[Any]], Iterator[Done]]:
    """Return what runs jobs: this process, worker processes, or Ray."""
    if args.ray is not None:
        return partial(run_on_ray, address=args.ray or None, jobs=args.jobs)
    jobs = args.jobs or os.cpu_count() or 1
    return here if jobs == 1 else partial(run_all, jobs=jobs)


def here(work: Callable[[Any], Any], items: list[Any]) -> Iterator[Done]:
    """Yield the outcome of each item, in this process."""
    for index, item in enumerate(items):
        yield Done(index, work(item), None)


class Progress:
    """Say what is done, a line for each result: a study takes hours, and is looked at in a log."""

    def __call__(self, title: str, done: int, total: int) -> None:
        print(f"{title}: {done} of {total}", flush=True)


def parser() -> Any:
    """Return the parser of the command's options."""
    out = command_parser("study", __doc__)
    out.add_argument("name", nargs="?", metavar="NAME", help="the study; --list names all")
    out.add_argument("--list", action="store_true", help="print the names and questions of all studies")
    out.add_argument("--data", nargs="+", type=Path, metavar="DATA", help="folders of recordings, or recordings")
    out.add_argument("--robot", default="g1", help="g1, h1_2, or a folder with model.xml and robot.json (default: g1)")
    out.add_argument(
        "--budget", type=float, default=BUDGET, metavar="MINUTES",
        help="CPU minutes of all processes together, about: more of them are more clips, and more time to learn "
        f"from them (default: {BUDGET:g})",
    )  # fmt: skip
    out.add_argument("--out", type=Path, metavar="DIR", help="the study's folder")
    out.add_argument("--jobs", type=int, metavar="N", help="worker processes (default: one for each processor)")
    add_ray_option(out, "run the work")
    return out

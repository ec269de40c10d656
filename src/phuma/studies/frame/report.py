"""Tell a study: its page, its table for the terminal, and what it can and cannot tell."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import BinaryIO

from phuma.core.words import count_of
from phuma.io.atomic import write_atomic
from phuma.studies.frame.films import Shown
from phuma.studies.frame.plan import EVALUATIONS
from phuma.studies.frame.policies import EPISODES
from phuma.studies.frame.runner import Results, RowResult
from phuma.studies.frame.study import CLEAN, MOCAP, Tracker
from phuma.studies.frame.table import Table, resolution, table_of, verdicts
from phuma.viewer.study_page import Clip, StudyPage, study_page

PAGE, TABLE, PLAIN = "study.html", "table.md", "table.json"
ENOUGH_CLIPS, ENOUGH_TESTS = 40, 20
"""Clips to learn from and to be judged on below which a study is called small"""


def write_report(
    results: Results, out: Path, data: Sequence[str], budget: float, films: Sequence[Shown] = (), unfilmed: str = ""
) -> Table:
    """Write the page and the tables of what there is, and return the table."""
    table = table_of(results)
    page = study_page(page_of(results, table, data, budget, out, films, unfilmed))
    lines = [f"# {results.study.question}", "", *(f"- {fact}" for fact in facts(results)), "", table.markdown(), "",
             *(f"- {text}" for text in (*verdicts(table), *limits(results, table)))]  # fmt: skip
    plain = {
        "study": results.study.name, "columns": [f"{c.head}: {c.label}" for c in table.columns],
        "rows": {label: [asdict(c) for c in cells] for label, cells in zip(table.labels, table.cells)},
        "comparisons": [
            {"column": c.column, "one": c.one, "other": c.other, **c.difference._asdict()} for c in table.comparisons
        ],
    }  # fmt: skip
    texts = {PAGE: page, TABLE: "\n".join(lines) + "\n", PLAIN: json.dumps(plain, indent=1)}
    for name, text in texts.items():
        write_atomic(out / name, partial(_write, text))
    return table


def _write(text: str, file: BinaryIO) -> None:
    file.write(text.encode("utf-8", "replace"))


def page_of(
    results: Results, table: Table, data: Sequence[str], budget: float, out: Path, films: Sequence[Shown], unfilmed: str
) -> StudyPage:
    """Return what the page shows."""
    failed = [f"{name}: {reason}" for name, reason in results.failed.items()]
    return StudyPage(
        title=f"{results.study.name} on {results.robot}",
        question=results.study.question,
        facts=facts(results),
        heads=[(column.head, column.label) for column in table.columns],
        rows=[(label, [str(cell) for cell in cells]) for label, cells in zip(table.labels, table.cells)],
        verdicts=verdicts(table),
        limits=limits(results, table),
        notes=[f"The paper: {results.study.paper}.", *results.study.notes],
        films=[Clip(*shown) for shown in films],
        commands=commands(results, data, budget, out),
        failed=[*failed, *([f"films: {unfilmed}"] if unfilmed else [])],
    )


def facts(results: Results) -> list[str]:
    """Return on what the study was made, in words."""
    plan, tests = results.plan, next(iter(results.tests.values()), [])
    train = {piece.recording for row in results.rows for piece in row.pieces}
    most = max((len(row.pieces) for row in results.rows), default=0)
    learned = f"{count_of(most, 'clip')} of {count_of(len(train), 'recording')} to learn from at most"
    if not plan.seeds:
        what = "policies" if plan.performed else "policies, no performances under physics"
        return [learned, f"no {what}: the budget is too small for them, so that only motions were measured"]
    done = sum(len(row.trainings) for row in results.rows)
    others = count_of(len({piece.recording for piece in tests}), "other recording")
    return [
        f"{learned}, {count_of(len(tests), 'clip')} of {others} to be judged on, the same for all rows and put on the "
        "robot by the default method",
        f"{count_of(plan.seeds, 'seed')} a row, {plan.seconds:.0f} CPU s of training a policy in every row"
        f"; {done} of {plan.seeds * len(results.rows)} policies are trained",
        f"success over the last {EVALUATIONS} evaluations of a training, {EPISODES} rollouts of a motion in each, "
        "from starts a fifth of the paper's ranges off, at physics steps of 5 ms",
    ]


def limits(results: Results, table: Table) -> list[str]:
    """Return what the study can and cannot tell, from its own numbers."""
    out = [
        f"{name}: of a typical pair of rows, differences below about {width:.2g} cannot be seen (half the interval of "
        "a difference, median over all pairs); rows that succeed and fail on the same motions are told apart by less"
        for name, width in resolution(table).items()
    ]
    most, tests = max((len(row.pieces) for row in results.rows), default=0), len(results.tests.get(CLEAN, ()))
    if most < ENOUGH_CLIPS or tests < ENOUGH_TESTS:
        out.append(
            f"This is a small study: with fewer than {ENOUGH_CLIPS} clips to learn from and {ENOUGH_TESTS} to be "
            "judged on it shows large differences on motions like these, and no others. That two rows cannot be told "
            "apart does not say that they are equal."
        )
    if results.plan.seeds:
        out.append(
            f"{results.plan.seeds} seeds say little of how much luck there is in a training: intervals over so few are "
            "too narrow rather than too wide."
        )
    if len(table.labels) > 2:
        out.append(
            "Every pair is compared by itself, at 95 %: of twenty pairs without a difference one is expected to be "
            "told apart by chance."
        )
    return out


def commands(results: Results, data: Sequence[str], budget: float, out: Path) -> list[str]:
    """Return the command of the study, and those that do by hand what it does for each row, but for the split."""
    named = " ".join(map(shlex.quote, data))
    robot = shlex.quote(results.robot)
    lines = [
        f"phuma study {results.study.name} --data {named} --robot {robot} --budget {budget:g} "
        f"--out {shlex.quote(str(out))}"
    ]
    for result in results.rows:
        lines += [
            "",
            f"# {result.row.label}",
            *_by_hand(result, named, robot, results.plan.seconds, results.plan.seeds),
        ]
    return lines


def _by_hand(result: RowResult, data: str, robot: str, seconds: float, seeds: int) -> list[str]:
    row = result.row
    view = result.pieces[0].view if result.pieces else None
    mend = "" if view is None or view.mend is None else " --mend" if view.mend else " --no-mend"
    preset = "" if view is None else f" --preset {view.preset}{mend}"
    made = (
        [] if view is None or view.source == MOCAP else [f"# recordings {view.source}: phuma.synth.video_like.as_video"]
    )
    lines = [
        *made,
        f"phuma build {data} --robot {robot}{preset} --method {row.method} --out row",
        "phuma certify row --gains",
    ]
    if seeds:
        lines.append(f"phuma train row --out policy {_options(row.tracker)} --minutes {seconds / 60:.2g} --seed 0")
        lines.append("phuma evaluate policy row")
    return lines


def _options(tracker: Tracker) -> str:
    stage = {"teacher": " --stage teacher", "tracker": " --stage teacher"}.get(tracker.stage or "", "")
    environment = dict(tracker.environment)
    future = " --no-future" if environment.get("future") is False else ""
    condition = f" --condition {environment['condition']}" if "condition" in environment else ""
    return f"--algo {tracker.algo} --from {tracker.begin}{stage}{future}{condition}"

"""Many files with one command: what each gave, and why some could not be used."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from phuma.body.choice import check_body
from phuma.errors import ConfigError, PhumaError, ReadError
from phuma.parallel import map_in_order
from phuma.sources import ReadCfg
from phuma.sources.bvh.match import load_joint_map
from phuma.sources.registry import Recording

Row = dict[str, Any]
WORTH_PROCESSES = 8
"""files, from which on all cores are used where nobody says how many"""


class Outcome(NamedTuple):
    """What became of one file, or of all."""

    rows: list[Any]
    failed: list[dict[str, str]]
    """its `source` and the `reason`"""


def attempt(path: Path, work: Callable[[], list[Any]]) -> Outcome:
    """What `work` returns for a file; a fault of the file becomes a row, never an exception."""
    try:
        return Outcome(work(), [])
    except ConfigError:
        raise
    except Exception as e:  # whatever it is, it must not cost the rest of a long batch
        return Outcome([], [{"source": str(path), "reason": _reason(e, path)}])


def run_batch(
    work: Callable[[Recording], Outcome],
    files: Sequence[Recording],
    jobs: int | None,
    unit: str,
    note: Callable[[list[Row]], str] | None = None,
) -> Outcome:
    """`work` on all of `files` in `jobs` processes, with a bar that shows what `note` says of the rows so far."""
    from tqdm import tqdm

    jobs = jobs or ((os.cpu_count() or 1) if len(files) >= WORTH_PROCESSES else 1)
    total = Outcome([], [])
    with tqdm(total=len(files), unit=unit, disable=None, file=sys.stderr) as bar:
        for outcome in map_in_order(work, files, jobs):
            total.rows.extend(outcome.rows)
            total.failed.extend(outcome.failed)
            if note:
                bar.set_postfix_str(note(total.rows), refresh=False)
            bar.update()
    return total


def check_jobs(jobs: int | None) -> None:
    if jobs is not None and jobs < 1:
        raise ConfigError(f"--jobs {jobs}; expected at least 1")


def check_reading(cfg: ReadCfg) -> None:
    """Faults of the options are said once, before anything is touched, not once a file."""
    check_body(cfg.body)
    if cfg.joint_map:
        load_joint_map(cfg.joint_map)


def _reason(e: Exception, path: Path) -> str:
    """Why a file could not be used, in words, without its own name."""
    if isinstance(e, ReadError) and e.path == str(path):
        return e.problem
    return str(e) if isinstance(e, PhumaError) else f"internal error, please report: {e!r}"

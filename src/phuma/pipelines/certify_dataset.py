"""Certify the clips of a dataset: each kept one is performed once, and its row says what came of it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from phuma.control.expert import EFFORTS
from phuma.dataset.amend import Runner, amend
from phuma.dataset.dataset import Dataset
from phuma.dataset.layout import Layout, make_folder
from phuma.dataset.record import Row, file_sha256
from phuma.errors import ConfigError, ReadError, StorageError
from phuma.formats.robot_motion_file import load_robot_motion
from phuma.formats.rollout_file import save_rollout
from phuma.io.inside import inside
from phuma.io.probe import Probe
from phuma.pipelines.certify import Certificate, CertifyCfg, certify
from phuma.robots import cached_robot
from phuma.runtime.process_pool import WorkerLimits, run_all
from phuma.runtime.ray_pool import run_on_ray

LIMITS = WorkerLimits(4 * 3600.0, 4000.0)
"""Limits of the work on one recording: it goes on where it was if it is tried again"""
FILE, HASH = "certified_file", "certified_sha256"
COLUMNS = {
    "certified": "certified",
    "loosely": "certified_loosely",
    **{name: f"certified_{name}" for name in ("error_mm", "torque_share", "robust_starts", "robust_pushes", "effort",
                                              "way", "reason")},
}  # fmt: skip
"""Columns of the manifest by the names of a certificate's values"""


def certify_dataset(
    root: Path,
    cfg: CertifyCfg,
    run: Runner,
    robots: Mapping[str, str] | None = None,
    where: str | None = None,
    again: bool = False,
    progress: Callable[[int, int, int], None] = lambda done, before, total: None,
) -> list[tuple[str, str]]:
    """Perform the kept clips of a dataset under a condition that were not performed yet with this effort.

    `robots` are names or folders by the robot's name; built-in ones need none. Returns recordings that failed as a
    whole, with the reasons.
    """
    dataset, places = Dataset(root), dict(robots or {})
    rows = [entry.row for entry in dataset.entries(where)]
    if not rows:
        raise ConfigError(f"{root} has no kept clip{f' under {where!r}' if where else ''}; nothing to certify")
    for name in sorted({row["robot"] for row in rows}):
        places.setdefault(name, name)
        if cached_robot(places[name]).name != name:
            raise ConfigError(f"--robot {places[name]}: expected the folder of {name}")
    wanted = {(row["clip"], row["robot"]) for row in rows}
    done = partial(_never) if again else partial(is_certified, cfg=cfg)
    return amend(root, wanted, done, partial(_certified, cfg=cfg, robots=places), run, progress)


def limited_runner(jobs: int | None = None, ray: str | None = None) -> Runner:
    """Return a runner on `jobs` worker processes, one for each processor by default, or on Ray where its address is
    given, an empty one for a Ray of its own."""
    if ray is not None:
        return partial(run_on_ray, address=ray or None, limits=LIMITS, jobs=jobs)
    return lambda work, items: run_all(work, items, jobs or os.cpu_count() or 1, LIMITS)


def _never(row: Row, root: Path) -> bool:
    return False


def is_certified(row: Row, root: Path, cfg: CertifyCfg) -> bool:
    """Return whether a row has a certificate of this effort or a greater one, or a positive one, with its file."""
    effort = row.get("certified_effort")
    if effort not in EFFORTS or (EFFORTS[effort] < EFFORTS[cfg.effort] and not row["certified"]):
        return False
    if not row.get(FILE):
        return not row["certified"]
    path = inside(root, row[FILE])
    return path.is_file() and file_sha256(path) == row[HASH] and (not row["certified_loosely"] or _holds(path, cfg))


def _holds(path: Path, cfg: CertifyCfg) -> bool:
    """Return whether a performance has what is asked for beside it."""
    arrays = Probe(path).arrays
    bundled = arrays["bundle_first"].shape[0] if "bundle_first" in arrays else 0
    return ("value" in arrays or not cfg.gains) and bundled >= cfg.bundle


def _certified(
    row: Row, recording: str, layout: Layout, cfg: CertifyCfg, robots: Mapping[str, str]
) -> Mapping[str, Any]:
    """Return the columns of a row's certificate, its performance written."""
    try:
        motion = load_robot_motion(inside(layout.root, row["file"]))
        found = certify(motion, cached_robot(robots[row["robot"]]), cfg.effort, cfg.gains, cfg.bundle, name=row["clip"])
    except ReadError as e:
        found = Certificate(cfg.effort, reason=f"cannot be read: {e.problem}")
    except (ConfigError, StorageError, MemoryError):
        raise
    except Exception as e:  # whatever it is, it must not cost the rest of a long run
        found = Certificate(cfg.effort, reason=f"internal error, please report: {e!r}")
    return stored(found, layout, row["robot"], recording, row["clip"])


def stored(found: Certificate, layout: Layout, robot: str, recording: str, clip: str) -> dict[str, Any]:
    """Write the performance of a certificate and return its columns of the manifest."""
    values = found.values
    columns: dict[str, Any] = {column: values[name] for name, column in COLUMNS.items()}
    path = layout.performance(robot, recording, clip)
    if found.performance is None:
        path.unlink(missing_ok=True)
        return {**columns, FILE: None, HASH: None}
    make_folder(path.parent)
    save_rollout(path, found.performance)
    return {**columns, FILE: path.relative_to(layout.root).as_posix(), HASH: file_sha256(path)}

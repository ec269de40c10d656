"""Perform motions under physics: `phuma certify` as a function."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import overload

from phuma.api.sources import AnyPath, AnyRobot, chosen, is_dataset, robot_spec
from phuma.core.trajectory import Trajectory
from phuma.curation import CurateCfg
from phuma.dataset.dataset import Dataset
from phuma.dataset.manifest import quoted
from phuma.errors import PhumaError
from phuma.pipelines import certify as motions
from phuma.pipelines.certify import Certificate, CertifyCfg
from phuma.pipelines.certify_dataset import certify_dataset, limited_runner
from phuma.pipelines.certify_files import Performed, perform_file
from phuma.pipelines.progress_bars import ClipBar
from phuma.robots import Robot, cached_robot, load_robot
from phuma.sources import ReadCfg


@overload
def certify(
    source: Trajectory,
    robot: AnyRobot | None = ...,
    effort: str = ...,
    gains: bool = ...,
    bundle: int = ...,
    threads: int = ...,
    name: str = ...,
) -> Certificate: ...
@overload
def certify(
    source: AnyPath,
    robot: AnyRobot | None = ...,
    effort: str = ...,
    gains: bool = ...,
    bundle: int = ...,
    threads: int = ...,
    name: str = ...,
    *,
    where: str | None = ...,
    again: bool = ...,
    jobs: int | None = ...,
    read: ReadCfg | None = ...,
    curate: CurateCfg | None = ...,
) -> list[Performed] | Dataset: ...
@overload
def certify(
    source: Dataset,
    robot: AnyRobot | None = ...,
    effort: str = ...,
    gains: bool = ...,
    bundle: int = ...,
    *,
    where: str | None = ...,
    again: bool = ...,
    jobs: int | None = ...,
) -> Dataset: ...
def certify(
    source: Trajectory | AnyPath | Dataset,
    robot: AnyRobot | None = None,
    effort: str = "normal",
    gains: bool = False,
    bundle: int = 0,
    threads: int = 1,
    name: str = "",
    *,
    where: str | None = None,
    again: bool = False,
    jobs: int | None = None,
    read: ReadCfg | None = None,
    curate: CurateCfg | None = None,
) -> Certificate | list[Performed] | Dataset:
    """Perform motion under physics, and return what came of it.

    Of a robot's motion that is its Certificate, with the performance at 50 Hz. Of a file it is a list with name, motion
    and certificate of each clip that curation keeps. A dataset's clips, those under `where`, get their certificates and
    performances in place, in `jobs` processes, and the dataset is returned anew. The result does not depend on
    `threads` or `jobs`. A motion of the free robot is performed by one with locked joints without these.

    >>> motion = phuma.load_robot_motion("walk.npz").cut(0.0, 0.5)
    >>> found = phuma.certify(motion, effort="quick")
    >>> found.certified, found.performance.fps
    (True, 50.0)
    """
    if isinstance(source, Trajectory):
        return motions.certify(source, robot, effort, gains, bundle, threads, name)
    cfg = CertifyCfg(effort, gains, bundle)
    if is_dataset(source):
        robots = () if robot is None else (robot_spec(robot),)
        return certify_in_place(source, cfg, robots, where, again, jobs)
    assert not isinstance(source, Dataset)
    path = Path(source)
    model = robot if isinstance(robot, Robot) else cached_robot(robot or "g1")
    return list(perform_file(path, name or path.stem, model, cfg, read, curate, threads))


def certify_in_place(
    dataset: AnyPath | Dataset,
    cfg: CertifyCfg,
    robots: Sequence[str] = (),
    where: str | None = None,
    again: bool = False,
    jobs: int | None = None,
) -> Dataset:
    """Certify the clips of a dataset, of these robots alone where some are named, and return it anew."""
    root, where = chosen(dataset, where)
    places = {load_robot(spec).name: spec for spec in robots}
    if places:
        of = f"robot IN ({', '.join(map(quoted, places))})"
        where = of if where is None else f"{of} AND ({where}\n)"
    with ClipBar() as bar:
        failed = certify_dataset(root, cfg, limited_runner(jobs), places, where, again, bar)
    if failed:
        name, reason = failed[0]
        raise PhumaError(f"{len(failed)} recordings could not be certified, the others are; {name}: {reason}")
    return dataset.where(kept=dataset.only_kept) if isinstance(dataset, Dataset) else Dataset(root)

"""Look at motion: `phuma view` and `phuma render` as functions."""

from __future__ import annotations

import asyncio
import threading
import webbrowser
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from phuma.api.sources import AnyRobot, chosen, is_dataset, robot_specs, several
from phuma.core.clip import Clip
from phuma.core.human_motion import HumanMotion
from phuma.core.robot_motion import RobotMotion
from phuma.core.rollout import Rollout
from phuma.curation import CurateCfg
from phuma.errors import ConfigError, PhumaError
from phuma.sources import ReadCfg

if TYPE_CHECKING:
    from phuma.viewer.server import Viewer
    from phuma.viewer.session import Collection

MOTIONS = (HumanMotion, Clip, RobotMotion, Rollout)
WAIT = 60.0
"""Seconds that a viewer may take to begin and to end"""


class Viewing:
    """A viewer that serves in the background until `close()`, the end of a `with`, or the end of the program."""

    def __init__(self, viewer: Viewer) -> None:
        self._viewer, self._ready = viewer, threading.Event()
        self._loop, self._fault = asyncio.new_event_loop(), None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        self._ready.wait(WAIT)
        if self._fault is not None:
            raise self._fault

    def __repr__(self) -> str:
        return f"Viewing({self.link})"

    @property
    def link(self) -> str:
        """Return the address of the page."""
        return self._viewer.link

    def wait(self) -> None:
        """Serve until Ctrl-C, at the end of a script."""
        with suppress(KeyboardInterrupt):
            while self._thread.is_alive():
                self._thread.join(1.0)
        self.close()

    def close(self) -> None:
        """End it."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._task.cancel)
            self._thread.join(WAIT)

    def __enter__(self) -> Viewing:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._task = self._loop.create_task(self._viewer.serve(self._ready.set))
        try:
            self._loop.run_until_complete(self._task)
        except asyncio.CancelledError:
            pass
        except Exception as e:
            self._fault = e  # type: ignore[assignment]
        finally:
            self._ready.set()
            self._loop.run_until_complete(self._loop.shutdown_default_executor())
            self._loop.close()


def view(
    source: Any,
    robot: AnyRobot | Sequence[AnyRobot] | None = None,
    *,
    certify: bool = False,
    port: int | None = None,
    host: str = "127.0.0.1",
    browser: bool = True,
    read: ReadCfg | None = None,
    curate: CurateCfg | None = None,
) -> Viewing:
    """Show a dataset, files or motions in the browser, human and robot, and return at once.

    It serves until the program ends or `close()`; `wait()` keeps a script open. A dataset may be a part of one, by
    `dataset.where(...)`; `certify` offers to perform clips under physics that were not yet.

    >>> with phuma.view(phuma.load_robot_motion("walk.npz"), browser=False, port=0) as viewing:
    ...     viewing.link.startswith("http://localhost:")
    True
    """
    from phuma.viewer.server import Viewer

    viewing = Viewing(Viewer(_collection(source, robot_specs(robot), certify, read, curate), host, port))
    if browser:
        webbrowser.open(viewing.link)
    return viewing


def _collection(
    source: Any, robots: Sequence[str], certify: bool, read: ReadCfg | None, curate: CurateCfg | None
) -> Collection:
    """Return what the viewer shows of a source."""
    from phuma.pipelines.collections import DatasetCollection, FileCollection
    from phuma.pipelines.open_collection import collection_of, robots_of
    from phuma.robots import load_robot

    if is_dataset(source):
        root, where = chosen(source)
        return DatasetCollection(root, robots_of(root, robots), where, certify)
    given = several(source)
    if not any(isinstance(one, MOTIONS) for one in given):
        return collection_of([*map(Path, given)], robots, read or ReadCfg(), curate, certify)
    models = [load_robot(name) for name in robots or ["g1"]]
    return FileCollection(_pieces(given, read, curate, models), models, read or ReadCfg(), curate, certify)


def _pieces(given: Sequence[Any], read: ReadCfg | None, curate: CurateCfg | None, models: Sequence[Any]) -> list[Any]:
    """Return the pieces of motions and of files."""
    from phuma.pipelines.scene_building import piece_of, pieces_of

    pieces: list[Any] = []
    for one in given:
        pieces += (
            [piece_of(one, models)] if isinstance(one, MOTIONS) else pieces_of(Path(one), read, curate, models)
        )  # fmt: skip
    return pieces


def render(
    source: Any,
    out: str | Path,
    robot: AnyRobot | Sequence[AnyRobot] | None = None,
    *,
    compare: Sequence[str] = (),
    human: bool = False,
    certified: bool = False,
    camera: str = "follow",
    size: tuple[int, int] | str = (640, 480),
    at: float | None = None,
    around: float | None = None,
    read: ReadCfg | None = None,
) -> Path:
    """Film motions or files on robots, side by side: FILE.mp4 or .gif, or FILE.png, a sheet of instants.

    `compare` names methods, `human` draws the person too, `certified` a dataset's clip beside its performance; `size`
    is (640, 480) or "640x480", `at` a moment in seconds. Nothing but a processor is needed.

    >>> phuma.render(phuma.load_robot_motion("walk.npz"), "walk_g1.png", size=(160, 120), at=0.5).name
    'walk_g1.png'
    """
    from phuma.core.names import known_name
    from phuma.pipelines.filming import Shot, film_pieces, size_of
    from phuma.retargeting import METHODS
    from phuma.robots import load_robot

    shot = Shot(Path(out), camera, size_of(size if isinstance(size, str) else f"{size[0]}x{size[1]}"), at, around)
    if is_dataset(source):
        raise ConfigError(
            f"a film is of some clips, not of all of {source!r}: name dataset[0].path, or dataset[0].motion()"
        )
    robots = [load_robot(name) for name in robot_specs(robot)]
    methods = [known_name(name, METHODS, "method") for name in several(compare)]
    pieces = _pieces(several(source), read, None, robots)
    if not pieces:
        raise PhumaError("nothing to film was given")
    film_pieces(shot, pieces, robots, methods, human, certified, say=lambda text: None)
    return shot.out

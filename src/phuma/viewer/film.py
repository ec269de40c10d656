"""Draw pictures and films of robots without a screen."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from phuma.core.names import known_name
from phuma.core.robot_motion import RobotMotion
from phuma.core.rotations import Array
from phuma.errors import ConfigError, StorageError, missing_extra
from phuma.robots.robot import Robot

if TYPE_CHECKING:
    from phuma.viewer.scene import Appearance
    from phuma.viewer.strip import Plot

CAMERAS = {"follow": 140.0, "side": 90.0, "front": 180.0}
"""The direction in which each camera points, in degrees from the robot's heading."""
SUFFIXES = (".mp4", ".gif", ".png")
STILLS = 8  # pictures on a contact sheet, at most


def frames_of(
    motions: Sequence[RobotMotion],
    robots: Sequence[Robot],
    which: Sequence[int] | None = None,
    human: bool = False,
    camera: str = "follow",
    size: tuple[int, int] = (640, 480),
    appearances: Sequence[Appearance] = (),
    apart: bool = False,
) -> Iterator[Array]:
    """Yield pictures (H, W, 3) uint8 of the frames `which`, all by default, with the motions side by side.

    `human` draws whom each robot follows inside it; with `apart` the person of the first one stands beside them.
    """
    import mujoco

    from phuma.viewer.offscreen import Offscreen
    from phuma.viewer.scene import COLLISION, Scene

    scene = Scene(motions, robots, *size, appearances, human and apart)
    view = mujoco.MjvCamera()
    view.azimuth = np.degrees(scene.heading) + CAMERAS[camera]
    view.elevation = -12.0
    size_of_robots = max(robot.default_height for robot in robots) / 0.7575  # against the G1
    view.distance = 2.6 * size_of_robots + 0.9 * (scene.figures - 1)
    option = mujoco.MjvOption()
    option.geomgroup[COLLISION] = 0
    with Offscreen(scene.model, *size) as page:
        for frame in range(len(scene)) if which is None else which:
            scene.pose(frame)
            centre = scene.centre(frame)
            view.lookat = [centre[0], centre[1], 0.65 * size_of_robots]
            more = [partial(scene.add_humans, frame=frame)] if human else []
            yield page.draw(scene.data, view, option, *more)


def contact_sheet(pictures: Sequence[Array]) -> Array:
    """Return one picture with the given ones in two rows, in order of time."""
    columns = (len(pictures) + 1) // 2
    blank = np.full_like(pictures[0], 255)
    padded = [*pictures, *[blank] * (2 * columns - len(pictures))]
    return np.concatenate([np.concatenate(padded[r * columns : (r + 1) * columns], axis=1) for r in range(2)])


def pictures_in(path: Path, motions: Sequence[RobotMotion]) -> int:
    """Return how many pictures a film or a contact sheet of these motions has."""
    kind = path.suffix.lower()
    if kind not in SUFFIXES:
        raise ConfigError(f"{path.name} ends in {kind or 'nothing'}; expected {', '.join(SUFFIXES)}")
    length = max(map(len, motions))
    return min(STILLS, length) if kind == ".png" else length


def film(
    path: str | Path,
    motions: Sequence[RobotMotion],
    robots: Sequence[Robot],
    human: bool = False,
    camera: str = "follow",
    size: tuple[int, int] = (640, 480),
    progress: Callable[[], object] = lambda: None,
    appearances: Sequence[Appearance] = (),
    apart: bool = False,
    plots: Sequence[Plot] = (),
) -> None:
    """Write a film (.mp4, .gif) at the first motion's frame rate, or a contact sheet of stills (.png).

    `plots` are drawn below it, with a line at the instant that is shown, unless it is narrower than 320 pixels.
    """
    path = Path(path)
    camera = known_name(camera, CAMERAS, "camera")
    count, length = pictures_in(path, motions), max(map(len, motions))
    kind = path.suffix.lower()
    which = np.linspace(0, length - 1, count).round().astype(int).tolist()
    pictures = _counted(frames_of(motions, robots, which, human, camera, size, appearances, apart), progress)
    if kind == ".png":
        pictures = iter([contact_sheet(list(pictures))])
    if plots:
        fps = motions[0].fps
        times = [[t / fps for t in which]] if kind == ".png" else [[t / fps] for t in which]
        pictures = _with_strips(pictures, plots, length / fps, times)
    write = {".png": _write_sheet, ".gif": _write_gif, ".mp4": _write_mp4}[kind]
    part = path.with_name(f".{path.stem}.part{kind}")  # its suffix says to ffmpeg what it is
    try:
        write(part, pictures, motions[0].fps)
        part.replace(path)
    except OSError as e:
        raise StorageError(f"{path}: cannot be written: {e.strerror or e}") from None
    finally:
        part.unlink(missing_ok=True)


def _with_strips(
    pictures: Iterator[Array], plots: Sequence[Plot], seconds: float, times: Sequence[Sequence[float]]
) -> Iterator[Array]:
    """Yield each picture above what was recorded, with lines at its times."""
    from phuma.viewer.strip import LEAST_WIDTH, Strip

    strip = None
    for picture, marked in zip(pictures, times):
        if strip is None and picture.shape[1] >= LEAST_WIDTH:
            strip = Strip(plots, seconds, picture.shape[1])
        yield picture if strip is None else np.concatenate([picture, strip.at(marked)])


def _counted(pictures: Iterator[Array], progress: Callable[[], object]) -> Iterator[Array]:
    for picture in pictures:
        yield picture
        progress()


def _write_sheet(path: Path, pictures: Iterator[Array], _: float) -> None:
    _imageio().imwrite(path, next(pictures))


def _write_gif(path: Path, pictures: Iterator[Array], fps: float) -> None:
    _imageio().imwrite(path, np.stack(list(pictures)), duration=round(1000 / fps), loop=0)


def _write_mp4(path: Path, pictures: Iterator[Array], fps: float) -> None:
    try:
        import imageio_ffmpeg
    except ModuleNotFoundError as e:
        raise missing_extra(e, "a film") from None

    first = next(pictures)
    height, width = first.shape[:2]
    writer = imageio_ffmpeg.write_frames(str(path), (width, height), fps=fps, codec="libx264", macro_block_size=2)
    writer.send(None)
    for picture in chain([first], pictures):
        writer.send(np.ascontiguousarray(picture))
    writer.close()


def _imageio() -> Any:
    try:
        import imageio.v3 as iio
    except ModuleNotFoundError as e:
        raise missing_extra(e, "a picture") from None
    return iio

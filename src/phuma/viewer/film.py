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
from phuma.viewer.caption import LEAST_WIDTH, caption, differences

if TYPE_CHECKING:
    from phuma.viewer.scene import Appearance
    from phuma.viewer.strip import Plot

CAMERAS = {"follow": 140.0, "side": 90.0, "front": 180.0}
"""The direction in which each camera points, in degrees from the robot's heading."""
SIDE = "side"
"""The camera to which one robot would hide those beside it: each is drawn in a row of its own"""
SUFFIXES = (".mp4", ".gif", ".png")
STILLS = 8  # pictures on a contact sheet, at most
GHOST = 0.8  # of its colour that a human has who is seen through the robot
AROUND = 0.5  # s before and after a moment that is asked for


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

    `human` draws whom each robot follows over it; with `apart` the person of the first one stands beside them.
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
            people, paths = (partial(each, frame=frame) for each in (scene.add_humans, scene.add_paths))
            picture = page.draw(scene.data, view, option, *([people] if scene.apart else []), paths)
            yield page.draw_over(picture, people, GHOST) if human and not scene.apart else picture


def rows_of(rows: Sequence[Iterator[Array]], titles: Sequence[str]) -> Iterator[Array]:
    """Yield pictures one below another, each under its title where there are titles."""
    heads: list[Array] = []
    for pictures in zip(*rows):
        heads = heads or [caption([title], pictures[0].shape[1]) for title in titles]
        yield np.concatenate([part for pair in zip(heads, pictures) for part in pair] if heads else pictures)


def with_caption(pictures: Iterator[Array], titles: Sequence[str]) -> Iterator[Array]:
    """Yield pictures with the titles below them, from left to right."""
    foot = None
    for picture in pictures:
        foot = caption(titles, picture.shape[1]) if foot is None else foot
        yield np.concatenate([picture, foot])


def contact_sheet(pictures: Sequence[Array]) -> Array:
    """Return one picture with the given ones in two rows, in order of time."""
    columns = (len(pictures) + 1) // 2
    blank = np.full_like(pictures[0], 255)
    padded = [*pictures, *[blank] * (2 * columns - len(pictures))]
    return np.concatenate([np.concatenate(padded[r * columns : (r + 1) * columns], axis=1) for r in range(2)])


def instants(
    path: Path, motions: Sequence[RobotMotion], at: float | None = None, around: float | None = None
) -> list[int]:
    """Return the frames that a film or a contact sheet of these motions shows: of the whole, or of so many seconds
    around a moment."""
    kind = path.suffix.lower()
    if kind not in SUFFIXES:
        raise ConfigError(f"{path.name} ends in {kind or 'nothing'}; expected {', '.join(SUFFIXES)}")
    first, last, fps = 0, max(map(len, motions)) - 1, motions[0].fps
    if at is not None:
        if not 0 <= at <= last / fps:
            raise ConfigError(f"--at {at:g}: the motion is {last / fps:.2f} s long")
        if around is not None and not around > 0:
            raise ConfigError(f"--around {around:g}; expected seconds above zero")
        reach = (AROUND if around is None else around) * fps
        first, last = max(first, round(at * fps - reach)), min(last, round(at * fps + reach))
    elif around is not None:
        raise ConfigError("--around needs --at, the moment in seconds")
    count = last - first + 1
    return np.linspace(first, last, min(STILLS, count) if kind == ".png" else count).round().astype(int).tolist()


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
    titles: Sequence[str] = (),
    which: Sequence[int] | None = None,
) -> None:
    """Write a film (.mp4, .gif) at the first motion's frame rate, or a contact sheet of stills (.png).

    `plots` are drawn below it, with a line at the instant that is shown, and `titles` where there are several, unless
    it is narrower than 320 pixels. `which` are the frames that are shown.
    """
    path = Path(path)
    camera = known_name(camera, CAMERAS, "camera")
    which = instants(path, motions) if which is None else list(which)
    length, kind = max(map(len, motions)), path.suffix.lower()
    titles = differences(titles) if len(titles) > 1 and size[0] >= LEAST_WIDTH else ()
    if camera == SIDE and len(motions) > 1:
        low = (size[0], size[1] // len(motions) // 2 * 2)
        each = [
            frames_of([m], [r], which, human, camera, low, appearances[k : k + 1])
            for k, (m, r) in enumerate(zip(motions, robots))
        ]
        pictures = _counted(rows_of(each, titles), progress)
    else:
        pictures = _counted(frames_of(motions, robots, which, human, camera, size, appearances, apart), progress)
        if titles:
            pictures = with_caption(pictures, [*(["human"] if human and apart else []), *titles])
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
    from phuma.viewer.strip import Strip

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

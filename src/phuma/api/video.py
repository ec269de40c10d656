"""Turn a film of a person into motion of a robot: `phuma video` as a function."""

from __future__ import annotations

from pathlib import Path

from phuma.api.sources import AnyPath, AnyRobot, robot_spec
from phuma.curation import CurateCfg
from phuma.pipelines.video import Video, run_video
from phuma.retargeting import DEFAULT_METHOD
from phuma.video.motions import FilmCfg


def from_video(
    path: AnyPath,
    robot: AnyRobot = "g1",
    stature: float | None = None,
    *,
    person: int | None = None,
    camera: tuple[float, float] | None = None,
    focal: float | None = None,
    model: str = "full",
    start: float | None = None,
    end: float | None = None,
    preset: str = CurateCfg.preset,
    method: str = DEFAULT_METHOD,
    out: AnyPath | None = None,
) -> Video:
    """Return the clips of the person in a film, with verdicts, and a robot's motion for each that is kept.

    `stature` is the person's height in m, `camera` the degrees by which it looks up and is turned clockwise, `focal`
    its focal length in px; what is not given is guessed. Without `person`, a number from the left, the largest is
    followed. With `out` the folder is written that the command writes, with a page that plays all in step. It can be
    called as `phuma.video` too, as the command is.

    >>> video = phuma.video("walk.mp4", robot="g1", stature=1.72)
    >>> len(video.motions) == len(video.kept)
    True
    """
    cfg, curate_cfg = FilmCfg(stature, focal, camera, person, model), CurateCfg(preset=preset)
    if out is None:
        return run_video(path, robot, cfg, curate_cfg, method, start, end)
    from phuma.pipelines.video_folder import check_out, claim, config, written

    folder, film = Path(out), Path(path)
    settings = config(cfg, robot_spec(robot), method, curate_cfg)
    check_out(folder)
    video = run_video(film, robot, cfg, curate_cfg, method, start, end)
    claim(folder, new_policy=False)
    written(folder, film, video, settings)
    return video

"""From a film to a robot: the person is followed and lifted, curated into clips, and the kept ones put on the robot."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from shlex import quote

from phuma.core.clip import Clip
from phuma.core.human_motion import HumanMotion
from phuma.core.robot_motion import RobotMotion
from phuma.curation import CurateCfg, Curation, curate_parts
from phuma.errors import ReadError
from phuma.formats.clip_file import is_clip
from phuma.formats.other_files import what_is
from phuma.io.probe import Probe
from phuma.pipelines.retarget import check_method, retarget
from phuma.retargeting import DEFAULT_METHOD
from phuma.robots import Robot, load_robot
from phuma.sources.registry import READERS
from phuma.video.checks import clock
from phuma.video.film import is_film
from phuma.video.motions import FilmCfg, FilmMotions, motions_of_film


@dataclass(frozen=True, eq=False)
class Video:
    """What became of a film."""

    film: FilmMotions
    """The landmarks, what is wrong with the film, and the motions as they were lifted, with their cameras"""
    curations: list[Curation]
    """The motions after curation, in the order of time; of a long one several parts"""
    robot: Robot
    motions: list[RobotMotion]
    """The robot's motion for each of the clips that are kept"""

    @property
    def people(self) -> list[HumanMotion]:
        """Return the person's motion in each stretch of the film that can be used, as `phuma.read_all` does."""
        return [lifted.motion for lifted in self.film.lifted]

    @property
    def clips(self) -> list[Clip]:
        """Return all clips with their verdicts, in the order of time."""
        return [clip for curation in self.curations for clip in curation.clips]

    @property
    def kept(self) -> list[Clip]:
        """Return the clips that curation keeps, each of which has a motion of the robot."""
        return [clip for clip in self.clips if clip.verdict.kept]

    @property
    def guesses(self) -> list[str]:
        """Return what was guessed of person and camera, each with its number and the flag that sets it; with the time
        in the film where it is not the same everywhere."""
        own = [(clock(lifted.motion.provenance.start), lifted.notes) for lifted in self.film.lifted]
        everywhere = [note for note in own[0][1] if all(note in notes for _, notes in own)]
        others = [f"from {start} on: {note}" for start, notes in own for note in notes if note not in everywhere]
        return everywhere + others

    @property
    def findings(self) -> list[str]:
        """Return what is to be said of the film, the times in it first."""
        estimate = self.film.estimate
        return [*estimate.info.notes, *(finding.text for finding in estimate.findings)]


class Listener:
    """Is told how far the work on a film is; this one says nothing of it."""

    def looked_at(self, done: int, total: int | None) -> None:
        """Hear how many frames the network has seen, of how many, if the film says how long it is."""

    def lifted(self, done: int, total: int) -> None:
        """Hear of how many frames the motion is found."""

    def say(self, text: str) -> None:
        """Hear of a download, and of what is wrong with a long film."""

    def film(self, film: FilmMotions) -> None:
        """Hear what became of the film before it is put on the robot."""

    def clips(self, clips: list[Clip]) -> Iterable[Clip]:
        """Return the clips that are put on the robot, one by one."""
        return clips


def run_video(
    path: str | os.PathLike[str],
    robot: str | Path | Robot,
    cfg: FilmCfg,
    curate_cfg: CurateCfg,
    method: str = DEFAULT_METHOD,
    start: float | None = None,
    end: float | None = None,
    listener: Listener | None = None,
) -> Video:
    """Return the clips of the person in a film, with verdicts, and a robot's motion for each that is kept."""
    to = listener or Listener()
    method = check_method(method)
    own = robot if isinstance(robot, Robot) else load_robot(robot)
    refuse_others(Path(path), own)
    film = motions_of_film(path, cfg, start, end, to.looked_at, to.say, to.lifted)
    to.film(film)
    curations = [part for lifted in film.lifted for part in curate_parts(lifted.motion, curate_cfg)]
    kept = [clip for curation in curations for clip in curation.clips if clip.verdict.kept]
    return Video(film, curations, own, [retarget(clip, own, method) for clip in to.clips(kept)])


def refuse_others(path: Path, robot: Robot) -> None:
    """Raise an error where a file is no film but something else that is known: what it is, and the next command."""
    if not path.is_file() or is_film((probe := Probe(path)).head):
        return
    if other := what_is(probe):
        raise ReadError(path, f"is {other}")
    next_command = f"phuma retarget {quote(str(path))} --robot {robot.name} --out motions"
    if is_clip(probe):
        raise ReadError(path, f"is a clip that has been curated already, not a film; run: {next_command}")
    if reader := next((r for r in READERS if probe.kind != "empty" and r.recognises(probe)), None):
        raise ReadError(path, f"is a recording ({reader.FORMAT}), not a film; run: {next_command}")


def part_of(name: str, start: float) -> str:
    """Return the name of a clip: the film's, and the time in it in milliseconds."""
    return f"{name}_{round(1000 * start):07d}"

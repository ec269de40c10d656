"""Turn a film of a person into motion of a robot: on a processor, without an account or a graphics card.

The person is followed by a pose network and lifted to a body; curation cuts clips and judges them; those that it keeps
are put on the robot. DIR gets page.html, which plays the film with the skeleton, the human and the robot in step, the
kept clips (DIR/clips), the robot's motions (DIR/motions) and video.json. Other settings of the same film take no second
pass of the network. Film one whole person with a camera that stands still: docs/video.md.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext, redirect_stdout
from pathlib import Path
from shlex import quote
from typing import Any

from phuma.cli.options import add_options, command_parser, from_options, parse_with_lock
from phuma.cli.retarget import RetargetCfg
from phuma.cli.scores import score_lines
from phuma.core.clip import Clip
from phuma.core.words import count_of, harmless
from phuma.curation import CurateCfg
from phuma.errors import ConfigError
from phuma.pipelines.video import Listener, Video, run_video
from phuma.pipelines.video_folder import PAGE, check_out, claim, config, written
from phuma.pipelines.video_page import Layer
from phuma.robots import Robot, cached_robot
from phuma.runtime.progress import progress_bar, with_progress
from phuma.sources import ReadCfg
from phuma.video.lift import LiftCfg
from phuma.video.motions import FilmCfg, FilmMotions

SHOWN = 20


def main(argv: Sequence[str]) -> int:
    """Run the command and return its exit code."""
    args = parse_with_lock(parser(), joined(argv))
    args.camera = camera_of(args.camera)
    cfg = from_options(FilmCfg, args)
    check_out(args.out)
    if args.minutes is not None and (args.policy != "new" or not 0 < args.minutes < 1e6):
        raise ConfigError(f"--minutes {args.minutes:g}: more than 0, and of --policy new alone")
    with redirect_stdout(sys.stderr) if args.json else nullcontext():
        result = work(args, cfg)
    if args.json:
        print(json.dumps({**result, "motions": [str((args.out / file).resolve()) for file in result["motions"]]}))
    return 1 if result["failed"] else 0


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command's options."""
    out = command_parser("video", __doc__)
    out.add_argument("film", type=Path, metavar="FILM", help="a film of a person: MP4, MOV, MKV, WebM, AVI, ...")
    out.add_argument("--out", type=Path, default=Path("video"), metavar="DIR", help="where all goes (default: video)")
    add_options(out, LiftCfg, ("stature", "focal"))
    add_options(out, FilmCfg, ("person", "model"))
    out.add_argument(
        "--camera", metavar="level|PITCH,ROLL",
        help="degrees by which the camera looks up and is turned clockwise; level is 0,0 (default: found)",
    )  # fmt: skip
    add_options(out, ReadCfg, ("start", "end"))
    add_options(out, CurateCfg, ("preset",))
    add_options(out, RetargetCfg, ("robot", "method"))
    further = out.add_argument_group("further")
    further.add_argument(
        "--certify", action="store_true", help="let the robot perform each kept clip under physics, and film it"
    )
    further.add_argument(
        "--policy", metavar="RUN|POLICY.onnx|new",
        help="let a policy that never saw the film follow the kept clips, and film it; new trains one for them",
    )  # fmt: skip
    further.add_argument(
        "--minutes", type=float, metavar="M",
        help="of --policy new, time to train (default: as `phuma train`, 1 and 0.15 a clip)",
    )  # fmt: skip
    out.add_argument("--json", action="store_true", help="print the result as JSON and nothing else")
    return out


def joined(argv: Sequence[str]) -> list[str]:
    """Return the words with --camera and its angles as one, as the parser would take -10,0 for an option."""
    words = list(argv)
    at = words.index("--camera") if "--camera" in words[:-1] else None
    return words if at is None else [*words[:at], f"--camera={words[at + 1]}", *words[at + 2 :]]


def camera_of(text: str | None) -> tuple[float, float] | None:
    """Return pitch and roll in degrees of the option --camera."""
    if text is None:
        return None
    if text == "level":
        return 0.0, 0.0
    try:
        pitch, roll = map(float, text.split(","))
    except ValueError:
        raise ConfigError(f"--camera {text}: expected level, or pitch and roll in degrees, as -10,0") from None
    return pitch, roll


def work(args: argparse.Namespace, cfg: FilmCfg) -> dict[str, Any]:
    """Do all of it and return what video.json holds."""
    robot_cfg, read_cfg = from_options(RetargetCfg, args), from_options(ReadCfg, args)
    curate_cfg = from_options(CurateCfg, args)
    robot = cached_robot(robot_cfg.robot)
    further = further_of(args, robot)
    with Bar(args.film) as bar:
        video = run_video(
            args.film, robot, cfg, curate_cfg, robot_cfg.method, read_cfg.start, read_cfg.end, bar
        )  # fmt: skip
    for line in report(video, robot_cfg.method):
        print(harmless(line), flush=True)
    claim(args.out, new_policy=args.policy == "new")
    result = written(args.out, args.film, video, config(cfg, robot_cfg.robot, robot_cfg.method, curate_cfg), further)
    for line in next_steps(args, video, result):
        print(line)
    return result


def further_of(args: argparse.Namespace, robot: Robot) -> Callable[[Video], tuple[dict[str, Any], list[Layer]]]:
    """Return what is done with the robot's motions under physics; what is missing for it is an error now, not after the
    film."""
    if not args.certify and not args.policy:
        return lambda video: ({}, [])
    from phuma.cli.video_follow import follow, prepared  # needs more than the film does

    policy = prepared(args.policy, robot)
    return lambda video: follow(args.film.stem, video, args.out, args.certify, policy, args.minutes)


class Bar(Listener):
    """Show the progress: frames that the network has seen, and how fast; those that are lifted; clips on the robot."""

    def __init__(self, path: Path) -> None:
        self._path, self._title = path, ""
        self._bar: Any = None
        self._began = self._last = 0.0

    def __enter__(self) -> Bar:
        return self

    def looked_at(self, done: int, total: int | None) -> None:
        """Show how many frames the network has seen."""
        self._last = time.monotonic()
        self._began = self._began or self._last
        self._show("following", done, total)

    def lifted(self, done: int, total: int) -> None:
        """Show of how many frames the motion is found."""
        self._show("lifting", done, total)

    def _show(self, title: str, done: int, total: int | None) -> None:
        if title != self._title:
            self.__exit__()
            self._bar, self._title = progress_bar("frame", total, 0, title), title
        self._bar.update(done - self._bar.n)

    def say(self, text: str) -> None:
        """Print a line between the states of the bar."""
        if self._bar is not None:
            self._bar.clear()
        print(harmless(text), file=sys.stderr, flush=True)

    def film(self, film: FilmMotions) -> None:
        """Say how the film was looked at."""
        seconds = max(self._last - self._began, 1e-9)
        fast = None if film.estimate.info.cached else (len(film.estimate.landmarks) - 1) / seconds
        self.__exit__()
        print(harmless(film_line(film, self._path, fast)), flush=True)

    def clips(self, clips: list[Clip]) -> Iterable[Clip]:
        """Show how many clips are on the robot."""
        return with_progress(clips, "clip", title="retargeting") if clips else clips

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()
        self._bar, self._title = None, ""


def film_line(film: FilmMotions, path: Path, fast: float | None) -> str:
    """Return what the film is, and how fast it was looked at, in frames a second; None if it was known."""
    landmarks, info = film.estimate.landmarks, film.estimate.info
    used = sum(len(lifted.motion) for lifted in film.lifted) / len(landmarks)
    how = "known from an earlier run" if fast is None else f"{fast:.0f} frames a second"
    width, height = landmarks.size
    return (
        f"{path.name}: {len(landmarks)} frames at {landmarks.fps:.4g} Hz, {len(landmarks) / landmarks.fps:.1f} s, "
        f"{width} x {height}; {how}; {count_of(info.people, 'person', 'people')}; "
        f"{100 * used:.0f} % can be used"
    )


def report(video: Video, method: str) -> list[str]:
    """Return what was guessed, what is to be said of the film, the verdicts, and the metrics of the robot's motions."""
    lines = [f"  {guess}" for guess in video.guesses]
    lines += ["In the film:", *(f"  {text}" for text in video.findings[:SHOWN])] if video.findings else []
    if len(video.findings) > SHOWN:
        lines.append(f"  ... and {len(video.findings) - SHOWN} more")
    clips, kept = video.clips, len(video.kept)
    lines.append(f"{count_of(len(clips), 'clip')}, {kept} kept:")
    for clip in clips:
        verdict = "kept" if clip.verdict.kept else f"rejected: {'; '.join(clip.verdict.reasons)}"
        lines.append(f"  {clip.start:.1f} to {clip.end:.1f} s  {verdict}")
    if video.motions:
        reports = [motion.report for motion in video.motions]
        lines.append(f"{count_of(len(video.motions), 'motion')} on {video.robot.name} by {method}:")
        lines += score_lines([r["metrics"] for r in reports], [r["flags"] for r in reports])
    return lines


def next_steps(args: argparse.Namespace, video: Video, result: dict[str, Any]) -> list[str]:
    """Return where the page is, and what to do next."""
    size = (args.out / PAGE).stat().st_size / 1e6
    lines = [f"Watch it: {args.out / PAGE} ({size:.1f} MB, opens in any browser)"]
    if not video.motions:
        return [
            *lines,
            "No clip was kept, so that there is no motion for the robot. --preset paper judges otherwise; --stature "
            "and --camera help where they are known; docs/video.md says how to film",
        ]
    first = quote(str(args.out / result["motions"][0]))
    if not args.certify and not args.policy:
        lines.append(
            "Go on: the same command with --certify performs it under physics, with --policy new trains for it"
        )
    return [*lines, f"Render it: phuma render {first} --out robot.mp4"]

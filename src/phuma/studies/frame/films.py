"""Films of a study: of each row and set a rollout that succeeds and one that fails, beside what it was to follow."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from phuma.formats.robot_motion_file import load_robot_motion
from phuma.formats.rollout_file import load_rollout
from phuma.pipelines.scene_building import rollout_motion
from phuma.robots import cached_robot
from phuma.studies.frame.policies import shown_name
from phuma.studies.frame.runner import SHOWN, Results
from phuma.viewer.film import film

FPS, SIZE = 10.0, (256, 160)
FOLDER = "films"
OUTCOMES = ("success", "failure")


class Shot(NamedTuple):
    """A film that is to be made."""

    rollout: str
    motion: str
    robot: str
    out: str


class Shown(NamedTuple):
    """A film and what it shows."""

    row: str
    test: str
    outcome: str
    motion: str
    path: Path


def shots_of(results: Results, root: Path) -> Iterator[tuple[Shown, Shot]]:
    """Yield all films that there can be: of the first seed's last evaluation."""
    for result in results.rows:
        if (key := result.keys.get(0)) is None or 0 not in result.trainings:
            continue
        files = {**results.files, "seen": {m["name"]: m["file"] for m in result.motions}}
        for test in results.study.tests:
            for outcome in OUTCOMES:
                rollout = root / SHOWN / f"{shown_name(key, test)}_{outcome}.npz"
                if not rollout.exists():
                    continue
                name = load_rollout(rollout).motion
                out = root / FOLDER / f"{rollout.stem}.mp4"
                shown = Shown(result.row.label, test, outcome, name, out)
                yield shown, Shot(str(rollout), files[test][name], results.robot, str(out))


def shoot(item: Shot) -> str | None:
    """Make a film unless it is there, and return why it cannot be made: without a way to draw there are none."""
    out = Path(item.out)
    if out.exists():
        return None
    out.parent.mkdir(parents=True, exist_ok=True)
    robot = cached_robot(item.robot)
    try:
        motions: list[Any] = [load_robot_motion(item.motion), rollout_motion(load_rollout(item.rollout), robot)]
        film(out, [motion.resampled(FPS) for motion in motions], [robot, robot], size=SIZE)
    except Exception as e:  # whatever a machine without graphics says, the table is there
        return f"{type(e).__name__}: {e}"
    return None


def films_of(results: Results, root: Path, run: Any) -> tuple[list[Shown], str | None]:
    """Make all films, each once, and return those that there are, with a reason where some are missing."""
    shots = list(shots_of(results, root))
    unique = list({shot.out: shot for _, shot in shots}.values())
    todo = [shot for shot in unique if not Path(shot.out).exists()]
    reasons = [done.failure or done.value for done in (run(shoot, todo) if todo else ())]
    return [shown for shown, _ in shots if shown.path.exists()], next(filter(None, reasons), None)

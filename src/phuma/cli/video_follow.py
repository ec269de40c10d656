"""What a robot does under physics with the clips of a film: an expert performs them, or a policy follows them."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from phuma.cli.certify import film_performance, told
from phuma.cli.table import aligned
from phuma.control.bundle import strands_of
from phuma.core.rollout import Rollout
from phuma.core.words import count_of
from phuma.dataset.category import categorise
from phuma.errors import PhumaError, missing_extra
from phuma.evaluation import table
from phuma.io.atomic import write_atomic
from phuma.learning.motions.library import MotionLibrary, Performance, library_of, performance_of
from phuma.learning.recipes.recipe import CPU, EXPERTS, recipe_named
from phuma.pipelines.certify import certify
from phuma.pipelines.certify_files import Performed, row_of
from phuma.pipelines.evaluate_policy import judge_rollouts, load_policy, try_out
from phuma.pipelines.evaluating.rollout_files import write_rollouts
from phuma.pipelines.experts import only_performed
from phuma.pipelines.filming import Shot, film_performers
from phuma.pipelines.performed import follower
from phuma.pipelines.scene_building import stored_performer
from phuma.pipelines.training.budget import distilling_minutes
from phuma.pipelines.training.table import Table
from phuma.pipelines.video import Video, part_of
from phuma.pipelines.video_page import Layer
from phuma.robots import Robot
from phuma.runtime.progress import with_progress
from phuma.runtime.stopping import stopping
from phuma.sim.feedforward import CERTIFIED
from phuma.viewer import style

NEW = "new"
PERFORMED, POLICY = "performed under physics", "policy"
RECIPE = "estimator"
"""The recipe of a new policy: all of its clips are certified, and none follows such as well"""


def prepared(policy: str | None, robot: Robot) -> Any:
    """Return the policy that is asked for, or `new`, or None; what is missing for it is an error now, not after the
    film."""
    try:
        import imageio  # noqa: F401
    except ModuleNotFoundError as e:
        raise missing_extra(e, "a film of the robot") from None
    if policy == NEW:
        import phuma.pipelines.train_policy  # noqa: F401
    return policy if policy in (None, NEW) else load_policy(Path(policy), robot)


def follow(
    name: str, video: Video, out: Path, show: bool, policy: Any, minutes: float | None = None
) -> tuple[dict[str, Any], list[Layer]]:
    """Perform the kept clips, let a policy follow them where one is given, write and film all that; return what is said
    of it and what the page shows. `show` films the performances too; `minutes` are those of a new policy."""
    names = [part_of(name, clip.start) for clip in video.kept]
    result: dict[str, Any] = {}
    layers: list[Layer] = []
    performed: list[Performed] = []
    if show or policy == NEW or (policy is not None and policy.info.base == CERTIFIED):
        performed = performances(names, video, gains=policy is not None)
        rows = [row_of(str(video.kept[0].motion.provenance.source), p, out / "performances") for p in performed]
        print("\n".join(told(rows)), flush=True)
        result["certified"] = [{k: v for k, v in row.items() if k != "cpu_seconds"} for row in rows]
        layers.append(layer(PERFORMED, video, [p.certificate.performance for p in performed]))
        for p in performed if show else ():
            filmed(film_performance, out, f"{p.name}_performed", p, video.robot)
    if policy is not None:
        try:
            result["policy"], rollouts = followed(names, video, performed, out, policy, minutes)
            layers.append(layer(POLICY, video, rollouts))
        except PhumaError as e:  # the film's own results are whole without it
            print(f"No policy: {e}", file=sys.stderr)
            result["failed"] = [{"source": "policy", "reason": str(e)}]
    return result, [own for own in layers if own.motions]


def performances(names: Sequence[str], video: Video, gains: bool) -> list[Performed]:
    """Return how an expert performs each motion of the robot."""
    done = []
    for name, motion in with_progress(list(zip(names, video.motions)), "clip", title="performing"):
        found = certify(motion, video.robot, gains=gains, threads=os.cpu_count() or 1, name=name)
        done.append(Performed(name, motion, found))
    return done


def followed(
    names: Sequence[str],
    video: Video,
    performed: Sequence[Performed],
    out: Path,
    policy: Any,
    minutes: float | None,
) -> tuple[dict[str, Any], list[Rollout | None]]:
    """Let a policy follow the motions, or first distil one; return what is said of it and its rollouts in order."""
    library = library_in(names, video, performed)
    if (new := policy == NEW) or policy.info.task.lawful:
        library = only_performed(library)
    if new:
        distil(library, out / "policy", minutes)
        policy = load_policy(out / "policy", video.robot)
    rollouts = list(try_out(policy, library))
    write_rollouts(out / "rollouts", rollouts)
    judged = judge_rollouts(rollouts, library)
    write_atomic(out / "rollouts" / "evaluation.json", lambda f: f.write(json.dumps(judged, indent=1).encode()))
    print(aligned(*table(judged)), flush=True)
    if new and judged["total"]["success_0.5"] < 100:
        print("The new policy does not follow every clip to its end yet; --minutes gives it longer", flush=True)
    by_name = {rollout.motion: rollout for rollout in rollouts}
    for name, motion in zip(names, video.motions):
        if name in by_name and by_name[name].fault is None:
            filmed(film_policy, out, f"{name}_policy", by_name[name], motion, video.robot)
    left_out = [{"motion": name, "reason": reason} for name, reason in library.left_out]
    told = {"total": judged["total"], "motions": judged["motions"], "left_out": left_out}
    return told, [by_name.get(name) for name in names]


def library_in(names: Sequence[str], video: Video, performed: Sequence[Performed]) -> MotionLibrary:
    """Return the motions to follow, with their performances where they were performed to the end."""
    known = {p.name: performance(p, video.robot) for p in performed if p.certificate.loosely}
    kinds = [categorise(clip.motion, clip.contact) for clip in video.kept]
    return library_of(
        video.robot, [(n, motion, kind, known.get(n)) for n, motion, kind in zip(names, video.motions, kinds)]
    )


def performance(performed: Performed, robot: Robot) -> Performance:
    """Return a performance with its feedback."""
    rollout = performed.certificate.performance
    assert rollout is not None
    return performance_of(rollout, robot, lambda: strands_of(rollout, robot, os.cpu_count() or 1))


def distil(library: MotionLibrary, out: Path, minutes: float | None) -> None:
    """Train a policy for these motions, which acts by their certificates; by default with the budget that `phuma train`
    takes for so few."""
    from phuma.pipelines.train_policy import Budget, train_policy  # slow to import

    recipe = recipe_named(RECIPE)
    minutes = minutes or distilling_minutes(len(library), recipe.patience)
    print(f"Training a policy for {count_of(len(library), 'clip')}: {minutes:g} minutes", flush=True)
    cfg = recipe.settings(CPU, 0, EXPERTS)
    with stopping() as stopped:
        train_policy(library, out, cfg, Budget(minutes=minutes), {"film": True}, "cpu", lambda: bool(stopped), Table())
    if stopped:
        raise KeyboardInterrupt


def film_policy(shot: Shot, rollout: Rollout, motion: Any, robot: Robot) -> None:
    """Write a film of a policy's rollout beside the motion that it follows; it turns red where it ended early."""
    from phuma.viewer.scene import Appearance

    who = follower(POLICY, POLICY, rollout, motion.reordered(robot.joint_names), robot)
    performers = [stored_performer(motion, robot), who]
    colours = [Appearance(colour, p.ended) for p, colour in zip(performers, style.PERFORMERS)]
    film_performers(shot, performers, motion.human_joints is not None, colours, apart=True)


def filmed(write: Callable[..., None], out: Path, name: str, *what: Any) -> None:
    """Write a film to the folder; where nothing can be drawn that is said, and the rest is done."""
    (out / "films").mkdir(exist_ok=True)
    try:
        write(Shot(out / "films" / f"{name}.mp4"), *what)
    except PhumaError as e:
        print(f"Not filmed: {name}: {e}", file=sys.stderr)


def layer(title: str, video: Video, rollouts: Sequence[Rollout | None]) -> Layer:
    """Return rollouts at their times in the film."""
    return Layer(title, [(c.start, r) for c, r in zip(video.kept, rollouts) if r is not None and len(r.qpos)])

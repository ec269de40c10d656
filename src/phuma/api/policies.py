"""Train and judge policies: `phuma train` and `phuma evaluate` as functions, with the commands' own defaults."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from phuma.api.sources import AnyPath, AnyRobot, chosen, only_known, robot_spec
from phuma.dataset.dataset import Dataset
from phuma.errors import PhumaError


def train(
    dataset: AnyPath | Dataset,
    out: AnyPath,
    robot: AnyRobot | None = None,
    *,
    minutes: float | None = None,
    steps: int | None = None,
    where: str | None = None,
    split: str | None = None,
    resume: bool = False,
    **options: Any,
) -> Path:
    """Train a policy that makes a robot do the clips of a dataset, or of a part of one, under physics; return its run.

    By default it is distilled from experts, in minutes; `begin="scratch"` learns by trial and error. Further options
    are those of the command with `_` for `-`: algo, preset, stage, teacher, finetune, randomize, observations, base,
    seed, device, jobs and others; `phuma train --help` says what each is. It prints what the command prints.

    >>> run = phuma.train("g1", out="tracker", begin="scratch", preset="tiny", steps=64, split="all")
    Clips of g1: 2, ...
    The run is in tracker. What to do with it:
    ...
    >>> (run / "run.json").exists()
    True
    """
    from phuma.pipelines.training.options import TrainCfg
    from phuma.pipelines.training.train import train as run

    root, where = chosen(dataset, where)
    given = {"minutes": minutes, "steps": steps, "where": where, "split": split, "resume": resume, **options}
    if run(TrainCfg(root, Path(out), _spec(robot), **_chosen(TrainCfg, "train", given))):
        raise PhumaError(
            f"{out} is trained, but some clips of {root} could not be read; `phuma verify {root}` names all"
        )
    return Path(out)


def evaluate(
    policy: AnyPath,
    dataset: AnyPath | Dataset,
    robot: AnyRobot | None = None,
    *,
    split: str | None = None,
    where: str | None = None,
    episodes: int = 1,
    **options: Any,
) -> dict[str, Any]:
    """Measure how well a policy, a run or a policy.onnx, tracks the clips of a dataset, or of a part of one.

    Returns what `phuma evaluate --json` prints: success rates and errors in `total` and by `categories`, and a row for
    each of `motions`. Without `split` and `where` those clips are taken that the policy was trained for and has not
    seen; where there are none, those that it learned from. Further options are those of the command with `_` for `-`.

    >>> judged = phuma.evaluate("tracker", "g1", split="all")
    >>> judged["total"]["motions"], judged["split"]
    (2, 'all')
    """
    from phuma.pipelines.evaluating.evaluate import evaluate as run
    from phuma.pipelines.evaluating.options import EvaluateCfg

    root, where = chosen(dataset, where)
    given = {"split": split, "where": where, "episodes": episodes, **options}
    chosen_options = _chosen(EvaluateCfg, "evaluate", given, beside=("json",))
    return run(EvaluateCfg(Path(policy), root, _spec(robot), **chosen_options)).document


def _spec(robot: AnyRobot | None) -> str | None:
    """Return what names a robot; None for none."""
    return None if robot is None else robot_spec(robot)


def _chosen(cfg: type, name: str, given: dict[str, Any], beside: Sequence[str] = ()) -> dict[str, Any]:
    """Return the options that are given, of those that a function has; `beside` are accepted and mean nothing to it."""
    only_known(given, {*(field.name for field in fields(cfg)), *beside}, name)
    chosen = {option: value for option, value in given.items() if value is not None and option not in beside}
    return {option: Path(value) if option == "out" else value for option, value in chosen.items()}

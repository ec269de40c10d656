"""Find the policy whose labels a stage learns from: of an earlier stage of its run, or of another run."""

from __future__ import annotations

from pathlib import Path

from phuma.errors import ConfigError
from phuma.learning.deploy.torch_policy import TorchPolicy, policy_of_run
from phuma.learning.recipes.recipe import recipe_named
from phuma.learning.run.folder import RunFolder, RunInfo
from phuma.robots import Robot

SAME = ("frames", "stride", "history", "differences", "substeps", "control_rate", "stiffness", "action_scale")
"""What a teacher and its student have to have in common, by the names of a policy's description"""
WITHOUT = "`phuma evaluate`, `phuma play` and `phuma policy export` do without it"


def teacher_of(folder: RunFolder, robot: Robot, info: RunInfo, stage: str) -> TorchPolicy:
    """Return the policy that labels what a stage of the run in `folder` does; one that is not there is an error."""
    named = str(info.cfg.teacher_of(stage))
    if named not in info.cfg.stages:
        return outside_teacher(Path(named), robot, info, stage)
    if not (file := folder.checkpoint(named)).exists():
        raise ConfigError(
            f"{folder.root} has no {file.name}: its {stage} goes on learning from that {named}; put the file back, or "
            f"begin a new run by another --out. {WITHOUT}"
        )
    return policy_of_run(folder, robot, named)


def outside_teacher(path: Path, robot: Robot, info: RunInfo, stage: str) -> TorchPolicy:
    """Return the policy of another run that is to label a stage's actions; one that does not fit is an error that says
    what would."""
    folder, recipe = RunFolder(path), recipe_named(info.cfg.algo)
    if not folder.description.exists():
        raise ConfigError(
            f"--teacher {path}: the run that the {stage} learns from is no longer there; put it back, or begin a new "
            f"run by another --teacher. {WITHOUT}"
        )
    run = folder.info()
    begun = [name for name in run.cfg.stages if folder.checkpoint(name).exists()]
    fitting = [name for name in begun if name in recipe.stages[stage].teachers]
    if run.cfg.algo != info.cfg.algo or not fitting:
        wanted = " or ".join(recipe.stages[stage].teachers)
        raise ConfigError(
            f"--teacher {path} is a run of {run.cfg.algo} with {', '.join(begun) or 'no stage'}; a {stage} of "
            f"{info.cfg.algo} learns from its {wanted}: train one by --algo {info.cfg.algo} --stage teacher"
        )
    theirs, own = run.policy(fitting[-1]), info.policy(stage)
    if theirs.robot != robot.name:
        raise ConfigError(f"--teacher {path} is of robot {theirs.robot}; these clips are of {robot.name}")
    for name in SAME:
        if getattr(theirs, name) != getattr(own, name):
            raise ConfigError(
                f"--teacher {path} has other {name} ({getattr(theirs, name)}) than the {stage} ({getattr(own, name)}); "
                "give a teacher that was trained with the same --preset"
            )
    return policy_of_run(folder, robot, fitting[-1])

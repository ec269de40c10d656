"""Train a policy that makes a robot track the clips of a dataset under physics.

From experts, clips that were not certified yet are certified first, into the dataset, and a policy is distilled from
the performances, in minutes; from scratch it learns by trial and error, in hours. Clips that cannot be followed are
left out and named. RUN gets run.json (its settings), checkpoint_STAGE.npz (each minute and at the end) and curves for
TensorBoard. Ctrl-C ends it with a checkpoint; the same command with --resume continues from there. --minutes and
--steps count for the whole run, without the experts and without --finetune.
"""

from __future__ import annotations

import argparse
import os
import shlex
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, redirect_stdout
from dataclasses import replace
from pathlib import Path
from typing import Any

from phuma.cli.certify import Bar, limited_runner
from phuma.cli.options import add_ray_option, command_parser, parse_with_lock
from phuma.cli.progress import with_progress
from phuma.cli.table import harmless
from phuma.cli.training_notes import SHOWN, advice, described, next_steps, penalty_notes, resume_line, start_lines
from phuma.cli.training_table import Table, clock, stopping
from phuma.dataset.dataset import Dataset
from phuma.errors import ConfigError
from phuma.learning.env.conditions import CONDITIONS
from phuma.learning.recipes.recipe import (
    CPU,
    DEPLOY,
    EXPERTS,
    FINETUNED,
    PAPER,
    SCRATCH,
    RunCfg,
    StageCfg,
    recipe_named,
    recipe_names,
)
from phuma.learning.run.folder import RunFolder
from phuma.pipelines.evaluate_policy import dataset_library, exit_code, robot_named
from phuma.pipelines.experts import certify_missing, only_performed
from phuma.robots import Robot, load_robot
from phuma.runtime.distributed import decided, joined, number
from phuma.sim.feedforward import BASES, CERTIFIED

MINUTES = 30.0
"""The minutes of training where neither --minutes nor --steps is given; of experts' few clips fewer."""
FEW = (3.0, 0.2)
"""Minutes of a stage's distillation in any case, and those that each clip adds"""
ROBOT, ALGO = "g1", "beyondmimic"
MOST = 1e12  # steps or minutes
REMEMBERED = 10
"""Control steps from which a policy that is distilled with randomization estimates its velocity"""
OBSERVATIONS = {"paper": False, "differences": True}
"""Whether differences are observed, by the option's value"""
OPTIONS = {"begin": "from"}
"""Names of options that are other words in Python"""


def main(argv: Sequence[str]) -> int:
    """Run the command and return its exit code."""
    return run(parse_with_lock(parser(), argv, ROBOT))


def run(args: argparse.Namespace) -> int:
    """Check the options, train, and return the command's exit code."""
    check_numbers(args)
    check_out(args)
    with joined(args.device) as args.device, ExitStack() as quiet:
        if number():  # of several processes only the first says what happens
            quiet.enter_context(redirect_stdout(quiet.enter_context(open(os.devnull, "w"))))
        return train(args)


def train(args: argparse.Namespace) -> int:
    """Train as the options say, alone or beside other processes, and return the command's exit code."""
    folder = RunFolder(args.out)
    if args.resume:
        cfg, where, split = None, *resumed_data(folder, args)
        info = folder.info()
        named, stages = info.last.robot, info.cfg.stages
        robot = load_robot(args.robot) if args.robot else robot_named(named)
    else:
        folder.check_free()
        cfg, where, split = configuration(args), args.where, args.split or "train"
        stages = cfg.stages
        robot = load_robot(args.robot or ROBOT)

    from phuma.pipelines.train_policy import Budget, train_policy  # slow to import

    check_device(args.device)
    decided(0, args.device)  # no process begins a run that another one has not found free
    dataset, own_split = Dataset(args.dataset), None if split == "all" else split
    algo = own_algo(args, folder)
    taught = taught_by_experts(algo, stages) or (cfg or folder.info().cfg).teacher == EXPERTS
    if taught:
        if number() == 0:
            find_experts(dataset, robot, where, own_split, args)
        decided(0, args.device)
        dataset = Dataset(args.dataset)
    performed = taught or any(
        own.environment.base == CERTIFIED or recipe_named(algo).task(name, own.environment).performed
        for name, own in stages.items()
    )
    library = dataset_library(dataset, robot, where, own_split, reading_bar, performed)
    if taught:
        library = only_performed(library)
    for line in [*described(library), *advice(dataset.description.config), *penalty_notes(library, algo, stages)]:
        print(line, flush=True)
    stages_taught = len(stages) - (FINETUNED in stages)
    patience = recipe_named(algo).patience * stages_taught
    minutes = min(MINUTES, patience * (FEW[0] + FEW[1] * len(library))) if taught else MINUTES
    budget = Budget(args.steps, minutes if args.minutes is None and args.steps is None else args.minutes)
    if FINETUNED in stages:
        budget = finetuning_budget(budget, args.finetune, stages)
    if args.resume:
        steps, seconds = folder.reached()
        print(resume_line(steps, seconds, budget.used(steps, seconds) >= 1), flush=True)
    print("\n".join(start_lines(budget, cfg, args.device)), flush=True)
    data = {"dataset": args.dataset.resolve().name, "split": split, "where": where}
    table = Table()
    with stopping() as stopped:
        train_policy(library, args.out, cfg, budget, data, args.device, lambda: bool(stopped), table)
    print(f"The run is in {args.out}. What to do with it:")
    for line in next_steps(args, dataset, robot, where, split):
        print(line)
    if stopped:
        raise KeyboardInterrupt
    if code := exit_code(library):
        print(f"Some clips could not be read; all of them are named by phuma verify {shlex.quote(str(args.dataset))}")
    return code


def find_experts(
    dataset: Dataset, robot: Robot, where: str | None, split: str | None, args: argparse.Namespace
) -> None:
    """Certify the clips that were not certified yet, and print what came of it."""
    began = time.monotonic()
    with Bar("experts") as bar:
        failed = certify_missing(dataset, robot, where, split, limited_runner(args), bar)
    for name, reason in failed[:SHOWN]:
        print(harmless(f"Not done: {name}: {reason}"))
    if bar.done:
        print(f"Experts: {bar.done} performed in {clock(time.monotonic() - began)}", flush=True)


def taught_by_experts(algo: str, stages: Mapping[str, StageCfg]) -> bool:
    """Return whether a stage learns from experts."""
    return any(recipe_named(algo).taught_by(name, cfg) == EXPERTS for name, cfg in stages.items())


def own_algo(args: argparse.Namespace, folder: RunFolder) -> str:
    """Return the name of the run's recipe."""
    return folder.info().cfg.algo if args.resume else args.algo or ALGO


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command's options."""
    out = command_parser("train", __doc__)
    out.add_argument("dataset", type=Path, metavar="DATASET", help="a folder made by `phuma build` or `phuma import`")
    out.add_argument("--out", required=True, type=Path, metavar="RUN", help="the run's folder")
    out.add_argument(
        "--robot",
        help=f"g1, h1_2, or a folder with model.xml and robot.json (default: {ROBOT}, or the run's with --resume)",
    )
    out.add_argument("--where", metavar="SQL", help="only clips like \"category = 'walk'\"")
    out.add_argument("--split", choices=("train", "all"), help="the clips to learn from (default: train)")
    out.add_argument(
        "--minutes", type=float, metavar="M",
        help=f"time to train (default: {FEW[0]:g} and {FEW[1]:g} a clip from experts for each stage, at most "
        f"{MINUTES:g}; from scratch {MINUTES:g})",
    )  # fmt: skip
    out.add_argument(
        "--steps", type=whole_number, metavar="N",
        help="environment steps to train, instead of --minutes; rounded up to whole updates",
    )  # fmt: skip
    out.add_argument("--jobs", type=int, metavar="N", help="processes that certify (default: one for each processor)")
    add_ray_option(out, "certify")
    out.add_argument("--device", default="cpu", help="cpu, or cuda, which needs phuma[warp] (default: cpu)")
    out.add_argument("--resume", action="store_true", help="continue the run in RUN, with its settings")
    out.add_argument(
        "--finetune", type=float, metavar="M",
        help=f"from {EXPERTS}: go on with PPO for so many minutes more; the policy never ends worse than it was",
    )  # fmt: skip
    add_new_run_options(out.add_argument_group("a new run"))
    return out


def add_new_run_options(new: argparse._ArgumentGroup) -> None:
    """Add the options that a run is begun with, and keeps."""
    new.add_argument(
        "--from", dest="begin", metavar="|".join((EXPERTS, SCRATCH)),
        help=f"{EXPERTS}: distil certified performances; {SCRATCH}: learn by PPO alone (default: {EXPERTS} where the "
        "recipe can)",
    )  # fmt: skip
    new.add_argument("--algo", help=f"the recipe: {', '.join(recipe_names())} (default: {ALGO})")
    new.add_argument(
        "--stage", metavar="teacher|student",
        help="one of the stages alone, of a recipe that has a teacher and a student (default: one after the other)",
    )  # fmt: skip
    new.add_argument(
        "--teacher", metavar=f"RUN|{EXPERTS}", help="what a student alone learns from: a run, or certified performances"
    )
    new.add_argument(
        "--condition", metavar="C",
        help=f"what a masked student is told: {', '.join(CONDITIONS)} (default: the preset's)",
    )  # fmt: skip
    new.add_argument(
        "--preset",
        help=f"{CPU}, {PAPER}: sizes of networks and settings of learning; {DEPLOY}: as {CPU}, but a policy that other "
        f"projects' programs can run (default: {CPU})",
    )
    new.add_argument(
        "--randomize", action="store_true", default=None,
        help="randomize physics, add noise and pushes as in the paper's table; always on with --preset paper",
    )  # fmt: skip
    new.add_argument(
        "--no-future", action="store_true", default=None, help="a policy that does not see the coming 1.9 s"
    )
    new.add_argument(
        "--observations", choices=tuple(OBSERVATIONS),
        help="what the policy observes: the paper's, or differences from the reference too (default: the preset's)",
    )  # fmt: skip
    new.add_argument(
        "--base",
        help=f"what an action is added to: {', '.join(BASES)} (default: the preset's; see docs/formats/training.md)",
    )
    new.add_argument("--seed", type=int, metavar="N", help="seed of all random numbers (default: 0)")


def check_numbers(args: argparse.Namespace) -> None:
    """Raise a ConfigError for options that are out of range."""
    if args.minutes is not None and args.steps is not None:
        raise ConfigError("--minutes and --steps: give one of them")
    if args.finetune is not None and args.steps is not None:
        raise ConfigError("--finetune is in minutes: give --minutes instead of --steps with it")
    for name in ("minutes", "steps", "finetune"):
        value = getattr(args, name)
        if value is not None and not 0 < value < MOST:
            raise ConfigError(f"--{name} {value:g}; expected more than 0 and less than {MOST:g}")
    if args.device.partition(":")[0] not in ("cpu", "cuda"):
        raise ConfigError(f"--device {args.device!r}; expected cpu, cuda, or one of several like cuda:1")
    if args.seed is not None and not 0 <= args.seed < 2**32:
        raise ConfigError(f"--seed {args.seed}; expected 0 to {2**32 - 1}")


def whole_number(text: str) -> int:
    """Return the whole number that an option states, as 4000000, 4e6 or 4_000_000."""
    value = float(text)
    if not value.is_integer():
        raise ValueError(text)
    return int(value)


def check_out(args: argparse.Namespace) -> None:
    """Raise a ConfigError for a run inside the dataset, which holds only what its manifest names."""
    if args.dataset.resolve() in (args.out.resolve(), *args.out.resolve().parents):
        raise ConfigError(f"--out {args.out} lies in the dataset {args.dataset}; choose a folder outside of it")


def check_device(device: str) -> None:
    """Raise a ConfigError for a device that torch does not find; torch has to be installed."""
    import torch

    if device != "cpu" and not torch.cuda.is_available():
        raise ConfigError(f"--device {device}: torch finds no GPU here; leave it out to train on the CPU")


def configuration(args: argparse.Namespace) -> RunCfg:
    """Return the settings of a new run."""
    begin = args.begin
    if args.finetune is not None:
        if begin not in (None, EXPERTS):
            raise ConfigError(f"--finetune goes on after --from {EXPERTS}; --from {begin} is PPO already")
        begin = FINETUNED
    recipe = recipe_named(args.algo or ALGO)
    cfg = recipe.settings(args.preset or CPU, args.seed or 0, begin, own_stage(args), own_teacher(args))
    if args.condition is not None:
        cfg = with_condition(cfg, args.condition)
    given: dict[str, Any] = {
        "randomize": args.randomize,
        "base": args.base,
        "differences": OBSERVATIONS.get(args.observations),
    }
    if args.no_future:
        given["future"] = False
    if args.randomize and args.preset != DEPLOY and taught_by_experts(cfg.algo, cfg.stages):
        given["history"] = REMEMBERED
    return cfg.with_environment(**{name: value for name, value in given.items() if value is not None})


def with_condition(cfg: RunCfg, condition: str) -> RunCfg:
    """Return the settings with what masked stages are told; a run without one is an error."""
    masked = [n for n, own in cfg.stages.items() if recipe_named(cfg.algo).task(n, own.environment).masking]
    if not masked:
        raise ConfigError(f"--condition {condition}: {' and '.join(cfg.stages)} of {cfg.algo} is told everything")
    changed = {
        n: replace(own, environment=replace(own.environment, condition=condition)) if n in masked else own
        for n, own in cfg.stages.items()
    }
    return replace(cfg, stages=changed)


def own_stage(args: argparse.Namespace) -> str | None:
    """Return the stage that is asked for alone; by trial and error, a teacher is what the recipe calls a tracker."""
    return "tracker" if args.stage == "teacher" and args.begin == SCRATCH else args.stage


def own_teacher(args: argparse.Namespace) -> str | None:
    """Return what a student alone learns from: experts, or the folder of a run."""
    if args.teacher is None or args.teacher == EXPERTS:
        return args.teacher
    if args.stage != "student":
        raise ConfigError("--teacher goes with --stage student: all else has its own")
    return str(Path(args.teacher).resolve())


def finetuning_budget(budget: Any, minutes: float, stages: Mapping[str, StageCfg]) -> Any:
    """Return the budget of a run, a `train_policy.Budget`, with so many minutes more for its last stage."""
    assert budget.minutes is not None
    *before, last = stages
    shares = {name: budget.minutes / len(before) for name in before} | {last: minutes}
    return replace(budget, minutes=budget.minutes + minutes, shares=shares)


def resumed_data(folder: RunFolder, args: argparse.Namespace) -> tuple[str | None, str]:
    """Return the condition and the split that a run was begun with; options that would make another run of it are an
    error."""
    info = folder.info()
    cfg, where, split = info.cfg, info.last.data.get("where"), info.last.data.get("split") or "train"
    way = recipe_named(cfg.algo).way_of(cfg)
    begin = EXPERTS if way == FINETUNED else way
    if (way == FINETUNED) != (args.finetune is not None):
        told = "was begun with --finetune: give it again" if way == FINETUNED else "was begun without --finetune"
        raise ConfigError(f"the run in {folder.root} {told}")
    environment = next(iter(cfg.stages.values())).environment
    observations = next(name for name, value in OBSERVATIONS.items() if value == environment.differences)
    own = {
        "where": where, "algo": cfg.algo, "randomize": environment.randomize, "no_future": not environment.future,
        "base": environment.base, "seed": cfg.seed, "split": split, "begin": begin, "observations": observations,
        "condition": list(cfg.stages.values())[-1].environment.condition,
    }  # fmt: skip
    other = [name for name, value in own.items() if getattr(args, name) not in (None, value)]
    other += ["stage"] * (args.stage is not None and tuple(cfg.stages) != (own_stage(args),))
    other += ["teacher"] * (args.teacher is not None and own_teacher(args) != cfg.teacher)
    if args.preset is not None:
        other += ["preset"] * (not of_preset(cfg, args.preset))
    if other:
        names = ", ".join(f"--{OPTIONS.get(name, name.replace('_', '-'))}" for name in other)
        raise ConfigError(
            f"{names}: the run in {folder.root} was begun otherwise and goes on as it was; leave that out"
        )
    return where, split


def of_preset(cfg: RunCfg, preset: str) -> bool:
    """Return whether a run has the settings of a preset but for what options change."""
    stages = recipe_named(cfg.algo).presets.get(preset, {})
    changed = ("randomize", "future", "base", "differences", "history", "condition")
    for name, own in cfg.stages.items():
        if name not in stages:
            return False
        beside = {option: getattr(own.environment, option) for option in changed}
        if replace(stages[name], environment=replace(stages[name].environment, **beside)) != own:
            return False
    return True


def reading_bar(entries: list) -> Iterator:
    """Yield entries with a progress bar."""
    return with_progress(entries, "clip", title="reading")

"""Train a policy that makes a robot track the clips of a dataset under physics.

From experts, clips that were not certified yet are certified first, into the dataset, and a policy is distilled from
the performances, in minutes; from scratch it learns by trial and error, in hours. Clips that cannot be followed are
left out and named. RUN gets run.json (its settings), checkpoint_STAGE.npz (each minute and at the end) and curves for
TensorBoard. Ctrl-C ends it with a checkpoint; the same command with --resume continues from there. --minutes and
--steps count for the whole run, without the experts and without --finetune.
"""

from __future__ import annotations

import argparse
import shlex
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from phuma.cli.certify import Bar, limited_runner
from phuma.cli.options import add_ray_option, command_parser
from phuma.cli.table import harmless
from phuma.cli.training_table import Table, clock, stopping
from phuma.dataset.dataset import Dataset
from phuma.errors import ConfigError
from phuma.learning.algorithms.config import PPOCfg
from phuma.learning.env.following import punished
from phuma.learning.motions.library import MotionLibrary
from phuma.learning.recipes.recipe import (
    CPU,
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
from phuma.pipelines.evaluate_policy import chosen_clips, dataset_library, exit_code, robot_named
from phuma.pipelines.experts import certify_missing, only_performed
from phuma.robots import Robot, built_in_robots, load_robot
from phuma.sim.feedforward import BASES, CERTIFIED
from phuma.sim.model import CONTROL_RATE

MINUTES = 30.0
"""The minutes of training where neither --minutes nor --steps is given; of experts' few clips fewer."""
FEW = (1.0, 0.15)
"""Minutes of distillation in any case, and those that each clip adds"""
ROBOT, ALGO = "g1", "beyondmimic"
MOST = 1e12  # steps or minutes
SLOW = 50_000  # environment steps of an update that take a CPU many seconds
REMEMBERED = 10
"""Control steps from which a policy that is distilled with randomization estimates its velocity"""
OBSERVATIONS = {"paper": False, "differences": True}
"""Whether differences are observed, by the option's value"""
OPTIONS = {"begin": "from"}
"""Names of options that are other words in Python"""
SHOWN = 5  # clips that are named per reason for which they are left out


def main(argv: Sequence[str]) -> int:
    """Run the command and return its exit code."""
    args = parser().parse_args(argv)
    folder = RunFolder(args.out)
    check_numbers(args)
    check_out(args)
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
    dataset, own_split = Dataset(args.dataset), None if split == "all" else split
    algo = own_algo(args, folder)
    taught = taught_by_experts(algo, stages)
    if taught:
        find_experts(dataset, robot, where, own_split, args)
        dataset = Dataset(args.dataset)
    performed = taught or any(cfg.environment.base == CERTIFIED for cfg in stages.values())
    library = dataset_library(dataset, robot, where, own_split, reading_bar, performed)
    if taught:
        library = only_performed(library)
    for line in [*described(library), *advice(dataset.description.config), *penalty_notes(library, algo, stages)]:
        print(line, flush=True)
    minutes = min(MINUTES, FEW[0] + FEW[1] * len(library)) if taught else MINUTES
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
    place = args.robot if robot.name not in built_in_robots() else None
    with Bar("experts") as bar:
        failed = certify_missing(dataset, robot, place, where, split, limited_runner(args), bar)
    for name, reason in failed[:SHOWN]:
        print(harmless(f"Not done: {name}: {reason}"))
    if bar.done:
        print(f"Experts: {bar.done} performed in {clock(time.monotonic() - began)}", flush=True)


def taught_by_experts(algo: str, stages: Mapping[str, StageCfg]) -> bool:
    """Return whether a stage learns from experts."""
    return any(recipe_named(algo).stages[name].teacher == EXPERTS for name in stages)


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
        help=f"time to train (default: {FEW[0]:g} and {FEW[1]:g} a clip from experts, at most {MINUTES:g}; from "
        f"scratch {MINUTES:g})",
    )  # fmt: skip
    out.add_argument(
        "--steps", type=whole_number, metavar="N",
        help="environment steps to train, instead of --minutes; rounded up to whole updates",
    )  # fmt: skip
    out.add_argument("--jobs", type=int, metavar="N", help="processes that certify (default: one for each processor)")
    add_ray_option(out, "certify")
    out.add_argument("--device", default="cpu", help="cpu, or cuda, which needs phuma[warp] (default: cpu)")
    out.add_argument("--resume", action="store_true", help="continue the run in RUN, with its settings")
    new = out.add_argument_group("a new run")
    new.add_argument(
        "--from", dest="begin", metavar="|".join((EXPERTS, SCRATCH)),
        help=f"{EXPERTS}: distil certified performances; {SCRATCH}: learn by PPO alone (default: {EXPERTS} where the "
        "recipe can)",
    )  # fmt: skip
    out.add_argument(
        "--finetune", type=float, metavar="M",
        help=f"from {EXPERTS}: go on with PPO for so many minutes more; the policy never ends worse than it was",
    )  # fmt: skip
    new.add_argument("--algo", help=f"the recipe: {', '.join(recipe_names())} (default: {ALGO})")
    new.add_argument("--preset", help=f"{CPU}, {PAPER}: sizes of networks and settings of learning (default: {CPU})")
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
    return out


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
    cfg = recipe_named(args.algo or ALGO).settings(args.preset or CPU, args.seed or 0, begin)
    given: dict[str, Any] = {
        "randomize": args.randomize,
        "base": args.base,
        "differences": OBSERVATIONS.get(args.observations),
    }
    if args.no_future:
        given["future"] = False
    if args.randomize and taught_by_experts(cfg.algo, cfg.stages):
        given["history"] = REMEMBERED
    return cfg.with_environment(**{name: value for name, value in given.items() if value is not None})


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
    way = next((name for name, way in recipe_named(cfg.algo).ways.items() if way == tuple(cfg.stages)), None)
    begin = EXPERTS if way == FINETUNED else way
    if (way == FINETUNED) != (args.finetune is not None):
        told = "was begun with --finetune: give it again" if way == FINETUNED else "was begun without --finetune"
        raise ConfigError(f"the run in {folder.root} {told}")
    environment = next(iter(cfg.stages.values())).environment
    observations = next(name for name, value in OBSERVATIONS.items() if value == environment.differences)
    own = {
        "where": where, "algo": cfg.algo, "randomize": environment.randomize, "no_future": not environment.future,
        "base": environment.base, "seed": cfg.seed, "split": split, "begin": begin, "observations": observations,
    }  # fmt: skip
    other = [name for name, value in own.items() if getattr(args, name) not in (None, value)]
    if args.preset is not None:
        beside = {
            name: getattr(environment, name) for name in ("randomize", "future", "base", "differences", "history")
        }
        preset = recipe_named(cfg.algo).settings(args.preset, cfg.seed, way).with_environment(**beside)
        other += ["preset"] * (preset != cfg)
    if other:
        names = ", ".join(f"--{OPTIONS.get(name, name.replace('_', '-'))}" for name in other)
        raise ConfigError(
            f"{names}: the run in {folder.root} was begun otherwise and goes on as it was; leave that out"
        )
    return where, split


def reading_bar(entries: list) -> Iterator:
    """Yield entries with a progress bar."""
    from tqdm import tqdm

    return iter(tqdm(entries, unit="clip", desc="reading", disable=None, file=sys.stderr, leave=False))


def described(library: MotionLibrary) -> list[str]:
    """Return lines on the clips of a library, and on those that are left out and why."""
    seconds = library.frames / CONTROL_RATE
    lines = [f"Clips of {library.robot.name}: {len(library)}, {seconds / 60:.1f} minutes"]
    if library.left_out:
        lines.append(f"Left out: {len(library.left_out)} of {len(library) + len(library.left_out)}")
        kinds = Counter(kind_of(reason) for _, reason in library.left_out)
        for kind, count in kinds.most_common():
            own = [(name, reason) for name, reason in library.left_out if kind_of(reason) == kind]
            lines += [harmless(f"  {name}: {reason}") for name, reason in own[:SHOWN]]
            if count > SHOWN:
                lines.append(harmless(f"  ... and {count - SHOWN} more that {kind}"))
    return lines


def advice(built: Mapping[str, Any]) -> list[str]:
    """Return a note if the way in which a dataset was built makes its clips hard to track."""
    curated = built.get("curate", {})
    contacts = curated.get("contacts")
    if contacts is None:  # a dataset of an earlier version
        swings_known = built.get("contact_speed") is not None or curated.get("preset") == "dynamic"
    else:
        swings_known = contacts != "paper"
    if "physink" not in str(built.get("method")) or swings_known:
        return []
    return [
        "Note: feet that swing low are held to stand in these clips, so that legs leap in steps. A dataset built with "
        "--contacts stance is learned better: docs/learning.md"
    ]


def penalty_notes(library: MotionLibrary, algo: str, stages: Mapping[str, StageCfg]) -> list[str]:
    """Return a note on clips that nobody can follow without being punished for it, where a stage learns by reward."""
    recipe, worst = recipe_named(algo), 0
    for stage, cfg in stages.items():
        if isinstance(cfg.algorithm, PPOCfg):
            worst = max(worst, len(punished(library, recipe.task(stage, cfg.environment))))
    if not worst:
        return []
    return [
        f"Note: in {worst} of {len(library)} clips even perfect following is punished somewhere, by the paper's "
        "penalty for joints beyond 90 % of their range; --preset cpu penalises only what is beyond the reference, too"
    ]


def kind_of(reason: str) -> str:
    """Return the words of a reason without its numbers."""
    return " ".join(word for word in reason.split(":")[0].split() if not any(c.isdigit() for c in word))


def resume_line(steps: int, seconds: float, over: bool) -> str:
    """Return where a resumed run continues, or that it has nothing to do."""
    where = f"{steps:,} environment steps and {clock(seconds)}"
    if over:
        return f"The run has {where} already: nothing to do, as --steps and --minutes are of the whole run"
    return f"Going on from {where}" if steps else "There is no checkpoint with a step in it: beginning anew"


def start_lines(budget: Any, cfg: RunCfg | None, device: str) -> list[str]:
    """Return lines on how long training takes; `budget` is a `train_policy.Budget`."""
    how = f"{budget.steps:,} environment steps" if budget.steps is not None else f"{budget.minutes:g} minutes"
    lines = [f"Training for {how} in all; Ctrl-C ends it with a checkpoint, --resume goes on"]
    first = None if cfg is None else next(iter(cfg.stages.values()))
    if first is not None and device == "cpu" and (update := first.steps_per_update) > SLOW:
        lines.append(f"Note: the first row comes after an update of {update:,} steps, which takes a CPU minutes")
    return lines


def next_steps(args: argparse.Namespace, dataset: Dataset, robot: Robot, where: str | None, split: str) -> list[str]:
    """Return commands for this run, ready to be typed."""
    run, data = shlex.quote(str(args.out)), shlex.quote(str(args.dataset))
    own = "" if robot.name in built_in_robots() else f" --robot {shlex.quote(str(args.robot))}"
    chosen = (f" --where {shlex.quote(where)}" if where else "") + own
    try:
        chosen_clips(dataset, robot, where, "test")
        judged = f"phuma evaluate {run} {data}{chosen}", "how well it tracks, on clips that it has not seen"
        if split == "all":
            judged = f"phuma evaluate {run} {data} --split all{chosen}", "how well it tracks the clips"
    except ConfigError:
        judged = f"phuma evaluate {run} {data} --split train{chosen}", "how well it tracks; there are no others in test"
    commands = [
        judged,
        (f"phuma play {run} {data}{chosen}", "watch it"),
        (f"phuma policy export {run} --out policy.onnx{own}", "export it"),
        (f"tensorboard --logdir {run}", "curves"),
    ]
    width = max(len(command) for command, _ in commands)
    return [f"  {command:{width}}  {about}" for command, about in commands]

"""Train a policy that makes a robot do, under physics, what the clips of a dataset show.

Uses the train split. Clips that no robot can be asked to follow are left out and named. RUN gets run.json (what it is
made of), checkpoint.npz (each minute and at the end) and curves for TensorBoard. Ctrl-C ends it with a checkpoint; the
same command with --resume goes on from there. --minutes and --steps are of the whole run.
"""

from __future__ import annotations

import argparse
import shlex
import signal
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from phuma.cli.options import command_parser
from phuma.cli.table import harmless
from phuma.dataset.dataset import Dataset
from phuma.errors import ConfigError
from phuma.learning.config import ALGORITHMS, BASES, PRESETS, LearnCfg
from phuma.learning.library import MotionLibrary
from phuma.learning.run import RunFolder
from phuma.learning.simulation.model import CONTROL_RATE
from phuma.policies import chosen_clips, dataset_library, exit_code, robot_named
from phuma.robots import Robot, built_in_robots, load_robot

MINUTES = 30.0
"""Where neither --minutes nor --steps is given"""
ROBOT = "g1"
MOST = 1e12  # steps or minutes
SLOW = 50_000  # environment steps of an update that take a CPU many seconds
SHOWN = 5  # clips that are left out, a reason


def main(argv: Sequence[str]) -> int:
    args = parser().parse_args(argv)
    folder = RunFolder(args.out)
    check_numbers(args)
    check_place(args)
    if args.resume:
        cfg, where = None, resumed_where(folder, args)
        named = folder.info().policy.robot
        robot = load_robot(args.robot) if args.robot else robot_named(named)
    else:
        folder.check_free()
        cfg, where = configuration(args), args.where
        robot = load_robot(args.robot or ROBOT)

    from phuma.training import Budget, train_policy  # takes a second

    check_device(args.device)
    dataset = Dataset(args.dataset)
    library = dataset_library(dataset, robot, where, "train", reading_bar)
    for line in [*telling(library), *advice(dataset.description.config)]:
        print(line, flush=True)
    budget = Budget(args.steps, MINUTES if args.minutes is None and args.steps is None else args.minutes)
    if args.resume:
        steps, seconds = folder.reached()
        print(going_on(steps, seconds, budget.over(steps, seconds)), flush=True)
    print("\n".join(until(budget, cfg, args.device)), flush=True)
    data = {"dataset": args.dataset.resolve().name, "split": "train", "where": where}
    table = Table()
    with stopping() as stopped:
        train_policy(library, args.out, cfg, budget, data, args.device, lambda: bool(stopped), table)
    print(f"The run is in {args.out}. What to do with it:")
    for line in next_steps(args, dataset, robot, where):
        print(line)
    if stopped:
        raise KeyboardInterrupt
    if code := exit_code(library):
        print(f"Some clips could not be read; all of them are named by phuma verify {shlex.quote(str(args.dataset))}")
    return code


def parser() -> argparse.ArgumentParser:
    out = command_parser("train", __doc__)
    out.add_argument("dataset", type=Path, metavar="DATASET", help="a folder made by `phuma build` or `phuma import`")
    out.add_argument("--out", required=True, type=Path, metavar="RUN", help="the run's folder")
    out.add_argument(
        "--robot",
        help=f"g1, h1_2, or a folder with model.xml and robot.json (default: {ROBOT}, or the run's with --resume)",
    )
    out.add_argument("--where", metavar="SQL", help="only clips like \"category = 'walk'\"")
    out.add_argument("--minutes", type=float, metavar="M", help=f"time to train (default: {MINUTES:g})")
    out.add_argument(
        "--steps", type=whole_number, metavar="N",
        help="environment steps to train, instead of --minutes; rounded up to whole updates",
    )  # fmt: skip
    out.add_argument("--device", default="cpu", help="cpu, or cuda, which needs phuma[warp] (default: cpu)")
    out.add_argument("--resume", action="store_true", help="go on with the run in RUN, as it was begun")
    new = out.add_argument_group("a new run")
    new.add_argument("--algo", help=f"{', '.join(ALGORITHMS)} (default: {LearnCfg.algo})")
    new.add_argument("--preset", help=f"{', '.join(PRESETS)}: networks and values of learning (default: cpu)")
    new.add_argument(
        "--randomize", action="store_true", default=None,
        help="robots that differ, noise and pushes as in the paper's table; always so with --preset paper",
    )  # fmt: skip
    new.add_argument(
        "--no-future", action="store_true", default=None, help="a policy that does not see the coming 1.9 s"
    )
    new.add_argument(
        "--base",
        help=f"what an action is added to: {', '.join(BASES)} (default: the preset's; see docs/learning.md)",
    )
    new.add_argument("--seed", type=int, metavar="N", help="of all that is random (default: 0)")
    return out


def check_numbers(args: argparse.Namespace) -> None:
    if args.minutes is not None and args.steps is not None:
        raise ConfigError("--minutes and --steps: give one of them")
    for name in ("minutes", "steps"):
        value = getattr(args, name)
        if value is not None and not 0 < value < MOST:
            raise ConfigError(f"--{name} {value:g}; expected more than 0 and less than {MOST:g}")
    if args.device.partition(":")[0] not in ("cpu", "cuda"):
        raise ConfigError(f"--device {args.device!r}; expected cpu, cuda, or one of several like cuda:1")
    if args.seed is not None and not 0 <= args.seed < 2**32:
        raise ConfigError(f"--seed {args.seed}; expected 0 to {2**32 - 1}")


def whole_number(text: str) -> int:
    """Of an option: 4000000, 4e6 or 4_000_000."""
    value = float(text)
    if not value.is_integer():
        raise ValueError(text)
    return int(value)


def check_place(args: argparse.Namespace) -> None:
    """A dataset holds what its manifest names, and nothing else."""
    if args.dataset.resolve() in (args.out.resolve(), *args.out.resolve().parents):
        raise ConfigError(f"--out {args.out} lies in the dataset {args.dataset}; choose a folder outside of it")


def check_device(device: str) -> None:
    """Before anything is read; `phuma.training` has been imported, so torch is there."""
    import torch

    if device != "cpu" and not torch.cuda.is_available():
        raise ConfigError(f"--device {device}: torch finds no GPU here; leave it out to train on the CPU")


def configuration(args: argparse.Namespace) -> LearnCfg:
    """Of a new run."""
    preset = args.preset or "cpu"
    if preset not in PRESETS:
        raise ConfigError(f"no preset {preset!r}; there are: {', '.join(PRESETS)}")
    given: dict[str, Any] = {"algo": args.algo, "randomize": args.randomize, "base": args.base, "seed": args.seed}
    if args.no_future:
        given["future"] = False
    return replace(PRESETS[preset], **{name: value for name, value in given.items() if value is not None})


def resumed_where(folder: RunFolder, args: argparse.Namespace) -> str | None:
    """The condition that a run was begun with; options that would make another run of it are an error."""
    info = folder.info()
    cfg, where = info.cfg, info.policy.data.get("where")
    own = {
        "where": where, "algo": cfg.algo, "randomize": cfg.randomize, "no_future": not cfg.future,
        "base": cfg.base, "seed": cfg.seed,
    }  # fmt: skip
    other = [name for name, value in own.items() if getattr(args, name) not in (None, value)]
    if args.preset is not None:
        beside = {name: getattr(cfg, name) for name in ("algo", "randomize", "future", "base", "seed")}
        other += ["preset"] * (replace(configuration(args), **beside) != cfg)
    if other:
        names = ", ".join(f"--{name.replace('_', '-')}" for name in other)
        raise ConfigError(
            f"{names}: the run in {folder.root} was begun otherwise and goes on as it was; leave that out"
        )
    return where


def reading_bar(entries: list) -> Iterator:
    from tqdm import tqdm

    return iter(tqdm(entries, unit="clip", desc="reading", disable=None, file=sys.stderr, leave=False))


def telling(library: MotionLibrary) -> list[str]:
    """What is learned from, and what is not and why."""
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
    """What of a dataset's making stands in a tracker's way."""
    swings_known = built.get("contact_speed") is not None or built.get("curate", {}).get("preset") == "dynamic"
    if "physink" not in str(built.get("method")) or swings_known:
        return []
    return [
        "Note: feet that swing low are held to stand in these clips, so that legs leap in steps. A dataset built with "
        "--preset dynamic is learned better: docs/learning.md"
    ]


def kind_of(reason: str) -> str:
    """The words of a reason without its numbers."""
    return " ".join(word for word in reason.split(":")[0].split() if not any(c.isdigit() for c in word))


def going_on(steps: int, seconds: float, over: bool) -> str:
    """Where a run is that goes on."""
    where = f"{steps:,} environment steps and {clock(seconds)}"
    if over:
        return f"The run has {where} already: nothing to do, as --steps and --minutes are of the whole run"
    return f"Going on from {where}" if steps else "There is no checkpoint with a step in it: beginning anew"


def until(budget: Any, cfg: LearnCfg | None, device: str) -> list[str]:
    """What comes; `budget` is a `training.Budget`."""
    how = f"{budget.steps:,} environment steps" if budget.steps is not None else f"{budget.minutes:g} minutes"
    lines = [f"Training for {how} in all; Ctrl-C ends it with a checkpoint, --resume goes on"]
    if cfg is not None and device == "cpu" and (update := cfg.environments * cfg.horizon) > SLOW:
        lines.append(f"Note: the first row comes after an update of {update:,} steps, which takes a CPU minutes")
    return lines


def clock(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"


class Table:
    """A row every few seconds."""

    columns = ("time", "steps", "steps/s", "reward", "failed", "tracked", "SR@0.5", "SR@0.15", "g-mpjpe")
    widths = (8, 12, 8, 8, 7, 8, 7, 8, 8)

    def __init__(self) -> None:
        self._rows = 0

    def __call__(self, now: Any) -> None:
        """`now` is a `training.Progress`"""
        if self._rows % 20 == 0:
            print("".join(c.rjust(w) for c, w in zip(self.columns, self.widths)), flush=True)
        self._rows += 1
        look = ["-"] * 4
        if now.look is not None:
            error = now.look["up_to_failure"]["mpjpe_global_mm"]
            look = [f"{now.look[name]:.0f} %" for name in ("tracked", "success_0.5", "success_0.15")]
            look.append("-" if error is None else f"{error:.0f} mm")
        cells = [
            clock(now.seconds),
            f"{now.steps:,}",
            f"{now.rate:,.0f}",
            f"{now.values['reward']:.4f}",
            f"{100 * now.values['failed_share']:.0f} %",
            *look,
        ]
        print("".join(c.rjust(w) for c, w in zip(cells, self.widths)), flush=True)


@contextmanager
def stopping() -> Iterator[list[int]]:
    """Ctrl-C and a polite kill are noted in a list and let an iteration end; a second one ends at once."""
    noted: list[int] = []

    def note(number: int, _: object) -> None:
        if noted:
            raise KeyboardInterrupt
        noted.append(number)
        print("stopping after this iteration; once more to end at once, without saving", file=sys.stderr, flush=True)

    before = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield noted
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def next_steps(args: argparse.Namespace, dataset: Dataset, robot: Robot, where: str | None) -> list[str]:
    """Commands for this run, as they can be typed."""
    run, data = shlex.quote(str(args.out)), shlex.quote(str(args.dataset))
    own = "" if robot.name in built_in_robots() else f" --robot {shlex.quote(str(args.robot))}"
    chosen = (f" --where {shlex.quote(where)}" if where else "") + own
    try:
        chosen_clips(dataset, robot, where, "test")
        judged = f"phuma evaluate {run} {data}{chosen}", "how well it tracks, on clips that it has not seen"
    except ConfigError:
        judged = f"phuma evaluate {run} {data} --split train{chosen}", "how well it tracks; there are no others in test"
    commands = [
        judged,
        (f"phuma play {run} {data}{chosen}", "watch it"),
        (f"phuma policy export {run} --out policy.onnx{own}", "hand it on"),
        (f"tensorboard --logdir {run}", "curves"),
    ]
    width = max(len(command) for command, _ in commands)
    return [f"  {command:{width}}  {about}" for command, about in commands]

"""Train on the clips of a dataset from the first to the last: experts first where they teach, then the stages.

It prints what happens, and ends with what to do with the run.
"""

from __future__ import annotations

import os
import shlex
import time
from contextlib import ExitStack, redirect_stdout
from dataclasses import replace

from phuma.core.words import harmless
from phuma.dataset.dataset import Dataset
from phuma.learning.recipes.recipe import EXPERTS, recipe_named
from phuma.learning.run.folder import RunFolder
from phuma.pipelines.certify_dataset import limited_runner
from phuma.pipelines.evaluate_policy import dataset_library, exit_code, robot_named
from phuma.pipelines.experts import certify_missing, only_performed
from phuma.pipelines.library_notes import SHOWN, described
from phuma.pipelines.progress_bars import ClipBar, reading_bar
from phuma.pipelines.training.budget import budget_of
from phuma.pipelines.training.new_run import new_run, taught_by_experts
from phuma.pipelines.training.notes import advice, next_steps, penalty_notes, resume_line, start_lines
from phuma.pipelines.training.options import ALGO, ROBOT, TrainCfg, check_device, check_numbers, check_out
from phuma.pipelines.training.resumed_run import resumed_data
from phuma.pipelines.training.table import Table, clock
from phuma.robots import Robot, load_robot
from phuma.runtime.distributed import decided, joined, number
from phuma.runtime.stopping import stopping
from phuma.sim.feedforward import CERTIFIED


def train(asked: TrainCfg) -> int:
    """Check what is asked for, train, print what happens, and return the command's exit code."""
    check_numbers(asked)
    check_out(asked)
    with joined(asked.device) as device, ExitStack() as quiet:
        if number():  # of several processes only the first says what happens
            quiet.enter_context(redirect_stdout(quiet.enter_context(open(os.devnull, "w"))))
        return _train(replace(asked, device=device))


def _train(asked: TrainCfg) -> int:
    """Train as is asked, alone or beside other processes, and return its exit code."""
    folder = RunFolder(asked.out)
    if asked.resume:
        cfg, where, split = None, *resumed_data(folder, asked)
        info = folder.info()
        named, stages = info.last.robot, info.cfg.stages
        robot = load_robot(asked.robot) if asked.robot else robot_named(named)
    else:
        folder.check_free()
        cfg, where, split = new_run(asked), asked.where, asked.split or "train"
        stages = cfg.stages
        robot = load_robot(asked.robot or ROBOT)

    from phuma.pipelines.train_policy import train_policy  # slow to import

    check_device(asked.device)
    decided(0, asked.device)  # no process begins a run that another one has not found free
    dataset, own_split = Dataset(asked.dataset), None if split == "all" else split
    algo = own_algo(asked, folder)
    taught = taught_by_experts(algo, stages) or (cfg or folder.info().cfg).teacher == EXPERTS
    if taught:
        if number() == 0:
            find_experts(dataset, robot, where, own_split, asked)
        decided(0, asked.device)
        dataset = Dataset(asked.dataset)
    performed = taught or any(
        own.environment.base == CERTIFIED or recipe_named(algo).task(name, own.environment).performed
        for name, own in stages.items()
    )
    library = dataset_library(dataset, robot, where, own_split, reading_bar, performed)
    if taught:
        library = only_performed(library)
    for line in [*described(library), *advice(dataset.description.config), *penalty_notes(library, algo, stages)]:
        print(line, flush=True)
    labelled = taught or all(own.algorithm.taught for own in stages.values())
    budget = budget_of(asked, algo, stages, len(library), labelled)
    if asked.resume:
        steps, seconds = folder.reached()
        print(resume_line(steps, seconds, budget.used(steps, seconds) >= 1), flush=True)
    print("\n".join(start_lines(budget, cfg, asked.device)), flush=True)
    data = {"dataset": asked.dataset.resolve().name, "split": split, "where": where}
    table = Table()
    with stopping() as stopped:
        train_policy(library, asked.out, cfg, budget, data, asked.device, lambda: bool(stopped), table)
    print(f"The run is in {asked.out}. What to do with it:")
    lawful = any(recipe_named(algo).task(name, own.environment).lawful for name, own in stages.items())
    for line in next_steps(asked, dataset, robot, where, split, lawful):
        print(line)
    if stopped:
        raise KeyboardInterrupt
    if code := exit_code(library):
        print(f"Some clips could not be read; all of them are named by phuma verify {shlex.quote(str(asked.dataset))}")
    return code


def find_experts(dataset: Dataset, robot: Robot, where: str | None, split: str | None, asked: TrainCfg) -> None:
    """Certify the clips that were not certified yet, and print what came of it."""
    began = time.monotonic()
    with ClipBar("experts") as bar:
        failed = certify_missing(dataset, robot, where, split, limited_runner(asked.jobs, asked.ray), bar)
    for name, reason in failed[:SHOWN]:
        print(harmless(f"Not done: {name}: {reason}"))
    if bar.done:
        print(f"Experts: {bar.done} performed in {clock(time.monotonic() - began)}", flush=True)


def own_algo(asked: TrainCfg, folder: RunFolder) -> str:
    """Return the name of the run's recipe."""
    return folder.info().cfg.algo if asked.resume else recipe_named(asked.algo or ALGO).name

"""KungfuBot's teacher and student, and what the convolutional encoder and the future buy BeyondMimic.

    python benchmarks/kungfubot.py STUDY... [--workers 2] [--clips N] [--scale S] [--robot g1] [--pause MINUTES]
    python benchmarks/kungfubot.py tables

Studies: `stages` (22 clips of eleven types, two seeds: teacher from experts and its student, the student from experts
without a teacher, and the teacher by PPO), `robust` (the student from experts, with noise, pushes and robots that
differ, the paper's layers and four times the steps), `encoder` (BeyondMimic distilled
from experts: convolutional or plain encoder, future or none, 48 clips, two seeds, 30 CPU minutes each). A result is a
line of benchmarks/kungfubot.jsonl as soon as it is there, and what is there is not done again. With `--pause` no
training gets more CPU minutes than that in one run; it is kept, and the same command goes on with it. `--clips` takes
fewer clips and `--scale` shortens trainings, for a trial. Experts are those of benchmarks/distillation.py; a robot
other than the G1 has a folder of its own for them. `tables` writes docs/tables/kungfubot_*.md.

All is judged at 5 ms by 8 rollouts a clip from starts a fifth of the paper's ranges off, unless said otherwise. CPU
seconds are of one thread. Intervals are of 95 %, by clips drawn anew.
"""

from __future__ import annotations

import argparse
import gc
import math
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import distillation
import pieces
from distillation import CONDITIONS, generated, library
from phuma.learning.motions.library import MotionLibrary
from phuma.runtime.process_pool import map_in_order
from rows import add_row, read_rows
from tables import markdown, save

RESULTS = Path(__file__).with_suffix(".jsonl")
EPISODES = 8
G1_EXPERTS = distillation.EXPERTS
EACH_CLIP, BY_TRIAL = 20_000, 60_000
"""Environment steps that each clip adds to a stage that learns from labels, and to one that learns by PPO"""
MINUTES = 30.0
"""CPU minutes of a training of the encoders' study"""
WORLDS: dict[str, dict[str, Any]] = {
    "finer step, 2.5 ms": {"physics_dt": 0.0025},
    "coarser step, 10 ms": {"physics_dt": 0.01},
    "noise": {"noise": 1.0},
    "pushes": {"pushes": True},
    "noise and pushes": {"noise": 1.0, "pushes": True},
    "whole-range starts": CONDITIONS["whole-range starts"],
}


@dataclass(frozen=True)
class Training:
    """One run and what it is judged on."""

    study: str
    label: str
    seed: int
    clips: int
    algo: str = "kungfubot"
    begin: str = "experts"
    steps: dict[str, int] = field(default_factory=dict)
    """Environment steps of each stage"""
    minutes: float | None = None
    """CPU minutes of each stage, instead of steps"""
    stage: str | None = None
    """The stage that learns alone, from experts"""
    conv: bool = False
    """Whether the network has the paper's convolutional encoder"""
    hidden: tuple[int, ...] | None = None
    """Widths of the layers; None for the preset's"""
    environment: dict[str, Any] = field(default_factory=dict)
    worlds: tuple[str, ...] = ()
    robot: str = "g1"

    @property
    def key(self) -> str:
        amount = f"{self.minutes:g} minutes" if self.minutes is not None else f"{sum(self.steps.values())} steps"
        return f"{self.study}/{self.robot}/{self.label}/{self.clips} clips/{amount}/{self.seed}"


def use_robot(name: str) -> None:
    """Take experts of a robot, from a folder of its own unless it is the G1."""
    if name != distillation.ROBOT:
        distillation.library.cache_clear()
    distillation.ROBOT = name
    distillation.EXPERTS = G1_EXPERTS if name == "g1" else G1_EXPERTS / name


def judged(policy: Any, motions: MotionLibrary, **how: Any) -> dict[str, Any]:
    """Success in percent, in all, by category and by clip, and the error up to a failure."""
    from phuma.pipelines.evaluate_policy import judge_policy

    document = judge_policy(policy, motions, episodes=EPISODES, **{"physics_dt": 0.005, **how})
    names = ("success_0.5", "success_0.15")
    rows = {"total": document["total"], **document["categories"]}
    out = {
        name: {**{n: row[n] for n in names}, "mm": row["up_to_failure"]["mpjpe_global_mm"]}
        for name, row in rows.items()
    }
    return out | {"by clip": {row["motion"]: [row[n] for n in names] for row in document["motions"]}}


def settings(training: Training) -> Any:
    """The run's settings."""
    from phuma.learning.nets.config import ConvCfg
    from phuma.learning.recipes.recipe import EXPERTS, recipe_named

    alone = {} if training.stage is None else {"stage": training.stage, "teacher": EXPERTS}
    cfg = recipe_named(training.algo).settings(seed=training.seed, begin=training.begin, **alone)
    stages = {}
    for name, own in cfg.stages.items():
        network = own.network
        if training.conv:
            network = ConvCfg(network.init_std, network.hidden, (60, 128), network.estimator, network.norm)
        if training.hidden is not None:
            network = replace(network, hidden=training.hidden)
        environment = own.environment.changed(**training.environment)
        stages[name] = replace(own, network=network, environment=environment)
    return replace(cfg, stages=stages)


def train(training: Training, most: float = math.inf) -> dict[str, Any] | None:
    """Train all stages and judge each; None where that takes more than so many CPU seconds, and another run goes on."""
    import torch

    torch.set_num_threads(1)
    from phuma.learning.deploy.policy import info_of
    from phuma.learning.deploy.torch_policy import TorchPolicy
    from phuma.learning.run.runner import StageRunner
    from phuma.pipelines.experts import only_performed

    use_robot(training.robot)
    motions, cpu_experts = library(generated(training.clips))
    motions = only_performed(motions)
    unseen, _ = library(generated(min(training.clips, 33), distillation.UNSEEN))
    cfg, teacher, stages = settings(training), None, {}
    for stage, own in cfg.stages.items():
        runner, name = StageRunner(motions, cfg, stage, threads=1, teacher=teacher), f"{training.key} {stage}"
        began = time.process_time()
        cpu, whole = pieces.learn(runner, name, partial(progress, training, stage), most)
        runner.simulation.close()
        if not whole:
            return None
        most -= time.process_time() - began
        policy = TorchPolicy(runner.net, info_of(motions.robot, cfg.algo, stage, own.environment))
        pieces.export(policy, name)
        stages[stage] = {
            "steps": runner.steps, "cpu": round(cpu, 1), "seen": judged(policy, motions),
            "unseen": judged(policy, unseen),
            **{name: judged(policy, motions, **WORLDS[name]) for name in training.worlds},
        }  # fmt: skip
        teacher = runner.net.eval().requires_grad_(False)
        del runner, policy
        gc.collect()  # its parts know each other, and it is large
    for stage in stages:
        pieces.forget(f"{training.key} {stage}")
    return {
        "key": training.key, "training": asdict(training), "clips": len(motions),
        "cpu_experts": round(cpu_experts, 1), "stages": stages,
    }  # fmt: skip


def progress(training: Training, stage: str, steps: int, seconds: float) -> float:
    """Share of a stage that is over."""
    if training.minutes is not None:
        return seconds / (60 * training.minutes)
    return steps / training.steps[stage]


def study(name: str, clips: int | None, scale: float, robot: str) -> list[Training]:
    """The trainings of a study."""
    count = clips or (48 if name == "encoder" else 22)

    def steps(teacher: int = EACH_CLIP) -> dict[str, int]:
        return {"teacher": round(scale * teacher * count), "student": round(scale * EACH_CLIP * count)}

    common: dict[str, Any] = {"clips": count, "robot": robot}
    alone = {"student": steps()["student"]}
    ways: dict[str, dict[str, Any]]
    if name == "stages":
        ways = {
            "from experts": {"steps": steps()},
            "student without a teacher": {"steps": alone, "stage": "student"},
            "by PPO": {"steps": steps(BY_TRIAL), "begin": "scratch"},
        }
    elif name == "robust":
        disturbed = {"noise": 1.0, "pushes": True, "differ": True}
        longer = {"student": 4 * alone["student"]}
        way = {"steps": longer, "environment": disturbed, "stage": "student", "hidden": (768, 512, 256)}
        ways = {"disturbed, the paper's layers, without a teacher": way}
    elif name == "encoder":
        ways = {
            f"{'convolutions' if conv else 'plain'}, {'with' if future else 'without'} the future": {
                "algo": "beyondmimic", "minutes": scale * MINUTES, "conv": conv, "environment": {"future": future},
            }
            for conv, future in ((False, True), (True, True), (False, False))
        }  # fmt: skip
    else:
        raise SystemExit(f"no study {name!r}; there are: stages, robust, encoder")
    worlds = () if name == "encoder" else tuple(WORLDS)
    return [Training(name, label, n, worlds=worlds, **common, **way) for n in (0, 1) for label, way in ways.items()]


def results(name: str) -> Iterator[dict[str, Any]]:
    """What there is of a study."""
    return (row for row in read_rows(RESULTS) if row["training"]["study"] == name)


def run(names: Sequence[str], workers: int, clips: int | None, scale: float, robot: str, most: float) -> None:
    for name in names:
        there = {row["key"] for row in results(name)}
        todo = [training for training in study(name, clips, scale, robot) if training.key not in there]
        wanted = {
            clip for own in todo
            for clip in (*generated(own.clips), *generated(min(own.clips, 33), distillation.UNSEEN))
        }  # fmt: skip
        print(f"{name}: {len(todo)} trainings of {len(wanted)} clips", flush=True)
        for _ in map_in_order(robot_expert, [(robot, clip) for clip in sorted(wanted)], workers):
            pass
        for row in map_in_order(partial(train, most=most), todo, workers):
            if row is None:
                print("a training is not at its end: the same command goes on with it", flush=True)
                continue
            add_row(RESULTS, row)
            said = {
                stage: [round(own[what]["total"]["success_0.5"]) for what in ("seen", "unseen")] + [round(own["cpu"])]
                for stage, own in row["stages"].items()
            }
            print(row["key"], said, flush=True)


def robot_expert(asked: tuple[str, str]) -> None:
    """Make the expert of a robot's clip unless it is there."""
    use_robot(asked[0])
    distillation.expert((asked[1], 0))


def interval(rows: Sequence[dict[str, Any]], stage: str, what: str, threshold: int = 0) -> str:
    """Mean success in percent over trainings, with its interval by clips drawn anew."""
    each = [row["stages"][stage][what]["by clip"] for row in rows]
    values = np.array([np.mean([own[clip][threshold] for own in each]) for clip in sorted(each[0])])
    drawn = np.random.default_rng(0).choice(values, (2000, len(values))).mean(axis=1)
    low, high = np.percentile(drawn, [2.5, 97.5])
    return f"{values.mean():.0f} ({low:.0f} to {high:.0f})"


def by_label(name: str) -> dict[str, list[dict[str, Any]]]:
    """Rows of a study by what was trained and on how much: those of one label and size belong together."""
    out = defaultdict(list)
    for row in results(name):
        out[f"{row['training']['label']}, {row['training']['clips']} clips"].append(row)
    return out


def mean(rows: Sequence[dict[str, Any]], stage: str, name: str) -> float:
    return float(np.mean([row["stages"][stage][name] for row in rows]))


def table_of_stages() -> None:
    lines, worlds = [], []
    for label, rows in (by_label("stages") | by_label("robust")).items():
        experts = float(np.mean([row["cpu_experts"] for row in rows]))
        for stage in rows[0]["stages"]:
            figures = [interval(rows, stage, what, n) for what in ("seen", "unseen") for n in (0, 1)]
            costs = [f"{mean(rows, stage, 'cpu'):.0f}", f"{mean(rows, stage, 'steps') / 1000:.0f}k"]
            lines.append([f"{label}: {stage}", len(rows), *figures, *costs, f"{experts:.0f}"])
            if set(WORLDS) <= set(rows[0]["stages"][stage]):
                worlds.append([f"{label}: {stage}", *(interval(rows, stage, what) for what in ("seen", *WORLDS))])
    if lines:
        head = ["", "seeds", "seen at 0.5 m", "at 0.15 m", "unseen at 0.5 m", "at 0.15 m", "CPU s", "steps",
                "experts, CPU s"]  # fmt: skip
        save(
            "kungfubot_stages", "KungfuBot's teacher and student", markdown(head, lines),
            "Success at 0.5 m in percent where things are otherwise than in training:",
            markdown(["", "as it is", *WORLDS], worlds),
        )  # fmt: skip


def table_of_encoders() -> None:
    lines = []
    for label, rows in by_label("encoder").items():
        (stage,) = rows[0]["stages"]
        figures = [interval(rows, stage, what, n) for what in ("seen", "unseen") for n in (0, 1)]
        costs = [f"{mean(rows, stage, 'cpu') / 60:.0f}", f"{mean(rows, stage, 'steps') / 1000:.0f}k"]
        lines.append([label, len(rows), *figures, *costs])
    if lines:
        head = ["", "seeds", "seen at 0.5 m", "at 0.15 m", "unseen at 0.5 m", "at 0.15 m", "CPU minutes", "steps"]
        save("kungfubot_encoder", "BeyondMimic's encoder of the future", markdown(head, lines))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("studies", nargs="+")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--clips", type=int)
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--robot", default="g1")
    parser.add_argument("--pause", type=float, default=math.inf, metavar="MINUTES")
    args = parser.parse_args()
    names = [name for name in args.studies if name != "tables"]
    run(names, args.workers, args.clips, args.scale, args.robot, 60 * args.pause)
    if "tables" in args.studies:
        table_of_stages()
        table_of_encoders()


if __name__ == "__main__":
    main()

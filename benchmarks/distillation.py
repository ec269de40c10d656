"""Policies distilled from certified performances: how well they track, what that costs, and what each part of it buys.

    python benchmarks/distillation.py STUDY... [--workers 2] [--every N] [--most N]
    python benchmarks/distillation.py tables

A study is a list of trainings. A result is a line of benchmarks/distillation.jsonl as soon as it is there, and what is
there is not done again; `--most` does so many trainings of a study that are missing. Experts are made once and kept in
a folder (PHUMA_EXPERTS, by default below the system's folder for temporary files), each with the CPU seconds that it
took, which count for every training that uses it. PHUMA_CMU and PHUMA_CMU_FRESH name folders of recordings. `tables`
writes docs/tables/distillation_*.md.

All is judged at 5 ms by 32 rollouts a clip from starts a fifth of the paper's ranges off, unless said otherwise.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from phuma.control.bundle import strands_of
from phuma.core.robot_motion import RobotMotion
from phuma.curation import curate
from phuma.dataset.category import categorise
from phuma.formats.robot_motion_file import load_robot_motion, save_robot_motion
from phuma.formats.rollout_file import load_rollout, save_rollout
from phuma.learning.motions.library import MotionLibrary, performance_of
from phuma.pipelines.certify import certify
from phuma.pipelines.files_to_clips import kept_clips
from phuma.pipelines.retarget import retarget
from phuma.robots import cached_robot
from phuma.runtime.process_pool import map_in_order
from phuma.sim.feedback import Strand
from phuma.synth import generate
from rows import add_row, read_rows
from tables import markdown, save

RESULTS = Path(__file__).with_suffix(".jsonl")
EXPERTS = Path(os.environ.get("PHUMA_EXPERTS", Path(tempfile.gettempdir()) / "phuma-experts"))
KINDS = ("run", "lunge", "walk", "kick", "jump", "turn", "bend", "squat", "reach", "twist", "stand")
FIRST, UNSEEN = 1000, 2000
"""Seeds of the first motion of each type that is learned from, and of the first that is not"""
SECONDS = {"stroll": 8.0}
"""Length in s of generated motions that are not 4 s long"""
RECORDED = (
    "cmu:104_22.bvh:0", "cmu:104_04.bvh:0", "cmu:78_07.bvh:0", "cmu:02_04.bvh:0", "cmu:135_04.bvh:0", "cmu:05_07.bvh:1",
    "cmu:32_07.bvh:0",
)  # fmt: skip
"""A walk, a jog, a run, a jump, a kick, a dance and a reach"""
ONE_CLIP, EACH_CLIP = 200_000, 30_000
"""Environment steps of a training of one clip, and what each clip of a training of many adds"""
ESTIMATED_ONE, ESTIMATED = 100_000, 10_000
"""The same where it is estimated where the robot is"""
FEW_WAYS = 12
"""Number of ways back with which recorded clips are tried, too"""
ROBUST, BUNDLE = 600_000, 96
"""Environment steps of a training that is to be robust, and the number of ways back that it learns from"""
ROBUST_KINDS = ("stand", "walk", "kick", "run")
ABLATED, TUNED = 10_000, 200_000
"""Environment steps that each clip adds to a training of the ablation, and those of PPO after one"""
GROWTH = (8, 16, 32, 128, 256)
"""Numbers of clips beside the 64 of other studies"""
TRIED = 4_000_000
"""Environment steps of PPO from scratch under all disturbances"""
DISTURBED = {
    "noise": 1.0, "pushes": True, "start": 1.0, "rise": 0.5, "base": "certified", "differences": True, "history": 10,
    "first": 0.2,
}  # fmt: skip
"""What that PPO learns under, and how: about the performance, with an estimate of velocity, by pushes that grow"""
ROBUST_ESTIMATED, ROBUST_WAYS = 250_000, 64
"""Environment steps and ways back of an estimate that is to be robust"""
ROBOT = "g1"


@dataclass(frozen=True)
class Training:
    """One training and what it is judged on."""

    study: str
    label: str
    clips: tuple[str, ...]
    seed: int = 0
    steps: int = ONE_CLIP
    unseen: tuple[str, ...] = ()
    algo: str = "beyondmimic"
    """Name of the recipe"""
    begin: str = "experts"
    """What it begins from: experts, or scratch"""
    tuned: int = 0
    """Environment steps of PPO after it has learned from experts"""
    environment: dict[str, Any] = field(default_factory=dict)
    """Changes of the environments' settings"""
    algorithm: dict[str, Any] = field(default_factory=dict)
    """Changes of the settings of what learns, in the last stage"""
    network: dict[str, Any] = field(default_factory=dict)
    bundle: int = 0
    """Number of ways back to each performance"""
    conditions: tuple[str, ...] = ()
    """What it is judged under, too: names of CONDITIONS"""
    episodes: int = 32

    @property
    def key(self) -> str:
        return f"{self.study}/{self.label}/{self.seed}"


def motion_of(name: str) -> tuple[RobotMotion, str]:
    """A robot's motion by its name, `synth:KIND:SEED`, `cmu:FILE:NUMBER` or `fresh:FILE:NUMBER`, with its category."""
    what, one, two = name.split(":")
    if what == "synth":
        made = generate(one, seconds=SECONDS.get(one, 4.0), fps=30.0, seed=int(two))
        return retarget(curate(made.motion).whole, cached_robot(ROBOT)), made.kind
    folder = Path(os.environ["PHUMA_CMU" if what == "cmu" else "PHUMA_CMU_FRESH"])
    clip = kept_clips(folder / one)[int(two)]
    return retarget(clip, cached_robot(ROBOT)), str(categorise(clip.motion, clip.contact))


def expert(asked: tuple[str, int]) -> dict[str, Any]:
    """What came of certifying a clip, by its name and the number of ways back to it, made unless it is there."""
    name, bundle = asked
    own = EXPERTS / (name.translate(str.maketrans(":/.", "___")) + (f"_{bundle}" if bundle else ""))
    about = own.with_suffix(".json")
    if not about.exists():
        EXPERTS.mkdir(parents=True, exist_ok=True)
        began = time.process_time()
        motion, category = motion_of(name)
        found = certify(motion, cached_robot(ROBOT), gains=True, bundle=bundle, name=name)
        save_robot_motion(own.with_suffix(".motion.npz"), motion)
        if found.performance is not None:
            save_rollout(own.with_suffix(".rollout.npz"), found.performance)
        values = {**found.values, "category": category, "cpu": time.process_time() - began}
        about.write_text(json.dumps(values))
    return json.loads(about.read_text()) | {"path": str(own)}


@lru_cache(maxsize=256)
def strands(file: str, robot: str) -> list[Strand]:
    """The feedback of a performance and of the ways back to it, of which each takes a second."""
    return strands_of(load_rollout(file), cached_robot(robot))


@lru_cache(maxsize=2)
def library(names: tuple[str, ...], bundle: int = 0) -> tuple[MotionLibrary, float]:
    """The motions with their performances, and the CPU seconds of the experts; what is not certified is left out."""
    robot, out, cpu = cached_robot(ROBOT), MotionLibrary(cached_robot(ROBOT)), 0.0
    for name in names:
        about = expert((name, bundle))
        path = Path(about["path"])
        cpu += about["cpu"]
        motion = load_robot_motion(path.with_suffix(".motion.npz"))
        performance = None
        if about["loosely"]:
            file = path.with_suffix(".rollout.npz")
            performance = performance_of(load_rollout(file), robot, partial(strands, str(file), robot.name))
        out.add(name, motion, about["category"], performance)
    return out, cpu


CONDITIONS: dict[str, dict[str, Any]] = {
    "whole-range starts": {"start": 1.0},
    "noise": {"noise": 1.0},
    "pushes": {"pushes": True},
    "all three": {"start": 1.0, "noise": 1.0, "pushes": True},
}


def judged(policy: Any, motions: MotionLibrary, episodes: int, **how: Any) -> dict[str, Any]:
    from phuma.pipelines.evaluate_policy import judge_policy

    return figures_of(judge_policy(policy, motions, physics_dt=0.005, episodes=episodes, **how))


def figures_of(document: dict[str, Any]) -> dict[str, Any]:
    """What is kept of an evaluation."""
    names = ("success_0.5", "success_0.15", "tracked")
    rows = {"total": document["total"], **document["categories"]}
    return {
        name: {**{n: row[n] for n in names}, "mm": row["up_to_failure"]["mpjpe_global_mm"]}
        for name, row in rows.items()
    }


def learn(training: Training, motions: MotionLibrary) -> tuple[Any, int, float]:
    """Train all stages; return the policy, environment steps and CPU seconds."""
    import torch

    torch.set_num_threads(1)
    from phuma.learning.deploy.policy import info_of
    from phuma.learning.deploy.torch_policy import TorchPolicy
    from phuma.learning.recipes.recipe import FINETUNED, recipe_named
    from phuma.learning.run.runner import StageRunner

    cfg = recipe_named(training.algo).settings(
        seed=training.seed, begin=FINETUNED if training.tuned else training.begin
    )
    *_, last = cfg.stages
    stages = {
        name: replace(
            own, environment=own.environment.changed(**training.environment),
            algorithm=replace(own.algorithm, **(training.algorithm if name == last else {})),
            network=replace(own.network, **training.network),
        )
        for name, own in cfg.stages.items()
    }  # fmt: skip
    cfg = replace(cfg, stages=stages)
    began, net, steps = time.process_time(), None, 0
    for stage in stages:
        runner, most = StageRunner(motions, cfg, stage, threads=1, begin=net), training.tuned if net else training.steps
        while runner.steps < most:
            runner.iterate(runner.steps / most)
        runner.simulation.close()
        net, steps = runner.net, steps + runner.steps
    cpu = time.process_time() - began
    return TorchPolicy(net, info_of(motions.robot, cfg.algo, last, stages[last].environment)), steps, cpu


def train(training: Training) -> dict[str, Any]:
    """Train and judge."""
    from phuma.pipelines.experts import only_performed

    motions, cpu_experts = library(training.clips, training.bundle)
    motions = only_performed(motions)
    policy, steps, cpu = learn(training, motions)
    row = {
        "key": training.key, "training": asdict(training), "clips": len(motions), "steps": steps,
        "cpu_experts": round(cpu_experts, 1), "cpu_training": round(cpu, 1),
        "seen": judged(policy, motions, training.episodes),
    }  # fmt: skip
    row |= {name: judged(policy, motions, training.episodes, **CONDITIONS[name]) for name in training.conditions}
    gc.collect()  # the parts of a runner know each other, and it is large
    if training.unseen:
        unseen, _ = library(training.unseen)
        lawful = policy.info.task.lawful
        row["unseen"] = judged(policy, only_performed(unseen) if lawful else unseen, training.episodes)
        if not lawful:
            bare = MotionLibrary(
                unseen.robot, unseen.names, unseen.categories, unseen.motions, [None] * len(unseen.performances)
            )
            row["unseen_uncertified"] = judged(policy, bare, training.episodes)
    return row


def generated(count: int, first: int = FIRST) -> tuple[str, ...]:
    """The names of so many generated motions, of all types by turns."""
    return tuple(f"synth:{KINDS[n % len(KINDS)]}:{first + n // len(KINDS)}" for n in range(count))


def many(study: str, label: str, count: int, seed: int = 0, **changes: Any) -> Training:
    steps, episodes = changes.pop("steps", EACH_CLIP * count), changes.pop("episodes", 8)
    return Training(study, label, generated(count), seed, steps, generated(32, UNSEEN), episodes=episodes, **changes)


def cmu_names(folder: str, what: str) -> tuple[str, ...]:
    names = []
    for path in sorted(Path(os.environ[folder]).glob("*.bvh")):
        names += [f"{what}:{path.name}:{k}" for k in range(len(kept_clips(path)))]
    return tuple(names)


def study(name: str, every: int) -> list[Training]:
    """The trainings of a study."""
    if name == "single":
        return [
            Training(name, f"{kind}:{FIRST + n}", (f"synth:{kind}:{FIRST + n}",), seed)
            for seed in (0, 1) for n in (0, 1) for kind in KINDS
        ][::every]  # fmt: skip
    if name == "recorded":
        return [Training(name, clip, (clip,), seed) for seed in (0, 1) for clip in RECORDED]
    if name == "estimated":
        return [
            Training(name, f"{clip}, {ways} ways back", (clip,), seed, ESTIMATED_ONE, algo="estimator", bundle=ways)
            for ways in (0, FEW_WAYS) for seed in (0, 1) for clip in RECORDED
        ]  # fmt: skip
    if name == "many":
        return [many(name, "64 clips", 64, seed) for seed in (0, 1)]
    if name == "growth":
        return [many(name, f"{count} clips", count) for count in GROWTH]
    if name == "growth_estimated":
        return [many(name, f"{count} clips", count, steps=ESTIMATED * count, algo="estimator") for count in GROWTH]
    if name == "robust":
        randomized = {"randomize": True, "start": 1.0}
        ways: dict[str, tuple[dict[str, Any], int]] = {
            "as it is": ({}, 0),
            "randomized": (randomized, 0),
            "and ways back": (randomized, BUNDLE),
            "and an estimate of velocity": ({**randomized, "history": 10}, BUNDLE),
        }
        return [
            Training(name, f"{kind}, {label}", (f"synth:{kind}:{FIRST}",), 0, ROBUST, environment=change,
                     bundle=bundle, conditions=tuple(CONDITIONS))
            for label, (change, bundle) in reversed(ways.items()) for kind in ROBUST_KINDS
        ]  # fmt: skip
    if name == "robust_scratch":
        return [
            Training("robust", f"{kind}, by PPO from scratch", (f"synth:{kind}:{FIRST}",), 0, TRIED, begin="scratch",
                     environment=DISTURBED, conditions=tuple(CONDITIONS))
            for kind in ROBUST_KINDS
        ][::every]  # fmt: skip
    if name == "robust_estimated":
        disturbed = {"noise": 1.0, "pushes": True, "start": 1.0}
        return [
            Training("robust", f"{kind}, by an estimate", (f"synth:{kind}:{FIRST}",), 0, ROBUST_ESTIMATED,
                     algo="estimator", environment=disturbed, bundle=ROBUST_WAYS, conditions=tuple(CONDITIONS))
            for kind in ROBUST_KINDS
        ]  # fmt: skip
    if name == "estimator":
        return [many(name, "generated", 64, seed, steps=ESTIMATED * 64, algo=name) for seed in (0, 1)]
    if name == "estimator_recorded":
        seen = cmu_names("PHUMA_CMU", "cmu")[:: 2 * every]
        unseen = cmu_names("PHUMA_CMU_FRESH", "fresh")[:: 4 * every]
        label = f"recorded, {len(seen)}"
        return [Training("estimator", label, seen, 0, ESTIMATED * len(seen), unseen, "estimator", episodes=8)]
    if name == "ablation":
        changes: dict[str, dict[str, Any]] = {
            "as it is": {},
            "inputs: the paper's": {"environment": {"differences": False}},
            "inputs: no future": {"environment": {"future": False}},
            "goal: the clip, base: feed-forward": {"environment": {"base": "feedforward"}},
            "goal: the clip, base: the default pose": {"environment": {"base": "default"}},
            "starts: on the motion": {"environment": {"start": 0.0}},
            "starts: the whole ranges": {"environment": {"start": 1.0}},
            "mirror images, too": {"environment": {"mirror": True}},
            "layers of 512, 256, 128": {"network": {"hidden": (512, 256, 128)}},
            "then PPO, held to labels": {"tuned": TUNED},
            "then PPO, held to labels, the paper's reward": {"tuned": TUNED, "environment": {"forgiving": False}},
            "then PPO alone": {"tuned": TUNED, "algorithm": {"anchor": 0.0}},
        }
        return [
            many(name, label, 22, seed, steps=22 * ABLATED, episodes=4, **change)
            for seed in (0, 1) for label, change in changes.items()
        ]  # fmt: skip
    if name == "cmu":
        seen = cmu_names("PHUMA_CMU", "cmu")[:: 2 * every]
        unseen = cmu_names("PHUMA_CMU_FRESH", "fresh")[:: 4 * every]
        return [Training(name, f"{len(seen)} clips", seen, 0, EACH_CLIP * len(seen), unseen, episodes=8)]
    raise SystemExit(f"no study {name!r}")


def results(name: str) -> Iterator[dict[str, Any]]:
    """What there is of a study."""
    return (row for row in read_rows(RESULTS) if row["key"].startswith(f"{name}/"))


def run(names: Sequence[str], workers: int, every: int, most: int | None) -> None:
    for name in names:
        there = {row["key"] for row in read_rows(RESULTS)}
        todo = [training for training in study(name, every) if training.key not in there][:most]
        clips = sorted({
            (clip, training.bundle * (clip in training.clips))
            for training in todo for clip in (*training.clips, *training.unseen)
        })  # fmt: skip
        print(f"{name}: {len(todo)} trainings of {len(clips)} clips", flush=True)
        for _ in map_in_order(expert, clips, workers):
            pass
        for row in map_in_order(train, todo, workers):
            add_row(RESULTS, row)
            said = {n: {k: round(v) for k, v in row[n]["total"].items()} for n in ("seen", "unseen") if n in row}
            print(row["key"], said, f"{row['cpu_experts']:.0f} + {row['cpu_training']:.0f} CPU s", flush=True)


def figures(rows: Sequence[dict[str, Any]], what: str = "seen", name: str = "total") -> list[float]:
    """Means over trainings: at 0.5 m, at 0.15 m, mm."""
    own = [row[what][name] for row in rows if name in row.get(what, {})]
    return [float(np.mean([r[n] for r in own if r[n] is not None])) for n in ("success_0.5", "success_0.15", "mm")]


def cost(rows: Sequence[dict[str, Any]]) -> list[str]:
    """Mean CPU seconds of experts, of training and of both."""
    two = [np.mean([row[n] for row in rows]) for n in ("cpu_experts", "cpu_training")]
    return [f"{two[0]:.0f}", f"{two[1]:.0f}", f"{sum(two):.0f}"]


def numbers(values: Sequence[float]) -> list[str]:
    return [f"{v:.1f}" if n < 2 else f"{v:.0f}" for n, v in enumerate(values)]


HEAD = ["SR@0.5", "SR@0.15", "mm"]
COST = ["experts, CPU s", "distillation", "both"]


def clip_name(row: dict[str, Any]) -> str:
    """The type of a training's one clip, and its recording."""
    return f"{list(row['seen'])[-1]} ({row['training']['clips'][0].split(':')[1].removesuffix('.bvh')})"


def table_of_single(name: str, title: str) -> None:
    rows = list(results(name))
    if not rows:
        return
    kinds = defaultdict(list)
    for row in rows:
        how = row["training"]["steps"], row["training"]["bundle"]
        names = (clip_name(row), "**all**") if name in ("recorded", "estimated") else (list(row["seen"])[-1], "**all**")
        for kind in names:
            kinds[(*how, kind)].append(row)
    order = sorted(kinds, key=lambda key: (*key[:2], key[2].startswith("*"), key[2]))
    lines = [
        [f"{key[0] // 1000}k", key[1], key[2], len(own := kinds[key]), *numbers(figures(own)), *cost(own)]
        for key in order
    ]
    worst = min(rows, key=lambda r: r["seen"]["total"]["success_0.5"])
    note = f"Least of all trainings: {worst['key']}, {worst['seen']['total']['success_0.5']:.0f} % at 0.5 m."
    save(
        f"distillation_{name}", title, markdown(["steps", "ways back", "type", "trainings", *HEAD, *COST], lines), note
    )


def table_of_many() -> None:
    rows = list(results("many"))
    if not rows:
        return
    by_type = [
        [kind, *numbers(figures(rows, "seen", kind)), *numbers(figures(rows, "unseen", kind))]
        for kind in KINDS if kind in rows[0]["seen"]
    ]  # fmt: skip
    save(
        "distillation_many", "One policy for many clips", markdown(["clips", *SIZES], [sized(rows)]),
        f"By type, {rows[0]['clips']} clips:", markdown(["type", *HEAD, *(f"unseen {h}" for h in HEAD)], by_type),
    )  # fmt: skip


SIZES = ["seeds", "seen at 0.5 m", "at 0.15 m", "unseen at 0.5 m", "at 0.15 m", "unseen, not certified, at 0.5 m",
         "at 0.15 m", *COST]  # fmt: skip


def sized(rows: Sequence[dict[str, Any]]) -> list[object]:
    """The number of clips that were learned from, and what came of it."""
    parts = [
        numbers(figures(rows, what)[:2]) if what in rows[0] else ["-"] * 2
        for what in ("seen", "unseen", "unseen_uncertified")
    ]
    return [rows[0]["clips"], len(rows), *(cell for part in parts for cell in part), *cost(rows)]


def table_of_growth() -> None:
    ways = {
        "it imitates experts": [*results("growth"), *results("many")],
        "it estimates where the robot is": [
            *results("growth_estimated"), *(row for row in results("estimator") if row["clips"] == 64),
        ],
    }  # fmt: skip
    parts = []
    for way, rows in ways.items():
        sizes = defaultdict(list)
        for row in sorted(rows, key=lambda row: row["clips"]):
            sizes[row["clips"]].append(row)
        if len(sizes) > 1:
            parts += [
                f"{way[0].upper()}{way[1:]}:",
                markdown(["clips", *SIZES], [sized(own) for own in sizes.values()]),
            ]
    if parts:
        save("distillation_growth", "What more clips buy", *parts)


def table_of_estimator() -> None:
    rows, lines = defaultdict(list), []
    for row in results("estimator"):
        rows[row["training"]["label"]].append(row)
    for label, own in rows.items():
        names = [n for n in own[0]["seen"] if n != "total"]
        for name in ["total", *sorted({*names, *own[0]["unseen"]} - {"total"})]:
            there = [numbers(figures(own, what, name)) if name in own[0][what] else ["-"] * 3
                     for what in ("seen", "unseen")]  # fmt: skip
            ends = [len(own), *cost(own)] if name == "total" else [""] * 4
            lines.append(
                [
                    f"**{label.split(',')[0]}, {own[0]['clips']}**" if name == "total" else name,
                    *there[0],
                    *there[1],
                    *ends,
                ]
            )
    if lines:
        head = ["clips", *HEAD, *(f"unseen {h}" for h in HEAD), "seeds", *COST]
        title = "One policy that estimates where the robot is, and acts by each motion's certificate"
        save("distillation_estimator", title, markdown(head, lines))


def table_of_robust() -> None:
    rows = list(results("robust"))
    if rows:
        names = ("seen", *CONDITIONS)
        lines = [
            [row["training"]["label"], *(" / ".join(f"{v:.0f}" for v in figures([row], n)[:2]) for n in names),
             cost([row])[2]]
            for row in rows
        ]  # fmt: skip
        head = ["", "undisturbed", *CONDITIONS, "CPU s"]
        about = "Percent of 32 rollouts within 0.5 / 0.15 m; undisturbed: starts a fifth of the ranges off."
        save("distillation_robust", "Distilled policies under disturbance", about, markdown(head, lines))


def table_of_ablation() -> None:
    rows = defaultdict(list)
    for row in results("ablation"):
        rows[row["training"]["label"]].append(row)
    if rows:
        lines = [
            [label, len(own), *numbers(figures(own)), *numbers(figures(own, "unseen")), cost(own)[1]]
            for label, own in rows.items()
        ]
        head = ["", "seeds", *HEAD, *(f"unseen {h}" for h in HEAD), "training, CPU s"]
        title = "What each part of distillation buys: 22 clips of eleven types"
        save("distillation_ablation", title, markdown(head, lines))


def table_of_cmu() -> None:
    for row in results("cmu"):
        names = [n for n in row["seen"] if n != "total"]
        lines = [
            [name, *(numbers(figures([row], "seen", name)) if name in row["seen"] else ["-"] * 3),
             *(numbers(figures([row], "unseen", name)) if name in row["unseen"] else ["-"] * 3)]
            for name in ["total", *sorted({*names, *row["unseen"]} - {"total"})]
        ]  # fmt: skip
        seconds = ", ".join(f"{name} {value}" for name, value in zip(COST, cost([row])))
        save(
            "distillation_cmu", f"One policy for {row['clips']} recorded clips",
            markdown(["category", *HEAD, *(f"unseen {h}" for h in HEAD)], lines), f"CPU s: {seconds}.",
        )  # fmt: skip


def tables() -> None:
    table_of_single("single", "One policy a clip, distilled from its expert: generated motions")
    table_of_single("recorded", "One policy a clip, distilled from its expert: recorded motions")
    table_of_single("estimated", "One policy a clip that estimates where the robot is: recorded motions")
    table_of_many()
    table_of_growth()
    table_of_robust()
    table_of_estimator()
    table_of_ablation()
    table_of_cmu()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("studies", nargs="+")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--most", type=int)
    args = parser.parse_args()
    run([name for name in args.studies if name != "tables"], args.workers, args.every, args.most)
    if "tables" in args.studies:
        tables()


if __name__ == "__main__":
    main()

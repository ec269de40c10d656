"""MaskedMimic on a CPU: the tracker from experts, its student by the pelvis alone, paths, and the paper's sizes.

    python benchmarks/maskedmimic.py tracker|student|paths|sizes... [--clips 22] [--steps N] [--seeds 2]
    python benchmarks/maskedmimic.py tables

A result is a line of benchmarks/maskedmimic.jsonl as soon as it is there, and what is there is not done again. Experts
are those of benchmarks/distillation.py. All is judged at 5 ms, by 8 rollouts a clip from starts a fifth of the paper's
ranges off, seen clips and as many others of the same types unseen. Runs, and rollouts of paths, are kept in a folder
(PHUMA_MASKEDMIMIC, by default below the system's folder for temporary files); `phuma render` films the latter.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from distillation import FIRST, UNSEEN, generated, judged, library
from phuma.formats.rollout_file import save_rollout
from phuma.learning.motions.paths import named_path, path_motion
from phuma.robots import cached_robot
from tables import markdown, save

RESULTS = Path(__file__).with_suffix(".jsonl")
RUNS = Path(os.environ.get("PHUMA_MASKEDMIMIC", Path(tempfile.gettempdir()) / "phuma-maskedmimic"))
EACH_CLIP = {"tracker": 30_000, "student": 40_000}
"""Environment steps that each clip adds"""
STAGES = {"tracker": "teacher", "student": "student"}
PATHS = ("circle", "figure-eight")
SECONDS, SPEEDS = 20.0, (0.5, 0.8)
EPISODES = 8


def trained(what: str, clips: int, steps: int, seed: int, small: bool) -> tuple[Any, float]:
    """The policy of a training, and its CPU seconds in this process: 0 where it was there already."""
    from phuma.learning.deploy.torch_policy import policy_of_run
    from phuma.learning.recipes.recipe import CPU, EXPERTS, recipe_named
    from phuma.learning.run.folder import RunFolder
    from phuma.pipelines.experts import only_performed
    from phuma.pipelines.train_policy import Budget, train_policy

    folder = RunFolder(RUNS / f"{what}-{clips}-{steps}-{seed}")
    motions = only_performed(library(generated(clips, FIRST))[0])
    stage = STAGES[what]
    cfg = recipe_named("maskedmimic").settings(CPU, seed, stage=stage, teacher=EXPERTS if stage == "student" else None)
    if small:
        own = cfg.stages[stage]
        cfg = replace(cfg, stages={stage: replace(own, algorithm=replace(own.algorithm, updates=2, batch=64))})
    begun = folder.description.exists()
    began = time.process_time()
    train_policy(motions, folder.root, None if begun else cfg, Budget(steps=steps))
    return policy_of_run(folder, motions.robot), time.process_time() - began


def train_and_judge(what: str, clips: int, steps: int, seed: int, small: bool) -> dict[str, Any]:
    """Train and judge on seen and unseen clips."""
    policy, cpu = trained(what, clips, steps, seed, small)
    seen, cpu_experts = library(generated(clips, FIRST))
    row: dict[str, Any] = {"clips": clips, "steps": steps, "cpu_experts": cpu_experts, "cpu_training": round(cpu, 1)}
    for name, motions in (("seen", seen), ("unseen", library(generated(clips, UNSEEN))[0])):
        row[name] = judged(policy, motions, EPISODES)
        if what == "student":
            row[f"{name}_pelvis"] = asked(policy, motions)
    return row


def asked(policy: Any, motions: Any) -> dict[str, Any]:
    from phuma.pipelines.evaluate_policy import judge_what_was_asked, try_out

    return judge_what_was_asked(try_out(policy, motions, 0.005, episodes=EPISODES), motions, policy.info)


def walk(clips: int, steps: int, seed: int, small: bool) -> dict[str, Any]:
    """Let the student walk paths."""
    from phuma.pipelines.follow_path import follow

    policy, _ = trained("student", clips, steps, seed, small)
    robot, out = cached_robot("g1"), {}
    for name in PATHS:
        for speed in SPEEDS:
            rollout, about = follow(policy, path_motion(named_path(name), robot, speed, SECONDS), robot)
            save_rollout(RUNS / f"{name}-{speed:g}-{seed}.npz", rollout)
            out[f"{name} at {speed:g} m/s"] = about
    return {"clips": clips, "steps": steps, "paths": out}


def sizes() -> dict[str, Any]:
    """Parameters, multiply-adds and the speed of one update of the paper's sizes."""
    from phuma.learning.nets.token_net import token_operations
    from phuma.learning.recipes.recipe import PAPER, recipe_named
    from phuma.learning.run.runner import StageRunner

    cfg = recipe_named("maskedmimic").settings(PAPER, stage="tracker")
    own = cfg.stages["tracker"]
    own = replace(
        own, environment=replace(own.environment, environments=32), algorithm=replace(own.algorithm, horizon=8)
    )
    runner = StageRunner(library(generated(1))[0], replace(cfg, stages={"tracker": own}), "tracker", threads=1)
    began = time.process_time()
    runner.iterate()
    cpu = time.process_time() - began
    net = runner.net
    parameters = {name: sum(p.numel() for p in getattr(net, name).parameters()) for name in ("actor", "critic")}
    plain, ours = (token_operations(net.actor, plain=plain) for plain in (True, False))
    return {"parameters": parameters, "plain": plain, "ours": ours, "steps_per_cpu_second": runner.steps / cpu}


def results(name: str) -> Iterator[dict[str, Any]]:
    """What there is of a study."""
    if RESULTS.exists():
        for line in RESULTS.read_text().splitlines():
            row = json.loads(line)
            if row["key"].startswith(f"{name}/"):
                yield row


def run(name: str, args: argparse.Namespace) -> None:
    for seed in range(1 if name == "sizes" else args.seeds):
        what = "student" if name == "paths" else name
        steps = args.steps or EACH_CLIP.get(what, 0) * args.clips
        key = "sizes/" if name == "sizes" else f"{name}/{args.clips} clips, {steps} steps/{seed}"
        if key in {row["key"] for row in results(name)}:
            continue
        if name == "sizes":
            row = sizes()
        else:
            given = (args.clips, steps, seed, args.small)
            row = walk(*given) if name == "paths" else train_and_judge(name, *given)
        with RESULTS.open("a") as f:
            f.write(json.dumps({"key": key, **row}) + "\n")
        print(key, {k: v["total"] if isinstance(v, dict) and "total" in v else v for k, v in row.items()}, flush=True)


def tables() -> None:
    """Write the table of what there is."""
    lines = []
    for name in STAGES:
        for row in results(name):
            for what in ("seen", "unseen"):
                total, pelvis = row[what]["total"], row.get(f"{what}_pelvis", {})
                near = [f"{pelvis[n]:.0f}" if pelvis else "" for n in ("within_0.5", "within_0.15")]
                figures = [f"{total[n]:.0f}" for n in ("success_0.5", "success_0.15")]
                lines.append(
                    [row["key"], what, *figures, *near, f"{row['cpu_experts']:.0f}", f"{row['cpu_training']:.0f}"]
                )
    head = ["run", "clips", "SR@0.5", "SR@0.15", "pelvis 0.5", "pelvis 0.15", "experts, CPU s", "training, CPU s"]
    save("maskedmimic", "MaskedMimic on a CPU", markdown(head, lines))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("studies", nargs="+", choices=("tracker", "student", "paths", "sizes", "tables"))
    parser.add_argument("--clips", type=int, default=22)
    parser.add_argument("--steps", type=int, help="environment steps of a training (default: by the number of clips)")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--small", action="store_true", help="few updates, to try the script itself")
    args = parser.parse_args()
    for name in args.studies:
        tables() if name == "tables" else run(name, args)


if __name__ == "__main__":
    main()

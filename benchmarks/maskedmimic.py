"""MaskedMimic on a CPU: the tracker from experts, students by the pelvis alone, paths, and the paper's sizes.

    python benchmarks/maskedmimic.py tracker|student|walker|locked|sizes... [--clips N] [--steps N] [--seeds 2]
    python benchmarks/maskedmimic.py tables

A result is a line of benchmarks/maskedmimic.jsonl as soon as it is there, and what is there is not done again. Experts
are those of benchmarks/distillation.py. `tracker` and `student` learn 22 clips of eleven types and are judged at 5 ms,
by 8 rollouts a clip from starts a fifth of the paper's ranges off, on these and on as many others of the same types, as
they were retargeted. `walker` is a student of strolls, which then walks paths. `locked` is the tracker of an H1-2 whose
wrists are locked, with the paper's 21 joints. Networks, and rollouts of paths, are
kept in a folder (PHUMA_MASKEDMIMIC, by default below the system's folder for temporary files); `phuma render` films the
latter.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import distillation
from distillation import FIRST, KINDS, UNSEEN, figures_of, generated, library, motion_of
from kungfubot import use_robot
from phuma.formats.robot_motion_file import load_robot_motion, save_robot_motion
from phuma.formats.rollout_file import save_rollout
from phuma.learning.motions.library import MotionLibrary
from phuma.learning.motions.path_walks import path_motion
from phuma.learning.motions.paths import named_path
from phuma.robots import cached_robot
from rows import add_row, read_rows
from tables import markdown, save

RESULTS = Path(__file__).with_suffix(".jsonl")
RUNS = Path(os.environ.get("PHUMA_MASKEDMIMIC", Path(tempfile.gettempdir()) / "phuma-maskedmimic"))
LOCKED = "h1_2-lock-wrist"
CLIPS = {"tracker": 22, "student": 22, "walker": 5, "locked": 11}
EACH_CLIP = {"tracker": 30_000, "student": 30_000, "walker": 50_000, "locked": 20_000}
"""Environment steps that each clip adds"""
STAGES = {"tracker": "teacher", "student": "student", "walker": "student", "locked": "teacher"}
PATHS = {"circle": 20.0, "figure-eight": None}
"""s for which they are walked; the eight once, to its end"""
SPEEDS = (0.5, 0.6, 0.75)
EPISODES = 8


def clips_of(what: str, count: int) -> tuple[str, ...]:
    """The names of the clips that a policy learns from."""
    return tuple(f"synth:stroll:{FIRST + n}" for n in range(count)) if what == "walker" else generated(count)


def trained(what: str, clips: int, steps: int, seed: int, small: bool) -> tuple[Any, dict[str, float]]:
    """The policy of a training, made unless it is there, and what it took."""
    import numpy as np
    import torch

    torch.set_num_threads(1)
    from phuma.learning.deploy.policy import info_of
    from phuma.learning.deploy.torch_policy import TorchPolicy
    from phuma.learning.nets.weights import load_weights, weights_of
    from phuma.learning.recipes.recipe import CPU, EXPERTS, recipe_named
    from phuma.learning.run.runner import StageRunner
    from phuma.pipelines.experts import only_performed

    motions, cpu_experts = library(clips_of(what, clips))
    motions = only_performed(motions)
    stage, file = STAGES[what], RUNS / f"{what}-{clips}-{steps}-{seed}.npz"
    cfg = recipe_named("maskedmimic").settings(CPU, seed, stage=stage, teacher=EXPERTS if stage == "student" else None)
    own = cfg.stages[stage]
    if small:
        own = replace(own, algorithm=replace(own.algorithm, updates=2, batch=64))
    runner = StageRunner(motions, replace(cfg, stages={stage: own}), stage, threads=1)
    if not file.exists():
        began = time.process_time()
        while runner.steps < steps:
            means = runner.iterate(runner.steps / steps)
            if runner.iterations % 20 == 0:
                print(f"{runner.steps} steps, {time.process_time() - began:.0f} CPU s, {means}", flush=True)
        file.parent.mkdir(parents=True, exist_ok=True)
        np.savez(file, cpu=time.process_time() - began, **weights_of(runner.net))
    with np.load(file) as arrays:
        load_weights(runner.net, {name: arrays[name] for name in arrays.files if name != "cpu"})
        took = {"cpu_experts": round(cpu_experts, 1), "cpu_training": round(float(arrays["cpu"]), 1)}
    runner.simulation.close()
    return TorchPolicy(runner.net, info_of(motions.robot, cfg.algo, stage, own.environment)), took


def train_and_judge(what: str, clips: int, steps: int, seed: int, small: bool) -> dict[str, Any]:
    """Train and judge on seen clips, and on unseen ones as they were retargeted."""
    from phuma.pipelines.evaluate_policy import judge_rollouts, judge_what_was_asked, try_out

    policy, took = trained(what, clips, steps, seed, small)
    row: dict[str, Any] = {"clips": clips, "steps": steps, **took}
    row["joints"] = policy.info.n_joints
    for name, motions in (("seen", library(generated(clips))[0]), ("unseen", retargeted(generated(clips, UNSEEN)))):
        rollouts = list(try_out(policy, motions, 0.005, episodes=EPISODES))
        row[name] = figures_of(judge_rollouts(rollouts, motions))
        if what == "student":
            row[f"{name}_pelvis"] = judge_what_was_asked(rollouts, motions, policy.info)
        print(name, row[name]["total"], row.get(f"{name}_pelvis"), flush=True)
    return row


def retargeted(names: tuple[str, ...]) -> MotionLibrary:
    """Motions that nobody performed."""
    out = MotionLibrary(cached_robot(distillation.ROBOT))
    for name in names:
        file = RUNS / f"{distillation.ROBOT}-{name.replace(':', '_')}.npz"
        if not file.exists():
            file.parent.mkdir(parents=True, exist_ok=True)
            save_robot_motion(file, motion_of(name)[0])
        out.add(name, load_robot_motion(file), name.split(":")[1])
    return out


def train_and_walk(what: str, clips: int, steps: int, seed: int, small: bool) -> dict[str, Any]:
    """Train and let walk paths."""
    from phuma.pipelines.follow_path import follow

    policy, took = trained(what, clips, steps, seed, small)
    robot, out = cached_robot("g1"), {}
    for name, seconds in PATHS.items():
        for speed in SPEEDS:
            rollout, about = follow(policy, path_motion(named_path(name), robot, speed, seconds), robot)
            save_rollout(RUNS / f"{name}-{speed:g}-{clips}-{seed}.npz", rollout)
            out[f"{name}, {speed:g} m/s"] = about
    return {"clips": clips, "steps": steps, **took, "paths": out}


def sizes() -> dict[str, Any]:
    """Parameters, multiply-adds and the speed of one iteration of both stages with the paper's sizes: 256 environment
    steps, then PPO's 32 minibatches of them, or one distillation step of 256 samples."""
    from phuma.learning.nets.token_net import token_operations
    from phuma.learning.recipes.recipe import PAPER, recipe_named
    from phuma.learning.run.runner import StageRunner

    cfg = recipe_named("maskedmimic").settings(PAPER)
    few = {"tracker": {"horizon": 8}, "student": {"horizon": 8, "updates": 1, "batch": 256, "memory": 256}}
    stages = {
        name: replace(
            own, environment=replace(own.environment, environments=32), algorithm=replace(own.algorithm, **few[name])
        )
        for name, own in cfg.stages.items()
    }
    cfg, motions, speed, teacher = replace(cfg, stages=stages), library(generated(1))[0], {}, None
    out: dict[str, Any] = {}
    for stage, name in (("tracker", "ppo"), ("student", "distillation")):
        runner = StageRunner(motions, cfg, stage, threads=1, teacher=teacher)
        began = time.process_time()
        runner.iterate()
        speed[name] = runner.steps / (time.process_time() - began)
        if teacher is None:
            net = teacher = runner.net
            out["parameters"] = {n: sum(p.numel() for p in getattr(net, n).parameters()) for n in ("actor", "critic")}
            out["plain"], out["ours"] = (token_operations(net.actor, plain=plain) for plain in (True, False))
        else:
            out["parameters"]["student"] = sum(p.numel() for p in runner.net.parameters())
    return out | speed


def results(name: str) -> Iterator[dict[str, Any]]:
    """What there is of a study."""
    return (row for row in read_rows(RESULTS) if row["key"].startswith(f"{name}/"))


def run(name: str, args: argparse.Namespace) -> None:
    for seed in range(1 if name == "sizes" else args.seeds):
        clips = args.clips or CLIPS.get(name, 0)
        steps = args.steps or EACH_CLIP.get(name, 0) * clips
        key = "sizes/" if name == "sizes" else f"{name}/{clips} clips, {steps} steps/{seed}"
        if key in {row["key"] for row in results(name)}:
            continue
        if name == "sizes":
            row = sizes()
        else:
            use_robot(LOCKED if name == "locked" else "g1")
            row = (train_and_walk if name == "walker" else train_and_judge)(name, clips, steps, seed, args.small)
        add_row(RESULTS, {"key": key, **row})
        print(key, {k: v["total"] if isinstance(v, dict) and "total" in v else v for k, v in row.items()}, flush=True)


def tables() -> None:
    """Write the tables of what there is."""
    table_of_policies()
    table_of_types()
    table_of_paths()
    table_of_sizes()


def table_of_policies() -> None:
    lines = []
    for name in ("tracker", "student", "locked"):
        for row in results(name):
            cells = [row["key"].replace("/", ", ").replace("locked", "tracker, H1-2 with 21 joints")]
            for what in ("seen", "unseen"):
                total, pelvis = row[what]["total"], row.get(f"{what}_pelvis", {})
                cells += [f"{total[n]:.0f}" for n in ("success_0.5", "success_0.15")]
                cells.append(" / ".join(f"{pelvis[n]:.0f}" for n in ("within_0.5", "within_0.15")) if pelvis else "")
            lines.append([*cells, f"{row['cpu_experts']:.0f}", f"{row['cpu_training']:.0f}"])
    one = ["at 0.5 m", "at 0.15 m", "pelvis 0.5 / 0.15"]
    head = ["policy, clips, steps, seed", *(f"{w} {n}" for w in ("seen", "unseen") for n in one),
            "experts, CPU s", "training, CPU s"]  # fmt: skip
    about = (
        "Percent of 8 rollouts a clip; clips of eleven types, as many unseen ones. `pelvis`: what was asked for alone."
    )
    save("maskedmimic", "MaskedMimic's tracker, and its student by the pelvis alone", about, markdown(head, lines))


def table_of_types() -> None:
    rows = [row for name in ("tracker", "student") for row in results(name)]
    kinds = sorted({kind for row in rows for kind in row["seen"]} & set(KINDS), key=KINDS.index)
    lines = [
        [kind, *(" / ".join(f"{row[w][kind][n]:.0f}" for n in ("success_0.5", "success_0.15"))
                 for row in rows for w in ("seen", "unseen"))]
        for kind in kinds
    ]  # fmt: skip
    named = [f"{row['key'].split('/')[0]}, {row['steps'] // 1000}k steps, seed {row['key'][-1]}" for row in rows]
    head = ["type", *(f"{name}, {w}" for name in named for w in ("seen", "unseen"))]
    save("maskedmimic_types", "By type, percent at 0.5 / 0.15 m", markdown(head, lines))


def table_of_paths() -> None:
    lines = [
        [f"{row['clips']} strolls, {row['steps'] // 1000}k steps, seed {row['key'][-1]}", name,
         f"fell after {about['seconds']:.1f} s" if about["fell"] else f"{about['of']:.0f} s",
         f"{100 * about['mean_m']:.0f}", f"{100 * about['most_m']:.0f}",
         f"{row['cpu_experts']:.0f}", f"{row['cpu_training']:.0f}"]
        for row in results("walker") for name, about in row["paths"].items()
    ]  # fmt: skip
    head = ["student", "path", "walked", "off, mean cm", "most cm", "experts, CPU s", "training, CPU s"]
    save("maskedmimic_paths", "Paths that nobody recorded, by the pelvis alone", markdown(head, lines))


def table_of_sizes() -> None:
    for row in results("sizes"):
        lines = [
            ["tracker, actor", f"{row['parameters']['actor'] / 1e6:.2f} M parameters"],
            ["tracker, critic", f"{row['parameters']['critic'] / 1e6:.2f} M parameters"],
            ["student, with prior, posterior and decoder", f"{row['parameters']['student'] / 1e6:.2f} M parameters"],
            ["multiply-adds of an action", f"{row['ours'] / 1e6:.0f} M; plain {row['plain'] / 1e6:.0f} M"],
            ["one iteration of PPO", f"{row['ppo']:.1f} environment steps per CPU second"],
            [
                "one iteration of the student's distillation",
                f"{row['distillation']:.1f} environment steps per CPU second",
            ],
        ]
        save("maskedmimic_sizes", "The preset `paper` on one core", markdown(["", ""], lines))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("studies", nargs="+", choices=(*CLIPS, "sizes", "tables"))
    parser.add_argument("--clips", type=int, help="clips to learn from (default: 22, strolls 5, locked 11)")
    parser.add_argument("--steps", type=int, help="environment steps of a training (default: by the number of clips)")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--small", action="store_true", help="few updates, to try the script itself")
    args = parser.parse_args()
    for name in args.studies:
        tables() if name == "tables" else run(name, args)


if __name__ == "__main__":
    main()

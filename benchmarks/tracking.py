"""Policies trained on synthetic motions and judged: one of each type, many motions at once, motions put on the robot in
different ways, and with and without randomization.

    python benchmarks/tracking.py types|many|methods|disturbed|divergence|tables [--workers 2] [--folder DIR]

A study is a list of trainings. Each is judged at every tenth of its steps; a result is a line of
benchmarks/tracking.jsonl as soon as it is there, and what is there is not done again, so that a study can be stopped at
any time and go on later. `tables` writes docs/tables/tracking_*.md from what there is.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from rows import add_row, read_rows

RESULTS = Path(__file__).with_suffix(".jsonl")
STAGE = "policy"
JUDGED = 10
"""times in a training"""
KINDS = ("stand", "reach", "bend", "twist", "turn", "kick", "squat", "lunge", "jump", "walk", "run")
MANY = tuple(
    (kind, seed) for kind in ("stand", "reach", "bend", "twist", "turn", "squat", "lunge", "walk") for seed in (1, 2)
)
UNSEEN = tuple((kind, seed) for kind, _ in MANY[::2] for seed in (11, 12))
METHODS = ("ik", "gmr", "sink", "physink", "physink:dynamic")
"""Ways of retargeting; :dynamic: contacts by that preset of curation, which are the same in a squat"""


@dataclass(frozen=True)
class Training:
    """One training and how it is judged."""

    study: str
    name: str
    motions: tuple[tuple[str, int], ...]
    """type and seed of each"""
    steps: int
    seed: int = 0
    method: str = "physink+collision:dynamic"
    unseen: tuple[tuple[str, int], ...] = ()
    """motions that it is judged by besides"""
    episodes: int = 32
    """of each motion"""
    cfg: dict[str, Any] = field(default_factory=dict)
    disturbed: bool = False
    """judged with noise and pushes too"""

    @property
    def key(self) -> str:
        return f"{self.study}/{self.name}/{self.seed}"


def studies() -> dict[str, list[Training]]:
    million = 1_000_000
    lengths = {"stand": 1.0, "walk": 4.0}
    of_type = [
        Training("types", kind, ((kind, 0),), int(lengths.get(kind, 1.5) * million), seed)
        for kind, seed in [("walk", 0), ("walk", 1), *((kind, 0) for kind in KINDS if kind != "walk")]
    ]
    many = [
        Training("many", name, MANY, 4 * million, seed, unseen=UNSEEN, episodes=4, cfg={"future": future})
        for seed in (0, 1)
        for name, future in (("future", True), ("no future", False))
    ]
    methods = [
        Training("methods", f"{kind} by {method}", ((kind, 1),), int(length * million), seed, method=method)
        for kind, length, ways in (("squat", 1.0, METHODS[:-1]), ("walk", 2.0, METHODS))
        for seed in (0, 1, 2)
        for method in ways
    ]
    disturbed = [
        Training("disturbed", name, (("stand", 0),), int(length * million), seed, cfg={"randomize": on}, disturbed=True)
        for seed in (0, 1)
        for name, on, length in (("plain", False, 1.25), ("randomized", True, 2.0))
    ]
    divergence = [
        Training("divergence", f"KL {kl:g}", (("stand", 0),), million, seed, cfg={"desired_kl": kl})
        for seed in (0, 1)
        for kl in (0.01, 0.03)
    ]
    return {"types": of_type, "many": many, "methods": methods, "disturbed": disturbed, "divergence": divergence}


def done() -> dict[str, list[dict[str, Any]]]:
    """Results by training, as far as they go."""
    out: dict[str, list[dict[str, Any]]] = {}
    for row in read_rows(RESULTS):
        out.setdefault(row["key"], []).append(row)
    return out


def run_folder(training: Training, folder: Path) -> Path:
    """Where its checkpoint is."""
    return folder / training.key.replace("/", "_").replace(" ", "_")


def train(training: Training, folder: Path) -> None:
    """Train, judge, and append results; goes on from a checkpoint in `folder`."""
    import torch

    torch.set_num_threads(1)
    from phuma.learning.run.folder import RunFolder, run_info
    from phuma.learning.run.runner import StageRunner

    library, motions = library_of_motions(training.motions, training.method)
    unseen = library_of_motions(training.unseen, training.method) if training.unseen else None
    cfg = settings(training)
    trainer = StageRunner(library, cfg, STAGE, threads=1)
    run = RunFolder(run_folder(training, folder))
    if run.description.exists():
        trainer.restore(run.load(STAGE))
    else:
        run.begin(run_info(library.robot, cfg, len(library), {"benchmark": training.key}, ""))
    rows = done().get(training.key, [])
    cpu = rows[-1]["cpu_seconds"] if rows else 0.0
    clock = time.process_time()
    for part in range(1, JUDGED + 1):
        if trainer.steps >= part * training.steps / JUDGED and any(r["part"] == part for r in rows):
            continue
        while trainer.steps < part * training.steps / JUDGED:
            told = trainer.iterate()
        cpu, clock = cpu + time.process_time() - clock, time.process_time()
        row = {
            "key": training.key, "part": part, "steps": trainer.steps, "cpu_seconds": round(cpu, 1),
            "cfg": flat(cfg), "method": training.method, "reward": told["reward"],
            "seen": judged(trainer, library, motions, training.episodes),
        }  # fmt: skip
        if unseen:
            row["unseen"] = judged(trainer, *unseen, training.episodes)
        if training.disturbed:
            row["disturbed"] = judged(trainer, library, motions, training.episodes, noise=1.0, pushes=True)
        if part == JUDGED:
            row["seen_training_physics"] = judged(
                trainer, library, motions, training.episodes, substeps=trainer.cfg.environment.substeps
            )
        run.save(STAGE, trainer.snapshot())
        add_row(RESULTS, row)
        clock = time.process_time()
        total = row["seen"]["total"]
        print(f"{training.key} {trainer.steps / 1e6:.2f}M {cpu:.0f} s SR@0.5 {total['success_0.5']:.0f}", flush=True)


def settings(training: Training) -> Any:
    """The preset for a CPU with the training's changes, whatever they concern."""
    from phuma.learning.recipes.recipe import recipe_named

    cfg = recipe_named("beyondmimic").settings(seed=training.seed, begin="scratch")
    stage = cfg.stages[STAGE]
    concerns, others = {}, dict(training.cfg)
    for concern in ("network", "algorithm"):
        own = getattr(stage, concern)
        concerns[concern] = replace(own, **{n: others.pop(n) for n in training.cfg if hasattr(own, n)})
    environment = stage.environment.changed(**others)
    return replace(cfg, stages={STAGE: replace(stage, environment=environment, **concerns)})


def flat(cfg: Any) -> dict[str, Any]:
    """All settings of a run by their names, as results have always held them."""
    stage = cfg.stages[STAGE]
    environment = asdict(stage.environment)
    return {
        "algo": cfg.algo, "seed": cfg.seed, **environment.pop("disturbances"), **environment, **asdict(stage.network),
        **asdict(stage.algorithm),
    }  # fmt: skip


def library_of_motions(motions: tuple[tuple[str, int], ...], method: str) -> tuple[Any, dict[str, Any]]:
    """The motions on the G1, as a library and by name."""
    from phuma.curation import CurateCfg, curate
    from phuma.learning.motions.library import library_of
    from phuma.pipelines.retarget import retarget
    from phuma.robots import load_robot
    from phuma.synth import generate

    robot, (name, _, preset) = load_robot("g1"), method.partition(":")
    made = {}
    for kind, seed in motions:
        curation = curate(generate(kind, seed=seed).motion, CurateCfg(preset=preset or "paper"))
        made[f"{kind}_{seed}"] = retarget(curation, robot, name), kind
    return library_of(robot, ((name, motion, kind) for name, (motion, kind) in made.items())), made


def judged(
    trainer: Any,
    library: Any,
    motions: dict[str, Any],
    episodes: int,
    substeps: int = 4,
    noise: float = 0.0,
    pushes: bool = False,
) -> dict[str, Any]:
    """Success and errors of the policy's mean action, from the motions' first frames."""
    from phuma.dataset.category import GROUPS
    from phuma.evaluation import ERRORS, SHARES, judge, summarise
    from phuma.learning.deploy.policy import info_of
    from phuma.learning.deploy.torch_policy import TorchPolicy
    from phuma.learning.run.rollouts import START, roll_out
    from phuma.sim.events import EventsCfg
    from phuma.sim.mujoco_cpu import MujocoSimulation

    def simulation(robots: int) -> MujocoSimulation:
        return MujocoSimulation(library.robot, robots, substeps, threads=1)

    policy = TorchPolicy(trainer.net, info_of(library.robot, "beyondmimic", STAGE, trainer.cfg.environment))
    found = roll_out(policy, library, simulation, episodes, EventsCfg(noise=noise, pushes=pushes, start=START))
    scores = [judge(r, motions[r.motion][0], library.robot, motions[r.motion][1]) for r in found]
    summary = summarise(scores, GROUPS)

    def short(entry: dict[str, Any]) -> dict[str, Any]:
        values = {n: entry[n] for n in (*SHARES, *ERRORS)} | {"interval": entry["interval"]["success_0.5"]}
        return values | {"rollouts": entry["rollouts"]}

    return {"total": short(summary["total"]), "motions": {m["motion"]: short(m) for m in summary["motions"]}}


def queue(study: str) -> Iterator[Training]:
    finished = {key for key, rows in done().items() if any(r["part"] == JUDGED for r in rows)}
    yield from (t for t in studies()[study] if t.key not in finished)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("study", nargs="?", default="tables", choices=[*studies(), "tables", "one"])
    parser.add_argument("key", nargs="?", help="of a training, for `one`")
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    parser.add_argument("--folder", type=Path, default=Path("tracking-runs"), help="where checkpoints go")
    args = parser.parse_args()
    if args.study == "one":
        train(next(t for s in studies().values() for t in s if t.key == args.key), args.folder)
        return
    if args.study == "tables":
        import tracking_tables

        tracking_tables.write(done())
        return
    waiting, running = list(queue(args.study)), []
    while waiting or running:
        running = [p for p in running if p.poll() is None]
        while waiting and len(running) < args.workers:
            command = [sys.executable, __file__, "one", waiting.pop(0).key, "--folder", str(args.folder)]
            running.append(subprocess.Popen(command, env={**os.environ, "OMP_NUM_THREADS": "1"}))
        time.sleep(1)


if __name__ == "__main__":
    main()

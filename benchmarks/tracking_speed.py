"""What the task costs beside its physics: environment steps per second with observations, rewards and resets, against
`mujoco.rollout` alone on the very same states and targets; and the memory of a training with 512 environments."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import numpy as np

from phuma.learning.env.tracking import TrackingEnv
from phuma.learning.motions.library import MotionLibrary, library_of
from phuma.learning.motions.references import expand
from phuma.learning.motions.sampling import Sampler
from phuma.learning.recipes.recipe import recipe_named
from phuma.pipelines.retarget import retarget
from phuma.robots import load_robot
from phuma.sim.mujoco_cpu import MujocoSimulation
from phuma.synth import generate
from tables import markdown, save

STEPS, REPEATS = 40, 5
KINDS = ("stand", "squat", "turn", "walk")


def motions() -> MotionLibrary:
    robot = load_robot("g1")
    return library_of(robot, ((kind, retarget(generate(kind).motion, robot), kind) for kind in KINDS))


def measured(library: MotionLibrary, robots: int, threads: int) -> list[object]:
    """Environment steps a second, in the median of repeats, wall and CPU, and the same of the physics alone."""
    rng = np.random.default_rng(0)
    recipe = recipe_named("beyondmimic")
    cfg = recipe.settings(begin="scratch").stages["policy"].environment
    task = recipe.task("policy", cfg)
    references = expand(library, range(len(library)), task)
    simulation = MujocoSimulation(library.robot, robots, cfg.substeps, threads)
    sampler = Sampler(references, rng)
    env = TrackingEnv(library.robot, simulation, task, references, sampler.draw, rng, on_step=sampler.record)
    actions = [0.2 * rng.standard_normal((robots, library.robot.n_joints), dtype=np.float32) for _ in range(STEPS)]
    inputs: list[tuple[np.ndarray, np.ndarray]] = []
    step = simulation.step

    def recorded(target: np.ndarray) -> None:
        inputs.append((simulation._now.copy(), target))
        step(target)

    simulation.step = recorded  # type: ignore[method-assign]
    ratios, rates = [], []
    for repeat in range(REPEATS + 1):
        inputs.clear()
        whole = timed(lambda: [env.step(action) for action in actions])
        bare = timed(lambda: [simulation.bare(*pair) for pair in inputs])
        if repeat:  # the first warms up
            rates.append([robots * STEPS / t for t in (*whole, *bare)])
            ratios.append([b / w for b, w in zip(bare, whole)])
    wall, cpu, bare_wall, bare_cpu = np.median(rates, axis=0)
    share = 100 * np.median(ratios, axis=0)
    return [
        robots,
        threads,
        round(wall),
        round(bare_wall),
        f"{share[0]:.0f}",
        round(cpu),
        round(bare_cpu),
        f"{share[1]:.0f}",
    ]


def timed(work) -> tuple[float, float]:
    """Wall and CPU seconds."""
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - wall, time.process_time() - cpu


def training_memory(robots: int) -> str:
    """Peak of a process that trains two iterations, GB."""
    code = (
        "import resource, sys; sys.path.insert(0, 'benchmarks')\n"
        "from tracking_speed import motions; from phuma.learning.recipes.recipe import recipe_named\n"
        "from phuma.learning.run.runner import StageRunner\n"
        f"cfg = recipe_named('beyondmimic').settings(begin='scratch').with_environment(environments={robots})\n"
        "t = StageRunner(motions(), cfg, 'policy'); t.iterate(); t.iterate()\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return f"{float(done.stdout):.2f} GB"


def main() -> None:
    library = motions()
    cores = os.cpu_count() or 1
    rows = [measured(library, robots, threads) for robots in (256, 512) for threads in sorted({1, cores})]
    head = [
        "environments",
        "threads",
        *(h for s in ("s", "CPU s") for h in (f"steps/{s}", "physics alone", "share, %")),
    ]
    memory = f"Peak memory of a training with 512 environments, networks and storage included: {training_memory(512)}."
    note = (
        f"Median of {REPEATS} repeats of {STEPS} control steps of 20 ms (two physics steps), on motions of four types "
        "with random actions. Physics alone is `mujoco.rollout` on the same states and targets."
    )
    save("tracking_speed", "Environment steps against physics alone", markdown(head, rows), note, memory)


if __name__ == "__main__":
    main()

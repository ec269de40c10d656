"""How far the base alone carries a robot, without any policy: by kind of base, and by how swinging feet were put on the
robot."""

from __future__ import annotations

import numpy as np

from phuma.learning.env.config import EnvironmentCfg
from phuma.learning.env.tracking import TrackingEnv
from phuma.learning.motions.library import MotionLibrary
from phuma.learning.motions.references import expand
from phuma.learning.recipes.recipe import recipe_named
from phuma.robots.inverse_dynamics import derivatives, inverse_dynamics
from phuma.sim.feedforward import BASES
from phuma.sim.mujoco_cpu import MujocoSimulation
from tables import markdown, save
from tracking import KINDS, library_of_motions

SEEDS = (0, 1)
CONTACTS = {"paper": "", "stance": ":dynamic"}
"""Contacts by the ending of the method; see tracking.py"""
EVERY, LONGEST, EARLY = 20, 100, 10
"""control steps: between first frames, until an episode is no longer watched, and of the early reward"""


def alone(library: MotionLibrary, base: str) -> tuple[dict[str, float], dict[str, float]]:
    """By type: control steps until a termination, at most LONGEST, and the mean reward a second of the first EARLY."""
    task = recipe_named("beyondmimic").task("policy", EnvironmentCfg(base=base))
    references = expand(library, range(len(library)), task)
    starts = np.concatenate(
        [np.arange(first, last - LONGEST + 1, EVERY) for first, last in zip(references.first, references.last)]
    )
    simulation = MujocoSimulation(library.robot, len(starts), 2)
    rng = np.random.default_rng(0)
    env = TrackingEnv(library.robot, simulation, task, references, lambda rows: starts[rows], rng)
    running, life = np.ones(len(starts), dtype=bool), np.zeros(len(starts))
    early = []
    for step in range(LONGEST):
        told = env.step(np.zeros((len(starts), library.robot.n_joints), dtype=np.float32))
        if step < EARLY:
            early.append(np.where(running, 50 * told.reward, np.nan))
        life += running
        running &= ~told.terminated & ~told.truncated
    kinds = np.array(library.categories)[references.clip_of[starts]]
    reward = np.nanmean(early, axis=0)
    return tuple({kind: float(values[kinds == kind].mean()) for kind in KINDS} for values in (life, reward))


def residuals(library: MotionLibrary) -> dict[str, float]:
    """By type: mean unactuated root residual, in body weights."""
    out: dict[str, list[float]] = {}
    for motion, kind in zip(library.motions, library.categories):
        forces = inverse_dynamics(library.robot, motion, derivatives(motion))
        out.setdefault(str(kind), []).append(float(np.linalg.norm(forces.residual[:, :3], axis=1).mean()))
    return {kind: float(np.mean(values)) for kind, values in out.items()}


def main() -> None:
    wanted = tuple((kind, seed) for kind in KINDS for seed in SEEDS)
    libraries = {name: library_of_motions(wanted, f"physink+collision{how}")[0] for name, how in CONTACTS.items()}
    lives = {base: alone(libraries["stance"], base)[0] for base in BASES}
    rows = [[kind, *(f"{lives[base][kind]:.0f}" for base in BASES)] for kind in KINDS]
    rows.append(["mean", *(f"{np.mean(list(lives[base].values())):.0f}" for base in BASES)])
    found = {name: (*alone(library, "feedforward"), residuals(library)) for name, library in libraries.items()}
    digits = {"steps": 0, "reward": 1, "residual": 2}
    head = ["type", *(f"{what}, {name}" for what in digits for name in CONTACTS)]
    by_contact = [
        [
            kind,
            *(f"{found[name][i][kind]:.{d}f}" for i, d in enumerate(digits.values()) for name in CONTACTS),
        ]
        for kind in KINDS
    ]
    save(
        "tracking_bases",
        "How far the base alone carries a robot",
        f"Control steps of 20 ms until a termination, at most {LONGEST}, with zero actions, from every {EVERY}th frame "
        f"of {len(SEEDS)} generated motions of each type; contacts that stand.",
        markdown(["type", *BASES], rows),
        "Feed-forward base, with the paper's contacts, by which low swing feet are held; or with contacts that stand "
        "(`--contacts stance`), as preset `dynamic` has them. Mean reward a second (at most 5) of the "
        f"first {EARLY} steps, and the unactuated root residual, in body weights.",
        markdown(head, by_contact),
    )


if __name__ == "__main__":
    main()

"""KungfuBot's students where they did not learn: in the worlds of `phuma evaluate --sim2sim`, and run by the reference
controller of examples/controller, in a process of its own, on the maker's model file.

    python benchmarks/kungfubot_transfer.py worlds|controller... [--robot g1] [--clips 22] [--label LABEL]
    python benchmarks/kungfubot_transfer.py tables

The students are those that benchmarks/kungfubot.py has trained and kept, one per seed. A result is a line of
benchmarks/kungfubot_transfer.jsonl as soon as it is there, and what is there is not done again. The maker's file is
that of Unitree's G1 in the folder PHUMA_ROBOTS. `tables` writes docs/tables/kungfubot_worlds.md and
kungfubot_controller.md.

In the worlds: 8 rollouts a clip from starts a fifth of the paper's ranges off. By the controller: every clip once from
standing and once from its first state, compared with a single rollout of `phuma evaluate`, from the same state.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import kungfubot
import pieces
from distillation import generated, library
from phuma.core.rollout import Rollout
from phuma.formats.rollout_file import load_rollout
from phuma.learning.deploy.policy import PolicyInfo
from phuma.learning.deploy.reference_file import save_reference
from phuma.learning.motions.library import MotionLibrary
from phuma.pipelines.evaluate_policy import judge_rollouts, load_policy, try_in
from phuma.pipelines.experts import only_performed
from phuma.pipelines.sim2sim import all_worlds
from phuma.sim.world_simulation import why_not
from phuma.sim.worlds import TRAINED, World
from rows import add_row, read_rows
from sim2sim import unitrees
from tables import markdown, save

RESULTS = Path(__file__).with_suffix(".jsonl")
CONTROLLER = Path(__file__).parents[1] / "examples" / "controller" / "run.py"
EPISODES = 8
STARTS: dict[str, tuple[str, ...]] = {"standing": (), "the first state": ("--on-reference",)}
EVALUATION = "`phuma evaluate`"
Case = tuple[str, Callable[[], Iterator[Rollout]]]
"""A name, and what makes the rollouts"""
SUCCESSES = ("success_0.5", "success_0.15")


def students(robot: str, clips: int, label: str) -> list[Path]:
    """The students that are kept, one per seed."""
    found = sorted(pieces.KEPT.glob(f"*-{pieces.slug(f'{robot} {label} {clips} clips')}-*student.onnx"))
    if not found:
        raise SystemExit(f"no student in {pieces.KEPT}: run benchmarks/kungfubot.py stages robust --robot {robot}")
    return found


def figures(document: dict[str, Any]) -> dict[str, Any]:
    """Success in percent, in all and by clip."""
    rows = {row["motion"]: [row[name] for name in SUCCESSES] for row in document["motions"]}
    return {"total": [document["total"][name] for name in SUCCESSES], "by clip": rows}


def in_worlds(file: Path, motions: MotionLibrary) -> Iterator[Case]:
    """A case per world that can be simulated here."""
    policy = load_policy(file)
    worlds = all_worlds(model=unitrees())
    for name, world in sorted(worlds.items(), key=lambda own: own[1].simulator != "mujoco"):  # the slow ones last
        if why_not(world) is None:
            yield name, partial(try_in, world, policy, motions, EPISODES)


def by_controller(file: Path, motions: MotionLibrary) -> Iterator[Case]:
    """A case per model file and start, and that of the evaluation."""
    policy = load_policy(file)
    yield EVALUATION, partial(try_in, World(), policy, motions)
    for which, model in {"the maker's file": unitrees(), "our file": Path(motions.robot.model_file)}.items():
        for start, words in STARTS.items():
            if model is not None:
                every = partial(all_controlled, file, policy.info, motions, model, words)
                yield f"{which}, from {start}", every


def all_controlled(file: Path, info: PolicyInfo, motions: MotionLibrary, *how: Any) -> Iterator[Rollout]:
    return (controlled(file, info, motions, number, *how) for number in range(len(motions)))


def controlled(
    file: Path, info: PolicyInfo, motions: MotionLibrary, number: int, model: Path, words: tuple[str, ...]
) -> Rollout:
    """What the controller, in a process of its own, does with one clip."""
    with tempfile.TemporaryDirectory() as folder:
        there = Path(folder)
        shutil.copy(file, there / "policy.onnx")
        save_reference(there / "motion.npz", motions, number, info)
        out = there / "rollout.npz"
        asked = [sys.executable, str(CONTROLLER), folder, "--model", str(model), "--out", str(out), *words]
        done = subprocess.run(asked, capture_output=True, text=True)
        if not out.exists():
            raise SystemExit(f"{motions.names[number]}: the controller wrote nothing: {done.stdout}{done.stderr}")
        return load_rollout(out)


STUDIES = {"worlds": in_worlds, "controller": by_controller}


def run(names: Sequence[str], robot: str, clips: int, label: str) -> None:
    kungfubot.use_robot(robot)
    motions = only_performed(library(generated(clips))[0])
    there = {(row["study"], row["policy"], row["case"]) for row in read_rows(RESULTS)}
    for name in names:
        for file in students(robot, clips, label):
            for case, rollouts in STUDIES[name](file, motions):
                if (name, file.stem, case) not in there:
                    found = figures(judge_rollouts(rollouts(), motions))
                    add_row(RESULTS, {"study": name, "policy": file.stem, "case": case, **found})
                    print(file.stem, case, found["total"], flush=True)


def results(study: str) -> dict[str, list[dict[str, Any]]]:
    """Rows of a study by their cases, one per policy."""
    out = defaultdict(list)
    for row in read_rows(RESULTS):
        if row["study"] == study:
            out[row["case"]].append(row)
    return out


def by_clip(rows: Sequence[dict[str, Any]], threshold: int) -> np.ndarray:
    """(clips,) success in percent, mean over policies."""
    return np.array([np.mean([row["by clip"][clip][threshold] for row in rows]) for clip in sorted(rows[0]["by clip"])])


def cells(rows: Sequence[dict[str, Any]], other: Sequence[dict[str, Any]]) -> list[str]:
    """Success at both thresholds, and the difference at 0.5 m to other rows with its interval by clips drawn anew."""
    at = [by_clip(rows, n) for n in (0, 1)]
    apart = at[0] - by_clip(other, 0)
    drawn = np.random.default_rng(0).choice(apart, (2000, len(apart))).mean(axis=1)
    low, high = np.percentile(drawn, [2.5, 97.5])
    each = ", ".join(f"{row['total'][0]:.0f}" for row in rows)
    return [f"{at[0].mean():.1f}", each, f"{at[1].mean():.1f}", f"{apart.mean():+.1f} [{low:+.0f}, {high:+.0f}]"]


def table(study: str, name: str, title: str, first: str, about: str) -> None:
    found = results(study)
    if found:
        rows = [[case, *cells(own, found[first])] for case, own in found.items()]
        head = ["", "SR@0.5", "each seed", "SR@0.15", "difference at 0.5 m"]
        judged = ", ".join(f"`{name}`" for name in sorted({row["policy"] for own in found.values() for row in own}))
        save(name, title, markdown(head, rows), f"{about} Policies: {judged}.")


def tables() -> None:
    table(
        "worlds", "kungfubot_worlds", "KungfuBot's students in other worlds", TRAINED,
        f"Percent of {EPISODES} rollouts a clip from starts a fifth of the ranges off, the same in every world; "
        f"difference to {TRAINED} with its 95 % interval, by clips drawn anew.",
    )  # fmt: skip
    table(
        "controller", "kungfubot_controller", "KungfuBot's students run by the reference controller", EVALUATION,
        "Percent of clips, one run each, in a process of its own with numpy and onnxruntime at 2 ms; difference to "
        "`phuma evaluate` from the motion's first state at the training's physics, with its 95 % interval, by clips "
        "drawn anew.",
    )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("studies", nargs="+", choices=(*STUDIES, "tables"))
    parser.add_argument("--robot", default="g1")
    parser.add_argument("--clips", type=int, default=22)
    parser.add_argument("--label", default="from experts")
    args = parser.parse_args()
    if names := [name for name in args.studies if name != "tables"]:
        run(names, args.robot, args.clips, args.label)
    if "tables" in args.studies:
        tables()


if __name__ == "__main__":
    main()

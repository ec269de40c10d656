"""Which clips a robot really performs under physics, how closely, and what that costs.

    python benchmarks/certify.py STUDY|tables [--workers 2] [--every N]

A study is a list of clips to certify. A result is a line of benchmarks/certify.jsonl as soon as it is there, and what
is there is not done again, so that a study can be stopped at any time and go on later. `tables` writes
docs/tables/certify_*.md from what there is. PHUMA_CMU names the folder of the recordings; --every takes every
so-many-th clip only. Without an argument all studies are done.
"""

from __future__ import annotations

import argparse
import json
import resource
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from cmu_table import CMU
from phuma.core.clip import Clip
from phuma.core.rollout import Rollout
from phuma.curation import CurateCfg, curate
from phuma.dataset.category import categorise
from phuma.evaluation.summary import wilson
from phuma.pipelines.certify import certify
from phuma.pipelines.files_to_clips import kept_clips, parts_in
from phuma.pipelines.retarget import retarget
from phuma.retargeting import DEFAULT_METHOD
from phuma.robots import Robot, cached_robot
from phuma.robots.kinematics import point_positions, points_of
from phuma.runtime.process_pool import map_in_order
from phuma.synth import generate
from rows import add_row, read_rows
from tables import markdown, save

RESULTS = Path(__file__).with_suffix(".jsonl")
KINDS = ("stand", "reach", "bend", "twist", "turn", "kick", "squat", "lunge", "jump", "walk", "run")
EASY = ("walk", "turn", "kick", "reach", "bend")
METHODS = ("ik", "gmr", "sink", "physink", DEFAULT_METHOD)
CLIPS_OF_METHODS = 60
PAPER_CLIPS, CLUSTER = 76_000, 256
FPS, SECONDS = 30.0, 4.0


class Work(NamedTuple):
    """One clip to certify."""

    study: str
    clip: str
    robot: str = "g1"
    method: str = DEFAULT_METHOD
    effort: str = "normal"

    @property
    def key(self) -> str:
        return json.dumps(self)


def clip_of(name: str) -> Clip:
    """A clip by its name: `cmu:FILE:NUMBER`, of those that the default preset keeps; `all:FILE:NUMBER`, of all; or
    `synth:KIND:SEED:SECONDS`."""
    what, *words = name.split(":")
    if what == "synth":
        kind, seed, seconds = words
        return curate(generate(kind, seconds=float(seconds), fps=FPS, seed=int(seed)).motion).whole
    path, number = CMU / words[0], int(words[1])
    if what == "cmu":
        return kept_clips(path)[number]
    return [clip for _, part in parts_in(path) for clip in part.clips][number]


def keypoint_error(rollout: Rollout, robot: Robot, human: np.ndarray, fps: float) -> float:
    """Mean distance in cm of the robot's keypoints from those of the human with the robot's bones."""
    from phuma.core.skeleton import JOINTS

    points = points_of(robot, robot.keypoint_body, robot.keypoint_offset)
    at = point_positions(robot, points, rollout.resampled(fps))
    wanted = human[: len(at), [JOINTS.index(name) for name in robot.keypoints]]
    return 100 * float(np.linalg.norm(at[: len(wanted)] - wanted, axis=-1).mean())


def done(work: Work) -> dict[str, Any]:
    """The result of one clip."""
    clip, robot = clip_of(work.clip), cached_robot(work.robot)
    motion = retarget(clip, robot, work.method)
    found = certify(motion, robot, work.effort, name=work.clip)
    human = None
    if found.performance is not None and motion.human_joints is not None:
        human = keypoint_error(found.performance, robot, motion.human_joints, motion.fps)
    return {
        "work": work, "category": categorise(clip.motion, clip.contact), "kept": clip.verdict.kept,
        "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000,
        "seconds": motion.duration, "cpu": found.seconds, "human_cm": human,
        "residual": motion.report["metrics"].get("root_residual"), **found.values,
    }  # fmt: skip


def cmu_names(every: int = 1) -> list[str]:
    """All clips that the default preset keeps."""
    names = []
    for path in sorted(CMU.glob("*.bvh")):
        names += [f"cmu:{path.name}:{k}" for k in range(len(kept_clips(path)))]
    return names[::every]


@cache
def verdicts() -> dict[str, tuple[Clip, Clip]]:
    """Every clip of all recordings by its name, `all:FILE:NUMBER`, as the default preset and as the paper's judges it.
    Both cut alike."""
    out = {}
    for path in sorted(CMU.glob("*.bvh")):
        own, paper = (
            [clip for _, part in parts_in(path, curate_cfg=CurateCfg(preset=preset)) for clip in part.clips]
            for preset in (CurateCfg().preset, "paper")
        )
        assert [clip.start for clip in own] == [clip.start for clip in paper], path
        out |= {f"all:{path.name}:{k}": both for k, both in enumerate(zip(own, paper))}
    return out


def rejected_names(every: int) -> list[str]:
    """Clips that the default preset rejects; those that it keeps are in the study `cmu`."""
    return [name for name, (own, _) in verdicts().items() if not own.verdict.kept][::every]


def study(name: str, every: int) -> list[Work]:
    """The clips of a study."""
    if name == "cmu":
        return [Work(name, clip) for clip in cmu_names(every)]
    if name == "h1_2":
        return [Work(name, clip, robot="h1_2") for clip in cmu_names(4 * every)]
    if name == "generated":
        return [Work(name, f"synth:{kind}:{seed}:{SECONDS}") for seed in range(100, 110) for kind in KINDS][::every]
    if name == "methods":
        names = cmu_names()
        chosen = names[:: max(1, len(names) // CLIPS_OF_METHODS)][:CLIPS_OF_METHODS:every]
        return [Work(name, clip, method=method) for clip in chosen for method in METHODS]
    if name == "effort":
        chosen = [f"synth:{kind}:{seed}:{SECONDS}" for seed in (200, 201) for kind in KINDS][::every]
        return [Work(name, clip, effort=effort) for clip in chosen for effort in ("quick", "normal", "thorough")]
    if name == "length":
        return [
            Work(name, f"synth:{kind}:300:{seconds}") for seconds in (1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
            for kind in ("walk", "squat", "turn")
        ][::every]  # fmt: skip
    if name in ("one_job", "two_jobs"):
        return [Work(name, f"synth:{kind}:400:{SECONDS}") for kind in KINDS]
    if name == "verdicts":
        return [Work(name, clip) for clip in rejected_names(every)]
    raise SystemExit(f"no study {name!r}")


def results(study_name: str | None = None) -> Iterator[dict[str, Any]]:
    """What there is, of a study or of all."""
    return (row for row in read_rows(RESULTS) if study_name in (None, row["work"][0]))


def run(names: Iterable[str], workers: int, every: int) -> None:
    there = {json.dumps(row["work"]) for row in results()}
    for name in names:
        todo = [work for work in study(name, every) if work.key not in there]
        print(f"{name}: {len(todo)} to do", flush=True)
        jobs = {"one_job": 1, "two_jobs": 2}.get(name, workers)
        for row in map_in_order(done, todo, jobs):
            add_row(RESULTS, row)
            print(row["work"][1:], row["certified"], row["way"], f"{row['cpu']:.1f} s", row["reason"], flush=True)


def share(rows: Sequence[dict[str, Any]], name: str = "certified") -> str:
    """A percentage with Wilson's interval."""
    p, n = float(np.mean([row[name] for row in rows])), len(rows)
    low, high = wilson(p, n)
    return f"{100 * p:.1f} [{100 * low:.0f}, {100 * high:.0f}]"


def mean(rows: Sequence[dict[str, Any]], name: str) -> str:
    values = [row[name] for row in rows if row[name] is not None]
    return f"{np.mean(values):.1f}" if values else "-"


HEAD = ("", "clips", "certified, % (0.15 m)", "loosely, % (0.5 m)", "error, mm", "at torque limits, %",
        "stays up: starts off, %", "pushes, %", "CPU s, mean", "most")  # fmt: skip


def line(label: str, rows: Sequence[dict[str, Any]]) -> list[str]:
    good = [row for row in rows if row["certified"]]
    return [
        label, str(len(rows)), share(rows), share(rows, "loosely"), mean(good, "error_mm"),
        mean(good, "torque_share"), mean(good, "robust_starts"), mean(good, "robust_pushes"),
        mean(rows, "cpu"), f"{max(row['cpu'] for row in rows):.0f}",
    ]  # fmt: skip


def by(rows: Iterable[dict[str, Any]], key: Any) -> dict[Any, list[dict[str, Any]]]:
    out = defaultdict(list)
    for row in rows:
        out[key(row)].append(row)
    return dict(sorted(out.items(), key=lambda item: item[0]))


def table_of_categories(name: str, title: str) -> None:
    rows = list(results(name))
    if not rows:
        return
    groups = by(rows, lambda row: row["work"][1].split(":")[1] if name == "generated" else row["category"])
    easy = [row for kind in EASY for row in groups.get(kind, [])]
    lines = [line(kind, own) for kind, own in groups.items()]
    lines += [line(", ".join(EASY), easy)] * bool(easy) + [line("all", rows)]
    ways = by([r for r in rows if r["certified"]], lambda row: row["way"])
    parts = [markdown(HEAD, lines), "Certified by: " + ", ".join(f"{w} {len(o)}" for w, o in ways.items()) + "."]
    if name == "cmu":
        hours = PAPER_CLIPS * float(np.mean([row["cpu"] for row in rows])) / 3600
        parts.append(
            f"The paper's {PAPER_CLIPS:,} clips at this mean: {hours:.0f} CPU hours, {hours / CLUSTER:.1f} hours on "
            f"{CLUSTER} cores (computed)."
        )
    lost = [row for row in rows if not row["certified"]]
    parts.append(
        "\n".join(
            [
                "Not certified:" if lost else "None is lost.",
                "",
                *(f"- {r['work'][1]} ({r['category']}): {r['reason']}" for r in lost),
            ]
        )
    )
    save(f"certify_{name}", title, *parts)


def table_of_methods() -> None:
    rows = list(results("methods"))
    if not rows:
        return
    groups = by(rows, lambda row: row["work"][3])
    head = ("method", "clips", "certified, %", "loosely, %", "error to the reference, mm", "to the human, cm",
            "at torque limits, %", "CPU s")  # fmt: skip
    lines = []
    for method in METHODS:
        own = groups.get(method, [])
        if own:
            good = [row for row in own if row["certified"]]
            lines.append([
                method, str(len(own)), share(own), share(own, "loosely"), mean(good, "error_mm"),
                mean(good, "human_cm"), mean(good, "torque_share"), mean(own, "cpu"),
            ])  # fmt: skip
    both = set.intersection(*({r["work"][1] for r in own if r["certified"]} for own in groups.values()))
    shared = [
        [method, str(len(both)), mean([r for r in groups[method] if r["work"][1] in both], "human_cm")]
        for method in METHODS if method in groups
    ]  # fmt: skip
    save(
        "certify_methods", "Certified by retargeting method, G1, the same clips", markdown(head, lines),
        "Of those clips that are certified by every method:", markdown(("method", "clips", "to the human, cm"), shared),
    )  # fmt: skip


def table_of_cost() -> None:
    efforts = by(results("effort"), lambda row: row["work"][4])
    lengths = by(results("length"), lambda row: round(row["seconds"]))
    parts = []
    if efforts:
        lines = [line(name, efforts[name]) for name in ("quick", "normal", "thorough") if name in efforts]
        parts += ["By effort, two generated clips of each of eleven types:", markdown(("effort", *HEAD[1:]), lines)]
    if lengths:
        lines = [
            [f"{s} s", str(len(own)), share(own), mean(own, "cpu"), mean([{"rate": r["cpu"] / s} for r in own], "rate")]
            for s, own in lengths.items()
        ]  # fmt: skip
        head = ("length", "clips", "certified, %", "CPU s", "CPU s per second of motion")
        parts += ["By length, a generated walk, squat and turn:", markdown(head, lines)]
    one, two = (list(results(name)) for name in ("one_job", "two_jobs"))
    if one and two:
        ratio = sum(row["cpu"] for row in two) / sum(row["cpu"] for row in one)
        most = max(row["megabytes"] for row in (*one, *two))
        parts.append(
            f"{len(one)} generated clips by two jobs took {ratio:.2f} times the CPU seconds that they took by one; a "
            f"worker had at most {most:.0f} MB."
        )
    if parts:
        save("certify_cost", "What certification costs", *parts)


def table_of_verdicts() -> None:
    rows = {row["work"][1]: row for row in results("verdicts") if not row["kept"]}
    if not rows:
        return
    numbers: dict[str, int] = defaultdict(int)
    kept = {row["work"][1]: row for row in results("cmu")}
    for name, (own, _) in verdicts().items():
        if own.verdict.kept:
            file = name.split(":")[1]
            rows[name] = kept[f"cmu:{file}:{numbers[file]}"]
            numbers[file] += 1
    groups = by(
        [(row, *(clip.verdict.kept for clip in verdicts()[name])) for name, row in rows.items()], lambda each: each[1:]
    )
    lines = [
        ["kept" if own else "rejected", "kept" if paper else "rejected", str(len(group)),
         share([row for row, *_ in group]), share([row for row, *_ in group], "loosely")]
        for (own, paper), group in groups.items()
    ]  # fmt: skip
    odd = [(name, row) for name, row in rows.items() if verdicts()[name][0].verdict.kept != row["certified"]]
    told = [f"- {name} ({row['category']}): {'; '.join(verdicts()[name][0].verdict.reasons)}" for name, row in odd]
    head = ("by the default preset", "by the paper's", "clips", "certified, %", "loosely, %")
    save(
        "certify_verdicts", "What curation keeps and what is performed: CMU clips, G1", markdown(head, lines),
        "\n".join(["Rejected by the default preset, and certified:", "", *told]),
    )  # fmt: skip


def tables() -> None:
    table_of_categories("cmu", "Certified: CMU clips that the default preset keeps, G1")
    table_of_categories("h1_2", "Certified: every fourth CMU clip that the default preset keeps, H1-2")
    table_of_categories("generated", "Certified: ten generated clips of each of eleven types, G1")
    table_of_methods()
    table_of_cost()
    table_of_verdicts()


STUDIES = ("generated", "cmu", "one_job", "two_jobs", "effort", "length", "methods", "h1_2", "verdicts")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("studies", nargs="*", default=[*STUDIES, "tables"])
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--every", type=int, default=1)
    args = parser.parse_args()
    run([name for name in args.studies if name != "tables"], args.workers, args.every)
    tables()


if __name__ == "__main__":
    main()

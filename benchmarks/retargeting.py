"""The table of retargeting methods on every clip that curation keeps of the CMU recordings, on both robots.

PHUMA_CMU names the folder of the recordings; a number as argument takes every so-many-th clip only.
"""

from __future__ import annotations

import sys

from cmu_table import CMU
from phuma.cli.compare import compare
from phuma.core.clip import Clip
from phuma.pipelines.files_to_clips import all_kept_clips
from phuma.pipelines.retarget import retarget
from phuma.retargeting import FIVE, METHODS
from phuma.robots import Robot, load_robot
from phuma.sources import ReadCfg
from tables import markdown, save

BESIDE = {
    "fidelity_aligned": "fidelity, roots aligned",
    "fidelity_samples": "fidelity, samples",
    "fidelity_every": "fidelity, every joint and link",
    "non_penetration_all": "non-penetration, all frames",
    "stance_roll_deg": "stance roll, deg",
    "slip_cm_s_p99": "slip, 99th percentile, cm/s",
    "height_mm_p99": "sole height, 99th percentile, mm",
    "joint_jerk": "joint jerk, rad/s^3",
    "self_penetration": "self-penetration > 1 cm, frames",
    "torque_over": "torque over limit, frames",
    "residual_contact": "root residual on the ground, body weights",
}


def unsettled(clips: list[Clip], robot: Robot, method: str) -> tuple[int, dict[str, float]]:
    """Motions whose solver had not settled, and the worst value of each metric over clips."""
    made = [retarget(c, robot, method) for c in clips]
    values = {name: [m.report["metrics"][name] for m in made] for name in FIVE}
    worst = {name: min(v for v in own if v is not None) for name, own in values.items()}
    return sum(any("settled" in f for f in m.report["flags"]) for m in made), worst


def table_of(name: str, clips: list[Clip]) -> None:
    robot = load_robot(name)
    rows = compare(clips, robot, METHODS)
    five = [[r["method"], *(f"{r[n]:.2f}" for n in FIVE), f"{r['cpu_seconds_per_clip']:.3f}"] for r in rows]
    beside = [[r["method"], *(f"{r[n]:.2f}" for n in BESIDE)] for r in rows]
    count, worst = unsettled(clips, robot, "physink+collision")
    ceiling = rows[-1]
    save(
        f"retargeting_{name}",
        f"Retargeting onto the {name}",
        f"{len(clips)} clips, all that curation keeps of the CMU recordings. Percent; CPU seconds for 120 frames, the "
        "solve alone, warm, one thread:",
        markdown(["method", *(n.replace("_", "-") for n in FIVE), "CPU s"], five),
        "Beside the five:",
        markdown(["method", *BESIDE.values()], beside),
        "The human's own feet by the same measures: non-floating "
        f"{ceiling['human_non_floating']:.1f}, non-penetration {ceiling['human_non_penetration']:.1f}, non-skating "
        f"{ceiling['human_non_skating']:.1f}.",
        f"`physink+collision`: the solver had not settled in {count} of {len(clips)} clips; worst clip by metric: "
        + ", ".join(f"{n.replace('_', '-')} {worst[n]:.1f}" for n in FIVE)
        + ".",
    )


def main() -> None:
    if not (CMU / "labels.csv").exists():
        print(f"skipped: no CMU recordings at {CMU}; set PHUMA_CMU")
        return
    clips, _ = all_kept_clips([str(CMU)], ReadCfg())
    clips = clips[:: int(sys.argv[1])] if len(sys.argv) > 1 else clips
    for name in ("g1", "h1_2"):
        table_of(name, clips)


if __name__ == "__main__":
    main()

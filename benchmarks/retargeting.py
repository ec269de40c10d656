"""The ablation of the solver's terms: every method on the clips that curation keeps of the CMU recordings, on both
robots, by both rulers, and with what the paper's metrics do not see.

PHUMA_CMU names the folder of the recordings; a number as argument takes every so-many-th clip only.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from cmu_table import CMU
from phuma.core.clip import Clip
from phuma.core.robot_metrics import LEAP, flag_word
from phuma.pipelines.files_to_clips import all_kept_clips
from phuma.pipelines.retarget import retarget
from phuma.retargeting import DEFAULT_METHOD, FIVE, METHODS
from phuma.retargeting.dynamics import dynamics_report
from phuma.retargeting.measure import combine
from phuma.retargeting.retarget import NOT_SETTLED
from phuma.robots import cached_robot
from phuma.runtime.process_pool import map_in_order
from phuma.sources import ReadCfg
from tables import markdown, save

JOBS = 1
ROBOTS = ("g1", "h1_2")
FRAMES = 120  # the cost is given for so many
LARGE = 0.1  # body weights
FEET = ("non_floating", "non_penetration", "non_skating")
UNSEEN = {
    "torque_over": "torque over limit, % of frames",
    "self_penetration": "self-penetration > 1 cm, % of frames",
    "joint_jerk": "joint jerk, rad/s^3",
}
BESIDE = {
    "fidelity_aligned": "fidelity, roots aligned",
    "fidelity_samples": "fidelity, samples",
    "fidelity_every": "fidelity, every joint and link",
    "position_error_cm": "position error, cm",
    "non_penetration_all": "non-penetration, all frames",
    "stance_roll_deg": "stance roll, deg",
    "slip_cm_s_p99": "slip, 99th percentile, cm/s",
    "height_mm_p99": "sole height, 99th percentile, mm",
}
Report = dict[str, Any]


def scores(piece: tuple[str, str, Clip]) -> Report:
    """All figures of a clip on a robot by a method."""
    robot_name, method, clip = piece
    robot = cached_robot(robot_name)
    motion = retarget(clip, robot, method)
    force = np.linalg.norm(dynamics_report(robot, motion).residual[:, :3], axis=1)
    return {
        **motion.report,
        "force": [force.mean(), 100 * np.mean(force > LARGE)],
        "seconds": motion.solve_seconds,
        "frames": len(motion),
    }


def main_row(method: str, found: Sequence[Report]) -> list[object]:
    """The five metrics, the three of feet by the paper's contacts, and CPU seconds."""
    own, paper = combine([f["metrics"] for f in found]), combine([f["by_paper_contacts"] for f in found])
    seconds = sum(f["seconds"] for f in found) / sum(f["frames"] for f in found) * FRAMES
    cells = [f"{own[n]:.2f}" for n in FIVE]
    return [f"`{method}`", *cells, " / ".join(f"{paper[n]:.1f}" for n in FEET), f"{seconds:.3f}"]


def unseen_row(method: str, found: Sequence[Report]) -> list[object]:
    """What the five do not see: forces, torques, leaps, jerk and links inside each other."""
    own = combine([f["metrics"] for f in found])
    force = np.average([f["force"] for f in found], axis=0, weights=[f["frames"] for f in found])
    leaps = 100 * np.mean([LEAP in map(flag_word, f["flags"]) for f in found])
    cells = [f"{own[n]:.2f}" for n in UNSEEN]
    return [f"`{method}`", f"{force[0]:.4f}", f"{force[1]:.2f}", f"{leaps:.1f}", *cells]


def beside_row(method: str, found: Sequence[Report]) -> list[object]:
    own = combine([f["metrics"] for f in found])
    return [f"`{method}`", *(f"{own[n]:.2f}" for n in BESIDE)]


def worst(found: Sequence[Report]) -> str:
    """How often the solver had not settled, and the lowest of each metric over clips, in words."""
    values = {n: [f["metrics"][n] for f in found if f["metrics"][n] is not None] for n in FIVE}
    lowest = ", ".join(f"{n.replace('_', '-')} {min(own):.1f}" for n, own in values.items())
    count = sum(NOT_SETTLED in f["flags"] for f in found)
    return f"`{DEFAULT_METHOD}`: the solver had not settled in {count} of {len(found)} clips; worst clip: {lowest}."


def table_of(robot: str, clips: Sequence[Clip], every: int) -> None:
    found = {}
    for method in METHODS:
        list(map(scores, [(robot, method, clips[0])]))  # compiles, and fills the caches
        found[method] = list(map_in_order(scores, [(robot, method, clip) for clip in clips], JOBS))
        print(robot, main_row(method, found[method]), unseen_row(method, found[method]), flush=True)
    human = combine([f["metrics"] for f in found[DEFAULT_METHOD]])
    names = [n.replace("_", "-") for n in FIVE]
    some = "all" if every == 1 else f"every {every}th of those"
    save(
        f"retargeting_{robot}",
        f"Retargeting onto the {robot}",
        f"{len(clips)} clips, {some} that curation keeps of the CMU recordings by its defaults (preset `dynamic`, "
        "contacts that stand, mended). Percent; the five by the contacts that the solver was told, then the three of "
        "feet by the paper's contacts, which count low swing feet. CPU seconds for 120 frames, the solve alone, warm, "
        "one thread:",
        markdown(["method", *names, "floating / penetration / skating by the paper's contacts", "CPU s"],
                 [main_row(m, f) for m, f in found.items()]),
        "What the five do not see. The root residual is the mean over frames of the force that neither a motor nor a "
        "contact supplies, by inverse dynamics; a leap is an ankle over 1.5 times as fast as the adapted human's:",
        markdown(["method", "root residual, body weights", "frames above 0.1, %", "clips with a leap, %",
                  *UNSEEN.values()], [unseen_row(m, f) for m, f in found.items()]),
        "Beside them:",
        markdown(["method", *BESIDE.values()], [beside_row(m, f) for m, f in found.items()]),
        "The human's own feet by the same measures: "
        + ", ".join(f"{n.replace('_', '-')} {human[f'human_{n}']:.1f}" for n in FEET)
        + ".",
        worst(found[DEFAULT_METHOD]),
    )  # fmt: skip


def main() -> None:
    if not (CMU / "labels.csv").exists():
        print(f"skipped: no CMU recordings at {CMU}; set PHUMA_CMU")
        return
    every = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    clips, _ = all_kept_clips([str(CMU)], ReadCfg())
    for robot in ROBOTS:
        table_of(robot, clips[::every], every)


if __name__ == "__main__":
    main()

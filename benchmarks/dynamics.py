"""What contacts and the dynamics pass make of a clip: forces, torques and leaps, on both robots.

On every clip that preset `dynamic` keeps of the CMU recordings, with the paper's contacts and with those that stand;
without and with the pass. PHUMA_CMU names the folder of the recordings; a number as argument takes every so-many-th
recording only.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from cmu_table import CMU
from phuma.core.clip import Clip
from phuma.core.robot_metrics import LEAP, flag_word
from phuma.curation import CurateCfg
from phuma.pipelines.files_to_clips import kept_clips
from phuma.pipelines.retarget import retarget
from phuma.retargeting.dynamics import dynamics_report
from phuma.retargeting.measure import combine
from phuma.robots import cached_robot
from phuma.runtime.process_pool import map_in_order
from phuma.sim.reference import at_control_rate
from tables import markdown, save

JOBS = 2
ROBOTS = ("g1", "h1_2")
WAYS = (
    ("paper", "physink"),
    ("paper", "physink+collision"),
    ("stance", "physink+collision"),
    ("stance", "physink+dynamics"),
)
LARGE = 0.1  # body weights
FRAMES = 120
HEAD = (
    *("contacts", "method", "fidelity", "position error, cm", "root residual, body weights"),
    *("frames above 0.1, %", "the same at 50 Hz: residual", "frames above 0.1, %", "moment", "torque over limit, %"),
    *("self-penetration > 1 cm, %", "joint jerk", "clips with a leap, %", "floating / penetration / skating"),
    *("by the paper's contacts", "CPU s"),
)


def scores(piece: tuple[str, str, str, Clip]) -> dict[str, Any]:
    """All figures of a clip on a robot by a method."""
    robot_name, _, method, clip = piece
    robot = cached_robot(robot_name)
    motion = retarget(clip, robot, method)
    coarse, fine = dynamics_report(robot, motion), dynamics_report(robot, at_control_rate(motion))
    force, fine_force = (np.linalg.norm(r.residual[:, :3], axis=1) for r in (coarse, fine))
    return {
        "metrics": motion.report["metrics"],
        "paper": motion.report["by_paper_contacts"],
        "forces": [
            force.mean(), 100 * np.mean(force > LARGE), fine_force.mean(), 100 * np.mean(fine_force > LARGE),
            coarse.residual_moment,
        ],
        "leap": LEAP in map(flag_word, motion.report["flags"]),
        "seconds": motion.solve_seconds,
        "frames": len(motion),
    }  # fmt: skip


def row(contacts: str, method: str, found: Sequence[dict[str, Any]]) -> list[object]:
    frames = np.array([f["frames"] for f in found], dtype=float)
    five, paper = combine([f["metrics"] for f in found]), combine([f["paper"] for f in found])
    force = np.average([f["forces"] for f in found], axis=0, weights=frames)
    three = [
        " / ".join(f"{m[n]:.1f}" for n in ("non_floating", "non_penetration", "non_skating")) for m in (five, paper)
    ]
    return [
        contacts, f"`{method}`", f"{five['fidelity']:.2f}", f"{five['position_error_cm']:.2f}",
        f"{force[0]:.4f}", f"{force[1]:.2f}", f"{force[2]:.4f}", f"{force[3]:.2f}", f"{force[4]:.4f}",
        f"{five['torque_over']:.2f}", f"{five['self_penetration']:.2f}", f"{five['joint_jerk']:.0f}",
        f"{100 * np.mean([f['leap'] for f in found]):.1f}",
        *three, f"{sum(f['seconds'] for f in found) / frames.sum() * FRAMES:.3f}",
    ]  # fmt: skip


def main() -> None:
    if not (CMU / "labels.csv").exists():
        print(f"skipped: no CMU recordings at {CMU}; set PHUMA_CMU")
        return
    files = sorted(Path(CMU).glob("*.bvh"))[:: int(sys.argv[1]) if len(sys.argv) > 1 else 1]
    clips = {
        contacts: [c for f in files for c in kept_clips(f, None, CurateCfg(preset="dynamic", contacts=contacts))]
        for contacts in ("paper", "stance")
    }
    parts = []
    for robot in ROBOTS:
        rows = []
        for contacts, method in WAYS:
            pieces = [(robot, contacts, method, clip) for clip in clips[contacts]]
            rows.append(row(contacts, method, list(map_in_order(scores, pieces, JOBS))))
            print(robot, rows[-1], flush=True)
        parts += [f"## {robot}", markdown(list(HEAD), rows)]
    save(
        "dynamics",
        "Contacts that stand and forces that the ground can give",
        f"{len(clips['stance'])} clips, all that preset `dynamic` keeps of {len(files)} CMU recordings, at 30 Hz. The "
        "root residual is the mean over frames of the force that neither a motor nor a contact supplies, by inverse "
        "dynamics; at 50 Hz it is that of the reference that a policy tracks. A leap is an ankle over 1.5 times as "
        "fast as the adapted human's. CPU seconds are of the solve alone, for 120 frames, one thread.",
        *parts,
    )


if __name__ == "__main__":
    main()

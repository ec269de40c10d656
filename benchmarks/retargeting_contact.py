"""What it costs and buys to let go of contacts whose feet move: the trade between labels and natural feet.

PHUMA_CMU names the folder of the recordings; a number as argument takes every so-many-th clip, four by default.
"""

from __future__ import annotations

import sys
from math import inf

import numpy as np

from cmu_table import CMU
from phuma.core.clip import Clip
from phuma.core.robot_motion import RobotMotion
from phuma.core.skeleton import INDEX
from phuma.pipelines.files_to_clips import all_kept_clips
from phuma.retargeting import retarget_motion
from phuma.retargeting.block import problem_points
from phuma.retargeting.config import SolveCfg
from phuma.retargeting.measure import combine
from phuma.robots import Robot, load_robot
from phuma.robots.kinematics import point_positions
from phuma.sources import ReadCfg
from tables import markdown, save

SPEEDS = (inf, 3.0, 2.0, 1.5, 1.0, 0.5)
SHOWN = {
    "fidelity": "fidelity",
    "fidelity_samples": "fidelity, samples",
    "non_floating": "non-floating",
    "non_skating": "non-skating",
    "torque_over": "torque over limit, frames",
    "residual_contact": "root residual on the ground, body weights",
    "joint_jerk": "joint jerk, rad/s^3",
}
FAR = 0.2  # m


def far_share(motions: list[RobotMotion], robot: Robot) -> float:
    """Percent of frames in which some keypoint is further than 20 cm from where it should be."""
    out = []
    for m in motions:
        place = point_positions(robot, problem_points(robot), m)
        human = m.human_joints[:, [INDEX[k] for k in robot.keypoints]]
        out.append(np.linalg.norm(place[:, : len(robot.keypoints)] - human, axis=-1).max(axis=1) > FAR)
    return 100 * float(np.mean(np.concatenate(out)))


def rows(clips: list[Clip], robot: Robot) -> list[list[str]]:
    out = []
    for speed in SPEEDS:
        cfg = SolveCfg(contact_speed=speed)
        motions = [retarget_motion(c.motion, c.contact, robot, cfg=cfg) for c in clips]
        total = combine([m.report["metrics"] for m in motions])
        held = sum(m.contact_used.sum() for m in motions) / sum(c.contact.mask.sum() for c in clips)
        told = "all are held" if speed == inf else f"{speed:g}"
        cells = [f"{total[name]:.3f}" if "residual" in name else f"{total[name]:.2f}" for name in SHOWN]
        out.append([told, f"{100 * held:.1f}", *cells, f"{far_share(motions, robot):.2f}"])
    return out


def main() -> None:
    if not (CMU / "labels.csv").exists():
        print(f"skipped: no CMU recordings at {CMU}; set PHUMA_CMU")
        return
    every = int(sys.argv[1]) if len(sys.argv) > 1 else 4
    clips, _ = all_kept_clips([str(CMU)], ReadCfg())
    clips = clips[::every]
    head = ["let go from, m/s", "contacts held, %", *SHOWN.values(), "a joint further than 20 cm, frames"]
    parts = []
    for name in ("g1", "h1_2"):
        parts += [f"**{name}**", markdown(head, rows(clips, load_robot(name)))]
    save(
        "retargeting_contact",
        "Feet that move while they count as standing",
        f"`physink+collision` on {len(clips)} clips of the CMU recordings that curation keeps. Contacts are labelled "
        "by height, so a foot that swings low counts as standing. The five metrics judge by these labels in every row; "
        "what changes is which of them the solver holds to.",
        *parts,
    )


if __name__ == "__main__":
    main()

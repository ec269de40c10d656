"""What contacts cost and buy on a robot: those by height, which hold low swing feet, and those that stand.

PHUMA_CMU names the folder of the recordings; a number as argument takes every so-many-th clip, four by default.
"""

from __future__ import annotations

import sys

import numpy as np

from cmu_table import CMU
from phuma.core.clip import Clip
from phuma.core.foot_contacts import FootContacts
from phuma.core.robot_motion import RobotMotion
from phuma.core.skeleton import INDEX
from phuma.curation import CurateCfg
from phuma.pipelines.files_to_clips import all_kept_clips
from phuma.retargeting import retarget_motion
from phuma.retargeting.block import problem_points
from phuma.retargeting.measure import combine
from phuma.robots import Robot, load_robot
from phuma.robots.kinematics import point_positions
from phuma.sources import ReadCfg
from tables import markdown, save

SHOWN = {
    "fidelity": "fidelity",
    "fidelity_samples": "fidelity, samples",
    "non_floating": "non-floating",
    "non_penetration": "non-penetration",
    "non_skating": "non-skating",
    "torque_over": "torque over limit, frames",
    "residual_contact": "root residual on the ground, body weights",
    "joint_jerk": "joint jerk, rad/s^3",
}
METHOD = "physink+collision"
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
    """By the contacts of `clips` that the solver holds to, those by height or those that stand; judged by both."""
    out = []
    for name in ("paper", "stance"):
        own = [c.contact if name == "stance" else FootContacts(c.contact.paper, c.contact.fps) for c in clips]
        motions = [retarget_motion(c.motion, contact, robot, METHOD) for c, contact in zip(clips, own, strict=True)]
        total = combine([m.report["metrics"] for m in motions])
        by_paper = combine([m.report["by_paper_contacts"] for m in motions])
        cells = [f"{total[n]:.3f}" if "residual" in n else f"{total[n]:.2f}" for n in SHOWN]
        second = f"{by_paper['non_floating']:.1f} / {by_paper['non_penetration']:.1f} / {by_paper['non_skating']:.1f}"
        out.append([name, *cells, second, f"{far_share(motions, robot):.2f}"])
    return out


def main() -> None:
    if not (CMU / "labels.csv").exists():
        print(f"skipped: no CMU recordings at {CMU}; set PHUMA_CMU")
        return
    every = int(sys.argv[1]) if len(sys.argv) > 1 else 4
    clips, _ = all_kept_clips([str(CMU)], ReadCfg(), CurateCfg(preset="paper", contacts="stance"))
    clips = clips[::every]
    second = "floating / penetration / skating by the paper's contacts"
    head = ["contacts", *SHOWN.values(), second, "a joint further than 20 cm, frames"]
    parts = []
    for name in ("g1", "h1_2"):
        parts += [f"**{name}**", markdown(head, rows(clips, load_robot(name)))]
    save(
        "retargeting_contact",
        "Contacts on a robot",
        f"`{METHOD}` on {len(clips)} clips of the CMU recordings that preset `paper` keeps, with the paper's "
        "contacts, by height, and with contacts that stand. The metrics judge by the contacts of their row, and beside "
        "that by the paper's.",
        *parts,
    )


if __name__ == "__main__":
    main()

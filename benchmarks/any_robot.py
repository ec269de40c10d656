"""Robots from their bare model files: five metrics of a walk, a squat and a kick on each, and a picture of each.

The eight small models of tests/robots/models; Unitree's G1 and H1-2 where PHUMA_ROBOTS names the folder of their files;
and the humanoids of the PyPI package example-robot-data where it is installed. Where PHUMA_CMU names the folder of the
CMU recordings, some of these too. A number as argument takes so many people of each type instead of five, and as many
of five recorded clips.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path

import numpy as np

from cmu_table import CMU
from phuma.core.clip import Clip
from phuma.core.words import count_of
from phuma.curation import Curation, curate
from phuma.errors import ReadError
from phuma.pipelines.files_to_clips import all_kept_clips
from phuma.pipelines.retarget import retarget
from phuma.retargeting import DEFAULT_METHOD, FIVE
from phuma.retargeting.measure import combine
from phuma.robots import Robot, load_robot
from phuma.robots.check import check_robot, stand
from phuma.robots.meshes import PACKAGE
from phuma.robots.onboarding import OnboardedRobot, onboard_robot
from phuma.sources import ReadCfg
from phuma.synth import generate
from phuma.viewer import style
from phuma.viewer.robot_picture import FRONT, SIDE, draw, pose_on_page, robot_picture
from tables import PICTURES, markdown, save

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.robots.sample_robots import SAMPLE_ROBOTS

KINDS = ("walk", "squat", "kick")
PEOPLE = 5
RECORDED = ("104_22", "133_16", "136_10", "134_01", "135_04", "135_07")
"""walks, squats and kicks of the CMU recordings, by their labels"""
UNITREE = {"g1": "unitree_g1/g1_29dof_rev_1_0", "h1_2": "unitree_h1_2/h1_2_handless"}
OTHERS = {
    "g1 with hands": "g1_description/urdf/g1_29dof_with_hand_rev_1_0.urdf",
    "icub": "icub_description/robots/icub.urdf",
    "talos": "talos_data/robots/talos_full_v2.urdf",
    "romeo": "romeo_description/urdf/romeo.urdf",
    "simple humanoid": "simple_humanoid_description/urdf/simple_humanoid.urdf",
}


def unitree_files() -> dict[str, tuple[Path, Path]]:
    """MJCF and URDF by robot."""
    folder = Path(os.environ.get("PHUMA_ROBOTS", ""))
    files = {n: (folder / f"{f}.xml", folder / f"{f}.urdf") for n, f in UNITREE.items()}
    return {n: pair for n, pair in files.items() if os.environ.get("PHUMA_ROBOTS") and all(p.is_file() for p in pair)}


def package_folder() -> Path | None:
    try:
        package = metadata.distribution(PACKAGE)
    except metadata.PackageNotFoundError:
        return None
    return Path(str(package.locate_file(f"cmeel.prefix/share/{PACKAGE}/robots")))


def sorted_out(folder: Path, out: Path) -> str:
    """Every URDF of the package, humanoid or not: which are understood and which are refused."""
    understood, refused = [], []
    for k, file in enumerate(sorted(folder.rglob("*.urdf"))):
        try:
            onboard_robot(file, out / f"any_{k}")
            understood.append(file.stem)
        except ReadError:
            refused.append(file.stem)
    return (
        f"Of all {len(understood) + len(refused)} URDFs of the package {len(understood)} are understood: "
        f"{', '.join(understood)}. Refused: {', '.join(refused)}."
    )


def recorded(people: int) -> list[Clip]:
    files = [str(CMU / f"{name}.bvh") for name in RECORDED if (CMU / f"{name}.bvh").is_file()]
    clips = all_kept_clips(files, ReadCfg())[0] if files else []
    return clips[:: PEOPLE // people]


def scores(robot: Robot, people: Sequence[Curation | Clip]) -> list[str]:
    made = [retarget(p, robot).report["metrics"] for p in people]
    total = combine(made)
    return [*(f"{total[name]:.1f}" for name in FIVE), f"{total['self_penetration']:.1f}"]


def rows_of(made: dict[str, OnboardedRobot], people: dict[str, list[Curation]]) -> list[list[object]]:
    return [
        [f"{name}, {a.robot.n_joints} joints", kind, *scores(a.robot, people[kind])]
        for name, a in made.items()
        for kind in KINDS
    ]


def agreement(made: dict[str, OnboardedRobot]) -> list[list[object]]:
    """How far a robot from its maker's bare files is from the built-in one."""
    rows: list[list[object]] = []
    for name, onboarded in made.items():
        ours, theirs = load_robot(name), onboarded.robot
        same = sum(ours.body_names[a] == theirs.body_names[b] for a, b in zip(ours.keypoint_body, theirs.keypoint_body))
        poses = [np.array(list(stand(r, r.shared_pose).keypoints.values())) for r in (ours, theirs)]
        rows.append([
            name,
            f"{same} of {len(ours.keypoint_body)}",
            f"{1000 * np.abs(ours.keypoint_offset - theirs.keypoint_offset).max():.1f}",
            f"{1000 * np.abs(ours.sole_corners - theirs.sole_corners).max():.1f}",
            f"{max(np.abs(ours.lower - theirs.lower).max(), np.abs(ours.upper - theirs.upper).max()):.0e}",
            f"{np.abs(ours.torque_limit - theirs.torque_limit).max():.0f}",
            f"{np.abs(ours.velocity_limit - theirs.velocity_limit).max():.0f}",
            f"{1000 * np.linalg.norm(poses[0] - poses[1], axis=1).max():.0f}",
        ])  # fmt: skip
    return rows


def sheet(robots: dict[str, Robot]) -> None:
    """Each robot in the shared pose from the front and in the default pose from the side."""
    columns = 3
    rows = -(-len(robots) // columns)
    fig = style.figure(4.2 * columns, 2.9 * rows)
    axes = fig.subplots(rows, 2 * columns, width_ratios=[2, 1] * columns, squeeze=False)
    for ax in axes.ravel():
        ax.set_axis_off()
    for k, (name, robot) in enumerate(robots.items()):
        row, column = divmod(k, columns)
        for ax, pose, view in zip(
            axes[row, 2 * column : 2 * column + 2], (robot.shared_pose, robot.default_pose), (FRONT, SIDE)
        ):
            drawn = pose_on_page(robot, pose, view)
            draw(ax, drawn, view)
            half = 0.6 * drawn.height * (1 if view is FRONT else 0.5)
            ax.set(xlim=(-half, half), ylim=(-0.1 * drawn.height, 1.1 * drawn.height))
        axes[row, 2 * column].set_title(f"{name}, {robot.n_joints} joints", fontsize=9, color=style.INK)
    fig.savefig(PICTURES / "any_robot.png")


def main(people_of_each: int = PEOPLE) -> None:
    people = {kind: [curate(generate(kind, seed=s).motion) for s in range(people_of_each)] for kind in KINDS}
    head = ["robot", "motion", *(n.replace("_", "-") for n in FIVE), "self-penetration"]
    with tempfile.TemporaryDirectory() as scratch:
        out = Path(scratch)
        small = {name: onboard_robot(s.path, out / name) for name, s in SAMPLE_ROBOTS.items()}
        real = {name: onboard_robot(xml, out / name, urdf) for name, (xml, urdf) in unitree_files().items()}
        folder = package_folder()
        others = (
            {name: onboard_robot(folder / f, out / name.replace(" ", "_")) for name, f in OTHERS.items()}
            if folder
            else {}
        )
        sheet({name: a.robot for name, a in (small | real).items()})
        robot_picture(PICTURES / "robot_init.png", small["handy"].robot)
        ambiguities = [
            [name, len(a.ambiguities), sum(f.wrong for f in check_robot(a.robot))]
            for name, a in (small | real | others).items()
        ]
        parts = [
            "Each robot by `phuma robot init` from its file alone, unedited; "
            f"{count_of(people_of_each, 'synthetic motion')} of 4 s of each type, by `{DEFAULT_METHOD}`. Percent; "
            "self-penetration is the share of frames with more than 1 cm.",
            markdown(head, rows_of(small, people)),
        ]
        if real:
            parts += [
                "Unitree's own files (MJCF, with the URDF for torque and speed limits):",
                markdown(head, rows_of(real, people)),
                "Against the built-in mapping of the same robot, greatest differences:",
                markdown(
                    ["robot", "keypoints on the same body", "offsets, mm", "corners of soles, mm", "ranges, rad",
                     "torques, Nm", "speeds, rad/s", "keypoints in the shared pose, mm"],
                    agreement(real),
                ),
            ]  # fmt: skip
        if folder:
            parts += [
                f"Humanoids of the package `{PACKAGE}` {metadata.version(PACKAGE)}, from their URDFs:",
                markdown(head, rows_of(others, people)),
                sorted_out(folder, out),
            ]
        clips = recorded(people_of_each)
        if clips:
            yardstick = {name: load_robot(name) for name in ("g1", "h1_2")}
            own = {name: a.robot for name, a in (small | others).items()}
            rows = [[f"{name}, built in", *scores(r, clips)] for name, r in yardstick.items()]
            rows += [[name, *scores(r, clips)] for name, r in own.items()]
            parts += [
                f"Recorded people: {len(clips)} of the clips that curation keeps of the CMU recordings "
                f"{', '.join(RECORDED)} (walks, squats, kicks). The built-in robots first, as a yardstick:",
                markdown(["robot", *head[2:]], rows),
            ]
        parts.append("What was ambiguous, and what `phuma robot check` calls wrong:")
        parts.append(markdown(["robot", "ambiguities", "wrong"], ambiguities))
        save("any_robot", "Robots from their model files", *parts)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))

"""How slip, height, errors, speeds and forces are spread: whether a method only just meets the metrics' limits.

A motion that is fitted to the metrics has its samples heaped up just below their limits; one that stands still has not.
PHUMA_CMU names the folder of the recordings; every fourth kept clip is taken, or every so-many-th by the argument.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from cmu_table import CMU
from phuma.core.clip import Clip
from phuma.core.foot_contacts import in_contact
from phuma.core.robot_motion import RobotMotion
from phuma.core.rotations import Array
from phuma.core.skeleton import INDEX
from phuma.pipelines.files_to_clips import all_kept_clips
from phuma.pipelines.retarget import retarget
from phuma.retargeting import metrics
from phuma.retargeting.dynamics import DynamicsReport, dynamics_report
from phuma.retargeting.target import LINKS
from phuma.robots import Robot, cached_robot
from phuma.robots.kinematics import point_positions, points_of
from phuma.runtime.process_pool import map_in_order
from phuma.sources import ReadCfg
from phuma.viewer import style
from tables import PICTURES, markdown, save

JOBS = 2
ROBOT = "g1"
STRIDE = 4
COLOURS = {
    "ik": style.RIGHT,
    "gmr": style.REJECTED,
    "sink": style.TRUNK,
    "physink": style.LEFT,
    "physink+collision": style.CONTACT,
    "physink+dynamics": style.PERFORMERS[2],
}
METHODS = tuple(COLOURS)
LEAST = 1e-4  # share of samples down to which curves are drawn


class Quantity(NamedTuple):
    """What is looked at."""

    title: str
    unit: str
    of: str
    """what one sample is"""
    limit: float | None
    """where a metric draws the line"""
    view: tuple[float, float]
    """what the picture shows; from zero on a straight axis, else on a logarithmic one"""


QUANTITIES = {
    "slip": Quantity("slip in contact", "cm/s", "sole in contact and step", 10.0, (0.01, 1000)),
    "height": Quantity("sole off the ground in contact", "mm", "sole in contact, up or down", 10.0, (0.01, 1000)),
    "position": Quantity("mean position error", "cm", "frame", 10.0, (0.1, 100)),
    "direction": Quantity("mean direction error", "deg", "frame", 10.0, (0.1, 100)),
    "speed": Quantity("fastest joint", "% of its limit", "step", 98.0, (0, 140)),
    "range": Quantity("joint nearest to its limit", "% of its range", "frame", 98.0, (0, 140)),
    "torque": Quantity("largest torque", "% of its limit", "frame", 100.0, (10, 3000)),
    "acceleration": Quantity("joint acceleration", "rad/s^2", "joint and frame", None, (0.1, 3000)),
    "residual": Quantity("root residual, feet on the ground", "weights", "frame", None, (0.001, 30)),
    "jerk": Quantity("joint jerk", "rad/s^3", "joint and frame", None, (1, 100000)),
}
DRAWN = [*QUANTITIES][:9]
Samples = dict[str, Array]


def points(motion: RobotMotion, robot: Robot) -> tuple[Array, Array]:
    """Keypoints (T, 13, 3) and soles (T, 4, 3) in the world."""
    body = np.concatenate([robot.keypoint_body, robot.sole_body])
    offset = np.concatenate([robot.keypoint_offset, robot.sole_point])
    place = point_positions(robot, points_of(robot, body, offset), motion)
    return place[:, :-4], place[:, -4:]


def directions(place: Array, robot: Robot) -> Array:
    """(T, 12, 3) unit vectors along the links."""
    ends = np.array([[robot.keypoints.index(a), robot.keypoints.index(b)] for a, b in LINKS])
    along = place[:, ends[:, 1]] - place[:, ends[:, 0]]
    return along / np.linalg.norm(along, axis=-1, keepdims=True)


def errors(motion: RobotMotion, robot: Robot, place: Array) -> Samples:
    """Of each frame, as fidelity takes them."""
    human = motion.human_joints[:, [INDEX[k] for k in robot.keypoints]]
    judged = [i for i, name in enumerate(robot.keypoints) if name != "pelvis"]
    turned = metrics.direction_errors(directions(place, robot), directions(human, robot))
    return {
        "position": 100 * metrics.position_errors(place, human)[:, judged].mean(axis=1),
        "direction": turned.mean(axis=1),
    }


def physics(report: DynamicsReport) -> Samples:
    size = np.linalg.norm(report.residual[:, :3], axis=1)
    return {
        "torque": 100 * report.torque_ratio,
        "residual": size[report.contact],
        "residual_flight": size[~report.contact],
        "moment": np.linalg.norm(report.residual[:, 3:], axis=1),
        "over_limit": np.array([report.frames_over_limit]),
    }


def samples(item: tuple[Clip, str]) -> Samples:
    """Everything about one clip by one method."""
    clip, method = item
    robot = cached_robot(ROBOT)
    motion = retarget(clip, robot, method)
    place, soles = points(motion, robot)
    q, fps = motion.joint_pos, motion.fps
    stands = in_contact(motion.contact)
    return {
        "slip": 100 * metrics.slip_speeds(soles, motion.contact, fps),
        "height": 1000 * np.abs(soles[..., 2][stands]),
        "speed": 100 * (np.abs(np.diff(q, axis=0)) * fps / robot.velocity_limit).max(axis=1),
        "range": 100 * np.maximum(q / robot.lower, q / robot.upper).max(axis=1),
        "acceleration": np.abs(np.diff(q, n=2, axis=0)).ravel() * fps**2,
        "jerk": np.abs(np.diff(q, n=3, axis=0)).ravel() * fps**3,
        **errors(motion, robot, place),
        **physics(dynamics_report(robot, motion)),
    }


def measure_all(clips: Sequence[Clip]) -> dict[str, Samples]:
    """Method -> samples of all clips together."""
    found = map_in_order(samples, [(clip, method) for method in METHODS for clip in clips], JOBS)
    out = {}
    for method in METHODS:
        each = [next(found) for _ in clips]
        out[method] = {name: np.concatenate([s[name] for s in each]) for name in each[0]}
    return out


def quantiles(values: Array, *at: float) -> list[str]:
    return [f"{v:.3g}" for v in np.quantile(values, at)] if len(values) else ["-"] * len(at)


def spread_row(method: str, values: Array, limit: float | None) -> list[str]:
    row = [f"`{method}`", *quantiles(values, 0.5, 0.9, 0.99, 1.0)]
    if limit is None:
        return row
    edge = limit * (1 + 1e-9)  # what is held to the limit itself is not beyond it
    spans = ((0.8 * limit, edge), (edge, 1.2 * limit), (edge, np.inf))
    shares = [np.mean((values >= first) & (values < last)) for first, last in spans]
    return row + [f"{100 * s:.2f}" for s in shares]


def spread_parts(spread: dict[str, Samples]) -> list[str]:
    """A headline and a table for each quantity."""
    parts = []
    for name, q in QUANTITIES.items():
        edge = "" if q.limit is None else f"; limit {q.limit:g}"
        head = ["method", "p50", "p90", "p99", "max"]
        if q.limit is not None:
            head += ["80 to 100 % of the limit, %", "100 to 120 %, %", "beyond the limit, %"]
        parts.append(f"**{q.title[0].upper()}{q.title[1:]}**, {q.unit}; a sample is a {q.of}{edge}:")
        parts.append(markdown(head, [spread_row(m, s[name], q.limit) for m, s in spread.items()]))
    return parts


def physics_table(spread: dict[str, Samples]) -> str:
    rows = []
    for method, s in spread.items():
        flight = 100 * len(s["residual_flight"]) / len(s["moment"])
        rows.append(
            [
                f"`{method}`",
                f"{100 * np.mean(s['torque'] > 100):.2f}",
                *quantiles(s["over_limit"], 0.5, 0.9),
                *quantiles(s["residual"], 0.5, 0.9),
                f"{flight:.1f}",
                *quantiles(s["residual_flight"], 0.5, 0.9),
                *quantiles(s["moment"], 0.5, 0.9),
            ]
        )
    head = ["method", "frames over a torque limit, %", "median clip", "p90 clip", "residual on the ground, p50", "p90"]
    head += ["frames in the air, %", "residual in the air, p50", "p90", "moment, weights x m, p50", "p90"]
    return markdown(head, rows)


def draw_curve(ax: Any, method: str, values: Array) -> None:
    """Share of samples beyond x, against x."""
    if not len(values):
        return
    share = np.geomspace(1, max(LEAST, 1 / len(values)), 300)
    # Wide and pale, as the one with collisions would cover it otherwise.
    look = {"linewidth": 4.0, "alpha": 0.45} if method == "physink" else {"linewidth": 1.5}
    ax.plot(np.quantile(values, 1 - share), 100 * share, color=COLOURS[method], label=method, **look)


def draw(spread: dict[str, Samples]) -> None:
    fig = style.figure(10, 8)
    axes = fig.subplots(3, 3)
    for ax, name in zip(axes.ravel(), DRAWN):
        q = QUANTITIES[name]
        ax.set(xscale="log" if q.view[0] else "linear", yscale="log")
        for method, s in spread.items():
            draw_curve(ax, method, s[name])
        if q.limit is not None:
            ax.axvline(q.limit, color=style.INK, linewidth=0.9, linestyle=(0, (4, 3)), zorder=1, label="limit")
        style.tidy(ax, xlim=q.view, ylim=(100 * LEAST, 130), xlabel=f"{q.title}, {q.unit}", ylabel="samples beyond, %")
        for axis in (ax.yaxis, ax.xaxis) if q.view[0] else (ax.yaxis,):
            axis.set_major_formatter(lambda value, _: f"{value:g}")
        ax.minorticks_off()
    handles, labels = axes[0, 0].get_legend_handles_labels()
    fig.legend(handles, labels, loc="outside upper center", ncols=len(labels), frameon=False, fontsize=9)
    PICTURES.mkdir(parents=True, exist_ok=True)
    fig.savefig(PICTURES / "spread.png")


def main() -> None:
    if not (CMU / "labels.csv").exists():
        print(f"skipped: no CMU recordings at {CMU}; set PHUMA_CMU")
        return
    every = int(sys.argv[1]) if len(sys.argv) > 1 else STRIDE
    clips = all_kept_clips([str(CMU)], ReadCfg())[0][::every]
    spread = measure_all(clips)
    draw(spread)
    save(
        "retargeting_spread",
        f"How the samples are spread on the {ROBOT}",
        f"{len(clips)} of the clips that curation keeps of the CMU recordings, one in {every}. Percentiles over all "
        "samples; where a metric has a limit, also the shares of samples just below it, just above it and beyond it. "
        "A method that is fitted to the metric shows many just below. Joint ranges are bounds of the solver, at the "
        "limit itself, so there many are meant to be. Curves are in `docs/images/spread.png`.",
        *spread_parts(spread),
        "**Physics**, by inverse dynamics: share of frames in which some joint's torque is over its limit, of all and "
        "by clip; and what is left over at the root, where no motor acts, in units of the robot's weight. A frame is "
        "in the air where no corner of a sole is within 2 cm of the ground:",
        physics_table(spread),
    )


if __name__ == "__main__":
    main()

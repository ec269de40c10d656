"""Draw a robot with what retargeting knows about it: keypoints, links and soles, in the shared and the default pose."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import mujoco
import numpy as np
from matplotlib.axes import Axes
from scipy.spatial import ConvexHull

from phuma.core import rotations as rot
from phuma.core.rotations import Array
from phuma.robots.check import SIDES, Stance, stand
from phuma.robots.onboarding.shapes import PRIMITIVES, surface
from phuma.robots.robot import Robot
from phuma.robots.welding import robot_model
from phuma.viewer import style

SHOWN = 2  # group of the geoms that are visible
LIMBS = (("pelvis", "hip", "knee", "ankle"), ("pelvis", "shoulder", "elbow", "wrist"))
INCHES = 4.8  # height of the picture
LEAST_WIDTH = 0.45  # of a panel, by the robot's height


class View(NamedTuple):
    """Say from where a robot is drawn: `right` and `near` are the axes to the right of the page and out of it."""

    title: str
    right: Array
    near: Array


FRONT = View("from the front", np.array([0.0, 1.0, 0.0]), np.array([1.0, 0.0, 0.0]))
SIDE = View("from its right side", np.array([1.0, 0.0, 0.0]), np.array([0.0, -1.0, 0.0]))


def robot_picture(path: str | Path, robot: Robot) -> None:
    """Write a picture of the shared pose from the front and the side, and of the default pose from the side."""
    panels = [("shared pose", robot.shared_pose, FRONT), ("shared pose", robot.shared_pose, SIDE),
              ("default pose", robot.default_pose, SIDE)]  # fmt: skip
    drawn = [pose_on_page(robot, pose, view) for _, pose, view in panels]
    widths = [max(d.width + 0.3, LEAST_WIDTH * d.height) for d in drawn]
    tall = max(d.height for d in drawn) + 0.3
    figure = style.figure(INCHES * sum(widths) / tall, INCHES)
    figure.suptitle(f"{robot.name}: {robot.n_joints} joints; left is blue", fontsize=10, color=style.INK)
    axes = figure.subplots(1, len(panels), width_ratios=widths, sharey=True)
    for ax, (name, _, view), parts in zip(axes, panels, drawn):
        draw(ax, parts, view)
        ax.set_title(f"{name}\n{view.title}", fontsize=8, color=style.INK)
    figure.savefig(path)


class Drawn(NamedTuple):
    """Hold a posed robot on the page, its soles at height 0."""

    outlines: list[Array]
    """(P, 2) outline of each shape on the page, m, the farthest first"""
    stance: Stance
    ground: float
    """height of the lowest sole corner relative to the root, m"""

    @property
    def width(self) -> float:
        return float(np.ptp(np.concatenate(self.outlines)[:, 0]))

    @property
    def height(self) -> float:
        return float(np.ptp(np.concatenate(self.outlines)[:, 1]))


def pose_on_page(robot: Robot, pose: Array, view: View) -> Drawn:
    """Return the robot at joint angles (N,) rad, with its root level."""
    model = robot_model(robot)
    stance = stand(robot, pose)
    ground = float(stance.corners[..., 2].min())
    data = mujoco.MjData(model)
    data.qpos = np.concatenate([(0, 0, -ground), rot.IDENTITY, pose])
    mujoco.mj_kinematics(model, data)
    kinds = {int(getattr(mujoco.mjtGeom, f"mjGEOM_{k.upper()}")): k for k in PRIMITIVES}
    geoms = [g for g in range(model.ngeom) if int(model.geom_group[g]) == SHOWN and int(model.geom_type[g]) in kinds]
    geoms.sort(key=lambda g: float(data.geom_xpos[g] @ view.near))
    outlines = []
    for g in geoms:
        points = surface(kinds[int(model.geom_type[g])], model.geom_size[g]) @ data.geom_xmat[g].reshape(3, 3).T
        flat = _page(points + data.geom_xpos[g], view)
        outlines.append(flat[ConvexHull(flat).vertices])
    return Drawn(outlines, stance, ground)


def _page(points: Array, view: View) -> Array:
    return np.stack([points @ view.right, points[..., 2]], axis=-1)


def draw(ax: Axes, parts: Drawn, view: View) -> None:
    """Draw shapes in grey, links in the colour of their side and soles in green."""
    lift = np.array([0.0, 0.0, -parts.ground])
    for outline in parts.outlines:
        ax.fill(*outline.T, facecolor="#dfe2e7", edgecolor="#b4bac4", linewidth=0.5, zorder=1)
    ax.axhline(0, color=style.GROUND, linewidth=0.8, zorder=0)
    near_first = sorted(SIDES, key=lambda s: float(parts.stance.keypoints[f"{s}_hip"] @ view.near))
    for side in near_first:
        colour = style.LEFT if side == "left" else style.RIGHT
        for limb in LIMBS:
            names = [n if n == "pelvis" else f"{side}_{n}" for n in limb]
            line = _page(np.array([parts.stance.keypoints[n] for n in names]) + lift, view)
            ax.plot(*line.T, color=colour, linewidth=1.6, marker="o", markersize=4, zorder=3)
            if view is FRONT:
                for name, p in zip(limb[1:], line[1:]):
                    out = 1 if p[0] > 0 else -1
                    ax.annotate(
                        name, p, (6 * out, 4), textcoords="offset points", fontsize=6, color=colour,
                        ha="left" if out > 0 else "right", zorder=4,
                    )  # fmt: skip
        k = SIDES.index(side)
        corners = _page(np.concatenate([parts.stance.corners[k], parts.stance.corners[k][:1]]) + lift, view)
        ax.plot(*corners.T, color=style.CONTACT, linewidth=2.4, zorder=3, solid_capstyle="butt")
        if view is SIDE:
            for name, p in zip(("heel", "toe"), _page(parts.stance.soles[2 * k : 2 * k + 2] + lift, view)):
                ax.annotate(
                    name, p, (0, -9), textcoords="offset points", fontsize=6, color=style.CONTACT, ha="center", zorder=4
                )
    ax.plot(*_page(parts.stance.keypoints["pelvis"] + lift, view), color=style.INK, marker="o", markersize=5, zorder=4)
    ax.set_aspect("equal")
    style.tidy(ax)
    ax.margins(0.08)

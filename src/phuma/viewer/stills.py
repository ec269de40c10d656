"""Draw stick figures of a person at some instants, side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phuma.core import rotations as rot
from phuma.core.foot_contacts import in_contact
from phuma.core.human_motion import HumanMotion
from phuma.core.rotations import Array
from phuma.core.skeleton import INDEX, JOINTS, N_JOINTS, PARENTS, POINTS_PER_REGION, REGIONS
from phuma.viewer import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

HEAD_RADIUS = 0.1  # m


def draw_stills(
    ax: Axes,
    motion: HumanMotion,
    contact: Array | None = None,
    count: int = 8,
    azimuth: float = 0.0,
    spacing: float = 0.95,
) -> None:
    """Draw `count` instants, evenly in time, seen from the person's left side.

    `azimuth` rotates the view about the vertical, in degrees; 90 is from the front. The ground is z = 0. Soles in
    contact, by the ratios contact (T, 4), are drawn green.
    """
    frames = np.unique(np.linspace(0, len(motion) - 1, count).round().astype(int))
    across = _view_axis(motion, azimuth)
    ax.plot([-0.6, spacing * (len(frames) - 1) + 0.6], [0, 0], color=style.GROUND, linewidth=1, zorder=0)
    for k, t in enumerate(frames):
        person = motion.frames(t, t + 1)
        to_page = np.stack([across, [0.0, 0.0, 1.0]])
        # Figures stand side by side, however far the person has moved.
        origin = np.array([k * spacing - person.root_pos[0] @ across, 0.0])
        joints = person.pose.position[0] @ to_page.T + origin
        _draw_bones(ax, joints)
        if len(person.body.soles):
            soles = person.sole_positions()[0] @ to_page.T + origin
            _draw_soles(ax, soles, None if contact is None else contact[t])
        ax.text(k * spacing, -0.14, f"{t / motion.fps:.1f} s", ha="center", va="top", fontsize=7, color=style.INK)
    ax.set(xlim=(-0.6, spacing * (len(frames) - 1) + 0.6), ylim=(-0.3, max(1.9, motion.root_pos[:, 2].max() + 0.9)))
    ax.set_aspect("equal")
    ax.axis("off")


def _view_axis(motion: HumanMotion, azimuth: float) -> Array:
    """Return (3,) the horizontal direction to the right of the page: the first heading rotated by `azimuth` degrees."""
    ahead = rot.rotate(motion.joint_quat[0, 0], np.array([0.0, 0.0, 1.0]))
    heading = np.arctan2(ahead[1], ahead[0]) + np.radians(azimuth)
    return np.array([np.cos(heading), np.sin(heading), 0.0])


def _colour(name: str) -> str:
    return style.LEFT if name.startswith("left") else style.RIGHT if name.startswith("right") else style.TRUNK


def _draw_bones(ax: Axes, joints: Array) -> None:
    from matplotlib.patches import Circle

    for j in range(1, N_JOINTS):
        ends = joints[[PARENTS[j], j]]
        ax.plot(ends[:, 0], ends[:, 1], color=_colour(JOINTS[j]), linewidth=2, solid_capstyle="round")
    neck, head = joints[INDEX["neck"]], joints[INDEX["head"]]
    length = np.linalg.norm(head - neck)
    centre = head + (head - neck) / max(length, 1e-6) * min(length, HEAD_RADIUS)
    ax.add_patch(Circle(tuple(centre), HEAD_RADIUS, facecolor="white", edgecolor=style.TRUNK, linewidth=1.5))


def _draw_soles(ax: Axes, soles: Array, contact: Array | None) -> None:
    for r, region in enumerate(REGIONS):
        points = soles[r * POINTS_PER_REGION : (r + 1) * POINTS_PER_REGION]
        ends = points[[np.argmin(points[:, 0]), np.argmax(points[:, 0])]]
        stands = contact is not None and in_contact(contact[r])
        colour = style.CONTACT if stands else _colour(region)
        ax.plot(ends[:, 0], ends[:, 1], color=colour, linewidth=4 if stands else 2, solid_capstyle="round")

"""A sole is the flat underside of a foot, found from its shapes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from phuma.core import rotations as rot
from phuma.core.rotations import Array
from phuma.robots.onboarding.rig import LinkPoses, Rig, rigid

REACHES = 0.02  # of the leg: a link that comes so near to the lowest point stands
THICK = 0.015  # m: what is so little above the sole's plane is sole still, as a rounded edge
SAME_FACE, BELOW = np.cos(np.radians(5)), np.cos(np.radians(10))
LEVEL = np.cos(np.radians(3))
NEARLY = 0.7
FOOT_LENGTH, FOOT_DEPTH = (0.2, 0.5), (0.02, 0.2)
"""of the leg: between these a foot's length and the height of its ankle are believed of a box with its inertia"""
HUMAN_FOOT = 0.317  # of the leg from hip to ankle; heel behind the ankle and width as shares of the foot's length
HUMAN_HEEL, HUMAN_WIDTH, HUMAN_ANKLE = 0.25, 0.36, 0.08


@dataclass(frozen=True, eq=False)
class Sole:
    """A sole is a rectangle in the foot's frame, metres."""

    corners: Array
    """(2, 2, 3) heel and toe, each at the smaller and the greater side"""
    normal: Array
    """(3,) upwards when the foot stands"""
    ahead: Array
    """(3,)"""
    top: float
    """how high above the sole the foot's shape ends"""
    source: str
    """'shape', 'inertia' or 'proportion'"""
    tilt: float
    """degrees that the sole leans in the pose that the file draws"""

    @property
    def middle(self) -> Array:
        """Return the middle (3,) of the corners."""
        return self.corners.mean(axis=(0, 1))


def standing_link(rig: Rig, where: LinkPoses, links: list[int]) -> int:
    """Return the first link of a leg whose own shapes, or those fixed to it, reach the ground: what follows are toes.

    Where no shape is as low as the last joint, as of links without shapes, it is the last link.
    """
    lowest = []
    for b in links:
        points = [where.point(c, s.points) for c in rigid(rig, b) for s in rig.links[c].shapes]
        lowest.append(float((np.concatenate(points) @ rig.up).min()) if points else np.inf)
    if min(lowest) > float((where.pos[links] @ rig.up).min()):
        return links[-1]
    length = float(where.pos[links[0]] @ rig.up) - min(lowest)
    return links[int(np.argmax(np.array(lowest) < min(lowest) + REACHES * length))]


def foot_points(rig: Rig, where: LinkPoses, foot: int) -> Array:
    """Return points (P, 3) of the foot and all that hangs on it, as toes do, in the world."""
    points = [where.point(b, s.points) for b in rig.below(foot) for s in rig.links[b].shapes]
    return np.concatenate(points) if points else np.zeros((0, 3))


def find_sole(rig: Rig, where: LinkPoses, foot: int, ahead: Array, ankle: Array, leg: float) -> Sole:
    """Return the sole of a foot.

    `ahead` (3,) is the way the robot faces and `ankle` (3,) its ankle, in the world; `leg` is how long it is from hip
    to ankle.
    """
    points, source = foot_points(rig, where, foot), "shape"
    up = rig.up
    if len(points) < 4 or np.ptp(points @ ahead) < 0.02:
        points, source = _inertia_box(rig, where, foot), "inertia"
        length, depth = np.ptp(points @ ahead) / leg, (ankle @ up - (points @ up).min()) / leg
        if not FOOT_LENGTH[0] < length < FOOT_LENGTH[1] or not FOOT_DEPTH[0] < depth < FOOT_DEPTH[1]:
            points, source = _human_foot(ankle, ahead, up, leg), "proportion"
    normal = _underside(points, up) if source == "shape" else up
    tilt = float(np.degrees(np.arccos(np.clip(normal @ up, -1, 1))))
    if normal @ up > LEVEL:
        normal = up
    front = ahead - (ahead @ normal) * normal
    front /= np.linalg.norm(front)
    side = np.cross(normal, front)
    height = points @ normal
    flat = points[height < height.min() + THICK]
    (back, fore), (low, high) = ((float(v.min()), float(v.max())) for v in (flat @ front, flat @ side))
    corners = np.array([[x * front + y * side + height.min() * normal for y in (low, high)] for x in (back, fore)])
    back_turn = rot.conjugate(where.quat[foot])
    local_normal, local_front = rot.rotate(back_turn, normal), rot.rotate(back_turn, front)
    return Sole(where.local(foot, corners), local_normal, local_front, float(np.ptp(height)), source, tilt)


def _underside(points: Array, up: Array) -> Array:
    """Return the upward normal (3,) of the largest flat face of the points' hull that faces down.

    It is straight up if the face below is nearly as large, as under a round foot, whose faces are all alike.
    """
    from scipy.spatial import ConvexHull, QhullError

    try:
        hull = ConvexHull(points)
    except QhullError:  # a flat foot: all points in one plane
        return up
    normals = hull.equations[:, :3]
    a, b, c = (points[hull.simplices[:, k]] for k in range(3))
    areas = np.linalg.norm(np.cross(b - a, c - a), axis=1) / 2
    down = normals @ up < -np.cos(np.radians(45))
    if not down.any():
        return up
    normals, areas = normals[down], areas[down]
    alike = normals @ normals.T > SAME_FACE
    face = alike[np.argmax(alike @ areas)]
    mean = -(areas[face, None] * normals[face]).sum(axis=0)
    mean /= np.linalg.norm(mean)
    below = -normals @ up > BELOW
    return up if mean @ up < BELOW and areas[below].sum() > NEARLY * areas[face].sum() else mean


def _inertia_box(rig: Rig, where: LinkPoses, foot: int) -> Array:
    """(8, 3) corners of the box of even density that has the foot's inertia, in the world."""
    link = rig.links[foot]
    xx, yy, zz = link.inertia / max(link.mass, 1e-9)
    half = np.sqrt(np.maximum(1.5 * np.array([yy + zz - xx, xx + zz - yy, xx + yy - zz]), 0.0))
    signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    return where.point(foot, link.com + rot.rotate(link.inertia_quat, signs * half))


def _human_foot(ankle: Array, ahead: Array, up: Array, leg: float) -> Array:
    """(4, 3) corners of a sole as a person with such legs has it, in the world."""
    length = HUMAN_FOOT * leg
    side = np.cross(up, ahead)
    back, fore, half = -HUMAN_HEEL * length, (1 - HUMAN_HEEL) * length, HUMAN_WIDTH * length / 2
    return np.array(
        [ankle + x * ahead + y * side - HUMAN_ANKLE * leg * up for x in (back, fore) for y in (-half, half)]
    )

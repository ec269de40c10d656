"""Draw a robot as stick figures at some instants, side by side, in front of the human that it follows; as SVG."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from phuma.core import rotations as rot
from phuma.core.foot_contacts import in_contact
from phuma.core.robot_motion import RobotMotion
from phuma.core.rotations import Array
from phuma.core.skeleton import N_JOINTS, PARENTS
from phuma.core.trajectory import Trajectory
from phuma.robots.kinematics import body_poses, point_positions, points_of
from phuma.robots.robot import Robot
from phuma.viewer.html import Html, h

SCALE = 200  # units of the picture per metre
NEAREST, FARTHEST, MARGIN = 0.72, 1.3, 0.42  # m, between figures and beside them
LEAST_HEIGHT = 1.2  # m above the ground that are drawn at least
FAR = 0.15  # m between robot and human, from which on a line joins them
HEAD_HEIGHT, HEAD_RADIUS = 0.16, 0.07  # m above the shoulders
SIDES = ("left", "right")
BONES = tuple((PARENTS[j], j) for j in range(1, N_JOINTS))

Pairs = list[tuple[int, int]]


class Drawn(NamedTuple):
    """Hold the lines of one kind in all figures."""

    kind: str
    points: Array
    """(K, P, 3) points of the K figures in the world, m"""
    pairs: list[Pairs]
    """the pairs of points that are joined, for each of the K figures"""


def robot_stills(motion: RobotMotion, robot: Robot | None, count: int = 5, azimuth: float = 35.0) -> Html:
    """Return `count` instants, evenly in time, seen from the robot's left and `azimuth` degrees towards its front.

    Without the robot's description only the human is drawn.
    """
    frames = np.unique(np.linspace(0, len(motion) - 1, count).round().astype(int))
    drawn, heads = [], np.zeros((len(frames), 0, 3))
    if motion.human_joints is not None:
        drawn.append(Drawn("human", motion.human_joints[frames], [list(BONES)] * len(frames)))
    if robot is not None:
        motion = motion.reordered(robot.joint_names)
        stills = motion.frames(frames)
        stands = stills.contact if stills.contact_used is None else stills.contact_used
        drawn += [*_bones(robot, stills), *_soles(robot, stills, in_contact(stands))]
        heads = _heads(robot, stills)
        if stills.human_joints is not None:
            drawn.insert(1, _ties(stills.human_joints[:, 0], stills.root_pos))
    page = _Page(_to_page(motion, azimuth), motion.root_pos[frames], [*(d.points for d in drawn), heads])
    marks = [h("path", d="".join(page.lines(d)), class_=f"bone {d.kind}") for d in drawn]
    circles = [page.at(k, p) for k in range(len(frames)) for p in heads[k]]
    return h(
        "svg",
        h("path", d=f"M{page.left} 0H{page.right}", class_="ground"),
        marks,
        [h("circle", cx=x, cy=y, r=round(HEAD_RADIUS * SCALE), class_="head") for x, y in circles],
        [
            h("text", f"{t / motion.fps:.1f} s", x=round(k * page.spacing * SCALE), y=46, class_="time")
            for k, t in enumerate(frames)
        ],
        viewBox=page.box, role="img", aria_label="the robot at some instants",
    )  # fmt: skip


def _bones(robot: Robot, stills: Trajectory) -> list[Drawn]:
    """Return lines from each body to its parent, by side; from the trunk to a hip or a shoulder they count as trunk."""
    position, _ = body_poses(robot, stills)
    pairs: dict[str, Pairs] = {"trunk": [], "left": [], "right": []}
    for body, parent in enumerate(robot.parents):
        if parent >= 0:
            pairs[_side(robot.body_names[parent])].append((int(parent), body))
    return [Drawn(side, position, [own] * len(position)) for side, own in pairs.items()]


def _soles(robot: Robot, stills: Trajectory, stands: Array) -> list[Drawn]:
    """Return lines from each ankle to heel and toe, and of the sole halves in contact, by stands (K, 4) bool."""
    ends = point_positions(robot, points_of(robot, robot.sole_body, robot.sole_point), stills)
    ankles = body_poses(robot, stills)[0][:, robot.sole_body]
    middle = (ends[:, [0, 0, 2, 2]] + ends[:, [1, 1, 3, 3]]) / 2
    points = np.concatenate([ends, ankles, middle], axis=1)  # heel, toe of the left and of the right; and so on
    out = []
    for side, (heel, toe) in zip(SIDES, ((0, 1), (2, 3))):
        out.append(Drawn(side, points, [[(heel, toe), (heel + 4, heel), (toe + 4, toe)]] * len(points)))
    return [*out, Drawn("contact", points, [[(r, r + 8) for r in range(4) if on[r]] for on in stands])]


def _ties(human: Array, robot: Array) -> Drawn:
    """Return lines from the human's pelvis to the robot's where they are far apart, to show who belongs to whom."""
    far = np.linalg.norm(human - robot, axis=-1) > FAR
    return Drawn("tie", np.stack([human, robot], axis=1), [[(0, 1)] if apart else [] for apart in far])


def _heads(robot: Robot, stills: Trajectory) -> Array:
    """Return (K, 1, 3) m: a head above the shoulders. A robot declares none, but a figure reads better with one."""
    keypoints = points_of(robot, robot.keypoint_body, robot.keypoint_offset)
    points = point_positions(robot, keypoints, stills)
    pelvis, left, right = (points[:, robot.keypoints.index(n)] for n in ("pelvis", "left_shoulder", "right_shoulder"))
    up = (left + right) / 2 - pelvis
    up /= np.maximum(np.linalg.norm(up, axis=1, keepdims=True), 1e-6)
    return ((left + right) / 2 + HEAD_HEIGHT * up)[:, None]


class _Page:
    """Map the world to the picture: figures stand side by side, however far the robot has moved."""

    def __init__(self, to_page: Array, root: Array, points: list[Array]) -> None:
        self.to_page, self.root = to_page, root
        flat = np.concatenate(points, axis=1) - self.root[:, None] * [1.0, 1.0, 0.0]
        across, up = np.moveaxis(flat @ to_page.T, -1, 0)
        first, last = across.min(axis=1, initial=-0.2), across.max(axis=1, initial=0.2)
        apart = max((last[:-1] - first[1:]).max(initial=0.0) + 0.05, NEAREST)
        self.spacing = round(float(min(apart, FARTHEST)), 2)
        self.left = round(SCALE * min(-MARGIN, float(first[0])))
        self.right = round(SCALE * (self.spacing * (len(root) - 1) + max(MARGIN, float(last[-1]))))
        top = round(SCALE * (max(LEAST_HEIGHT, float(up.max(initial=0.0))) + 0.12))
        bottom = 56 + max(0, round(-SCALE * float(up.min(initial=0.0))) - 20)
        self.box = f"{self.left} {-top} {self.right - self.left} {top + bottom}"

    def at(self, k: int, p: Array) -> tuple[int, int]:
        across, up = self.to_page @ (p - self.root[k] * [1.0, 1.0, 0.0])
        return round(SCALE * (across + k * self.spacing)), round(-SCALE * up)

    def lines(self, drawn: Drawn) -> list[str]:
        """Return a path for each line; bodies in the same position have none between them."""
        ends = [(self.at(k, drawn.points[k, a]), self.at(k, drawn.points[k, b]))
                for k, pairs in enumerate(drawn.pairs) for a, b in pairs]  # fmt: skip
        return [f"M{a[0]} {a[1]}L{b[0]} {b[1]}" for a, b in ends if a != b]


def _to_page(motion: RobotMotion, azimuth: float) -> Array:
    """Return the projection (2, 3) onto the page: right is the first heading rotated by `azimuth` degrees, up is z."""
    ahead = rot.rotate(motion.root_quat[0], np.array([1.0, 0.0, 0.0]))
    heading = np.arctan2(ahead[1], ahead[0]) + np.radians(azimuth)
    return np.array([[np.cos(heading), np.sin(heading), 0.0], [0.0, 0.0, 1.0]])


def _side(name: str) -> str:
    return next((side for side in SIDES if name.lower().startswith(side)), "trunk")

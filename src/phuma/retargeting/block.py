"""Which unknowns are solved at once: root, waist and legs first, then the arms on the body that was found.

Nothing that an arm's joints move has to stand or to carry, so little is lost when the arms follow the body instead of
being weighed against it, and the factorisation, whose cost grows with the square of a frame's unknowns, becomes five
times cheaper. Links that would collide yield in the same order: arms give way to the body.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from phuma.core.rotations import Array
from phuma.retargeting.ankles import stiff_ankles
from phuma.retargeting.costs import KEYPOINTS, POINTS
from phuma.retargeting.target import LINKS
from phuma.robots.capsules import Capsules, capsules_of, no_capsules
from phuma.robots.kinematics import Points, points_of
from phuma.robots.robot import Robot

ARM = ("shoulder", "elbow", "wrist")


class Block(NamedTuple):
    """Some of a frame's V unknowns, and what of the problem they move. V = 6 + N: root position, rotation, joints."""

    unknowns: Array
    """(F,) int, rising"""
    column: Array
    """(V,) int: where an unknown stands among those of the block, -1 where it does not"""
    root: bool
    """Whether the root's six are among them"""
    bodies: Array
    """(B,) int: bodies to pose anew when the block moves, parents first"""
    points: Array
    """(P,) int: points of the problem that the block's terms see"""
    joints: Array
    """(POINTS, M) int: the block's joints above each point, -1 behind the last"""
    depth: Array
    """(POINTS,) int: how many of them"""
    runs: Array
    """(POINTS, R, 2) int: columns that move each point as ranges, from first to past the last, the root's in front"""
    keypoints: Array
    """(K,) int: points whose position counts"""
    counts: Array
    """(POINTS,) how often: a shoulder stands in for the elbow and the wrist that will be hung on it"""
    links: Array
    """(L,) int: links whose direction counts"""
    stands: bool
    """Whether the soles are among the points"""
    stiff: Array
    """(2,) int, left and right: 1 where no joint of the ankle rolls the foot"""
    capsules: Array
    """(C,) int: capsules that move with the block"""
    pairs: Array
    """(M,) int: pairs of capsules that the block keeps apart"""


def robot_points(robot: Robot) -> tuple[Array, Array]:
    """Bodies (P,) and offsets (P, 3) of the points of the problem, in the order of `costs.py`."""
    body = np.concatenate([robot.keypoint_body, robot.sole_body, robot.sole_body])
    offset = np.concatenate([robot.keypoint_offset, robot.sole_point, robot.sole_side.reshape(4, 3)])
    assert len(body) == POINTS
    return body, offset


@lru_cache(maxsize=8)
def problem_points(robot: Robot) -> Points:
    """The points of the problem with the joints above them."""
    return points_of(robot, *robot_points(robot))


def link_indices(robot: Robot) -> Array:
    """(12, 2) start and end of each link among the robot's keypoints."""
    return np.array([[robot.keypoints.index(a), robot.keypoints.index(b)] for a, b in LINKS])


def arm_joints(robot: Robot, points: Points) -> Array:
    """(N,) whether a joint moves points of one arm and no others."""
    moves = np.zeros((robot.n_joints, POINTS), dtype=bool)
    for n in range(POINTS):
        moves[points.joints[n, : points.depth[n]], n] = True
    out = np.zeros(robot.n_joints, dtype=bool)
    for side in ("left", "right"):
        own = [robot.keypoints.index(f"{side}_{name}") for name in ARM]
        out |= moves[:, own].any(axis=1) & ~np.delete(moves, own, axis=1).any(axis=1)
    return out


@lru_cache(maxsize=8)
def blocks_of(robot: Robot, collision: bool) -> tuple[Block, Block]:
    """The body and the arms. Joints that move no point of the problem are in neither."""
    points = problem_points(robot)
    capsules = capsules_of(robot) if collision else no_capsules()
    arm = arm_joints(robot, points)
    seen = np.zeros(robot.n_joints, dtype=bool)
    seen[points.joints[points.joints >= 0]] = True
    far = [robot.keypoints.index(f"{side}_{name}") for side in ("left", "right") for name in ARM[1:]]
    near = [k for k in range(KEYPOINTS) if k not in far and robot.keypoints[k] != "pelvis"]
    on_arm = _moved(arm, capsules.joints, capsules.depth)[capsules.pairs].any(axis=1)
    shoulders = [robot.keypoints.index(f"{side}_shoulder") for side in ("left", "right")]
    body = _block(robot, points, capsules, True, seen & ~arm, near, np.flatnonzero(~on_arm))
    return body, _block(robot, points, capsules, False, arm, [*shoulders, *far], np.flatnonzero(on_arm))


@lru_cache(maxsize=8)
def whole_block(robot: Robot) -> Block:
    """Return all unknowns at once, but joints that move no point of the problem; links are kept apart."""
    points, capsules = problem_points(robot), capsules_of(robot)
    seen = np.zeros(robot.n_joints, dtype=bool)
    seen[points.joints[points.joints >= 0]] = True
    keypoints = [k for k in range(KEYPOINTS) if robot.keypoints[k] != "pelvis"]
    block = _block(robot, points, capsules, True, seen, keypoints, np.arange(len(capsules.pairs)))
    return block._replace(counts=np.ones(POINTS), bodies=np.arange(robot.n_bodies))


def _block(
    robot: Robot, points: Points, capsules: Capsules, root: bool, joints: Array, keypoints: list[int], pairs: Array
) -> Block:
    unknowns = np.concatenate([np.arange(6 if root else 0), 6 + np.flatnonzero(joints)])
    column = np.full(6 + robot.n_joints, -1)
    column[unknowns] = np.arange(len(unknowns))
    chains = [[j for j in chain[:depth] if joints[j]] for chain, depth in zip(points.joints, points.depth)]
    links = [n for n, (_, end) in enumerate(link_indices(robot)) if end in keypoints and (root or chains[end])]
    used = {*keypoints, *link_indices(robot)[links].ravel().tolist(), *(range(KEYPOINTS, POINTS) if root else ())}
    own = np.unique(capsules.pairs[pairs])
    carried = _with_parents(robot, {*points.body[sorted(used)].tolist(), *capsules.body[own].tolist()})
    moved = carried if root else [b for b in carried if _above(robot, b, joints)]
    depth = np.array([len(c) for c in chains])
    counts = np.ones(POINTS)
    if root:
        counts[[robot.keypoints.index(f"{side}_shoulder") for side in ("left", "right")]] = len(ARM)
    return Block(
        unknowns=unknowns,
        column=column,
        root=root,
        bodies=np.array(moved, dtype=np.int64),
        points=np.array(sorted(used), dtype=np.int64),
        joints=np.array([c + [-1] * (depth.max() - len(c)) for c in chains], dtype=np.int64).reshape(POINTS, -1),
        depth=depth,
        runs=_ranges([[*range(6 if root else 0), *(column[6 + j] for j in c)] for c in chains]),
        keypoints=np.array(sorted(keypoints), dtype=np.int64),
        counts=counts,
        links=np.array(links, dtype=np.int64),
        stands=root,
        stiff=stiff_ankles(robot),
        capsules=np.array([c for c in own if capsules.body[c] in moved], dtype=np.int64),
        pairs=np.asarray(pairs, dtype=np.int64),
    )


def _moved(joints: Array, above: Array, depth: Array) -> Array:
    """(C,) whether any of the joints (N,) bool is above each thing."""
    return np.array([joints[row[:d]].any() for row, d in zip(above, depth)], dtype=bool)


def _above(robot: Robot, body: int, joints: Array) -> bool:
    while body >= 0:
        if joints[robot.joint_body == body].any():
            return True
        body = int(robot.parents[body])
    return False


def _with_parents(robot: Robot, bodies: set[int]) -> list[int]:
    out = set()
    for body in bodies:
        while body >= 0:
            out.add(int(body))
            body = int(robot.parents[body])
    return sorted(out)


def _ranges(columns: list[list[int]]) -> Array:
    """(P, R, 2) rising numbers as ranges, empty ones behind the last: [0, 1, 2, 7] is [(0, 3), (7, 8)]."""
    found = []
    for numbers in columns:
        own: list[tuple[int, int]] = []
        for n in numbers:
            if own and own[-1][1] == n:
                own[-1] = (own[-1][0], n + 1)
            else:
                own.append((n, n + 1))
        found.append(own)
    out = np.zeros((len(found), max(1, *map(len, found)), 2), dtype=np.int64)
    for row, own in zip(out, found):
        row[: len(own)] = np.array(own).reshape(-1, 2)
    return out

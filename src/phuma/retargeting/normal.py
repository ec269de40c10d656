"""The normal equations of a whole clip: cost, gradient and banded Gauss-Newton matrix, compiled.

A frame x (V,): root position p (3), rotation vector w (3) with R = exp(w) R_human, joint angles q (N); V = 6 + N.
F of these are unknowns of the part that is solved, the rest stands still. A frame is coupled to its neighbours only
(skating, speed, smoothness), so the matrix of all T F unknowns is banded with 2 F subdiagonals.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from phuma.compiled import compiled
from phuma.retargeting.collision import self_collision
from phuma.retargeting.costs import (
    POINTS,
    SIDES,
    SOLES,
    foot_roll,
    joint_speed,
    keypoint_position,
    link_direction,
    posture,
    skating,
    smoothness,
    sole_height,
)
from phuma.robots.kinematics import place_points, pose_bodies
from phuma.rotations import Array


class Targets(NamedTuple):
    """What the robot should follow."""

    turn: Array
    """(T, 3, 3) the human's root rotation, as a robot's root"""
    keypoints: Array
    """(T, 13, 3) pelvis and 12 joints of the adapted body"""
    links: Array
    """(L, 2) int: indices of keypoints"""
    directions: Array
    """(T, L, 3) unit vectors of the links"""
    feet: Array
    """(T, 2, 3) unit vectors from heel to toe, left and right"""
    stance: Array
    """(T, 4) 1 where a region is held to stand, else 0"""


class Weights(NamedTuple):
    """How much each term counts; a pseudo-Huber term has a width beyond which it grows linearly."""

    position: float
    position_width: float
    direction: float
    direction_width: float
    foot_direction: float
    roll: float
    roll_swing: float
    ground: Array
    """(T, 4) height of standing soles"""
    floor: float
    """soles below the ground, in all frames"""
    skate: Array
    """(T, 4) step of standing soles from one frame to the next"""
    skate_width: float
    smooth: Array
    """(V,) second differences"""
    smooth_width: Array
    """(V,)"""
    posture: Array
    """(V,) pull towards the default pose, and of w towards the human's"""
    speed: float
    """steps beyond max_step"""
    collision: float
    """capsules that overlap"""


@compiled
def exp_rotation(w, out):
    """out (3, 3) = exp(w)."""
    angle = np.sqrt(w[0] ** 2 + w[1] ** 2 + w[2] ** 2)
    a = np.sin(angle) / angle if angle > 1e-8 else 1.0
    b = (1 - np.cos(angle)) / angle**2 if angle > 1e-8 else 0.5
    x, y, z = w[0], w[1], w[2]
    out[0, 0], out[0, 1], out[0, 2] = 1 - b * (y * y + z * z), b * x * y - a * z, b * x * z + a * y
    out[1, 0], out[1, 1], out[1, 2] = b * x * y + a * z, 1 - b * (x * x + z * z), b * y * z - a * x
    out[2, 0], out[2, 1], out[2, 2] = b * x * z - a * y, b * y * z + a * x, 1 - b * (x * x + y * y)


@compiled
def left_jacobian(w, out):
    """out (3, 3): a change dw of w turns exp(w) by the rotation vector out dw, in the world."""
    angle = np.sqrt(w[0] ** 2 + w[1] ** 2 + w[2] ** 2)
    a = (1 - np.cos(angle)) / angle**2 if angle > 1e-4 else 0.5
    b = (angle - np.sin(angle)) / angle**3 if angle > 1e-4 else 1.0 / 6
    x, y, z = w[0], w[1], w[2]
    out[0, 0], out[0, 1], out[0, 2] = 1 - b * (y * y + z * z), b * x * y - a * z, b * x * z + a * y
    out[1, 0], out[1, 1], out[1, 2] = b * x * y + a * z, 1 - b * (x * x + z * z), b * y * z - a * x
    out[2, 0], out[2, 1], out[2, 2] = b * x * z - a * y, b * y * z + a * x, 1 - b * (x * x + y * y)


class Posed(NamedTuple):
    """The robot in every frame."""

    turn: Array
    """(T, 3, 3) of the root"""
    body_p: Array
    """(T, B, 3)"""
    body_r: Array
    """(T, B, 3, 3)"""
    axis: Array
    """(T, N, 3) of the joints"""
    origin: Array
    """(T, N, 3) a point on each axis"""
    starts: Array
    """(T, C, 3) of the capsules"""
    ends: Array
    """(T, C, 3)"""


def empty_posed(frames: int, bodies: int, joints: int, capsules: int) -> Posed:
    shapes = ((3, 3), (bodies, 3), (bodies, 3, 3), (joints, 3), (joints, 3), (capsules, 3), (capsules, 3))
    return Posed(*(np.empty((frames, *shape)) for shape in shapes))


@compiled
def pose(tree, bodies, capsules, which, x, reference, posed):
    """Put `bodies` and the capsules `which` where x (T, V) has them; reference (T, 3, 3) turns with the human."""
    small = np.empty((3, 3))
    for t in range(len(x)):
        exp_rotation(x[t, 3:6], small)
        for i in range(3):
            for j in range(3):
                posed.turn[t, i, j] = 0.0
                for k in range(3):
                    posed.turn[t, i, j] += small[i, k] * reference[t, k, j]
    pose_bodies(tree, bodies, x[:, :3], posed.turn, x[:, 6:], posed.body_p, posed.body_r, posed.axis, posed.origin)
    place_points(capsules.body, capsules.start, which, posed.body_p, posed.body_r, posed.starts)
    place_points(capsules.body, capsules.end, which, posed.body_p, posed.body_r, posed.ends)


@compiled
def _pose_points(points, part, x, t, posed, place, jac):
    """Points (P, 3) of one frame and their derivatives jac (P, 3, F)."""
    body_p, body_r, axis, origin = posed.body_p[t], posed.body_r[t], posed.axis[t], posed.origin[t]
    lever = np.empty((3, 3))
    left_jacobian(x[3:6], lever)
    for n in part.points:
        b = points.body[n]
        for i in range(3):
            place[n, i] = body_p[b, i]
            for j in range(3):
                place[n, i] += body_r[b, i, j] * points.offset[n, j]
        if part.root:
            rx, ry, rz = place[n, 0] - x[0], place[n, 1] - x[1], place[n, 2] - x[2]
            for k in range(3):
                jac[n, k, k] = 1.0  # what else is in the first three columns is zero from the start
                ax, ay, az = lever[0, k], lever[1, k], lever[2, k]
                jac[n, 0, 3 + k] = ay * rz - az * ry
                jac[n, 1, 3 + k] = az * rx - ax * rz
                jac[n, 2, 3 + k] = ax * ry - ay * rx
        for m in range(part.depth[n]):
            j = part.joints[n, m]
            c = part.column[6 + j]
            rx, ry, rz = place[n, 0] - origin[j, 0], place[n, 1] - origin[j, 1], place[n, 2] - origin[j, 2]
            jac[n, 0, c] = axis[j, 1] * rz - axis[j, 2] * ry
            jac[n, 1, c] = axis[j, 2] * rx - axis[j, 0] * rz
            jac[n, 2, c] = axis[j, 0] * ry - axis[j, 1] * rx


@compiled
def _follow(block, slope, part, place, jac, t, target, w):
    """L_match of one frame: keypoints and links."""
    cost, runs = 0.0, part.runs
    for n in part.keypoints:
        weight = w.position * part.counts[n]
        cost += keypoint_position(block, slope, runs, place, jac, n, target.keypoints, t, weight, w.position_width)
    for m in part.links:
        start, end, wanted = target.links[m, 0], target.links[m, 1], target.directions
        cost += link_direction(block, slope, runs, place, jac, start, end, wanted, t, m, w.direction, w.direction_width)
    return cost


@compiled
def _stand(block, slope, runs, place, jac, t, target, w):
    """What the feet of one frame should do."""
    cost = 0.0
    for f in range(2):
        heel, toe = SOLES + 2 * f, SOLES + 2 * f + 1
        stands = max(target.stance[t, 2 * f], target.stance[t, 2 * f + 1])
        if w.foot_direction > 0 and stands < 1:
            weight = w.foot_direction * (1 - stands)
            cost += link_direction(block, slope, runs, place, jac, heel, toe, target.feet, t, f, weight, 1.0)
        if w.roll + w.roll_swing > 0:
            weight = w.roll * stands + w.roll_swing
            cost += foot_roll(block, slope, runs, place, jac, SIDES + 2 * f, weight)
    for region in range(4):
        weight = w.ground[t, region] * target.stance[t, region]
        cost += sole_height(block, slope, runs, place, jac, SOLES + region, weight, w.floor)
    return cost


@compiled
def _over_time(band, gradient, unknowns, x, w, max_step, rest):
    """Terms of single unknowns from frame to frame."""
    frames, size = len(x), len(unknowns)
    cost = 0.0
    for t in range(frames):
        for c in range(size):
            here, i = t * size + c, unknowns[c]
            if w.posture[i] > 0:
                cost += posture(band, gradient, here, x[t, i], rest[i], w.posture[i])
            if w.speed > 0 and i >= 6 and t + 1 < frames:
                cost += joint_speed(band, gradient, here, size, x[t + 1, i] - x[t, i], max_step[i - 6], w.speed)
            if t + 2 < frames:
                bend = x[t, i] - 2 * x[t + 1, i] + x[t + 2, i]
                cost += smoothness(band, gradient, here, size, bend, w.smooth[i], w.smooth_width[i])
    return cost


@compiled
def _store(band, gradient, base, block, slope, cross, coupled):
    """Move a frame's finished equations, and what couples it to the next, into the band; empties them."""
    size = len(slope)
    for i in range(size):
        gradient[base + i] += slope[i]
        slope[i] = 0.0
        for j in range(i, size):
            band[base + i, j - i] += block[i, j]
            block[i, j] = 0.0
        if coupled:
            for j in range(size):
                band[base + i, size + j - i] += cross[i, j]
                cross[i, j] = 0.0


@compiled
def build(tree, points, capsules, part, posed, target, w, x, max_step, rest, band, gradient):
    """Fill band (T F, 2 F + 1), where band[c, d] is the matrix at row c + d and column c, and gradient (T F,).

    Poses anew what the part moves. Returns the cost at x (T, V).
    """
    frames, size = len(x), len(part.unknowns)
    band[:] = 0.0
    gradient[:] = 0.0
    cols, row = np.empty(size, np.int64), np.empty(size)
    cross = np.zeros((size, size))
    now = (np.zeros((size, size)), np.zeros(size), np.empty((POINTS, 3)), np.zeros((POINTS + 1, 3, size)))
    before = (np.zeros((size, size)), np.zeros(size), np.empty((POINTS, 3)), np.zeros((POINTS + 1, 3, size)))
    pose(tree, part.bodies, capsules, part.capsules, x, target.turn, posed)
    cost = _over_time(band, gradient, part.unknowns, x, w, max_step, rest)
    for t in range(frames):
        now, before = before, now
        block, slope, place, jac = now
        _pose_points(points, part, x[t], t, posed, place, jac)
        cost += _follow(block, slope, part, place, jac, t, target, w)
        if part.stands:
            cost += _stand(block, slope, part.runs, place, jac, t, target, w)
        if w.collision > 0:
            cost += self_collision(block, slope, capsules, part, posed, t, w.collision, row, cols)
        if t > 0:
            coupled = False
            for region in range(4 if part.stands else 0):
                weight = w.skate[t - 1, region] * target.stance[t - 1, region]
                if weight > 0:
                    coupled = True
                    cost += skating(before, now, cross, part.runs, SOLES + region, weight, w.skate_width)
            _store(band, gradient, (t - 1) * size, before[0], before[1], cross, coupled)
    _store(band, gradient, (frames - 1) * size, now[0], now[1], cross, False)
    return cost


@compiled
def hold(band, gradient, fixed):
    """Take unknowns out of the equations: a one on the diagonal, zeros in row and column."""
    for c in fixed:
        gradient[c] = 0.0
        band[c, 0] = 1.0
        for d in range(1, band.shape[1]):
            band[c, d] = 0.0
            if d <= c:
                band[c - d, d] = 0.0

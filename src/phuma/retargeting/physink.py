"""PhySINK: shape-adaptive inverse kinematics with joint, ground and skating terms, over the whole clip."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from threadpoolctl import ThreadpoolController

from phuma import rotations as rot
from phuma.retargeting.config import SolveCfg, Terms
from phuma.retargeting.limits import joint_bounds
from phuma.retargeting.normal import Targets, Weights
from phuma.retargeting.part import Part, link_indices, parts_of, problem_points
from phuma.retargeting.solver import DAMPING, Problem, State, advance, iterate
from phuma.retargeting.target import IN_CONTACT, Target
from phuma.robots.capsules import capsules_of, no_capsules
from phuma.robots.kinematics import tree_of
from phuma.robots.robot import Robot
from phuma.rotations import Array
from phuma.skeleton import INDEX

SEAM = 2  # frames that a piece shares with the one before: as far as smoothness reaches


class Solution(NamedTuple):
    """What the solver found."""

    root_pos: Array
    """(T, 3)"""
    root_quat: Array
    """(T, 4) wxyz"""
    joint_pos: Array
    """(T, N)"""
    stance: Array
    """(T, 4) 1 where a region was held to stand"""
    steps: int
    converged: bool
    """Whether the cost had settled when the solver stopped, in every piece"""


@lru_cache(maxsize=1)
def _blas() -> ThreadpoolController:
    return ThreadpoolController()


def solve(target: Target, contact: Array, robot: Robot, terms: Terms, cfg: SolveCfg) -> Solution:
    """Put the target on the robot; contact (T, 4) are curation's ratios."""
    # Matrices are small: threads of the linear algebra would only wait for each other.
    with _blas().limit(limits=1):
        return _solve(target, contact, robot, terms, cfg)


def _solve(target: Target, contact: Array, robot: Robot, terms: Terms, cfg: SolveCfg) -> Solution:
    stance = (contact > IN_CONTACT).astype(float)
    frames = len(target.motion)
    x = _start(target, robot)
    steps, converged, first, done = 0, True, 0, 0
    while done < frames:
        last = min(first + cfg.window, frames)
        problem = _problem(target, stance, robot, terms, cfg, first, last)
        problem.fixed_frames = SEAM if first else 0
        state = State(x[first:last].copy())
        converged &= _solve_piece(problem, state, parts_of(robot, terms.collision), terms, cfg)
        steps = max(steps, state.steps)
        done = frames if last == frames else last - cfg.overlap
        x[first:done] = state.x[: done - first]
        x[done:last] = state.x[done - first :]  # a good start for the next piece
        first = done - SEAM
    root = rot.multiply(rot.from_rotvec(x[:, 3:6]), target.root_quat)
    return Solution(x[:, :3], rot.normalize(root), x[:, 6:], stance, steps, converged)


def _solve_piece(problem: Problem, state: State, parts: tuple[Part, Part], terms: Terms, cfg: SolveCfg) -> bool:
    """The body, then the arms; whether both settled."""
    body, arms = parts
    arms_at_rest = state.x[:, arms.unknowns]
    _begin(problem, arms, state, terms, cfg)  # where a shoulder is depends a little on its arm
    _begin(problem, body, state, terms, cfg)
    settled = _finish(problem, body, state, terms, cfg)
    state.x[:, arms.unknowns] = arms_at_rest  # from here they find a better way than from a guess
    _begin(problem, arms, state, terms, cfg)
    return _finish(problem, arms, state, terms, cfg) and settled


def _begin(problem: Problem, part: Part, state: State, terms: Terms, cfg: SolveCfg) -> None:
    """Smooth and loose: the whole clip is moved before its details."""
    problem.take(part, state.x)
    state.damping = DAMPING
    for anneal in cfg.anneal:
        advance(problem, state, _weights(problem, terms, cfg, 0.0, anneal))


def _finish(problem: Problem, part: Part, state: State, terms: Terms, cfg: SolveCfg) -> bool:
    """Contacts rise, then until the cost settles; whether it did."""
    if part.stands or terms.collision:
        for k in range(1, cfg.rise + 1):
            advance(problem, state, _weights(problem, terms, cfg, k / cfg.rise, 1.0))
    return iterate(problem, state, _weights(problem, terms, cfg, 1.0, 1.0), cfg.max_steps, cfg.tolerance)


def _weights(problem: Problem, terms: Terms, cfg: SolveCfg, share: float, anneal: float) -> Weights:
    """Contact weights a share of the way up, on a logarithmic scale."""
    ones = np.ones_like(problem.target.stance)
    ground = cfg.contact_start * (cfg.ground / cfg.contact_start) ** share if terms.ground else 0.0
    skate = cfg.contact_start * (cfg.skate / cfg.contact_start) ** share if terms.skate else 0.0
    joints = len(problem.max_step)

    def each(path: float, turn: float, joint: float) -> Array:
        return np.concatenate([np.full(3, path), np.full(3, turn), np.full(joints, joint)])

    return Weights(
        position=cfg.position,
        position_width=cfg.position_width,
        direction=cfg.direction,
        direction_width=cfg.direction_width,
        foot_direction=cfg.foot_direction,
        roll=cfg.roll if terms.ground else 0.0,
        roll_swing=cfg.roll_swing if terms.ground else 0.0,
        ground=ground * ones,
        floor=ground,
        skate=skate * ones,
        skate_width=cfg.skate_width,
        smooth=anneal * each(cfg.smooth_path, cfg.smooth_turn, cfg.smooth_joint),
        smooth_width=each(cfg.smooth_path_width, cfg.smooth_angle_width, cfg.smooth_angle_width),
        posture=each(0.0, cfg.posture_turn, cfg.posture_joint),
        speed=cfg.speed if terms.feasibility else 0.0,
        collision=cfg.collision * 0.01 ** (1 - share) if terms.collision else 0.0,
    )


def _problem(
    target: Target, stance: Array, robot: Robot, terms: Terms, cfg: SolveCfg, first: int, last: int
) -> Problem:
    here = slice(first, last)
    keypoints = target.motion.pose.position[here][:, [INDEX[k] for k in robot.keypoints]]
    links = link_indices(robot)
    along = keypoints[:, links[:, 1]] - keypoints[:, links[:, 0]]
    targets = Targets(
        turn=np.ascontiguousarray(rot.to_matrix(target.root_quat[here])),
        keypoints=np.ascontiguousarray(keypoints),
        links=links,
        directions=along / np.linalg.norm(along, axis=-1, keepdims=True),
        feet=np.ascontiguousarray(target.feet[here]),
        stance=np.ascontiguousarray(stance[here]),
    )
    lower, upper = joint_bounds(robot, cfg.range_share)
    if not terms.feasibility:
        lower, upper = np.full_like(lower, -np.inf), np.full_like(upper, np.inf)
    step = cfg.speed_share * robot.velocity_limit / target.motion.fps
    capsules = capsules_of(robot) if terms.collision else no_capsules()
    points = problem_points(robot)
    free = np.full(6, np.inf)
    lower, upper = np.concatenate([-free, lower]), np.concatenate([free, upper])
    return Problem(tree_of(robot), points, capsules, targets, lower, upper, step, _rest(robot))


def _rest(robot: Robot) -> Array:
    lower, upper = joint_bounds(robot, 0.98)
    return np.concatenate([np.zeros(6), np.clip(robot.default_pose, lower, upper)])


def _start(target: Target, robot: Robot) -> Array:
    """(T, V) the human's root, the robot's default pose."""
    x = np.tile(_rest(robot), (len(target.motion), 1))
    pelvis = robot.keypoint_offset[robot.keypoints.index("pelvis")]
    x[:, :3] = target.motion.root_pos - rot.rotate(target.root_quat, pelvis)
    return x

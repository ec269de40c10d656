"""PhySINK: shape-adaptive inverse kinematics with joint, ground and skating terms, over the whole clip."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from threadpoolctl import ThreadpoolController

from phuma.core import rotations as rot
from phuma.core.foot_contacts import in_contact
from phuma.core.rotations import Array
from phuma.core.skeleton import INDEX
from phuma.core.trajectory import Trajectory
from phuma.retargeting.block import Block, blocks_of, link_indices, problem_points
from phuma.retargeting.config import Loss, SolveCfg
from phuma.retargeting.dynamics_pass import refine
from phuma.retargeting.limits import joint_bounds
from phuma.retargeting.objective import Stage, weights_at
from phuma.retargeting.solver import DAMPING, Problem, State, advance, iterate
from phuma.retargeting.target import Target
from phuma.retargeting.term_data import Targets
from phuma.robots.capsules import capsules_of, no_capsules
from phuma.robots.kinematics import tree_of
from phuma.robots.robot import Robot

UNLIMITED = 1e9  # m or rad from frame to frame; compiled code knows no infinity
SEAM = 2  # frames that a piece shares with the one before: as far as smoothness reaches


class Solution(NamedTuple):
    """What the solver found."""

    trajectory: Trajectory
    stance: Array
    """(T, 4) 1 where a region was held to stand"""
    steps: int
    converged: bool
    """Whether the cost had settled when the solver stopped, in every piece"""
    weakened: bool = False
    """Whether forces count less than they should somewhere, since more would have cost too much fidelity"""


@lru_cache(maxsize=1)
def _blas() -> ThreadpoolController:
    return ThreadpoolController()


def solve(target: Target, contact: Array, robot: Robot, losses: frozenset[Loss], cfg: SolveCfg) -> Solution:
    """Put the target on the robot; contact (T, 4) are curation's ratios."""
    # Matrices are small: threads of the linear algebra would only wait for each other.
    with _blas().limit(limits=1):
        return _solve(target, contact, robot, losses, cfg)


def _solve(target: Target, contact: Array, robot: Robot, losses: frozenset[Loss], cfg: SolveCfg) -> Solution:
    stance = in_contact(contact).astype(float)
    frames = len(target.motion)
    x = _start(target, robot, cfg.within)
    steps, converged, weakened, first, done = 0, True, False, 0, 0
    while done < frames:
        last = min(first + cfg.window, frames)
        problem = _problem(target, stance, robot, losses, cfg, first, last)
        problem.fixed_frames = SEAM if first else 0
        state = State(x[first:last].copy())
        converged &= _solve_piece(problem, state, blocks_of(robot, Loss.COLLISION in losses), losses, cfg)
        if Loss.DYNAMICS in losses:
            refined = refine(problem, robot, target.motion.fps, state.x, weights_at(Stage(), losses))
            state.x, weakened = refined.x, weakened or refined.weakened
            state.steps += refined.steps
        steps = max(steps, state.steps)
        done = frames if last == frames else last - cfg.overlap
        x[first:done] = state.x[: done - first]
        x[done:last] = state.x[done - first :]  # a good start for the next piece
        first = done - SEAM
    root = rot.normalize(rot.multiply(rot.from_rotvec(x[:, 3:6]), target.root_quat))
    path = Trajectory(robot.name, robot.joint_names, target.motion.fps, x[:, :3], root, x[:, 6:])
    return Solution(path, stance, steps, converged, weakened)


def _solve_piece(
    problem: Problem, state: State, blocks: tuple[Block, Block], losses: frozenset[Loss], cfg: SolveCfg
) -> bool:
    """The body, then the arms; whether both settled."""
    body, arms = blocks
    arms_at_rest = state.x[:, arms.unknowns]
    _begin(problem, arms, state, losses, cfg)  # where a shoulder is depends a little on its arm
    _begin(problem, body, state, losses, cfg)
    settled = _finish(problem, body, state, losses, cfg)
    state.x[:, arms.unknowns] = arms_at_rest  # from here they find a better way than from a guess
    _begin(problem, arms, state, losses, cfg)
    return _finish(problem, arms, state, losses, cfg) and settled


def _begin(problem: Problem, block: Block, state: State, losses: frozenset[Loss], cfg: SolveCfg) -> None:
    """Smooth and loose: the whole clip is moved before its details."""
    problem.take(block, state.x)
    state.damping = DAMPING
    for anneal in cfg.anneal:
        advance(problem, state, weights_at(Stage(0.0, anneal), losses))


def _finish(problem: Problem, block: Block, state: State, losses: frozenset[Loss], cfg: SolveCfg) -> bool:
    """Contacts rise, then until the cost settles; whether it did."""
    if block.stands or Loss.COLLISION in losses:
        for k in range(1, cfg.rise + 1):
            advance(problem, state, weights_at(Stage(k / cfg.rise), losses))
    return iterate(problem, state, weights_at(Stage(), losses), cfg.max_steps, cfg.tolerance)


def _problem(
    target: Target, stance: Array, robot: Robot, losses: frozenset[Loss], cfg: SolveCfg, first: int, last: int
) -> Problem:
    here = slice(first, last)
    keypoints = target.motion.pose.position[here][:, [INDEX[k] for k in robot.keypoints]]
    links = link_indices(robot)
    along = keypoints[:, links[:, 1]] - keypoints[:, links[:, 0]]
    targets = Targets(
        root_rot=np.ascontiguousarray(rot.to_matrix(target.root_quat[here])),
        keypoints=np.ascontiguousarray(keypoints),
        links=links,
        directions=along / np.linalg.norm(along, axis=-1, keepdims=True),
        feet=np.ascontiguousarray(target.feet[here]),
        stance=stance[here].astype(np.int64),
    )
    lower, upper = joint_bounds(robot, cfg.range_share, cfg.within)
    if Loss.FEASIBILITY not in losses:
        lower, upper = np.full_like(lower, -np.inf), np.full_like(upper, np.inf)
    step = cfg.speed_share * robot.velocity_limit / target.motion.fps
    capsules = capsules_of(robot) if Loss.COLLISION in losses else no_capsules()
    points = problem_points(robot)
    free = np.full(6, np.inf)
    lower, upper = np.concatenate([-free, lower]), np.concatenate([free, upper])
    step = np.concatenate([np.full(6, UNLIMITED), step])
    return Problem(tree_of(robot), points, capsules, targets, lower, upper, step, _rest(robot, cfg.within))


def _rest(robot: Robot, within: float = 1.0) -> Array:
    lower, upper = joint_bounds(robot, 0.98, within)
    return np.concatenate([np.zeros(6), np.clip(robot.default_pose, lower, upper)])


def _start(target: Target, robot: Robot, within: float = 1.0) -> Array:
    """(T, V) the human's root, the robot's default pose."""
    x = np.tile(_rest(robot, within), (len(target.motion), 1))
    pelvis = robot.keypoint_offset[robot.keypoints.index("pelvis")]
    x[:, :3] = target.motion.root_pos - rot.rotate(target.root_quat, pelvis)
    return x

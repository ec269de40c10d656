"""Fit a body and find what of it stands, in turns: each helps the other."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from phuma.body.mass import JOINT_WEIGHTS
from phuma.body.open import OPEN_SPACE
from phuma.contacts.evidence import Evidence
from phuma.contacts.stance import contacts_that_stand
from phuma.core import rotations as rot
from phuma.core.human_motion import HumanMotion
from phuma.core.provenance import Provenance
from phuma.core.rotations import Array
from phuma.core.skeleton import INDEX, REGIONS
from phuma.core.smoothing import smooth
from phuma.video.fit import AT_A_TIME, Problem, State, solve
from phuma.video.pinhole import axes_of
from phuma.video.posing import SOLES, joint_positions, local_rotations, pose

FIRST, LATER = 10, 8
"""Most steps of the first fit, in which nothing is known to stand, and of each later one"""
ROUNDS = 3
BAND = 0.025  # m about the ground within which a sole counts as low, as in curation
CUTOFFS = 4.0, 6.0  # Hz, for the pelvis' path and for rotations, with which soles are judged by height
FEET = [INDEX[f"{side}_{part}"] for side in ("left", "right") for part in ("ankle", "foot")]
REST, STAYS, HOVER = 0.8, (0.09, 0.03, 0.03), 0.12
"""A sole that stays for so many s within so many m, away from the camera, across and up, stands, though it be so many m
higher than others: at this stage a foot is higher where gravity is wrong, and would never be found to stand, and what
is known of its depth trembles"""
SHORTEST = 3
"""Frames below which nothing is known to stand"""


def fit_standing(problem: Problem, state: State) -> State:
    """Return the fit of a problem, whose `stands` is found in between."""
    problem.stands = np.zeros((len(state.x), SOLES))
    begun, state = state, solve(problem, state, FIRST)
    if (weighed := problem.evidence.weighed(_markers(problem, state))) != problem.evidence:
        problem.evidence = weighed
        state = solve(problem, begun, FIRST)
    if not (problem.hold or problem.level.known):
        state = replace(state, shared=state.shared._replace(up=_upright(state)))
    for _ in range(ROUNDS if len(state.x) >= SHORTEST else 0):
        motion = motion_of(state, problem.fps, Provenance("", ""))
        stands, ground = _standing(motion)
        problem.stands = np.repeat(stands, SOLES // len(REGIONS), axis=1)
        if not problem.hold:
            height = state.shared.ground + ground
            state = replace(state, shared=state.shared._replace(ground=height))
        state = solve(problem, state, LATER)
    return state


def _markers(problem: Problem, state: State) -> Array:
    """Return (T, P, 3) m: where the markers are, without those of the soles."""
    parts = [slice(first, first + AT_A_TIME) for first in range(0, len(state.x), AT_A_TIME)]
    posed = [pose(problem.rig, state.x[p], state.root[p], state.shared.lengths).points for p in parts]
    return np.concatenate(posed)[:, :-SOLES]


def _upright(state: State) -> Array:
    """Return (3,) which way is up by the centre of mass over the middle of both feet, in the median of the frames."""
    joints = joint_positions(state.x, state.root, state.shared.lengths)
    arm = JOINT_WEIGHTS @ joints - joints[:, FEET].mean(axis=1)
    up = np.median(arm / np.linalg.norm(arm, axis=1, keepdims=True), axis=0)
    return np.asarray(up / np.linalg.norm(up))


def motion_of(state: State, fps: float, provenance: Provenance, camera: Array | None = None) -> HumanMotion:
    """Return a state as a motion, z-up, in a world in which the camera is at `camera` (3,) m; if that is not given, the
    ground is at 0 and the motion begins above the origin."""
    turn = axes_of(state.shared.up)
    local, _ = local_rotations(state.x)
    local[:, 0] = turn @ state.root
    body = OPEN_SPACE.body(state.shared.lengths)
    path = state.x[:, :3] @ turn.T + (camera_of(state) if camera is None else camera)
    return HumanMotion(body, path, rot.from_matrix(local), fps, provenance)


def camera_of(state: State) -> Array:
    """Return (3,) m: where the camera is in the world of `motion_of`."""
    start = axes_of(state.shared.up)[:2] @ state.x[0, :3]
    return np.array([-start[0], -start[1], -state.shared.ground])


def _standing(motion: HumanMotion) -> tuple[Array, float]:
    """Return (T, 4) from 0 to 1 what stands, and the height of the ground by that, m."""
    smoothed = smooth(motion, *(min(c, 0.3 * motion.fps) for c in CUTOFFS))
    heights = smoothed.sole_heights().astype(np.float32)
    found = contacts_that_stand(Evidence(motion, smoothed, heights, BAND))
    own = heights.reshape(len(heights), len(REGIONS), -1).mean(axis=2)
    low = own[found.mask] if found.mask.any() else np.quantile(own, 0.05, keepdims=True)
    ground = float(np.median(low))
    soles = smoothed.sole_positions().reshape(len(heights), len(REGIONS), -1, 3).mean(axis=2)
    rests = resting(soles, round(REST * motion.fps)) & (own < ground + HOVER)
    return np.maximum(found.ratio, rests), ground


def resting(soles: Array, frames: int) -> NDArray[np.bool_]:
    """Return (T, R) whether points (T, R, 3) are within STAYS of their mean for so many frames on
    end, as an ellipsoid."""
    out = np.zeros(soles.shape[:2], dtype=bool)
    if not 2 <= frames <= len(soles):
        return out
    windows = np.lib.stride_tricks.sliding_window_view(soles, frames, axis=0)
    shares = (windows - windows.mean(axis=-1, keepdims=True)) / np.array(STAYS)[:, None]
    away = np.linalg.norm(shares, axis=2).max(axis=-1)
    for k in range(frames):
        out[k : k + len(away)] |= away < 1
    return out

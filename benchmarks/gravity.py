"""How well gravity is found in two seconds of standing or walking, and how well it could be.

PHUMA_CMU and PHUMA_CMU_FRESH name the folders of the recordings.
"""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np

from cmu_table import CMU
from filming import Noise, camera_for, film, staged
from lifting import FACING, HEAD, TILTS, Score, Subject, row, score, whole_clip
from phuma.core.resample import resample
from phuma.core.rotations import Array
from phuma.sources import read
from phuma.video import terms
from phuma.video.beginning import begin
from phuma.video.fit import Level, Problem, State, plane
from phuma.video.lift import LEVEL_PITCH, LEVEL_ROLL, STATURE_WIDTH, LiftCfg
from phuma.video.markers import SEEN
from phuma.video.posing import SOLES, Rig, pose
from phuma.video.standing import fit_standing
from presets_fresh import FRESH
from tables import markdown, save

FRAMES, FPS = 60, 30.0
ONCE = 0.01  # Hz at which every frame counts as a whole
MEASURED = 2.0  # times the usual noise
STANDING = "standing, held out"
WINDOWS = {
    "standing, tried": (
        "02_05 190, 114_02 370, 133_03 30, 135_04 250, 137_08 0, 137_34 160, 144_14 180, 144_29 0, 32_07 540, "
        "77_02 90, 81_01 70, 83_03 10, 83_47 0, 124_07 170, 142_06 0, 20_01 150, 27_02 730, 28_02 70, 29_03 100, "
        "31_02 150, 56_02 360, 64_05 0"
    ),
    STANDING: (
        "114_12 140, 133_26 160, 137_10 500, 144_21 70, 14_12 430, 75_06 120, 81_15 90, 83_43 0, 124_05 0, 142_03 120, "
        "142_08 0, 26_03 80, 27_03 0, 29_02 70, 31_01 670, 42_01 30, 64_02 0"
    ),
    "walking, tried": (
        "05_07 160, 133_01 30, 133_16 30, 136_10 100, 137_05 80, 137_40 110, 15_10 370, 69_28 50, 69_71 190, "
        "81_01 220, 83_34 60"
    ),
    "walking, held out": (
        "07_01 10, 07_04 50, 08_02 0, 12_01 30, 138_02 130, 138_11 40, 138_14 40, 142_04 490, 142_09 400, 36_06 200, "
        "43_01 0, 56_01 130"
    ),
}
"""Recordings and first frames at 30 Hz: both feet stay within 3 cm for 2 s, or the pelvis goes at 0.6 to 1.8 m/s"""
BALANCE = 0.025
"""m by which the centre of mass of people who stand is off the middle of their soles, standard deviation"""


def people(kind: str) -> list[Subject]:
    out = []
    for name, first in (window.split() for window in WINDOWS[kind].split(", ")):
        folder = next(f for f in (CMU, FRESH) if (f / f"{name}.bvh").exists())
        motion = resample(read(folder / f"{name}.bvh"), FPS).frames(int(first), int(first) + FRAMES)
        out.append(Subject(name, motion, motion.body.leg_length / 0.476))
    return out


def views(k: int) -> tuple[float, tuple[float, float]]:
    """The side and the tilt from which the k-th person is filmed: all nine in turn."""
    return tuple(FACING.values())[k % 3], TILTS[k // 3 % 3]


def lifted(kind: str, factor: float) -> list[Score]:
    out = []
    for k, person in enumerate(people(kind)):
        facing, tilt = views(k)
        truth = staged(person.motion, facing)
        camera = camera_for(truth, 4.0, *tilt)
        seen = film(truth, camera, person.stature, Noise().times(factor), seed=1000 + k)
        cfg = LiftCfg(stature=person.stature, focal=camera.focal)
        out.append(score(person, camera, seen, truth, cfg, whole_clip))
    return out


def bound(person: Subject, k: int, factor: float) -> Array:
    """(2,) least standard deviations of roll and pitch, rad, for a person who stands still: the inverse of the
    information in one frame that has the noise of the mean of all, in balance, and in what is known before."""
    noise, seconds = Noise().times(factor), FRAMES / FPS
    truth = staged(person.motion, views(k)[0])
    camera = camera_for(truth, 4.0, *views(k)[1])
    seen = film(truth, camera, person.stature, Noise().times(0.0))
    every, no = np.ones(FRAMES, dtype=bool), np.zeros((FRAMES, 33), dtype=bool)
    picture, state = begin(seen, every, no, camera.focal, person.stature)
    level = Level(0.0, 0.0, LEVEL_PITCH, LEVEL_ROLL)
    shared = state.shared
    problem = Problem(Rig.of(SEEN), picture, FPS, level, shared.lengths, STATURE_WIDTH, shared.scale)
    state = fit_standing(problem, state)
    pixels = np.hypot(noise.pixel_bias, noise.pixels * np.sqrt(2 * 0.1 / seconds))
    depth = np.hypot(noise.depth_bias, noise.depth * np.sqrt(2 * 0.2 / seconds))
    one = slice(FRAMES // 2, FRAMES // 2 + 1)
    problem.evidence = replace(
        picture,
        **{name: getattr(picture, name)[one] for name in ("rays", "depth", "sight", "trust")},
        depth_trust=picture.depth_trust[one] * terms.DEPTH / depth,
        noise=picture.noise[one] * pixels / terms.PIXELS,
        fps=ONCE,
    )
    problem.fps, problem.stands = ONCE, np.ones((1, SOLES))
    state = State(state.x[one], state.root[one], state.shared)
    arrow = problem.evaluate(state)
    whole = np.block([[arrow.own[0], arrow.border[0]], [arrow.border[0].T, arrow.corner]])
    at = len(arrow.own[0]) + np.arange(terms.UP.start, terms.UP.stop)
    usual, sure = balance(problem, state)
    return np.sqrt(np.diag(np.linalg.inv(whole - usual.T @ usual + sure.T @ sure))[at])


def balance(problem: Problem, state: State) -> tuple[Array, Array]:
    """(2, V + G) twice: the derivatives of balance as the fit has it, and as it is known of people who stand."""
    up = state.shared.up
    posed = pose(problem.rig, state.x, state.root, state.shared.lengths)
    rows = terms.balance(posed, state.shared, problem.stands, plane(up), np.zeros((1, 3)), problem.fps)
    usual = np.concatenate([rows.by_frame[0], rows.by_shared[0]], axis=1)
    height = float((posed.mass[0] - posed.points[0, -SOLES:].mean(axis=0)) @ up)
    by_up = np.abs(np.diag(rows.by_shared[0][:, terms.UP]))
    return usual, usual * (height / BALANCE / by_up)[:, None]


def bounds(factor: float) -> list[object]:
    """The row of the bound: mean and 90 % of the angles that errors of these standard deviations make."""
    least = np.array([bound(person, k, factor) for k, person in enumerate(people(STANDING))])
    angles = np.degrees(np.linalg.norm(least * np.random.default_rng(0).normal(size=(1000, 1, 2)), axis=-1))
    return ["standing, bound", len(least), *["-"] * 5, f"{angles.mean():.1f}", f"{np.quantile(angles, 0.9):.1f}", "-"]


def main() -> None:
    if not (CMU.exists() and FRESH.exists()):
        print(f"skipped: no recordings at {CMU} and {FRESH}; set PHUMA_CMU and PHUMA_CMU_FRESH")
        return
    tables = {}
    for name, factor in (("usual", 1.0), ("measured", MEASURED)):
        each = {kind: lifted(kind, factor) for kind in WINDOWS if factor == MEASURED or "held" in kind}
        within = [[kind, f"{100 * np.mean([s.gravity < 4 for s in scores]):.0f}"] for kind, scores in each.items()]
        print(name, within)
        tables[name] = markdown(HEAD, [*(row(kind, scores) for kind, scores in each.items()), bounds(factor)])
    save(
        "gravity",
        "Gravity from two seconds of film",
        "Parts of CMU recordings in which somebody stands or walks, each filmed from one of three sides by a camera of "
        "one of three tilts, and lifted with stature and focal length known. The terms of the fit were tried on some; "
        "the others are held out. The bound is what an unbiased estimate could reach that knows the noise, and that "
        "people who stand have their mass over the middle of their soles within 2.5 cm.",
        "Measured noise, that of four views of a person who balances:",
        tables["measured"],
        "Usual noise, half of it:",
        tables["usual"],
    )


if __name__ == "__main__":
    sys.exit(main())

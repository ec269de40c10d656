"""Preset dynamic: the five numbers of a clip by hand, its limits one by one, and what is kept and what is not."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from phuma.curation import CurateCfg, curate
from phuma.curation.dynamic import AROUND, WINDOW, FrameDynamics
from phuma.sources import read
from phuma.synth import FAULTS, KINDS, generate

FPS = 30.0
DYNAMIC = CurateCfg(preset="dynamic", mend=False)
SEEDS = (0, 1)
FAULTY_KINDS = ("stand", "turn", "squat", "jump", "walk", "run")
FRAMES = 90


@cache
def clean(kind, seed):
    return generate(kind, 4.0, seed).motion


def failed(motion):
    """Names of the filters that reject some clip of the motion."""
    return {m.name for clip in curate(motion, DYNAMIC).clips for m in clip.verdict.measures if not m.passed}


def standing_frames(frames=FRAMES):
    """Two feet flat on the floor, the force in their middle, nothing missing."""
    corners = np.zeros((frames, 16, 3))
    corners[:, :8, 1], corners[:, 8:, 1] = 0.1, -0.1
    corners[:, ::4, 0], corners[:, 1::4, 0] = -0.07, 0.18
    return FrameDynamics(
        fps=FPS,
        loaded=np.ones(frames, dtype=bool),
        lift=np.zeros(frames),
        push=np.full((frames, 32), -0.2),
        corners=corners,
        carrying=np.ones((frames, 16), dtype=bool),
        standing=np.ones((frames, 16), dtype=bool),
        slowest=np.zeros(frames),
        lean=np.zeros((frames, 2)),
        height=np.full(frames, 0.95),
        away=np.zeros(frames),
    )


def with_numbers(numbers):
    """Frames of a clip that has these five numbers."""
    frames, t = standing_frames(), np.arange(FRAMES) / FPS
    corners = frames.corners.copy()
    corners[..., 2] -= corners[..., 0] * np.radians(numbers["ground_tilt"])
    corners[..., 2] += numbers["ground_drift"] * t[:, None]
    lean = np.zeros((FRAMES, 2))
    lean[:, 0] = np.radians(numbers["ground_tilt"])
    return replace(
        frames,
        lift=np.full(FRAMES, numbers["external_support_force"]),
        slowest=np.full(FRAMES, numbers["sole_slide"]),
        corners=corners,
        lean=lean,
        away=np.full(FRAMES, numbers["shake"] / 1000),
    )


NOTHING = dict.fromkeys(("external_support_force", "sole_slide", "ground_drift", "ground_tilt", "shake"), 0.0)
JUST_KEPT = {
    "external_support_force": 0.149,
    "sole_slide": 0.149,
    "ground_drift": 0.029,
    "ground_tilt": 3.9,
    "shake": 2.9,
}
JUST_REJECTED = {
    "external_support_force": 0.151,
    "sole_slide": 0.151,
    "ground_drift": 0.031,
    "ground_tilt": 4.1,
    "shake": 3.1,
}


def test_limits_are_those_of_the_page():
    assert DYNAMIC.limits == dict(zip(NOTHING, (0.15, 0.15, 0.03, 4.0, 3.0)))
    assert WINDOW == 1.0


def test_who_stands_on_two_feet_measures_nothing():
    verdict = standing_frames().judge(0, FRAMES, DYNAMIC.limits)
    assert verdict.metrics == pytest.approx(NOTHING, abs=1e-9)
    assert verdict.kept


@pytest.mark.parametrize("name", NOTHING)
def test_each_filter_rejects_alone_and_only_beyond_its_limit(name):
    kept = with_numbers(NOTHING | {name: JUST_KEPT[name]}).judge(0, FRAMES, DYNAMIC.limits)
    assert kept.kept
    assert kept.metrics[name] == pytest.approx(JUST_KEPT[name], rel=1e-3)
    verdict = with_numbers(NOTHING | {name: JUST_REJECTED[name]}).judge(0, FRAMES, DYNAMIC.limits)
    assert [m.name for m in verdict.measures if not m.passed] == [name]


def test_what_lies_outside_a_clip_does_not_touch_its_verdict_but_for_the_tilt_of_the_world():
    """Support counts up to a fifth of a second before and after it."""
    inside, frames, around = slice(30, 70), standing_frames(), round(AROUND * FPS)
    spoiled = {"lift": frames.lift + 5, "slowest": frames.slowest + 5, "away": frames.away + 5}
    for name, values in spoiled.items():
        kept = slice(30 - around, 70 + around) if name == "lift" else inside
        values[kept] = getattr(frames, name)[kept]
    corners = frames.corners + np.linspace(0, 3, FRAMES)[:, None, None] * [0.0, 0.0, 1.0]
    corners[inside] = frames.corners[inside]
    spoilt = replace(frames, corners=corners, **spoiled).judge(30, 70, DYNAMIC.limits).metrics
    for name in ("external_support_force", "sole_slide", "ground_drift", "shake"):
        assert spoilt[name] == pytest.approx(0.0, abs=1e-12)
    whole = replace(frames, corners=corners, **spoiled).judge(29, 71, DYNAMIC.limits).metrics
    assert all(whole[name] > 0 for name in ("external_support_force", "ground_drift", "shake"))


def test_frames_that_carry_no_weight_do_not_slide_or_drift():
    frames = standing_frames()
    loaded = np.arange(FRAMES) % 5 == 0
    corners = frames.corners + np.where(loaded, 0.0, np.arange(FRAMES) / FPS)[:, None, None] * [0.0, 0.0, 1.0]
    slowest = np.where(loaded, 0.0, 3.0)
    metrics = replace(frames, loaded=loaded, corners=corners, slowest=slowest).judge(0, FRAMES, DYNAMIC.limits).metrics
    assert metrics["sole_slide"] == metrics["ground_drift"] == 0.0


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.slow
def test_clean_motions_are_kept_and_runs_are_too(kind, seed):
    assert failed(clean(kind, seed)) == set()


@pytest.mark.parametrize("kind", FAULTY_KINDS)
@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("jitter", "shake"),
        ("float", "external_support_force"),
        ("drift", "ground_drift"),
        ("slide", "sole_slide"),
        ("chair", "external_support_force"),
    ],
)
def test_plain_faults_are_rejected_for_their_own_reason(name, reason, kind):
    fault = FAULTS[name]
    assert reason in failed(fault.apply(clean(kind, 1), fault.strengths[1], seed=1))


@pytest.mark.parametrize("kind", FAULTY_KINDS)
def test_a_plain_tilt_is_rejected_whichever_way_it_goes(kind):
    fault = FAULTS["tilt"]
    for seed in range(3):
        why = failed(fault.apply(clean(kind, 0), fault.strengths[1], seed))
        assert why & {"ground_tilt", "external_support_force", "ground_drift"}


@pytest.mark.parametrize(("kind", "speed"), [("jump", 0.5), ("jump", 2.0), ("run", 2.0)])
def test_flight_at_another_speed_than_its_own_is_noticed(kind, speed):
    """Everybody falls by the same law, so that a wrong frame rate shows."""
    motion = clean(kind, 0)
    assert "external_support_force" in failed(replace(motion, fps=speed * motion.fps))


def test_a_deep_squat_is_no_chair():
    """The paper's limit on the pelvis' height cannot tell one from the other; where the force acts can."""
    squat, chair = clean("squat", 0), FAULTS["chair"].apply(clean("squat", 0), 35.0)
    assert curate(squat, DYNAMIC).clips[0].verdict.metrics["external_support_force"] < 0.02
    assert curate(chair, DYNAMIC).clips[0].verdict.metrics["external_support_force"] > 0.2


@pytest.mark.parametrize("kind", ["stand", "walk", "run", "jump"])
def test_its_floor_is_the_one_that_feet_stand_on(kind):
    """Of a generated person's it is z = 0; the vote over all soles lies up to 2.4 cm above."""
    frames = curate(clean(kind, 0), DYNAMIC).frames
    assert abs(np.median(frames.lowest[frames.loaded])) < 0.005


def test_a_given_ground_is_its_floor_too():
    motion = clean("stand", 0)
    assert not failed(motion)
    above = curate(motion, CurateCfg(preset="dynamic", ground=0.2)).clips[0].verdict
    assert above.metrics["external_support_force"] == pytest.approx(1.0, abs=0.02)


def test_a_recording_may_begin_and_end_in_the_air():
    """Smoothing makes accelerations up at a recording's ends, so that nothing is asked there."""
    jump = generate("jump", 4.0, 0, fps=120.0)
    air = np.flatnonzero(~jump.contact.any(axis=1))
    frames = curate(jump.motion.frames(int(air[len(air) // 2]), len(jump.motion)), DYNAMIC).frames
    assert not frames.loaded[:3].any()
    assert not frames.loaded[-3:].any()
    assert frames.lift[:6].max() < 0.2


@pytest.mark.parametrize("frames", [4, 6, 8, 20])
def test_the_shortest_recordings_get_numbers(frames):
    verdict = curate(clean("walk", 0).frames(0, frames), DYNAMIC).clips[0].verdict
    assert np.isfinite(list(verdict.metrics.values())).all()
    assert "duration" in verdict.metrics


@pytest.mark.real
@pytest.mark.parametrize(
    ("name", "needs_help"),
    [("104_10", False), ("136_12", False), ("104_22", False), ("14_36", True), ("14_34", True), ("114_02", True)],
)
def test_real_stools_ladders_and_floors_need_help_and_real_runs_and_squats_do_not(cmu, name, needs_help):
    frames = curate(read(cmu / f"{name}.bvh"), DYNAMIC).frames
    most = frames.external_support_force.max()
    assert most > 0.3 if needs_help else most < 0.12

"""Verdicts: the six numbers of a clip by hand, the paper's settings, and what is kept and what is not."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from phuma.body import OpenShape, open_body
from phuma.core import rotations as rot
from phuma.core.human_motion import HumanMotion
from phuma.core.provenance import Provenance
from phuma.core.resample import resample
from phuma.core.skeleton import INDEX, N_JOINTS, REST_TO_WORLD
from phuma.curation import CurateCfg, curate
from phuma.curation.paper import FrameMetrics
from phuma.synth import FAULTS, KINDS, generate

SEEDS = (0, 1)
FAULTY_KINDS = ("stand", "turn", "jump", "walk")


def paper(**settings):
    """Settings of the paper's preset."""
    return CurateCfg(preset="paper", **settings)


def curated(motion, cfg=None):
    return curate(motion, cfg or paper())


def standing(body=None, frames=120, fps=30.0, sole_height=0.0):
    """The rest pose, facing x, without any motion, the flat soles at `sole_height`."""
    body = body or open_body(OpenShape(1.7))
    quat = np.tile(rot.IDENTITY, (frames, N_JOINTS, 1))
    quat[:, 0] = REST_TO_WORLD
    root = np.zeros((frames, 3))
    root[:, 2] = body.joints[0, 1] - body.soles[:, 1].min() + sole_height
    return HumanMotion(body, root, quat, fps, Provenance("made up", "none"))


def with_joint(motion, joint, turn):
    quat = motion.joint_quat.copy()
    quat[:, INDEX[joint]] = rot.multiply(quat[:, INDEX[joint]], turn)
    return replace(motion, joint_quat=quat)


@cache
def clean(kind, seed):
    return generate(kind, 4.0, seed).motion


def failed(motion):
    """Names of the filters that reject some clip of the motion."""
    return {m.name for clip in curated(motion).clips for m in clip.verdict.measures if not m.passed}


def test_settings_are_the_papers():
    cfg = paper()
    assert (cfg.root_cutoff, cfg.rotation_cutoff, cfg.rate) == (3.0, 6.0, 30.0)
    assert cfg.band == 0.025
    assert (cfg.clip_seconds, cfg.overlap_seconds, cfg.min_seconds) == (4.0, 0.5, 1.0)
    assert cfg.preset == "paper"
    assert cfg.ground is None


def test_thresholds_are_the_papers():
    assert paper().limits == {
        "root_jerk": 50.0, "contact_score": 0.6, "pelvis_min": 0.6, "pelvis_max": 1.5, "pelvis_support": 0.06,
        "spine_support": 0.11,
    }  # fmt: skip


def test_the_six_numbers_of_a_clip_by_hand():
    """Frames 2 to 7 of ten. Means differ from medians and extremes, and one frame outside would change any of them."""
    out = 1000.0
    frames = FrameMetrics(
        root_jerk=np.array([out, out, 10.0, 20.0, 60.0, out, out]),  # what starts at frame 5 ends at 8, behind the clip
        contact_score=np.array([out, out, 1.0, 1.0, 1.0, 1.0, 0.5, 0.0, out, out]),
        pelvis_height=np.array([-out, out, 0.9, 0.7, 1.0, 1.2, 0.8, 0.9, out, -out]),
        pelvis_support=np.array([out, out, 0.0, 0.0, 0.0, 0.0, 0.06, 0.12, out, out]),
        spine_support=np.array([out, out, 0.0, 0.0, 0.3, 0.0, 0.12, 0.0, out, out]),
    )
    assert frames.judge(2, 8, paper().limits).metrics == pytest.approx(
        {
            "root_jerk": 30.0,
            "contact_score": 0.75,
            "pelvis_min": 0.7,
            "pelvis_max": 1.2,
            "pelvis_support": 0.03,
            "spine_support": 0.07,
        },
        abs=1e-12,
    )


@pytest.mark.parametrize("frame", [0, 1, 8, 9])
def test_frames_outside_a_clip_do_not_touch_its_verdict(frame):
    """Moving the pelvis in any frame outside the clip changes nothing, and in the clip's last frame it does."""

    def judged(moved):
        height, jerk = np.full(10, 0.9), np.full(7, 5.0)
        height[moved] = 0.1
        jerk[max(0, moved - 3) : moved + 1] = 1e4  # the third differences that use that frame
        ones = np.where(np.arange(10) == moved, 0.1, 1.0)
        return FrameMetrics(jerk, ones, height, 0.01 * ones, 0.02 * ones).judge(2, 8, paper().limits).metrics

    still = {
        "root_jerk": 5.0, "contact_score": 1.0, "pelvis_min": 0.9, "pelvis_max": 0.9, "pelvis_support": 0.01,
        "spine_support": 0.02,
    }  # fmt: skip
    assert judged(frame) == pytest.approx(still)
    for inside in (2, 7):
        assert judged(inside)["root_jerk"] > 1e3
        assert judged(inside)["pelvis_min"] == pytest.approx(0.1)


JUST_KEPT = {
    "root_jerk": 49.0, "contact_score": 0.61, "pelvis_min": 0.61, "pelvis_max": 1.49, "pelvis_support": 0.059,
    "spine_support": 0.109,
}  # fmt: skip
JUST_REJECTED = {
    "root_jerk": 51.0, "contact_score": 0.59, "pelvis_min": 0.59, "pelvis_max": 1.51, "pelvis_support": 0.061,
    "spine_support": 0.111,
}  # fmt: skip


def judge_numbers(numbers):
    """The verdict on a recording of eight frames that has these six numbers."""
    height = np.full(8, 1.0)
    height[2], height[3] = numbers["pelvis_min"], numbers["pelvis_max"]
    frames = FrameMetrics(
        root_jerk=np.full(5, numbers["root_jerk"]),
        contact_score=np.full(8, numbers["contact_score"]),
        pelvis_height=height,
        pelvis_support=np.full(8, numbers["pelvis_support"]),
        spine_support=np.full(8, numbers["spine_support"]),
    )
    return frames.judge(0, 8, paper().limits)


@pytest.mark.parametrize("name", JUST_KEPT)
def test_each_filter_rejects_alone_on_its_own_side_of_the_papers_threshold(name):
    assert judge_numbers(JUST_KEPT).kept
    verdict = judge_numbers(JUST_KEPT | {name: JUST_REJECTED[name]})
    assert not verdict.kept
    assert [m.name for m in verdict.measures if not m.passed] == [name]


def test_the_root_is_smoothed_at_3_hz_and_rotations_at_6_hz():
    """A wave of 4.5 Hz lies between: it is mostly gone from the path, mostly there in the rotations."""
    fps, frequency = 30.0, 4.5
    motion = standing(frames=600)
    wave = 0.04 * np.sin(2 * np.pi * frequency * np.arange(600) / fps)
    motion = replace(motion, root_pos=motion.root_pos + wave[:, None] * [0.0, 1.0, 0.0])
    for joint in ("pelvis", "left_elbow"):
        motion = with_joint(motion, joint, rot.from_axis("y", wave))
    smoothed = curated(motion).motion

    def gain(cutoff):
        return 1 / (1 + (np.tan(np.pi * frequency / fps) / np.tan(np.pi * cutoff / fps)) ** 8)

    middle = slice(150, 450)
    path = smoothed.root_pos[middle, 1].std() / wave[middle].std()
    assert path == pytest.approx(gain(3.0), abs=0.005)
    assert path < 0.03
    for joint, rest in (("pelvis", REST_TO_WORLD), ("left_elbow", rot.IDENTITY)):
        turn = rot.to_rotvec(rot.multiply(rot.conjugate(rest), smoothed.joint_quat[middle, INDEX[joint]]))
        swing = turn[:, 1].std() / wave[middle].std()
        assert swing == pytest.approx(gain(6.0), abs=0.01)
        assert swing > 0.9


@pytest.mark.parametrize(("hover", "share"), [(0.02, 1.0), (0.03, 0.0), (-0.02, 1.0), (-0.03, 0.0)])
def test_soles_within_the_papers_band_of_the_ground_are_in_contact(hover, share):
    result = curated(standing(sole_height=0.4 + hover), paper(ground=0.4))
    np.testing.assert_array_equal(result.contact.ratio, share)
    assert result.clips[0].verdict.metrics["contact_score"] == share
    assert result.clips[0].verdict.kept == (share == 1.0)
    assert not failed(standing(sole_height=0.4 + hover))  # where no ground is given, it is voted


def test_another_band_moves_contact_and_vote_with_it():
    high = standing(sole_height=0.03)
    assert curated(high, paper(ground=0.0, band=0.035)).contact.ratio.min() == 1.0
    low = standing(sole_height=0.02)
    assert curated(low, paper(ground=0.0, band=0.015)).contact.ratio.max() == 0.0
    # A third of the time at 0, a third at 4 cm and somewhat more at 20 cm: a band of 2.5 cm holds the first two at
    # once, a narrow one does not, and the last is the longest.
    steps = np.repeat([0.0, 0.04, 0.2], [300, 300, 400])
    motion = standing(frames=1000)
    motion = replace(motion, root_pos=motion.root_pos + steps[:, None] * [0.0, 0.0, 1.0])
    assert curated(motion).ground == pytest.approx(0.02, abs=0.008)
    assert curated(motion, paper(band=0.01)).ground == pytest.approx(0.2, abs=0.008)


def test_the_spine_is_measured_where_the_body_has_its_lumbar_mark():
    """At rest spine1 and the ankles are in one plane, so that a mark 30 cm behind it is 30 cm behind the support."""
    plain = curated(standing()).frames
    np.testing.assert_allclose(plain.spine_support, 0.0, atol=1e-9)
    body = replace(open_body(OpenShape(1.7)), lumbar=np.array([0.0, 0.05, -0.3]))
    behind = curated(standing(body))
    np.testing.assert_allclose(behind.frames.spine_support, 0.3, atol=1e-6)
    np.testing.assert_allclose(behind.frames.pelvis_support, plain.pelvis_support, atol=1e-9)
    assert failed(standing(body)) == {"spine_support"}


def test_the_lumbar_mark_turns_with_the_spine():
    """A mark 20 cm above spine1 is 20 cm behind it when the spine lies backward."""
    body = replace(open_body(OpenShape(1.7)), lumbar=np.array([0.0, 0.2, 0.0]))
    np.testing.assert_allclose(curated(standing(body)).frames.spine_support, 0.0, atol=1e-9)
    back = with_joint(standing(body), "spine1", rot.from_axis("x", -np.pi / 2))
    np.testing.assert_allclose(curated(back).frames.spine_support, 0.2, atol=1e-6)


@pytest.mark.parametrize("fps", [24.0, 50.0, 59.94])
def test_a_steady_spin_on_a_line_stays_one_at_another_rate(fps):
    """One turn a second, at one metre a second; a quaternion's sign in the file means nothing."""
    frames = round(4 * fps)
    time = np.arange(frames) / fps
    motion = standing(frames=frames, fps=fps)
    motion = replace(motion, root_pos=motion.root_pos + np.outer(time, [1.0, -0.5, 0.0]))
    motion = with_joint(motion, "pelvis", rot.from_axis("y", 2 * np.pi * time))
    motion = with_joint(motion, "left_knee", rot.from_axis("x", 2 * np.pi * time))
    signs = np.where(np.arange(frames) % 3 == 0, -1.0, 1.0)
    out = resample(replace(motion, joint_quat=motion.joint_quat * signs[:, None, None]), 30.0)
    assert out.fps == 30.0
    assert abs(len(out) - 120) <= 2
    inner = np.arange(115)
    start = motion.root_pos[0]
    np.testing.assert_allclose(out.root_pos[inner], start + np.outer(inner / 30.0, [1.0, -0.5, 0.0]), atol=1e-9)
    for joint, axis, rest in (("pelvis", "y", REST_TO_WORLD), ("left_knee", "x", rot.IDENTITY)):
        wanted = rot.multiply(np.broadcast_to(rest, (115, 4)), rot.from_axis(axis, 2 * np.pi * inner / 30.0))
        got = out.joint_quat[inner, INDEX[joint]]
        np.testing.assert_allclose(np.abs(np.sum(got * wanted, axis=1)), 1.0, atol=1e-9)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "run"])
@pytest.mark.slow
def test_clean_motions_are_kept(kind, seed):
    assert failed(clean(kind, seed)) == set()


@pytest.mark.parametrize("seed", SEEDS)
def test_a_clean_run_is_rejected_for_its_jerk_alone(seed):
    """Landing from flight twice a second is beyond the paper's limit, whoever runs."""
    assert failed(clean("run", seed)) == {"root_jerk"}


@pytest.mark.parametrize("kind", FAULTY_KINDS)
@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("jitter", "root_jerk"),
        ("float", "contact_score"),
        ("drift", "contact_score"),
        ("chair", "pelvis_support"),
        ("chair", "spine_support"),
    ],
)
def test_gross_faults_are_rejected_for_their_own_reason(name, reason, kind):
    fault = FAULTS[name]
    assert reason in failed(fault.apply(clean(kind, 1), fault.strengths[-1], seed=1))


def test_a_gross_tilt_is_rejected_more_often_than_not():
    """A body that leans along its own feet stays over them, so not every tilt can be seen."""
    fault = FAULTS["tilt"]
    tilted = [fault.apply(clean(kind, 0), fault.strengths[-1], seed) for kind in FAULTY_KINDS for seed in range(3)]
    assert np.mean([bool(failed(motion)) for motion in tilted]) >= 0.5


@pytest.mark.parametrize("kind", FAULTY_KINDS)
def test_a_steady_slide_changes_none_of_the_papers_numbers(kind):
    """All six are blind to a constant speed over the ground."""
    fault = FAULTS["slide"]
    sliding = curated(fault.apply(clean(kind, 0), fault.strengths[-1], seed=1))
    for a, b in zip(curated(clean(kind, 0)).clips, sliding.clips, strict=True):
        assert a.verdict.metrics == pytest.approx(b.verdict.metrics, abs=1e-6)

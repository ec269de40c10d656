"""Curation against brute force, hand-computed cases and the symmetries of the world."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial import ConvexHull

from phuma.body import open_body
from phuma.core import rotations as rot
from phuma.core.resample import resample
from phuma.curation import PRESETS, CurateCfg, curate
from phuma.curation.metrics import contact_score, root_jerk, support_distance
from phuma.curation.pipeline import clip_spans
from phuma.errors import ConfigError, PhumaError
from phuma.synth import generate
from tests.motions import smooth_motion

BAND = 0.025


def test_contact_score_is_the_best_region():
    np.testing.assert_array_equal(contact_score(np.array([[0.1, 0.9, 0, 0], [0, 0, 0.2, 0.1]])), [0.9, 0.2])


def test_jerk_of_a_cubic_is_its_third_derivative():
    t = np.arange(20) / 30.0
    path = np.stack([t**3, 2 * t**3, -2 * t**3], axis=1)  # third derivative (6, 12, -12)
    np.testing.assert_allclose(root_jerk(path, 30.0), 18.0, rtol=1e-6)


def test_support_distance_equals_qhulls():
    rng = np.random.default_rng(1)
    support, point = rng.normal(size=(300, 4, 2)), rng.normal(size=(300, 2)) * 1.5
    mine = support_distance(point, support)
    for s, p, d in zip(support, point, mine):
        hull = ConvexHull(s)
        inside = np.all(hull.equations[:, :2] @ p + hull.equations[:, 2] <= 0)
        corners = s[hull.vertices]
        edges = np.roll(corners, -1, axis=0) - corners
        along = np.clip(np.sum((p - corners) * edges, axis=1) / np.sum(edges**2, axis=1), 0, 1)
        distance = 0.0 if inside else np.linalg.norm(corners + along[:, None] * edges - p, axis=1).min()
        assert d == pytest.approx(distance, abs=1e-9)


def test_support_of_feet_on_a_line_or_in_a_point():
    """Feet in line have a hull without area; all joints in one place still have a distance."""
    line = np.array([[[0, 0], [1, 0], [2, 0], [3, 0]]], dtype=float)
    np.testing.assert_allclose(support_distance(np.array([[1.5, 0.5]]), line), [0.5])
    np.testing.assert_allclose(support_distance(np.array([[1.5, 0.0]]), line), [0.0])
    np.testing.assert_allclose(support_distance(np.array([[3.0, 4.0]]), np.zeros((1, 4, 2))), [5.0])


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (4.0, [(0, 120)]),
        (4.4, [(0, 120)]),  # 0.9 s would remain
        (4.5, [(0, 120), (105, 135)]),  # 1 s remains
        (11.0, [(0, 120), (105, 225), (210, 330)]),
        (1.0, [(0, 30)]),
    ],
)
def test_clips_are_four_seconds_with_half_a_second_shared(seconds, expected):
    assert clip_spans(round(seconds * 30), 30.0, CurateCfg()) == expected


@pytest.mark.parametrize("fps", [25.0, 30.0, 59.94, 120.0])
def test_resampling_meets_the_motion_where_frames_coincide(fps):
    fine = smooth_motion(open_body(), frames=int(4 * fps) + 1, fps=fps, seed=2)
    out = resample(fine, 30.0)
    assert out.fps == 30.0
    assert abs(len(out) / 30.0 - len(fine) / fps) < 1 / 30 + 1 / fps
    time = np.arange(len(out)) / 30.0
    exact = np.isclose(time * fps, np.round(time * fps), atol=1e-9)
    at = np.round(time * fps).astype(int)[exact]
    np.testing.assert_allclose(out.root_pos[exact], fine.root_pos[at], atol=1e-9)


def moved(motion, angle, shift):
    turn = rot.from_axis("z", angle)
    quat = motion.joint_quat.copy()
    quat[:, 0] = rot.multiply(turn, quat[:, 0])
    return replace(motion, root_pos=rot.rotate(turn, motion.root_pos) + shift, joint_quat=quat)


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("kind", ["walk", "kick"])
def test_verdicts_do_not_depend_on_heading_or_place(kind, preset):
    motion, cfg = generate(kind, seconds=6.0, seed=1).motion, CurateCfg(preset=preset)
    there = moved(motion, 2.1, np.array([30.0, -8.0, 1.7]))
    here_result, there_result = curate(motion, cfg), curate(there, cfg)
    assert there_result.ground == pytest.approx(here_result.ground + 1.7, abs=1e-4)
    for a, b in zip(here_result.clips, there_result.clips, strict=True):
        # Sixteen directions stand for all where forces are judged.
        near = 2e-3 if preset == "paper" else 5e-3
        assert a.verdict.metrics == pytest.approx(b.verdict.metrics, abs=near)


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("kind", ["walk", "kick"])
def test_verdicts_do_not_depend_on_left_and_right(kind, preset):
    motion, cfg = generate(kind, seconds=6.0, seed=1).motion, CurateCfg(preset=preset)
    for a, b in zip(curate(motion, cfg).clips, curate(motion.mirror(), cfg).clips, strict=True):
        assert a.verdict.metrics == pytest.approx(b.verdict.metrics, abs=1e-6)
        np.testing.assert_allclose(a.mirror().contact.ratio, b.contact.ratio, atol=1e-9)


def test_a_given_ground_overrides_the_vote():
    motion = generate("stand", seconds=4.0, seed=0).motion
    above = curate(motion, CurateCfg(preset="paper", ground=0.2))
    assert above.ground == 0.2
    assert above.contact.ratio.max() == 0
    said = "contact_score: no sole on the ground for 100 % of the clip (at most 40 %)"
    assert above.clips[0].verdict.reasons[0] == said


def test_blocks_do_not_show(monkeypatch):
    """A long recording is posed in pieces; the pieces' borders change nothing."""
    motion = generate("walk", seconds=8.0, seed=2).motion
    whole = curate(motion, CurateCfg(preset="paper"))
    monkeypatch.setattr("phuma.contacts.blocks.BLOCK", 50)
    pieces = curate(motion, CurateCfg(preset="paper"))
    assert whole.ground == pieces.ground
    np.testing.assert_array_equal(whole.contact.ratio, pieces.contact.ratio)
    np.testing.assert_allclose(whole.frames.pelvis_support, pieces.frames.pelvis_support, atol=1e-12)


@pytest.mark.parametrize("block", [50, 60, 239])
def test_blocks_do_not_show_in_forces(monkeypatch, block):
    """Accelerations need neighbours; 240 frames leave one alone behind 239."""
    motion, cfg = generate("walk", seconds=8.0, seed=2).motion, CurateCfg(preset="dynamic")
    whole = curate(motion, cfg)
    monkeypatch.setattr("phuma.contacts.blocks.BLOCK", block)
    pieces = curate(motion, cfg)
    np.testing.assert_allclose(whole.frames.push, pieces.frames.push, atol=1e-9)
    np.testing.assert_allclose(whole.frames.corners, pieces.frames.corners, atol=1e-9)


def test_a_recording_too_short_for_a_clip_is_one_rejected_clip():
    clips = curate(generate("stand", seconds=2.0, seed=0).motion.cut(0, 0.8)).clips
    assert len(clips) == 1
    assert not clips[0].verdict.kept
    assert clips[0].verdict.reasons[0] == "duration: the clip lasts 0.8 s (at least 1 s)"


def test_three_frames_are_too_few():
    with pytest.raises(PhumaError, match="needs at least 4"):
        curate(smooth_motion(open_body(), frames=3))


def test_an_unknown_preset_lists_the_known_ones():
    with pytest.raises(ConfigError, match=r"unknown preset 'best'; there are: paper, dynamic"):
        CurateCfg(preset="best")

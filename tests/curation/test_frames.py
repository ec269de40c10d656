"""The filters' numbers of stored clips, and the frames for which a clip was rejected."""

from functools import cache

import numpy as np
import pytest

from phuma.core.clip import Measure
from phuma.core.curation_metrics import CURATION_METRICS
from phuma.core.metric import Metric
from phuma.curation import CurateCfg, curate
from phuma.curation.frames import causes, clip_frames
from phuma.curation.paper import FrameMetrics
from phuma.formats.clip_file import load_clip, save_clip
from phuma.synth import FAULTS, generate

FAULTY = (("jitter", "walk", 40), ("float", "reach", 20), ("chair", "stand", 50), ("float", "walk", 10))
SERIES = {
    "root_jerk": "root_jerk", "contact_score": "contact_score", "pelvis_min": "pelvis_height",
    "pelvis_max": "pelvis_height", "pelvis_support": "pelvis_support", "spine_support": "spine_support",
}  # fmt: skip
TOLERANCE = {"root_jerk": 0.1}
"""m/s^3; of all others 1e-5: what single precision leaves"""


@cache
def rejected():
    """Recordings with faults that differ, curated; between them they fail in every way but length."""
    motions = [FAULTS[fault].apply(generate(kind, 6.0, 1).motion, by, 1) for fault, kind, by in FAULTY]
    motions.append(generate("squat", 4.0, 1).motion)
    return tuple(curate(motion, CurateCfg(preset="paper")) for motion in motions)


def flat(length=10, **values):
    """Numbers that no filter minds, but for those that are given."""
    fine = {"contact_score": 1.0, "pelvis_height": 0.9, "pelvis_support": 0.0, "spine_support": 0.0}
    series = {name: np.full(length, value) for name, value in fine.items()}
    return FrameMetrics(**{"root_jerk": np.zeros(length - 3), **series, **values})


def measured(name, value, limit):
    return Measure(CURATION_METRICS[name], value, limit)


def failing(clip):
    return [m for m in clip.verdict.measures if not m.passed]


def test_the_recordings_fail_in_several_ways():
    names = {m.name for curation in rejected() for clip in curation.clips for m in failing(clip)}
    assert {"root_jerk", "contact_score", "pelvis_support", "pelvis_min"} <= names, names


@pytest.mark.parametrize("mirrored", [False, True])
def test_a_stored_clip_has_the_numbers_that_it_was_judged_by(tmp_path, mirrored):
    for curation in rejected():
        for n, clip in enumerate(curation.clips):
            save_clip(tmp_path / "clip.npz", clip.mirror() if mirrored else clip)
            stored = load_clip(tmp_path / "clip.npz")
            found = clip_frames(stored.motion, stored.contact)
            first = round(clip.start * curation.motion.fps)
            for name, whole in vars(curation.frames).items():
                values = getattr(found, name)
                expected = whole[first : first + len(values)]
                np.testing.assert_allclose(values, expected, atol=TOLERANCE.get(name, 1e-5), err_msg=f"{n} {name}")
            verdict = found.judge(0, len(stored.motion), curation.cfg.limits)
            assert verdict.metrics == pytest.approx(clip.verdict.metrics, abs=0.1)


def test_causes_are_told_of_what_failed_and_of_nothing_else():
    for clip in (clip for curation in rejected() for clip in curation.clips):
        found = causes(clip_frames(clip.motion, clip.contact), clip.verdict.measures)
        assert list(found) == [m.name for m in failing(clip)]
        for name, frames in found.items():
            assert frames.shape == (len(clip.motion),)
            assert frames.any(), name


def test_a_frame_causes_what_it_fails_by_itself():
    """Counted one by one. The jerk at t is of the frames t to t + 3."""
    for clip in (clip for curation in rejected() for clip in curation.clips):
        frames = clip_frames(clip.motion, clip.contact)
        found = causes(frames, clip.verdict.measures)
        for m in failing(clip):
            values, length = getattr(frames, SERIES[m.name]), len(clip.motion)
            expected = [False] * length
            for t, value in enumerate(values):
                if (value <= m.limit) if m.metric.better == "high" else (value >= m.limit):
                    for after in range(length - len(values) + 1):
                        expected[t + after] = True
            assert found[m.name].tolist() == expected, m.name


def test_without_the_frames_that_cause_it_a_measure_passes():
    tried = set()
    for clip in (clip for curation in rejected() for clip in curation.clips):
        frames = clip_frames(clip.motion, clip.contact)
        found = causes(frames, clip.verdict.measures)
        for m in failing(clip):
            values, cause = getattr(frames, SERIES[m.name]), found[m.name]
            window = len(cause) - len(values) + 1
            left = [v for t, v in enumerate(values) if not all(cause[t : t + window])]
            if left:
                taken = {"pelvis_min": np.min, "pelvis_max": np.max}.get(m.name, np.mean)
                assert Measure(m.metric, float(taken(left)), m.limit).passed, m
                tried.add(m.name)
    assert len(tried) >= 3, tried


@pytest.mark.parametrize(
    ("measure", "series", "bad", "fine"),
    [
        (measured("contact_score", 0.5, 0.6), "contact_score", [0.6, 0.0], [0.61, 1.0]),
        (measured("pelvis_min", 0.5, 0.6), "pelvis_height", [0.6, 0.5], [0.61, 2.0]),
        (measured("pelvis_max", 1.6, 1.5), "pelvis_height", [1.5, 1.6], [1.49, 0.1]),
        (measured("pelvis_support", 0.1, 0.06), "pelvis_support", [0.06, 9.0], [0.0, 0.05]),
        (measured("spine_support", 0.2, 0.11), "spine_support", [0.11, 9.0], [0.0, 0.1]),
    ],
    ids=lambda v: v.name if isinstance(v, Measure) else "",
)
def test_a_value_at_the_limit_fails_and_one_on_its_good_side_does_not(measure, series, bad, fine):
    values = np.array([fine[0], bad[0], fine[1], bad[1], fine[0]])
    found = causes(flat(5, **{series: values}), [measure])
    assert found[measure.name].tolist() == [False, True, False, True, False]


def test_a_jerk_belongs_to_the_four_frames_that_it_was_computed_from():
    jerk = np.zeros(9)
    jerk[4] = 900.0
    found = causes(flat(12, root_jerk=jerk), [measured("root_jerk", 100.0, 50.0)])
    assert np.flatnonzero(found["root_jerk"]).tolist() == [4, 5, 6, 7]


def test_where_rounding_leaves_no_frame_the_worst_one_is_the_cause():
    """A stored clip's numbers can be a hair better than those that it was judged by."""
    support = np.full(6, 0.0599999)
    support[4] = 0.05999999
    found = causes(flat(6, pelvis_support=support), [measured("pelvis_support", 0.06, 0.06)])
    assert np.flatnonzero(found["pelvis_support"]).tolist() == [4]
    score = np.full(6, 0.61)
    score[1] = 0.600001
    found = causes(flat(6, contact_score=score), [measured("contact_score", 0.6, 0.6)])
    assert np.flatnonzero(found["contact_score"]).tolist() == [1]


def test_a_clip_that_is_too_short_is_so_in_all_its_frames():
    found = causes(flat(5), [measured("duration", 5 / 30, 1.0)])
    assert found["duration"].tolist() == [True] * 5


@pytest.mark.parametrize("name", ["elegance", "judge", "__class__", ""])
def test_a_measure_that_nobody_knows_has_no_frames(name):
    found = causes(flat(7), [Measure(Metric(name, name, "", "low", ""), 2.0, 1.0)])
    assert found[name].tolist() == [False] * 7


def test_three_frames_have_no_jerk_and_none_is_blamed():
    motion = curate(generate("walk", 2.0, 0).motion)
    frames = clip_frames(motion.motion.frames(0, 3), motion.contact.frames(0, 3))
    found = causes(frames, [measured("root_jerk", 90.0, 50.0)])
    assert found["root_jerk"].tolist() == [False] * 3


def test_preset_dynamic_marks_the_frames_that_need_help_and_those_that_slide():
    """A chair that is not there; a person who stands and glides."""
    cfg = CurateCfg(preset="dynamic")
    sits = curate(FAULTS["chair"].apply(generate("stand", 4.0, 1).motion, 35, 1), cfg)
    found = causes(sits.frames, sits.verdict.measures)
    helped = sits.frames.external_support_force >= cfg.limits["external_support_force"]
    np.testing.assert_array_equal(found["external_support_force"], helped)
    assert 0 < found["external_support_force"].sum() < len(sits.motion)
    glides = curate(FAULTS["slide"].apply(generate("stand", 4.0, 1).motion, 0.6, 1), cfg)
    slides = causes(glides.frames, glides.verdict.measures)["sole_slide"]
    assert slides.mean() > 0.5
    assert (glides.frames.slowest[slides] >= cfg.limits["sole_slide"]).all()
    assert glides.frames.loaded[slides].all()


def test_what_only_the_whole_clip_has_marks_no_frame():
    tilted = curate(
        FAULTS["tilt"].apply(generate("walk", 4.0, 1).motion, 12, 1), CurateCfg(preset="dynamic", mend=False)
    )
    assert not causes(tilted.frames, tilted.verdict.measures)["ground_tilt"].any()


def test_preset_dynamic_marks_the_frames_that_shake():
    shaken = curate(FAULTS["jitter"].apply(generate("walk", 4.0, 1).motion, 40, 1), CurateCfg(preset="dynamic"))
    found = causes(shaken.frames, shaken.verdict.measures)["shake"]
    np.testing.assert_array_equal(found, 1000 * shaken.frames.away >= shaken.cfg.limits["shake"])
    assert found.any()


@pytest.mark.parametrize(("fault", "kind", "by", "name"), [
    ("chair", "stand", 35, "external_support_force"), ("slide", "walk", 0.6, "sole_slide"),
])  # fmt: skip
def test_a_stored_clip_of_preset_dynamic_blames_nearly_the_frames_that_it_was_rejected_for(fault, kind, by, name):
    curation = curate(FAULTS[fault].apply(generate(kind, 4.0, 1).motion, by, 1), CurateCfg(preset="dynamic"))
    clip = curation.whole
    found = causes(clip_frames(clip.motion, clip.contact, clip.verdict.measures), clip.verdict.measures)[name]
    own = causes(curation.frames, clip.verdict.measures)[name]
    assert own.any()
    assert np.mean(found == own) > 0.9

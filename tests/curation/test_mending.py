"""Mending: what is the recording's fault comes back, what is not stays as it is, and everything is told."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from phuma.core import rotations as rot
from phuma.core.curation_metrics import MENDING
from phuma.curation import CurateCfg, curate
from phuma.sources import read
from phuma.synth import FAULTS, KINDS, generate
from tests.motions import smooth_motion

MENDS = CurateCfg(preset="dynamic")
LEAVES = CurateCfg(preset="dynamic", mend=False)
FPS = 30.0
SIZES = [metric.name for metric in MENDING]


@cache
def clean(kind, seed=1):
    return generate(kind, 4.0, seed).motion


@cache
def as_it_was(kind, seed=1):
    return curate(clean(kind, seed), LEAVES).motion


def faulty(kind, name, strength, seed=1):
    return FAULTS[name].apply(clean(kind, seed), strength, seed)


def sizes(curation):
    return {name: value for name, value in curation.verdict.metrics.items() if name in SIZES}


def failed(curation):
    return {m.name for clip in curation.clips for m in clip.verdict.measures if not m.passed}


def is_left_alone(motion, cfg=MENDS):
    """Whether nothing is mended, to the last bit."""
    mended, left = curate(motion, cfg), curate(motion, replace(cfg, mend=False))
    same = np.array_equal(mended.motion.root_pos, left.motion.root_pos) and np.array_equal(
        mended.motion.joint_quat, left.motion.joint_quat
    )
    return same and np.array_equal(mended.contact.ratio, left.contact.ratio)


def tilt_from(motion, other):
    """Degrees between upright in two motions that differ by a rotation."""
    turn = rot.multiply(motion.joint_quat[:, 0], rot.conjugate(other.joint_quat[:, 0]))
    return np.degrees(np.arccos(np.clip(rot.rotate(turn, np.array([0.0, 0.0, 1.0]))[:, 2], -1, 1))).mean()


def slope(x, fps=FPS):
    """Metres per second, of each column."""
    return np.polyfit(np.arange(len(x)) / fps, x, 1)[0]


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("degrees", [6.0, 12.0])
def test_a_tilted_walk_is_levelled_within_a_degree(degrees, seed):
    mended = curate(faulty("walk", "tilt", degrees, seed), MENDS)
    assert tilt_from(mended.motion, as_it_was("walk", seed)) < 1.0
    assert sizes(mended)["mended_tilt"] == pytest.approx(degrees, abs=1.0)
    assert failed(mended) == set()


@pytest.mark.parametrize("kind", ["stand", "bend", "twist", "turn", "kick", "squat", "jump"])
def test_who_stays_in_place_is_levelled_by_soles_and_balance(kind):
    mended = curate(faulty(kind, "tilt", 8.0), MENDS)
    assert tilt_from(mended.motion, as_it_was(kind)) < 2.0


@pytest.mark.parametrize("seed", [2, 3, 10, 12])
def test_a_tilt_is_seen_though_only_the_lower_foot_seems_to_stand(seed):
    """The force acts over that foot, and the other hangs in the air; but both are at rest, and on one plane."""
    mended = curate(faulty("squat", "tilt", 12.0, seed), MENDS)
    assert tilt_from(mended.motion, as_it_was("squat", seed)) < 1.0
    assert failed(mended) == set()


@pytest.mark.parametrize("seed", [1, 4, 5])
def test_a_short_run_is_levelled_by_a_few_steps(seed):
    """In two seconds of a run nobody stands for more than one."""
    motion = generate("run", 2.0, seed).motion
    mended = curate(FAULTS["tilt"].apply(motion, 6.0, seed), MENDS)
    assert tilt_from(mended.motion, curate(motion, LEAVES).motion) < 2.5
    assert failed(mended) == set()
    assert is_left_alone(motion)


@pytest.mark.parametrize("kind", KINDS)
def test_a_ground_that_rises_is_held(kind):
    mended = curate(faulty(kind, "drift", 4.0), MENDS)
    away = mended.motion.root_pos - as_it_was(kind).root_pos
    assert abs(slope(away[:, 2])) < 0.005
    assert sizes(mended)["mended_drift"] == pytest.approx(0.04, abs=0.005)


@pytest.mark.parametrize("kind", ["stand", "turn", "squat", "walk", "run"])
@pytest.mark.parametrize("centimetres", [8.0, 18.0])
def test_a_part_that_floats_is_set_down(kind, centimetres):
    mended = curate(faulty(kind, "float", centimetres), MENDS)
    away = (mended.motion.root_pos - as_it_was(kind).root_pos)[:, 2]
    assert np.abs(away - np.median(away)).max() < 0.02
    assert sizes(mended)["mended_float"] == pytest.approx(centimetres / 100, abs=0.02)
    assert failed(mended) == set()


@pytest.mark.parametrize("kind", KINDS)
def test_a_slide_is_taken_out_of_the_path(kind):
    mended = curate(faulty(kind, "slide", 0.3), MENDS)
    away = mended.motion.root_pos - as_it_was(kind).root_pos
    assert np.linalg.norm(slope(away[:, :2])) < 0.03
    assert sizes(mended)["mended_slide"] == pytest.approx(0.3, abs=0.03)


@pytest.mark.parametrize("kind", KINDS)
def test_clean_recordings_are_left_alone_to_the_last_bit(kind):
    for seed in (1, 2):
        assert is_left_alone(clean(kind, seed))
    assert sizes(curate(clean(kind), MENDS)) == dict.fromkeys(SIZES, 0.0)


@pytest.mark.parametrize("name", ["tilt", "drift", "float", "slide"])
def test_who_does_not_want_it_gets_the_recording_as_it_is(name):
    motion = faulty("walk", name, FAULTS[name].strengths[1])
    left = curate(motion, LEAVES)
    assert left.mending is None
    assert not set(SIZES) & set(left.verdict.metrics)
    assert not set(SIZES) & set(LEAVES.limits)
    assert left.motion.provenance.notes == motion.provenance.notes
    np.testing.assert_allclose(left.motion.root_pos[:, :2].mean(axis=0), motion.root_pos[:, :2].mean(axis=0), atol=0.01)


def test_the_paper_mends_nothing_unless_asked():
    assert not CurateCfg(preset="paper").mends
    assert CurateCfg(preset="dynamic").mends
    motion = faulty("walk", "tilt", 6.0)
    assert curate(motion, CurateCfg(preset="paper")).mending is None
    asked = curate(motion, CurateCfg(preset="paper", mend=True))
    assert sizes(asked)["mended_tilt"] == pytest.approx(6.0, abs=1.0)
    assert asked.cfg.resolved["mend"] is True


def test_sizes_are_told_in_verdicts_limits_and_notes():
    mended = curate(faulty("walk", "slide", 0.3), MENDS)
    assert all(set(SIZES) <= set(clip.verdict.metrics) for clip in mended.clips)
    assert {name: MENDS.limits[name] for name in SIZES} == {metric.name: metric.limit for metric in MENDING}
    assert mended.motion.provenance.notes[-1] == "mended: slide taken out 0.3 m/s"


@pytest.mark.parametrize(
    ("name", "strength", "reason"),
    [("tilt", 20.0, "mended_tilt"), ("drift", 10.0, "mended_drift"), ("float", 35.0, "mended_float"),
     ("slide", 0.6, "mended_slide")],
)  # fmt: skip
def test_what_would_take_too_much_is_left_and_rejected_for_it(name, strength, reason):
    motion = faulty("squat", name, strength)
    beyond = curate(motion, MENDS)
    assert reason in failed(beyond)
    assert is_left_alone(motion)


def moved_by(motion, yaw, shift):
    turn = rot.from_axis("z", yaw)
    quat = motion.joint_quat.copy()
    quat[:, 0] = rot.multiply(turn, quat[:, 0])
    return replace(motion, root_pos=rot.rotate(turn, motion.root_pos) + shift, joint_quat=quat)


@pytest.mark.parametrize("name", ["tilt", "drift", "float", "slide"])
def test_turned_and_moved_recordings_give_turned_and_moved_results(name):
    motion, shift = faulty("walk", name, FAULTS[name].strengths[1]), np.array([3.0, -2.0, 0.7])
    here, there = curate(motion, MENDS), curate(moved_by(motion, 0.8, shift), MENDS)
    expected = moved_by(here.motion, 0.8, shift * [1.0, 1.0, 0.0])
    np.testing.assert_allclose(there.motion.root_pos, expected.root_pos, atol=2e-3)
    assert sizes(there) == pytest.approx(sizes(here), abs=2e-2)


@pytest.mark.parametrize("name", ["tilt", "drift", "float", "slide"])
def test_a_mirrored_recording_gives_the_mirrored_result(name):
    motion = faulty("walk", name, FAULTS[name].strengths[1])
    here, there = curate(motion, MENDS), curate(motion.mirror(), MENDS)
    np.testing.assert_allclose(there.motion.root_pos, here.motion.mirror().root_pos, atol=2e-3)
    assert sizes(there) == pytest.approx(sizes(here), abs=2e-2)


def treadmill(motion):
    """The same walk with the way taken out of it."""
    way = slope(motion.root_pos[:, :2], motion.fps)
    time = np.arange(len(motion))[:, None] / motion.fps
    return replace(motion, root_pos=motion.root_pos - np.pad(time * way, ((0, 0), (0, 1)))), np.linalg.norm(way)


@pytest.mark.parametrize("slower", [1.0, 0.3])
def test_a_treadmill_stays_one_and_is_rejected(slower):
    walk = clean("walk")
    motion, speed = treadmill(replace(walk, fps=slower * walk.fps))
    assert (speed > 0.45) == (slower == 1.0)
    assert is_left_alone(motion)
    if speed > 0.3:
        assert failed(curate(motion, MENDS))


def risen_in_flight(kind, metres, seed=1):
    """A motion whose ground is higher by some metres after every flight: a jump onto a box, a run up stairs."""
    made = generate(kind, 4.0, seed)
    air = ~made.contact.any(axis=1)
    rise = np.cumsum(air) * metres / (air.sum() if kind == "jump" else 3.0)
    return replace(made.motion, root_pos=made.motion.root_pos + np.outer(rise, [0.0, 0.0, 1.0]))


@pytest.mark.parametrize(("kind", "metres"), [("jump", 0.15), ("run", 0.04), ("run", -0.04)])
def test_stairs_and_boxes_are_not_made_flat(kind, metres):
    """Nobody's soles rise while they stand there, and nobody's balance is tilted."""
    motion = risen_in_flight(kind, metres)
    mended = curate(motion, MENDS)
    assert sizes(mended) == dict.fromkeys(SIZES, 0.0)
    assert is_left_alone(motion)
    assert "external_support_force" in failed(mended)


@pytest.mark.parametrize(("kind", "metres", "seconds"), [("walk", 0.5, 1.3), ("stand", 0.2, 1.3), ("walk", 0.5, 0.0)])
def test_of_two_floors_neither_is_brought_to_the_other(kind, metres, seconds):
    """A lift goes up in so many seconds, or the recording leaps; every clip with both floors is rejected."""
    motion = generate(kind, 8.0, 1).motion
    time = np.arange(len(motion)) / FPS - 3.5
    rise = metres * (np.clip(time / seconds, 0.0, 1.0) if seconds else time >= 0)
    risen = replace(motion, root_pos=motion.root_pos + np.outer(rise, [0.0, 0.0, 1.0]))
    assert is_left_alone(risen)
    both = [
        c for c in curate(risen, MENDS).clips if np.ptp(rise[round(FPS * c.start) : round(FPS * c.end)]) > metres / 2
    ]
    assert both
    for clip in both:
        assert "external_support_force" in {m.name for m in clip.verdict.measures if not m.passed}


def test_who_is_carried_about_is_not_set_down():
    stand = clean("stand")
    time = np.arange(len(stand)) / FPS
    held = np.clip((time - 1.0) / 0.4, 0.0, 1.0)
    away = np.cumsum(held > 0) / FPS * 0.5
    carried = replace(stand, root_pos=stand.root_pos + np.stack([away, 0 * away, 0.2 * held], axis=1))
    assert not curate(carried, MENDS).mending.lift.any()
    assert failed(curate(carried, MENDS))


def test_who_sits_on_nothing_is_not_levelled():
    for kind in ("stand", "walk", "squat"):
        sits = FAULTS["chair"].apply(clean(kind), 35.0, 1)
        assert is_left_alone(sits)
        assert "external_support_force" in failed(curate(sits, MENDS))


def test_where_nobody_stands_nothing_is_mended():
    stand = clean("stand")
    lying = rot.from_axis("y", np.pi / 2)
    quat = stand.joint_quat.copy()
    quat[:, 0] = rot.multiply(lying, quat[:, 0])
    swing = np.outer(np.sin(np.arange(len(stand)) / 15), [0.0, 0.0, 0.3])
    dangles = replace(clean("walk"), root_pos=np.array([0.0, 0.0, 3.0]) + swing)
    for motion in (smooth_motion(stand.body, 90), replace(stand, joint_quat=quat), dangles):
        assert is_left_alone(motion)
        assert "external_support_force" in failed(curate(motion, MENDS))


@pytest.mark.parametrize("ground", [0.0, 0.3])
def test_a_ground_that_is_known_is_where_the_mended_floor_is(ground):
    cfg = replace(MENDS, ground=ground)
    for name, strength in (("drift", 4.0), ("tilt", 6.0)):
        motion = faulty("walk", name, strength).shifted(np.array([0.0, 0.0, ground]))
        mended = curate(motion, cfg)
        assert failed(mended) == set()
        away = mended.motion.root_pos - as_it_was("walk").root_pos
        assert abs(np.median(away[:, 2])) < 0.03


@pytest.mark.parametrize(("speed", "said"), [(2.0, "twice"), (0.5, "half")])
def test_a_wrong_speed_is_noted_and_mended_if_asked(speed, said):
    jump = generate("jump", 4.0, 1, fps=120.0).motion
    wrong = replace(jump, fps=speed * jump.fps)
    noted = curate(wrong, MENDS)
    assert noted.motion.provenance.notes == (f"flights show that it plays at {said} its speed; --fps auto mends that",)
    mended = curate(wrong, replace(MENDS, retime=True))
    np.testing.assert_array_equal(mended.motion.root_pos, curate(jump, MENDS).motion.root_pos)
    assert failed(mended) == set()
    assert mended.motion.provenance.notes[-1].endswith(f"its rate is 120 Hz, not {120 * speed:g}")


@pytest.mark.parametrize("kind", KINDS)
def test_the_right_speed_is_not_doubted(kind):
    assert curate(clean(kind), MENDS).motion.provenance.notes == ()
    assert is_left_alone(clean(kind), replace(MENDS, retime=True))


@pytest.mark.real
@pytest.mark.parametrize("name", ["83_03", "83_34", "114_07", "13_36", "14_36", "77_18", "15_10"])
def test_real_stairs_ladders_stools_and_people_who_lie_are_not_mended_into_something_else(cmu, name):
    assert is_left_alone(read(cmu / f"{name}.bvh"))


@pytest.mark.real
@pytest.mark.parametrize("name", ["49_11", "49_18", "49_19"])
def test_real_people_on_one_leg_are_no_greatly_tilted_world(cmu, name):
    """A foot at rest in the air is on one plane with the other, and the body leans with it; soles are held askew."""
    assert sizes(curate(read(cmu / f"{name}.bvh"), MENDS))["mended_tilt"] < 5.0


@pytest.mark.real
def test_real_soles_that_roll_on_a_straight_walk_are_no_ground_that_rises_against_a_tilt(cmu):
    """Such a pair explains any heights on a straight way; forces show no tilt in it."""
    walk = read(cmu / "104_22.bvh")
    curation = curate(walk.frames(round(3.5 * walk.fps), round(7.5 * walk.fps)), MENDS)
    assert failed(curation) == set()
    assert sizes(curation) == dict.fromkeys(SIZES, 0.0)


@pytest.mark.real
@pytest.mark.parametrize("name", ["75_06", "75_13", "141_05"])
def test_real_recordings_at_twice_their_speed_are_kept_at_their_own(cmu, name):
    motion = read(cmu / f"{name}.bvh")
    assert failed(curate(motion, MENDS))
    kept = [clip.verdict.kept for clip in curate(motion, replace(MENDS, retime=True)).clips]
    assert np.mean(kept) >= 0.5

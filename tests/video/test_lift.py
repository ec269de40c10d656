"""A motion that is filmed by a perfect network comes back, whichever way the camera is held."""

from dataclasses import replace

import numpy as np
import pytest

from phuma.core import rotations as rot
from phuma.core.human_motion import HumanMotion
from phuma.errors import ConfigError, PhumaError
from phuma.video import windows
from phuma.video.landmarks import Landmarks
from phuma.video.lift import LiftCfg, Lifted, lift
from phuma.video.pinhole import Camera, angles_of, up_of
from phuma.video.sides import OTHER
from phuma.video.stretches import frames_of
from tests.video.filming import FOCAL, camera, film, walker


@pytest.fixture(scope="module")
def walk() -> HumanMotion:
    return walker("walk", 2.0)


def known(motion: HumanMotion, **more: object) -> LiftCfg:
    return LiftCfg(stature=motion.body.shape["stature"], focal=FOCAL, **more)


def lifted(motion: HumanMotion, by: Camera, **more: object) -> Lifted:
    (one,) = lift(film(motion, by), known(motion, **more))
    return one


def from_start(motion: HumanMotion) -> np.ndarray:
    """(T, 22, 3) the joints, the motion beginning above the origin."""
    return motion.pose.position - motion.root_pos[0] * [1.0, 1.0, 0.0]


def tilt(found: Camera, truth: Camera) -> float:
    """Degrees between what both cameras take for up."""
    cosine = up_of(found.pitch, found.roll) @ up_of(truth.pitch, truth.roll)
    return float(np.degrees(np.arccos(np.clip(cosine, -1, 1))))


@pytest.mark.parametrize("kind", ["walk", "squat", "reach", "jump"])
def test_a_motion_comes_back_from_perfect_landmarks(kind):
    motion = walker(kind, 2.0)
    found = lifted(motion, camera())
    mine, true = from_start(found.motion), from_start(motion)
    away = np.linalg.norm((mine - mine[:, :1]) - (true - true[:, :1]), axis=-1)
    assert away.mean() < 0.012
    assert np.linalg.norm(mine[:, 0] - true[:, 0], axis=-1).max() < 0.05
    turn = rot.squared_angle(found.motion.pose.rotation, motion.pose.rotation) ** 0.5
    assert np.degrees(np.median(turn)) < 3.0
    assert tilt(found.camera, camera()) < 1.0
    assert found.reprojection.max() < 5.0
    for name in ("leg", "arm", "trunk"):
        assert found.motion.body.shape[name] == pytest.approx(motion.body.shape[name], rel=0.03)


@pytest.mark.parametrize(("pitch", "roll"), [(-15.0, 4.0), (12.0, -3.0), (-25.0, 20.0)])
def test_a_tilted_camera_gives_the_same_motion_and_its_tilt(walk, pitch, roll):
    by = camera(pitch, roll)
    found, level = lifted(walk, by), lifted(walk, camera())
    assert tilt(found.camera, by) < 2.5
    away = np.linalg.norm(from_start(found.motion) - from_start(level.motion), axis=-1)
    assert away.mean() < 0.03


def test_a_camera_from_another_side_gives_the_same_motion_turned(walk):
    side, front = (lifted(walker("walk", 2.0, facing=a), camera()).motion for a in (2.0, 3.0))
    yaw = rot.from_axis("z", -1.0)
    away = np.linalg.norm(rot.rotate(yaw, from_start(front)) - from_start(side), axis=-1)
    assert away.mean() < 0.03


def test_pixels_are_units(walk):
    """Twice as many pixels and twice the focal length change nothing."""
    seen = film(walk, camera())
    doubled = replace(seen, size=(2 * seen.size[0], 2 * seen.size[1]), image=2 * seen.image)
    (a,) = lift(seen, known(walk))
    (b,) = lift(doubled, replace(known(walk), focal=2 * FOCAL))
    assert np.allclose(a.motion.pose.position, b.motion.pose.position, atol=1e-6)
    assert np.allclose(2 * a.reprojection, b.reprojection, atol=1e-4)


def test_a_taller_person_is_the_same_person_farther_away(walk):
    seen = film(walk, camera())
    (a,), (b,) = (lift(seen, replace(known(walk), stature=h)) for h in (1.5, 1.8))
    assert b.camera.position[2] / a.camera.position[2] == pytest.approx(1.2, rel=0.03)
    assert np.ptp(b.motion.root_pos[:, 1]) / np.ptp(a.motion.root_pos[:, 1]) == pytest.approx(1.2, rel=0.03)


@pytest.mark.parametrize("kind", ["walk", "stand"])
@pytest.mark.parametrize(("pitch", "roll"), [(0.0, 0.0), (-12.0, 3.0), (-20.0, 0.0)])
def test_gravity_is_found_from_two_seconds_in_spite_of_noise(kind, pitch, roll):
    motion, by = walker(kind, 2.0), camera(pitch, roll)
    (found,) = lift(film(motion, by, noise=0.008, seed=1), known(motion))
    assert tilt(found.camera, by) < 4.0


def test_a_known_camera_is_believed(walk):
    by = camera(-12.0, 3.0)
    found = lifted(walk, by, camera=(-12.0, 3.0))
    assert tilt(found.camera, by) < 0.1
    assert found.camera.guessed == ()
    wrong = lifted(walk, by, camera=(0.0, 0.0))
    assert np.degrees(np.abs(angles_of(up_of(wrong.camera.pitch, wrong.camera.roll)))).max() < 0.5


def test_feet_that_stand_stand_still_on_the_ground():
    motion = walker("walk", 2.0)
    (found,) = lift(film(motion, camera(-8.0, 1.0), noise=0.008), known(motion))
    soles = found.motion.sole_positions().reshape(len(motion), 4, -1, 3).mean(axis=2)
    true = motion.sole_positions().reshape(len(motion), 4, -1, 3).mean(axis=2)
    still = np.linalg.norm(np.diff(true, axis=0), axis=-1) * motion.fps < 0.02
    speed = np.linalg.norm(np.diff(soles, axis=0), axis=-1) * motion.fps
    assert np.median(speed[still]) < 0.05
    assert np.abs(soles[1:][still][:, 2]).mean() < 0.015


def test_the_camera_is_where_the_picture_was_taken_from(walk):
    by = camera(-10.0, 2.0)
    found = lifted(walk, by)
    expected = np.array(by.position) - walk.root_pos[0] * [1.0, 1.0, 0.0]
    assert np.linalg.norm(np.array(found.camera.position) - expected) < 0.3


def test_left_and_right_that_are_exchanged_for_a_moment_are_put_right():
    walk = walker("walk", 2.0, facing=3.0)
    seen = film(walk, camera())
    image, world = seen.image.copy(), seen.world.copy()
    image[20:28], world[20:28] = image[20:28][:, OTHER], world[20:28][:, OTHER]
    (plain,), (mended,) = (lift(s, known(walk)) for s in (seen, replace(seen, image=image, world=world)))
    away = np.linalg.norm(plain.motion.pose.position - mended.motion.pose.position, axis=-1)
    assert away.mean() < 0.01
    assert any("exchanged for 0.27 s" in note for note in mended.notes)


def test_a_short_gap_is_bridged_and_a_long_one_splits():
    motion = walker("reach", 3.0)
    seen = film(motion, camera())
    presence = np.ones(len(seen))
    presence[40:46] = 0.0
    hidden = _gone(seen, presence)
    (whole,) = lift(hidden, known(motion))
    assert len(whole.motion) == len(seen)
    assert np.linalg.norm(from_start(whole.motion) - from_start(motion), axis=-1).mean() < 0.02
    assert any("not seen for 0.20 s" in note for note in whole.notes)
    presence[40:60] = 0.0
    first, second = lift(_gone(seen, presence), known(motion))
    assert (len(first.motion), len(second.motion)) == (40, 30)
    assert second.motion.provenance.start == pytest.approx(2.0)
    assert first.motion.body.shape["stature"] == pytest.approx(second.motion.body.shape["stature"], rel=5e-3)


def test_frames_that_cannot_be_used_are_left_out():
    motion = walker("reach", 3.0)
    first, second = lift(film(motion, camera()), known(motion), spans=[(0, 45), (45, 75)])
    assert (len(first.motion), len(second.motion)) == (45, 30)
    assert second.motion.provenance.start == pytest.approx(1.5)


def _gone(seen: Landmarks, presence: np.ndarray) -> Landmarks:
    there = presence[:, None, None]
    return replace(
        seen, image=seen.image * there, world=seen.world * there, visibility=seen.visibility * there[..., 0],
        presence=presence,
    )  # fmt: skip


def test_a_film_of_nobody_is_refused(walk):
    seen = film(walk, camera())
    with pytest.raises(PhumaError, match=r"nobody is seen for 0\.5 s in 2\.0 s of film"):
        lift(_gone(seen, np.zeros(len(seen))))
    with pytest.raises(PhumaError, match="nobody is seen"):
        lift(frames_of(seen, slice(0, 5)))


def test_windows_of_a_long_film_join_without_a_seam(monkeypatch):
    motion = walker("turn", 4.0)
    seen = film(motion, camera())
    (whole,) = lift(seen, known(motion))
    monkeypatch.setattr(windows, "WINDOW", 60)
    monkeypatch.setattr(windows, "OVERLAP", 12)
    (joined,) = lift(seen, known(motion))
    assert len(joined.motion) == len(motion)
    away = np.linalg.norm(joined.motion.pose.position - whole.motion.pose.position, axis=-1)
    assert away.mean() < 0.03
    bend = np.abs(np.diff(joined.motion.pose.position, 2, axis=0)).max()
    assert bend < 2 * np.abs(np.diff(motion.pose.position, 2, axis=0)).max() + 0.01


def test_it_is_told_how_many_frames_are_lifted_window_by_window_through_all_stretches(monkeypatch):
    monkeypatch.setattr(windows, "WINDOW", 60)
    monkeypatch.setattr(windows, "OVERLAP", 12)
    motion, told = walker("turn", 4.0), []
    lifted = lift(film(motion, camera()), known(motion), spans=[(0, 78), (80, 120)], progress=lambda *n: told.append(n))
    assert [len(one.motion) for one in lifted] == [78, 40]
    assert told == [(0, 118), (60, 118), (78, 118), (78, 118), (118, 118)]


def test_notes_say_what_was_guessed_and_which_flag_sets_it(walk):
    (found,) = lift(film(walk, camera()), source="walk.mp4")
    flags = {"--stature": 0, "--focal": 0, "--camera": 0}
    for note in found.notes:
        flags |= {flag: n + 1 for flag, n in flags.items() if flag in note}
    assert set(flags.values()) == {1}
    assert found.camera.guessed == ("focal", "pitch", "roll")
    assert found.motion.provenance.notes == found.notes
    assert found.motion.provenance.source == "walk.mp4"
    assert f"{max(found.camera.size):d} px" in " ".join(found.notes)
    assert lifted(walk, camera(), camera=(0.0, 0.0)).notes == ()


@pytest.mark.parametrize("seed", range(3))
def test_what_is_no_person_still_gives_finite_numbers(seed):
    rng = np.random.default_rng(seed)
    frames = 30
    seen = Landmarks(
        30.0, (640, 480), rng.uniform(-100, 800, (frames, 33, 2)), 0.5 * rng.normal(size=(frames, 33, 3)),
        rng.uniform(0, 1, (frames, 33)), np.ones(frames),
    )  # fmt: skip
    for one in lift(seen):
        assert np.isfinite(one.motion.pose.position).all()
        assert np.isfinite(one.reprojection).all()
    still = replace(seen, image=np.full_like(seen.image, 200.0), world=np.zeros_like(seen.world))
    for one in lift(still):
        assert np.isfinite(one.motion.pose.position).all()


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"stature": 172.0}, "--stature 172: expected metres"),
        ({"focal": -5.0}, "--focal -5: expected pixels"),
        ({"camera": (100.0, 0.0)}, "--camera 100,0: expected degrees"),
    ],
)
def test_wrong_settings_say_what_was_expected(values, words):
    with pytest.raises(ConfigError, match=words):
        LiftCfg(**values)

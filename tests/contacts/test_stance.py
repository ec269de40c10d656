"""Contacts that stand: symmetries, what truly stands and flies, faults, and short recordings."""

from dataclasses import replace

import numpy as np
import pytest

from phuma.contacts.evidence import Evidence
from phuma.contacts.height import contacts_by_height
from phuma.contacts.stance import contacts_that_stand
from phuma.core import rotations as rot
from phuma.core.skeleton import MIRROR_REGIONS, POINTS_PER_REGION
from phuma.core.smoothing import smooth
from phuma.synth import FAULTS, KINDS, generate

BAND = 0.025


def evidence_of(motion, ground=None):
    smoothed = smooth(motion, 3.0, 6.0)
    return Evidence(motion, smoothed, smoothed.sole_heights().astype(np.float32), BAND, ground)


def standing(motion, ground=None):
    return contacts_that_stand(evidence_of(motion, ground)).mask


def lowest(synthetic):
    """(T, 4) m, the height of each region's lowest point above the true ground."""
    heights = synthetic.motion.sole_heights() - synthetic.ground
    return heights.reshape(len(heights), 4, POINTS_PER_REGION).min(axis=2)


def agreement(a, b):
    return (a == b).mean()


@pytest.fixture(scope="module")
def moves():
    """One person of each type that lifts feet."""
    return {kind: generate(kind, 4.0, 1) for kind in ("walk", "run", "jump", "kick", "turn", "lunge")}


def test_a_mirrored_motion_has_mirrored_contacts(moves):
    for made in moves.values():
        np.testing.assert_array_equal(standing(made.motion.mirror()), standing(made.motion)[:, MIRROR_REGIONS])


@pytest.mark.parametrize("angle", [0.7, 2.5])
def test_heading_and_place_do_not_matter(moves, angle):
    yaw = rot.from_axis("z", angle)
    for made in moves.values():
        quat = made.motion.joint_quat.copy()
        quat[:, 0] = rot.multiply(yaw, quat[:, 0])
        moved = replace(
            made.motion, root_pos=rot.rotate(yaw, made.motion.root_pos) + [3.0, -2.0, 0.83], joint_quat=quat
        )
        # Directions are sixteen, so that forces differ by a percent between headings.
        assert agreement(standing(moved), standing(made.motion)) > 0.99


def test_played_backwards_the_same_stands(moves):
    for made in moves.values():
        backwards = replace(
            made.motion, root_pos=made.motion.root_pos[::-1].copy(), joint_quat=made.motion.joint_quat[::-1].copy()
        )
        assert agreement(standing(backwards)[::-1], standing(made.motion)) > 0.98


def test_who_stands_still_stands_on_both_heels_and_toes_all_the_time():
    frozen = generate("stand", 4.0, 0).motion
    frozen = replace(
        frozen, root_pos=frozen.root_pos[:1].repeat(120, 0), joint_quat=frozen.joint_quat[:1].repeat(120, 0)
    )
    assert standing(frozen).all()
    for seed in range(3):
        assert standing(generate("stand", 4.0, seed).motion).all()


def test_flight_is_flight(moves):
    for kind in ("jump", "run"):
        flying = lowest(moves[kind]).min(axis=1) > 0.02
        assert flying.sum() > 5
        assert not standing(moves[kind].motion)[flying].any()


def test_a_foot_that_swings_low_does_not_stand(moves):
    """The paper's labels hold it; by then it moves at 1 m/s and more."""
    motion = moves["walk"].motion
    points = motion.sole_positions().reshape(len(motion), 4, POINTS_PER_REGION, 3).mean(axis=2)
    fast = np.linalg.norm(np.gradient(points, axis=0), axis=2) * motion.fps > 1.0
    low_swing = fast & contacts_by_height(evidence_of(motion)).mask
    assert low_swing.sum() > 10
    assert not (standing(motion) & low_swing).any()


def test_who_falls_stands_nowhere():
    """Nothing is loaded, although a foot may be at rest for a moment."""
    motion = generate("stand", 4.0, 0).motion
    t = np.arange(len(motion)) / motion.fps - 1.0
    fall = np.outer(-0.5 * 9.81 * t**2, [0.0, 0.0, 1.0])
    found = standing(replace(motion, root_pos=motion.root_pos + fall))
    assert not found[4:-4].any()


@pytest.mark.parametrize("kind", KINDS)
def test_what_truly_stands_is_found_and_what_is_found_truly_touches(kind):
    made = [generate(kind, 4.0, seed) for seed in (3, 5)]
    found = np.concatenate([standing(m.motion) for m in made])
    true = np.concatenate([m.contact for m in made])
    touching = np.concatenate([lowest(m) for m in made]) < 0.003
    assert found[true].mean() > 0.95
    assert touching[found].mean() > 0.98


@pytest.mark.parametrize(("fault", "strength"), [("drift", 5.0), ("tilt", 6.0), ("slide", 0.3), ("jitter", 5.0)])
def test_a_floor_that_moves_and_noise_change_little(moves, fault, strength):
    made = moves["walk"]
    found = standing(FAULTS[fault].apply(made.motion, strength, 1))
    both = (found & made.contact).sum()
    f1 = 2 * both / (found.sum() + made.contact.sum())
    assert f1 > 0.8, "the paper's labels reach 0.68 of the clean motion"


def test_a_floor_that_slides_changes_nothing(moves):
    """As a treadmill does, or a camera that is carried along."""
    for made in moves.values():
        assert agreement(standing(FAULTS["slide"].apply(made.motion, 0.3, 1)), standing(made.motion)) > 0.98


@pytest.mark.parametrize("seconds", [0.5, 0.7])
def test_forces_keep_a_foot_down_that_the_recording_lifts_for_a_moment(seconds):
    """Soles rise by 3 cm, while the body is never without support: somebody must carry it."""
    motion = generate("stand", 4.0, 0).motion
    t = np.clip((np.arange(len(motion)) / motion.fps - 2.0) / seconds, -0.5, 0.5)
    lifted = motion.root_pos + np.outer(0.03 * np.cos(np.pi * t) ** 2, [0.0, 0.0, 1.0])
    assert standing(replace(motion, root_pos=lifted)).any(axis=1).all()


def test_a_told_ground_is_the_floor(moves):
    made = moves["walk"]
    assert agreement(standing(made.motion, 0.0), standing(made.motion)) > 0.95
    assert not standing(made.motion, -0.3).any()
    assert not standing(made.motion.shifted(np.array([0.0, 0.0, 0.3])), 0.0).any()


@pytest.mark.parametrize("frames", [1, 2, 3, 4, 10])
def test_short_recordings_have_contacts_too(frames):
    motion = generate("stand", 4.0, 0).motion.frames(0, frames)
    found = contacts_that_stand(Evidence(motion, motion, motion.sole_heights().astype(np.float32), BAND))
    assert found.ratio.shape == (frames, 4)
    assert found.ratio.all()


def test_contacts_are_whole_numbers_and_finite(moves):
    wild = FAULTS["jitter"].apply(moves["jump"].motion, 200.0, 0)
    ratio = contacts_that_stand(evidence_of(wild)).ratio
    assert set(np.unique(ratio)) <= {0.0, 1.0}


def test_twice_the_frame_rate_finds_the_same():
    at_30, at_60 = (generate("walk", 4.0, 2, fps).motion for fps in (30.0, 60.0))
    assert agreement(standing(at_60)[::2], standing(at_30)) > 0.95

"""Types guessed from motions: embedded ones, the symmetries of the world, and cases computed by hand."""

from dataclasses import replace

import numpy as np
import pytest

from phuma.body import open_body
from phuma.core import rotations as rot
from phuma.core.foot_contacts import FootContacts
from phuma.core.human_motion import HumanMotion
from phuma.core.provenance import Provenance
from phuma.core.skeleton import INDEX, N_JOINTS, REST_TO_WORLD
from phuma.curation import curate
from phuma.dataset import category
from phuma.dataset.category import GROUP_OF, GROUPS, TYPES, categorise, category_of, decide, features
from phuma.dataset.labels import WORDS
from phuma.errors import PhumaError
from phuma.synth import KINDS, generate
from tests.motions import smooth_motion

FPS = 30.0
DEG = np.pi / 180


def person(frames=60, fps=FPS, body=None, **joints):
    """Somebody in the rest pose, arms out, facing x; joints by name as rotation vectors, (3,) or (T, 3), rest axes."""
    body = body or open_body()
    quat = np.tile(rot.IDENTITY, (frames, N_JOINTS, 1))
    for name, turn in joints.items():
        quat[:, INDEX[name]] = rot.from_rotvec(np.broadcast_to(turn, (frames, 3)))
    quat[:, 0] = rot.multiply(REST_TO_WORLD, quat[:, 0])
    return HumanMotion(body, np.tile([0.0, 0.0, 1.0], (frames, 1)), quat, fps, Provenance("made up", "none"))


def standing(motion):
    return FootContacts(np.ones((len(motion), 4)), motion.fps)


def moved(motion, path):
    """The same with the pelvis moved by `path` (T, 3)."""
    return replace(motion, root_pos=motion.root_pos + path)


def turned(motion, angle):
    turn = rot.from_axis("z", angle)
    quat = motion.joint_quat.copy()
    quat[:, 0] = rot.multiply(turn, quat[:, 0])
    return replace(motion, root_pos=rot.rotate(turn, motion.root_pos), joint_quat=quat)


def numbers(motion, contact):
    return np.array(list(vars(features(motion, contact)).values()))


def test_eleven_types_in_four_groups_which_are_those_that_the_rest_knows():
    assert TYPES == KINDS == tuple(WORDS)
    assert len(TYPES) == len(GROUP_OF) == 11
    assert set(GROUP_OF.values()) == set(GROUPS) == {"stationary", "angular", "vertical", "horizontal"}
    assert (GROUP_OF["reach"], GROUP_OF["kick"], GROUP_OF["jump"], GROUP_OF["run"]) == tuple(GROUPS)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.slow
def test_every_embedded_type_is_recognised(kind):
    for seed in range(5):
        for clip in curate(generate(kind, 4.0, seed).motion).clips:
            assert categorise(clip.motion, clip.contact) == kind, seed


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_heading_place_and_side_do_not_matter(kind):
    made = generate(kind, 4.0, 11)
    contact = FootContacts(made.contact.astype(float), FPS)
    expected = numbers(made.motion, contact)
    for other, its in (
        (turned(made.motion, 2.5), contact),
        (made.motion.shifted(np.array([30.0, -8.0, 0.0])), contact),
        (made.motion.mirror(), contact.mirror()),
    ):
        np.testing.assert_allclose(numbers(other, its), expected, atol=1e-8)
        assert categorise(other, its) == kind


def test_nor_do_they_for_motions_that_mean_nothing():
    for seed in range(5):
        motion = smooth_motion(open_body(), frames=90, seed=seed)
        contact = FootContacts(np.random.default_rng(seed).choice([0.0, 0.5, 1.0], (90, 4)), FPS)
        expected = numbers(motion, contact)
        np.testing.assert_allclose(numbers(turned(motion, -1.1), contact), expected, atol=1e-8)
        np.testing.assert_allclose(numbers(motion.mirror(), contact.mirror()), expected, atol=1e-8)


def test_a_body_of_another_size_in_the_same_poses_is_judged_alike():
    """Lengths are in leg lengths; what depends on gravity (froude, foot speed, flight) is not compared."""
    small = smooth_motion(open_body(), frames=90, seed=3)
    body = replace(small.body, joints=1.7 * small.body.joints, soles=1.7 * small.body.soles)
    large = replace(small, body=body, root_pos=1.7 * small.root_pos)
    a, b = (vars(features(m, standing(m))) for m in (small, large))
    for name in a.keys() - {"froude", "foot_speed", "flight"}:
        assert a[name] == pytest.approx(b[name]), name
    assert b["froude"] == pytest.approx(1.7 * a["froude"])
    assert b["foot_speed"] == pytest.approx(1.7**0.5 * a["foot_speed"])


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_the_frame_rate_does_not_matter(kind):
    for fps in (30.0, 120.0):
        made = generate(kind, 4.0, 5, fps=fps)
        assert categorise(made.motion, FootContacts(made.contact.astype(float), fps)) == kind


def test_the_rest_pose_by_hand():
    motion = person()
    f, joints, body = features(motion, standing(motion)), motion.body.joints, motion.body
    bones = np.linalg.norm(body.offsets, axis=1)
    arm = bones[INDEX["left_elbow"]] + bones[INDEX["left_wrist"]]
    away = np.linalg.norm(joints[INDEX["left_wrist"]] - joints[INDEX["left_hip"]])
    assert f.reach == pytest.approx(away / arm, rel=1e-3)
    assert f.crouch == pytest.approx(0.0, abs=0.02)
    rest = f.flight, f.pace, f.path, f.froude, f.turned, f.foot_speed, f.crouch_split, f.forward, f.twist
    np.testing.assert_allclose(rest, 0.0, atol=1e-9)


@pytest.mark.parametrize(("name", "axis", "angle"), [("pelvis", 0, 40.0), ("spine2", 0, 55.0), ("spine1", 0, -30.0)])
def test_a_chest_that_is_turned_forward_leans_so_far(name, axis, angle):
    forward, aside = category.chest_angles(person(**{name: np.eye(3)[axis] * angle * DEG}))
    np.testing.assert_allclose(forward, angle * DEG)
    np.testing.assert_allclose(aside, 0.0, atol=1e-9)


def test_a_chest_to_the_right_is_not_to_the_left():
    forward, aside = category.chest_angles(person(spine1=[0.0, 0.0, 25 * DEG]))
    np.testing.assert_allclose(aside, -25 * DEG)
    np.testing.assert_allclose(forward, 0.0, atol=1e-9)


def test_leaning_back_or_aside_counts_as_much_to_either_side():
    for turn in ([-25 * DEG, 0, 0], [0, 0, 25 * DEG], [0, 0, -25 * DEG]):
        motion = person(spine1=turn)
        assert features(motion, standing(motion)).aside == pytest.approx(25 * DEG)
        assert categorise(motion, standing(motion)) == "bend"


def test_shoulders_turned_beside_the_hips_are_a_twist_and_hips_that_turn_along_are_not():
    swing = np.sin(np.linspace(0, 4 * np.pi, 120))[:, None] * [0.0, 35 * DEG, 0.0]
    twisting = person(120, spine2=swing)
    assert category.twist_range(twisting) == pytest.approx(70 * DEG, rel=0.05)
    assert category.twist_range(person(120, pelvis=swing)) == pytest.approx(0.0, abs=1e-9)
    bowed = person(120, pelvis=[80 * DEG, 0.0, 0.0], spine2=swing)
    assert category.twist_range(bowed) == pytest.approx(category.twist_range(twisting))
    assert categorise(twisting, standing(twisting)) == "twist"


def test_a_whole_turn_is_a_whole_turn():
    whole = np.linspace(0, 2 * np.pi, 120)[:, None] * [0.0, 1.0, 0.0]
    motion = person(120, pelvis=whole)
    assert features(motion, standing(motion)).turned == pytest.approx(2 * np.pi)
    assert categorise(motion, standing(motion)) == "turn"


def test_speed_is_that_of_the_fastest_second():
    """Half a second at 4 m/s between rests, which is 2 m in a second; the feet go along."""
    for fps in (30.0, 60.0):
        time = np.arange(3 * fps) / fps
        x = 4.0 * np.clip(time - 1.0, 0.0, 0.5)
        motion = moved(person(len(x), fps), np.outer(x, [0.6, 0.8, 0.0]))
        f, leg = features(motion, standing(motion)), motion.body.leg_length
        assert f.pace == pytest.approx(2.0 / leg)
        assert f.path == pytest.approx(2.0 / leg)
        assert f.froude == pytest.approx(2.0**2 / (9.81 * leg))
        assert f.foot_speed == pytest.approx(0.0, abs=1e-9)


def test_a_leg_raised_to_the_front_is_level_and_a_bent_one_does_not_count():
    up = np.array([-90 * DEG, 0.0, 0.0])
    assert category.leg_angle(person(left_hip=up)) == pytest.approx(90 * DEG, abs=3 * DEG)
    assert category.leg_angle(person(right_hip=up)) == pytest.approx(90 * DEG, abs=3 * DEG)
    assert category.leg_angle(person(left_hip=up, left_knee=-up)) < 15 * DEG


def test_only_a_fast_leg_kicks():
    still = person(left_hip=[-90 * DEG, 0.0, 0.0])
    assert categorise(still, standing(still)) != "kick"
    swing = np.maximum(np.sin(np.arange(120) / FPS * 7), 0)[:, None] * [-95 * DEG, 0.0, 0.0]
    fast = person(120, left_hip=swing)
    assert categorise(fast, standing(fast)) == "kick"


def test_flight_is_falling_without_contact():
    """A parabola of 0.4 s; feet in the air of somebody who does not fall; and the same fall with feet on the ground."""
    t = np.arange(60) / FPS
    up = np.where((t > 0.8) & (t < 1.2), 0.5 * 9.81 * (0.2**2 - (t - 1.0) ** 2), 0.0)
    contact = FootContacts(np.where((up > 0)[:, None], 0.0, np.ones(4)), FPS)
    jump = moved(person(60), np.outer(up, [0, 0, 1]))
    assert category.longest_flight(jump, contact) == pytest.approx(0.4, abs=0.04)
    assert category.longest_flight(person(60), contact) == 0.0
    assert category.longest_flight(jump, standing(jump)) == 0.0
    assert categorise(jump, contact) == "jump"


def crouched(split=0.0, wide=0.0):
    """Both knees bent by 90 degrees, feet apart front to back or sideways, by turning the thighs."""
    left = np.array([-45.0 - split, 0.0, wide]) * DEG
    right = np.array([-45.0 + split, 0.0, -wide]) * DEG
    knee = [90 * DEG, 0.0, 0.0]
    return person(left_hip=left, right_hip=right, left_knee=knee, right_knee=knee)


def test_knees_bent_square_lower_the_pelvis_as_the_cosine_says():
    body = open_body()
    thigh, shank = (np.linalg.norm(body.offsets[INDEX[f"left_{j}"]]) for j in ("knee", "ankle"))
    down = (thigh + shank) * (1 - np.cos(45 * DEG))
    hips = body.joints[INDEX["pelvis"], 1] - body.joints[INDEX["left_hip"], 1]
    np.testing.assert_allclose(category.crouching(crouched()), down / (thigh + shank + hips), atol=0.03)


def test_feet_apart_front_to_back_are_a_lunge_and_sideways_a_squat():
    assert categorise(crouched(), standing(crouched())) == "squat"
    assert categorise(crouched(split=30.0), standing(crouched())) == "lunge"
    assert categorise(crouched(wide=30.0), standing(crouched())) == "squat"


def test_round_a_wide_curve_one_walks_on_a_tight_one_one_turns():
    motion = person()
    still = features(motion, standing(motion))
    assert decide(replace(still, turned=2.0, pace=1.0, path=4.0)) == "walk"
    assert decide(replace(still, turned=2.0, pace=1.0, path=1.0)) == "turn"
    assert decide(replace(still, turned=0.5, pace=1.0, path=0.3)) == "walk"
    assert decide(replace(still, turned=2.0, pace=0.1, path=4.0)) == "turn"


def test_a_stoop_is_a_bend_while_knees_and_feet_do_something_too_unless_they_are_bent_deep():
    motion = person()
    low = replace(features(motion, standing(motion)), forward=80 * DEG, crouch=0.3, pace=1.0)
    assert decide(low) == "bend"
    assert decide(replace(low, crouch=0.5)) == "squat"
    assert decide(replace(low, crouch=0.0, forward=55 * DEG)) == "walk"


@pytest.mark.parametrize("fps", [30.0, 60.0])
def test_what_is_held_for_a_fifth_of_a_second_counts_and_less_does_not(fps):
    for seconds, forward in ((0.15, 0.0), (0.25, 80 * DEG)):
        bow = np.zeros((90, 3))
        bow[30 : 30 + round(seconds * fps), 0] = 80 * DEG
        motion = person(90, fps, spine1=bow)
        assert features(motion, standing(motion)).forward == pytest.approx(forward)


def test_a_text_decides_and_the_motion_where_it_says_nothing():
    made = generate("kick", 4.0, 1)
    contact = FootContacts(made.contact.astype(float), FPS)
    assert category_of("walk forward", categorise(made.motion, contact)) == "walk"
    for nothing in (None, "", "range of motion", "walk, then turn", "sit down"):
        assert category_of(nothing, categorise(made.motion, contact)) == "kick"


def test_a_single_frame_has_a_type_and_contacts_of_another_length_are_refused():
    one = person(1)
    assert categorise(one, standing(one)) in TYPES
    with pytest.raises(PhumaError, match="60 frames has contacts of 59"):
        categorise(person(60), standing(person(59)))

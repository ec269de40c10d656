"""The open body against the tables that it is made from, its symmetry and its parameters; lumbar marks."""

from dataclasses import replace

import numpy as np
import pytest

from phuma.body import OpenShape, open_body
from phuma.core.skeleton import INDEX, JOINTS, MIRROR_JOINTS, MIRROR_SOLE, POINTS_PER_REGION, REGIONS
from phuma.sources import read
from tests.motions import smooth_motion
from tests.sources.bvh_files import CONVENTIONS, bvh_text

# ANSUR II as fractions of stature: men, women.
ANKLE_HEIGHT = (0.0415, 0.0385)
KNEE_HEIGHT = (0.2799, 0.2860)
HIP_HEIGHT = (0.5128, 0.5190)
THIGH = (0.2330, 0.2329)
SHANK = (0.2384, 0.2475)
SHOULDER_HEIGHT = (0.8203, 0.8198)
UPPER_ARM = (0.1909, 0.1911)
FOREARM = (0.1525, 0.1482)
FOOT_LENGTH = (0.1544, 0.1513)
BALL_FROM_HEEL = (0.1144, 0.1118)
FOOT_BREADTH = (0.0580, 0.0570)
BIACROMIAL = (0.2368, 0.2244)
# Winter, where it differs from ANSUR.
WINTER_UPPER_ARM, WINTER_FOREARM = 0.186, 0.146
HALF_HIP_SPACING = 0.06

ACROMION_TO_JOINT = 0.014
"""How far the shoulder joint's centre lies below and inside the acromion."""

STATURES = (1.0, 1.55, 1.72, 1.95)
EXACT = 2e-4  # fractions in the body have three digits

SIDES = ("left", "right")
BOTH = {part: [INDEX[f"{side}_{part}"] for side in SIDES] for part in {j.split("_")[-1] for j in JOINTS if "_" in j}}
TRUNK = [INDEX[j] for j in JOINTS if j.startswith("spine")] + [INDEX["neck"]] + BOTH["collar"] + BOTH["shoulder"]
X, Y, Z = 0, 1, 2
REST_MIRROR = np.array([-1.0, 1.0, 1.0])


def mean(of_men_and_women):
    return pytest.approx(np.mean(of_men_and_women), abs=EXACT)


def joints_of(stature):
    """Joint positions by name in fractions of stature, with the ground at y = 0."""
    body = open_body(OpenShape(stature))
    ground = body.soles[:, Y].min()
    return dict(zip(JOINTS, (body.joints - [0.0, ground, 0.0]) / stature))


def soles_of(stature):
    """Sole points (22, 3) by region in fractions of stature, relative to the ankle."""
    body = open_body(OpenShape(stature))
    regions = body.soles.reshape(len(REGIONS), POINTS_PER_REGION, 3)
    return {r: (p - body.joints[INDEX[f"{r.split('_')[0]}_ankle"]]) / stature for r, p in zip(REGIONS, regions)}


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("stature", STATURES)
def test_legs_have_the_tables_heights_and_lengths(stature, side):
    at = joints_of(stature)
    assert at[f"{side}_ankle"][Y] == mean(ANKLE_HEIGHT)
    assert at[f"{side}_knee"][Y] == mean(KNEE_HEIGHT)
    assert at[f"{side}_hip"][Y] == mean(HIP_HEIGHT)
    assert np.linalg.norm(at[f"{side}_hip"] - at[f"{side}_knee"]) == mean(THIGH)
    assert np.linalg.norm(at[f"{side}_knee"] - at[f"{side}_ankle"]) == mean(SHANK)
    assert abs(at[f"{side}_hip"][X]) == pytest.approx(HALF_HIP_SPACING, abs=EXACT)


@pytest.mark.parametrize("stature", STATURES)
def test_leg_length_is_thigh_and_shank(stature):
    assert open_body(OpenShape(stature)).leg_length / stature == mean(np.add(THIGH, SHANK))


@pytest.mark.parametrize("side", SIDES)
def test_shoulder_joints_lie_below_and_inside_the_acromia(side):
    at = joints_of(1.72)[f"{side}_shoulder"]
    assert at[Y] == pytest.approx(np.mean(SHOULDER_HEIGHT) - ACROMION_TO_JOINT, abs=0.002)
    assert abs(at[X]) == pytest.approx(np.mean(BIACROMIAL) / 2 - ACROMION_TO_JOINT, abs=0.001)


def test_shoulder_width_is_biacromial():
    assert open_body(OpenShape(1.0)).shape["shoulder_width"] == mean(BIACROMIAL)


@pytest.mark.parametrize("side", SIDES)
def test_arms_are_as_long_as_the_tables_say(side):
    """The tables differ; the body's arms lie within what they give. Upper arms are measured from the acromion."""
    at = joints_of(1.72)
    upper = np.linalg.norm(at[f"{side}_elbow"] - at[f"{side}_shoulder"]) + ACROMION_TO_JOINT
    fore = np.linalg.norm(at[f"{side}_wrist"] - at[f"{side}_elbow"])
    assert min(WINTER_UPPER_ARM, *UPPER_ARM) - EXACT < upper < max(WINTER_UPPER_ARM, *UPPER_ARM) + EXACT
    assert min(WINTER_FOREARM, *FOREARM) < fore < max(WINTER_FOREARM, *FOREARM)


@pytest.mark.parametrize("side", SIDES)
def test_feet_are_as_long_and_broad_as_the_tables_say(side):
    """Points are spread inside the sole's outline: they reach almost to its ends and not beyond."""
    assert open_body(OpenShape(1.0)).shape["foot"] == mean(FOOT_LENGTH)
    heel, toe = soles_of(1.72)[f"{side}_heel"], soles_of(1.72)[f"{side}_toe"]
    length, back = np.mean(FOOT_LENGTH), heel[:, Z].min()
    assert 0.96 * length < toe[:, Z].max() - back < length + EXACT
    at = joints_of(1.72)
    ball = (at[f"{side}_foot"] - at[f"{side}_ankle"])[Z]
    assert ball - back == pytest.approx(np.mean(BALL_FROM_HEEL), abs=0.005)
    # The heel is a quarter of the foot behind the ankle.
    assert ball + length / 4 == mean(BALL_FROM_HEEL)
    assert 0.8 < np.ptp(toe[:, X]) / np.mean(FOOT_BREADTH) < 1.0
    assert np.ptp(heel[:, X]) < np.ptp(toe[:, X])


@pytest.mark.parametrize("stature", STATURES)
def test_soles_are_flat_on_the_ground_below_the_ankles(stature):
    body = open_body(OpenShape(stature))
    assert np.ptp(body.soles[:, Y]) < 1e-12
    for side in SIDES:
        heel, toe = soles_of(stature)[f"{side}_heel"], soles_of(stature)[f"{side}_toe"]
        for points in (heel, toe):
            np.testing.assert_allclose(points[:, Y], -np.mean(ANKLE_HEIGHT), atol=EXACT)
            assert abs(points[:, X].mean()) < 0.002
        ankle, ball = (joints_of(stature)[f"{side}_{joint}"] for joint in ("ankle", "foot"))
        assert heel[:, Z].min() < 0 < heel[:, Z].max() < toe[:, Z].min()
        assert toe[:, Z].min() >= (ball - ankle)[Z]  # toes are what lies in front of the ball
        assert 0 < ball[Y] < ankle[Y]


@pytest.mark.parametrize("shape", [OpenShape(), OpenShape(1.6, 1.05, 0.95, 1.02, 1.1, 0.9, 1.08)])
def test_left_and_right_are_mirror_images(shape):
    body = open_body(shape)
    np.testing.assert_allclose(body.joints[MIRROR_JOINTS] * REST_MIRROR, body.joints, atol=1e-12)
    np.testing.assert_allclose(body.soles[MIRROR_SOLE] * REST_MIRROR, body.soles, atol=1e-12)
    np.testing.assert_array_equal(body.sole_weights[MIRROR_SOLE][:, MIRROR_JOINTS], body.sole_weights)
    assert all(body.joints[j, X] > 0 for name, j in INDEX.items() if name.startswith("left"))


def test_heels_hang_on_ankles_and_toes_on_balls():
    weights = open_body().sole_weights.reshape(len(REGIONS), POINTS_PER_REGION, len(JOINTS))
    for region, rows in zip(REGIONS, weights):
        side, part = region.split("_")
        carrier = INDEX[f"{side}_{'ankle' if part == 'heel' else 'foot'}"]
        np.testing.assert_array_equal(rows, np.eye(len(JOINTS))[[carrier] * POINTS_PER_REGION])


def test_the_spine_rises_to_the_head_below_the_crown():
    at = joints_of(1.72)
    heights = [at[j][Y] for j in ("left_hip", "pelvis", "spine1", "spine2", "spine3", "neck", "head")]
    assert np.all(np.diff(heights) > 0.02)
    assert heights[-1] < 0.95
    # As in SMPL-X.
    share = (at["spine1"] - at["pelvis"])[Y] / (at["neck"] - at["pelvis"])[Y]
    assert 0.2 < share < 0.35


@pytest.mark.parametrize(
    ("name", "axes", "joints"),
    [
        ("leg", [X, Y, Z], BOTH["knee"] + BOTH["ankle"]),
        ("arm", [X, Y, Z], BOTH["elbow"] + BOTH["wrist"]),
        ("trunk", [Y], TRUNK + BOTH["hip"]),
        ("shoulder", [X], BOTH["collar"] + BOTH["shoulder"]),
        ("hip", [X], BOTH["hip"]),
        ("foot", [Z], BOTH["foot"]),
    ],
)
@pytest.mark.parametrize("factor", [0.9, 1.1])
def test_a_parameter_scales_what_it_names_and_nothing_else(name, axes, joints, factor):
    plain, changed = open_body(), open_body(OpenShape(**{name: factor}))
    expected = plain.offsets.copy()
    expected[np.ix_(joints, axes)] *= factor
    np.testing.assert_allclose(changed.offsets, expected, atol=1e-12)
    assert np.abs(changed.offsets - plain.offsets)[joints].max(axis=1).min() > 1e-4
    ankles = np.repeat(BOTH["ankle"], 2 * POINTS_PER_REGION)
    soles, moved = plain.soles - plain.joints[ankles], changed.soles - changed.joints[ankles]
    np.testing.assert_allclose(moved, soles * [1.0, 1.0, factor if name == "foot" else 1.0], atol=1e-12)


@pytest.mark.parametrize("stature", STATURES)
def test_stature_scales_all_of_the_body(stature):
    one, body = open_body(OpenShape(1.0)), open_body(OpenShape(stature))
    np.testing.assert_allclose(body.joints, one.joints * stature, atol=1e-12)
    np.testing.assert_allclose(body.soles, one.soles * stature, atol=1e-12)


def test_lengths_give_the_shape_back():
    shape = OpenShape(1.6, 1.05, 0.95, 1.02, 1.1, 0.9, 1.08)
    back = OpenShape.from_lengths(shape.lengths())
    np.testing.assert_allclose(list(vars(back).values()), list(vars(shape).values()), atol=1e-12)


def test_a_mirror_moves_the_lumbar_mark_to_the_other_side():
    body = replace(open_body(), lumbar=np.array([0.03, 0.08, -0.02]))
    np.testing.assert_allclose(body.mirror().lumbar, [-0.03, 0.08, -0.02], atol=1e-15)
    np.testing.assert_allclose(body.mirror().mirror().lumbar, body.lumbar, atol=1e-15)


def test_a_mirrored_motion_has_its_lumbar_mark_in_the_mirrored_place():
    motion = smooth_motion(replace(open_body(), lumbar=np.array([0.03, 0.08, -0.02])), seed=6)
    image = motion.mirror()
    there = image.body.lumbar_position(image.pose)
    np.testing.assert_allclose(there, motion.body.lumbar_position(motion.pose) * [1.0, -1.0, 1.0], atol=1e-9)


def read_back(tmp_path, spine1_share):
    """The body of a BVH file in CMU's manner whose first spine joint lies that share up from pelvis to neck."""
    body = open_body()
    joints = body.joints.copy()
    pelvis, neck = joints[INDEX["pelvis"]], joints[INDEX["neck"]]
    joints[INDEX["spine1"]] = pelvis + spine1_share * (neck - pelvis)
    motion = smooth_motion(replace(body, joints=joints), frames=30, amplitude=0.3)
    path = tmp_path / "motion.bvh"
    path.write_text(bvh_text(motion, CONVENTIONS["cmu"], t_pose_first=True))
    return read(path).body


@pytest.mark.parametrize("share", [0.0, 0.06])
def test_a_first_spine_joint_at_the_pelvis_gets_its_lumbar_mark_where_smplx_has_spine1(tmp_path, share):
    body = read_back(tmp_path, share)
    pelvis, spine1, neck = (body.joints[INDEX[j]] for j in ("pelvis", "spine1", "neck"))
    trunk = neck - pelvis
    np.testing.assert_allclose(spine1 - pelvis, share * trunk, atol=1e-4)
    mark = spine1 + body.lumbar - pelvis
    assert 0.2 < mark @ trunk / (trunk @ trunk) < 0.35
    np.testing.assert_allclose(np.cross(mark, trunk), 0.0, atol=1e-4)


def test_a_first_spine_joint_in_its_place_is_the_lumbar_mark(tmp_path):
    np.testing.assert_array_equal(read_back(tmp_path, 0.25).lumbar, 0.0)

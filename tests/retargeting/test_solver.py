"""The solver's derivatives, optimum and promises."""

from dataclasses import replace

import mujoco
import numpy as np
import pytest

from phuma.core import rotations as rot
from phuma.core.foot_contacts import FootContacts
from phuma.core.human_motion import HumanMotion
from phuma.core.skeleton import INDEX
from phuma.core.trajectory import Trajectory
from phuma.curation import CurateCfg, curate
from phuma.retargeting import physink, retarget_motion
from phuma.retargeting.block import blocks_of, robot_points
from phuma.retargeting.collision_check import self_penetration
from phuma.retargeting.config import FAMILY, SolveCfg
from phuma.retargeting.objective import TERMS, Stage, Weights, weights_at
from phuma.retargeting.physink import _problem, _start, solve
from phuma.retargeting.target import adapted_body, make_target, shared_keypoints
from phuma.robots import load_robot
from phuma.robots.capsules import capsules_of
from phuma.robots.kinematics import point_positions, points_of
from phuma.synth import generate

ROBOTS = ("g1", "h1_2")
ALL = FAMILY["physink+collision"]


@pytest.fixture(scope="module", params=ROBOTS)
def robot(request):
    return load_robot(request.param)


def curated(kind="walk", seconds=2.0, seed=0):
    return curate(generate(kind, seconds, seed).motion, CurateCfg(preset="paper"))


def random_configuration(robot, frames, seed=0):
    rng = np.random.default_rng(seed)
    return (
        rng.normal(size=(frames, 3)),
        rot.normalize(rng.normal(size=(frames, 4))),
        rng.uniform(robot.lower, robot.upper, (frames, len(robot.joint_names))),
    )


def path_of(robot, root_pos, root_quat, joint_pos):
    return Trajectory(robot.name, robot.joint_names, 30.0, root_pos, root_quat, joint_pos)


def test_kinematics_equal_mujocos(robot):
    model = mujoco.MjModel.from_xml_path(str(robot.folder / "model.xml"))
    data = mujoco.MjData(model)
    bodies = np.arange(len(robot.body_names))
    offset = np.random.default_rng(1).normal(size=(len(bodies), 3))
    root_pos, root_quat, q = random_configuration(robot, 30)
    mine = point_positions(robot, points_of(robot, bodies, offset), path_of(robot, root_pos, root_quat, q))
    for t in range(30):
        data.qpos[:] = np.concatenate([root_pos[t], root_quat[t], q[t]])
        mujoco.mj_kinematics(model, data)
        turned = np.einsum("bij,bj->bi", data.xmat[1:].reshape(-1, 3, 3), offset)
        np.testing.assert_allclose(mine[t], data.xpos[1:] + turned, atol=1e-10)


def test_the_gradient_is_that_of_the_cost_by_finite_differences(robot):
    """All terms at once, at a place where every one of them is awake."""
    clip = curated("kick", seconds=1.0)
    target = make_target(clip.motion, clip.contact, robot)
    stance = (clip.contact.ratio > 0.5).astype(float)
    problem = _problem(target, stance, robot, ALL, SolveCfg(), 0, 8)
    w = weights_at(Stage(rise=0.5), ALL)
    rng = np.random.default_rng(0)
    x = _start(target, robot)[:8]
    x = x + rng.normal(0, 0.15, x.shape)
    for block in blocks_of(robot, collision=True):
        problem.take(block, x)
        problem.evaluate(x, w)
        gradient = problem._gradient.copy().reshape(8, -1)
        for _ in range(60):
            t, i = rng.integers(8), rng.integers(len(block.unknowns))
            step = np.zeros_like(x)
            step[t, block.unknowns[i]] = 1e-6
            slope = (problem.evaluate(x + step, w) - problem.evaluate(x - step, w)) / 2e-6
            assert gradient[t, i] == pytest.approx(slope, rel=2e-4, abs=2e-4 * np.abs(gradient).max())


def only(name, weight=None):
    """Weights with every term asleep but the one that is called so; by itself it weighs as in the list."""
    k = [term.name for term in TERMS].index(name)
    full = weights_at(Stage(), ALL)
    alone = np.zeros_like(full.weight)
    alone[k] = full.weight[k] if weight is None else weight
    return Weights(alone, full.width)


@pytest.mark.parametrize("name", [term.name for term in TERMS])
def test_the_gradient_of_each_term_alone(robot, name):
    """At a place where it is awake for some block; nothing hides it. The right ankle counts as one that cannot roll."""
    clip = curated("kick", seconds=1.0)
    target = make_target(clip.motion, clip.contact, robot)
    stance = np.tile([1.0, 0.0, 1.0, 1.0], (8, 1))
    stance[4:, :2] = 0.0
    problem = _problem(target, stance, robot, ALL, SolveCfg(), 0, 8)
    rng = np.random.default_rng(1)
    x = _start(target, robot)[:8]
    x = x + rng.normal(0, 0.4, x.shape) * np.where(np.arange(x.shape[1]) < 6, 0.2, 1.0)
    total = 0.0
    for block in (b._replace(stiff=np.array([0, 1])) for b in blocks_of(robot, collision=True)):
        problem.take(block, x)
        total += problem.evaluate(x, only(name))
        gradient = problem._gradient.copy().reshape(8, -1)
        for _ in range(40):
            t, i = rng.integers(8), rng.integers(len(block.unknowns))
            step = np.zeros_like(x)
            step[t, block.unknowns[i]] = 1e-6
            slope = (problem.evaluate(x + step, only(name)) - problem.evaluate(x - step, only(name))) / 2e-6
            assert gradient[t, i] == pytest.approx(slope, rel=1e-3, abs=1e-3 * np.abs(gradient).max() + 1e-9)
    assert total > 0


def test_the_gradient_of_collisions_alone(robot):
    """Arms pressed into the body and legs crossed: the term is the only one awake, so nothing hides it."""
    clip = curated("stand", seconds=1.0)
    target = make_target(clip.motion, clip.contact, robot)
    problem = _problem(target, np.zeros((8, 4)), robot, ALL, SolveCfg(), 0, 8)
    w = only("collision", 1.0)
    rng = np.random.default_rng(3)
    x = _start(target, robot)[:8] + rng.normal(0, 0.5, (8, 6 + robot.n_joints)) * (np.arange(6 + robot.n_joints) > 5)
    for block in blocks_of(robot, collision=True):
        problem.take(block, x)
        assert problem.evaluate(x, w) > 0
        gradient = problem._gradient.copy().reshape(8, -1)
        for t, i in np.argwhere(np.abs(gradient) > 1e-3 * np.abs(gradient).max())[::3]:
            step = np.zeros_like(x)
            step[t, block.unknowns[i]] = 1e-6
            slope = (problem.evaluate(x + step, w) - problem.evaluate(x - step, w)) / 2e-6
            assert gradient[t, i] == pytest.approx(slope, rel=1e-3, abs=1e-3 * np.abs(gradient).max())


def test_a_shoulder_stands_in_for_its_arm_while_the_body_is_solved(robot):
    """The cost of positions by hand: pseudo-Huber of each distance, a shoulder three times in the body's block, all
    four times as much at the ends of a clip."""
    clip = curated("walk", seconds=1.0)
    target = make_target(clip.motion, clip.contact, robot)
    problem = _problem(target, np.zeros((8, 4)), robot, ALL, SolveCfg(), 0, 8)
    w, width = only("global match", 5.0), 0.02
    x = _start(target, robot)[:8]
    root = rot.multiply(rot.from_rotvec(x[:, 3:6]), target.root_quat[:8])
    keypoints = points_of(robot, robot.keypoint_body, robot.keypoint_offset)
    place = point_positions(robot, keypoints, path_of(robot, x[:, :3], root, x[:, 6:]))
    distance = np.linalg.norm(place - problem.target.keypoints, axis=-1)
    each = 5.0 * width**2 * (np.sqrt(1 + (distance / width) ** 2) - 1)
    each[[0, -1]] *= 4
    cost = dict(zip(robot.keypoints, each.sum(axis=0)))
    body, arms = blocks_of(robot, collision=False)
    problem.take(body, x)
    legs = sum(cost[f"{side}_{joint}"] for side in ("left", "right") for joint in ("hip", "knee", "ankle"))
    shoulders = cost["left_shoulder"] + cost["right_shoulder"]
    assert problem.evaluate(x, w) == pytest.approx(legs + 3 * shoulders)
    problem.take(arms, x)
    far = sum(cost[f"{side}_{joint}"] for side in ("left", "right") for joint in ("elbow", "wrist"))
    assert problem.evaluate(x, w) == pytest.approx(shoulders + far)


def test_ankles_should_step_as_the_humans_do(robot):
    """The cost by hand: pseudo-Huber of how far the steps of both ankles are from the human's."""
    clip = curated("walk", seconds=1.0)
    target = make_target(clip.motion, clip.contact, robot)
    problem = _problem(target, np.zeros((8, 4)), robot, ALL, SolveCfg(), 0, 8)
    x = _start(target, robot)[:8] + np.random.default_rng(0).normal(0, 0.1, (8, 6 + robot.n_joints))
    root = rot.multiply(rot.from_rotvec(x[:, 3:6]), target.root_quat[:8])
    keypoints = points_of(robot, robot.keypoint_body, robot.keypoint_offset)
    place = point_positions(robot, keypoints, path_of(robot, x[:, :3], root, x[:, 6:]))
    ankles = [robot.keypoints.index(f"{side}_ankle") for side in ("left", "right")]
    apart = np.diff((place - problem.target.keypoints)[:, ankles], axis=0)
    problem.take(blocks_of(robot, collision=False)[0], x)
    each = 0.03**2 * (np.sqrt(1 + (apart**2).sum(axis=-1) / 0.03**2) - 1)
    assert problem.evaluate(x, only("ankle step", 3.0)) == pytest.approx(3.0 * each.sum())


@pytest.mark.parametrize("method", ["physink+collision", "physink+dynamics"])
def test_a_sole_that_is_let_go_does_not_leap(method):
    """A person whose right foot creeps while it counts as standing: the robot's stays, and catches up bit by bit."""
    robot, clip = load_robot("g1"), curate(generate("stand", 3.0, 0).motion, CurateCfg(preset="dynamic"))
    frames = len(clip.motion)
    hip = np.interp(np.arange(frames), [20, 50], [0.0, 0.15])
    quat = clip.motion.joint_quat.copy()
    swing = rot.from_rotvec(np.stack([-hip, np.zeros(frames), np.zeros(frames)], axis=1))
    quat[:, INDEX["right_hip"]] = rot.multiply(quat[:, INDEX["right_hip"]], swing)
    ratio = np.ones((frames, 4))
    ratio[50:, 2:] = 0.0
    made = retarget_motion(replace(clip.motion, joint_quat=quat), FootContacts(ratio, clip.motion.fps), robot, method)
    assert made.report["metrics"]["non_skating"] == 100.0
    assert made.report["metrics"]["ankle_speed_ratio"] < 1.5


def test_every_unknown_that_moves_a_point_is_solved_for_exactly_once(robot):
    body, arms = blocks_of(robot, collision=True)
    assert sorted([*body.unknowns, *arms.unknowns]) == list(range(6 + robot.n_joints))
    names = [robot.joint_names[i - 6] for i in arms.unknowns]
    assert all(any(part in name for part in ("shoulder", "elbow", "wrist")) for name in names)
    counted = [*body.keypoints, *arms.keypoints]
    assert {robot.keypoints[k] for k in counted} == set(robot.keypoints) - {"pelvis"}
    assert {*body.links, *arms.links} == set(range(12))


def without_collision(stage, losses):
    """The weights of all other terms."""
    found = weights_at(stage, losses)
    others = np.array([term.name != "collision" for term in TERMS], dtype=float)
    return found._replace(weight=found.weight * others[:, None])


def test_arms_give_way_and_the_body_does_not(monkeypatch):
    """The G1's hands hang in its thighs as a human's do not: they move aside, and the body stays as it was."""
    clip, robot = curated("lunge", seconds=2.0, seed=1), load_robot("g1")
    clear = retarget_motion(clip.motion, clip.contact, robot, "physink+collision")
    monkeypatch.setattr(physink, "weights_at", without_collision)
    free = retarget_motion(clip.motion, clip.contact, robot, "physink+collision")
    deep = [self_penetration(robot, m) for m in (free, clear)]
    assert free.report["metrics"]["self_penetration"] == pytest.approx(100 * np.mean(deep[0] > 0.01))
    assert np.mean(deep[0] > 0.01) > 0.5
    assert deep[1].max() < 0.01
    body, arms = (block.unknowns for block in blocks_of(robot, collision=True))
    np.testing.assert_allclose(clear.root_pos, free.root_pos, atol=0.01)
    np.testing.assert_allclose(clear.joint_pos[:, body[6:] - 6], free.joint_pos[:, body[6:] - 6], atol=0.05)
    assert np.abs(clear.joint_pos - free.joint_pos)[:, arms - 6].max() > 0.05


def test_the_adapted_body_has_the_robots_bones(robot):
    body = adapted_body(generate("stand", 1.0, 4).motion.body, robot)
    keypoints = shared_keypoints(robot)
    joints = body.joints - body.joints[0]
    for side in ("left", "right"):
        np.testing.assert_allclose(joints[INDEX[f"{side}_hip"]], keypoints[f"{side}_hip"], atol=1e-9)
        np.testing.assert_allclose(joints[INDEX[f"{side}_shoulder"]], keypoints[f"{side}_shoulder"], atol=1e-9)
        for a, b in (("hip", "knee"), ("knee", "ankle"), ("shoulder", "elbow"), ("elbow", "wrist")):
            mine = np.linalg.norm(joints[INDEX[f"{side}_{b}"]] - joints[INDEX[f"{side}_{a}"]])
            robots = np.linalg.norm(keypoints[f"{side}_{b}"] - keypoints[f"{side}_{a}"])
            assert mine == pytest.approx(robots, abs=1e-9)


def test_a_motion_that_the_robot_itself_made_is_recovered(robot):
    """Targets taken from the robot's own kinematics: the solver has to find points where they were."""
    clip = curated("reach", seconds=1.5, seed=2)
    made = retarget_motion(clip.motion, clip.contact, robot, "sink+feasibility")
    points = points_of(robot, *robot_points(robot))
    place = point_positions(robot, points, made)
    target = make_target(clip.motion, clip.contact, robot)
    joints = target.motion.pose.position.copy()
    for k, name in enumerate(robot.keypoints):
        joints[:, INDEX[name]] = place[:, k]
    pose = type(target.motion.pose)(joints, target.motion.pose.rotation)
    known = replace(target)
    object.__setattr__(known, "motion", _WithPose(target.motion, pose))
    cfg = SolveCfg(max_steps=30, tolerance=1e-9)
    found = solve(known, np.zeros((len(clip.motion), 4)), robot, FAMILY["sink+feasibility"], cfg)
    again = point_positions(robot, points, found.trajectory)
    assert np.linalg.norm(again[:, :13] - place[:, :13], axis=-1).max() < 0.01


class _WithPose(HumanMotion):
    """A motion whose joints are where we say, not where its bones put them."""

    def __init__(self, motion, pose):
        self.__dict__.update(motion.__dict__)
        self.__dict__["pose"] = pose


def moved(clip, angle, shift):
    turn = rot.from_axis("z", angle)
    quat = clip.motion.joint_quat.copy()
    quat[:, 0] = rot.multiply(turn, quat[:, 0])
    return replace(clip.motion, root_pos=rot.rotate(turn, clip.motion.root_pos) + shift, joint_quat=quat), turn


def test_the_optimum_does_not_depend_on_heading_or_place(robot):
    clip = curated("walk", seconds=2.0)
    shift = np.array([5.0, -3.0, 0.0])
    there, turn = moved(clip, 1.9, shift)
    here = retarget_motion(clip.motion, clip.contact, robot, "physink")
    other = retarget_motion(there, clip.contact, robot, "physink")
    np.testing.assert_allclose(other.joint_pos, here.joint_pos, atol=2e-3)
    scale = here.report["scale"]
    np.testing.assert_allclose(other.root_pos, rot.rotate(turn, here.root_pos) + scale * shift, atol=2e-3)


def test_the_optimum_does_not_depend_on_left_and_right(robot):
    clip = curated("kick", seconds=2.0, seed=1)
    here = retarget_motion(clip.motion, clip.contact, robot, "physink")
    mirrored = retarget_motion(clip.motion.mirror(), clip.contact.mirror(), robot, "physink")
    np.testing.assert_allclose(mirrored.root_pos, here.root_pos * [1, -1, 1], atol=5e-3)
    for name in ("fidelity", "non_floating", "non_skating", "position_error_cm"):
        assert mirrored.report["metrics"][name] == pytest.approx(here.report["metrics"][name], abs=1.0)


@pytest.mark.parametrize("kind", ["jump", "lunge", "twist"])
@pytest.mark.slow
def test_limits_are_never_crossed_and_contact_holds(robot, kind):
    clip = curated(kind, seconds=4.0, seed=3)
    out = retarget_motion(clip.motion, clip.contact, robot, "physink")
    scores = out.report["metrics"]
    assert scores["feasibility"] == 100.0
    assert (out.joint_pos >= 0.98 * robot.lower).all()
    assert (out.joint_pos <= 0.98 * robot.upper).all()
    assert min(scores["non_floating"], scores["non_penetration"]) > 99.5
    assert scores["stance_roll_deg"] < 3


def test_feet_that_swing_low_are_held_by_the_papers_contacts_and_not_by_what_stands():
    """Held, they have to leap."""
    motion, robot = generate("walk", seconds=4.0, seed=0).motion, load_robot("g1")
    clips = [curate(motion, CurateCfg(contacts=name)).clips[0] for name in ("paper", "stance")]
    held, free = (retarget_motion(clip.motion, clip.contact, robot, "physink") for clip in clips)
    for clip, made in zip(clips, (held, free), strict=True):
        assert (made.contact_used == (clip.contact.ratio > 0.5)).all()
    assert ((held.contact_used > 0) & (free.contact_used == 0)).any()
    assert free.report["metrics"]["position_error_cm"] < held.report["metrics"]["position_error_cm"]
    assert free.report["metrics"]["residual_contact"] < 0.5 * held.report["metrics"]["residual_contact"]


@pytest.mark.slow
def test_each_added_loss_improves_its_own_metric(robot):
    clip = curated("walk", seconds=4.0, seed=1)
    score = {m: retarget_motion(clip.motion, clip.contact, robot, m).report["metrics"] for m in FAMILY}
    assert score["sink+feasibility"]["feasibility"] >= score["sink"]["feasibility"]
    for name in ("non_floating", "non_penetration"):
        assert score["sink+ground"][name] > score["sink+feasibility"][name]
    assert score["physink"]["non_skating"] > score["sink+ground"]["non_skating"]


def test_the_same_bits_on_every_run():
    clip = curated("walk", seconds=2.0)
    robot = load_robot("g1")
    a, b = (retarget_motion(clip.motion, clip.contact, robot) for _ in range(2))
    assert a.joint_pos.tobytes() == b.joint_pos.tobytes()


@pytest.mark.slow
def test_pieces_agree_with_the_whole():
    """A long clip is solved in windows; a short one may be too, and has to come out nearly the same."""
    clip = curated("walk", seconds=8.0, seed=2)
    robot = load_robot("g1")
    whole = retarget_motion(clip.motion, clip.contact, robot, "physink")
    pieces = retarget_motion(clip.motion, clip.contact, robot, "physink", SolveCfg(window=110, overlap=40))
    assert np.abs(pieces.joint_pos - whole.joint_pos).mean() < 0.02
    assert np.linalg.norm(pieces.root_pos - whole.root_pos, axis=1).max() < 0.03
    for name in ("fidelity", "feasibility", "non_floating", "non_skating"):
        assert pieces.report["metrics"][name] > whole.report["metrics"][name] - 1.5


@pytest.mark.parametrize(("seconds", "fps"), [(1.0, 30.0), (2.0, 50.0)])
def test_other_lengths_and_rates(seconds, fps):
    clip = curate(generate("walk", seconds, 0).motion)
    motion = replace(clip.motion, fps=fps)
    out = retarget_motion(motion, FootContacts(clip.contact.ratio, fps), load_robot("g1"), "physink")
    assert out.fps == fps
    assert out.report["metrics"]["feasibility"] == 100.0


def test_an_impossible_motion_is_flagged_and_finite():
    """A person who spins and teleports: never an exception, never NaN."""
    clip = curated("stand", seconds=2.0)
    rng = np.random.default_rng(0)
    wild = replace(
        clip.motion,
        root_pos=clip.motion.root_pos + rng.normal(0, 1.0, clip.motion.root_pos.shape),
        joint_quat=rot.normalize(rng.normal(size=clip.motion.joint_quat.shape)),
    )
    out = retarget_motion(wild, clip.contact, load_robot("g1"))
    assert np.isfinite(out.joint_pos).all()
    assert out.report["flags"]


def test_a_solve_that_is_cut_short_says_so():
    clip, robot = curated("walk", seconds=2.0), load_robot("g1")
    cut = retarget_motion(clip.motion, clip.contact, robot, "physink", SolveCfg(max_steps=1))
    assert cut.report["flags"][0] == "solver: it stopped before it had settled"
    done = retarget_motion(clip.motion, clip.contact, robot, "physink")
    assert not any("settled" in flag for flag in done.report["flags"])


def test_a_box_as_capsules_reaches_half_way_from_its_face_to_its_edge():
    """Feet are boxes; capsules inside them would let edges pass through each other."""
    robot = load_robot("g1")
    model = mujoco.MjModel.from_xml_path(str(robot.model_file))
    thin = model.geom("left_ankle_roll_collision").size.min()
    capsules = capsules_of(robot)
    foot = [robot.body_names[b] == "left_ankle_roll_link" for b in capsules.body]
    np.testing.assert_allclose(capsules.radius[foot], thin * (1 + np.sqrt(2)) / 2)


def test_soles_below_the_ground_cost_in_every_frame_and_soles_above_it_do_not(robot):
    """No contact anywhere: what is left of the ground is that nobody goes through it."""
    clip = curated("walk", seconds=1.0)
    target = make_target(clip.motion, clip.contact, robot)
    problem = _problem(target, np.zeros((8, 4)), robot, ALL, SolveCfg(), 0, 8)
    w = only("penetration", 2.0)
    body, _ = blocks_of(robot, collision=False)
    for shift in (-0.1, 0.5):
        x = _start(target, robot)[:8]
        x[:, 2] += shift
        root = rot.multiply(rot.from_rotvec(x[:, 3:6]), target.root_quat[:8])
        soles = points_of(robot, robot.sole_body, robot.sole_point)
        z = point_positions(robot, soles, path_of(robot, x[:, :3], root, x[:, 6:]))[..., 2]
        problem.take(body, x)
        assert problem.evaluate(x, w) == pytest.approx(np.sum(np.minimum(z, 0) ** 2), abs=1e-12)
        assert (z < 0).any() == (shift < 0)

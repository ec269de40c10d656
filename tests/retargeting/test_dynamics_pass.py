"""Laws of the dynamics pass: what a motion needs, what soles can give, and what becomes of a clip."""

from dataclasses import replace

import mujoco
import numpy as np
import pytest
from scipy.optimize import lsq_linear

from phuma.core import rotations as rot
from phuma.core.trajectory import Trajectory
from phuma.curation import CurateCfg, curate
from phuma.retargeting import dynamics_pass, retarget_motion
from phuma.retargeting.block import whole_block
from phuma.retargeting.config import FAMILY, SolveCfg
from phuma.retargeting.dynamics import dynamics_report
from phuma.retargeting.dynamics_pass import STAGES, DynamicsProblem
from phuma.retargeting.objective import Stage, weights_at
from phuma.retargeting.physink import _problem, _start
from phuma.retargeting.solver import Problem
from phuma.retargeting.support import MOMENT, MOST, ROWS, Support
from phuma.retargeting.target import make_target
from phuma.retargeting.term_data import empty_posed
from phuma.retargeting.wrench import add_wrench_term, empty_wrenches
from phuma.retargeting.wrench_distance import GIVEN_UP, wrench_distance
from phuma.robots import load_robot
from phuma.robots.inverse_dynamics import derivatives, free_model
from phuma.robots.kinematics import pose_bodies, tree_of
from phuma.robots.masses import masses_of, weight_of
from phuma.synth import generate

LOSSES = FAMILY["physink+dynamics"]


@pytest.fixture(scope="module", params=["g1", "h1_2"])
def robot(request):
    return load_robot(request.param)


def curated(kind, seconds=2.0, seed=0):
    return curate(generate(kind, seconds, seed).motion, CurateCfg(preset="dynamic"))


def needed(robot, path):
    """(T, 6) the wrench that a trajectory needs, about its centre of mass, as the pass computes it."""
    frames, tree, masses = len(path), tree_of(robot), masses_of(robot)
    posed = empty_posed(frames, robot.n_bodies, robot.n_joints, 0)
    every = np.arange(robot.n_bodies)
    posed.root_rot[:] = rot.to_matrix(path.root_quat)
    where = posed.body_pos, posed.body_rot, posed.axis, posed.origin
    pose_bodies(tree, every, np.array(path.root_pos), posed.root_rot, np.array(path.joint_pos), *where)
    centre = posed.body_pos + np.einsum("tbij,bj->tbi", posed.body_rot, masses.centre)
    about = np.einsum("tbi,b->ti", centre, masses.mass)
    support = Support(about, np.zeros((frames, MOST, ROWS)), np.zeros(frames, dtype=np.int64))
    x = np.concatenate([path.root_pos, np.zeros((frames, 3)), path.joint_pos], axis=1)
    block = whole_block(robot)
    size = len(block.unknowns)
    now, gradient, band = empty_wrenches(frames), np.zeros(frames * size), np.zeros((frames * size, 3 * size))
    weigh = 1.0, 1e-5, empty_wrenches(frames), False, now, np.zeros(frames)
    add_wrench_term(tree, masses, block, posed, support, x, path.fps, *weigh, gradient, band)
    return now.needed, about


def moving(robot, fps=1000.0, frames=9):
    """Everything in motion: the root on a curve and turning, all joints swinging."""
    time = np.arange(frames)[:, None] / fps
    quat = rot.normalize(
        rot.from_rotvec(np.concatenate([0.4 * np.sin(2 * time), 0.8 * time, 0.3 * np.cos(3 * time)], 1))
    )
    root = np.concatenate([np.sin(time), 0.5 * np.cos(2 * time), 1 + 0.3 * np.sin(3 * time)], axis=1)
    swing = 0.3 * np.sin(4 * time + np.arange(robot.n_joints))
    return Trajectory(robot.name, robot.joint_names, fps, root, quat, robot.default_pose + swing)


def test_the_needed_wrench_is_that_of_mujocos_inverse_dynamics(robot):
    path = moving(robot)
    wrench, about = needed(robot, path)
    model, rates = free_model(robot), derivatives(path)
    data = mujoco.MjData(model)
    for t in range(2, len(path) - 2):
        data.qpos, data.qvel, data.qacc = path.qpos[t], rates.velocity[t], rates.acceleration[t]
        mujoco.mj_inverse(model, data)
        force, moment = data.qfrc_inverse[:3], rot.rotate(path.root_quat[t], data.qfrc_inverse[3:6])
        moment = moment + np.cross(path.root_pos[t] - about[t], force)
        np.testing.assert_allclose(wrench[t, :3], force / weight_of(robot), atol=2e-3)
        np.testing.assert_allclose(wrench[t, 3:], MOMENT * moment / weight_of(robot), atol=2e-3)


def test_what_falls_freely_needs_nothing(robot):
    path = replace(moving(robot, fps=30.0), root_quat=np.tile([1.0, 0, 0, 0], (9, 1)))
    time = np.arange(9) / 30
    fall = np.stack([2 * time, -time, 3 - 0.5 * 9.81 * time**2], axis=1)
    stiff = replace(path, root_pos=fall, joint_pos=np.tile(robot.default_pose, (9, 1)))
    np.testing.assert_allclose(needed(robot, stiff)[0][1:-1], 0, atol=1e-10)


def cone(rng, edges=16):
    """Edges that point up, with levers, and no ankles."""
    out = np.zeros((MOST, ROWS))
    out[:edges, :2] = rng.uniform(-0.6, 0.6, (edges, 2))
    out[:edges, 2] = 1.0
    out[:edges, 3:6] = rng.normal(0, 0.2, (edges, 3))
    return out


def distance(edges, amount, y, barrier=1e-8):
    missing, curvature = np.empty(6), np.empty((6, 6))
    return wrench_distance(edges, amount, y, barrier, missing, curvature), missing, curvature


def test_the_missing_wrench_is_what_non_negative_forces_leave():
    rng = np.random.default_rng(0)
    for _ in range(50):
        edges = cone(rng)
        y = edges[:16, :6].T @ rng.uniform(0, 0.2, 16) + rng.normal(0, 0.05, 6)
        left = y - edges[:16, :6].T @ lsq_linear(edges[:16, :6].T, y, (0, np.inf), method="bvls").x
        _, missing, _ = distance(edges, 16, y)
        if np.linalg.norm(left) < 0.8 * GIVEN_UP:
            np.testing.assert_allclose(missing, left, atol=2e-3)


def test_in_the_air_all_of_it_is_missing_up_to_what_is_given_up():
    edges = np.zeros((MOST, ROWS))
    y = np.array([0.03, 0.0, 0.04, 0, 0, 0])
    np.testing.assert_allclose(distance(edges, 0, y)[1], y, atol=1e-5)
    assert np.linalg.norm(distance(edges, 0, 100 * y)[1]) == pytest.approx(GIVEN_UP, rel=1e-3)


def test_derivatives_of_the_distance_by_finite_differences():
    rng = np.random.default_rng(1)
    for spread in (0.0, 0.05, 0.5):
        edges = cone(rng)
        edges[:16, 6:] = rng.normal(0, 0.1, (16, 4))
        y = edges[:16, :6].T @ np.full(16, 1 / 16) + spread * rng.normal(size=6)
        _, missing, curvature = distance(edges, 16, y, 1e-4)
        for i, step in enumerate(1e-5 * np.eye(6)):
            ahead, back = distance(edges, 16, y + step, 1e-4), distance(edges, 16, y - step, 1e-4)
            assert (ahead[0] - back[0]) / 2e-5 == pytest.approx(missing[i], abs=1e-6)
            np.testing.assert_allclose((ahead[1] - back[1]) / 2e-5, curvature[i], atol=2e-3)


def test_an_ankle_is_free_up_to_its_limit_and_costs_beyond():
    """One edge that loads an ankle by as much as the body's weight times its last row, in units of the limit."""
    missing = []
    for load in (0.5, 0.9, 1.5, 3.0):
        edges = np.zeros((MOST, ROWS))
        edges[0, 2], edges[0, 6] = 1.0, 0.2 * load
        missing.append(distance(edges, 1, np.array([0.0, 0, 1, 0, 0, 0]))[1][2])
    np.testing.assert_allclose(missing[:2], 0, atol=1e-4)
    assert 0.005 < missing[2] < missing[3]


def problem_of(robot, clip, frames):
    target = make_target(clip.motion, clip.contact, robot)
    stance = (clip.contact.ratio > 0.5).astype(float)
    return target, _problem(target, stance, robot, LOSSES, SolveCfg(), 0, frames)


def test_the_gradient_with_forces_is_that_of_the_cost_by_finite_differences(robot):
    clip, frames = curated("kick", seconds=1.0), 8
    target, plain = problem_of(robot, clip, frames)
    fields = [getattr(plain, name) for name in Problem.__dataclass_fields__]
    problem = DynamicsProblem(*fields, robot=robot, fps=target.motion.fps)
    rng = np.random.default_rng(0)
    x = _start(target, robot)[:frames]
    x = x + rng.normal(0, 0.002, x.shape)
    problem.begin(x)
    problem.bear()
    w = weights_at(Stage(), LOSSES)

    def cost(x):
        return sum(problem._evaluate(x, w, STAGES[0], judge=False))

    cost(x)
    gradient = problem._gradient.copy().reshape(frames, -1)
    for _ in range(5):
        way = np.zeros_like(x)
        way[:, problem._block.unknowns] = rng.normal(size=gradient.shape)
        slope = (cost(x + 1e-7 * way) - cost(x - 1e-7 * way)) / 2e-7
        assert slope == pytest.approx(float((gradient * way[:, problem._block.unknowns]).sum()), rel=1e-3)


def test_soles_give_what_they_can_where_they_are_when_a_stage_begins(monkeypatch):
    """Without a label, a corner bears only near the ground: where the first stage leaves it, not where it began."""
    robot, clip = load_robot("g1"), curated("stand", seconds=1.0)
    target, plain = problem_of(robot, clip, 8)
    plain.target.stance[4:] = 0
    x, w = _start(target, robot)[:8], weights_at(Stage(), LOSSES)
    x[:, 2] = robot.default_height
    amounts = []

    def lifted(self, x, w, force):
        amounts.append(self._support.amount.copy())
        self._evaluate(x, w, force, judge=False)
        return x + np.array([0.0, 0.0, 1.0] + [0.0] * (x.shape[1] - 3)), 1

    monkeypatch.setattr(DynamicsProblem, "settle", lifted)
    monkeypatch.setattr(DynamicsProblem, "fidelity", lambda self: 100.0)
    dynamics_pass.refine(plain, robot, target.motion.fps, x, w)
    first, second = amounts
    assert (first > 0).all()
    assert (second[:4] > 0).all(), "what is labelled bears wherever it is"
    assert (second[4:] == 0).all()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["walk", "run", "jump", "kick"])
def test_forces_come_within_reach_and_everything_else_stays(robot, kind):
    """The residual falls to less than half; whatever PhySINK promises holds as before."""
    clip = curated(kind, seconds=3.0)
    before = retarget_motion(clip.motion, clip.contact, robot, "physink+collision")
    after = retarget_motion(clip.motion, clip.contact, robot, "physink+dynamics")
    residual = [np.linalg.norm(dynamics_report(robot, m).residual[:, :3], axis=1).mean() for m in (before, after)]
    assert residual[1] < 0.5 * residual[0]
    old, new = before.report["metrics"], after.report["metrics"]
    assert new["fidelity"] >= old["fidelity"] - 1.0
    for name in ("feasibility", "non_floating", "non_penetration_all", "non_skating"):
        assert new[name] >= old[name] - 0.5, name
    again = retarget_motion(clip.motion, clip.contact, robot, "physink+dynamics")
    np.testing.assert_array_equal(again.joint_pos, after.joint_pos)


def test_where_forces_would_cost_fidelity_they_are_let_go_and_that_is_told(monkeypatch):
    robot, clip = load_robot("g1"), curated("jump", seconds=1.5)
    plain = retarget_motion(clip.motion, clip.contact, robot, "physink+collision")
    monkeypatch.setattr(dynamics_pass, "FIDELITY_LOST", -101.0)  # nothing is ever good enough
    kept = retarget_motion(clip.motion, clip.contact, robot, "physink+dynamics")
    np.testing.assert_array_equal(kept.joint_pos, plain.joint_pos)
    assert any("fidelity" in flag for flag in kept.report["flags"])


@pytest.mark.parametrize(("kind", "others"), [("turn", np.inf), ("run", 2.0)])
def test_slow_joints_keep_their_greatest_speed(kind, others):
    """Hips that turn at 0.3 rad/s: a hundredth of a radian from frame to frame, where the G1's may turn by one. In the
    run no other joint is faster than 2 rad/s."""
    robot = load_robot("g1")
    slow = np.where(["hip_yaw" in name for name in robot.joint_names], 0.3, np.minimum(robot.velocity_limit, others))
    clip = curated(kind)
    made = retarget_motion(clip.motion, clip.contact, replace(robot, velocity_limit=slow))
    scores = made.report["metrics"]
    assert scores["joint_speed"] > 90, "the motion asks for all that the joints have"
    assert scores["feasibility"] == 100.0
    assert scores["residual_contact"] < 0.01


def test_clips_of_one_and_two_frames_have_no_forces_to_mend():
    robot, clip = load_robot("g1"), curated("stand", seconds=1.0)
    for frames in (1, 2, 3):
        short = replace(clip.motion, root_pos=clip.motion.root_pos[:frames], joint_quat=clip.motion.joint_quat[:frames])
        assert len(retarget_motion(short, clip.contact.frames(0, frames), robot, "physink+dynamics")) == frames

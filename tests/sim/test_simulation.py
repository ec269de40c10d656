"""Physics of many robots: what both simulators promise, and that they agree."""

from __future__ import annotations

import copy
import functools
import os
import subprocess
import sys
from dataclasses import fields, replace

import numpy as np
import pytest

pytest.importorskip("mujoco")

import mujoco

from phuma.core import rotations as rot
from phuma.errors import ConfigError
from phuma.sim.model import end_bodies, quiet_bodies, simulation_model
from phuma.sim.mujoco_cpu import MujocoSimulation
from phuma.sim.randomization import RandomizationCfg, draw_randomization, randomized_models
from phuma.sim.state import State
from tests.learning.sample_states import resting

SUBSTEPS = 4
STEEP = np.sin(np.radians(60 - 5))
"""How upright a capsule is on whose contacts with the floor the simulators differ, with a margin of 5 degrees"""


class Numpy:
    """A simulation that takes and gives numpy arrays."""

    def __init__(self, simulation, tensor):
        self.inner, self.tensor = simulation, tensor
        self.qpos, self.qvel = (np.asarray(x) for x in (simulation.qpos, simulation.qvel))

    def put(self, state, rows=None):
        rows = np.arange(len(state)) if rows is None else np.array(rows)
        self.inner.reset(self.tensor(rows), State(*(self.tensor(getattr(state, f.name)) for f in fields(State))))

    def step(self, target=None, times=1):
        for _ in range(times):
            self.inner.step(self.tensor(self.qpos[:, 7:].copy() if target is None else target))

    def push(self, linear, angular):
        self.inner.push(self.tensor(linear), self.tensor(angular))

    def state(self, rows=None):
        state = self.inner.state(None if rows is None else self.tensor(np.array(rows)))
        return State(*(np.asarray(getattr(state, f.name)) for f in fields(State)))

    def touching(self):
        return np.asarray(self.inner.touching())

    def diverged(self):
        return np.asarray(self.inner.diverged())


def native(robot, robots, substeps=SUBSTEPS, randomization=None, threads=1):
    return Numpy(MujocoSimulation(robot, robots, substeps, threads, randomization), np.asarray)


def warp(robot, robots, substeps=SUBSTEPS, randomization=None):
    """Compiles for a minute when it runs for the first time on a machine: warp keeps what it compiled."""
    pytest.importorskip("mujoco_warp")
    import torch

    from phuma.sim.mujoco_warp import WarpSimulation

    simulation = WarpSimulation(robot, robots, substeps, randomization=randomization)
    return Numpy(simulation, lambda x: torch.as_tensor(x, dtype=None if x.dtype == int else torch.float32))


@pytest.fixture(params=["native", pytest.param("warp", marks=pytest.mark.warp)])
def simulate(request):
    return {"native": native, "warp": warp}[request.param]


@functools.cache
def floor_model(robot):
    return simulation_model(robot, SUBSTEPS)


def rested(robot, robots=1):
    return resting(robots, robot.n_joints, len(robot.key_bodies))


def lowest(model, state):
    """(E,) m: the height of the lowest point of each robot."""
    data, out = mujoco.MjData(model), []
    for pos, quat, joints in zip(state.root_pos, state.root_quat, state.joint_pos):
        data.qpos[:] = np.concatenate([pos, quat, joints])
        mujoco.mj_kinematics(model, data)
        radius, half = model.geom_size[1:, 0], model.geom_size[1:, 1]
        up = np.abs(data.geom_xmat[1:].reshape(-1, 3, 3)[:, 2])
        capsule, box = radius + half * up[:, 2], (up * model.geom_size[1:]).sum(1)
        reach = np.where(model.geom_type[1:] == mujoco.mjtGeom.mjGEOM_BOX, box, capsule)
        out.append((data.geom_xpos[1:, 2] - reach).min())
    return np.array(out)


def on_floor(robot, state, depth=0.001):
    """The same robots with their lowest points that deep in the floor."""
    shift = -depth - lowest(floor_model(robot), state)
    return replace(state, root_pos=state.root_pos + shift[:, None] * [0, 0, 1])


def lying(robot, robots=1):
    """On the back."""
    return on_floor(
        robot, replace(rested(robot, robots), root_quat=np.tile(rot.from_axis("y", -np.pi / 2), (robots, 1)))
    )


def standing(robot, robots=1):
    return on_floor(robot, rested(robot, robots))


def any_poses(robot, robots, seed):
    """Moving, turned and bent at random, within the joints' limits."""
    rng = np.random.default_rng(seed)
    return replace(
        rested(robot, robots),
        root_pos=rng.normal(size=(robots, 3)),
        root_quat=rot.normalize(rng.normal(size=(robots, 4))),
        root_linvel=rng.normal(size=(robots, 3)),
        root_angvel=rng.normal(size=(robots, 3)),
        joint_pos=0.5 * rng.uniform(robot.lower, robot.upper, size=(robots, robot.n_joints)),
        joint_vel=3 * rng.normal(size=(robots, robot.n_joints)),
    )


def joined(*states):
    return State(*(np.concatenate([getattr(s, f.name) for s in states]) for f in fields(State)))


def many_states(robot):
    """64 robots, standing, falling, and moving at random in the air and on the floor, and targets of their joints."""
    rng = np.random.default_rng(5)
    noise = rng.normal(size=(32, robot.n_joints))
    stand = replace(standing(robot, 16), joint_vel=noise[:16])
    tilted = replace(
        rested(robot, 16), joint_pos=0.1 * noise[16:], root_quat=rot.from_axis("x", np.linspace(-1.5, 1.5, 16))
    )
    air = any_poses(robot, 16, 6)
    air = replace(air, root_pos=air.root_pos * [1, 1, 0] + [0, 0, 3])
    state = joined(stand, on_floor(robot, tilted), air, on_floor(robot, any_poses(robot, 16, 7), depth=0.005))
    target = state.joint_pos + 0.3 * rng.normal(size=state.joint_pos.shape)
    return state, target


def steep_on_floor(model, state):
    """(E,) bool: who has a steep capsule within reach of the floor."""
    data, out = mujoco.MjData(model), []
    capsule = model.geom_type[1:] == mujoco.mjtGeom.mjGEOM_CAPSULE
    for pos, quat, joints in zip(state.root_pos, state.root_quat, state.joint_pos):
        data.qpos[:] = np.concatenate([pos, quat, joints])
        mujoco.mj_kinematics(model, data)
        up = np.abs(data.geom_xmat[1:, 8])
        low = data.geom_xpos[1:, 2] - model.geom_size[1:, 0] - model.geom_size[1:, 1] * up
        out.append((capsule & (up > STEEP) & (low < 0.05)).any())
    return np.array(out)


def plain(robot, robots=1):
    """A randomization that changes nothing."""
    ones = np.ones((robots, robot.n_joints))
    return replace(
        draw_randomization(np.random.default_rng(0), robots, robot.n_joints),
        stiffness=ones, damping=ones, com=np.zeros((robots, 3)),
        friction=np.ones(robots),
    )  # fmt: skip


def momentum(model, simulation, row=0):
    """(3,) m/s of the whole robot's centre of mass."""
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = simulation.qpos[row], simulation.qvel[row]
    mujoco.mj_forward(model, data)
    mujoco.mj_subtreeVel(model, data)
    return data.subtree_linvel[1].copy()


# The two agree.


@pytest.mark.warp
@pytest.mark.parametrize("varied", [False, True], ids=["plain", "varied"])
def test_both_simulators_make_the_same_of_64_states(g1, varied):
    """Within what single precision makes of stiff contacts: at most 9e-6 m or rad and 2e-3 m/s or rad/s were seen.

    On the floor, a capsule that is steeper than 60 degrees has its two directions of friction elsewhere in mujoco_warp,
    and the friction of both simulators is a pyramid: one of two answers of equal worth, up to some rad/s apart.
    """
    state, target = many_states(g1)
    randomization = draw_randomization(np.random.default_rng(1), len(state), g1.n_joints) if varied else None
    a, b = native(g1, len(state), randomization=randomization), warp(g1, len(state), randomization=randomization)
    for simulation in (a, b):
        simulation.put(state)
        simulation.step(target)
    same = ~steep_on_floor(a.inner.model, state) & ~steep_on_floor(a.inner.model, a.state())
    assert same.sum() > 56
    np.testing.assert_allclose(b.qpos[same], a.qpos[same], atol=2e-5, rtol=0)
    np.testing.assert_allclose(b.qvel[same], a.qvel[same], atol=5e-3, rtol=0)
    np.testing.assert_allclose(b.touching()[same], a.touching()[same], atol=0.2, rtol=1e-3)
    assert (a.touching() > 1).sum() > 20
    ours, theirs = a.state()[same], b.state()[same]
    np.testing.assert_allclose(np.abs((ours.body_quat * theirs.body_quat).sum(-1)), 1, atol=1e-6)
    for name in ("root_pos", "root_quat", "joint_pos", "body_pos"):
        np.testing.assert_allclose(getattr(theirs, name), getattr(ours, name), atol=2e-5, rtol=0, err_msg=name)
    for name in ("root_linvel", "root_angvel", "joint_vel", "body_linvel", "body_angvel"):
        np.testing.assert_allclose(getattr(theirs, name), getattr(ours, name), atol=5e-3, rtol=0, err_msg=name)


def test_two_threads_give_the_same_as_one(g1):
    state, target = many_states(g1)
    one, two = (native(g1, len(state), threads=threads) for threads in (1, 2))
    for simulation in (one, two):
        simulation.put(state)
        simulation.step(target, times=3)
    np.testing.assert_array_equal(one.qpos, two.qpos)
    np.testing.assert_array_equal(one.touching(), two.touching())


# What both promise.


def hold_to_mujoco(robot, simulation, rows):
    """The state of these robots is what MuJoCo makes of their coordinates."""
    state, model = simulation.state(rows), simulation.inner.model
    for k, row in enumerate(rows):
        data = mujoco.MjData(model)
        data.qpos[:], data.qvel[:] = simulation.qpos[row], simulation.qvel[row]
        mujoco.mj_forward(model, data)
        qpos = np.concatenate([state.root_pos[k], state.root_quat[k], state.joint_pos[k]])
        qvel = np.concatenate([state.root_linvel[k], state.root_angvel[k], state.joint_vel[k]])
        np.testing.assert_allclose(qpos, data.qpos, atol=1e-6)
        np.testing.assert_allclose(qvel, data.qvel, rtol=1e-6)
        for b, name in enumerate(robot.key_bodies):
            body = model.body(name).id
            velocity = np.empty(6)
            mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_XBODY, body, velocity, 0)
            np.testing.assert_allclose(state.body_pos[k, b], data.xpos[body], atol=1e-5)
            assert abs(state.body_quat[k, b] @ data.xquat[body]) == pytest.approx(1, abs=1e-6)
            np.testing.assert_allclose(state.body_angvel[k, b], velocity[:3], atol=1e-4)
            np.testing.assert_allclose(state.body_linvel[k, b], velocity[3:], atol=1e-4)


def test_the_state_after_anything_is_mujocos_own(g1, simulate):
    simulation = simulate(g1, 3)
    simulation.put(any_poses(g1, 3, 2))
    hold_to_mujoco(g1, simulation, [2, 0])
    simulation.step()
    hold_to_mujoco(g1, simulation, [2, 0])
    simulation.push(np.ones((3, 3)), np.ones((3, 3)))
    hold_to_mujoco(g1, simulation, [2, 0])
    simulation.put(any_poses(g1, 1, 3), rows=[0])
    hold_to_mujoco(g1, simulation, [1, 0])


def test_a_state_that_was_given_out_does_not_change_any_more(g1, simulate):
    simulation = simulate(g1, 2)
    simulation.put(any_poses(g1, 2, 3))
    state = simulation.inner.state()
    before = {f.name: np.array(getattr(state, f.name).tolist()) for f in fields(State)}
    simulation.step()
    for name, value in before.items():
        np.testing.assert_array_equal(getattr(state, name), value.astype(np.float32), err_msg=name)


def test_reset_puts_the_rows_and_no_others(g1, simulate):
    simulation, new = simulate(g1, 4), any_poses(g1, 2, 4)
    simulation.put(any_poses(g1, 4, 5))
    simulation.step()
    before = simulation.state()
    simulation.put(new, rows=[3, 1])
    after = simulation.state()
    for f in fields(State):
        np.testing.assert_array_equal(getattr(after, f.name)[[0, 2]], getattr(before, f.name)[[0, 2]])
    for name in ("root_pos", "root_quat", "root_linvel", "root_angvel", "joint_pos", "joint_vel"):
        np.testing.assert_allclose(getattr(after, name)[[3, 1]], getattr(new, name), atol=1e-6, err_msg=name)


def test_what_a_robot_did_before_its_reset_is_forgotten(g1, simulate):
    simulation = simulate(g1, 2)
    simulation.put(any_poses(g1, 2, 8))
    simulation.put(lying(g1), rows=[0])
    simulation.step(times=3)
    simulation.put(lying(g1, 2))
    simulation.step(target=np.zeros((2, g1.n_joints)))
    np.testing.assert_array_equal(simulation.qvel[0], simulation.qvel[1])


def test_a_push_adds_to_the_roots_velocities(g1, simulate):
    simulation, state = simulate(g1, 2), any_poses(g1, 2, 6)
    simulation.put(state)
    linear, angular = np.array([[1.0, 2.0, 3.0], [0, 0, 0]]), np.array([[0.0, 0, 0], [4.0, 5.0, 6.0]])
    simulation.push(linear, angular)
    after = simulation.state()
    np.testing.assert_allclose(after.root_linvel, state.root_linvel + linear, atol=1e-6)
    np.testing.assert_allclose(after.root_angvel, state.root_angvel + angular, atol=1e-6)
    np.testing.assert_allclose(after.joint_vel, state.joint_vel, atol=1e-5)


def test_feet_that_stand_are_no_touch_and_a_trunk_that_lies_is(g1, simulate):
    state = joined(standing(g1), lying(g1))
    simulation = simulate(g1, 2)
    simulation.put(state)
    simulation.step(np.zeros((2, g1.n_joints)), times=10)
    touching = dict(zip(quiet_bodies(g1), simulation.touching().T))
    assert touching.keys() == set(g1.body_names) - set(end_bodies(g1))
    assert {name for name in end_bodies(g1) if "ankle" in name or "wrist" in name} == set(end_bodies(g1))
    assert max(force[0] for force in touching.values()) == 0
    assert simulation.qpos[0, 2] == pytest.approx(state.root_pos[0, 2], abs=0.01), "the feet hold it"
    weight = 9.81 * simulation.inner.model.body_mass.sum()
    assert 100 < touching["torso_link"][1] < weight
    assert 30 < touching["pelvis"][1] < weight


@pytest.mark.parametrize("substeps", [1, 4])
def test_divergence_is_noticed_and_leaves_the_last_good_state(g1, simulate, substeps, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    simulation = simulate(g1, 5, substeps)
    simulation.put(standing(g1, 5))
    capfd.readouterr()
    target = np.zeros((5, g1.n_joints))
    simulation.qvel[1] = 1e9
    simulation.qvel[2, 8] = np.nan
    target[3, 4] = np.nan
    before = simulation.qpos.copy(), simulation.qvel.copy()
    simulation.step(target)
    assert simulation.diverged().tolist() == [False, True, True, True, False]
    for value, old in zip((simulation.qpos, simulation.qvel), before):
        np.testing.assert_array_equal(value[1:4], old[1:4])
        assert (value[[0, 4]] != old[[0, 4]]).any(1).all()
        np.testing.assert_array_equal(value[0], value[4])
    target[3, 4] = 0
    simulation.step(target)
    assert simulation.diverged().tolist() == [False, True, True, False, False], "of the last step"
    simulation.put(standing(g1, 2), rows=[1, 2])
    assert not simulation.diverged().any()
    simulation.step(target)
    assert not simulation.diverged().any()
    np.testing.assert_array_equal(simulation.qvel[1], simulation.qvel[2])
    assert "WARNING" not in "".join(capfd.readouterr())
    assert os.listdir() == []


def test_a_robot_that_diverged_goes_on_once_there_is_a_reason(g1, simulate):
    simulation, push = simulate(g1, 2), np.array([[1e9, 0, 0], [0, 0, 0]])
    simulation.put(standing(g1, 2))
    for times, diverged in ((1, True), (-1, False)):
        simulation.push(times * push, times * push)
        simulation.step()
        assert simulation.diverged().tolist() == [diverged, False]


def test_a_warning_of_mujoco_is_heard_again_after_a_step(g1):
    heard = []
    mujoco.set_mju_user_warning(heard.append)
    try:
        native(g1, 1).step()
        assert mujoco.get_mju_user_warning() is not None
        mujoco.get_mju_user_warning()("still here")
    finally:
        mujoco.set_mju_user_warning(None)
    assert heard == ["still here"]


def test_robots_do_not_see_each_other(g1, simulate):
    """They lie in each other. In mujoco_warp the contacts of all are one list, so their order is another: rounding."""
    alone, together = simulate(g1, 1), simulate(g1, 3)
    alone.put(lying(g1))
    together.put(joined(standing(g1), lying(g1), standing(g1)))
    for simulation in (alone, together):
        simulation.step(np.zeros((len(simulation.qpos), g1.n_joints)), times=5)
    np.testing.assert_allclose(together.qpos[1], alone.qpos[0], atol=1e-5)
    np.testing.assert_allclose(together.touching()[1], alone.touching()[0], atol=0.1)


@pytest.mark.warp
def test_more_contacts_than_there_is_room_for_count_as_divergence(g1, monkeypatch):
    pytest.importorskip("mujoco_warp")
    monkeypatch.setattr("phuma.sim.mujoco_warp.MOST_CONSTRAINTS", 16)
    simulation = warp(g1, 2)
    state = standing(g1, 2)
    simulation.put(replace(state, root_pos=state.root_pos + [[0, 0, 0], [0, 0, 1]]))
    before = simulation.qpos.copy()
    simulation.step()
    assert simulation.diverged().tolist() == [True, False]
    np.testing.assert_array_equal(simulation.qpos[0], before[0])


@pytest.mark.warp
def test_a_device_that_is_not_there_is_refused(g1):
    pytest.importorskip("mujoco_warp")
    from phuma.sim.mujoco_warp import WarpSimulation

    with pytest.raises(ConfigError, match="device 'cuda:77': Invalid device identifier: cuda:77; there are: cpu"):
        WarpSimulation(g1, 1, SUBSTEPS, device="cuda:77")


def test_only_who_asks_for_warp_needs_it():
    code = """
import sys
sys.modules["mujoco_warp"] = None
import phuma.sim.mujoco_cpu
print([name for name in ("torch", "warp") if name in sys.modules])
try:
    import phuma.sim.mujoco_warp
except Exception as e:
    print(type(e).__name__, e)
"""
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.splitlines()
    assert said[0] == "[]"
    assert said[1].startswith("MissingExtraError simulation by mujoco_warp needs mujoco_warp")
    assert "pip install 'phuma[warp]'" in said[1]


# Robots that differ.


def test_a_variation_that_changes_nothing_changes_nothing(g1, simulate):
    state, target = many_states(g1)
    usual, varied = simulate(g1, len(state)), simulate(g1, len(state), randomization=plain(g1, len(state)))
    for simulation in (usual, varied):
        simulation.put(state)
        simulation.step(target)
    np.testing.assert_allclose(varied.qvel, usual.qvel, atol=1e-9)


def with_centre(robot, folder, offset, centred):
    """The robot whose file has the root's centre of mass moved, from where it is or, if `centred`, from the origin."""
    spec = mujoco.MjSpec.from_file(str(robot.model_file))
    root = spec.worldbody.first_body()
    if centred:
        root.ipos, root.iquat = [0, 0, 0], [1, 0, 0, 0]
    root.ipos = root.ipos + offset
    folder.mkdir(exist_ok=True)
    (folder / "model.xml").write_text(spec.to_xml())
    return replace(robot, folder=folder)


@pytest.mark.parametrize("centred", [False, True])
def test_gains_and_centres_of_mass_are_as_if_the_robots_model_had_them(g1, simulate, centred, tmp_path):
    """The robot's own file is changed, and the same robot is varied."""
    rng, robots = np.random.default_rng(3), 2
    robot = with_centre(g1, tmp_path / "usual", np.zeros(3), centred)
    state = any_poses(g1, robots, 9)
    state = replace(state, root_pos=state.root_pos * [1, 1, 0] + [0, 0, 3])
    target = 0.5 * rng.normal(size=(robots, g1.n_joints))
    drawn = draw_randomization(rng, robots, g1.n_joints)
    randomization = replace(plain(g1, robots), stiffness=drawn.stiffness, damping=drawn.damping, com=drawn.com)
    varied, usual = simulate(robot, robots, randomization=randomization), simulate(robot, robots)
    for simulation in (varied, usual):
        simulation.put(state)
        simulation.step(target)
    for e in range(robots):
        other = replace(
            with_centre(g1, tmp_path / "other", randomization.com[e], centred),
            stiffness=g1.stiffness * randomization.stiffness[e],
            damping=g1.damping * randomization.damping[e],
        )
        alone = simulate(other, 1)
        alone.put(state[[e]])
        alone.step(target[[e]])
        np.testing.assert_allclose(varied.qvel[e], alone.qvel[0], atol=1e-3)
        assert np.abs(varied.qvel[e, :6] - usual.qvel[e, :6]).max() > 0.01
        assert np.abs(varied.qvel[e, 6:] - usual.qvel[e, 6:]).max() > 0.1


def test_a_robot_that_slides_on_its_feet_is_slowed_by_friction_alone(g1, simulate):
    """The floor takes away  mu  times the momentum that it gives upwards."""
    friction = np.array([0.3, 0.6])
    simulation = simulate(g1, 2, randomization=replace(plain(g1, 2), friction=friction))
    simulation.put(standing(g1, 2))
    still = np.zeros((2, g1.n_joints))
    simulation.step(still, times=3)
    simulation.push(np.tile([3.0, 0, 0], (2, 1)), np.zeros((2, 3)))
    model = simulation.inner.model
    before = np.array([momentum(model, simulation, row) for row in range(2)])
    simulation.step(still, times=3)
    after = np.array([momentum(model, simulation, row) for row in range(2)])
    given = after - before
    np.testing.assert_allclose(-given[:, 0] / (given[:, 2] + 9.81 * 0.06), friction, rtol=0.03)


def test_each_robot_has_its_own_values_and_the_given_model_stays_as_it_was(g1):
    model = simulation_model(g1, SUBSTEPS)
    before = model.geom_friction.copy(), model.body_ipos.copy(), model.actuator_gainprm.copy()
    randomization = draw_randomization(np.random.default_rng(4), 3, g1.n_joints)
    for e, own in enumerate(randomized_models(model, g1, randomization)):
        assert (own.geom_friction[:, 0] == randomization.friction[e]).all()
        np.testing.assert_allclose(own.body_ipos[1], model.body_ipos[1] + randomization.com[e])
    for name, values in zip(("geom_friction", "body_ipos", "actuator_gainprm"), before):
        np.testing.assert_array_equal(getattr(model, name), values)


def test_masses_are_as_if_the_robots_model_had_them(g1):
    """MuJoCo derives the same from a model with these masses; the facts say how much more the whole robot weighs."""
    cfg = RandomizationCfg(mass=(0.8, 1.2))
    drawn = draw_randomization(np.random.default_rng(5), 2, g1.n_joints, cfg, g1.n_bodies)
    model = simulation_model(g1, SUBSTEPS)
    for e, own in enumerate(randomized_models(model, g1, drawn)):
        np.testing.assert_allclose(own.body_mass[1:], model.body_mass[1:] * drawn.mass[e])
        np.testing.assert_allclose(own.body_inertia[1:], model.body_inertia[1:] * drawn.mass[e][:, None])
        again = copy.copy(own)
        mujoco.mj_setConst(again, mujoco.MjData(again))
        np.testing.assert_allclose(own.body_subtreemass, again.body_subtreemass)
        assert drawn.facts(g1)[e, 3] == pytest.approx(own.body_mass.sum() / model.body_mass.sum() - 1, abs=1e-6)


def test_facts_of_a_robot_that_is_as_its_model_are_zero(g1):
    assert not plain(g1).facts(g1).any()
    assert plain(g1, 3).facts(g1).shape == (3, 5 + 2 * g1.n_joints)

"""Worlds: what each change does to a simulation, the maker's model file, and worlds in a file of a user's own."""

from __future__ import annotations

import copy
import json
import xml.etree.ElementTree as ET
from dataclasses import fields

import mujoco
import numpy as np
import pytest

from phuma.errors import ConfigError, ReadError
from phuma.robots import load_robot
from phuma.sim.kinematics import Kinematics
from phuma.sim.maker_model import MakerSimulation, maker_model
from phuma.sim.model import simulation_model
from phuma.sim.model_differences import model_differences
from phuma.sim.mujoco_cpu import MujocoSimulation
from phuma.sim.world_simulation import simulation_in, world_model
from phuma.sim.worlds import LOOK, MAKER, WORDS, WORLDS, World, world_named
from phuma.sim.worlds_file import CHANGES, read_worlds
from tests.robots.originals import original

SUBSTEPS = 2


@pytest.fixture(scope="module")
def g1():
    return load_robot("g1")


def standing(g1):
    """A state on the floor, a little bent."""
    qpos = np.concatenate([[0, 0, g1.default_height, 1, 0, 0, 0], g1.default_pose])[None]
    given = np.split(qpos, [3, 7], axis=1), np.split(np.zeros((1, 6 + g1.n_joints)), [3, 6], axis=1)
    (pos, quat, joints), (linvel, angvel, speed) = given
    return Kinematics(g1).state(pos, quat, linvel, angvel, joints, speed)


def path(simulation, g1, steps=15):
    """(T, 7 + N) of the robot from its stand under targets that are any."""
    rng, out = np.random.default_rng(0), []
    simulation.reset(np.array([0]), standing(g1))
    for _ in range(steps):
        simulation.step(g1.default_pose + rng.normal(0, 0.2, (1, g1.n_joints)))
        out.append(simulation.qpos[0].copy())
    return np.array(out)


def test_every_change_can_be_told_looked_at_and_written_in_a_file():
    names = [field.name for field in fields(World)]
    assert list(WORDS) == list(LOOK) == list(CHANGES) == names


def test_the_world_of_training_changes_nothing(g1):
    assert world_model(WORLDS["as-trained"], g1, SUBSTEPS) is simulation_model(g1, SUBSTEPS)
    assert str(World()) == "the training's physics"


def test_each_change_of_the_model_is_what_it_says_and_the_shared_model_stays_as_it_was(g1):
    plain = simulation_model(g1, SUBSTEPS)
    before = copy.copy(plain)
    heavy, soft, ice, round_cone = (
        world_model(world, g1, SUBSTEPS)
        for world in (World(mass=1.1), World(gains=0.9), World(friction=0.4), World(cone="elliptic"))
    )
    assert mujoco.mj_getTotalmass(heavy) == pytest.approx(1.1 * mujoco.mj_getTotalmass(plain))

    def forces(model):
        """What a standing robot's weight asks of the root, the motors' torques, and friction of a contact."""
        data = mujoco.MjData(model)
        data.qpos[:] = np.concatenate([[0, 0, g1.default_height - 0.005, 1, 0, 0, 0], g1.default_pose])
        data.qvel[6:], data.ctrl[:] = 0.1, g1.default_pose + 0.05
        mujoco.mj_forward(model, data)
        return data.qfrc_bias[2], data.actuator_force.copy(), data.contact.friction[:, 0], model.opt.cone

    weight, torque, _, cone = forces(plain)
    assert forces(heavy)[0] == pytest.approx(1.1 * weight, rel=1e-3)
    np.testing.assert_allclose(forces(soft)[1], 0.9 * torque, rtol=1e-9)
    sliding = forces(ice)[2]
    assert len(sliding)
    np.testing.assert_allclose(sliding, 0.4)
    assert (cone, forces(round_cone)[3]) == (mujoco.mjtCone.mjCONE_PYRAMIDAL, mujoco.mjtCone.mjCONE_ELLIPTIC)
    for name in ("body_mass", "body_inertia", "actuator_gainprm", "actuator_biasprm", "geom_friction"):
        np.testing.assert_array_equal(getattr(plain, name), getattr(before, name))


def own_model(g1, change, folder):
    """The robot's own model, changed, as a file of somebody else."""
    tree = ET.parse(g1.model_file)
    change(tree.getroot())
    tree.write(folder / "theirs.xml")
    return folder / "theirs.xml"


def reverse_limbs(root):
    """The same robot, its limbs in another order."""
    pelvis = root.find("worldbody/body")
    limbs = pelvis.findall("body")
    for limb in limbs:
        pelvis.remove(limb)
    pelvis.extend(reversed(limbs))


def test_a_model_with_its_joints_in_another_order_moves_as_ours(g1, tmp_path):
    file = own_model(g1, reverse_limbs, tmp_path)
    model = maker_model(file, g1, SUBSTEPS)
    assert [model.joint(i).name for i in range(1, model.njnt)] != list(g1.joint_names)
    theirs = path(MakerSimulation(g1, 1, SUBSTEPS, model), g1)
    ours = path(MujocoSimulation(g1, 1, SUBSTEPS, 1), g1)
    np.testing.assert_allclose(theirs, ours, atol=1e-6)
    assert np.abs(ours[-1] - ours[0]).max() > 0.05
    with pytest.raises(ConfigError, match="in another order"):
        simulation_in(World(model=file, simulator="mujoco_warp"), g1, SUBSTEPS)


def test_joints_that_the_robot_has_not_are_fixed_and_rotors_that_the_file_has_not_are_the_robots(g1, tmp_path):
    def change(root):
        for joint in root.iter("joint"):
            joint.attrib.pop("armature", None)
        hand = next(body for body in root.iter("body") if body.get("name") == g1.body_names[-1])
        finger = ET.SubElement(hand, "body", name="finger", pos="0.05 0 0")
        ET.SubElement(finger, "joint", name="finger", axis="0 1 0", range="-1 1")
        ET.SubElement(finger, "geom", size="0.01", mass="0.01")
        ET.SubElement(root, "keyframe").append(ET.Element("key", qpos=" ".join(["0"] * (8 + g1.n_joints))))

    model = maker_model(own_model(g1, change, tmp_path), g1, SUBSTEPS)
    assert model.nq == 7 + g1.n_joints
    np.testing.assert_allclose(model.dof_armature[6:], g1.armature)
    np.testing.assert_allclose(model.actuator_gainprm[:, 0], g1.stiffness)


def test_joints_that_are_locked_are_at_their_angles(g1, tmp_path):
    bent = load_robot("g1", lock=["elbow*=70", "left_wrist_roll"])
    model = maker_model(own_model(g1, reverse_limbs, tmp_path), bent, SUBSTEPS)
    theirs = path(MakerSimulation(bent, 1, SUBSTEPS, model), bent)
    np.testing.assert_allclose(theirs, path(MujocoSimulation(bent, 1, SUBSTEPS, 1), bent), atol=1e-6)


def small_soles(root):
    """The same robot on shorter and narrower soles, a little heavier, with knees that bend further."""
    for geom in root.iter("geom"):
        if "ankle_roll_collision" in geom.get("name", ""):
            geom.set("size", "0.08 0.03 0.0177")
    for joint in root.iter("joint"):
        if "knee" in joint.get("name", ""):
            joint.set("range", "-0.087267 3")
    root.find("worldbody/body/inertial").set("mass", "5.313")


def test_what_makes_a_makers_file_another_robot_is_told(g1, tmp_path):
    assert model_differences(maker_model(own_model(g1, reverse_limbs, tmp_path), g1, SUBSTEPS), g1) == ()
    (tmp_path / "small").mkdir()
    told = model_differences(maker_model(own_model(g1, small_soles, tmp_path / "small"), g1, SUBSTEPS), g1)
    assert told == (
        "each sole stands on 16.0 x 6.0 cm, ours on 20.8 x 7.5 cm",
        "it weighs 34.8 kg, ours 33.3 kg",
        "2 joints have other ranges, most left_knee_joint: it moves from -5 to 172 degrees, ours from -5 to 165",
    )


def test_a_file_of_another_robot_or_of_none_is_told(g1, tmp_path):
    h1 = load_robot("h1_2")
    with pytest.raises(ReadError, match=r"has no joint 'waist_yaw_joint', which g1 has; is it of another robot\?"):
        maker_model(h1.model_file, g1, SUBSTEPS)
    with pytest.raises(ReadError, match="does not exist"):
        maker_model(tmp_path / "nothing.xml", g1, SUBSTEPS)
    (tmp_path / "text.xml").write_text("a robot")
    with pytest.raises(ReadError, match="is not XML"):
        maker_model(tmp_path / "text.xml", g1, SUBSTEPS)


@pytest.mark.parametrize("name", ["g1", "h1_2"])
def test_unitrees_own_file_is_such_a_world(name):
    robot = load_robot(name)
    model = world_model(World(model=original(name).mjcf, friction=0.7), robot, SUBSTEPS)
    simulation = MakerSimulation(robot, 1, SUBSTEPS, model)
    still = standing(robot)
    simulation.reset(np.array([0]), still)
    for _ in range(10):
        simulation.step(robot.default_pose[None])
    assert not simulation.diverged().any()
    assert simulation.qpos[0, 2] == pytest.approx(robot.default_height, abs=0.05)
    assert mujoco.mj_getTotalmass(model) == pytest.approx(mujoco.mj_getTotalmass(simulation_model(robot, 2)), rel=0.02)


# Worlds of a user's own.


def test_worlds_of_a_file_are_combinations_of_changes(tmp_path):
    file = tmp_path / "worlds.json"
    file.write_text(json.dumps({"ice": {"friction": 0.15}, "tired": {"gains": 0.8, "delay": 1, "model": "x/g1.xml"}}))
    found = read_worlds(file)
    assert found == {"ice": World(friction=0.15), "tired": World(gains=0.8, delay=1, model=tmp_path / "x/g1.xml")}
    assert str(found["tired"]) == "model file g1.xml, gains times 0.8, delay of 1 control step"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (
            '{"ice": {"fricton": 0.1}}',
            r"world 'ice' has an unknown change 'fricton', did you mean 'friction'\?; there are",
        ),
        ('{"ice": {"friction": -1}}', r"friction of world 'ice' is -1; expected a number of 0.01 to 5"),
        ('{"late": {"delay": 1.5}}', r"delay of world 'late' is 1.5; expected an integer of 0 to 25"),
        ('{"late": {"pushes": 1}}', r"pushes of world 'late' is 1; expected true or false"),
        ('{"heavier": {"mass": 1.2}}', r"has a world 'heavier', which is built in; choose another name"),
        ('{"maker": {"mass": 1.2}}', r"has a world 'maker', which is built in"),
        ('{"ice": {}}', r"world 'ice' has no changes"),
        ('{"": {"mass": 1.2}}', r"a world's name is ''; expected a name of"),
        ("[]", r"has no worlds; expected an object like"),
        ("{", r"is not JSON"),
    ],
)
def test_what_is_wrong_in_a_file_is_named(tmp_path, content, said):
    (tmp_path / "worlds.json").write_text(content)
    with pytest.raises(ReadError, match=said):
        read_worlds(tmp_path / "worlds.json")


def test_a_name_with_a_typo_is_guessed():
    with pytest.raises(
        ConfigError, match=r"no world 'fricton-0.4', did you mean 'friction-0.4'\?; there are: as-trained,"
    ):
        world_named("fricton-0.4", WORLDS)
    with pytest.raises(ConfigError, match=r"give it by --model FILE.xml"):
        world_named(MAKER, WORLDS)
    assert world_named("noise-pushes", WORLDS) == World(noise=1.0, pushes=True)

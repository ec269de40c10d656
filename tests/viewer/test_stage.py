"""What viser's scene holds is where the motion is, in its colours, and nothing else. A server without a browser."""

import re
import shutil
from dataclasses import replace
from xml.etree import ElementTree

import mujoco
import numpy as np
import pytest

from phuma.body import open_body
from phuma.core import rotations as rot
from phuma.core.performed_motion import PerformedMotion
from phuma.core.provenance import Provenance
from phuma.core.robot_motion import RobotMotion
from phuma.core.skeleton import INDEX, JOINTS, REGIONS
from phuma.errors import ConfigError
from phuma.robots import load_robot
from phuma.viewer import style
from phuma.viewer.actors import GHOSTLY, SEE_THROUGH, Shown
from phuma.viewer.live import LiveFrame
from phuma.viewer.show import Performer, Show
from phuma.viewer.stage import SPACING, Stage
from tests.motions import smooth_motion
from tests.planted import walk
from tests.robots.posing import compiled

pytest.importorskip("viser")

from phuma.viewer.session import start_viser

pytestmark = pytest.mark.slow

FRAMES, FPS = 12, 30.0
TURN = 0.8  # rad, from x to where everybody faces
RED, GREEN = (0xC8, 0x40, 0x3A), (0x2F, 0x9E, 0x5B)
ROBOTS = ("g1", "h1_2")


def robot_motion(name="g1", frames=FRAMES, skeleton=True, seed=0, turn=TURN):
    """Any pose of any joint, on a path through the world; the human inside is somebody else."""
    robot, dice = load_robot(name), np.random.default_rng(seed)
    time = np.arange(frames) / FPS
    middle, reach = (robot.lower + robot.upper) / 2, (robot.upper - robot.lower) / 2
    joints = middle + 0.8 * reach * np.sin(time[:, None] * 4 + dice.uniform(0, 6, robot.n_joints))
    quat = rot.multiply(rot.from_axis("z", turn + 0.3 * time), rot.from_rotvec(0.2 * np.sin(time)[:, None] * [1, 1, 0]))
    root = np.array([0.5, -0.3, robot.default_height]) + time[:, None] * [1.0, 0.4, 0.05]
    human = smooth_motion(open_body(), frames, seed=seed + 1).pose.position if skeleton else None
    contact = (dice.random((frames, 4)) > 0.5).astype(float)
    return RobotMotion(name, robot.joint_names, FPS, root, quat, joints, contact, human, Provenance("made up", "none"))


def performer(name="g1", motion=None, **more):
    robot = load_robot(name)
    motion = motion or robot_motion(name, **more)
    over, slips = np.zeros((len(motion), robot.n_joints), bool), np.zeros((len(motion), 4), bool)
    return Performer(f"{name}:x", f"{name} by x", robot, motion, over, slips, scores={"fidelity": 99.1})


def person(frames=FRAMES, turn=TURN):
    motion = smooth_motion(open_body(), frames, seed=9, amplitude=0.2)
    turned = motion.joint_quat.copy()
    turned[:, 0] = rot.multiply(rot.from_axis("z", turn), turned[:, 0])
    return replace(motion, joint_quat=turned)


def a_show(performers, human=None, contact=None, **more):
    length = len(human) if human is not None else len(performers[0].motion)
    contact = np.zeros((length, 4)) if contact is None else contact
    return Show(more.pop("title", "walk.bvh"), "0.0 to 0.4 s", FPS, human, contact, tuple(performers), **more)


@pytest.fixture(scope="module")
def server():
    server = start_viser()
    yield server
    server.stop()


@pytest.fixture
def stage(server):
    server.scene.reset()
    return Stage(server)


@pytest.fixture
def node(server):
    """A node of the scene by its name."""

    def found(name):
        handle = named(server, name)
        assert handle is not None, f"no node {name}"
        return handle

    return found


def named(server, name):
    """A node by its name below /world/1, where `1` stands for the clip that is shown; bodies and bones without
    those that they hang from: `robot0/body7`, `robot0/human/bones/neck`."""
    there = [n for n in range(1, 20) if server.scene.get_handle_by_name(f"/world/{n}") is not None]
    assert len(there) <= 1, "a clip was left behind"
    name = name.replace("/world/1/", f"/world/{there[0]}/") if there else name
    if (part := re.fullmatch(r"(.*/(?:robot\d+|bones)/)(body\d+(?:/\w+)?|(?<=bones/)\w+)", name)) is None:
        return server.scene.get_handle_by_name(name)
    nodes = server.scene._handle_from_node_name
    return next((nodes[n] for n in nodes if n.startswith(part[1]) and n.endswith(f"/{part[2]}")), None)


def placed(server, handle):
    """Position and rotation of a node in the motion's own frame, through all nodes of its figure that it hangs from."""
    parts, position, wxyz = handle.name.split("/"), np.zeros(3), rot.IDENTITY
    for k in range(5, len(parts) + 1):
        if (node := server.scene.get_handle_by_name("/".join(parts[:k]))) is not None:
            position = position + rot.rotate(wxyz, np.asarray(node.position, float))
            wxyz = rot.multiply(wxyz, np.asarray(node.wxyz, float))
    return position, wxyz


def ends(server, figure):
    """(22, 3) joints of a skeleton in the motion's own frame, by the ends of its bones."""
    bones = [named(server, f"{figure}/bones/{name}") for name in JOINTS[1:]]
    poses = [placed(server, bone) for bone in bones]
    # A bone's mesh is a cylinder as long as the bone; its first vertices are the cylinder's.
    length = [float(np.asarray(bone.vertices)[:22, 2].max()) for bone in bones]
    out = [place + rot.rotate(turn, np.array([0.0, 0.0, far])) for (place, turn), far in zip(poses, length)]
    return np.array([poses[JOINTS.index("spine1") - 1][0], *out])


def names_there(server):
    """Of all nodes that figures may have."""
    figures = ["human", *(f"robot{k}" for k in range(4))]
    parts = ["", "/path", *(f"/{region}" for region in REGIONS)]
    parts += [f"{of}/bones{joint}" for of in ("", "/human") for joint in ("", *(f"/{name}" for name in JOINTS))]
    for b in range(60):
        parts += [f"/body{b}", *(f"/body{b}/{kind}{k}" for kind in ("shape", "sole") for k in range(6))]
    names = [f"/world/1/{figure}{part}" for figure in figures for part in parts]
    return {name for name in names if named(server, name) is not None}


def state_of(server):
    """All that can be seen of every node, as plain values."""
    out = {}
    for name in names_there(server):
        handle = named(server, name)
        seen = {"position": handle.position, "wxyz": handle.wxyz, "visible": handle.visible, **vars(handle._impl.props)}
        out[name] = {key: np.asarray(value).tolist() for key, value in seen.items()}
    return out


def bodies_there(server, figure, robot):
    """The bodies that are drawn, by number."""
    return [b for b in range(robot.n_bodies) if named(server, f"/world/1/{figure}/body{b}") is not None]


def meshes_of(server, figure, body):
    names = [f"/world/1/{figure}/body{body}/shape{k}" for k in range(6)]
    return [h for h in (named(server, name) for name in names) if h is not None]


def in_world(world, place):
    """Where a place of the motion's own frame is seen."""
    return world.position + rot.rotate(np.asarray(world.wxyz, float), np.asarray(place, float))


def colours_of(server, figure, body):
    return [tuple(int(c) for c in mesh.color) for mesh in meshes_of(server, figure, body)]


@pytest.mark.parametrize("name", ROBOTS)
def test_a_robots_bodies_are_where_mujoco_has_them(stage, server, node, name):
    who = performer(name)
    motion, robot = who.motion, who.robot
    stage.load(a_show([who]))
    model = compiled(robot)
    data = mujoco.MjData(model)
    drawn = bodies_there(server, "robot0", robot)
    assert len(drawn) > 0.8 * robot.n_bodies
    for frame in (0, 5, FRAMES - 1, 3):
        stage.pose(frame)
        data.qpos[:] = np.concatenate([motion.root_pos[frame], motion.root_quat[frame], motion.joint_pos[frame]])
        mujoco.mj_kinematics(model, data)
        for b in drawn:
            body = data.body(robot.body_names[b])
            position, wxyz = placed(server, node(f"/world/1/robot0/body{b}"))
            np.testing.assert_allclose(position, body.xpos, atol=1e-6)
            assert abs(np.dot(wxyz, body.xquat)) == pytest.approx(1, abs=1e-9)


def test_a_live_robot_is_where_its_simulation_has_it_and_then_where_it_was_recorded(stage, server, node):
    """The other figures go on with the frame, and the ground follows the live one."""
    ghost, who = replace(performer(), id="reference", ghost=True), performer(seed=3)
    stage.load(a_show([ghost, who]))
    stage.pose(4)
    before = [np.array(node(f"/world/1/{figure}/body0").position) for figure in ("robot0", "robot1")]
    other = robot_motion(seed=5)
    qpos = np.concatenate([[3.0, 4.0, 0.7], other.root_quat[2], other.joint_pos[2]])
    for fallen, colour in ((False, None), (True, RED)):
        stage.pose_live(who.id, LiveFrame(4, qpos, (), fallen=fallen))
        np.testing.assert_allclose(node("/world/1/robot0/body0").position, before[0])
        np.testing.assert_allclose(node("/world/1/robot1/body0").position, qpos[:3])
        assert (set(colours_of(server, "robot1", 0)) == {RED}) == (colour == RED)
    np.testing.assert_allclose(in_world(server.scene.get_handle_by_name("/world"), [3.0, 4.0, 0.0]), 0, atol=1e-6)
    stage.still = True
    stage.pose_live(who.id, LiveFrame(4, qpos + np.eye(len(qpos))[0], ()))
    np.testing.assert_allclose(in_world(server.scene.get_handle_by_name("/world"), [3.0, 4.0, 0.0]), 0, atol=1e-6)
    stage.still = False
    stage.end_live()
    np.testing.assert_allclose(node("/world/1/robot1/body0").position, before[1])


def test_lines_lie_on_the_floor_where_they_are_drawn(stage, node):
    motion = robot_motion()
    path = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 2.0]])
    led = PerformedMotion.of(motion, contact=motion.contact, human_joints=None, provenance=motion.provenance, path=path)
    stage.load(a_show([performer(motion=led)]))
    np.testing.assert_allclose(np.asarray(node("/world/1/robot0/wanted").points)[:, 1, :2], path[1:])
    for places in (path, path[:2], np.zeros((0, 2)), 2 * path):
        stage.draw_lines({"drawn": (places, style.LATER)})
        line = node("/world/1/drawn")
        assert line.visible == (len(places) > 1)
        if len(places) > 1:
            np.testing.assert_allclose(np.asarray(line.points)[:, :, :2], np.stack([places[:-1], places[1:]], axis=1))
            assert np.asarray(line.points)[:, :, 2].min() > 0


def test_a_robots_meshes_are_its_shapes(stage, server):
    from phuma.robots.shapes import robot_shapes

    who = performer()
    stage.load(a_show([who]))
    for b in bodies_there(server, "robot0", who.robot):
        shapes = robot_shapes(who.robot)[who.robot.body_names[b]]
        drawn = np.concatenate([m.vertices[m.faces] for m in meshes_of(server, "robot0", b)])
        wanted = np.concatenate([s.vertices[s.faces] for s in shapes])
        assert len(drawn) == len(wanted)
        np.testing.assert_allclose(np.sort(drawn.ravel()), np.sort(wanted.ravel()), atol=1e-6)


def test_the_person_is_where_its_joints_and_soles_are(stage, server, node):
    human = person()
    stage.load(a_show([], human))
    for frame in (0, 7, FRAMES - 1, 2):
        stage.pose(frame)
        np.testing.assert_allclose(ends(server, "/world/1/human"), human.pose.position[frame], atol=1e-5)
        soles = human.sole_positions()[frame].reshape(4, -1, 3).mean(axis=1)
        shown = [node(f"/world/1/human/{region}").position for region in REGIONS]
        np.testing.assert_allclose(shown, soles, atol=1e-6)


def test_the_human_inside_a_robot_moves_with_it(stage, server):
    who = performer()
    stage.load(a_show([who], person()))
    for frame in (0, 6, FRAMES - 1):
        stage.pose(frame)
        joints = who.motion.human_joints[frame]
        np.testing.assert_allclose(ends(server, "/world/1/robot0/human"), joints, atol=1e-5)


def test_the_human_inside_is_in_step_when_it_is_seen_again(stage, server):
    who = performer()
    stage.load(a_show([who], person()))
    stage.set_layout("side")
    stage.pose(8)
    stage.set_layout("overlay")
    np.testing.assert_allclose(ends(server, "/world/1/robot0/human"), who.motion.human_joints[8], atol=1e-5)


def test_overlaid_all_are_in_their_own_place_and_side_by_side_they_stand_in_a_row(stage, node):
    stage.load(a_show([performer(), performer("h1_2", seed=4)], person()))
    figures = ["/world/1/human", "/world/1/robot0", "/world/1/robot1"]
    for name in figures:
        np.testing.assert_allclose(node(name).position, 0, atol=1e-12)
    stage.set_layout("side")
    places = np.array([node(name).position for name in figures])
    np.testing.assert_allclose(places.sum(axis=0), 0, atol=1e-9)
    np.testing.assert_allclose(places[:, 2], 0)
    steps = np.diff(places, axis=0)
    np.testing.assert_allclose(np.linalg.norm(steps, axis=1), SPACING)
    np.testing.assert_allclose(steps[0], steps[1])
    # Square to the way that the person faces in its first frame; the first one stands to the left of the others.
    hips = person().pose.position[0, INDEX["left_hip"]] - person().pose.position[0, INDEX["right_hip"]]
    left = np.array([hips[0], hips[1], 0]) / np.hypot(hips[0], hips[1])
    np.testing.assert_allclose(steps[0] / SPACING, -left, atol=1e-6)
    stage.set_layout("overlay")
    np.testing.assert_allclose(node("/world/1/robot1").position, 0, atol=1e-12)


def test_a_layout_moves_whole_figures_and_nothing_within_them(stage, server):
    stage.load(a_show([performer(skeleton=False)], person()))
    stage.pose(4)
    before = state_of(server)
    stage.set_layout("side")
    after = state_of(server)
    figures = {"/world/1/human", "/world/1/robot0"}
    for name in before:
        if name not in figures:
            assert before[name] == after[name], name
        else:
            assert before[name]["position"] != after[name]["position"]
            assert before[name]["wxyz"] == after[name]["wxyz"]


def test_a_layout_that_is_not_there_is_refused(stage):
    with pytest.raises(ConfigError, match="no layout 'stack'; there are: overlay, side"):
        stage.set_layout("stack")
    assert stage.layout == "overlay"


def test_to_follow_moves_the_world_and_nothing_else(stage, server, node):
    human = walk(open_body(), seconds=3.0)
    stage.load(a_show([performer(frames=len(human))], human))
    way = (human.root_pos + robot_motion(frames=len(human)).root_pos) / 2
    assert np.linalg.norm(way[-1] - way[0]) > 1.0
    world, turn = node("/world"), node("/world").wxyz.copy()
    begin = world.position.copy()
    for frame in (0, 40, len(human) - 1):
        stage.set_follow(True)
        stage.pose(frame)
        followed = state_of(server)
        assert np.linalg.norm(in_world(world, way[frame])[:2]) < 0.25, "the figures are in the middle"
        assert world.position[2] == 0
        stage.set_follow(False)
        assert state_of(server) == followed
        np.testing.assert_allclose(world.position, begin, atol=1e-12)
        np.testing.assert_array_equal(world.wxyz, turn)
    assert np.linalg.norm(in_world(world, way[-1])[:2]) > 1.0, "they went away"


@pytest.mark.parametrize("fps", [30, 120])
def test_the_way_that_is_followed_does_not_sway(stage, node, fps):
    """A pelvis that goes to and fro twice a second leaves the world nearly still."""
    human = person(frames=3 * fps, turn=0.0)
    root = np.tile([0.0, 0.0, 0.9], (3 * fps, 1))
    root[:, 1] = 0.1 * np.sin(np.arange(3 * fps) / fps * 4 * np.pi)
    stage.load(a_show([], replace(human, root_pos=root, fps=fps)))
    seen = []
    for frame in range(fps, 2 * fps):
        stage.pose(frame)
        seen.append(node("/world").position.copy())
    assert np.ptp(np.array(seen), axis=0).max() < 0.05


def test_a_joint_beyond_its_limit_turns_its_body_red_and_no_other_and_back(stage, server):
    who = performer()
    robot = who.robot
    j = robot.joint_names.index("left_knee_joint")
    who.over[3, j] = True
    stage.load(a_show([who]))
    drawn = bodies_there(server, "robot0", robot)
    own = {b: colours_of(server, "robot0", b) for b in drawn}
    assert all(RED not in colours for colours in own.values())
    for frame in (2, 3, 4, 3, 0):
        stage.pose(frame)
        for b in drawn:
            red = frame == 3 and b == robot.joint_body[j]
            assert colours_of(server, "robot0", b) == ([RED] * len(own[b]) if red else own[b]), (frame, b)
    stage.pose(3)
    stage.set_shown(Shown(violations=False))
    assert colours_of(server, "robot0", int(robot.joint_body[j])) == own[int(robot.joint_body[j])]


@pytest.mark.parametrize("name", ROBOTS)
def test_a_sole_that_stands_is_green_one_that_slides_red_and_one_in_the_air_is_not_seen(stage, node, name):
    contact = np.zeros((FRAMES, 4))
    contact[1, 0], contact[2, 0], contact[2, 3], contact[4, 1] = 0.6, 1.0, 1.0, 0.5
    who = performer(name, replace(robot_motion(name), contact=contact))
    who.slips[2, 3] = True
    stage.load(a_show([who]))
    soles = [node(f"/world/1/robot0/body{who.robot.sole_body[r]}/sole{r}") for r in range(4)]

    def seen():
        return [tuple(int(c) for c in s.color) if s.visible else None for s in soles]

    expected = {1: [GREEN, None, None, None], 2: [GREEN, None, None, RED], 0: [None] * 4, 4: [None] * 4}
    for frame in (1, 2, 0, 2, 4):
        stage.pose(frame)
        assert seen() == expected[frame], frame
    stage.pose(2)
    stage.set_shown(Shown(violations=False))
    assert seen() == [GREEN, None, None, GREEN]
    stage.set_shown(Shown(contacts=False))
    assert seen() == [None, None, None, RED]


def test_a_ghost_is_pale_where_others_stand_in_its_place_and_is_never_marked(stage, server, node):
    ghost, other = replace(performer(), ghost=True), performer(skeleton=False, seed=3)
    ghost.over[:], ghost.slips[:] = True, True
    stage.load(a_show([replace(ghost, motion=replace(ghost.motion, human_joints=None)), other]))
    drawn = bodies_there(server, "robot0", ghost.robot)

    def opacities(figure):
        return {mesh.opacity for b in drawn for mesh in meshes_of(server, figure, b)}

    assert (opacities("robot0"), opacities("robot1")) == ({GHOSTLY}, {None})
    stage.set_layout("side")
    assert opacities("robot0") == opacities("robot1") == {None}
    for frame in range(FRAMES):
        stage.pose(frame)
        assert not any(RED in colours_of(server, "robot0", b) for b in drawn)
        soles = [node(f"/world/1/robot0/body{b}/sole{r}") for r, b in enumerate(ghost.robot.sole_body)]
        assert not any(sole.visible for sole in soles)


def test_who_gave_up_is_red_from_there_on(stage, server):
    who = replace(performer(), ended=5)
    stage.load(a_show([who]))
    drawn = bodies_there(server, "robot0", who.robot)
    own = {b: colours_of(server, "robot0", b) for b in drawn}
    for frame in (4, 5, FRAMES - 1, 0):
        stage.pose(frame)
        for b in drawn:
            assert colours_of(server, "robot0", b) == ([RED] * len(own[b]) if frame >= 5 else own[b]), (frame, b)
    stage.pose(8)
    stage.set_shown(Shown(violations=False))
    assert {b: colours_of(server, "robot0", b) for b in drawn} == own


def test_a_foot_of_which_nothing_is_to_be_seen_has_soles_all_the_same(stage, node, tmp_path):
    folder = shutil.copytree(load_robot("h1_2").folder, tmp_path / "mine")
    model = ElementTree.parse(folder / "model.xml")
    foot = model.find(".//body[@name='left_ankle_roll_link']")
    for geom in foot.findall("geom"):
        foot.remove(geom)
    model.write(folder / "model.xml")
    contact = np.tile([0.0, 1.0, 1.0, 0.0], (FRAMES, 1))
    motion = replace(robot_motion("h1_2"), contact=contact)
    stage.load(a_show([replace(performer("h1_2", motion), robot=load_robot(folder))]))
    soles = [node(f"/world/1/robot0/body{b}/sole{r}") for r, b in enumerate(load_robot(folder).sole_body)]
    assert [sole.visible for sole in soles] == [False, True, True, False]


@pytest.mark.parametrize("name", ROBOTS)
def test_plates_lie_under_their_half_of_the_foot(stage, node, name):
    robot = load_robot(name)
    stage.load(a_show([performer(name)]))
    for r, region in enumerate(REGIONS):
        plate = node(f"/world/1/robot0/body{robot.sole_body[r]}/sole{r}").vertices
        own, other = robot.sole_point[r], robot.sole_point[r ^ 1]
        middle = plate.mean(axis=0)
        assert np.linalg.norm(middle - own) < np.linalg.norm(middle - other), region
        assert abs(middle[2] - own[2]) < 0.02
        corners = robot.sole_corners[r // 2]
        assert (plate[:, :2] >= corners[:, :2].min(axis=0) - 0.02).all()
        assert (plate[:, :2] <= corners[:, :2].max(axis=0) + 0.02).all()


def test_the_persons_soles_are_green_where_they_stand_and_else_of_their_side(stage, node):
    human, contact = person(), np.zeros((FRAMES, 4))
    contact[3] = [1.0, 0.2, 0.5, 0.51]
    stage.load(a_show([], human, contact))

    def regions():
        return [tuple(int(c) for c in node(f"/world/1/human/{region}").color) for region in REGIONS]

    left, right = (0x2A, 0x6F, 0xBB), (0xD9, 0x72, 0x2E)
    assert regions() == [left, left, right, right]
    stage.pose(3)
    assert regions() == [GREEN, left, right, GREEN]
    stage.set_shown(Shown(contacts=False))
    assert regions() == [left, left, right, right]


def opacities(server, figure, robot):
    return {mesh.opacity for b in bodies_there(server, figure, robot) for mesh in meshes_of(server, figure, b)}


def test_only_a_robot_with_a_skeleton_that_is_seen_inside_is_of_glass(stage, server, node):
    stage.load(a_show([performer(), performer(seed=3, skeleton=False)], person()))
    robot = load_robot("g1")

    def seen():
        return [opacities(server, f"robot{k}", robot) for k in (0, 1)], node("/world/1/robot0/human/bones").visible

    assert seen() == ([{SEE_THROUGH}, {None}], True)
    stage.set_shown(Shown(human=False))
    assert seen() == ([{None}, {None}], False)
    stage.set_shown(Shown())
    stage.set_layout("side")
    assert seen() == ([{None}, {None}], False)
    assert server.scene.get_handle_by_name("/world/1/robot1/human/bones") is None
    stage.set_layout("overlay")
    assert seen() == ([{SEE_THROUGH}, {None}], True)


def test_the_person_itself_is_seen_unless_one_of_the_robots_own_size_is_inside(stage, node):
    def visible():
        return node("/world/1/human").visible, node("/world/1/robot0").visible

    stage.load(a_show([performer()], person()))
    assert visible() == (False, True)
    stage.set_shown(Shown(robots=False))
    assert visible() == (True, False)
    stage.set_shown(Shown(human=False))
    assert visible() == (False, True)
    stage.set_shown(Shown())
    stage.set_layout("side")
    assert visible() == (True, True)
    stage.set_shown(Shown(human=False))
    assert visible() == (False, True)
    np.testing.assert_allclose(node("/world/1/robot0").position, 0, atol=1e-12)  # alone in the row
    stage.set_shown(Shown())
    stage.load(a_show([performer(skeleton=False)], person()))
    stage.set_layout("overlay")
    assert visible() == (True, True)


def test_what_is_shown_is_changed_by_name_and_wrong_names_change_nothing():
    shown = Shown().changed({"human": False, "paths": False})
    assert shown == Shown(human=False, paths=False)
    assert shown.changed({}) == shown
    for wrong in ({"hats": True}, {"human": 1}, {"human": None}, {"human": True, "__class__": True}):
        with pytest.raises(ConfigError, match=r"cannot show .*; there are: human, robots, paths, contacts, violations"):
            shown.changed(wrong)


def test_a_path_goes_from_the_first_root_to_the_last(stage, node):
    for frames in (1, 2, 5, 12, 32):
        human, who = person(frames), performer(frames=frames)
        stage.load(a_show([who], human))
        for name, root in (("human", human.root_pos), ("robot0", who.motion.root_pos)):
            pieces = np.asarray(node(f"/world/1/{name}/path").points)
            np.testing.assert_allclose(pieces[0, 0], root[0], atol=1e-6)
            np.testing.assert_allclose(pieces[-1, 1], root[-1], atol=1e-6)
            np.testing.assert_allclose(pieces[1:, 0], pieces[:-1, 1])
            away = np.linalg.norm(pieces[:, 0, None] - root, axis=-1).min(axis=1)
            np.testing.assert_allclose(away, 0, atol=1e-6)
    assert node("/world/1/robot0/path").visible
    stage.set_shown(Shown(paths=False))
    assert not node("/world/1/robot0/path").visible
    assert not node("/world/1/human/path").visible


def test_another_show_leaves_nothing_of_the_first_behind(stage, server):
    stage.load(a_show([performer("h1_2")], None))
    alone = names_there(server)
    stage.load(a_show([performer(), performer("h1_2", seed=2), performer(seed=5)], person()))
    full = names_there(server)
    assert len(full) > 2 * len(alone)
    stage.load(a_show([performer("h1_2")], None))
    assert names_there(server) == alone


def test_no_node_has_the_name_of_one_that_is_gone(stage, server):
    """A browser would give it the place, the colour and the visibility of the old one."""
    names = set()
    for _ in range(3):
        stage.load(a_show([performer()], person()))
        there = {f"/world/{n}" for n in range(9) if server.scene.get_handle_by_name(f"/world/{n}") is not None}
        assert len(there) == 1
        assert not there & names
        names |= there


def test_another_show_begins_with_its_first_frame_and_keeps_what_was_chosen(stage, server, node):
    stage.set_layout("side")
    stage.set_shown(Shown(paths=False))
    stage.load(a_show([performer(frames=30)], person(30)))
    stage.pose(25)
    who = performer(seed=7)
    stage.load(a_show([who], person()))
    assert stage.frame == 0
    np.testing.assert_allclose(node("/world/1/robot0/body0").position, who.motion.root_pos[0], atol=1e-6)
    assert np.linalg.norm(node("/world/1/robot0").position) == pytest.approx(SPACING / 2)
    assert not node("/world/1/robot0/path").visible


def test_robots_are_told_apart_by_the_colours_that_the_page_names(stage, server):
    stage.load(a_show([performer(), performer(seed=1)]))
    for k in (0, 1):
        named = np.array([int(style.PERFORMERS[k][i : i + 2], 16) for i in (1, 3, 5)])
        for colour in colours_of(server, f"robot{k}", 0):
            np.testing.assert_allclose(
                np.array(colour) / np.linalg.norm(colour), named / np.linalg.norm(named), atol=0.02
            )


def test_the_camera_stands_before_the_figures_and_goes_back_for_more_of_them(stage, server, node):
    human = person()
    camera = server.initial_camera
    stage.load(a_show([performer(), performer(seed=2)], human))
    hips = human.pose.position[0, INDEX["left_hip"]] - human.pose.position[0, INDEX["right_hip"]]
    world = node("/world")
    ahead = in_world(world, [hips[1], -hips[0], 0]) - world.position
    ahead /= np.linalg.norm(ahead)
    np.testing.assert_allclose(ahead, [1, 0, 0], atol=1e-6)  # in every clip, so a camera may stay where it is
    near = np.array(camera.position) - camera.look_at
    assert np.dot(near, ahead) > 1.5, "faces are seen"
    assert 0.3 < camera.look_at[2] < 1.2
    assert camera.position[2] > camera.look_at[2]
    stage.set_layout("side")
    far = np.array(camera.position) - camera.look_at
    assert np.linalg.norm(far) > 1.2 * np.linalg.norm(near)
    assert np.dot(far, ahead) > 1.5


@pytest.mark.parametrize("robots", [1, 2, 4, 6])
def test_all_figures_of_a_row_are_in_the_camera_s_picture(stage, server, node, robots):
    """In one that is a quarter wider than high, with arms' length to spare."""
    still = replace(robot_motion(), root_pos=np.zeros((FRAMES, 3)))
    stage.set_layout("side")
    stage.load(a_show([performer(motion=still) for _ in range(robots)], person()))
    camera, world = server.initial_camera, node("/world")
    ahead = np.array(camera.look_at) - camera.position
    ahead /= np.linalg.norm(ahead)
    right = np.cross(ahead, [0.0, 0.0, 1.0]) / np.linalg.norm(np.cross(ahead, [0.0, 0.0, 1.0]))
    for name in ("human", *(f"robot{k}" for k in range(robots))):
        seen = in_world(world, node(f"/world/1/{name}").position) - camera.position
        half = 1.25 * np.tan(camera.fov / 2) * (seen @ ahead)  # m, of the picture's width where the figure stands
        assert abs(seen @ right) + 0.35 < half, name

"""Films and sheets of robots, decoded again."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from phuma.cli.main import main
from phuma.core.performed_motion import PerformedMotion
from phuma.core.provenance import Provenance
from phuma.core.robot_motion import RobotMotion
from phuma.errors import ConfigError, PhumaError
from phuma.formats.robot_motion_file import save_robot_motion
from phuma.robots import load_robot
from phuma.viewer.caption import HEIGHT, differences
from phuma.viewer.film import film, frames_of, instants
from phuma.viewer.offscreen import _gl_context
from phuma.viewer.scene import Appearance

iio = pytest.importorskip("imageio.v3")


def can_draw():
    try:
        _gl_context(64, 64).free()
    except PhumaError:
        return False
    return True


pytestmark = [pytest.mark.slow, pytest.mark.skipif(not can_draw(), reason="no EGL or OSMesa on this machine")]
SIZE = (160, 120)


def waving(robot_name="g1", frames=12):
    """A robot that stands and lifts its left arm to the side."""
    robot = load_robot(robot_name)
    joints = np.tile(robot.default_pose, (frames, 1))
    joints[:, robot.joint_names.index("left_shoulder_roll_joint")] = np.linspace(0.2, 1.6, frames)
    height = 0.76 if robot_name == "g1" else 1.0
    quat = np.tile([1.0, 0.0, 0.0, 0.0], (frames, 1))
    return RobotMotion(
        robot_name, robot.joint_names, 30.0, np.tile([0.0, 0.0, height], (frames, 1)), quat, joints,
        np.ones((frames, 4)), None, Provenance("made up", "test"),
    )  # fmt: skip


def test_the_path_that_a_robot_was_to_walk_is_on_the_floor():
    """Green, where it was to be walked; a track is left where the robot was."""
    still, robot = waving(), load_robot("g1")
    root = still.root_pos + np.linspace(0, 0.6, len(still))[:, None] * [0, -1, 0]
    plain = PerformedMotion.of(
        replace(still, root_pos=root), contact=still.contact, human_joints=None, provenance=still.provenance
    )
    led = replace(plain, path=np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]]))
    before, after = (list(frames_of([m], [robot], which=[0, 11], size=(320, 240))) for m in (plain, led))
    for one, other in zip(before, after):
        drawn = (np.abs(one.astype(int) - other).max(axis=-1) > 30)[:, :, None] * other.astype(int)
        assert ((drawn[..., 1] > drawn[..., 0] + 40) & (drawn[..., 1] > drawn[..., 2] + 20)).sum() > 200
    blue = [((f[..., 2] > f[..., 0].astype(int) + 25) & (f[..., 2] > f[..., 1].astype(int) + 10)
             & (f != b).any(axis=-1)).sum() for b, f in zip(before, after)]  # fmt: skip
    assert blue[1] > blue[0] + 20


# imageio leaves ffmpeg's pipe to the garbage collector when it reads.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_film_has_the_motions_frames_rate_and_size_and_the_robot_moves(tmp_path):
    motion, robot = waving(), load_robot("g1")
    path = tmp_path / "wave.mp4"
    film(path, [motion], [robot], size=SIZE)
    shown = iio.imread(path)
    assert shown.shape == (12, SIZE[1], SIZE[0], 3)
    assert iio.immeta(path)["fps"] == 30.0
    changed = np.abs(shown[-1].astype(int) - shown[0]).max(axis=-1) > 40
    assert 30 < changed.sum() < 0.3 * changed.size
    # Seen from the front left the robot's left arm rises on the right half of the picture.
    across = np.flatnonzero(changed.any(axis=0))
    assert across.mean() > SIZE[0] / 2
    assert list(tmp_path.iterdir()) == [path]


def test_a_gif_and_a_sheet(tmp_path):
    motion, robot = waving(), load_robot("g1")
    film(tmp_path / "wave.gif", [motion], [robot], size=SIZE)
    assert iio.imread(tmp_path / "wave.gif").shape[:3] == (12, SIZE[1], SIZE[0])
    film(tmp_path / "wave.png", [motion], [robot], size=SIZE)
    assert iio.imread(tmp_path / "wave.png").shape == (2 * SIZE[1], 4 * SIZE[0], 3)


def test_robots_beside_each_other_and_the_human_can_be_seen():
    motion, robot = waving(), load_robot("g1")
    alone = next(frames_of([motion], [robot], [0], size=SIZE)).astype(int)
    empty_left = np.abs(alone[:, :20] - alone[:1, :20]).max()
    both = next(frames_of([motion, waving("h1_2")], [robot, load_robot("h1_2")], [0], size=SIZE)).astype(int)
    dark = [(picture.max(axis=-1) < 60).sum() for picture in (alone, both)]
    assert dark[1] > 0
    assert both.shape == alone.shape
    assert empty_left < 255
    human = np.full((12, 22, 3), [0.0, 0.0, 0.5])
    human[:, :, 1] = np.linspace(-1, 1, 22)
    with_human = next(frames_of([replace(motion, human_joints=human)], [robot], [0], human=True, size=SIZE)).astype(int)
    blue = (with_human[..., 2] - with_human[..., 0] > 60).sum()
    assert blue > (alone[..., 2] - alone[..., 0] > 60).sum() + 20


def test_a_human_inside_the_robot_is_seen_through_it_and_nothing_else_changes():
    motion, robot = waving(), load_robot("g1")
    inside = np.full((12, 22, 3), [0.0, 0.0, 0.9])
    inside[:, :, 2] += np.linspace(0.0, 0.2, 22)  # within the chest
    followed = replace(motion, human_joints=inside)
    for camera in ("follow", "side", "front"):
        plain, seen = (
            next(frames_of([followed], [robot], [0], human, camera, (320, 240))).astype(int) for human in (False, True)
        )
        blue = seen[..., 2] - seen[..., 0] > 60
        assert (plain[..., 2] - plain[..., 0]).max() < 60
        assert blue.sum() > 30
        rows, columns = np.nonzero((plain != seen).any(axis=-1))
        assert max(np.ptp(columns) - 12, np.ptp(rows) - 60) < 0, "a bone, and no more"
        assert rows.max() < 160, "which throws no shadow on the floor"


def test_robots_have_the_colours_they_are_given_and_one_that_gave_up_is_red_from_there_on():
    motion, robot = waving(frames=6), load_robot("g1")
    appearances = [Appearance("#2f9e5b"), Appearance("#2a6fbb", ended=4)]
    for frame, picture in enumerate(
        frames_of([motion] * 2, [robot] * 2, size=SIZE, camera="front", appearances=appearances)
    ):
        red, green, blue = (picture[..., k].astype(int) for k in range(3))
        assert (green > red + 40).sum() > 50, "the first is green"
        assert ((blue > green + 40).sum() > 50) == (frame < 4)
        assert ((red > blue + 60).sum() > 50) == (frame >= 4)


def test_the_camera_stands_where_it_is_told():
    motion, robot = waving(), load_robot("g1")
    pictures = {c: next(frames_of([motion], [robot], [11], camera=c, size=SIZE)) for c in ("follow", "side", "front")}
    for a in pictures:
        for b in pictures:
            assert a == b or (pictures[a] != pictures[b]).any()
    with pytest.raises(ConfigError, match="unknown camera 'above'; there are: follow, side, front"):
        film("x.png", [motion], [robot], camera="above")


def test_the_command(tmp_path, capsys):
    save_robot_motion(tmp_path / "wave.npz", waving())
    out = tmp_path / "wave.png"
    assert main(["render", str(tmp_path / "wave.npz"), "--out", str(out), "--size", "161x120"]) == 0
    assert iio.imread(out).shape == (240, 640, 3)
    assert main(["render", str(tmp_path / "wave.npz"), "--out", str(tmp_path / "wave.avi")]) == 2
    assert "expected .mp4, .gif, .png" in capsys.readouterr().err
    assert main(["render", str(tmp_path / "wave.npz"), "--out", str(out), "--size", "big"]) == 2


def test_from_the_side_no_robot_hides_another(tmp_path):
    still = replace(waving(), joint_pos=np.repeat(waving().joint_pos[:1], 12, axis=0))
    robot = load_robot("g1")
    film(tmp_path / "two.gif", [still, waving()], [robot] * 2, camera="side", size=SIZE)
    shown = iio.imread(tmp_path / "two.gif")
    moved = (np.abs(shown[-1].astype(int) - shown[0]).max(axis=-1) > 40).sum(axis=1)
    assert shown.shape[1:3] == (SIZE[1], SIZE[0])
    assert moved[: SIZE[1] // 2].sum() < 5 < moved[SIZE[1] // 2 :].sum()


def test_pictures_of_robots_that_are_drawn_in_turn_are_those_of_each_alone():
    def pictures(name):
        return frames_of([waving(name, 3)], [load_robot(name)], size=SIZE)

    alone = [list(pictures(name)) for name in ("g1", "h1_2")]
    in_turn = zip(*zip(pictures("g1"), pictures("h1_2")))
    for one, other in zip(alone, in_turn):
        assert np.array_equal(one, other)


def test_robots_of_the_command_are_apart_by_commas_or_flags(tmp_path, capsys):
    save_robot_motion(tmp_path / "wave.npz", waving())
    words = ["render", str(tmp_path / "wave.npz"), "--out", str(tmp_path / "wave.png"), "--size", "160x120", "--robot"]
    for robots in (["g1,g2"], ["g1", "--robot", "g2"]):
        assert main([*words, *robots]) == 2
        assert "unknown robot 'g2'" in capsys.readouterr().err


def test_titles_say_what_differs_and_are_written_where_there_is_room(tmp_path):
    assert differences(["g1 by ik", "g1 by physink"]) == ["ik", "physink"]
    assert differences(["g1 by ik", "h1_2 by ik"]) == ["g1", "h1_2"]
    assert differences(["g1 by ik", "g1 by ik"]) == ["g1 by ik", "g1 by ik"]
    robot, size = load_robot("g1"), (320, 120)
    for camera, heads in (("front", 1), ("side", 2)):
        film(
            tmp_path / "two.png",
            [waving()] * 2,
            [robot] * 2,
            camera=camera,
            size=size,
            titles=["a b", "a c"],
            which=[3],
        )
        assert iio.imread(tmp_path / "two.png").shape[0] == 2 * (size[1] + heads * HEIGHT)


def test_the_first_robot_is_on_the_left_as_one_sees_them_from_the_front():
    still = replace(waving(), joint_pos=np.repeat(waving().joint_pos[:1], 12, axis=0))
    first, last = frames_of([waving(), still], [load_robot("g1")] * 2, [0, 11], camera="front", size=SIZE)
    changed = (np.abs(last.astype(int) - first).max(axis=-1) > 40).any(axis=0)
    assert np.flatnonzero(changed).mean() < SIZE[0] / 2


def test_a_moment_is_shown_with_what_is_around_it():
    motions = [waving(frames=90)]
    assert instants(Path("a.mp4"), motions) == list(range(90))
    assert instants(Path("a.mp4"), motions, at=1.0, around=0.1) == list(range(27, 34))
    assert instants(Path("a.png"), motions, at=0.0, around=0.1) == [0, 1, 2, 3]
    for at, around, said in ((4.0, None, "the motion is 2.97 s long"), (1.0, -1.0, "--around -1"), (None, 0.2, "--at")):
        with pytest.raises(ConfigError, match=said):
            instants(Path("a.mp4"), motions, at, around)

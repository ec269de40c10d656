"""A policy's rollout beside what it was to do: in step, measured as far as it got, marked where it ended."""

from dataclasses import replace

import numpy as np
import pytest

from phuma.cli.demo import POLICY, TRACKED
from phuma.core.rollout import Rollout
from phuma.core.rotations import from_axis, multiply
from phuma.curation import curate
from phuma.errors import ConfigError, PhumaError
from phuma.formats.clip_file import save_clip
from phuma.formats.robot_motion_file import load_robot_motion, save_robot_motion
from phuma.formats.rollout_file import save_rollout
from phuma.learning.deploy.policy import info_of
from phuma.learning.env.config import EnvironmentCfg
from phuma.pipelines.collections import FileCollection
from phuma.pipelines.playback import PlayCfg, PolicyCollection, rollout_show
from phuma.pipelines.scene_building import Piece, pieces_of, rollout_motion
from phuma.robots import load_robot
from phuma.sim.worlds import World
from phuma.sources import ReadCfg
from phuma.synth import generate
from tests.cli.tracking_dataset import jump
from tests.learning.sample_motions import dip
from tests.viewer.serving import Page, serving

pytestmark = pytest.mark.slow

RATE = 50.0
G1 = load_robot("g1")
CONTACTS = ["left heel", "left toe", "right heel", "right toe"]


@pytest.fixture(scope="module")
def reference():
    return load_robot_motion(POLICY / f"{TRACKED}.npz").reordered(G1.joint_names)


def followed(reference, frames=None, terminated_at=None, shift=(0.0, 0.0, 0.0)):
    """A rollout that does what it should, for so many control steps, somewhere else."""
    motion = reference.resampled(RATE)
    frames = len(motion) if frames is None else frames
    path = replace(motion.frames(slice(frames)), root_pos=motion.root_pos[:frames] + shift)
    return Rollout.of(path, motion="stand", terminated_at=terminated_at)


def shown(reference, rollout):
    return rollout_show(Piece("stand.npz", None, reference, facts=(("licence", "free"),)), rollout, G1)


def tracks_of(who):
    return {track.label: track.value for track in who.tracks}


def lanes_of(show):
    return {lane.label: lane.holds for lane in show.lanes}


class Lame:
    """Actions that are always the same, or depend a little on what it sees: nought leaves the robot to its feed-forward
    base. Counts what it is asked."""

    def __init__(self, action=0.0, sees=False):
        self.info = info_of(G1, "beyondmimic", "policy", EnvironmentCfg(base="feedforward"))
        self.action, self.sees, self.asked = action, sees, 0

    def act(self, observation, features):
        self.asked += 1
        out = np.full((len(observation["goal"]), G1.n_joints), self.action, dtype=np.float32)
        return out + 0.01 * observation["proprioception"].mean(axis=1, keepdims=True) * self.sees


@pytest.fixture
def files(tmp_path):
    """A knee bend, a motion that jumps, and a human's clip."""
    save_robot_motion(tmp_path / "dip.npz", dip(G1, 3.2))  # a push comes within 3 s
    save_robot_motion(tmp_path / "jumpy.npz", jump())
    save_clip(tmp_path / "human.npz", curate(generate("reach", 2.0, 0).motion).clips[0])
    return FileCollection([tmp_path / f"{name}.npz" for name in ("dip", "jumpy", "human")], [G1], ReadCfg())


# What is shown of a rollout.


@pytest.mark.parametrize("fps", [24.0, 30.0, 50.0, 120.0])
def test_who_does_what_it_should_is_in_step_with_it_and_no_error_is_found(reference, fps):
    wanted = reference.resampled(fps)
    show = shown(wanted, followed(reference))
    ghost, who = show
    assert (ghost.id, who.id, ghost.ghost, who.ghost) == ("reference", "policy", True, False)
    assert len(show) == len(who.motion) == len(ghost.motion) == len(wanted)
    assert {len(track.value) for p in show for track in p.tracks} == {len(wanted)}
    until = len(wanted) - 1  # the last frame may lie beyond the last control step
    np.testing.assert_allclose(who.motion.joint_pos[:until], wanted.joint_pos[:until], atol=0.02)
    assert np.nanmax(tracks_of(who)["body error"]) < 1.0
    assert (show.kept, show.verdict, who.ended, who.flags) == (True, "tracked to its end", None, ())
    facts = dict(show.facts)
    assert (facts["within 15 cm"], facts["within 50 cm"], facts["licence"]) == ("to its end", "to its end", "free")
    assert not [name for name in lanes_of(show) if "away" in name or "terminated" in name or "stopped" in name]
    assert (show.human, show.path, show.measures) == (None, None, ())


def test_the_error_is_how_far_the_bodies_are_away(reference):
    near, middle, far = (shown(reference, followed(reference, shift=(0.0, x, 0.0))) for x in (0.1, 0.2, 0.6))
    for show, error in ((near, 10), (middle, 20), (far, 60)):
        value = tracks_of(show.performers[1])["body error"]
        np.testing.assert_allclose(value[np.isfinite(value)], error, atol=0.5)
        assert dict(show.facts)["mean body error"] == f"{error:.1f} cm"
    assert "more than 15 cm away" not in lanes_of(near)
    assert lanes_of(middle)["more than 15 cm away"][:-1].all()
    assert (middle.kept, middle.verdict) == (True, "tracked to its end")
    assert dict(middle.facts)["within 15 cm"] == "until 0.0 s"
    assert (far.kept, far.verdict) == (False, "50 cm away at 0.0 s")
    assert far.performers[1].ended is None, "nobody gave it up"


@pytest.mark.parametrize("at", [1, 2, 60, 95])
def test_who_is_given_up_stays_as_it_was_and_is_marked_from_there_on(reference, at):
    show = shown(reference, followed(reference, at, terminated_at=at))
    who = show.performers[1]
    first = int((at - 1) / RATE * reference.fps) + 1
    says = f"terminated at {at / RATE:.1f} s"
    assert (who.ended, show.kept, show.verdict, who.flags) == (first, False, says, (says,))
    assert len(show) == len(who.motion) == len(reference)
    for name in ("root_pos", "root_quat", "joint_pos"):
        still = getattr(who.motion, name)[first - 1 :]
        np.testing.assert_array_equal(still, np.broadcast_to(still[0], still.shape))
    beyond = np.arange(len(show)) >= first
    np.testing.assert_array_equal(lanes_of(show)[says], beyond)
    for name, holds in lanes_of(show).items():
        assert name == says or not (holds & beyond).any(), "nothing is known of what never happened"
    for name, value in tracks_of(who).items():
        assert np.isnan(value[beyond]).all(), name
        if name == "body error":
            assert np.isfinite(value[~beyond]).all()
    assert not who.over[beyond].any()
    assert not who.slips[beyond].any()
    assert next(iter(lanes_of(show))) == says, "it is the first thing to be seen"


def test_who_stops_without_being_given_up_is_marked_too(reference):
    show = shown(reference, followed(reference, 60))
    assert (show.kept, show.verdict, show.performers[1].ended) == (False, "stopped at 1.2 s", 36)
    assert lanes_of(show)["stopped at 1.2 s"][36:].all()


def test_marks_are_the_policys_alone(reference):
    """The reference is what it is compared with: its own faults are told by `phuma view`."""
    spoilt = replace(reference, joint_pos=reference.joint_pos + 3.0)
    show = shown(spoilt, followed(reference))
    assert "joint beyond its limit" not in lanes_of(show)
    assert set(lanes_of(shown(reference, followed(spoilt)))) >= {"joint beyond its limit", *CONTACTS}


# Rollouts in files.


def test_a_rollouts_file_is_a_robots_motion(reference, tmp_path):
    rollout = followed(reference, 60, terminated_at=60)
    save_rollout(tmp_path / "try.npz", rollout)
    (piece,) = pieces_of(tmp_path / "try.npz")
    assert (piece.title, piece.clip, piece.path) == ("try.npz", None, tmp_path / "try.npz")
    assert dict(piece.facts)["of"] == "stand"
    assert (piece.motion.fps, len(piece.motion), piece.motion.report["flags"]) == (RATE, 60, ("terminated at 1.2 s",))
    np.testing.assert_allclose(piece.motion.joint_pos, rollout.joint_pos, atol=1e-6)
    (who,) = FileCollection([tmp_path / "try.npz"], [G1], ReadCfg()).open("0", None, None).show
    assert (who.title, who.flags) == ("g1 by policy", ("terminated at 1.2 s",))


def test_contacts_of_a_rollout_are_those_of_its_own_soles(reference):
    on, above = (rollout_motion(followed(reference, shift=(0, 0, z)), G1) for z in (0.0, 0.2))
    assert on.contact.mean() > 0.9
    assert above.contact.max() == 0


def test_joints_of_a_rollout_are_taken_by_name(reference):
    rollout = followed(reference)
    order = np.random.default_rng(0).permutation(G1.n_joints)
    names = [rollout.joint_names[k] for k in order]
    other = replace(rollout, joint_names=names, joint_pos=rollout.joint_pos[:, order])
    np.testing.assert_array_equal(rollout_motion(other, G1).joint_pos, rollout.joint_pos)
    fewer = replace(rollout, joint_names=rollout.joint_names[1:], joint_pos=rollout.joint_pos[:, 1:])
    with pytest.raises(PhumaError, match=f"rollout of 'stand': no joint {rollout.joint_names[0]}, which g1 has"):
        rollout_motion(fewer, G1)


# The library that the viewer asks.


def test_an_attempt_is_made_when_its_clip_is_opened_and_only_once(files):
    policy = Lame()
    library = PolicyCollection(files, policy, "lame", G1)
    assert library.about()["clips"] == library.find({})["total"] == 3
    assert policy.asked == 0
    first, choices, live = library.open("0", None, None)
    assert live is None, "it is told the whole motion"
    steps = policy.asked
    assert 0 < steps <= 160
    assert [(c.id, c.chosen) for c in choices] == [("reference", True), ("policy", True)]
    again = library.open("0", "g1", ["policy"])
    assert [p.id for p in again.show] == ["policy"]
    assert [c.chosen for c in again.choices] == [False, True]
    assert policy.asked == steps
    np.testing.assert_array_equal(again.show.performers[0].motion.root_pos, first.performers[1].motion.root_pos)
    assert dict(first.facts)["policy"] == "lame"


@pytest.mark.parametrize(
    ("clip", "performers", "says"),
    [
        ("1", None, r"jumpy\.npz cannot be played: it jumps at .* s: left_shoulder_pitch_joint turns at"),
        ("2", None, r"human\.npz is no robot's motion: put it on one by `phuma retarget`"),
        ("7", None, "no motion '7' is open"),
        ("0", ["g1:ik"], "no choice 'g1:ik'; there are: reference, policy"),
        ("0", [], "choose at least one of reference, policy"),
    ],
)
def test_what_cannot_be_played_is_refused_with_the_reason(files, clip, performers, says):
    with pytest.raises(PhumaError, match=says):
        PolicyCollection(files, Lame(), "lame", G1).open(clip, None, performers)


def test_a_policy_that_is_not_finite_is_named_and_not_played(files):
    said = r"dip\.npz cannot be played by lame\.onnx: at control step 1 .* `action` is nan for left_hip_pitch_joint"
    with pytest.raises(PhumaError, match=said):
        PolicyCollection(files, Lame(action=np.nan), "lame.onnx", G1).open("0", None, None)


def test_a_motion_of_another_robot_is_refused(files):
    with pytest.raises(ConfigError, match=r"dip\.npz cannot be played: it is of robot g1, not h1_2"):
        PolicyCollection(files, Lame(), "lame", load_robot("h1_2")).open("0", None, None)


@pytest.mark.parametrize(
    ("cfg", "says"),
    [
        (PlayCfg(World(physics_dt=0.005)), "physics steps of 5 ms"),
        (PlayCfg(World(noise=2.0)), "noise 2"),
        (PlayCfg(World(pushes=True)), "pushes"),
    ],
)
def test_what_it_has_to_cope_with_is_told_and_is_simulated(files, cfg, says):
    def played(cfg):
        return PolicyCollection(files, Lame(sees=True), "lame", G1, cfg).open("0", None, None).show

    calm, other = played(PlayCfg(seed=cfg.seed)), played(cfg)
    assert dict(calm.facts)["simulated with"] == "the training's physics"
    assert dict(other.facts)["simulated with"] == says
    assert not np.array_equal(calm.performers[1].motion.root_pos, other.performers[1].motion.root_pos)


def test_a_page_is_told_that_it_is_being_simulated_and_how_it_ended(files):
    pytest.importorskip("viser")
    with serving(PolicyCollection(files, Lame(action=4.0), "lame", G1)) as viewer, Page(viewer) as page:
        page.say("open", clip="0", robot=None)
        assert page.until("busy")["text"] == "simulating"
        told = page.until("clip")
        assert told["verdict"].startswith("terminated at 0.")
        assert (told["human"], told["kept"], told["path"]) == (False, False, None)
        assert told["lanes"][0] == {"label": told["verdict"], "kind": "violation", "spans": told["lanes"][0]["spans"]}
        ((first, past),) = told["lanes"][0]["spans"]
        assert 0 < first < past == told["frames"]
        plots = {plot["label"]: plot for plot in told["tracks"]}
        assert told["tracks"][0]["label"] == "body error"
        assert [series["name"] for series in plots["joint use"]["series"]] == ["policy", "reference"]
        assert plots["body error"]["series"][0]["values"][first:] == [None] * (past - first)


def test_a_turned_attempt_is_turned_on_the_stage(reference):
    """What is drawn is where the robot was, not where it should have been."""
    rollout = followed(reference)
    turned = replace(rollout, root_quat=multiply(from_axis("z", 0.7), rollout.root_quat))
    who = shown(reference, turned).performers[1]
    np.testing.assert_allclose(who.motion.root_quat[0], turned.root_quat[0], atol=1e-9)

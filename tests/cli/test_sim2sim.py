"""`phuma evaluate --sim2sim` and `phuma play --world` as a user runs them."""

from __future__ import annotations

import json
import sys
import xml.etree.ElementTree as ET

import numpy as np
import pytest

pytest.importorskip("duckdb")
pytest.importorskip("onnxruntime")

from phuma.cli.demo import POLICY, TRACKED
from phuma.cli.sim2sim import world_lines
from phuma.errors import ConfigError
from phuma.formats.robot_motion_file import load_robot_motion, save_robot_motion
from phuma.learning.motions.library import library_of
from phuma.learning.run.rollouts import roll_out
from phuma.pipelines.evaluate_policy import judge_policy, load_policy, try_in
from phuma.pipelines.sim2sim import first_look, judge_worlds, world_document, worst_world
from phuma.robots import load_robot
from phuma.sim.events import EventsCfg
from phuma.sim.mujoco_cpu import MujocoSimulation
from phuma.sim.worlds import LOOK, MAKER, TRAINED, WORLDS, World
from tests.cli.small_dataset import run
from tests.cli.tracking_dataset import make_dataset
from tests.learning.sample_motions import dip, library

pytestmark = pytest.mark.slow
FILE = POLICY / "policy.onnx"
ON = ("--split", "train", "--where", "clip IN ('still', 'down')")


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    return make_dataset(tmp_path_factory.mktemp("sim2sim") / "g1")


@pytest.fixture(scope="module")
def policy():
    return load_policy(FILE)


@pytest.fixture(scope="module")
def motions():
    g1 = load_robot("g1")
    return library(g1, down=dip(g1, 0.8), deep=dip(g1, 0.8, depth=0.3))


@pytest.fixture
def without_warp(monkeypatch):
    monkeypatch.setitem(sys.modules, "mujoco_warp", None)
    monkeypatch.delitem(sys.modules, "phuma.sim.mujoco_warp", raising=False)


def test_one_object_with_a_total_of_every_world(capsys, dataset, tmp_path, without_warp):
    (tmp_path / "own.json").write_text('{"ice": {"friction": 0.05, "delay": 3}}')
    words = ("evaluate", FILE, dataset, *ON, "--sim2sim", "--worlds", tmp_path / "own.json")
    code, out, _ = run(capsys, *words, "--json")
    assert code == 0
    told = json.loads(out)
    assert list(told["worlds"]) == [*(name for name in WORLDS if name != "mujoco-warp"), "ice"]
    plain = told["worlds"][TRAINED]
    assert plain["motions"] == 2
    assert plain["difference"] == 0
    for total in told["worlds"].values():
        assert {"success_0.5", "success_0.15", "mpjpe_global_mm", "cpu_seconds"} <= total.keys()
        assert total["difference"] == pytest.approx(total["success_0.5"] - plain["success_0.5"])
        low, high = total["difference_interval"]
        assert low <= total["difference"] <= high
    missing = {row["world"]: row["reason"] for row in told["not_tried"]}
    assert missing.keys() == {"mujoco-warp", MAKER}
    assert "pip install 'phuma[warp]'" in missing["mujoco-warp"]
    assert "--model FILE.xml" in missing[MAKER]


def test_a_table_with_a_row_of_every_world_and_a_sentence(capsys, dataset, without_warp):
    code, out, _ = run(capsys, "evaluate", FILE, dataset, *ON, "--sim2sim", "--episodes", "2")
    assert code == 0
    rows = [line.split()[0] for line in out.splitlines() if line.strip()]
    assert [row for row in rows if row in {*WORLDS, MAKER}] == [*WORLDS, MAKER]
    said = next(line for line in out.splitlines() if line.startswith("2 motions"))
    assert "the train split" in said
    assert said.endswith(", 4 rollouts in each world")
    assert "significantly worse" in out or "First thing to look at" in out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--sim2sim", "--noise", "1"), "--sim2sim and --noise: worlds say that"),
        (("--sim2sim", "--out", "there"), "rollouts are written of one world at a time"),
        (("--worlds", "own.json"), "are for --sim2sim"),
        (("--sim2sim", "--worlds", "none.json"), "none.json: does not exist"),
        (("--sim2sim", "--model", "none.xml"), "none.xml: does not exist"),
    ],
)
def test_wrong_use_of_worlds_is_told(capsys, dataset, words, said, without_warp):
    code, out, error = run(capsys, "evaluate", FILE, dataset, *ON, *words)
    assert code != 0
    assert said in error
    assert not out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--world", "dellay-1"), "no world 'dellay-1', did you mean 'delay-1'?"),
        (("--world", "maker"), "give it by --model FILE.xml"),
        (("--world", "noise", "--pushes"), "--world and --pushes: worlds say that"),
        (("--model", "x.xml"), "choose one of them by --world NAME"),
    ],
)
def test_a_world_that_cannot_be_played_is_told(capsys, dataset, words, said):
    code, _, error = run(capsys, "play", FILE, dataset, *words)
    assert code == 2
    assert said in error


def test_the_world_that_is_played_is_the_one_that_was_asked_for(capsys, tmp_path, monkeypatch):
    """What is simulated, not what is drawn."""
    from phuma.cli import play

    save_robot_motion(tmp_path / "dip.npz", dip(load_robot("g1"), 0.6))
    played = []
    monkeypatch.setattr(play, "serve", lambda collection, args: played.append(collection.show("0")))
    for words in ((), ("--world", "friction-0.4"), ("--world", "delay-2")):
        assert run(capsys, "play", FILE, tmp_path / "dip.npz", *words)[0] == 0
    assert [dict(show.facts)["simulated with"] for show in played] == [
        "the training's physics", "friction 0.4", "delay of 2 control steps",
    ]  # fmt: skip
    paths = [show.performers[1].motion.joint_pos for show in played]
    assert not np.array_equal(paths[0], paths[1])
    assert not np.array_equal(paths[0], paths[2])


# What is behind it.


def test_the_world_of_training_is_an_ordinary_evaluation_and_a_seed_gives_the_same_again(policy, motions):
    worlds = {name: WORLDS[name] for name in (TRAINED, "noise-pushes", "delay-1")}
    once, again, other = (judge_worlds(policy, motions, worlds, 2, seed) for seed in (1, 1, 2))
    assert once[TRAINED].document == judge_policy(policy, motions, episodes=2, seed=1)
    for name in worlds:
        assert once[name].document == again[name].document
    assert once["noise-pushes"].document != other["noise-pushes"].document
    assert once["noise-pushes"].document == judge_policy(policy, motions, episodes=2, seed=1, noise=1.0, pushes=True)


def test_delayed_targets_are_those_of_some_control_steps_before(policy):
    """Open loop: a policy that always gives one action, so that targets do not depend on what came of them."""
    g1 = load_robot("g1")
    own = library(g1, down=dip(g1, 0.6))

    class Same:
        info = policy.info

        def act(self, observation, features):
            return np.full((1, g1.n_joints), 0.1, dtype=np.float32)

    def targets(delay):
        class Recording(MujocoSimulation):
            def step(self, target):
                seen.append(target[0].copy())
                super().step(target)

        seen: list[np.ndarray] = []
        list(roll_out(Same(), own, lambda n: Recording(g1, n, 2, 1), events=EventsCfg(delay=delay)))
        return np.array(seen)

    now, late = targets(0), targets(2)
    np.testing.assert_array_equal(late[2:20], now[:18])
    np.testing.assert_array_equal(late[:2], now[[0, 0]])


def test_the_worst_world_is_one_in_which_it_loses_significantly(policy, motions):
    """With a tenth of its stiffness no leg carries the robot."""
    squat = library_of(load_robot("g1"), [("squat", load_robot_motion(POLICY / f"{TRACKED}.npz"), "squat")])
    worlds = {TRAINED: World(), "weak": World(gains=0.1), "round": World(cone="elliptic")}
    worlds["both"] = World(gains=0.1, cone="elliptic")
    judged = judge_worlds(policy, squat, worlds, episodes=8)
    assert worst_world(judged) == "weak"
    assert judged["weak"].difference.points == judged["both"].difference.points == -100
    assert first_look(judged, "weak") == first_look(judged, "both") == LOOK["gains"], "what loses by itself"
    assert first_look({name: judged[name] for name in (TRAINED, "both")}, "both").split("; ") == [
        LOOK["cone"], LOOK["gains"],
    ]  # fmt: skip
    assert worst_world({name: judged[name] for name in (TRAINED, "round")}) is None


def test_a_maker_s_other_robot_is_described_where_it_loses_and_where_not(policy, motions, tmp_path):
    """On soles of a hand's breadth no policy stands; what differs is in the table, the document and the advice."""
    tree = ET.parse(motions.robot.model_file)
    for geom in tree.getroot().iter("geom"):
        if "ankle_roll_collision" in geom.get("name", ""):
            geom.set("size", "0.01 0.01 0.0177")
    tree.write(tmp_path / "theirs.xml")
    squat = library_of(load_robot("g1"), [("squat", load_robot_motion(POLICY / f"{TRACKED}.npz"), "squat")])
    worlds = {TRAINED: World(), "same": World(model=motions.robot.model_file)}
    judged = judge_worlds(policy, squat, {**worlds, "tiny": World(model=tmp_path / "theirs.xml")}, episodes=8)
    said = "each sole stands on 2.0 x 2.0 cm, ours on 20.8 x 7.5 cm"
    assert worst_world(judged) == "tiny"
    assert first_look(judged, "tiny") == f"{LOOK['model']}: {said}"
    assert f"tiny: {said}" in world_lines(judged)
    told = world_document(judged)["worlds"]
    assert [told[name].get("differs") for name in judged] == [None, [], [said]]


def test_a_policy_that_succeeds_nowhere_is_not_said_to_lose_nowhere(motions):
    class Limp:
        info = load_policy(FILE).info

        def act(self, observation, features):
            return np.full((len(observation["proprioception"]), motions.robot.n_joints), 5.0, dtype=np.float32)

    (verdict,) = world_lines(judge_worlds(Limp(), motions, {TRAINED: World(), "round": World(cone="elliptic")}))[-1:]
    assert verdict == "It never succeeds as-trained, so that no other world shows what it loses: train it for longer."


def test_a_physics_step_that_does_not_fit_is_told_with_its_world(policy, motions):
    with pytest.raises(
        ConfigError, match=r"world 'odd': a physics step of 0.003 s: a control step of 0.02 s has to be"
    ):
        judge_worlds(policy, motions, {TRAINED: World(), "odd": World(physics_dt=0.003)})


@pytest.mark.warp
def test_a_policy_is_rolled_out_by_mujoco_warp_too(policy):
    pytest.importorskip("mujoco_warp")
    g1 = load_robot("g1")
    own = library(g1, down=dip(g1, 0.6))
    (ours,), (theirs,) = (try_in(WORLDS[name], policy, own) for name in (TRAINED, "mujoco-warp"))
    np.testing.assert_allclose(theirs.joint_pos[:10], ours.joint_pos[:10], atol=0.02)
    assert not np.array_equal(theirs.joint_pos, ours.joint_pos)

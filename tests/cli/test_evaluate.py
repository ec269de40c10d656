"""`phuma evaluate` and `phuma policy` as a user runs them."""

import json
import os
import re
import shutil
import subprocess
import sys
from argparse import Namespace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
pytest.importorskip("torch")

import onnx
import onnxruntime
import torch

from phuma.cli.main import main
from phuma.core.rollout import Rollout
from phuma.dataset.dataset import Dataset
from phuma.formats.rollout_file import load_rollout
from phuma.learning.deploy.onnx_export import export_policy
from phuma.learning.deploy.policy import info_of
from phuma.learning.env.config import EnvironmentCfg
from phuma.learning.env.task import Task
from phuma.learning.motions.references import expand
from phuma.learning.run.folder import RunFolder, run_info
from phuma.learning.run.rollouts import roll_out
from phuma.learning.run.runner import StageRunner
from phuma.pipelines.evaluate_policy import dataset_library, judge_rollouts, load_policy, try_out
from phuma.pipelines.evaluating.evaluate import own_clips
from phuma.pipelines.evaluating.rollout_files import write_rollouts
from phuma.robots import load_robot
from phuma.sim.events import EventsCfg
from phuma.sim.mujoco_cpu import MujocoSimulation
from tests.cli.small_dataset import run
from tests.cli.tracking_dataset import STAGE, STEPS, make_dataset, tiny_cfg, train_tiny
from tests.learning.sample_motions import dip
from tests.learning.sample_motions import library as library_with

pytestmark = pytest.mark.slow

DOCS = Path(__file__).parents[2] / "docs" / "formats" / "policy.md"
SEEN = "clip IN ('still', 'down')"


@pytest.fixture(scope="module")
def dataset(tmp_path_factory) -> Path:
    return make_dataset(tmp_path_factory.mktemp("evaluate") / "g1")


@pytest.fixture(scope="module")
def trained(dataset) -> Path:
    return train_tiny(dataset, 1)


@pytest.fixture(scope="module")
def exported(trained) -> Path:
    out = trained.parent / "policy.onnx"
    assert main(["policy", "export", str(trained), "--out", str(out)]) == 0
    return out


def lively(policy):
    """The same with weights and normalisers that are far from where they began."""
    draw = torch.Generator().manual_seed(0)
    for name, value in policy.net.state_dict().items():
        noise = torch.randn(value.shape, generator=draw)
        value.copy_(0.5 + noise**2 if name.endswith("var") else 0.15 * noise)
    return policy


def test_json_is_one_object_as_agreed(capsys, dataset, trained):
    code, out, _ = run(capsys, "evaluate", trained, dataset, "--split", "all", "--json")
    assert code == 0
    told = json.loads(out)
    assert {"success_0.15", "success_0.5", "mpjpe_global_mm", "mpjpe_local_mm"} <= told["total"].keys()
    assert told["total"]["motions"] == 3
    assert sorted(motion["motion"] for motion in told["motions"]) == ["down", "still", "unseen"]
    assert list(told["categories"]) == ["stationary", "stand", "vertical", "squat", "jump"]
    assert told["physics"]["step_ms"] == 10
    assert told["policy"]["steps"] == STEPS
    assert [(left["motion"], left["reason"][:8]) for left in told["left_out"]] == [("jumpy", "jumps at")]


def test_for_a_person_there_are_the_table_the_worst_and_the_physics(capsys, dataset, trained):
    code, out, _ = run(capsys, "evaluate", trained, dataset, "--physics-dt", "0.005", "--noise", "1", "--pushes")
    assert code == 0
    assert "1 motion of the test split, 1 rollout; physics steps of 5 ms, all collision shapes, noise 1 times" in out
    assert f"{trained}: beyondmimic for g1 after {STEPS} environment steps" in out
    assert "SR@0.15" in out
    assert re.search(r"The worst:\n.*\nunseen +jump", out)


def test_what_was_judged_can_be_read_again(capsys, dataset, trained, tmp_path):
    out = tmp_path / "rollouts"
    words = ("evaluate", trained, dataset, "--where", SEEN, "--split", "train", "--episodes", 2, "--out", out)
    assert run(capsys, *words)[0] == 0
    assert sorted(os.listdir(out)) == ["down.0.npz", "down.1.npz", "still.0.npz", "still.1.npz"]
    first, second = load_rollout(out / "down.0.npz"), load_rollout(out / "down.1.npz")
    assert first.motion == second.motion == "down"
    assert np.abs(first.joint_pos[0] - second.joint_pos[0]).max() > 1e-3, "several begin differently"
    code, _, said = run(capsys, *words)
    assert code == 2
    assert "is not an empty folder" in said


def test_rollouts_of_a_stranger_s_clips_stay_in_their_folder(tmp_path):
    frames = np.zeros((2, 3)), np.tile([1.0, 0, 0, 0], (2, 1)), np.zeros((2, 1))
    rollouts = [Rollout("g1", ("knee",), 50.0, *frames, name) for name in ("../../a b", "../../a/b", "..", "/etc/x")]
    write_rollouts(tmp_path / "in" / "out", rollouts)
    assert os.listdir(tmp_path) == ["in"]
    assert os.listdir(tmp_path / "in") == ["out"]
    assert not list((tmp_path / "in" / "out").glob("*.1.npz")), "alike names are not episodes of one clip"
    read = [load_rollout(file).motion for file in (tmp_path / "in" / "out").iterdir()]
    assert sorted(read) == sorted(rollout.motion for rollout in rollouts)


def test_a_clip_that_cannot_be_read_is_named_and_the_rest_is_judged(capsys, dataset, trained, tmp_path):
    damaged = Path(shutil.copytree(dataset, tmp_path / "damaged"))
    (damaged / "clips" / "down.npz").write_bytes(b"PK")
    code, out, _ = run(capsys, "evaluate", trained, damaged, "--split", "train")
    assert code == 1
    assert "1 motion of the train split" in out
    assert f"down: cannot be read: {damaged / 'clips' / 'down.npz'}" in out


def test_a_policy_that_is_not_finite_is_named_and_never_scored_as_another(capsys, dataset, trained, tmp_path):
    """Both as a run's weights and as a file; every motion counts as failed, with its reason."""
    policy = load_policy(trained)
    *_, last = (value for name, value in policy.net.state_dict().items() if name.startswith("actor"))
    last.fill_(torch.nan)
    file = tmp_path / "nan.onnx"
    export_policy(policy, file)
    code, out, _ = run(capsys, "evaluate", file, dataset, "--split", "all", "--json")
    assert code == 1
    told = json.loads(out)
    assert sorted(f["motion"] for f in told["failed"]) == ["down", "still", "unseen"]
    for row, failed in zip(told["motions"], told["failed"]):
        assert row["failures"] == {"faulty": 1}
        assert row["fault"] in failed["reason"]
        assert failed["reason"].startswith(
            f"{file}: at control step 1 (0.00 s) its output `action` is nan for left_hip"
        )
    assert (told["total"]["motions"], told["total"]["success_0.5"], told["total"]["tracked"]) == (3, 0, 0)
    rollouts = tmp_path / "rollouts"
    code, out, _ = run(capsys, "evaluate", file, dataset, "--split", "all", "--out", rollouts)
    assert code == 1
    assert f"Failed: down: {file}: at control step 1" in out
    assert "its output `action` is nan" in load_rollout(rollouts / "down.0.npz").fault


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--split", "test", "--where", SEEN], "`phuma evaluate ... --split train` judges those"),
        (["--robot", "h1_2"], "the policy is of robot g1 and does not fit h1_2: other joints"),
        (["--episodes", "0"], "--episodes 0; expected 1 to"),
        (["--noise", "-1"], "--noise -1; expected 0 to"),
    ],
)
def test_wrong_calls_are_told(capsys, dataset, trained, options, said):
    code, out, err = run(capsys, "evaluate", trained, dataset, "--json", *options)
    assert (code, out) == (2, "")
    assert said in err


def test_by_default_it_speaks_of_the_clips_that_the_policy_was_trained_for(capsys, dataset, tmp_path):
    """Of those under the condition of training, those of the test split; where there are none, those of training."""
    robot, data = load_robot("g1"), {"dataset": dataset.name, "split": "train", "where": None}
    info = info_of(robot, "beyondmimic", STAGE, EnvironmentCfg())
    info.data.update(data)
    data = info.data
    ask, opened = partial(Namespace, dataset=dataset), Dataset(dataset)
    assert own_clips(ask(split=None, where=None), opened, robot, info) == ("test", None)
    data["where"] = SEEN
    assert own_clips(ask(split=None, where=None), opened, robot, info) == ("train", SEEN)
    assert own_clips(ask(split="all", where="true"), opened, robot, info) == ("all", "true")
    data["split"] = "all"
    assert own_clips(ask(split=None, where=None), opened, robot, info) == ("all", SEEN)
    data["dataset"] = "another"
    assert own_clips(ask(split=None, where=None), opened, robot, info) == ("test", None)


@pytest.mark.parametrize(("base", "future"), [("feedforward", True), ("default", False), ("reference", True)])
def test_a_file_acts_as_the_run_does(dataset, trained, tmp_path, base, future):
    library = dataset_library(dataset, load_robot("g1"), SEEN)
    folder = RunFolder(tmp_path / "run")
    cfg = tiny_cfg(base=base, future=future)
    folder.begin(run_info(library.robot, cfg, len(library), {}, ""))
    folder.save(STAGE, StageRunner(library, cfg, STAGE).snapshot())
    ours = lively(load_policy(folder.root))
    export_policy(ours, tmp_path / "policy.onnx")
    theirs = load_policy(tmp_path / "policy.onnx")
    assert theirs.info == ours.info
    names = [each.name for each in onnx.load(tmp_path / "policy.onnx").graph.input]
    assert names == ["proprioception", "goal"] + ["future"] * future + ["base"] * (base != "default")
    largest = 0.0

    class Both:
        info = ours.info

        def act(self, observation, features):
            nonlocal largest
            action = ours.act(observation, features)
            np.testing.assert_allclose(theirs.act(observation, features), action, rtol=0, atol=1e-5)
            largest = max(largest, np.abs(action).max())
            return action

    assert list(roll_out(Both(), library, lambda n: MujocoSimulation(library.robot, n, 2, threads=1)))
    assert largest > 0.1


def test_a_rollout_by_the_file_is_judged_as_one_by_the_run(capsys, dataset, trained, exported):
    told = [json.loads(run(capsys, "evaluate", p, dataset, "--split", "all", "--json")[1]) for p in (trained, exported)]
    a, b = ({m["motion"]: m for m in each["motions"]} for each in told)
    assert a.keys() == b.keys()
    for name, own in a.items():
        for key in ("success_0.15", "success_0.5", "tracked", "failures", "first_failure_s"):
            assert own[key] == b[name][key]
        assert own["up_to_failure"]["mpjpe_global_mm"] == pytest.approx(
            b[name]["up_to_failure"]["mpjpe_global_mm"], abs=0.1
        )


def test_a_file_is_judged_without_torch(dataset, exported):
    code = "import sys; sys.modules['torch'] = None\nfrom phuma.cli.main import main\nsys.exit(main(sys.argv[1:]))"
    words = ["evaluate", str(exported), str(dataset), "--json"]
    done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["total"]["motions"] == 1


def changed(model, **texts):
    """With other metadata; None takes one away."""
    kept = {entry.key: entry.value for entry in model.metadata_props} | texts
    del model.metadata_props[:]
    onnx.helper.set_model_props(model, {key: value for key, value in kept.items() if value is not None})


def external(model):
    tensor = model.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = onnx.TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="/etc/passwd")


def external_constant(model):
    """The same, hidden in an operator."""
    tensor = onnx.TensorProto(dims=[1], data_type=1, name="x", data_location=onnx.TensorProto.EXTERNAL)
    tensor.external_data.add(key="location", value="weights.bin")
    model.graph.node.append(onnx.helper.make_node("Constant", [], ["hidden"], value=tensor))


def narrower(model):
    model.graph.input[0].type.tensor_type.shape.dim[1].dim_value -= 1


def other_joints(model):
    names = json.loads(next(e.value for e in model.metadata_props if e.key == "joint_names"))
    changed(model, joint_names=json.dumps([names[1], names[0], *names[2:]]))


def other_gains(model):
    gains = json.loads(next(e.value for e in model.metadata_props if e.key == "stiffness"))
    changed(model, stiffness=json.dumps([2 * gains[0], *gains[1:]]))


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda m: changed(m, format=None), "is no policy of ours: it has no metadata of phuma-policy"),
        (lambda m: changed(m, format='"theirs"'), "format is 'theirs', expected 'phuma-policy'"),
        (lambda m: changed(m, format_version="3"), "is of version 3, newer than this program's 2"),
        (lambda m: changed(m, action_scale=None), "has no 'action_scale' in its metadata"),
        (lambda m: changed(m, default_pose="[0, 1]"), "default_pose has 2 values; 29 finite ones are needed"),
        (lambda m: changed(m, base='"magic"'), "base is 'magic'; there are: feedforward"),
        (lambda m: changed(m, joint_names="{"), "has metadata that is damaged"),
        (lambda m: changed(m, future="false"), "while its metadata says"),
        (narrower, "policy.onnx: "),
        (external, "keeps weights in other files"),
        (external_constant, "keeps weights in other files"),
        (other_joints, "the policy is of robot g1 and does not fit g1: other joints, for example their order"),
        (other_gains, "trained for another g1: stiffness of left_hip_pitch_joint was 80.362, is 40.181"),
    ],
)
def test_a_file_that_is_not_as_it_says_is_refused(capsys, dataset, exported, tmp_path, spoil, said):
    model = onnx.load(exported)
    spoil(model)
    file = tmp_path / "policy.onnx"
    file.write_bytes(model.SerializeToString())
    code, out, err = run(capsys, "evaluate", file, dataset, "--json")
    assert (code in (1, 2), out) == (True, "")
    assert said in err
    assert "Traceback" not in err


@pytest.mark.parametrize("content", [b"", b"no graph at all " * 9, None])
def test_a_file_that_is_no_onnx_or_cut_short_is_refused(capsys, dataset, exported, tmp_path, content):
    file = tmp_path / "policy.onnx"
    file.write_bytes(exported.read_bytes()[:-500] if content is None else content)
    code, _, err = run(capsys, "evaluate", file, dataset)
    assert code == 1
    assert f"{file}: is not an ONNX file, or is damaged" in err


def test_the_same_policy_gives_the_same_file(trained, exported, tmp_path):
    assert main(["policy", "export", str(trained), "--out", str(tmp_path / "again.onnx")]) == 0
    assert (tmp_path / "again.onnx").read_bytes() == exported.read_bytes()


def test_a_motions_file_and_the_documented_code_feed_the_policy_as_the_simulation_does(
    capsys, dataset, trained, tmp_path
):
    """From the file, the metadata and the robot's state alone, by the code in docs/formats/policy.md."""
    policy = lively(load_policy(trained))
    export_policy(policy, tmp_path / "policy.onnx")
    file = tmp_path / "motion.npz"
    words = ("policy", "motion", tmp_path / "policy.onnx", dataset, "--clip", "down", "--out", file)
    assert run(capsys, *words)[0] == 0
    code = re.search(r"```python\n(def inputs.*?)```", DOCS.read_text(), re.DOTALL)
    there: dict = {"np": np}
    exec(code[1], there)
    motion = dict(np.load(file))
    session = onnxruntime.InferenceSession(tmp_path / "policy.onnx")
    about = session.get_modelmeta().custom_metadata_map
    default_pose = np.array(json.loads(about["default_pose"]))
    anchor = json.loads(about["key_bodies"]).index(json.loads(about["anchor_body"]))
    library = dataset_library(dataset, load_robot("g1"), "clip = 'down'")
    targets = []

    class Recording(MujocoSimulation):
        def step(self, target):
            targets.append(target.copy())
            super().step(target)

    class Deployed:
        info = policy.info
        action = np.zeros(29)

        def act(self, observation, features):
            t, state = len(targets) + 1, simulation[0].state()
            fed = there["inputs"](
                motion, t, default_pose, self.action, state.root_angvel[0], state.joint_pos[0], state.joint_vel[0],
                state.body_quat[0, anchor],
            )  # fmt: skip
            np.testing.assert_allclose(fed["proprioception"], observation["proprioception"], atol=1e-5)
            np.testing.assert_allclose(fed["goal"], observation["goal"], atol=1e-5)
            np.testing.assert_array_equal(fed["future"], features["future"][observation["future"]])
            action, target = session.run(["action", "target"], {i.name: fed[i.name] for i in session.get_inputs()})
            self.action = action[0]
            aimed.append(target[0])
            return action

    simulation, aimed = [], []

    def simulate(robots):
        simulation.append(Recording(library.robot, robots, 2, threads=1))
        return simulation[0]

    (rollout,) = roll_out(Deployed(), library, simulate, events=EventsCfg())
    assert len(targets) == len(aimed) >= len(rollout) - 1 > 10
    np.testing.assert_allclose(np.concatenate(targets), aimed, atol=1e-6)
    np.testing.assert_array_equal(motion["joint_names"], library.robot.joint_names)


def test_a_motion_for_a_policy_may_come_from_a_file(capsys, dataset, exported, tmp_path):
    out = tmp_path / "motion.npz"
    assert run(capsys, "policy", "motion", exported, dataset / "clips" / "down.npz", "--out", out)[0] == 0
    assert str(np.load(out)["motion"]) == "down"
    code, _, said = run(capsys, "policy", "motion", exported, dataset, "--out", out)
    assert code == 2
    assert "which clip of" in said
    code, _, said = run(
        capsys, "policy", "motion", exported, dataset / "clips" / "jumpy.npz", "--out", tmp_path / "j.npz"
    )
    assert code == 1
    assert "no motion that a robot can be asked to follow: jumpy: jumps at" in said
    assert not (tmp_path / "j.npz").exists()


def test_what_is_handed_on_is_not_written_over_something_else(capsys, dataset, trained, exported, tmp_path):
    diary = tmp_path / "diary.txt"
    diary.write_text("all my work")
    for words in (["export", trained], ["motion", exported, dataset / "clips" / "down.npz"]):
        code, _, said = run(capsys, "policy", *words, "--out", diary)
        assert code == 2
        assert f"--out {diary}: expected a name that ends in" in said
    assert diary.read_text() == "all my work"


def test_inspect_tells_a_run_a_policy_and_a_motion_for_it(capsys, dataset, trained, exported, tmp_path):
    motion = tmp_path / "motion.npz"
    assert run(capsys, "policy", "motion", exported, dataset / "clips" / "down.npz", "--out", motion)[0] == 0
    arrays, older = dict(np.load(motion)), tmp_path / "version_1.npz"
    assert int(arrays["version"]) == 2
    np.savez(older, **({"rate": arrays.pop("fps")} | arrays | {"version": np.array(1)}))
    for file, says in (
        (trained, "beyondmimic for g1, 29 joints, base feedforward, sees the future"),
        (trained, "policy   2 motions in 8 environments at a time, seed 0, without randomization"),
        (exported, f"trained  {STEPS} environment steps"),
        (exported, "data     dataset g1, split train, id "),
        (motion, "motion for a policy: down on g1"),
        (motion, "frames at 50 Hz"),
        (older, "frames at 50 Hz"),
    ):
        code, out, _ = run(capsys, "inspect", file)
        assert (code, says in out) == (0, True), out
    code, _, said = run(capsys, "view", trained)
    assert code == 2
    assert f"is a training run: watch its policy by `phuma play {trained} DATASET`" in said


def test_a_robot_that_does_what_the_motion_shows_is_a_success_however_long_it_lasts(dataset, trained):
    """Episodes end with their motion, not after the ten seconds that they last in training."""
    library = library_with(load_robot("g1"), long=dip(load_robot("g1"), 12.0))
    references = expand(library, [0], Task((), base="default"))

    class Puppet(MujocoSimulation):
        frame = 0

        def step(self, target):
            super().step(target)
            self.frame += 1
            self.reset(np.arange(1), references.state[np.array([self.frame])])

    class Idle:
        info = info_of(load_robot("g1"), "beyondmimic", "policy", EnvironmentCfg(base="default"))
        asked = 0

        def act(self, observation, features):
            self.asked += 1
            np.testing.assert_array_equal(observation["goal"][0, :29], references.state.joint_pos[self.asked])
            return np.zeros((1, 29), dtype=np.float32)

    (rollout,) = roll_out(Idle(), library, lambda n: Puppet(library.robot, n, 1, threads=1), events=EventsCfg())
    assert (len(rollout), rollout.terminated_at) == (601, None)
    total = judge_rollouts([rollout], library)["total"]
    assert total["success_0.15"] == 100
    assert total["mpjpe_global_mm"] < 0.01


def test_trying_out_again_gives_the_same(dataset, trained):
    policy, library = load_policy(trained), dataset_library(dataset, load_robot("g1"), SEEN)
    a, b, c = (list(try_out(policy, library, noise=1.0, pushes=True, episodes=2, seed=s)) for s in (1, 1, 2))
    assert all(np.array_equal(x.joint_pos, y.joint_pos) for x, y in zip(a, b, strict=True))
    assert not any(np.array_equal(x.joint_pos, y.joint_pos) for x, y in zip(a, c, strict=True))

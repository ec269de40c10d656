"""An algorithm is a recipe: one that the project has never seen runs from its declaration alone."""

from __future__ import annotations

import json

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("mujoco")
pytest.importorskip("numba")

import torch

from phuma.errors import ReadError
from phuma.learning.deploy.onnx_export import export_policy
from phuma.learning.deploy.onnx_policy import load_onnx
from phuma.learning.deploy.torch_policy import policy_of_run
from phuma.learning.recipes import recipe as recipes
from phuma.learning.recipes.recipe import recipe_named, recipe_names, register
from phuma.learning.run.folder import RunFolder
from phuma.learning.run.runner import StageRunner
from phuma.pipelines.evaluate_policy import judge_policy
from phuma.pipelines.train_policy import Budget, train_policy
from tests.learning.recipes.toy import RECIPE
from tests.learning.sample_motions import library

STEPS = 8 * 64
"""Environment steps of eight updates: two of the teacher, six of its student"""


@pytest.fixture(autouse=True)
def _toy(monkeypatch):
    monkeypatch.setattr(recipes, "_REGISTERED", {})
    register(RECIPE)


@pytest.fixture
def small(g1):
    return library(g1)


@pytest.fixture
def run(small, tmp_path):
    """A run of both stages."""
    return train_policy(small, tmp_path / "run", RECIPE.settings(), Budget(STEPS))


def arrays(folder, stage):
    return {name: value for name, value in folder.load(stage).items() if name != "seconds"}


def test_it_is_known_by_its_name():
    assert recipe_named("toy") is RECIPE
    assert {"toy", "beyondmimic"} <= set(recipe_names())


def test_a_run_has_the_stages_of_its_recipe_with_their_shares_of_the_budget(run):
    assert sorted(path.name for path in run.root.glob("*.npz")) == ["checkpoint_student.npz", "checkpoint_teacher.npz"]
    assert [run.spent(stage)[0] for stage in RECIPE.stages] == [STEPS // 4, 3 * STEPS // 4]
    assert run.reached()[0] == STEPS
    assert run.info().cfg == RECIPE.settings()


@pytest.mark.slow
@pytest.mark.slow
def test_its_policy_is_the_student_s_and_its_teacher_s_can_be_had(run, g1, small):
    student, teacher = policy_of_run(run, g1), policy_of_run(run, g1, "teacher")
    assert [each["name"] for each in student.info.inputs] == ["own", "base"]
    assert [each["name"] for each in teacher.info.inputs] == ["privileged", "base"]
    for policy in (student, teacher):
        assert judge_policy(policy, small)["total"]["motions"] == 3


@pytest.mark.slow
@pytest.mark.slow
def test_its_own_observation_is_documented_in_the_exported_policy(run, g1, small, tmp_path):
    policy = policy_of_run(run, g1, "teacher")
    export_policy(policy, tmp_path / "toy.onnx")
    found = load_onnx(tmp_path / "toy.onnx")
    described = found.info.inputs[0]["parts"][0]
    assert described == {"name": "joint_error", "size": 29, "about": "rad, the reference's joints minus the robot's"}
    one, other = (judge_policy(each, small)["total"]["mpjpe_global_mm"] for each in (policy, found))
    assert other == pytest.approx(one, rel=1e-3)


@pytest.mark.slow
def test_the_student_comes_nearer_to_its_teacher(small, g1):
    cfg = RECIPE.settings()
    teacher = StageRunner(small, cfg, "teacher").net
    torch.nn.init.normal_(teacher.actor.layers[-1].weight, std=0.1)  # so that there is something to learn
    before = {name: value.clone() for name, value in teacher.state_dict().items()}
    student = StageRunner(small, cfg, "student", teacher=teacher)
    for _ in range(40):
        loss = student.iterate()["imitation_loss"]
    nothing_learned = float((student.algorithm.memory.snapshot()["field.label"] ** 2).mean())
    assert loss < 0.2 * nothing_learned
    for name, value in teacher.state_dict().items():
        assert torch.equal(value, before[name]), "a teacher does not learn"


def test_labels_are_the_teacher_s_actions_in_the_states_that_the_student_visits(small):
    cfg = RECIPE.settings()
    teacher = StageRunner(small, cfg, "teacher").net
    student = StageRunner(small, cfg, "student", teacher=teacher)
    student._collect()
    own = student.algorithm.storage
    assert set(own.observation) == {"own", "privileged"}
    with torch.no_grad():
        labels = teacher.actor(own.flat(), {})
        acted = student.algorithm.student.actor(own.flat(), {})
    torch.testing.assert_close(own["label"].flatten(0, 1), labels, rtol=1e-5, atol=1e-6)
    last = acted.view(8, 8, -1)[-1].numpy() * (student.env.age > 0)[:, None]
    np.testing.assert_allclose(student.env.action, last, atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("first", [64, 128, 256], ids=["in the teacher", "between the stages", "in the student"])
@pytest.mark.slow
def test_a_run_that_was_interrupted_goes_on_to_the_same_bit(run, small, tmp_path, first):
    again = train_policy(small, tmp_path / "again", RECIPE.settings(), Budget(STEPS), stop=after(first))
    assert again.reached()[0] <= first + 64
    train_policy(small, tmp_path / "again", None, Budget(STEPS))
    for stage in RECIPE.stages:
        one, other = arrays(run, stage), arrays(again, stage)
        assert one.keys() == other.keys()
        for name in one:
            np.testing.assert_array_equal(one[name], other[name], err_msg=f"{stage} {name}")


def after(steps):
    """Stops after as many updates as make so many steps."""
    asked = iter(range(10**9))
    return lambda: next(asked) * 64 // 2 > steps


@pytest.mark.slow
def test_a_run_by_a_recipe_that_is_gone_is_told_so(run, monkeypatch):
    monkeypatch.setattr(recipes, "_REGISTERED", {})
    with pytest.raises(
        Exception, match=r"run\.json: is damaged.*unknown algorithm 'toy'; there are: beyondmimic|algo is 'toy'"
    ):
        RunFolder(run.root).info()


@pytest.mark.slow
def test_a_recipe_s_name_is_never_imported_from_a_file(run):
    document = json.loads(run.description.read_text())
    document["algo"] = "os"
    run.description.write_text(json.dumps(document))
    with pytest.raises(ReadError, match="unknown algorithm 'os'"):
        run.info()

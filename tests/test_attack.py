"""A small part of `benchmarks/attack_robots.py`: robots and policies of strangers are used or refused."""

from __future__ import annotations

import importlib.util
import warnings
from pathlib import Path
from types import ModuleType

import pytest

pytest.importorskip("mujoco")
pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

from phuma.errors import PhumaError
from tests.fuzz import only_read_errors

pytestmark = pytest.mark.slow

SCRIPT = Path(__file__).parents[1] / "benchmarks/attack_robots.py"


@pytest.fixture(scope="module")
def attack() -> ModuleType:
    spec = importlib.util.spec_from_file_location("attack_robots", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("number", [*range(0, 40), *range(250, 262)])
def test_a_stranger_s_robot_or_policy_is_used_or_refused(attack, tmp_path, number):
    """The cases are those of another seed than the table's."""
    case = list(attack.cases())[number]
    place = case.make(tmp_path, attack.Dice(1000 + number))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of numbers that overflow in a robot's own check
        only_read_errors(PhumaError, lambda: case.use(place))


def test_there_are_as_many_as_the_table_says(attack):
    kinds = [case.kind.split(":")[0] for case in attack.cases()]
    assert (kinds.count("robot"), kinds.count("policy")) == (attack.ROBOTS, attack.POLICIES) == (250, 100)

"""The examples run as their first lines say, one after another, and their last one reproduces what a policy learned."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mujoco")
pytest.importorskip("duckdb")
pytest.importorskip("onnxscript")

import phuma
from phuma.cli.demo import POLICY
from phuma.learning.deploy.reference_file import save_reference
from phuma.learning.motions.library import library_of
from phuma.pipelines.evaluate_policy import load_policy

EXAMPLES = Path(__file__).parents[1] / "examples"
SCRIPTS = sorted(EXAMPLES.glob("*.py"))
LONGEST = 60  # lines
WORDS = {"06_train.py": ["0.01"]}
"""What a script is given here, where a newcomer would give it minutes"""

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def workplace(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("examples")


def run(script: Path, folder: Path, *words: str) -> str:
    done = subprocess.run([sys.executable, script, *words], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_there_are_eight_in_the_order_of_the_work_and_each_is_short():
    assert [script.name[:2] for script in SCRIPTS] == [f"{number:02}" for number in range(1, 9)]
    long = [script.name for script in SCRIPTS if len(script.read_text().splitlines()) >= LONGEST]
    assert not long


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.name)
def test_each_runs_after_those_before_it(script, workplace):
    said = run(script, workplace, *WORDS.get(script.name, []))
    assert said.strip(), "it says what it did"
    assert f"python examples/{script.name}" in script.read_text()


def test_the_last_one_knows_nothing_of_this_package():
    assert not re.search(r"^\s*(import|from) phuma", SCRIPTS[-1].read_text(), re.MULTILINE)


def test_the_last_one_makes_the_robot_do_what_the_shipped_policy_learned(workplace):
    """A squat: who falls ends on the floor."""
    shipped, folder = POLICY, workplace / "shipped"
    folder.mkdir()
    policy = load_policy(shipped / "policy.onnx")
    robot = phuma.load_robot("g1")
    library = library_of(robot, [("squat", phuma.load_robot_motion(shipped / "squat.npz"), None)])
    save_reference(folder / "motion.npz", library, 0, policy.info)
    for file in (shipped / "policy.onnx", robot.model_file):
        shutil.copy(file, folder)
    ended, wanted = map(float, re.findall(r"at (\d\.\d\d) m", run(SCRIPTS[-1], workplace, str(folder))))
    assert ended == pytest.approx(wanted, abs=0.05)

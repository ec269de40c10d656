"""The objective as a list: what a line of it says is what the solver does."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import phuma
from phuma.core.foot_contacts import FootContacts
from phuma.curation import curate
from phuma.retargeting import retarget_motion
from phuma.retargeting.config import FAMILY, Loss
from phuma.retargeting.loops import FRAME, KINDS, SERIES, loop_code
from phuma.retargeting.objective import TERMS, Stage, weights_at
from phuma.robots import load_robot
from phuma.synth import generate

PACKAGE = Path(phuma.__file__).parent
ROW = {term.name: k for k, term in enumerate(TERMS)}
FUNCTION = '''

@compiled
def lift(n, hessian, slope, pos, jac, runs, weight):
    """(z_n - 2)^2 of a keypoint n."""
    add_scalar(hessian, slope, runs, n, jac, n, 2, pos[n, 2] - 2.0, weight)
    return 0.5 * weight * (pos[n, 2] - 2.0) ** 2
'''
LINE = '    Term("lift", costs.lift, POINT, weight=100.0, when=Loss.GROUND),\n'
SCRIPT = """
import json, sys
import numpy as np
from phuma.core.foot_contacts import FootContacts
from phuma.curation import curate
from phuma.retargeting import SolveCfg, retarget_motion
from phuma.retargeting.block import blocks_of
from phuma.retargeting.config import FAMILY
from phuma.retargeting.objective import TERMS, Stage, Weights, weights_at
from phuma.retargeting.physink import _problem, _start
from phuma.retargeting.target import make_target
from phuma.robots import load_robot
from phuma.synth import generate

robot, clip = load_robot(sys.argv[1]), curate(generate("stand", 1.0, 0).motion)
nowhere = FootContacts(np.zeros_like(clip.contact.ratio), clip.contact.fps)
height = {m: retarget_motion(clip.motion, nowhere, robot, m).root_pos[:, 2].tolist() for m in ("sink", "sink+ground")}
w = weights_at(Stage(), FAMILY["sink+ground"])
alone = Weights(w.weight * np.array([[term.name == "lift"] for term in TERMS]), w.width)
target = make_target(clip.motion, nowhere, robot)
problem = _problem(target, nowhere.ratio, robot, FAMILY["sink+ground"], SolveCfg(), 0, 4)
x, errors = _start(target, robot)[:4], []
for block in blocks_of(robot, False):
    problem.take(block, x)
    problem.evaluate(x, alone)
    gradient = problem._gradient.copy()
    for i in range(len(gradient)):
        step = np.zeros_like(x)
        step[i // len(block.unknowns), block.unknowns[i % len(block.unknowns)]] = 1e-6
        slope = (problem.evaluate(x + step, alone) - problem.evaluate(x - step, alone)) / 2e-6
        errors.append(abs(slope - gradient[i]) / abs(gradient).max())
print(json.dumps({"height": height, "error": max(errors)}))
"""


@pytest.mark.slow
def test_a_new_term_is_a_function_and_a_line(tmp_path):
    """A copy of the package gets a function and a line; its solution and its gradient have the new term."""
    shutil.copytree(PACKAGE, tmp_path / "phuma", ignore=shutil.ignore_patterns("__pycache__", "g1", "h1_2"))
    costs, objective = (tmp_path / "phuma" / "retargeting" / name for name in ("costs.py", "objective.py"))
    costs.write_text(costs.read_text() + FUNCTION)
    objective.write_text(objective.read_text().replace("TERMS = (\n", "TERMS = (\n" + LINE))
    robot = load_robot("g1")
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(robot.folder)], capture_output=True, text=True, env=environment
    )
    assert done.returncode == 0, done.stderr
    out = json.loads(done.stdout)
    assert out["error"] < 1e-6
    clip = curate(generate("stand", 1.0, 0).motion)
    nowhere = FootContacts(np.zeros_like(clip.contact.ratio), clip.contact.fps)
    before = {m: retarget_motion(clip.motion, nowhere, robot, m).root_pos[:, 2] for m in out["height"]}
    np.testing.assert_allclose(out["height"]["sink"], before["sink"], atol=1e-6)
    assert (out["height"]["sink+ground"] > before["sink+ground"] + 0.05).all()


def test_a_method_has_the_terms_of_its_losses_and_no_others():
    for losses in FAMILY.values():
        weight = weights_at(Stage(), losses).weight
        assert [row.any() for row in weight] == [term.when in losses for term in TERMS]
    each = [len(losses) for losses in FAMILY.values()]
    assert each == sorted(each)
    assert set().union(*FAMILY.values()) == set(Loss)


def test_weights_are_those_of_the_list_by_case_and_stage():
    everything = FAMILY["physink+collision"]
    last, first = weights_at(Stage(), everything), weights_at(Stage(rise=0.0, anneal=100.0), everything)
    assert last.weight[ROW["smooth"]].tolist() == [2000.0, 100.0, 20.0]
    assert last.width[ROW["smooth"]].tolist() == [0.09, 0.3, 0.3]
    assert first.weight[ROW["smooth"]].tolist() == [200000.0, 10000.0, 2000.0]
    assert last.weight[ROW["ground"], :2].tolist() == [0.0, 3e5]  # swing, stance
    assert first.weight[ROW["ground"], :2].tolist() == [0.0, 1e3]
    assert first.weight[ROW["skate"], 1] == 1e3
    assert last.weight[ROW["collision"], 0] == pytest.approx(100 * first.weight[ROW["collision"], 0])
    assert last.weight[ROW["foot roll"], :2].tolist() == first.weight[ROW["foot roll"], :2].tolist() == [5.0, 1005.0]


def test_cases_and_names_of_the_list_are_sound():
    assert len(ROW) == len(TERMS), "two terms have one name"
    for term in TERMS:
        assert term.kind in KINDS
        for value in (term.weight, term.width):
            if not isinstance(value, float):
                assert set(value) <= set(term.kind.cases), term.name


def test_a_term_that_asks_for_what_its_kind_does_not_give_is_told_what_there_is():
    wrong = replace(TERMS[ROW["posture"]], kind=TERMS[ROW["ground"]].kind)
    with pytest.raises(AssertionError, match=r"'posture' asks for here, value, default.*there are.*hessian.*runs"):
        loop_code([wrong], FRAME)


def test_kinds_share_their_loops():
    code = loop_code(TERMS, SERIES)
    assert code.count("for t in") == code.count("for c in") == code.count("case =") == 1
    assert code.index(f"term_{ROW['posture']}") < code.index(f"term_{ROW['smooth']}")

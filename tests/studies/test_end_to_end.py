"""A study with real jobs, as small as it can be: recordings, clips, motions, experts, policies, films and the page."""

import json
import time
from dataclasses import replace

import pytest

pytest.importorskip("mujoco")
pytest.importorskip("numba")
pytest.importorskip("torch")

from phuma.learning.motions.library import MotionLibrary
from phuma.robots import load_robot
from phuma.sources import amass_smplx
from phuma.studies.frame.data import find_sources, split
from phuma.studies.frame.films import films_of
from phuma.studies.frame.folder import RESULTS, StudyFolder
from phuma.studies.frame.plan import EVALUATIONS, Plan
from phuma.studies.frame.policies import learn, settings
from phuma.studies.frame.report import PAGE, write_report
from phuma.studies.frame.runner import StudyRun
from phuma.studies.frame.study import Tracker, study_named
from phuma.synth import generate
from phuma.synth.video_like import as_video
from tests.dataset.tiny import here
from tests.learning.sample_motions import dip


def test_a_film_is_not_as_good_as_the_recording_and_is_always_the_same():
    """Seeds differ in strength; the length stays, so that clips are the same ones."""
    motion = generate("stand", 1.5, 0).motion
    shaken = [as_video(motion, seed) for seed in (1, 1, 2)]
    assert (shaken[0].root_pos == shaken[1].root_pos).all()
    assert (shaken[0].root_pos != shaken[2].root_pos).any()
    assert len(shaken[0]) == len(motion)
    assert (shaken[0].root_pos != motion.root_pos).any()


def test_training_takes_the_cpu_time_that_it_is_given():
    """At least as much as asked for, no more than one update and what is judged beyond it; judged three times, the last
    at the end."""
    robot = load_robot("g1")
    library, seen = MotionLibrary(robot), []
    library.add("dip", dip(robot))
    before = time.process_time()
    seconds, steps = learn(library, settings(Tracker(begin="scratch"), 0), 2.0, lambda policy: seen.append(policy))
    assert 2.0 <= seconds <= time.process_time() - before
    assert steps > 0
    assert len(seen) == EVALUATIONS


@pytest.mark.slow
def test_a_whole_study(tmp_path):
    data, out = tmp_path / "data", tmp_path / "out"
    data.mkdir()
    for seed in range(4):
        amass_smplx.write(data / f"{seed}.npz", generate("stand", 1.2, seed).motion)
    own = study_named("retargeting")
    study = replace(own, rows=(own.rows[2], own.rows[6]), tests=own.tests[:1])
    plan = Plan(clips=2, tests=1, seeds=1, seconds=1.0)

    def run():
        return StudyRun(study, split(find_sources([data])), "g1", plan, StudyFolder(out), here, lambda *_: None).do()

    results = run()
    lines = (out / RESULTS).read_text()
    kinds = [json.loads(line)["kind"] for line in lines.splitlines()]
    assert not results.failed
    assert kinds.count("policies") == 2
    assert kinds.count("experts") == 4
    for row in results.rows:
        (training,) = row.trainings.values()
        assert training["seconds"] >= plan.seconds
        assert all(0 <= m["human_cm"] < 20 for m in row.motions)
    films, unfilmed = films_of(results, out, here)
    assert films or unfilmed
    write_report(results, out, [str(data)], 1, films)
    page = (out / PAGE).read_text()
    assert page.count("<video") == len(films)
    run()
    assert (out / RESULTS).read_text() == lines

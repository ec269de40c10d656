"""The settings of a new run, as they are asked for."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from phuma.errors import ConfigError
from phuma.learning.nets.config import MLPCfg
from phuma.pipelines.training.new_run import new_run
from phuma.pipelines.training.options import TrainCfg, check_numbers
from phuma.pipelines.training.resumed_run import of_preset


def asked(**options) -> TrainCfg:
    return TrainCfg(Path("dataset"), Path("run"), algo="kungfubot", **options)


def test_a_named_teacher_means_the_student_alone():
    assert tuple(new_run(asked()).stages) == ("teacher", "student")
    for stage in (None, "student"):
        cfg = new_run(asked(teacher="experts", stage=stage))
        assert (tuple(cfg.stages), cfg.teacher) == (("student",), "experts")
    with pytest.raises(ConfigError, match="--teacher goes with --stage student: a teacher has its own"):
        new_run(asked(teacher="experts", stage="teacher"))


def test_a_teacher_alone_learns_by_trial_and_error_too():
    """What one recipe calls a teacher by trial and error, another one calls a tracker."""
    for algo, stage in (("kungfubot", "teacher"), ("maskedmimic", "tracker")):
        cfg = new_run(TrainCfg(Path("dataset"), Path("run"), algo=algo, stage="teacher", begin="scratch"))
        assert tuple(cfg.stages) == (stage,)
        assert not cfg.stages[stage].algorithm.taught


@pytest.mark.parametrize("teacher", [None, "experts", "nowhere"])
def test_a_stage_with_a_typo_is_guessed_whatever_its_teacher(teacher):
    with pytest.raises(
        ConfigError, match=r"no stage 'studnt', did you mean 'student'\?; kungfubot can learn alone: teacher, student"
    ):
        new_run(asked(stage="studnt", teacher=teacher))


def test_a_teacher_that_is_not_there_is_told_before_anything_is_done(tmp_path):
    with pytest.raises(ConfigError, match="nowhere: no training run is there; give the folder of one that has a te"):
        new_run(asked(teacher=str(tmp_path / "nowhere")))


def test_noise_and_pushes_are_asked_for_by_themselves_or_with_all_of_the_table():
    for own in new_run(asked(disturb=True)).stages.values():
        found = own.environment.disturbances
        assert (found.noise, found.pushes, found.differ, found.randomize) == (1.0, True, True, False)
    with pytest.raises(ConfigError, match="--disturb and --randomize: give one of them"):
        check_numbers(asked(disturb=True, randomize=True))


def test_by_trial_and_error_pushes_grow_and_velocity_is_estimated():
    """From experts pushes are as large from the beginning on, as labels say at once what to do."""
    for disturbed in ({"disturb": True}, {"randomize": True}):
        for begin, rise in (("scratch", 0.5), ("experts", 0.0)):
            cfg = new_run(TrainCfg(Path("dataset"), Path("run"), algo="beyondmimic", begin=begin, **disturbed))
            (own,) = cfg.stages.values()
            assert (own.environment.history, own.environment.disturbances.rise) == (10, rise)
    (own,) = new_run(TrainCfg(Path("dataset"), Path("run"), algo="beyondmimic", begin="scratch")).stages.values()
    assert (own.environment.history, own.environment.disturbances.rise) == (1, 0.0)


@pytest.mark.parametrize("begin", ["experts", "scratch"])
def test_a_disturbed_run_is_of_the_preset_that_it_was_begun_with(begin):
    cfg = new_run(TrainCfg(Path("dataset"), Path("run"), algo="beyondmimic", begin=begin, disturb=True))
    assert of_preset(cfg, "cpu")
    assert not of_preset(cfg, "paper")
    (stage,) = cfg.stages
    other = replace(cfg, stages={stage: replace(cfg.stages[stage], network=MLPCfg(hidden=(3,)))})
    assert not of_preset(other, "cpu")

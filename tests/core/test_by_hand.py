"""Motions by hand: what is cut, brought to another rate, saved and shown is the motion that it was."""

from __future__ import annotations

import json
import re
from html import unescape

import numpy as np
import pytest

import phuma
from phuma.synth import generate
from tests.learning.sample_motions import dip

pytest.importorskip("mujoco")


@pytest.fixture(scope="module")
def motion():
    return dip(phuma.load_robot("g1"), 1.0)


def test_a_part_is_the_same_frames_and_knows_where_it_begins(motion):
    for whole in (motion, generate("walk", 2.0).motion):
        part = whole.cut(0.2, 0.6)
        first = round(0.2 * whole.fps)
        assert np.array_equal(part.root_pos, whole.root_pos[first : round(0.6 * whole.fps)])
        assert part.provenance.start == pytest.approx(whole.provenance.start + 0.2)
        assert len(whole.cut(end=99.0)) == len(whole), "an end beyond the end is the end"
        with pytest.raises(phuma.PhumaError, match=r"nothing lies between 9 s and the end"):
            whole.cut(9.0)


def test_twice_the_rate_has_every_frame_of_the_motion(motion):
    for whole in (motion, generate("walk", 2.0).motion):
        twice = whole.resample(2 * whole.fps)
        assert twice.fps == 2 * whole.fps
        assert np.allclose(twice.root_pos[::2], whole.root_pos, atol=1e-12)


def test_what_is_saved_is_read_as_what_it_was(motion, tmp_path):
    motion.save(tmp_path / "robot.npz")
    assert np.allclose(phuma.load_robot_motion(tmp_path / "robot.npz").joint_pos, motion.joint_pos, atol=1e-6)
    person = generate("walk", 2.0).motion
    person.save(tmp_path / "person.bvh")
    read = phuma.read(tmp_path / "person.bvh")
    assert np.allclose(read.pose.position, person.pose.position, atol=1e-4)
    clip = phuma.curate(person).clips[0]
    clip.save(tmp_path / "clip.npz")
    assert phuma.load_clip(tmp_path / "clip.npz").verdict.metrics == pytest.approx(clip.verdict.metrics, rel=1e-5)
    with pytest.raises(phuma.PhumaError, match=r"ends in \.bvh"):
        person.save(tmp_path / "person.npz")


def test_a_motion_shows_itself_in_a_notebook_without_anything_from_elsewhere(motion):
    for shown in (motion, generate("walk", 4.0).motion, phuma.curate(generate("stand", 2.0).motion).clips[0]):
        html = shown._repr_html_()
        assert html.startswith("<iframe")
        assert len(html) < 100_000
        page = unescape(html)
        assert not re.search(r"(src|href)\s*=", re.sub(r"^<iframe srcdoc=", "", html)), "nothing is loaded"
        data = json.loads(re.search(r'id="data">(.*?)</script>', page, re.DOTALL).group(1))
        assert data["frames"] == -(-len(shown.cut() if not hasattr(shown, "motion") else shown.motion) // 2)


def test_the_animation_of_an_hour_is_no_larger_than_that_of_a_minute():
    person = generate("stand", 60.0, fps=30).motion
    assert len(person._repr_html_()) < 200_000


def test_a_robot_that_is_not_known_shows_its_line_of_text(motion):
    from dataclasses import replace

    assert replace(motion, robot="of somebody else")._repr_html_() is None

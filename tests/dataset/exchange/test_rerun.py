"""rerun's recordings, where its library is there; `interop/` has rerun itself verify one."""

from __future__ import annotations

import importlib.util

import pytest

from phuma.dataset.exchange import export_motion
from phuma.errors import MissingExtraError
from phuma.robots import load_robot
from tests.dataset.exchange.made_up import made_up

there = importlib.util.find_spec("rerun") is not None


def test_a_recording_is_written(tmp_path):
    robot = load_robot("g1")
    if not there:
        with pytest.raises(MissingExtraError, match=r"format 'rerun' needs rerun.*pip install 'phuma\[rerun\]'"):
            export_motion(made_up(robot), robot, tmp_path / "a.rrd", "rerun")
        return
    export_motion(made_up(robot), robot, tmp_path / "a.rrd", "rerun")
    assert (tmp_path / "a.rrd").read_bytes()[:4] == b"RRF2"
    assert [p.name for p in tmp_path.iterdir()] == ["a.rrd"]

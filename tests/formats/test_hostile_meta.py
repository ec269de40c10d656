"""Whatever stands in the texts of a stranger's clip or robot motion, it is read or refused with the file's name."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import phuma
from phuma.curation import curate
from phuma.errors import ReadError
from phuma.formats.clip_file import load_clip, save_clip
from phuma.formats.robot_motion_file import load_robot_motion, save_robot_motion
from phuma.synth import generate
from tests.fuzz import only_read_errors

ODD = (None, True, -1, 2**62, 1e300, "", "\0\n", "x" * 1000, [], [[]], [None], ["a", 1], {}, {"a": 1}, {"a": None})


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> dict[str, Path]:
    root = tmp_path_factory.mktemp("meta")
    save_clip(root / "clip.npz", curate(generate("squat", seconds=2.0, seed=1).motion).clips[0])
    save_robot_motion(root / "motion.npz", phuma.retarget(generate("squat", 1.0, 1).motion, "g1", "ik"))
    return {"clip": root / "clip.npz", "motion": root / "motion.npz"}


def opened(kind: str, path: Path) -> None:
    """Read a file and use all that its texts say."""
    if kind == "clip":
        clip = load_clip(path)
        assert repr(clip)
        assert isinstance(clip.verdict.reasons, tuple)
        save_clip(path.with_name("again.npz"), clip)
    else:
        motion = load_robot_motion(path)
        assert repr(motion)
        assert all(value is None or f"{value:.2f}" for value in motion.report.get("metrics", {}).values())
        save_robot_motion(path.with_name("again.npz"), motion)


def rewritten(path: Path, out: Path, **texts: Any) -> Path:
    with np.load(path) as data:
        np.savez(out, **{**data, **{name: np.array(text) for name, text in texts.items()}})
    return out


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to every value within a value, the first of each list."""
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value[:1]) if isinstance(value, list) else ()
    for key, inner in items:
        yield from leaves(inner, (*path, key))


def replaced(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    if not path:
        return new
    out = copy.deepcopy(value)
    at = out
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = new
    return out


@pytest.mark.parametrize("kind", ["clip", "motion"])
@pytest.mark.parametrize("text", ["", "{", "3", "[" * 100_000, '{"a": ' + "9" * 400 + "}", "9" * 5000, '{"a": NaN}'])
def test_a_meta_that_is_no_plain_json_is_refused(tmp_path, files, kind, text):
    with pytest.raises(ReadError, match=r"theirs\.npz: "):
        opened(kind, rewritten(files[kind], tmp_path / "theirs.npz", meta=text))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["clip", "motion"])
def test_whatever_one_value_of_the_meta_is_the_file_is_read_or_refused(tmp_path, files, kind):
    with np.load(files[kind]) as data:
        meta = json.loads(str(data["meta"]))
    ways = list(leaves(meta))
    for number, way in enumerate(ways):
        for odd in ODD[number % 3 :: 3]:
            text = json.dumps(replaced(meta, way, odd))
            path = rewritten(files[kind], tmp_path / "theirs.npz", meta=text)
            only_read_errors(ReadError, lambda path=path: opened(kind, path))


@pytest.mark.parametrize("name", ["", ".", "..", "/tmp/theirs", "../g1", "a\\b", "g1\n"])
def test_a_robot_s_name_leads_to_no_folder_elsewhere(tmp_path, files, name):
    with pytest.raises(
        ReadError, match=r"theirs\.npz: is of the robot .*; expected the name of a robot, without a path"
    ):
        load_robot_motion(rewritten(files["motion"], tmp_path / "theirs.npz", robot=name))


@pytest.mark.parametrize("kind", ["clip", "motion"])
@pytest.mark.parametrize("value", [np.inf, np.nan, 1e300, "", "x", [1, 2], [["a"]], "\ud800", 1j], ids=repr)
@pytest.mark.parametrize("name", ["version", "fps", "format", "joint_names", "robot"])
@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
def test_whatever_a_text_or_a_number_beside_it_is_so_it_is(tmp_path, files, kind, name, value):
    path = rewritten(files[kind], tmp_path / "theirs.npz", **{name: value})
    only_read_errors(ReadError, lambda: opened(kind, path))

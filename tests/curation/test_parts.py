"""A long recording is curated in parts: the clips are those of the whole, and memory does not grow with its length."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from phuma.core import human_motion
from phuma.core.human_motion import LONG
from phuma.core.resample import frames_at, resample
from phuma.curation import CurateCfg, curate, curate_parts, pipeline
from phuma.errors import ReadError
from phuma.io.npz import load_columns, load_npy
from phuma.sources import motionx, phuma_human, read
from phuma.sources.reader import MAX_FRAMES
from phuma.synth import generate
from tests.waiting import PATIENCE


@pytest.fixture(scope="module")
def walk():
    return generate("walk", 40.0, 3).motion


def in_parts(monkeypatch, motion, cfg, clips=3):
    monkeypatch.setattr(pipeline, "PART_CLIPS", clips)
    return list(curate_parts(motion, cfg))


@pytest.mark.parametrize("preset", ["paper", "dynamic"])
@pytest.mark.parametrize("fps", [30.0, 47.0])
def test_clips_of_parts_are_those_of_the_whole(monkeypatch, walk, preset, fps):
    motion, cfg = replace(walk, fps=fps), CurateCfg(preset, ground=0.0)
    whole, parts = curate(motion, cfg), in_parts(monkeypatch, motion, cfg)
    clips = [clip for part in parts for clip in part.clips]
    assert len(parts) > 2
    assert len(clips) == len(whole.clips)
    for mine, theirs in zip(clips, whole.clips):
        assert mine.start == pytest.approx(theirs.start, abs=1e-9)
        np.testing.assert_allclose(mine.motion.root_pos, theirs.motion.root_pos, atol=1e-9)
        turns = np.abs(np.sum(mine.motion.joint_quat * theirs.motion.joint_quat, axis=-1))
        np.testing.assert_allclose(turns, 1.0, atol=1e-9)
        np.testing.assert_array_equal(mine.contact.ratio, theirs.contact.ratio)
        assert mine.verdict.kept == theirs.verdict.kept
        for name, value in theirs.verdict.metrics.items():
            if name != "ground_tilt":  # which is that of all frames together
                assert mine.verdict.metrics[name] == pytest.approx(value, rel=1e-6, abs=1e-6), name


def test_nothing_of_the_whole_is_missing_in_the_parts(monkeypatch, walk):
    whole, parts = curate(walk), in_parts(monkeypatch, walk, CurateCfg())
    covered = np.zeros(len(whole.motion), dtype=int)
    for part in parts:
        first = round(part.motion.provenance.start * part.motion.fps)
        covered[first : first + len(part.motion)] += 1
        assert len(part.frames) == len(part.contact) == len(part.motion)
    assert covered.min() == 1


def test_all_parts_stand_on_one_ground_that_is_the_wholes(monkeypatch, walk):
    monkeypatch.setattr(pipeline, "STRETCH", 100)
    high = walk.shifted(np.array([0.0, 0.0, 0.4]))
    parts = in_parts(monkeypatch, high, CurateCfg())
    assert len({part.ground for part in parts}) == 1
    assert parts[0].ground == pytest.approx(curate(high).ground, abs=2e-3)


def test_what_is_not_long_is_curated_as_one(walk):
    [only] = curate_parts(walk)
    whole = curate(walk)
    np.testing.assert_array_equal(only.motion.joint_quat, whole.motion.joint_quat)
    assert [clip.verdict for clip in only.clips] == [clip.verdict for clip in whole.clips]


@pytest.mark.parametrize("rate", [30.0, 25.0, 60.0])
def test_some_frames_of_a_resampled_motion_are_those_of_all(walk, rate):
    whole = resample(walk, rate)
    assert len(whole) == frames_at(walk, rate)
    some = resample(walk, rate, 100, 250)
    np.testing.assert_array_equal(some.joint_quat, whole.joint_quat[100:250])
    np.testing.assert_array_equal(some.root_pos, whole.root_pos[100:250])
    assert some.provenance.start == pytest.approx(100 / rate)


def test_long_recordings_hold_rotations_in_single_precision_and_their_pieces_in_double(monkeypatch, walk):
    monkeypatch.setattr(human_motion, "LONG", 500)
    long = replace(walk)
    assert (long.joint_quat.dtype, long.root_pos.dtype) == (np.float32, np.float64)
    assert long.frames(0, 100).joint_quat.dtype == np.float64
    np.testing.assert_allclose(long.joint_quat, walk.joint_quat, atol=1e-7)


def test_columns_of_a_table_are_those_of_the_whole_table(tmp_path, monkeypatch):
    monkeypatch.setattr("phuma.io.npz.BLOCK_BYTES", 1000)
    table = np.random.default_rng(0).normal(size=(301, 20))
    wanted = np.array([0, 3, 19])
    for order in "CF":
        np.save(tmp_path / "a.npy", np.asarray(table, order=order))
        np.savez_compressed(tmp_path / "a.npz", table=np.asarray(table, order=order))
        for found in (load_columns(tmp_path / "a.npy", wanted), load_columns(tmp_path / "a.npz", wanted, "table")):
            np.testing.assert_array_equal(found, load_npy(tmp_path / "a.npy")[:, wanted])
            assert not found.flags.writeable
    narrow = load_columns(tmp_path / "a.npz", wanted, "table", np.float32)
    np.testing.assert_array_equal(narrow, table[:, wanted].astype(np.float32))


@pytest.mark.parametrize(("reader", "columns"), [(motionx, motionx.COLUMNS), (phuma_human, phuma_human.POSE)])
def test_a_recording_of_too_many_frames_is_refused_by_its_header(tmp_path, reader, columns):
    path = sparse(tmp_path / "endless.npy", MAX_FRAMES + 1, columns)
    with pytest.raises(ReadError, match=r"has 2,000,001 frames; at most 2,000,000 are read as one recording: cut it"):
        read(path)


def sparse(path, frames, columns):
    """A table of zeros that takes no room on the disk."""
    array = np.lib.format.open_memmap(path, "w+", np.float32, (frames, columns))
    del array
    return path


INSPECT = """
import json, re, sys
from pathlib import Path
from phuma.cli.main import main
code = main(["inspect", *sys.argv[1:]])
peak = re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())  # that of resource is a parent's, too
print(json.dumps([code, int(peak[1]) / 1024]))
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is counted as Linux tells it")
def test_memory_for_a_long_recording_is_little_more_than_for_its_rotations(tmp_path):
    """A frame has 276 bytes in the file, and its rotations 352 in memory; beside these the program itself has its
    modules, and a part of half an hour what curating it takes."""
    frames = LONG + 1
    path = sparse(tmp_path / "long.npy", frames, phuma_human.POSE)
    done = subprocess.run(
        [sys.executable, "-c", INSPECT, str(path)], capture_output=True, text=True, timeout=PATIENCE, check=True
    )
    code, megabytes = json.loads(done.stdout.splitlines()[-1])
    assert code == 0
    assert "200001 frames at 30 Hz" in done.stdout
    assert megabytes < 700

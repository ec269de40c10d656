"""Files of points: names, metres, z up and the rate come out, and what is wrong is told."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given

from phuma.core.skeleton import JOINTS
from phuma.errors import ReadError
from phuma.io.probe import Probe
from phuma.sources import freemocap, read_all, trc
from phuma.synth import generate
from phuma.video.landmarks import NAMES
from tests.fuzz import changes, damage, fuzzed, only_read_errors

MOTION = generate("walk", 2.0, 1, 60.0).motion
JOINT_OF = {
    "left_shoulder": "left_shoulder", "right_shoulder": "right_shoulder", "left_hip": "left_hip", "nose": "head",
    "right_hip": "right_hip", "left_ankle": "left_ankle", "right_ankle": "right_ankle",
}  # fmt: skip


def landmarks() -> np.ndarray:
    """(T, 33, 3) m: MediaPipe's points at joints, those without one at the pelvis."""
    columns = [JOINTS.index(JOINT_OF.get(name, "pelvis")) for name in NAMES]
    return MOTION.pose.position[:, columns]


@pytest.mark.parametrize("extra", [0, 42, 510, 520])
def test_freemocap_s_first_points_are_mediapipe_s_in_millimetres(tmp_path: Path, extra: int) -> None:
    truth = landmarks()
    np.save(tmp_path / "a.npy", np.concatenate([1000 * truth, np.full((len(truth), extra, 3), np.nan)], axis=1))
    probe = Probe(tmp_path / "a.npy")
    assert freemocap.recognises(probe)
    points = freemocap.parse(probe)
    assert (tuple(points.names), points.fps, points.up) == (NAMES, None, "z")
    np.testing.assert_allclose(points.positions, truth, atol=1e-9)


def test_other_arrays_are_not_freemocap_s(tmp_path: Path) -> None:
    for shape in ((9, 22, 3), (9, 33, 2), (9, 33), (9, 34, 3)):
        np.save(tmp_path / "a.npy", np.zeros(shape))
        assert not freemocap.recognises(Probe(tmp_path / "a.npy"))


def test_points_that_are_not_known_stay_unknown(tmp_path: Path) -> None:
    truth = 1000 * landmarks()
    truth[3, 5] = np.nan
    truth[4, 6, 1] = np.inf
    np.save(tmp_path / "a.npy", truth)
    positions = freemocap.parse(Probe(tmp_path / "a.npy")).positions
    assert np.argwhere(np.isnan(positions).any(axis=2)).tolist() == [[3, 5], [4, 6]]
    np.save(tmp_path / "a.npy", np.full_like(truth, np.nan))
    with pytest.raises(ReadError, match="fewer than two frames in which a point is known"):
        freemocap.parse(Probe(tmp_path / "a.npy"))
    np.save(tmp_path / "a.npy", landmarks())
    with pytest.raises(ReadError, match=r"points 0\.00\d+ m apart, taken as millimetres"):
        freemocap.parse(Probe(tmp_path / "a.npy"))


def trc_text(unit: str = "m", rate: str = "60.000000", blank: bool = True) -> str:
    """OpenCap's layout; in its axes x is ahead, y up and z right."""
    position = MOTION.pose.position / {"m": 1.0, "mm": 0.001}[unit]
    position = np.stack([position[..., 0], position[..., 2], -position[..., 1]], axis=-1)
    lines = [
        "PathFileType\t4\t(X/Y/Z)\twalk.trc\t",
        "DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\tOrigDataRate\tOrigDataStartFrame\tOrigNumFrames",
        f"{rate}\t{rate}\t{len(MOTION)}\t{len(JOINTS)}\t{unit}\t{rate}\t1\t{len(MOTION)}",
        "Frame#\tTime\t" + "\t\t\t".join(JOINTS) + "\t\t\t",
        "\t\t" + "\t".join(f"X{i}\tY{i}\tZ{i}" for i in range(1, 23)) + "\t",
        *([""] if blank else []),
    ]
    for t, frame in enumerate(position):
        lines.append(f"{t + 1}\t{t / 60:.6f}\t" + "\t".join(f"{v:.6f}" for v in frame.ravel()))
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("unit", ["m", "mm"])
@pytest.mark.parametrize("blank", [True, False])
def test_marker_files_come_back_within_a_millimetre(tmp_path: Path, unit: str, blank: bool) -> None:
    (tmp_path / "a.trc").write_text(trc_text(unit, blank=blank))
    assert trc.recognises(Probe(tmp_path / "a.trc"))
    points = trc.parse(tmp_path / "a.trc")
    assert (tuple(points.names), points.fps, points.up) == (JOINTS, 60.0, "y")
    np.testing.assert_allclose(points.positions, MOTION.pose.position, atol=1e-3)


def test_empty_cells_of_marker_files_are_not_known(tmp_path: Path) -> None:
    lines = trc_text().splitlines()
    cells = lines[8].split("\t")
    cells[5] = ""
    lines[8], lines[9] = "\t".join(cells), "\t".join(lines[9].split("\t")[:-3])
    (tmp_path / "a.trc").write_text("\n".join(lines))
    positions = trc.parse(tmp_path / "a.trc").positions
    assert np.argwhere(np.isnan(positions).any(axis=2)).tolist() == [[2, 1], [3, 21]]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("\tm\t", "\tinch\t", "has units 'inch'; expected m, cm, mm"),
        ("60.000000", "fast", "has no DataRate"),
        ("pelvis", "", "names 21 markers and has '22' by its header"),
        ("Frame#\tTime\t" + "\t\t\t".join(JOINTS), "Frame#\tTime", "names 0 markers"),
        ("\n1\t0.000000\t", "\n1\t0.000000\tx", "row 1 that is not of numbers"),
    ],
)
def test_what_is_wrong_with_a_marker_file_is_told(tmp_path: Path, old: str, new: str, message: str) -> None:
    (tmp_path / "bad.trc").write_text(trc_text().replace(old, new))
    with pytest.raises(ReadError, match=rf"bad\.trc: .*({message})"):
        trc.parse(tmp_path / "bad.trc")
    (tmp_path / "bad.trc").write_text("\n".join(trc_text().splitlines()[:7]))
    with pytest.raises(ReadError, match="has 1 frames; a motion needs at least 2"):
        trc.parse(tmp_path / "bad.trc")


@fuzzed
@given(changes)
def test_damaged_files_of_points_give_points_or_a_read_error(tmp_path_factory, edits) -> None:
    folder = tmp_path_factory.getbasetemp() / "points"
    if not folder.exists():
        folder.mkdir()
        np.save(folder / "whole.npy", 1000 * landmarks()[:20])
        (folder / "whole.trc").write_text("\n".join(trc_text().splitlines()[:20]))
    (folder / "a.npy").write_bytes(damage((folder / "whole.npy").read_bytes(), edits))
    (folder / "a.trc").write_bytes(damage((folder / "whole.trc").read_bytes(), edits))

    def parse() -> None:
        probe = Probe(folder / "a.npy")
        if freemocap.recognises(probe):
            freemocap.parse(probe)

    only_read_errors(ReadError, parse)
    only_read_errors(ReadError, lambda: trc.parse(folder / "a.trc"))


def test_points_become_a_motion_through_the_registry(tmp_path: Path) -> None:
    """The pelvis' path is that of the points; how well a body is fitted is the fit's own matter."""
    pytest.importorskip("phuma.video.points")
    (tmp_path / "walk.trc").write_text(trc_text())
    (motion,) = read_all(tmp_path / "walk.trc")
    assert (motion.provenance.format, motion.fps, len(motion)) == ("trc", 60.0, len(MOTION))
    assert np.linalg.norm(motion.root_pos - MOTION.root_pos, axis=1).max() < 0.1

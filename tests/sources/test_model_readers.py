"""Readers of video models' files: what a model writes comes back, person by person, stretch by stretch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")

from phuma.body import open_body
from phuma.cli.curate import curate_sources, summary
from phuma.cli.retarget import RetargetCfg, retarget_sources
from phuma.core.human_motion import HumanMotion
from phuma.curation import CurateCfg
from phuma.errors import ReadError
from phuma.sources import ReadCfg, find_recordings, read_all
from phuma.synth import generate
from tests.sources import model_files as files

FPS = 30.0
WITH_PATH = ("gvhmr", "gem", "tram", "wham", "prompthmr")


def walk(seconds: float = 2.0, seed: int = 1) -> HumanMotion:
    return generate("walk", seconds, seed, FPS).motion


def write(layout: str, folder: Path, motion: HumanMotion) -> Path:
    if layout == "tram":
        return files.write_tram(folder, motion)
    if layout in ("gvhmr", "gem"):
        return getattr(files, f"write_{layout}")(folder / "a.pt", motion)
    return getattr(files, f"write_{layout}")(folder / "a.pkl", files.everything(motion))


def on_the_same_body(back: HumanMotion, motion: HumanMotion) -> HumanMotion:
    """The body is fitted anew; where its joints are is asked of the one that was written."""
    return replace(back, body=motion.body)


@pytest.mark.parametrize("layout", WITH_PATH)
def test_joints_come_back_within_a_millimetre(tmp_path: Path, layout: str) -> None:
    motion = walk()
    (back,) = read_all(write(layout, tmp_path, motion))
    assert (back.provenance.format, back.fps, len(back)) == (layout, FPS, len(motion))
    np.testing.assert_allclose(on_the_same_body(back, motion).pose.position, motion.pose.position, atol=1e-3)
    assert (back.provenance.up, back.provenance.start) == ("y", 0.0)
    assert any(note.startswith("open body fitted: stature") for note in back.provenance.notes)


def test_without_a_path_the_lowest_foot_stands_still(tmp_path: Path) -> None:
    """The pose about the pelvis comes back; heights and steps follow from it."""
    motion = walk(4.0)
    (back,) = read_all(write("phalp", tmp_path, motion))
    same = on_the_same_body(back, motion)
    about_pelvis = same.pose.position - same.pose.position[:, :1]
    np.testing.assert_allclose(about_pelvis, motion.pose.position - motion.pose.position[:, :1], atol=1e-3)
    average = replace(back, body=open_body())
    np.testing.assert_allclose(average.sole_heights().min(axis=1), 0.0, atol=1e-3)
    soles = average.sole_positions().reshape(len(back), 4, 22, 3)
    lowest = soles[..., 2].min(axis=2)
    region = np.argmin(lowest[1:] + lowest[:-1], axis=1)
    steps = np.linalg.norm(np.diff(soles.mean(axis=2)[..., :2], axis=0), axis=-1)
    assert steps[np.arange(len(region)), region].max() < 1e-3
    went, truth = (np.linalg.norm(np.ptp(m.root_pos[:, :2], axis=0)) for m in (back, motion))
    assert 0.8 < went / truth < 1.2
    assert any("the lowest foot stands still" in note for note in back.provenance.notes)


@pytest.mark.parametrize("layout", [*WITH_PATH, "phalp"])
def test_the_rate_is_assumed_with_a_note_unless_it_is_given(tmp_path: Path, layout: str) -> None:
    path = write(layout, tmp_path, walk())
    note = f"30 Hz assumed: {layout} files hold no rate; give the true one with --fps"
    assert note in read_all(path)[0].provenance.notes
    given = read_all(path, ReadCfg(fps=25))[0]
    assert given.fps == 25
    assert note not in given.provenance.notes


def test_older_tram_files_take_the_first_camera_for_level(tmp_path: Path) -> None:
    """Their world is the first camera's, with y down."""
    motion = walk()
    path = write("tram", tmp_path, motion)
    _, camera = files.tram_content(motion)
    flip = np.diag([1.0, -1.0, -1.0])
    old = {"pred_cam_R": flip @ camera["world_cam_R"], "pred_cam_T": camera["world_cam_T"] @ flip, "img_focal": 1.0}
    np.save(tmp_path / "camera.npy", old, allow_pickle=True)
    (back,) = read_all(path)
    np.testing.assert_allclose(on_the_same_body(back, motion).pose.position, motion.pose.position, atol=1e-3)
    assert any("taken to be level" in note for note in back.provenance.notes)


def test_the_camera_may_lie_beside_the_track_and_is_asked_for_where_it_is_missing(tmp_path: Path) -> None:
    path = write("tram", tmp_path, walk())
    camera = tmp_path / "camera.npy"
    camera.rename(tmp_path / "hps/camera.npy")
    assert len(read_all(path)) == 1
    (tmp_path / "hps/camera.npy").unlink()
    with pytest.raises(ReadError, match=r"hps_track_0\.npy: .*without its camera; put camera\.npy.*beside it or into"):
        read_all(path)
    np.save(camera, {"world_cam_R": np.zeros((3, 3, 3)), "world_cam_T": np.zeros((3, 3))}, allow_pickle=True)
    with pytest.raises(ReadError, match=r"camera\.npy: has 3 frames; the track hps_track_0\.npy goes on to frame 59"):
        read_all(path)


# People, gaps and cuts


def film(seconds: float = 6.0) -> HumanMotion:
    return walk(seconds, seed=3)


def without(motion: HumanMotion, *gaps: tuple[int, int]) -> files.Seen:
    """The motion, not seen from the first to before the second frame of each gap."""
    frames = np.arange(len(motion))
    seen = np.ones(len(motion), bool)
    for first, last in gaps:
        seen[first:last] = False
    kept = replace(motion, root_pos=motion.root_pos[seen], joint_quat=motion.joint_quat[seen])
    return kept, frames[seen]


SEVERAL: dict[str, Callable[..., Path]] = {
    "wham": files.write_wham, "prompthmr": files.write_prompthmr, "phalp": files.write_phalp,
}  # fmt: skip


@pytest.mark.parametrize("layout", SEVERAL)
def test_everybody_in_a_film_is_a_motion_of_their_own(tmp_path: Path, layout: str) -> None:
    people = [walk(2.0, seed) for seed in (1, 2, 3)]
    back = read_all(SEVERAL[layout](tmp_path / "a.pkl", *map(files.everything, people)))
    assert len(back) == 3
    for motion, found in zip(people, back):
        np.testing.assert_allclose(found.joint_quat[:, 1:], motion.joint_quat[:, 1:], atol=1e-3)
    assert len({next(n for n in m.provenance.notes if n.startswith("person")) for m in back}) == 3


@pytest.mark.parametrize("layout", ["wham", "prompthmr"])
def test_short_gaps_are_filled_and_long_ones_cut(tmp_path: Path, layout: str) -> None:
    """Of 180 frames, 5 in a row are interpolated; 6 in a row part two motions."""
    motion = film()
    path = SEVERAL[layout](tmp_path / "a.pkl", without(motion, (40, 45), (100, 106)))
    first, second = read_all(path)
    assert [len(first), len(second)] == [100, 74]
    assert first.provenance.start == 0.0
    assert second.provenance.start == pytest.approx(106 / FPS)
    assert "5 frames in which the person was not seen are interpolated" in first.provenance.notes
    found = on_the_same_body(first, motion).pose.position
    truth = motion.pose.position[:100]
    np.testing.assert_allclose(np.delete(found, range(40, 45), 0), np.delete(truth, range(40, 45), 0), atol=1e-3)
    # Half a gap of 0.2 s of walking: linear in time is off by acceleration times a quarter of the square.
    np.testing.assert_allclose(found[40:45], truth[40:45], atol=0.06)
    np.testing.assert_allclose(on_the_same_body(second, motion).pose.position, motion.pose.position[106:], atol=1e-3)


def test_tracks_of_tram_have_gaps_too(tmp_path: Path) -> None:
    motion, frames = without(film(), (60, 90))
    motions = read_all(files.write_tram(tmp_path, motion, frames))
    assert [len(m) for m in motions] == [60, 90]
    for found, truth in zip(motions, (motion.frames(0, 60), motion.frames(60, 150))):
        np.testing.assert_allclose(on_the_same_body(found, motion).pose.position, truth.pose.position, atol=1e-3)


def test_who_is_only_predicted_is_not_seen_and_a_shot_begins_anew(tmp_path: Path) -> None:
    """`tracked_time` above 0 is a guess of the tracker's; with `shot` 1 the film jumps."""
    seen = files.everything(film())
    path = files.write_phalp(tmp_path / "a.pkl", seen, unseen=(*range(50, 53), *range(120, 130)), shots=(0, 80))
    motions = read_all(path)
    assert [(round(m.provenance.start * FPS), len(m)) for m in motions] == [(0, 80), (80, 40), (130, 50)]
    assert "3 frames in which the person was not seen are interpolated" in motions[0].provenance.notes


def test_what_is_seen_for_less_than_a_second_is_left_out(tmp_path: Path) -> None:
    path = files.write_wham(tmp_path / "a.pkl", without(film(), (29, 60)), without(film(), (20, 170)))
    assert [len(m) for m in read_all(path)] == [120]
    assert [len(m) for m in read_all(path, ReadCfg(fps=25))] == [29, 120]
    short = files.write_wham(tmp_path / "b.pkl", without(film(), (20, 170)))
    with pytest.raises(ReadError, match=r"b\.pkl: holds 1 people, none of whom is seen for 1 s on end.*--fps"):
        read_all(short)


def test_start_and_end_are_the_film_s(tmp_path: Path) -> None:
    path = files.write_wham(tmp_path / "a.pkl", without(film(), (60, 90)), files.everything(film()))
    cut = read_all(path, ReadCfg(start=3.5, end=5.0))
    assert [(m.provenance.start, m.duration) for m in cut] == [(3.5, 1.5), (3.5, 1.5)]
    assert [len(m) for m in read_all(path, ReadCfg(start=2.2, end=2.8))] == [18]
    with pytest.raises(ReadError, match="nothing lies between 7 s and the end"):
        read_all(path, ReadCfg(start=7))


def test_curation_names_every_person_s_clips(tmp_path: Path) -> None:
    """Nobody's clip is written over another's, and every one is stored."""
    people = [walk(4.0, seed) for seed in (1, 2)]
    path = files.write_wham(tmp_path / "film.pkl", *map(files.everything, people), without(film(), (60, 90)))
    result = curate_sources([str(path)], tmp_path / "out", ReadCfg(), CurateCfg(), jobs=1)
    stored = [c["file"] for c in result["clips"] if c["kept"]]
    assert len(result["clips"]) >= 4
    assert len(set(stored)) == len(stored) == len(list((tmp_path / "out/clips").rglob("*.npz"))) > 0
    assert not result["failed"]
    assert "the frame rate of 1 recording is assumed; give the true one with --fps" in summary(result, tmp_path)


def test_retargeting_names_every_person_s_motion(tmp_path: Path) -> None:
    """Also beside a recording that is called as the second person would be."""
    pytest.importorskip("mink")
    files.write_wham(tmp_path / "film.pkl", *(files.everything(walk(1.0, seed)) for seed in (1, 2)))
    files.write_gvhmr(tmp_path / "film_1.pt", walk(1.0, seed=3))
    result = retarget_sources([str(tmp_path)], tmp_path / "out", RetargetCfg(method="ik", jobs=1), ReadCfg())
    stored = sorted(str(p.relative_to(tmp_path / "out/" / tmp_path.name)) for p in (tmp_path / "out").rglob("*.npz"))
    assert stored == ["film_0.npz", "film_1.npz", "film_1~2.npz"]
    assert len({row["file"] for row in result["motions"]}) == 3


def test_a_folder_of_tram_s_holds_its_tracks_alone(tmp_path: Path) -> None:
    path = write("tram", tmp_path / "film", walk())
    np.save(tmp_path / "film/boxes.npy", np.array([None], dtype=object), allow_pickle=True)
    assert [r.path for r in find_recordings([tmp_path])] == [path]


def test_a_folder_of_gvhmr_s_holds_its_results_alone(tmp_path: Path) -> None:
    (tmp_path / "preprocess").mkdir()
    path = files.write_gvhmr(tmp_path / "hmr4d_results.pt", walk())
    files.write_gvhmr(tmp_path / "preprocess/bbx.pt", walk())
    assert [r.path for r in find_recordings([tmp_path])] == [path]

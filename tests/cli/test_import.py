"""`phuma import` as a user runs it. The readers themselves are in tests/dataset/formats."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("duckdb")

import phuma
from phuma.core import rotations as rot
from phuma.core.foot_contacts import in_contact
from phuma.core.robot_metrics import ROBOT_METRICS, flag_word, flags_of
from phuma.dataset.describe import load_description, save_description
from phuma.dataset.exchange import export_motion
from phuma.dataset.record import file_sha256
from phuma.dataset.split import split_of
from phuma.pipelines.build_dataset import BuildCfg, build_dataset
from phuma.retargeting.measure import measure
from phuma.robots import load_robot
from phuma.synth import generate
from tests.cli.small_dataset import built, here, run, write_sources
from tests.dataset.exchange.made_up import made_up

pytestmark = pytest.mark.slow

NO_HUMAN_NEEDED = (
    "feasibility", "non_penetration_all", "joint_jerk", "self_penetration", "torque_peak", "torque_over",
    "residual_contact", "residual_flight",
)  # fmt: skip


@pytest.fixture(scope="module")
def dataset(tmp_path_factory) -> Path:
    return built(tmp_path_factory.getbasetemp())


def at_ease(robot, seed: int):
    """A robot that stands, and moves a little in a way of its own."""
    motion = made_up(robot, fps=30.0, seed=seed, turning=0.0)
    sway = 0.05 * (motion.joint_pos - motion.joint_pos.mean(axis=0))
    root_pos = np.tile([0.0, 0.0, robot.default_height], (len(motion), 1))
    root_quat = np.tile(rot.from_axis("z", 1.0), (len(motion), 1))
    return replace(motion, joint_pos=robot.default_pose + sway, root_pos=root_pos, root_quat=root_quat)


@pytest.fixture
def motions(tmp_path) -> Path:
    """A folder `lab` of motions of the G1 in three layouts."""
    robot, folder = load_robot("g1"), tmp_path / "lab"
    (folder / "sub").mkdir(parents=True)
    for name, layout, seed in (("walk1_subject1.csv", "csv", 0), ("sub/dance.pkl", "gmr", 1), ("take.npy", "phuma", 2)):
        export_motion(at_ease(robot, seed), robot, folder / name, layout)
    return folder


def bytes_of(root: Path) -> dict[str, bytes]:
    return {p.relative_to(root).as_posix(): p.read_bytes() for p in root.rglob("*") if p.is_file()}


def bring(capsys, *args) -> tuple[int, dict]:
    code, out, _ = run(capsys, "import", *args, "--jobs", 1, "--json")
    return code, json.loads(out)


def assert_checksums(root: Path) -> None:
    for row in phuma.open_dataset(root).rows("kept"):
        assert file_sha256(root / row["file"]) == row["sha256"]


@pytest.mark.parametrize("layout", ["phuma", "csv", "gmr"])
def test_export_and_import_keep_the_motion_and_its_metrics(capsys, tmp_path, dataset, layout):
    run(capsys, "export", dataset, "--format", layout, "--out", tmp_path / "x")
    code, result = bring(capsys, tmp_path / "x", "--robot", "g1", "--out", tmp_path / "d", "--format", layout)
    assert code == 0
    files = {f["clip"]: f for f in json.loads((tmp_path / "x" / "export.json").read_text())["files"]}
    rows = {Path(r["recording"]).stem: r for r in phuma.open_dataset(tmp_path / "d").rows()}
    assert set(rows) == set(files)
    assert len(result["motions"]) == len(files)
    for before in phuma.open_dataset(dataset).entries():
        row = rows[before.id]
        after = phuma.load_robot_motion(tmp_path / "d" / row["file"])
        was = before.motion()
        np.testing.assert_allclose(after.joint_pos, was.joint_pos, atol=1e-6)
        np.testing.assert_allclose(after.root_pos, was.root_pos, atol=1e-6)
        np.testing.assert_allclose(np.abs(np.sum(after.root_quat * was.root_quat, axis=1)), 1, atol=1e-6)
        assert after.joint_names == was.joint_names
        assert after.fps == was.fps
        scores = measure(was, load_robot("g1"))  # of the file that was exported
        for name in NO_HUMAN_NEEDED:
            assert (row[name] is None) == (scores[name] is None)
            if scores[name] is not None:
                assert row[name] == pytest.approx(scores[name], rel=1e-3, abs=1e-6), name
        assert row["fidelity"] is None
        assert row["category"] == before.row["category"]  # the name says it
    assert_checksums(tmp_path / "d")


def test_imports_are_marked_measured_and_named(capsys, tmp_path, motions):
    (motions / "labels.csv").write_text("file,label\ntake,a high kick\n")
    code, result = bring(capsys, motions, "--robot", "g1", "--out", tmp_path / "d", "--licence", "CC BY 4.0")
    assert code == 0
    assert result["failed"] == []
    assert result["counts"]["kept"] == 3
    rows = {row["recording"]: row for row in phuma.open_dataset(tmp_path / "d").rows()}
    assert {name: (r["format"], r["category"], r["category_group"]) for name, r in rows.items()} == {
        "imported/lab/walk1_subject1.csv": ("csv", "walk", "horizontal"),
        "imported/lab/sub/dance.pkl": ("gmr", None, None),
        "imported/lab/take.npy": ("phuma", "kick", "angular"),
    }
    for name, row in rows.items():
        assert (row["imported"], row["kept"], row["source"], row["licence"]) == (True, True, "lab", "CC BY 4.0")
        assert row["redistributable"] is None
        assert row["split"] == split_of(name.removeprefix("imported/lab/"))
        assert row["human_file"] is None
        assert row["feasibility"] is not None
        motion = phuma.load_robot_motion(tmp_path / "d" / row["file"])
        assert len(motion) == row["frames"] == 41  # too short to be cut
        assert motion.provenance.source == name
        scores = measure(motion, load_robot("g1"))  # of what was written, not of what was read
        assert {name: row[name] for name in scores} == scores
    assert_checksums(tmp_path / "d")
    assert run(capsys, "verify", tmp_path / "d")[0] in (0, 1)  # made-up motions may leave the joints' limits


@pytest.fixture(scope="module")
def walk():
    """A robot that walks for half a minute, as we put it there."""
    return phuma.retarget(generate("walk", 30.0, 3).motion, "g1", contacts="stance")


def test_a_long_motion_comes_back_in_clips_on_the_ground_with_the_metrics_that_it_had(capsys, tmp_path, walk):
    robot = load_robot("g1")
    lifted = replace(walk, root_pos=walk.root_pos + [0.0, 0.0, 0.3])
    export_motion(lifted, robot, tmp_path / "walk.csv", "csv")
    code, result = bring(capsys, tmp_path / "walk.csv", "--out", tmp_path / "d")
    assert code == 0
    rows = sorted(phuma.open_dataset(tmp_path / "d").rows(), key=lambda row: row["start"])
    spans = [(row["start"], row["end"]) for row in rows]
    assert spans == [(3.5 * k, min(3.5 * k + 4, 30.0)) for k in range(9)]
    assert [(m["start"], m["end"]) for m in result["motions"]] == spans
    for row in rows:
        assert row["kept"], row["reasons"]
        assert "the ground is at 0.300 m by the vote of the robot's soles" in row["notes"][-1]
        after = phuma.load_robot_motion(tmp_path / "d" / row["file"])
        was = walk.frames(slice(round(30 * row["start"]), round(30 * row["end"])))
        np.testing.assert_allclose(after.root_pos, was.root_pos, atol=1e-3)
        assert after.provenance.start == row["start"]
        scores = measure(was, robot)
        for name in NO_HUMAN_NEEDED:
            assert (row[name] is None) == (scores[name] is None)
            if scores[name] is not None:
                assert row[name] == pytest.approx(
                    scores[name], rel=0.05, abs=1.0 if ROBOT_METRICS[name].unit == "%" else 0.02
                ), name
        assert np.mean(in_contact(after.contact) == in_contact(was.contact)) > 0.95, "it stands where we let it stand"
        assert set(map(flag_word, row["flags"])) <= set(map(flag_word, flags_of(scores))), "and gets no flag of its own"
    assert run(capsys, "verify", tmp_path / "d")[0] == 0


def test_a_clip_that_the_ground_could_not_carry_is_rejected_and_its_neighbours_are_not(capsys, tmp_path, walk):
    """As preset `dynamic` judges people: of one long file, a part floats and a later one slides."""
    start = walk.cut(0.0, 16.0)
    time = np.arange(len(start)) / start.fps
    lift = np.where((time > 4.5) & (time < 6.5), 0.15, 0.0)
    ahead = 0.4 * np.clip(time - 10.5, 0.0, 4.0)
    off = replace(start, root_pos=start.root_pos + np.stack([ahead, 0 * ahead, lift], axis=1))
    export_motion(off, load_robot("g1"), tmp_path / "walk.csv", "csv")
    bring(capsys, tmp_path / "walk.csv", "--out", tmp_path / "d")
    why = {row["start"]: [r.split(":")[0] for r in row["reasons"]] for row in phuma.open_dataset(tmp_path / "d").rows()}
    assert "external_support_force" in why[3.5]
    assert "sole_slide" in why[10.5]
    assert why[0.0] == why[7.0] == why[14.0] == []


@pytest.mark.parametrize("turn", [(np.pi / 2, 0, 0), (0, np.pi / 2, 0)], ids=["on its side", "on its face"])
def test_a_robot_that_lies_in_the_air_is_flagged_and_not_kept(capsys, tmp_path, walk, turn):
    """At hip height, where the five metrics have no contact to look at: it was called perfect."""
    robot = load_robot("g1")
    still = walk.frames(np.zeros(150, dtype=int))
    root_pos = np.tile([0.0, 0.0, robot.default_height], (150, 1))
    lying = replace(still, root_pos=root_pos, root_quat=np.tile(rot.from_rotvec(np.array(turn)), (150, 1)))
    export_motion(lying, robot, tmp_path / "lying.csv", "csv")
    code, result = bring(capsys, tmp_path / "lying.csv", "--out", tmp_path / "d", "--format", "csv")
    assert code == 0, "a rejected clip is a result"
    assert (len(result["motions"]), result["counts"]["kept"]) == (2, 0)
    for row in phuma.open_dataset(tmp_path / "d").rows():
        assert not row["kept"]
        assert row["reasons"][0].startswith("external_support_force: a force of 100 % of the body weight")
        assert "unknown: no sole is in contact in this clip" in row["flags"][0]
        assert any(flag.startswith("residual_flight: a force of 100 % of the robot's weight") for flag in row["flags"])
        assert row["non_floating"] is row["non_penetration"] is row["non_skating"] is None
        assert row["file"] is None
        assert "no sole ever faces the ground" in row["notes"][-1]
    _, out, _ = run(capsys, "import", tmp_path / "lying.csv", "--out", tmp_path / "d", "--jobs", 1, "--format", "csv")
    assert "0 of 2 clips of 1 motion imported" in out
    assert "Rejected: imported/" in out
    assert run(capsys, "verify", tmp_path / "d")[0] == 0
    assert run(capsys, "report", tmp_path / "d")[0] == 0


def test_two_imports_are_one_and_other_settings_are_done_anew(capsys, tmp_path, motions):
    words = (motions, "--robot", "g1", "--out", tmp_path / "d")
    bring(capsys, *words)
    first = bytes_of(tmp_path / "d")
    times = {p: p.stat().st_mtime_ns for p in (tmp_path / "d" / "clips").rglob("*.npz")}
    assert bring(capsys, *words)[0] == 0
    assert bytes_of(tmp_path / "d") == first
    assert {p: p.stat().st_mtime_ns for p in times} == times, "nothing is done twice"
    bring(capsys, *words, "--licence", "CC0", "--redistributable", "yes")
    rows = phuma.open_dataset(tmp_path / "d").rows()
    assert {(row["licence"], row["redistributable"]) for row in rows} == {("CC0", True)}
    assert len(rows) == 3
    assert "passed on" not in run(capsys, "export", tmp_path / "d", "--format", "csv", "--out", tmp_path / "x")[1]


def test_the_rate_is_given_where_the_file_has_none(capsys, tmp_path, motions):
    _, result = bring(capsys, motions, "--robot", "g1", "--out", tmp_path / "d", "--fps", 60)
    told = {m["format"]: (m["fps"], m["frames"], m["kept"]) for m in result["motions"]}
    assert told == {"csv": (30, 21, False), "gmr": (30, 41, True), "phuma": (30, 41, True)}, (
        "41 frames at 60 Hz are 0.7 s"
    )
    (short,) = (m for m in result["motions"] if m["format"] == "csv")
    assert short["reasons"] == ["duration: the clip lasts 0.7 s (at least 1 s)"]
    notes = phuma.open_dataset(tmp_path / "d").rows("format = 'csv'")[0]["notes"]
    assert "rate given: 60 Hz" in notes
    assert not [n for n in notes if "assumed" in n]


def test_a_bad_file_does_not_cost_the_others(capsys, tmp_path, motions):
    (motions / "bad.csv").write_text("1,2,3,4,5,6,7,8\n")
    (motions / "evil.pkl").write_bytes(b"\x80\x04cos\nsystem\n(S'touch /tmp/never'\ntR.")
    export_motion(made_up(load_robot("h1_2")), load_robot("h1_2"), motions / "tall.csv", "csv")
    code, result = bring(capsys, motions, tmp_path / "none.csv", "--robot", "g1", "--out", tmp_path / "d")
    assert code == 1
    assert len(result["motions"]) == 3
    reasons = {f["source"].removeprefix("imported/"): f["reason"] for f in result["failed"]}
    assert set(reasons) == {"lab/bad.csv", "lab/evil.pkl", "lab/tall.csv", f"{tmp_path.name}/none.csv"}
    assert "line 1 has 8 columns" in reasons["lab/bad.csv"]
    assert "line 1 has 34 columns; expected 36" in reasons["lab/tall.csv"]
    assert "internal error" not in " ".join(reasons.values())
    told = {f["recording"] for f in load_description(tmp_path / "d").failed}
    assert told == {f"imported/{name}" for name in reasons}
    code, out, _ = run(capsys, "import", motions, "--robot", "g1", "--out", tmp_path / "d", "--jobs", 1)
    assert code == 1
    assert "Not usable: imported/lab/bad.csv" in out
    assert "without a category" in out
    (motions / "bad.csv").unlink()
    (motions / "evil.pkl").unlink()
    (motions / "tall.csv").unlink()
    assert bring(capsys, motions, "--out", tmp_path / "d")[0] == 0  # of the files that were named, all are good


def test_a_persons_recording_is_told_so_with_the_command_for_it_unless_a_format_was_named(capsys, tmp_path):
    run(capsys, "synth", "--type", "reach", "--seconds", 2, "--out", tmp_path / "people")
    recording = tmp_path / "people" / "reach_0000.npz"
    code, result = bring(capsys, recording, "--robot", "g1", "--out", tmp_path / "d")
    ((reason,),) = ([f["reason"] for f in result["failed"]],)
    assert code == 1
    assert f"a person's recording (amass-smplx), not a robot's motion; run: phuma retarget {recording}" in reason
    told = bring(capsys, recording, "--format", "mjlab", "--robot", "g1", "--out", tmp_path / "d")[1]
    assert "person" not in told["failed"][0]["reason"]


def test_motions_of_others_beside_our_own(capsys, tmp_path, motions):
    """Whichever comes first, and either goes on being there when the other runs again."""
    sources = write_sources(tmp_path / "s")
    one, two = tmp_path / "one", tmp_path / "two"
    cfg = BuildCfg(method="physink")
    build_dataset(sources, one, cfg, here)
    capsys.readouterr()
    bring(capsys, motions, "--out", one)
    bring(capsys, motions, "--out", two)
    build_dataset(sources, two, cfg, here)
    assert bytes_of(one) == bytes_of(two)
    rows = phuma.open_dataset(one).rows("kept")
    assert sum(row["imported"] for row in rows) == 3
    assert {row["imported"] for row in rows} == {True, False}
    before = bytes_of(one)
    build_dataset(sources, one, cfg, here)
    assert bytes_of(one) == before
    with pytest.raises(phuma.PhumaError, match="method was 'physink', is 'sink'"):
        build_dataset(sources, two, BuildCfg(method="sink"), here)


def test_only_into_a_dataset_of_that_robot_that_is_whole(capsys, tmp_path, dataset, motions):
    def refused(out: Path, *options: str) -> str:
        before = bytes_of(out)
        code, _, err = run(capsys, "import", motions, "--out", out, *options)
        assert code == 2
        assert bytes_of(out) == before
        return err

    assert "a dataset of g1, not of h1_2" in refused(dataset, "--robot", "h1_2")
    bring(capsys, motions, "--out", tmp_path / "d")
    description = load_description(tmp_path / "d")
    save_description(tmp_path / "d", replace(description, config={"robot_files": {"g1": "0"}}))
    assert "another model of g1" in refused(tmp_path / "d")
    save_description(tmp_path / "d", replace(description, finished=False))
    assert "run the same `phuma build` again" in refused(tmp_path / "d")
    save_description(tmp_path / "d", replace(description, finished=False, importing=True))
    assert bring(capsys, motions, "--out", tmp_path / "d")[0] == 0  # an import that was killed goes on
    assert load_description(tmp_path / "d") == description


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--format", "beyondmimic"], "is only written; read are: phuma, csv, kimodo, bones-seed, mjlab"),
        (["--format", "bvh"], "unknown format 'bvh'"),
        (["--fps", "0"], "between 5 and 1000"),
        (["--redistributable", "perhaps"], "expected yes or no"),
        (["--robot", "g2"], "g1, h1_2"),
    ],
)
def test_wrong_options_list_the_right_ones(capsys, tmp_path, motions, options, says):
    code, _, err = run(capsys, "import", motions, "--out", tmp_path / "d", *options)
    assert code == 2
    assert says in err
    assert not (tmp_path / "d").exists()


def test_a_folder_without_motions_is_said(capsys, tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "labels.csv").write_text("file,label\n")
    code, _, err = run(capsys, "import", tmp_path / "empty", "--out", tmp_path / "d")
    assert code == 2
    assert "looked for .csv, .motion, .npy, .npz, .parquet, .pkl" in err


def test_all_motions_of_a_file_become_clips_each_with_a_split_of_its_own(capsys, tmp_path, walk):
    """As a LeRobot dataset has them: its metadata is no motion, and no episode's clip runs on into the next."""
    (tmp_path / "takes").mkdir()
    for k in range(3):
        phuma.save_robot_motion(tmp_path / "takes" / f"walk{k}.npz", walk.frames(slice(150 * k, 150 * k + 60)))
    run(capsys, "export", tmp_path / "takes", "--format", "lerobot", "--out", tmp_path / "x")
    code, result = bring(capsys, tmp_path / "x", "--out", tmp_path / "d")
    assert (code, result["failed"]) == (0, [])
    assert [(m["start"], m["end"]) for m in result["motions"]] == [(2.0 * k, 2.0 * k + 2) for k in range(3)]
    rows = phuma.open_dataset(tmp_path / "d").rows()
    for k, row in enumerate(sorted(rows, key=lambda row: row["start"])):
        assert row["kept"]
        assert row["split"] == split_of(f"g1/data/chunk-000/file-000.parquet/{k}")
        after = phuma.load_robot_motion(tmp_path / "d" / row["file"])
        np.testing.assert_allclose(after.joint_pos, walk.joint_pos[150 * k : 150 * k + 60], atol=1e-6)
    assert run(capsys, "verify", tmp_path / "d")[0] == 0


def test_a_table_whose_order_is_not_clear_is_a_row_that_names_the_option(capsys, tmp_path):
    robot = load_robot("g1")
    standing = replace(at_ease(robot, 0), root_quat=np.tile(rot.IDENTITY, (41, 1)))
    export_motion(standing, robot, tmp_path / "stand.csv", "csv")
    code, result = bring(capsys, tmp_path / "stand.csv", "--out", tmp_path / "d")
    assert code == 1
    assert result["failed"][0]["reason"].endswith("say --format csv or --format kimodo")
    code, result = bring(capsys, tmp_path / "stand.csv", "--out", tmp_path / "d", "--format", "kimodo")
    assert (code, result["motions"][0]["format"]) == (0, "kimodo")

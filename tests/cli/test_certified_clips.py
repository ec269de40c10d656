"""Clips that were performed under physics, as the commands export, select, count, report and draw them."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("duckdb")
pytest.importorskip("mujoco")

from phuma.dataset.dataset import open_dataset
from phuma.dataset.statistics import summarise
from phuma.robots import load_robot
from phuma.viewer.strip import HEIGHT
from tests.certified_dataset import CERTIFIED, LOST, REASON, UNTRIED, built, entry_of, lose
from tests.cli.small_dataset import run
from tests.dataset.exchange.made_up import FILES

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def root(tmp_path_factory) -> Path:
    return built(tmp_path_factory.getbasetemp())


@pytest.fixture(scope="module")
def entry(root):
    return entry_of(root, CERTIFIED)


def exported(capsys, root, out, layout, *more):
    code, said, _ = run(capsys, "export", root, "--format", layout, "--out", out, "--certified", *more)
    assert code == 0
    return said, json.loads((out / "export.json").read_text())


# Export.


@pytest.mark.parametrize("layout", FILES)
def test_only_what_is_certified_is_exported_and_as_it_was_performed(capsys, tmp_path, root, entry, layout):
    said, result = exported(capsys, root, tmp_path / "x", layout)
    assert f"1 performances in the layout {layout}" in said
    (file,) = result["files"]
    assert (file["clip"], file["fps"], result["certified"]) == (entry.id, 30 if layout == "csv" else 50, True)
    for name in ("recording", "source", "split", "licence", "redistributable"):
        assert file[name] == entry.row[name]
    written = [p for p in (tmp_path / "x").rglob("*") if p.is_file() and p.name != "export.json"]
    assert written == [tmp_path / "x" / file["file"]]


def test_velocities_and_torques_are_the_simulations(capsys, tmp_path, root, entry):
    _, result = exported(capsys, root, tmp_path / "x", "mjlab")
    data, rollout = dict(np.load(tmp_path / "x" / result["files"][0]["file"])), entry.performance()
    np.testing.assert_allclose(data["joint_pos"], rollout.joint_pos, atol=1e-6)
    np.testing.assert_allclose(data["joint_vel"], rollout.velocity[:, 6:], atol=1e-6)
    np.testing.assert_allclose(data["body_lin_vel_w"][:, 0], rollout.velocity[:, :3], atol=1e-6)
    np.testing.assert_allclose(data["joint_torque"][:-1], rollout.torque, atol=1e-5)
    assert data["foot_contact"].mean() > 0.95, "who stands has its soles on the ground"
    differences = np.gradient(rollout.joint_pos, 1 / 50, axis=0)
    assert np.abs(differences - rollout.velocity[:, 6:]).max() > 1e-3, "else this says nothing"


def test_an_export_of_motions_is_as_it_was(capsys, tmp_path, root):
    code, _, _ = run(capsys, "export", root, "--format", "mjlab", "--out", tmp_path / "x")
    result = json.loads((tmp_path / "x" / "export.json").read_text())
    assert (code, len(result["files"]), result["certified"]) == (0, 3, False)
    for file in result["files"]:
        assert {"joint_torque", "foot_contact"}.isdisjoint(np.load(tmp_path / "x" / file["file"]).files)


def test_where_nothing_is_certified_the_command_that_does_it_is_named(capsys, tmp_path, root):
    for more in (("--where", f"recording LIKE '%{UNTRIED}%'"), ("--where", f"recording LIKE '%{LOST}%'")):
        code, _, says = run(capsys, "export", root, "--format", "csv", "--out", tmp_path / "x", "--certified", *more)
        assert code == 2
        assert f"`phuma certify {root}`" in says
        assert not (tmp_path / "x").exists()
    code, _, says = run(capsys, "export", root / "clips", "--format", "csv", "--out", tmp_path / "x", "--certified")
    assert (code, "is no dataset" in says) == (2, True)


def test_a_damaged_performance_is_a_row_with_a_reason(capsys, tmp_path, root, entry):
    copy = tmp_path / "copy"
    shutil.copytree(root, copy)
    (copy / entry.row["certified_file"]).write_bytes(b"nothing")  # a copy shares nothing with what was copied
    code, said, _ = run(capsys, "export", copy, "--format", "csv", "--out", tmp_path / "x", "--certified")
    assert code == 1
    assert "Not usable:" in said


# Select.


def test_what_is_certified_can_be_selected_and_is_whole(capsys, tmp_path, root, entry):
    code, _, _ = run(capsys, "select", root, "--where", "certified", "--out", tmp_path / "part")
    assert code == 0
    part = open_dataset(tmp_path / "part")
    assert [e.id for e in part.entries()] == [entry.id]
    (chosen,) = part.entries()
    assert (tmp_path / "part" / chosen.row["certified_file"]).read_bytes() == (
        root / entry.row["certified_file"]
    ).read_bytes()
    np.testing.assert_array_equal(chosen.performance().torque, entry.performance().torque)
    assert len(list((tmp_path / "part" / "certified").rglob("*.npz"))) == 1
    assert run(capsys, "verify", tmp_path / "part")[0] == 0
    (tmp_path / "part" / chosen.row["certified_file"]).unlink()
    code, out, _ = run(capsys, "verify", tmp_path / "part")
    assert (code, "phuma certify" in out) == (1, True), "else this says nothing"


def test_what_was_not_tried_is_neither(capsys, root):
    sql = "SELECT count(*) FROM manifest WHERE certified IS NULL"
    code, out, _ = run(capsys, "query", root, sql)
    assert (code, out.split()[-1]) == (0, "1")


# Status and report.


def test_status_counts_what_was_tried(capsys, tmp_path, root):
    _, out, _ = run(capsys, "status", root)
    assert "2 of 3 kept clips were performed under physics, 1 are certified" in out
    found = json.loads(run(capsys, "status", root, "--json")[1])
    assert (found["tried"], found["certified"]) == (2, 1)
    run(capsys, "select", root, "--where", "certified IS NULL", "--out", tmp_path / "part")
    assert "physics" not in run(capsys, "status", tmp_path / "part")[1]


def test_the_report_counts_by_category_and_shows_what_was_lost(capsys, tmp_path, root, entry):
    code, out, _ = run(capsys, "report", root, "--out", tmp_path / "page.html")
    assert (code, "1 of 2 clips that were tried on g1 are certified" in out) == (0, True)
    page = (tmp_path / "page.html").read_text()
    assert "What g1 can perform under physics" in page
    assert "Not tried: 1 kept clip." in page
    section = page[page.index("What g1 can perform under physics") :]
    assert REASON.replace("<", "&lt;").replace(">", "&gt;") in section
    assert REASON not in page, "a reason is text"
    assert section.count("<svg") >= 1
    assert "0.8 s</text>" in section, "the picture ends where the performance was lost"
    (found,) = summarise(open_dataset(root)).certification
    assert (found.robot, found.kept, found.total.tried, found.total.certified, found.total.loosely) == (
        "g1",
        3,
        2,
        1,
        1,
    )
    assert found.total.error_mm == pytest.approx(entry.row["certified_error_mm"]), "of what is certified"
    assert {(c.name, c.tried, c.certified) for c in found.categories} == {("stand", 1, 1), ("squat", 1, 0)}
    assert [(c.clip, c.reason) for c in found.lost] == [(entry_of(root, LOST).id, REASON)]


def test_where_nothing_was_tried_the_report_says_nothing_of_it(capsys, tmp_path, root):
    run(capsys, "select", root, "--where", "certified IS NULL", "--out", tmp_path / "part")
    code, out, _ = run(capsys, "report", tmp_path / "part")
    assert (code, "physics" in out) == (0, False)
    assert "under physics" not in (tmp_path / "part" / "report.html").read_text()


def test_a_clip_without_a_performance_is_reported_without_a_picture(capsys, tmp_path, root):
    copy = tmp_path / "copy"
    shutil.copytree(root, copy)
    lose(copy, UNTRIED)
    (copy / entry_of(copy, UNTRIED).row["certified_file"]).unlink()
    assert run(capsys, "report", copy)[0] == 0
    assert (copy / "report.html").read_text().count("No picture: there is no performance.") == 1


# Pictures and words.


def test_a_clip_is_drawn_beside_its_performance(capsys, tmp_path, root, entry):
    iio = pytest.importorskip("imageio.v3")
    out = tmp_path / "x.png"
    clip = root / entry.row["file"]
    code, said, _ = run(capsys, "render", clip, "--certified", "--human", "--size", "64x64", "--out", out)
    assert (code, out.exists()) == (0, True)
    assert "g1 by physink, g1 certified" in said
    whole = tmp_path / "whole.png"
    run(capsys, "render", root / entry.row["certified_file"], "--size", "160x120", "--out", whole)
    assert iio.imread(whole).shape[0] == 2 * 120 + HEIGHT, "what was recorded is drawn below"
    run(capsys, "render", root / entry_of(root, LOST).row["certified_file"], "--size", "160x120", "--out", whole)
    assert iio.imread(whole).shape[0] == 2 * 120, "nothing was"
    untried = root / entry_of(root, UNTRIED).row["file"]
    code, _, says = run(capsys, "render", untried, "--certified", "--out", tmp_path / "y.png")
    assert (code, "no performance; `phuma certify DATASET`" in says) == (2, True)
    code, _, says = run(capsys, "render", clip, clip, "--certified", "--out", tmp_path / "y.png")
    assert (code, "films one clip" in says) == (2, True)


def test_inspect_tells_what_was_recorded_and_what_came_of_it(capsys, tmp_path, root, entry):
    code, out, _ = run(capsys, "inspect", root / entry.row["certified_file"], "--plot", tmp_path / "x.png")
    assert (tmp_path / "x.png").stat().st_size > 10_000
    told, then = out.split("\n\n")
    lines = {line.split("  ")[1].strip(): line for line in told.splitlines()[1:-1]}
    assert (code, then) == (0, f"Next: phuma view {root / entry.row['certified_file']}\n")
    share = 100 * np.abs(entry.performance().torque / load_robot("g1").torque_limit).max()
    assert f"{share:.3g} % of limit" in lines["torque, greatest"]
    assert "body weights" in lines["force on the left foot, greatest"]
    assert lines["certified"].split()[-1] == "yes"
    assert "torque" not in run(capsys, "inspect", root / entry_of(root, LOST).row["certified_file"])[1]

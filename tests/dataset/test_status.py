"""What `status` counts is what the records hold, finished or not."""

import json
from collections import Counter
from pathlib import Path

import pytest

from phuma.cli.status import lines
from phuma.dataset.layout import Layout
from phuma.dataset.status import status
from phuma.io.lock import locked, wait_for_workers
from tests.dataset.builds import build, records, start, write_recording
from tests.dataset.tiny import ROBOTS, built, copied, edit_description, edit_rows, rows_on_disk
from tests.waiting import wait_for

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def fresh(tmp_path_factory) -> Path:
    return built(tmp_path_factory.getbasetemp())


def check_against_records(dataset: Path) -> None:
    """Counted here once more, from JSON alone; a clip of two robots is one clip."""
    found, rows = status(dataset), rows_on_disk(dataset)
    clips = {row["clip"]: row for row in rows}
    kept = [row for row in clips.values() if row["kept"]]
    assert (found.total.clips, found.total.kept) == (len(clips), len(kept))
    assert found.total.hours == pytest.approx(sum(row["frames"] / row["fps"] for row in kept) / 3600)
    assert found.total.kept_share == pytest.approx(100 * len(kept) / len(clips))
    for column, part in (("split", found.splits), ("category", found.categories)):
        assert {k: t.clips for k, t in part.items()} == Counter(row[column] for row in clips.values())
        assert {k: t.kept for k, t in part.items() if t.kept} == Counter(row[column] for row in kept)
    assert {k: t.clips for k, t in found.robots.items()} == Counter(row["robot"] for row in rows)
    files = [json.loads(file.read_text()) for file in (dataset / "work").glob("*.json")]
    assert found.recordings == len(files)
    assert found.failed == [{"recording": f["name"], "reason": f["failed"]} for f in files if f["failed"]]


def test_of_a_finished_dataset(fresh):
    check_against_records(fresh)
    found = status(fresh)
    assert (found.finished, found.building, found.selected) == (True, False, False)
    assert set(found.robots) == set(ROBOTS)
    assert set(found.splits) == {"train", "test"}
    assert [f["recording"] for f in found.failed] == ["field/broken.bvh"]


def test_of_an_unfinished_dataset_from_its_records(fresh, tmp_path):
    dataset = copied(fresh, tmp_path / "d")
    edit_description(dataset, finished=False, counts={}, failed=[])
    next(p for p in (dataset / "work").glob("*stand*")).unlink()
    check_against_records(dataset)
    assert not status(dataset).finished
    (dataset / "manifest.parquet").unlink()
    check_against_records(dataset)


def test_whether_it_is_being_built(fresh, tmp_path):
    dataset = copied(fresh, tmp_path / "d")
    assert not status(dataset).building
    with locked(Layout(dataset).lock):
        assert status(dataset).building


def test_a_damaged_record_of_an_unfinished_dataset_is_told(fresh, tmp_path):
    dataset = copied(fresh, tmp_path / "d")
    edit_description(dataset, finished=False)
    path = next((dataset / "work").glob("*stand*"))
    path.write_text("{")
    told = {f["recording"]: f["reason"] for f in status(dataset).failed}
    assert "is damaged" in told[path.stem]


def test_nothing_done_yet(fresh, tmp_path):
    (tmp_path / "dataset.json").write_bytes((fresh / "dataset.json").read_bytes())
    edit_description(tmp_path, finished=False)
    found = status(tmp_path)
    assert (found.recordings, found.total.clips, found.total.kept_share) == (0, 0, None)


def test_how_far_a_build_is_while_it_runs_when_it_was_killed_and_at_its_end(tmp_path):
    for seed in range(6):
        write_recording(tmp_path / "people" / f"{seed}.npz", seed)
    out = tmp_path / "out"
    process = start(tmp_path / "people", out, "--jobs", 1)
    wait_for(lambda: records(out) or process.poll() is not None)
    during = status(out)
    process.kill()
    process.wait()
    assert (during.building, during.finished, during.planned) == (True, False, 6)
    assert 0 < during.recordings < 6
    assert f"{during.recordings} of 6 recordings done" in "\n".join(lines(during, out))

    wait_for_workers(Layout(out).work)
    killed = status(out)
    assert (killed.building, killed.finished, killed.planned) == (False, False, 6)
    assert killed.recordings == len(records(out)) >= during.recordings
    assert "it continues where it stopped" in "\n".join(lines(killed, out))

    assert build(tmp_path / "people", out, "--jobs", 1).returncode == 0
    done = status(out)
    assert (done.building, done.finished, done.recordings, done.planned) == (False, True, 6, 6)
    assert "\n6 recordings done, " in "\n".join(lines(done, out))
    write_recording(tmp_path / "more" / "one.npz", 7)
    assert build(tmp_path / "more", out, "--jobs", 1).returncode == 0
    assert status(out).planned == 7, "those that were there before count too"


def test_a_motion_of_unknown_category_is_counted(fresh, tmp_path):
    dataset = copied(fresh, tmp_path / "d")
    edit_rows(dataset, lambda row: row.update(category=None) if row["category"] == "stand" else None)
    told = status(dataset).as_json()["categories"]
    assert "stand" not in told
    assert told["unknown"]["clips"] == 2

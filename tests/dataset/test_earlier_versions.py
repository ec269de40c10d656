"""Datasets of version 1, in which a metric had another name, are read, searched and built on."""

import json
import shutil

import numpy as np
import pytest

from phuma.curation import CurateCfg
from phuma.dataset.dataset import open_dataset
from phuma.dataset.manifest import connect
from phuma.dataset.record import file_sha256
from phuma.dataset.search import Search, search
from phuma.dataset.select import SelectCfg, select
from phuma.dataset.statistics import summarise
from phuma.dataset.verify import verify
from phuma.pipelines.build_dataset import BuildCfg, WorkCfg, build_dataset
from phuma.robots import load_robot
from phuma.sources import amass_smplx
from phuma.synth import FAULTS, generate

pytestmark = pytest.mark.slow

CFG = BuildCfg(("g1",), method="sink", curate=CurateCfg(preset="dynamic"))
NEW, OLD = "external_support_force", "helping_force"
COLUMNS = {f'"{NEW}{end}":': f'"{OLD}{end}":' for end in ("", "_limit")}


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """Two recordings, of which one is rejected."""
    base = tmp_path_factory.mktemp("earlier") / "recorded"
    base.mkdir()
    stand = generate("stand", 2.0, 0).motion
    amass_smplx.write(base / "stand.npz", stand)
    amass_smplx.write(base / "float.npz", FAULTS["float"].apply(stand, 30.0))
    return base


@pytest.fixture(scope="module")
def fresh(source):
    """The dataset as it is written today."""
    build_dataset([source], source.parent / "new", CFG, WorkCfg(jobs=1).runner())
    return open_dataset(source.parent / "new")


@pytest.fixture
def old(fresh, tmp_path):
    """The same dataset as version 1 had it."""
    root = tmp_path / "old"
    shutil.copytree(fresh.root, root)
    _edit(root / "dataset.json", lambda text: text.replace(NEW, OLD).replace('"version": 2', '"version": 1'))
    hashes = {}
    for path in (root / "recordings").glob("*.npz"):
        before = file_sha256(path)
        with np.load(path) as data:
            arrays = dict(data)
        meta = str(arrays["meta"])
        assert NEW in meta
        np.savez(path, **arrays | {"version": np.int64(1), "meta": meta.replace(NEW, OLD)})
        hashes[before] = file_sha256(path)
    for path in (root / "work").glob("*.json"):
        _edit(path, lambda text: _replaced(text, hashes | COLUMNS))
    with connect() as database:
        database.execute(f"CREATE TABLE old AS FROM '{root / 'manifest.parquet'}'")
        for before, after in hashes.items():
            database.execute("UPDATE old SET human_sha256 = ? WHERE human_sha256 = ?", [after, before])
        names = f"{NEW} AS {OLD}, {NEW}_limit AS {OLD}_limit"
        database.execute(f"COPY (SELECT * RENAME ({names}) FROM old) TO '{root / 'manifest.parquet'}' (FORMAT parquet)")
    return root


def faults(root):
    return list(verify(root, {"g1": load_robot("g1")}))


def _edit(path, change):
    text = path.read_text()
    assert change(text) != text
    path.write_text(change(text))


def _replaced(text, names):
    for before, after in names.items():
        text = text.replace(before, after)
    return text


def _without_hash(rows):
    return [{name: value for name, value in row.items() if name != "human_sha256"} for row in rows]


def test_it_is_whole_and_its_rows_are_those_of_today(old, fresh):
    assert faults(old) == []
    assert _without_hash(open_dataset(old).rows()) == _without_hash(fresh.rows())


def test_a_hundred_percent_of_nothing_is_read_as_unknown(fresh, tmp_path):
    """As it was written before: in the record and in the manifest, which still agree."""
    root = tmp_path / "perfect"
    shutil.copytree(fresh.root, root)
    names = ("non_floating", "non_penetration", "non_skating", "human_non_skating")
    (path,) = (p for p in (root / "work").glob("*.json") if json.loads(p.read_text())["rows"][0]["kept"])
    record = json.loads(path.read_text())
    record["rows"][0] |= dict.fromkeys(names, 100.0) | {"contact_samples": 0, "step_samples": 0}
    path.write_text(json.dumps(record))
    with connect() as database:
        database.execute(f"CREATE TABLE old AS FROM '{root / 'manifest.parquet'}'")
        values = ", ".join(f"{name} = 100" for name in names)
        database.execute(f"UPDATE old SET {values}, contact_samples = 0, step_samples = 0 WHERE kept")
        database.execute(f"COPY old TO '{root / 'manifest.parquet'}' (FORMAT parquet)")
    assert faults(root) == []
    (row,) = open_dataset(root).rows("kept")
    assert [row[name] for name in names] == [None] * len(names)


def test_it_is_summarised_searched_and_its_clips_are_read(old, fresh):
    dataset = open_dataset(old)
    assert summarise(dataset).filters == summarise(fresh).filters
    assert search(dataset, Search(metric=NEW, low=0.15)).total == 1
    human = next(dataset.entries(kept=False)).human()
    assert NEW in human.verdict.metrics


def test_a_selection_of_it_is_of_today(old, tmp_path):
    select(old, tmp_path / "part", SelectCfg(at_most={NEW: 0.1}))
    part = open_dataset(tmp_path / "part")
    assert faults(part.root) == []
    assert len(part) == 1
    assert json.loads((part.root / "dataset.json").read_text())["version"] == 2


def test_a_build_goes_on_in_it_and_does_nothing_again(old, source, fresh):
    done = []

    def run(work, jobs):
        done.extend(jobs)
        return iter(())

    build_dataset([source], old, CFG, run)
    assert done == []
    assert faults(old) == []
    assert open_dataset(old).description == fresh.description

"""A dataset built by preset dynamic: its metrics have columns, its filters make the funnel and are on the page."""

import pytest

from phuma.cli.main import main
from phuma.curation import CurateCfg
from phuma.dataset.dataset import open_dataset
from phuma.dataset.statistics import summarise
from phuma.pipelines.build_dataset import BuildCfg, WorkCfg, build_dataset
from phuma.sources import amass_smplx
from phuma.synth import FAULTS, generate

pytestmark = pytest.mark.slow

METRICS = ("external_support_force", "sole_slide", "ground_drift", "ground_tilt", "shake")
PAPERS = ("root_jerk", "contact_score", "pelvis_min", "pelvis_max", "pelvis_support", "spine_support")


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    base = tmp_path_factory.mktemp("dynamic")
    run = generate("run", 2.0, 0).motion
    for name, motion in (
        ("run", run),
        ("slide", FAULTS["slide"].apply(run, 0.6)),
        ("float", FAULTS["float"].apply(run, 20.0)),
    ):
        amass_smplx.write(base / f"{name}.npz", motion)
    cfg = BuildCfg(("g1",), method="sink", curate=CurateCfg(preset="dynamic"))
    build_dataset([base], base / "dataset", cfg, WorkCfg(jobs=1).runner())
    return open_dataset(base / "dataset")


def test_every_metric_and_limit_is_a_column_and_the_other_presets_are_null(dataset):
    rows = dataset.query(f"SELECT recording, kept, {', '.join([*METRICS, *PAPERS])} FROM manifest ORDER BY recording")[
        1
    ]
    assert [(row[0].split("/")[-1], row[1]) for row in rows] == [
        ("float.npz", False),
        ("run.npz", True),
        ("slide.npz", False),
    ]
    for row in rows:
        assert all(value is not None for value in row[2:7])
        assert all(value is None for value in row[7:])
    limits = dataset.query(f"SELECT DISTINCT {', '.join(f'{m}_limit' for m in METRICS)} FROM manifest")[1]
    assert limits == [(0.15, 0.15, 0.03, 4.0, 3.0)]


def test_the_funnel_is_of_this_presets_filters(dataset):
    filters = {f.metric.name: f for f in summarise(dataset).filters}
    assert tuple(filters) == (*METRICS, "mended_tilt", "mended_drift", "mended_float", "mended_slide")
    assert filters["external_support_force"].rejects >= 1
    assert filters["sole_slide"].rejects == 1
    assert filters["mended_slide"].rejects == 1  # 0.6 m/s is more than may be taken out
    assert filters["ground_tilt"].rejects == 0


def test_the_page_shows_them(dataset, capsys):
    assert main(["report", str(dataset.root)]) == 0
    page = (dataset.root / "report.html").read_text()
    assert all(label in page for label in ("external support force", "sliding of loaded soles", "tilt of the ground"))
    assert "root jerk" not in page

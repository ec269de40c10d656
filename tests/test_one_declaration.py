"""A filter and a robot metric are each added by changes to two files, and are then everywhere that a metric is told of.

The changes are made to the sources while a fresh process imports them, so that nothing else can be touched.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

FILTER = {
    "phuma.core.curation_metrics": [
        (
            "DYNAMIC: tuple[Metric, ...] = (\n",
            """    Metric(
        "com_range", "rise and fall of the centre of mass", "m", "low", "between its lowest and its highest", 0.1,
        Rejection("the centre of mass rises and falls by {value}", "cm", 100.0),
        (Series("com_above", "centre of mass above its lowest", "m"),),
    ),
""",
        )
    ],
    "phuma.curation.dynamic": [
        ("        values = {\n", '            "com_range": np.ptp(self.height[clip]),\n'),
        (
            '        return f"FrameDynamics({len(self)} frames)"\n',
            "\n    @property\n    def com_above(self):\n        return self.height - self.height.min()\n",
        ),
    ],
}
ROBOT = {
    "phuma.core.robot_metrics": [
        (
            "BESIDE: tuple[Metric, ...] = (\n",
            """    Metric(
        "root_low", "frames with a low root", "%", "low", "frames with the root below 0.79 m",
        series=(Series("low", "the root is low"), Series("root_height", "root height", "cm", 100.0, 79.0)),
    ),
""",
        )
    ],
    "phuma.retargeting.measure": [
        ('    """(T, 4) bool: that is 10 cm/s or more"""\n', "    low: Array\n    root_height: Array\n"),
        (
            "        slips=metrics.is_skating(slip),\n",
            "        low=motion.root_pos[:, 2] < 0.79,\n        root_height=motion.root_pos[:, 2],\n",
        ),
        ("    return out | {\n", '        "root_low": metrics.percent(motion.root_pos[:, 2] < 0.79),\n'),
    ],
}

SCRIPT = '''
import importlib.abc, importlib.util, json, sys
from pathlib import Path

CHANGES = json.loads(sys.argv[1])


class Changed(importlib.abc.MetaPathFinder):
    """Loads modules from their sources with lines put behind others."""

    def find_spec(self, name, path, target=None):
        if name not in CHANGES:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        sys.meta_path.insert(0, self)
        spec.loader.get_code = lambda name, loader=spec.loader: compile(changed(name, loader.path), loader.path, "exec")
        return spec


def changed(name, path):
    text = Path(path).read_text(encoding="utf-8")
    for behind, more in CHANGES[name]:
        assert text.count(behind) == 1, f"{name} has no one line {behind!r}"
        text = text.replace(behind, behind + more)
    return text


sys.meta_path.insert(0, Changed())

from phuma.cli.main import main
from phuma.curation import CurateCfg
from phuma.dataset.dataset import open_dataset
from phuma.dataset.search import facets
from phuma.dataset.statistics import summarise
from phuma.pipelines.build_dataset import BuildCfg, build_dataset
from phuma.pipelines.scene_building import performers_of, pieces_of, show_of
from phuma.robots import load_robot
from phuma.runtime.process_pool import Done
from phuma.sources import amass_smplx
from phuma.synth import generate
from phuma.viewer.payload import payload_of

base = Path(sys.argv[2])
for kind in ("stand", "squat"):
    amass_smplx.write(base / f"{kind}.npz", generate(kind, 2.0, 0).motion)
cfg = CurateCfg(preset="dynamic")


def here(work, jobs):
    return (Done(i, work(job), None) for i, job in enumerate(jobs))


build_dataset([base], base / "dataset", BuildCfg(("g1",), method="sink", curate=cfg), here)
dataset = open_dataset(base / "dataset")
summary = summarise(dataset)
assert main(["verify", str(dataset.root)]) == 0
assert main(["report", str(dataset.root)]) == 0
piece = pieces_of(base / "squat.npz", curate_cfg=cfg)[0]
show = payload_of(show_of(piece, performers_of(piece, [load_robot("g1")], ["sink"])), [])
print(json.dumps({
    "rows": dataset.rows(),
    "limits": dataset.description.config["curate"]["limits"],
    "funnel": {f.metric.name: f.rejects for f in summary.filters},
    "distributions": [h.metric.name for h in summary.curation],
    "beside": {s.metric.name: s.mean for s in summary.robots[0].beside},
    "facets": [m.name for m in facets(dataset).metrics],
    "report": (dataset.root / "report.html").read_text(encoding="utf-8"),
    "show": show,
}))
'''


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """What a program with the changes tells of a dataset that it built."""
    base = tmp_path_factory.mktemp("declared")
    (base / "script.py").write_text(SCRIPT)
    changes = json.dumps(FILTER | ROBOT)
    done = subprocess.run(
        [sys.executable, base / "script.py", changes, base],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[1],
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def rows(told):
    return {row["recording"].split("/")[-1].removesuffix(".npz"): row for row in told["rows"]}


def test_each_touches_two_files_at_most():
    assert len(FILTER) <= 2
    assert len(ROBOT) <= 2


def test_a_new_filter_has_columns_and_rejects_in_words(told, rows):
    assert told["limits"]["com_range"] == rows["stand"]["com_range_limit"] == 0.1
    assert rows["stand"]["kept"]
    assert rows["stand"]["com_range"] < 0.1 < rows["squat"]["com_range"]
    (reason,) = rows["squat"]["reasons"]
    said = f"com_range: the centre of mass rises and falls by {100 * rows['squat']['com_range']:.0f} cm (at most 10 cm)"
    assert reason == said


def test_a_new_filter_is_in_the_funnel_the_search_and_the_report(told):
    assert told["funnel"]["com_range"] == 1
    assert "com_range" in told["distributions"]
    assert "com_range" in told["facets"]
    assert told["report"].count("rise and fall of the centre of mass") >= 2


def test_a_new_filter_is_plotted_with_its_limit_and_marks_its_frames(told):
    plots = {plot["label"]: plot for plot in told["show"]["tracks"]}
    assert plots["centre of mass above its lowest"]["limits"] == [0.1]
    height = plots["centre of mass above its lowest"]["series"][0]["values"]
    (lane,) = [lane for lane in told["show"]["lanes"] if lane["label"] == "rise and fall of the centre of mass"]
    marked = {frame for first, last in lane["spans"] for frame in range(first, last)}
    assert marked == {frame for frame, value in enumerate(height) if value >= 0.1} != set()


def test_a_new_robot_metric_has_a_column_and_is_in_the_search_and_the_report(told, rows):
    assert told["beside"]["root_low"] == rows["stand"]["root_low"]
    assert rows["squat"]["root_low"] is None, "a rejected clip has no robot's motion"
    assert "root_low" in told["facets"]
    assert "frames with a low root" in told["report"]


def test_a_new_robot_metric_is_plotted_and_marks_its_frames(told):
    plots = {plot["label"]: plot for plot in told["show"]["tracks"]}
    assert plots["root height"]["limits"] == [79.0]
    assert plots["root height"]["unit"] == "cm"
    height = plots["root height"]["series"][0]["values"]
    (lane,) = [lane for lane in told["show"]["lanes"] if lane["label"] == "the root is low"]
    marked = {frame for first, last in lane["spans"] for frame in range(first, last)}
    assert marked == {frame for frame, value in enumerate(height) if value < 79.0} != set()

"""Build a dataset: `phuma build` as a function."""

from __future__ import annotations

from pathlib import Path

from phuma.api.certify import certify_in_place
from phuma.api.sources import AnyPath, AnyRobot, robot_specs, several
from phuma.curation import CurateCfg
from phuma.dataset.dataset import Dataset
from phuma.dataset.review import read_review
from phuma.errors import PhumaError
from phuma.pipelines.build_dataset import BuildCfg, WorkCfg, build_dataset
from phuma.pipelines.certify import CertifyCfg
from phuma.pipelines.progress_bars import RecordingBar
from phuma.retargeting import DEFAULT_METHOD
from phuma.sources import ReadCfg


def build(
    sources: AnyPath | list[AnyPath],
    out: AnyPath,
    robot: AnyRobot | list[AnyRobot] = "g1",
    method: str = DEFAULT_METHOD,
    *,
    preset: str = CurateCfg.preset,
    within: float = 1.0,
    mirror: bool = False,
    certify: bool = False,
    rebuild: bool = False,
    jobs: int | None = None,
    read: ReadCfg | None = None,
    curate: CurateCfg | None = None,
    review: AnyPath | None = None,
) -> Dataset:
    """Turn recordings, or folders of them, into a dataset for one robot or several, and return it.

    Run it again and it goes on where it stopped. Recordings that cannot be used are in `dataset.description.failed`;
    where none can be, that is an error. `curate` has all settings of curation, of which `preset` is one; `review` is a
    file of judgements by hand. Work is done
    in `jobs` processes, which import your script: call it below `if __name__ == "__main__":`.

    >>> phuma.build("recordings", out="g1", jobs=1)
    Dataset('g1', 2 of 2 clips kept)
    """
    judged = read_review(Path(review)) if review is not None else {}
    reading, curating = read or ReadCfg(), curate or CurateCfg(preset=preset)
    cfg = BuildCfg(robot_specs(robot), method, mirror, within, reading, curating, judged)
    with RecordingBar() as bar:
        made = build_dataset([*map(Path, several(sources))], Path(out), cfg, WorkCfg(jobs).runner(), rebuild, bar)
    if made.failed and not made.counts["clips"]:
        raise PhumaError(f"none of {len(made.failed)} recordings could be used: {made.failed[0]['reason']}")
    dataset = Dataset(Path(out))
    if certify and len(dataset):
        dataset = certify_in_place(dataset, CertifyCfg(), cfg.robots, jobs=jobs)
    return dataset

"""Turn a file of human motion into clips: read it, curate everybody in it, and cut."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from phuma.body.choice import check_body
from phuma.core.clip import Clip
from phuma.core.human_motion import HumanMotion
from phuma.curation import CurateCfg, Curation, curate, curate_parts
from phuma.errors import ConfigError, PhumaError, ReadError
from phuma.formats.clip_file import is_clip, load_clip
from phuma.io.probe import Probe
from phuma.sources import ReadCfg, find_recordings, read_all
from phuma.sources.bvh.match import load_joint_map
from phuma.sources.skipped import none_found


def people_in(
    path: Path, read_cfg: ReadCfg | None = None, curate_cfg: CurateCfg | None = None, source: str | None = None
) -> Iterator[Curation]:
    """Yield every person in a recording, curated, one after another.

    Their provenance names the file by its path, or by `source`.
    """
    for motion in motions_in(path, read_cfg, source):
        yield curate(motion, with_rate(curate_cfg, read_cfg))


def parts_in(
    path: Path, read_cfg: ReadCfg | None = None, curate_cfg: CurateCfg | None = None
) -> Iterator[tuple[int, Curation]]:
    """Yield every person in a recording, numbered and curated as `people_in` does; a long recording comes in parts."""
    for person, motion in enumerate(motions_in(path, read_cfg)):
        for part in curate_parts(motion, with_rate(curate_cfg, read_cfg)):
            yield person, part


def motions_in(path: Path, read_cfg: ReadCfg | None = None, source: str | None = None) -> Iterator[HumanMotion]:
    """Yield the motion of every person in a recording; see `people_in`."""
    for motion in read_all(path, read_cfg):
        yield motion if source is None else motion.told(replace(motion.provenance, source=source))


def with_rate(curate_cfg: CurateCfg | None, read_cfg: ReadCfg | None) -> CurateCfg:
    """Return the settings of curation that mend the frame rate if reading asks for that: only forces can tell."""
    curate_cfg = curate_cfg or CurateCfg()
    return replace(curate_cfg, retime=True) if read_cfg and read_cfg.fps == "auto" else curate_cfg


def whole_clips(path: Path, read_cfg: ReadCfg | None = None, curate_cfg: CurateCfg | None = None) -> list[Clip]:
    """Return a clip that was curated before as it is; of a recording, one clip per person, uncut, kept or not."""
    if is_clip(Probe(path)):
        return [load_clip(path)]
    return [person.whole for person in people_in(path, read_cfg, curate_cfg)]


def all_whole_clips(
    source: str | os.PathLike[str], read_cfg: ReadCfg | None = None, curate_cfg: CurateCfg | None = None
) -> list[Clip]:
    """Return what `whole_clips` returns of a file, or of all files in a folder; none is an error."""
    files = find_recordings([source])
    if not files:
        raise none_found([source])
    return [clip for file in files for clip in whole_clips(file.path, read_cfg, curate_cfg)]


def kept_clips(path: Path, read_cfg: ReadCfg | None = None, curate_cfg: CurateCfg | None = None) -> list[Clip]:
    """Return a clip that was curated before as it is; of a recording, those clips that curation keeps."""
    if is_clip(Probe(path)):
        return [load_clip(path)]
    return [clip for _, part in parts_in(path, read_cfg, curate_cfg) for clip in part.clips if clip.verdict.kept]


def clip_row(clip: Clip) -> dict[str, Any]:
    """Return a clip as JSON: seconds, verdict, reasons, metrics."""
    return {
        "source": clip.motion.provenance.source,
        "start": round(clip.start, 6),
        "end": round(clip.end, 6),
        "kept": clip.verdict.kept,
        "reasons": list(clip.verdict.reasons),
        "metrics": clip.verdict.metrics,
        "notes": list(clip.motion.provenance.notes),
    }


class Outcome(NamedTuple):
    """Hold the results of one file, or of many, and what failed."""

    rows: list[Any]
    failed: list[dict[str, str]]
    """the `source` and the `reason` of each file that failed"""


def outcome_of(path: Path, work: Callable[[], list[Any]]) -> Outcome:
    """Return what `work` returns for a file; a fault of the file becomes a row, never an exception."""
    try:
        return Outcome(work(), [])
    except ConfigError:
        raise
    except Exception as e:  # whatever it is, it must not cost the rest of a long batch
        return Outcome([], [{"source": str(path), "reason": _reason(e, path)}])


def all_kept_clips(
    sources: Sequence[str], read_cfg: ReadCfg | None = None, curate_cfg: CurateCfg | None = None
) -> Outcome:
    """Return the clips of all files below `sources`: those curated before, and those that curation keeps."""
    files = find_recordings(sources)
    outcomes = [outcome_of(r.path, partial(kept_clips, r.path, read_cfg, curate_cfg)) for r in files]
    return Outcome([clip for o in outcomes for clip in o.rows], [f for o in outcomes for f in o.failed])


def check_reading(cfg: ReadCfg) -> None:
    """Raise the faults of the options once, before anything is touched, not once per file."""
    check_body(cfg.body)
    if cfg.joint_map:
        load_joint_map(cfg.joint_map)


def _reason(e: Exception, path: Path) -> str:
    """Return why a file could not be used, without the file's name."""
    if isinstance(e, ReadError) and e.path == str(path):
        return e.problem
    return str(e) if isinstance(e, PhumaError) else f"internal error, please report: {e!r}"

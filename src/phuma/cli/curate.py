"""Turn recordings into clips that are physically plausible, and say why the others are not.

Takes files and folders of any known format, mixed: AMASS (SMPL-X, SMPL+H), Motion-X, PHUMA human, BVH. Writes the kept
clips below DIR/clips and every verdict into DIR/curation.json.
"""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from phuma import __version__
from phuma.cli.batch import Row, check_jobs, run_batch
from phuma.cli.mend_lines import mend_lines, rate_lines
from phuma.cli.options import add_options, command_parser, from_options
from phuma.core.clip import Clip
from phuma.core.curation_metrics import CURATION_METRICS
from phuma.core.words import count_of, harmless
from phuma.curation import CurateCfg
from phuma.errors import ConfigError
from phuma.formats.clip_file import save_clip
from phuma.io.atomic import write_atomic
from phuma.pipelines.files_to_clips import Outcome, check_reading, clip_row, outcome_of, parts_in
from phuma.sources import ReadCfg, find_recordings
from phuma.sources.registry import Recording, refuse_datasets
from phuma.sources.skipped import none_found, skipped_lines

RESULT, CLIPS, UNFINISHED = "curation.json", "clips", "curation.unfinished"
"""Until a run is finished, its clips are in the folder that is called so"""


@dataclass(frozen=True)
class BatchCfg:
    """Choose how the work is done."""

    jobs: int | None = None
    """Number of worker processes (default: all cores for eight recordings or more, else one)"""

    def __post_init__(self) -> None:
        check_jobs(self.jobs)


def main(argv: Sequence[str]) -> int:
    """Run the command and return its exit code."""
    parser = command_parser("curate", __doc__)
    parser.add_argument("sources", nargs="+", metavar="SRC", help="recordings, or folders of them")
    parser.add_argument("--out", required=True, type=Path, metavar="DIR", help="where clips and verdicts go")
    add_options(parser, ReadCfg, ("body", "fps", "start", "end", "joint_map"))
    add_options(parser, CurateCfg, ("preset", "ground", "contacts", "mend"))
    add_options(parser, BatchCfg, ("jobs",))
    parser.add_argument("--json", action="store_true", help="print the verdicts as JSON and nothing else")
    args = parser.parse_args(argv)
    read_cfg, curate_cfg = from_options(ReadCfg, args), from_options(CurateCfg, args)
    result = curate_sources(args.sources, args.out, read_cfg, curate_cfg, from_options(BatchCfg, args).jobs)
    if args.json:
        print(json.dumps({"clips": result["clips"], "failed": result["failed"]}))
    else:
        print("\n".join([*map(harmless, skipped_lines(args.sources, args.out)), summary(result, args.out)]))
    return 1 if result["failed"] else 0


def curate_sources(
    sources: Sequence[str], out: Path, read_cfg: ReadCfg, curate_cfg: CurateCfg, jobs: int | None = None
) -> dict[str, Any]:
    """Curate everything below `sources` into `out`; return what curation.json holds."""
    check_reading(read_cfg)
    inside = [s for s in sources if (out / CLIPS).resolve() in (Path(s).resolve(), *Path(s).resolve().parents)]
    if inside:
        raise ConfigError(f"{inside[0]} lies in {out / CLIPS}, which this run would replace; choose another --out")
    refuse_datasets(sources)
    recordings = find_recordings(sources, leave_out=out)
    if not recordings:
        raise none_found(sources, out)
    _begin(out)
    work = partial(curate_recording, out=out, read_cfg=read_cfg, curate_cfg=curate_cfg)
    clips, failed = run_batch(work, recordings, jobs, "recording", kept_of)
    reading = {k: str(v) if isinstance(v, Path) else v for k, v in asdict(read_cfg).items()}
    config = {"read": reading, "curate": curate_cfg.resolved}
    result = {"format": "phuma-curation", "version": 1, "phuma": __version__, "config": config,
              "limits": curate_cfg.limits,
              "clips": clips, "failed": failed}  # fmt: skip
    _finish(out, result if clips else None)
    return result


def _begin(out: Path) -> None:
    """Prepare `out`, which keeps an earlier result until there is a new one; clips that `phuma curate` did not write
    are an error."""
    ours = (out / RESULT).exists() or (out / UNFINISHED).exists()
    if (out / CLIPS).exists() and not ours:
        raise ConfigError(f"{out / CLIPS} exists and was not written by `phuma curate`; choose another --out")
    try:
        shutil.rmtree(out / UNFINISHED, ignore_errors=True)
        (out / UNFINISHED).mkdir(parents=True)
    except OSError as e:
        raise ConfigError(f"{out} cannot be written: {e.strerror or e}") from None


def _finish(out: Path, result: dict[str, Any] | None) -> None:
    """Put a result in the place of an earlier one; where nothing came of the run, leave `out` as it was."""
    made = out / UNFINISHED / CLIPS
    if result is not None:
        (out / RESULT).unlink(missing_ok=True)
        shutil.rmtree(out / CLIPS, ignore_errors=True)
        if made.exists():
            made.replace(out / CLIPS)
        write_atomic(out / RESULT, lambda f: f.write(json.dumps(result, indent=1).encode()))
    shutil.rmtree(out / UNFINISHED)
    if not any(out.iterdir()):
        out.rmdir()


def curate_recording(recording: Recording, out: Path, read_cfg: ReadCfg, curate_cfg: CurateCfg) -> Outcome:
    """Curate one file; if it fails, the clips that it has written are removed."""

    def work() -> list[Row]:
        return [
            clip_row(clip) | ({"file": store(clip, person)} if clip.verdict.kept else {})
            for person, part in parts_in(recording.path, read_cfg, curate_cfg)
            for clip in part.clips
        ]

    def store(clip: Clip, person: int) -> str:
        file = Path(CLIPS) / recording.name / f"{person}_{round(clip.start * 1000):07d}.npz"
        path = out / UNFINISHED / file
        path.parent.mkdir(parents=True, exist_ok=True)
        save_clip(path, clip)
        return file.as_posix()

    outcome = outcome_of(recording.path, work)
    if outcome.failed:
        shutil.rmtree(out / UNFINISHED / CLIPS / recording.name, ignore_errors=True)
    return outcome


def kept_of(clips: Sequence[Row]) -> str:
    """Return how many clips are kept so far."""
    return f"{sum(c['kept'] for c in clips)} of {count_of(len(clips), 'clip')} kept"


def summary(result: dict[str, Any], out: Path) -> str:
    """Return a summary for the terminal: counts, reasons, failures, and what to run next."""
    clips, failed = result["clips"], result["failed"]
    kept = [c for c in clips if c["kept"]]
    minutes = sum(c["end"] - c["start"] for c in kept) / 60
    share = f" ({100 * len(kept) / len(clips):.0f} %)" if clips else ""
    recordings = len({c["source"] for c in clips})
    lines = [
        f"{count_of(recordings, 'recording')}, {count_of(len(clips), 'clip')}, {len(kept)} kept{share}, "
        f"{minutes:.1f} minutes"
    ]
    lines += [*rate_lines(clips), *mend_lines(clips)]
    why = Counter(reason.partition(":")[0] for c in clips for reason in c["reasons"])
    lines += [f"  {n:5} failed {name} ({CURATION_METRICS[name].label})" for name, n in why.most_common()]
    if failed:
        lines.append(f"{count_of(len(failed), 'file')} could not be used:")
        lines += [f"  {f['source']}: {f['reason']}" for f in failed[:20]]
        lines += [f"  ... and {len(failed) - 20} more, all in {out / RESULT}"] if len(failed) > 20 else []
    if not clips:
        lines.append("Nothing was judged, and nothing was written")
    elif kept:
        where = f"Clips are in {out / CLIPS}, every verdict in {out / RESULT}."
        lines.append(f"{where} Inspect one: phuma inspect FILE --plot OUT.png")
    else:
        lines.append(f"No clip is kept; every verdict is in {out / RESULT}. See why: phuma inspect FILE --plot OUT.png")
    return "\n".join(lines)

"""Say what a file is, how curation judges it, metric by metric, and what to do with it next.

Takes every file that phuma reads or writes: recordings, clips, rollouts, policies and motions for them, training
runs, the results of `curate`, the ground truth of generated motion, joint maps, and SMPL-X models.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from shlex import quote

from phuma.cli.documents import (
    describe_json,
    describe_model,
    describe_policy,
    describe_reference,
    describe_robot_motion,
    describe_rollout,
    is_reference,
)
from phuma.cli.options import add_options, command_parser, from_options
from phuma.core.clip import Verdict
from phuma.core.human_motion import HumanMotion
from phuma.core.words import count_of, harmless
from phuma.curation import CurateCfg, Curation, curate_parts
from phuma.errors import ConfigError, PhumaError
from phuma.formats.clip_file import is_clip, load_clip
from phuma.formats.robot_motion_file import is_robot_motion
from phuma.formats.rollout_file import is_rollout
from phuma.io.probe import Probe
from phuma.pipelines.figures import clip_figure, recording_figure
from phuma.pipelines.files_to_clips import with_rate
from phuma.sources import ReadCfg, film, read_all

Lines = list[str]
Row = tuple[str, str, Verdict]
"""Seconds at which a clip begins and ends, and its verdict"""
PICTURES = (".png", ".jpg", ".svg", ".pdf")


def main(argv: Sequence[str]) -> int:
    """Run the command and return its exit code."""
    parser = command_parser("inspect", __doc__)
    parser.add_argument("file", type=Path, metavar="FILE", help="the file to inspect")
    add_options(parser, ReadCfg, ("body", "fps", "start", "end", "joint_map"))
    add_options(parser, CurateCfg, ("preset", "ground", "contacts", "mend"))
    parser.add_argument(
        "--plot",
        type=Path,
        metavar="OUT.png",
        help="draw a recording: stills, contacts, every metric over time; of a rollout, torques and forces too",
    )
    args = parser.parse_args(argv)
    if args.plot and args.plot.suffix.lower() not in PICTURES:
        raise ConfigError(f"--plot {args.plot}: expected a name that ends in {', '.join(PICTURES)}")
    run = args.file / "run.json"
    probe = Probe(run if run.is_file() else args.file)
    kind = _document_kind(probe)
    if kind is None:
        lines = _recording(probe, from_options(ReadCfg, args), from_options(CurateCfg, args), args.plot)
    elif kind in (_clip, describe_rollout):
        lines = kind(probe, args.plot)
    elif args.plot:
        raise ConfigError("--plot draws recordings, clips and rollouts; this file is none of them")
    else:
        lines = kind(probe)
    print("\n".join(map(harmless, [str(args.file), *lines, *_next(kind, probe)])))
    return 0


def _next(kind: Callable[..., Lines] | None, probe: Probe) -> Lines:
    """Return the command that most people give next for such a file; nothing of files that say it themselves."""
    words = NEXT.get(kind)
    if kind is None and film.recognises(probe):
        words = "video {} --robot g1 --out video"
    return [] if words is None else ["", f"Next: phuma {words.format(quote(str(probe.path)))}"]


def _document_kind(probe: Probe) -> Callable[..., Lines] | None:
    """Return the function that describes a file, or None for one that should be a recording."""
    if probe.path.is_dir():
        return None  # what folder it is, the error says
    if is_clip(probe):
        return _clip
    if is_reference(probe):
        return describe_reference
    if probe.kind == "binary" and probe.path.suffix == ".onnx":
        return describe_policy
    if is_rollout(probe):
        return describe_rollout
    if is_robot_motion(probe):
        return describe_robot_motion
    names = set(probe.content) if probe.kind == "pickle" and isinstance(probe.content, dict) else set(probe.arrays)
    if {"v_template", "J_regressor", "weights"} <= names:
        return describe_model
    if probe.kind == "text" and probe.text.lstrip().startswith("{"):
        return describe_json
    return None


def _recording(probe: Probe, read_cfg: ReadCfg, curate_cfg: CurateCfg, plot: Path | None) -> Lines:
    motions = read_all(probe.path, read_cfg)
    lines = [f"  format   {motions[0].provenance.format}"]
    for number, motion in enumerate(motions, start=1):
        if len(motions) > 1:
            lines += ["", f"Motion {number} of {len(motions)}, from {motion.provenance.start:.2f} s on"]
        lines += _motion_lines(motion)
        rows: list[Row] = []
        try:
            for part in curate_parts(motion, with_rate(curate_cfg, read_cfg)):
                if plot and not rows:
                    draw(plot, probe.path.name, part)
                rows += [(f"{c.start:.1f}", f"{c.end:.1f}", c.verdict) for c in part.clips]
        except PhumaError as e:
            lines += ["", f"Curation: not possible: {e}"]
            continue
        lines += _curation_lines(rows, part)
        if plot:
            lines.append(f"Picture: {plot}")
    return lines


def _motion_lines(motion: HumanMotion) -> Lines:
    origin = motion.provenance
    shape = ", ".join(f"{k} {v:.3g}" for k, v in list(motion.body.shape.items())[:10])
    may = {True: "may be passed on", False: "may not be passed on", None: "whether it may be passed on is not known"}
    return [
        f"  body     {motion.body.name}{f' ({shape})' if shape else ''}, legs {motion.body.leg_length:.2f} m",
        f"  length   {len(motion)} frames at {motion.fps:g} Hz, {motion.duration:.2f} s",
        f"  up axis  {origin.up} in the file; z up, in metres, after reading",
        f"  licence  {origin.licence}; {may[origin.redistributable]}",
        *(f"  note     {note}" for note in origin.notes),
    ]


def _curation_lines(rows: Sequence[Row], part: Curation) -> Lines:
    kept = sum(verdict.kept for _, _, verdict in rows)
    of = count_of(len(rows), "clip")
    return [
        "",
        f"Curation (preset {part.cfg.preset}): {kept} of {of} kept; ground at {part.ground:.3f} m",
        *_table(rows),
    ]


def _table(rows: Sequence[Row]) -> Lines:
    """Return one line per clip, in which a value that failed is marked, and below them why clips were rejected."""
    names = list(rows[0][2].metrics)
    widths = [max(17, len(name) + 2) for name in names]
    lines = ["  start    end  " + "".join(f"{n:>{w}}" for n, w in zip(names, widths)) + "  verdict"]
    bounds = [m.metric.needs(m.limit) for m in rows[0][2].measures]
    lines.append("                " + "".join(f"{b:>{w}}" for b, w in zip(bounds, widths)))
    for start, end, verdict in rows:
        marked = [f"{m.value:.3f}{' ' if m.passed else '!'}" for m in verdict.measures]
        cells = "".join(f"{cell:>{w}}" for cell, w in zip(marked, widths))
        lines.append(f"{start:>7}{end:>7}  {cells}  {'kept' if verdict.kept else 'rejected'}")
    lines += [f"  {start} to {end} s: {reason}" for start, end, verdict in rows for reason in verdict.reasons]
    return lines


def _clip(probe: Probe, plot: Path | None = None) -> Lines:
    clip = load_clip(probe.path)
    if plot:
        clip_figure(probe.path.name, clip).savefig(plot)
    start, end = f"{clip.start:.1f}", f"{clip.end:.1f}"
    return [
        "  format   phuma-clip: a curated piece of a recording",
        f"  source   {clip.motion.provenance.source} ({clip.motion.provenance.format}), {start} to {end} s"
        + (", mirrored" if clip.motion.provenance.mirrored else ""),
        *_motion_lines(clip.motion),
        "",
        *_table([(start, end, clip.verdict)]),
        *([f"Picture: {plot}"] if plot else []),
    ]


def draw(path: Path, title: str, curation: Curation) -> None:
    """Write a picture of a curated recording."""
    recording_figure(title, curation).savefig(path)


_ON_A_ROBOT, _LOOK = "retarget {} --robot g1 --out motions", "view {}"
NEXT: dict[Callable[..., Lines] | None, str] = {
    None: _ON_A_ROBOT, _clip: _ON_A_ROBOT, describe_robot_motion: _LOOK, describe_rollout: _LOOK,
}  # fmt: skip
"""What follows, by the function that describes such a file; None is for recordings"""

"""Put motion on a robot: curated clips, or recordings straight away.

A recording is taken whole and uncut, with a warning that lists what curation says of it. Each motion becomes one .npz
below DIR, with its metrics inside; DIR/retarget.json lists them all.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from phuma import __version__
from phuma.cli.batch import Outcome, Row, attempt, check_jobs, check_reading, run_batch
from phuma.cli.options import add_options, command_parser, from_options
from phuma.clip import Clip
from phuma.clipfile import is_clip, load_clip
from phuma.curation import curate
from phuma.errors import ConfigError
from phuma.files.atomic import write_atomic
from phuma.files.probe import Probe
from phuma.retargeting import DEFAULT_METHOD, FIVE, METHODS, retarget_motion
from phuma.retargeting.config import solving
from phuma.retargeting.measure import combine
from phuma.robot_file import save_robot_motion
from phuma.robots import load_robot
from phuma.sources import ReadCfg, find_recordings, read_all
from phuma.sources.registry import SUFFIXES, Recording

RESULT = "retarget.json"


@dataclass(frozen=True)
class RetargetCfg:
    """What is done with them."""

    robot: str = "g1"
    """g1, h1_2, or a folder with model.xml and robot.json"""
    method: str = DEFAULT_METHOD
    """How: physink+collision, physink, sink+ground, sink+feasibility, sink, ik or gmr"""
    contact_speed: float | None = None
    """m/s: a foot that the human moves this fast or faster is not held to stand, though it counts as in contact"""
    jobs: int | None = None
    """Processes to use; all cores for eight files or more, else one"""

    def __post_init__(self) -> None:
        check_jobs(self.jobs)
        if self.contact_speed is not None and not self.contact_speed > 0:
            raise ConfigError(f"--contact-speed {self.contact_speed:g}; expected metres a second, above zero")
        if self.method not in METHODS:
            raise ConfigError(f"unknown method {self.method!r}; there are: {', '.join(METHODS)}")


def main(argv: Sequence[str]) -> int:
    parser = command_parser("retarget", __doc__)
    parser.add_argument("sources", nargs="+", metavar="SRC", help="clips, recordings, or folders of them")
    parser.add_argument(
        "--out", type=Path, default=Path("retargeted"), metavar="DIR", help="where motions go (default: retargeted)"
    )
    add_options(parser, RetargetCfg, ("robot", "method", "contact_speed", "jobs"))
    add_options(parser, ReadCfg, ("body", "fps", "start", "end", "joint_map"))
    parser.add_argument("--json", action="store_true", help="print the result as JSON and nothing else")
    args = parser.parse_args(argv)
    cfg = from_options(RetargetCfg, args)
    result = retarget_sources(args.sources, args.out, cfg, from_options(ReadCfg, args))
    if args.json:
        print(json.dumps(result))
    else:
        print(summary(result, args.out))
    return 1 if result["failed"] else 0


def retarget_sources(sources: Sequence[str], out: Path, cfg: RetargetCfg, read_cfg: ReadCfg) -> dict[str, Any]:
    """Retarget everything below `sources` into `out`; returns what retarget.json holds."""
    load_robot(cfg.robot)  # a fault of the robot is said once, not once a file
    check_reading(read_cfg)
    files = find_recordings(sources, leave_out=out)
    if not files:
        raise ConfigError(f"nothing to retarget below {', '.join(sources)}; looked for {', '.join(sorted(SUFFIXES))}")
    rows, failed = run_batch(partial(retarget_file, out=out, cfg=cfg, read_cfg=read_cfg), files, cfg.jobs, "file")
    result = {
        "format": "phuma-retarget", "version": 1, "phuma": __version__, "robot": cfg.robot, "method": cfg.method,
        "contact_speed": cfg.contact_speed, "motions": rows, "failed": failed,
    }  # fmt: skip
    out.mkdir(parents=True, exist_ok=True)
    write_atomic(out / RESULT, lambda f: f.write(json.dumps(result, indent=1).encode()))
    return result


def retarget_file(file: Recording, out: Path, cfg: RetargetCfg, read_cfg: ReadCfg) -> Outcome:
    """One file: a motion a person."""

    def work() -> list[Row]:
        robot = load_robot(cfg.robot)
        pieces = pieces_of(file.path, read_cfg)
        rows = []
        for person, piece in enumerate(pieces):
            motion = retarget_motion(piece.motion, piece.contact, robot, cfg.method, solving(cfg.contact_speed))
            path = out / f"{file.name}{f'_{person}' if len(pieces) > 1 else ''}.npz"
            path.parent.mkdir(parents=True, exist_ok=True)
            save_robot_motion(path, motion)
            rows.append({
                "source": motion.provenance.source, "start": piece.start, "end": piece.end,
                "file": path.relative_to(out).as_posix(), "warnings": list(piece.verdict.reasons),
                "flags": motion.report["flags"], "metrics": motion.report["metrics"],
            })  # fmt: skip
        return rows

    return attempt(file.path, work)


def pieces_of(path: Path, read_cfg: ReadCfg) -> list[Clip]:
    """A clip as it is; a recording whole, as one piece for each person."""
    if is_clip(Probe(path)):
        return [load_clip(path)]
    whole = [curate(motion) for motion in read_all(path, read_cfg)]
    return [Clip(c.motion, c.contact, c.verdict, c.ground) for c in whole]


def summary(result: dict[str, Any], out: Path) -> str:
    """What a person wants to know first."""
    rows, failed = result["motions"], result["failed"]
    lines = []
    if rows:
        total = combine([r["metrics"] for r in rows])
        lines.append(f"{len(rows)} motions on {result['robot']} by {result['method']}:")
        lines += [f"  {name.replace('_', '-'):16}{total[name]:7.2f} %" for name in FIVE]
    for r in [r for r in rows if r["warnings"]][:10]:
        lines.append(f"Curation would reject {r['source']}: {'; '.join(r['warnings'])}")
    for r in [r for r in rows if r["flags"]][:10]:
        lines.append(f"Beware of {r['file']}: {'; '.join(r['flags'])}")
    lines += [f"Not usable: {f['source']}: {f['reason']}" for f in failed[:20]]
    lines.append(f"Motions are in {out}, with all metrics in {out / RESULT}")
    return "\n".join(lines)

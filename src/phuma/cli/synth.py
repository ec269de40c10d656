"""Write synthetic human motion in a layout that every tool reads (AMASS SMPL-X), with the ground truth beside it.

Each NAME.npz comes with NAME.truth.json: the body's shape, the height of the ground and the contacts frame by frame.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from phuma.body import OpenShape
from phuma.cli.options import add_options, command_parser, from_options, split_values
from phuma.core.human_motion import HumanMotion
from phuma.core.names import known_name
from phuma.core.words import count_of
from phuma.errors import ConfigError
from phuma.io.atomic import write_atomic
from phuma.sources import amass_smplx
from phuma.synth import FAULTS, KINDS, STROLL, Synthetic, generate


@dataclass(frozen=True)
class SynthCfg:
    """Choose what is generated."""

    count: int = 1
    """Motions of each type; each is another person who moves in another way"""
    seconds: float = 4.0
    """Length of each motion, s"""
    seed: int = 0
    """The first motion's seed; the same seed gives the same motion"""
    fps: float = 30.0
    """Frame rate, Hz"""

    def __post_init__(self) -> None:
        if self.count < 1 or self.seed < 0 or not 1 <= self.seconds <= 3600 or not 10 <= self.fps <= 480:
            raise ConfigError("--count is at least 1, --seed 0 or more, --seconds 1 to 3600, --fps 10 to 480")


def main(argv: Sequence[str]) -> int:
    """Run the command and return its exit code."""
    parser = command_parser("synth", __doc__)
    parser.add_argument(
        "--type", nargs="+", default=list(KINDS), metavar="T",
        help=f"one or more of {', '.join(KINDS)} (default: all), or {STROLL}: walks from standing to "
        "standing along a way that bends",
    )  # fmt: skip
    parser.add_argument("--out", required=True, type=Path, metavar="DIR", help="where the motions go")
    add_options(parser, SynthCfg, ("count", "seconds", "seed", "fps"))
    strengths = "; ".join(f"{f.name} in {f.unit}" for f in FAULTS.values())
    parser.add_argument(
        "--fault", metavar="NAME:STRENGTH", help=f"spoil the motions, for example float:10 ({strengths})"
    )
    args = parser.parse_args(argv)
    cfg = from_options(SynthCfg, args)
    files = write_motions(args.out, split_values(args.type, (*KINDS, STROLL), "type"), cfg, args.fault)
    print(f"{count_of(len(files), 'motion')} in {args.out}. Curate them: phuma curate {args.out} --out curated")
    return 0


def write_motions(out: Path, kinds: Sequence[str], cfg: SynthCfg, fault: str | None = None) -> list[Path]:
    """Generate and write motions; return the recordings' paths."""
    out.mkdir(parents=True, exist_ok=True)
    name, strength = parse_fault(fault) if fault else ("", 0.0)
    files = []
    for kind in kinds:
        for seed in range(cfg.seed, cfg.seed + cfg.count):
            made = generate(kind, cfg.seconds, seed, cfg.fps)
            motion = FAULTS[name].apply(made.motion, strength, seed) if name else made.motion
            path = out / f"{kind}_{seed:04d}{f'_{name}{strength:g}' if name else ''}.npz"
            write_motion(path, made, motion, seed, fault)
            files.append(path)
    return files


def write_motion(path: Path, made: Synthetic, motion: HumanMotion, seed: int, fault: str | None) -> None:
    """Write one motion and its ground truth."""
    import numpy as np

    amass_smplx.write(path, motion)
    truth = {
        "format": "phuma-truth",
        "kind": made.kind,
        "seed": seed,
        "fault": fault,
        "fps": motion.fps,
        "ground": made.ground,
        "shape": asdict(OpenShape.from_lengths(np.array(list(made.motion.body.shape.values())))),
        # Of the motion before a fault was put in: which regions stand, left heel, left toe, right heel, right toe.
        "contact": made.contact.astype(int).tolist(),
    }
    write_atomic(path.with_suffix(".truth.json"), lambda f: f.write(json.dumps(truth).encode()))


def parse_fault(text: str) -> tuple[str, float]:
    """Return `float:10` as ("float", 10.0)."""
    given, _, strength = text.partition(":")
    name = known_name(given, FAULTS, "fault")
    try:
        return name, float(strength)
    except ValueError:
        raise ConfigError(
            f"--fault {text}: expected NAME:STRENGTH, for example {name}:{FAULTS[name].strengths[1]:g}"
        ) from None

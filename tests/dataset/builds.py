"""What tests of building share: small recordings, builds as a user runs them, and what lies in a dataset's folder."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from phuma.sources import amass_smplx
from phuma.synth import KINDS, generate
from tests.waiting import PATIENCE

SECONDS = 2.0
CHEAP = ("--method", "sink")


def write_recording(path: Path, seed: int = 0, kind: str | None = None) -> Path:
    """A short motion; another seed, another motion."""
    path.parent.mkdir(parents=True, exist_ok=True)
    amass_smplx.write(path, generate(kind or KINDS[seed % len(KINDS)], SECONDS, seed).motion)
    return path


def contents(root: Path) -> dict[str, bytes]:
    """Every file of a dataset, by name. The lock is left out, once it is seen to be empty."""
    files = {p.relative_to(root).as_posix(): p.read_bytes() for p in root.rglob("*") if not p.is_dir()}
    assert files.pop(".lock") == b""
    return files


def command(sources: Path | list[Path], out: Path, *options: object) -> list[str]:
    """The words of `phuma build` as a process of its own."""
    given = sources if isinstance(sources, list) else [sources]
    words = ["build", *given, "--out", out, *CHEAP, *options]
    return [sys.executable, "-m", "phuma", *map(str, words)]


def build(sources: Path | list[Path], out: Path, *options: object) -> subprocess.CompletedProcess[str]:
    """Run `phuma build` to its end."""
    return subprocess.run(command(sources, out, *options), capture_output=True, text=True, timeout=PATIENCE)


def start(sources: Path, out: Path, *options: object) -> subprocess.Popen[bytes]:
    """Start `phuma build` and do not wait for it."""
    return subprocess.Popen(command(sources, out, *options), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def records(root: Path) -> list[Path]:
    return list((root / "work").glob("*.json"))


def workers(parent: int) -> list[int]:
    """Process ids of a build's workers that live."""
    out = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            stat = (folder / "stat").read_text().rsplit(")", 1)[1].split()
            words = (folder / "cmdline").read_bytes()
        except OSError:
            continue  # it has ended meanwhile
        if int(stat[1]) == parent and stat[0] != "Z" and b"spawn_main" in words:
            out.append(int(folder.name))
    return sorted(out)


def is_root() -> bool:
    return hasattr(os, "geteuid") and os.geteuid() == 0

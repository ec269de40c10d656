"""Films for tests: of people, and what ffmpeg makes of them."""

from __future__ import annotations

import subprocess
from pathlib import Path

from phuma.video.film import ffmpeg

DATA = Path(__file__).parent / "data"
WALK, BEAM, PAIR = (DATA / f"{name}.mp4" for name in ("walk", "beam", "pair"))
"""A woman walks; a man balances; the man with a woman behind him"""


def run(*words: str | Path) -> None:
    """Run ffmpeg with these words."""
    subprocess.run([ffmpeg(), "-v", "error", "-y", *map(str, words)], check=True, stdin=subprocess.DEVNULL)


def edited(path: Path, filters: str, source: Path = WALK, *more: str) -> Path:
    """Write a film of another one after filters."""
    run("-i", source, "-vf", filters, "-an", "-c:v", "libx264", "-preset", "veryfast", "-crf", "18", *more, path)
    return path


def joined(path: Path, *parts: Path) -> Path:
    """Write films one after another at 30 frames/s, with black beside those that are narrower than the widest."""
    inputs = [word for part in parts for word in ("-i", part)]
    fit = "scale=852:320:force_original_aspect_ratio=decrease,pad=852:320:-1:-1"
    same = [f"[{i}:v]fps=30,{fit},setsar=1[p{i}]" for i in range(len(parts))]
    order = "".join(f"[p{i}]" for i in range(len(parts)))
    graph = ";".join([*same, f"{order}concat=n={len(parts)}[out]"])
    run(*inputs, "-filter_complex", graph, "-map", "[out]", "-c:v", "libx264", "-preset", "veryfast", path)
    return path

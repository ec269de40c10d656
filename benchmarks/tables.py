"""Tables of figures: printed, and written into docs/tables with what they were measured on."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

TABLES = Path(__file__).parents[1] / "docs" / "tables"
PICTURES = Path(__file__).parents[1] / "docs" / "images"


def markdown(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A table in Markdown; numbers to the right."""
    cells = [[f"{c:.3g}" if isinstance(c, float) else str(c) for c in row] for row in rows]
    lines = ["| " + " | ".join(head) + " |", "| " + " | ".join(["---"] + ["---:"] * (len(head) - 1)) + " |"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in cells])


def save(name: str, title: str, *parts: str) -> None:
    """Write NAME.md into docs/tables and print it."""
    TABLES.mkdir(parents=True, exist_ok=True)
    script = Path(sys.argv[0]).name
    machine = f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    libraries = ", ".join(f"{n} {version(n)}" for n in ("numpy",))
    text = "\n\n".join([f"# {title}", *parts, f"Measured by `benchmarks/{script}` on {machine}, {libraries}."]) + "\n"
    (TABLES / f"{name}.md").write_text(text)
    print(text)

"""The folder of a study: what it is of, and its results, one line as soon as each is there."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from phuma.errors import ConfigError, PhumaError
from phuma.io.atomic import write_atomic

ABOUT, RESULTS = "study.json", "results.jsonl"
SAME = ("study", "robot", "data", "version")
"""What may not change between two runs in one folder"""


def key_of(*parts: Any) -> str:
    """Return a name for plain values by their content."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:20]


class StudyFolder:
    """A folder with results by kind and key. A result is what a job with these inputs gives, whichever row asked."""

    def __init__(self, root: str | Path) -> None:
        self.root = Path(root)
        self._lines: dict[tuple[str, str], Any] = {}
        for line in self._text():
            self._lines[line["kind"], line["key"]] = line["value"]

    def _text(self) -> list[dict[str, Any]]:
        """Return all lines; one that was cut off by a kill is left out, as its job is done again."""
        path, out = self.root / RESULTS, []
        for text in path.read_text().splitlines() if path.exists() else ():
            try:
                line = json.loads(text)
            except ValueError:
                continue
            if isinstance(line, dict) and {"kind", "key", "value"} <= line.keys():
                out.append(line)
        return out

    @property
    def lock(self) -> Path:
        """Return the file that says who writes here."""
        return self.root / ".lock"

    def path(self, kind: str, key: str) -> Path:
        """Return where a job of this kind and key writes its file."""
        return self.root / kind / f"{key}.npz"

    def begin(self, about: Mapping[str, Any]) -> None:
        """Claim the folder for a study; one of another study, robot, data or version of this program is an
        error, a larger budget is not."""
        path = self.root / ABOUT
        if path.exists():
            try:
                before = json.loads(path.read_text())
            except ValueError:
                raise PhumaError(f"{path} is damaged; choose another --out") from None
            other = [f"{name} {before.get(name)!r}" for name in SAME if before.get(name) != about.get(name)]
            if other:
                now = ", ".join(f"{name} {about.get(name)!r}" for name in SAME if before.get(name) != about.get(name))
                raise ConfigError(
                    f"{self.root} holds a study of {', '.join(other)}, not of {now}; choose another --out for this one"
                )
        elif self.root.exists() and any(self.root.iterdir()):
            raise ConfigError(f"{self.root} holds something else than a study; choose another --out")
        self.root.mkdir(parents=True, exist_ok=True)
        text = json.dumps(about, indent=1)
        write_atomic(path, lambda f: f.write(text.encode()))

    def get(self, kind: str, key: str) -> Any:
        """Return a result; None where there is none yet."""
        return self._lines.get((kind, key))

    def add(self, kind: str, key: str, value: Any) -> None:
        """Note a result, on the disk too."""
        line = json.dumps({"kind": kind, "key": key, "value": value}) + "\n"
        path = self.root / RESULTS
        with open(path, "ab+") as f:
            if f.tell() and (f.seek(-1, os.SEEK_END), f.read(1))[1] != b"\n":
                f.write(b"\n")  # of a line that was cut off
            f.write(line.encode())
            f.flush()
            os.fsync(f.fileno())
        self._lines[kind, key] = json.loads(line)["value"]

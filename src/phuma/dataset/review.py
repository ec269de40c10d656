"""Judgements of clips by hand, in a file of the user's: a CSV with the columns clip, verdict and label.

`phuma view --review FILE` writes it, `phuma select` and `phuma build` take it. A verdict is keep, reject or empty; a
label is any text. The dataset itself is not touched.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from pathlib import Path
from threading import Lock
from typing import NamedTuple

from phuma.errors import ConfigError, ReadError
from phuma.io.atomic import write_atomic

COLUMNS = ("clip", "verdict", "label")
KEEP, REJECT = "keep", "reject"
VERDICTS = (KEEP, REJECT, "")
LONGEST = 500
"""Characters of a label"""
MOST_BYTES = 64 << 20
BY_HAND = "review: rejected by hand"


class Reviewed(NamedTuple):
    """What somebody thinks of a clip."""

    verdict: str = ""
    label: str = ""


def read_review(path: Path) -> dict[str, Reviewed]:
    """Return the judgements in a file by clip; every fault of it is a ReadError that names the line."""
    try:
        if path.stat().st_size > MOST_BYTES:
            raise ReadError(path, f"has more than {MOST_BYTES:,} bytes")
        text = path.read_bytes().decode("utf-8-sig")
        rows = list(csv.DictReader(io.StringIO(text, newline=""), strict=True))
    except OSError as e:
        raise ReadError(path, f"cannot be opened: {e.strerror or e}") from None
    except (UnicodeDecodeError, csv.Error) as e:
        raise ReadError(path, f"is no CSV file in UTF-8: {e}") from None
    out: dict[str, Reviewed] = {}
    for number, row in enumerate(rows, start=2):
        clip, verdict, label = (str(row.get(name) or "").strip() for name in COLUMNS)
        if not clip or verdict not in VERDICTS or len(label) > LONGEST:
            expected = f"expected clip, verdict ({KEEP}, {REJECT} or nothing) and label"
            raise ReadError(path, f"line {number}: {expected}, not {clip!r}, {verdict!r}")
        out[clip] = Reviewed(verdict, label)
    return out


def review_text(judged: Mapping[str, Reviewed]) -> str:
    """Return the file of judgements."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerows([COLUMNS, *((clip, *judged[clip]) for clip in sorted(judged))])
    return out.getvalue()


def judgement(review: Mapping[str, Reviewed], clip: str) -> Reviewed:
    """Return what is said of a clip; of a mirror image, what is said of it or else of the clip."""
    return review.get(clip) or review.get(clip.removesuffix("_m")) or Reviewed()


class ReviewFile:
    """A file of judgements that grows by one at a time; safe from several threads."""

    def __init__(self, path: Path, root: Path) -> None:
        if path.resolve().is_relative_to(root.resolve()):
            raise ConfigError(f"--review {path} lies in the dataset {root}; choose a file outside of it")
        self.path, self._lock = path, Lock()
        self.judged = read_review(path) if path.exists() else {}
        write_atomic(path, lambda f: f.write(review_text(self.judged).encode()))  # what cannot be written is told now

    def judge(self, clip: str, verdict: str, label: str) -> Reviewed:
        """Write what somebody thinks of a clip; nothing is a judgement taken back."""
        label = " ".join(label.split())
        if verdict not in VERDICTS or len(label) > LONGEST:
            expected = f"{KEEP}, {REJECT} or nothing, and a label of at most {LONGEST} letters"
            raise ConfigError(f"verdict {verdict!r}; expected {expected}")
        with self._lock:
            if verdict or label:
                self.judged[clip] = Reviewed(verdict, label)
            else:
                self.judged.pop(clip, None)
            text = review_text(self.judged)
            write_atomic(self.path, lambda f: f.write(text.encode()))
        return Reviewed(verdict, label)

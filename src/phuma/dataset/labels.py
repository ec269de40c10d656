"""Read what people wrote about recordings, an optional labels.csv beside them, and find motion types in its words.

The file has a header, a column that names recordings and one with text; other columns are left alone. Columns are
separated by commas, semicolons or tabs; the encoding is UTF-8.
"""

from __future__ import annotations

import csv
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from phuma.dataset.split import relative_name
from phuma.errors import PhumaError, ReadError

LABELS_FILE = "labels.csv"
FILE_COLUMNS = ("file", "filename", "path", "recording", "clip", "name")
"""Names that the column of recordings may have; the first of these that is there is taken"""
TEXT_COLUMNS = ("label", "category", "type", "motion_type", "action", "text", "description", "caption")
"""Names that columns of text may have; of those that are there, the first with something in a row is its label"""

WORDS: dict[str, tuple[str, ...]] = {
    "stand": ("stand", "stood", "idle", "static", "wait"),
    "reach": ("reach", "grab", "grasp", "point", "wave", "punch"),
    "bend": ("bend", "bent", "bow", "stoop"),
    "twist": ("twist",),
    "turn": ("turn", "spin", "spun", "rotate", "pivot", "pirouette"),
    "kick": ("kick",),
    "squat": ("squat", "crouch", "duck"),
    "lunge": ("lunge",),
    "jump": ("jump", "hop", "leap", "leapt"),
    "walk": ("walk", "stroll", "march"),
    "run": ("run", "ran", "jog", "sprint"),
}
"""Motion type to the words that name it; their usual endings (-s, -es, -ed, -er, -ing) count too.

Words that may mean several types (step, stretch, pick up, throw, balance) are left out: the motion decides."""

OTHER = (
    "sit", "sat", "chair", "stool", "lie", "lay", "lying", "kneel", "crawl", "climb", "stair", "ladder", "ledge",
    "dance", "roll", "flip", "cartwheel", "handstand", "somersault", "fall", "fell", "swim", "ride", "stumble",
)  # fmt: skip
"""Words for what is none of the types: `sit down, stand up` is not standing."""


@dataclass(frozen=True)
class Labels:
    """Texts about the recordings below one folder."""

    texts: Mapping[str, str] = field(default_factory=dict)
    """Texts by path relative to the folder, or by bare name, each with or without the suffix"""

    def text_of(self, relative_path: str) -> str | None:
        """Return the text about the recording at `relative_path`, or None.

        A row that names `sub/walk.bvh` or `sub/walk` speaks of that file; one that names `walk.bvh` or `walk`, of every
        file of that name that has no row of its own.
        """
        path = relative_name(relative_path)
        name = path.rpartition("/")[2]
        for key in (path, _without_suffix(path), name, _without_suffix(name)):
            if key in self.texts:
                return self.texts[key]
        return None


def read_labels(folder: Path) -> Labels:
    """Return the labels.csv in a source folder; where there is none, no recording has a text."""
    path = Path(folder) / LABELS_FILE
    if not path.exists():
        return Labels()
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines(keepends=True)
    except UnicodeDecodeError as e:
        raise ReadError(path, f"is not UTF-8 text (byte {e.start}); save it as UTF-8") from None
    except OSError as e:
        raise ReadError(path, f"cannot be read: {e.strerror}") from None
    if not lines or not lines[0].strip():
        raise ReadError(path, f"has no header; expected one like 'file,label' (see {_columns()})")
    delimiter = max(",;\t", key=lines[0].count)
    rows = csv.reader(lines, delimiter=delimiter)
    try:
        header = [_column(cell) for cell in next(rows)]
        return _labels(path, header, [(rows.line_num, row) for row in rows])
    except csv.Error as e:
        raise ReadError(path, f"line {rows.line_num}: {e}") from None


def _labels(path: Path, header: list[str], rows: list[tuple[int, list[str]]]) -> Labels:
    """Return texts by name, from the cells below a header; each row comes with its line in the file."""
    named = [header.index(c) for c in FILE_COLUMNS if c in header]
    texts = [header.index(c) for c in TEXT_COLUMNS if c in header]
    if not named or not texts:
        raise ReadError(path, f"has columns {', '.join(header)}; expected {_columns()}")
    found: dict[str, tuple[str, int]] = {}
    for line, row in rows:
        if not any(cell.strip() for cell in row):
            continue
        if len(row) != len(header):
            raise ReadError(path, f"line {line} has {len(row)} cells; the header has {len(header)}")
        try:
            name = relative_name(row[named[0]].strip())
        except PhumaError as e:
            raise ReadError(path, f"line {line}, column {header[named[0]]}: {e}") from None
        text = next((row[i].strip() for i in texts if row[i].strip()), "")
        before, there = found.get(name, (text, line))
        if text != before:
            raise ReadError(path, f"line {line} calls {name} {text!r}, line {there} called it {before!r}; keep one")
        found[name] = text, there
    return Labels({name: text for name, (text, _) in found.items() if text})


def _columns() -> str:
    return f"one column of {', '.join(FILE_COLUMNS)} and one of {', '.join(TEXT_COLUMNS)}"


def _column(cell: str) -> str:
    return re.sub(r"[\s-]+", "_", cell.strip().lower())


def _without_suffix(path: str) -> str:
    folder, slash, name = path.rpartition("/")
    return folder + slash + (name.rpartition(".")[0] or name)


def _forms(word: str) -> set[str]:
    """Return a word with the usual endings: jog, jogs, jogged, jogger, jogging."""
    stems = {word, word.removesuffix("e"), word + word[-1]}
    return {word, f"{word}s", f"{word}es"} | {stem + ending for stem in stems for ending in ("ed", "er", "ing")}


_TYPE_OF = {form: kind for kind, words in WORDS.items() for word in words for form in _forms(word)}
_OTHER = {form for word in OTHER for form in _forms(word)}


def type_of_text(text: str) -> str | None:
    """Return the motion type that a text names: `walk forward` is a walk, `JumpingJacks` a jump.

    None where it names no type, or several (`walk, then turn`: clips of a few seconds will be one or the other), or
    something that is no type (`sit down`). Standing gives way to any other: `standing long jump` is a jump.
    """
    parted = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", unicodedata.normalize("NFKC", text))
    words = re.findall(r"[^\W\d_]+", parted.lower())
    if any(word in _OTHER for word in words):
        return None
    kinds = {_TYPE_OF[word] for word in words if word in _TYPE_OF}
    if len(kinds) > 1:
        kinds.discard("stand")
    return kinds.pop() if len(kinds) == 1 else None

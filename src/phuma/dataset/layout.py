"""The layout of a dataset's folder: where files are, and what they are called.

dataset.json            what this is, how it was made, what it holds
manifest.parquet        a row per clip that was considered, and robot
clips/ROBOT/RECORDING/  robot motions, one file per clip
recordings/             whole recordings after curation, one file per person, from which all clips were cut
work/                   what is known of each finished recording: from these the manifest is made
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from phuma.errors import StorageError
from phuma.io.inside import inside

SLUG = 48  # characters of a name that stay readable


def recording_id(name: str) -> str:
    """Return a safe file name for a recording of any name: what can be read of it, without suffix, and 40 bits of its
    sha256.

    Only a-z, A-Z, 0-9, `_` and `.` come through, never first a dot, so no name leads out of a folder.
    """
    plain = unicodedata.normalize("NFKD", re.sub(r"\.[A-Za-z]{1,4}$", "", name)).encode("ascii", "ignore").decode()
    slug = re.sub(r"[^A-Za-z0-9_.]+", "-", plain).strip("-.")[-SLUG:].lstrip("-.")
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:10]
    return f"{slug}-{digest}" if slug else digest


def clip_id(recording: str, person: int, start: float, mirrored: bool = False) -> str:
    """Return the id of a clip, which is unique in a dataset; start in seconds."""
    return f"{recording}_{person}_{round(1000 * start):07d}{'_m' if mirrored else ''}"


@dataclass(frozen=True)
class Layout:
    """The paths of a dataset, none of which leads out of its folder, by whatever name or link."""

    root: Path

    @property
    def description(self) -> Path:
        """Return the file that describes the dataset."""
        return inside(self.root, "dataset.json")

    @property
    def manifest(self) -> Path:
        """Return the file of the manifest."""
        return inside(self.root, "manifest.parquet")

    @cached_property
    def work(self) -> Path:
        """Return the folder of the records of finished recordings."""
        return inside(self.root, "work")

    @cached_property
    def clips(self) -> Path:
        """Return the folder of the robot motions."""
        return inside(self.root, "clips")

    @property
    def certified(self) -> Path:
        """Return the folder of the performances of the robot motions, if there are any."""
        return inside(self.root, "certified")

    @property
    def recordings(self) -> Path:
        """Return the folder of the curated recordings."""
        return inside(self.root, "recordings")

    @property
    def lock(self) -> Path:
        """Return the file that is locked while the dataset is written."""
        return inside(self.root, ".lock")

    def clip(self, robot: str, recording: str, clip: str) -> Path:
        """Return the file of a robot's motion."""
        return inside(self.root, f"clips/{robot}/{recording}/{clip}.npz")

    def performance(self, robot: str, recording: str, clip: str) -> Path:
        """Return the file of the performance of a robot's motion."""
        return inside(self.root, f"certified/{robot}/{recording}/{clip}.npz")

    def recording(self, recording: str, number: int) -> Path:
        """Return the file of a person's curated recording, or of a part of a long one: they are numbered in order."""
        return inside(self.root, f"recordings/{recording}_{number}.npz")

    def record(self, recording: str) -> Path:
        """Return the file of a recording's record."""
        return inside(self.root, f"work/{recording}.json")

    def done(self) -> list[str]:
        """Return the recordings that have a record, in their order: the names of the files, whatever these say."""
        return sorted(path.stem for path in self.work.glob("*.json"))

    def make(self) -> None:
        """Make the folders that are missing."""
        for folder in (self.work, self.clips, self.recordings):
            make_folder(folder)


def make_folder(path: Path) -> None:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as e:
        raise StorageError(f"{path}: cannot be made: {e.strerror or e}") from None

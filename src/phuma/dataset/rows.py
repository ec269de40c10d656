"""The rows of the manifest that statistics are about. A row is a clip on a robot; these count a clip once."""

from __future__ import annotations

from phuma.core.curation_metrics import CURATION
from phuma.dataset.dataset import Dataset

_COLUMNS = (
    "clip", "kept", "source", "category", "category_guess", "split", "label", "licence", "redistributable", "frames",
    "fps", *(metric.name for metric in CURATION), *(f"{metric.name}_limit" for metric in CURATION),
)  # fmt: skip
# Which row stands for a clip is found from the keys alone, and nothing is sorted.
_CLIPS = f"""SELECT {", ".join(_COLUMNS)}, coalesce(mirrored, false) AS mirrored, coalesce(imported, false) AS imported
    FROM manifest WHERE rowid IN (
        SELECT min_by(rowid, {{rejected: NOT kept, robot: robot}}) FROM manifest GROUP BY clip
    )"""


def clips(dataset: Dataset) -> str:
    """Return the name of the table that has every clip once, on however many robots it is."""
    return dataset.derived("clips", _CLIPS)


def judged(dataset: Dataset) -> str:
    """Return SQL for the clips that went through the filters.

    A mirror image is only made of what was kept, and would count it twice; imported robot motions are judged by their
    contacts alone.
    """
    return f"(SELECT * FROM {clips(dataset)} WHERE NOT mirrored AND NOT imported)"

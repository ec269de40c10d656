"""Write robot motions in the layouts of other tools, in several processes: all that is chosen, with export.json."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from phuma import __version__
from phuma.dataset.exchange import WRITTEN, format_named
from phuma.dataset.export import (
    Selection,
    claim,
    export_item,
    find_items,
    gathered,
    licences,
    orders,
    other_models,
    save_result,
)
from phuma.errors import ConfigError
from phuma.pipelines.build_dataset import robot_identity
from phuma.robots import load_robot
from phuma.runtime.process_pool import map_in_order
from phuma.runtime.progress import progress_bar


def chosen_layouts(words: Sequence[str]) -> list[str]:
    """Return the formats that some words name, each once, with commas in them or not; others are an error."""
    given = (name for word in words for name in word.split(",") if name)
    names = list(dict.fromkeys(format_named(name).name for name in given))
    for name in names:
        if format_named(name).write is None:
            raise ConfigError(f"format {name!r} is only read; written are: {', '.join(WRITTEN)}")
        format_named(name).check_library()
    if not names:
        raise ConfigError(f"--format names no format; written are: {', '.join(WRITTEN)}")
    return names


def export_motions(source: Path, out: Path, layout: str, choice: Selection, jobs: int | None = None) -> dict[str, Any]:
    """Write everything that is chosen into `out`; return what export.json holds."""
    models = choice.models(source)
    items = find_items(source, choice, out)
    for name in other_models(source, {name: robot_identity(load_robot(spec)) for name, spec in models.items()}):
        print(f"{source} was made with another model of {name}; bodies are of the present one", file=sys.stderr)
    claim(out, source, models)
    jobs = jobs or ((os.cpu_count() or 1) if len(items) >= 64 else 1)
    rows: list[dict[str, Any]] = []
    failed: list[dict[str, str]] = []
    work = partial(export_item, out=out, layout=layout, models=models, only=bool(choice.robots))
    with progress_bar("file", len(items), title=layout) as bar:
        for outcome in map_in_order(work, items, jobs):
            rows += [outcome.row] if outcome.row else []
            failed += [outcome.failed] if outcome.failed else []
            bar.update()
    if not rows and not failed:
        raise ConfigError(f"no motion in {source} is of {', '.join(models)}")
    rows = gathered(rows, out, layout, models)
    return save_result(out, {
        "finished": True, "phuma": __version__, "layout": layout, "certified": choice.certified,
        "robots": orders(rows, layout, models), "licences": licences(rows), "files": rows, "failed": failed,
    })  # fmt: skip

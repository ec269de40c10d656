"""Convert descriptions of runs of format version 2, which had what disturbs robots among the settings of the
environments, to today's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from phuma.learning.env.disturbances import DisturbancesCfg


def description(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return a description of version 2 in today's layout."""
    stages = {
        name: {**own, "environment": _environment(own["environment"])} for name, own in document["stages"].items()
    }
    return {**document, "stages": stages}


def _environment(flat: Mapping[str, Any]) -> dict[str, Any]:
    names = {f.name for f in fields(DisturbancesCfg)}
    disturbances = {name: value for name, value in flat.items() if name in names}
    return {**{name: value for name, value in flat.items() if name not in names}, "disturbances": disturbances}

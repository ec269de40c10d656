"""All dialects by their names."""

from __future__ import annotations

from phuma.learning.deploy.dialects import beyondmimic, holosoma, mjlab
from phuma.learning.deploy.dialects.dialect import Dialect

OWN = "phuma"
"""Name of our own layout, which is no dialect: docs/formats/policy.md"""
DIALECTS: dict[str, Dialect] = {each.name: each for each in (beyondmimic.DIALECT, mjlab.DIALECT, holosoma.DIALECT)}

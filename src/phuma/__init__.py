"""PHUMA: recordings of people in, motion that a humanoid robot can perform out.

    import phuma
    curation = phuma.curate(phuma.read("walk.bvh"))
    curation.frames.pelvis_support      # metres, one number a frame
    [clip.verdict.reasons for clip in curation.clips]
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# Loaded when first used, so that `import phuma` and `phuma --help` cost nothing.
_HOMES = {
    "Body": "phuma.body",
    "Clip": "phuma.clip",
    "CurateCfg": "phuma.curation",
    "Curation": "phuma.curation",
    "FootContacts": "phuma.contact",
    "HumanMotion": "phuma.motion",
    "OpenShape": "phuma.body",
    "PhumaError": "phuma.errors",
    "Provenance": "phuma.motion",
    "ReadCfg": "phuma.sources",
    "Verdict": "phuma.clip",
    "curate": "phuma.curation",
    "generate": "phuma.sources.synth",
    "load_clip": "phuma.clipfile",
    "open_body": "phuma.body",
    "read": "phuma.sources",
    "save_clip": "phuma.clipfile",
}

__all__ = ["__version__", *_HOMES]

if TYPE_CHECKING:
    from phuma.body import Body, OpenShape, open_body
    from phuma.clip import Clip, Verdict
    from phuma.clipfile import load_clip, save_clip
    from phuma.contact import FootContacts
    from phuma.curation import CurateCfg, Curation, curate
    from phuma.errors import PhumaError
    from phuma.motion import HumanMotion, Provenance
    from phuma.sources import ReadCfg, read
    from phuma.sources.synth import generate


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'phuma' has no attribute {name!r}; it has {', '.join(__all__)}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)

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

__all__ = [
    "Body",
    "Clip",
    "CurateCfg",
    "Curation",
    "Dataset",
    "FootContacts",
    "HumanMotion",
    "OpenShape",
    "PhumaError",
    "Provenance",
    "ReadCfg",
    "RobotMotion",
    "Verdict",
    "__version__",
    "certify",
    "curate",
    "from_video",
    "generate",
    "load_clip",
    "load_robot",
    "load_robot_motion",
    "open_body",
    "open_dataset",
    "read",
    "read_all",
    "retarget",
    "robot_metrics",
    "save_clip",
    "save_robot_motion",
]

if TYPE_CHECKING:
    from phuma.body import Body, OpenShape, open_body
    from phuma.core.clip import Clip, Verdict
    from phuma.core.foot_contacts import FootContacts
    from phuma.core.human_motion import HumanMotion
    from phuma.core.provenance import Provenance
    from phuma.core.robot_motion import RobotMotion
    from phuma.curation import CurateCfg, Curation, curate
    from phuma.dataset.dataset import Dataset, open_dataset
    from phuma.errors import PhumaError
    from phuma.formats.clip_file import load_clip, save_clip
    from phuma.formats.robot_motion_file import load_robot_motion, save_robot_motion
    from phuma.pipelines.certify import certify
    from phuma.pipelines.retarget import retarget, robot_metrics
    from phuma.pipelines.video import from_video
    from phuma.robots import load_robot
    from phuma.sources import ReadCfg, read, read_all
    from phuma.synth import generate

# Where each name lives. It is loaded when first used, so that `import phuma` and `phuma --help` cost nothing.
_HOMES = {
    "phuma.body": ("Body", "OpenShape", "open_body"),
    "phuma.core.clip": ("Clip", "Verdict"),
    "phuma.formats.clip_file": ("load_clip", "save_clip"),
    "phuma.core.foot_contacts": ("FootContacts",),
    "phuma.curation": ("CurateCfg", "Curation", "curate"),
    "phuma.dataset.dataset": ("Dataset", "open_dataset"),
    "phuma.errors": ("PhumaError",),
    "phuma.core.human_motion": ("HumanMotion",),
    "phuma.core.provenance": ("Provenance",),
    "phuma.formats.robot_motion_file": ("load_robot_motion", "save_robot_motion"),
    "phuma.core.robot_motion": ("RobotMotion",),
    "phuma.robots": ("load_robot",),
    "phuma.sources": ("ReadCfg", "read", "read_all"),
    "phuma.synth": ("generate",),
    "phuma.pipelines.certify": ("certify",),
    "phuma.pipelines.retarget": ("retarget", "robot_metrics"),
    "phuma.pipelines.video": ("from_video",),
}


def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names:
            try:
                value = globals()[name] = getattr(import_module(home), name)
            except ModuleNotFoundError as e:
                from phuma.errors import missing_extra

                raise missing_extra(e, f"phuma.{name}") from None
            return value
    raise AttributeError(f"module 'phuma' has no attribute {name!r}; it has {', '.join(__all__)}")


def __dir__() -> list[str]:
    return sorted(__all__)

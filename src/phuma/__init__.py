"""PHUMA: recordings of people in, motion that a humanoid robot can perform out.

import phuma
motion = phuma.retarget("walk.bvh", robot="g1")
motion.save("walk.npz")
for entry in phuma.build("recordings", out="g1").where("category = 'walk'"):
    entry.motion()
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
    "animation",
    "build",
    "certify",
    "curate",
    "evaluate",
    "export",
    "from_video",
    "generate",
    "load_clip",
    "load_robot",
    "load_robot_motion",
    "open_body",
    "open_dataset",
    "plot",
    "read",
    "read_all",
    "render",
    "retarget",
    "retarget_all",
    "robot_metrics",
    "save",
    "save_clip",
    "save_robot_motion",
    "train",
    "video",
    "view",
]

if TYPE_CHECKING:
    from phuma import video
    from phuma.api.build import build
    from phuma.api.certify import certify
    from phuma.api.export import export
    from phuma.api.look import render, view
    from phuma.api.pictures import animation, plot, save
    from phuma.api.policies import evaluate, train
    from phuma.api.video import from_video
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
    from phuma.pipelines.retarget import retarget, retarget_all, robot_metrics
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
    "phuma.pipelines.retarget": ("retarget", "retarget_all", "robot_metrics"),
    "phuma.api.build": ("build",),
    "phuma.api.certify": ("certify",),
    "phuma.api.export": ("export",),
    "phuma.api.look": ("render", "view"),
    "phuma.api.pictures": ("animation", "plot", "save"),
    "phuma.api.policies": ("evaluate", "train"),
    "phuma.api.video": ("from_video",),
}


def __getattr__(name: str) -> Any:
    if name == "video":  # the folder, which can be called
        return import_module("phuma.video")
    for home, names in _HOMES.items():
        if name in names:
            try:
                value = globals()[name] = getattr(import_module(home), name)
            except ModuleNotFoundError as e:
                from phuma.errors import missing_extra

                raise missing_extra(e, f"phuma.{name}") from None
            return value
    from phuma.core.names import did_you_mean

    near = did_you_mean(name, __all__)
    raise AttributeError(f"module 'phuma' has no attribute {name!r}{near}; it has {', '.join(__all__)}")


def __dir__() -> list[str]:
    return sorted(__all__)

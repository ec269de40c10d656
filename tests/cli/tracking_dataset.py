"""A dataset of a few seconds for `phuma train` and its like, and a way to train in no time."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from phuma.cli.main import main
from phuma.core.robot_motion import RobotMotion
from phuma.dataset.category import GROUP_OF
from phuma.dataset.describe import Description, save_description
from phuma.dataset.manifest import write_manifest
from phuma.formats.robot_motion_file import save_robot_motion
from phuma.learning.algorithms.config import PPOCfg
from phuma.learning.env.config import EnvironmentCfg
from phuma.learning.nets.config import MLPCfg
from phuma.learning.recipes.beyondmimic import RECIPE
from phuma.learning.recipes.recipe import RunCfg, StageCfg
from phuma.robots import load_robot
from tests.learning.sample_motions import bent, dip, planted, stand, wandering

STAGE = "policy"
SETTINGS = StageCfg(
    EnvironmentCfg(environments=8),
    MLPCfg(hidden=(16, 16), encoder=(4, 8)),
    PPOCfg(horizon=4, minibatches=2, epochs=2),
)
TINY = {STAGE: SETTINGS}
STEPS = SETTINGS.steps_per_update
"""of environments, an iteration"""
PRESETS = RECIPE.presets
CHECKPOINT = f"checkpoint_{STAGE}.npz"
JUMP = "jumpy"


def jump() -> RobotMotion:
    """An arm that is elsewhere from one frame to the next."""
    g1 = load_robot("g1")
    return planted(g1, bent(g1, np.full(40, 0.33), arm=np.where(np.arange(40) < 20, 0.0, 3.0)))


def make_dataset(root: Path) -> Path:
    """Three clips of the G1 to learn from, one of which jumps; one rejected; and one to be tested on, which nobody can
    do, as it floats."""
    g1 = load_robot("g1")
    clips = {
        "still": (stand(g1, 0.6), "train", "stand"),
        "down": (dip(g1, 0.8), "train", "squat"),
        JUMP: (jump(), "train", "reach"),
        "unseen": (wandering(g1, 1.0), "test", "jump"),
    }
    (root / "clips").mkdir(parents=True)
    rows = []
    for name, (motion, split, category) in clips.items():
        save_robot_motion(root / "clips" / f"{name}.npz", motion)
        rows.append({
            "clip": name, "robot": "g1", "kept": True, "reasons": [], "split": split, "category": category,
            "category_group": GROUP_OF[category], "frames": len(motion), "fps": 30.0, "start": 0.0,
            "end": motion.duration, "file": f"clips/{name}.npz",
        })  # fmt: skip
    rows.append({"clip": "bad", "robot": "g1", "kept": False, "reasons": ["it floats"], "split": "train"})
    write_manifest(root / "manifest.parquet", rows)
    counts = {"clips": len(rows), "kept": len(clips), "recordings": len(rows), "failed": 0, "frames": 0}
    save_description(root, Description(("g1",), {}, {}, finished=True, counts=counts))
    return root


def tiny_cfg(**environment) -> RunCfg:
    """The settings of a run with these changes of its environments."""
    return RunCfg(RECIPE.name, TINY).with_environment(**environment)


def train_tiny(dataset: Path, iterations: int) -> Path:
    """A run of a few iterations beside the dataset, by the command."""
    out = dataset.parent / "run"
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(PRESETS, "tiny", TINY)
        steps = str(iterations * STEPS)
        assert (
            main(["train", str(dataset), "--from", "scratch", "--preset", "tiny", "--steps", steps, "--out", str(out)])
            == 0
        )
    return out

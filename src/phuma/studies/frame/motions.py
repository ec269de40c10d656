"""Jobs on motions: cut a recording into clips, put a clip on the robot, let an expert perform it. Each is a pure
function of its item, and writes files that are named by their content."""

from __future__ import annotations

import hashlib
import time
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from phuma.core.robot_motion import RobotMotion
from phuma.core.rollout import Rollout
from phuma.curation import CurateCfg, curate_parts
from phuma.dataset.category import categorise
from phuma.formats.clip_file import load_clip, save_clip
from phuma.formats.robot_motion_file import load_robot_motion, save_robot_motion
from phuma.formats.rollout_file import save_rollout
from phuma.pipelines.certify import certify
from phuma.pipelines.files_to_clips import motions_in
from phuma.pipelines.retarget import retarget
from phuma.retargeting.measure import measure
from phuma.robots import Robot, cached_robot
from phuma.studies.frame.folder import key_of
from phuma.studies.frame.study import MIXED, VIDEO, View
from phuma.synth.video_like import as_video

MOST_CLIPS = 16
"""Clips of a recording that are considered, at most"""
METRICS = (
    "fidelity", "feasibility", "non_floating", "non_penetration", "non_skating", "position_error_cm", "torque_over",
    "residual_contact",
)  # fmt: skip
Line = dict[str, Any]


class Cut(NamedTuple):
    """A recording that is to be cut into clips as one view has them."""

    path: str
    digest: str
    view: View
    folder: str

    @property
    def key(self) -> str:
        """Return the job's name."""
        return key_of("clips", self.digest, self.view.name)


def cut(item: Cut) -> list[Line]:
    """Return the clips of a recording and write them; a recording that cannot be read is a line with the reason."""
    seed = int(item.digest[:8], 16)
    filmed = item.view.source == VIDEO or (item.view.source == MIXED and seed % 2 == 1)
    cfg, out = CurateCfg(preset=item.view.preset, mend=item.view.mend), []
    try:
        people = motions_in(Path(item.path))
        parts = (part for m in people for part in curate_parts(as_video(m, seed) if filmed else m, cfg))
        for number, clip in enumerate(islice((c for part in parts for c in part.clips), MOST_CLIPS)):
            path = Path(item.folder) / f"{item.key}_{number}.npz"
            path.parent.mkdir(parents=True, exist_ok=True)
            save_clip(path, clip)
            out.append({
                "number": number, "seconds": clip.motion.duration, "category": categorise(clip.motion, clip.contact),
                "kept": clip.verdict.kept, "passed": {m.name: m.passed for m in clip.verdict.measures},
                "file": path.name,
            })  # fmt: skip
    except Exception as e:  # one bad recording must not cost the rest of a study
        return [{"failed": f"{type(e).__name__}: {e}"}]
    return out


class Put(NamedTuple):
    """A clip that is to be put on a robot."""

    clip: str
    method: str
    robot: str
    folder: str

    @property
    def key(self) -> str:
        """Return the job's name: that of the clip, which is by content, and the method."""
        return key_of("motion", Path(self.clip).name, self.method, self.robot)


def put(item: Put) -> Line:
    """Return the metrics of a clip on the robot and write the motion, named by its content."""
    began = time.process_time()
    clip = load_clip(item.clip)
    motion = retarget(clip, cached_robot(item.robot), item.method)
    digest = hashlib.sha256(motion.qpos.astype(np.float32).tobytes()).hexdigest()[:20]
    path = Path(item.folder) / f"{digest}.npz"
    path.parent.mkdir(parents=True, exist_ok=True)
    save_robot_motion(path, motion)
    metrics = {name: motion.report["metrics"][name] for name in METRICS}
    return {"motion": digest, "seconds": motion.duration, "metrics": metrics, "cpu": time.process_time() - began}


class Perform(NamedTuple):
    """A motion that an expert is to perform."""

    motion: str
    robot: str
    out: str

    @property
    def key(self) -> str:
        """Return the job's name: the motion is named by its content."""
        return key_of("expert", Path(self.motion).stem, self.robot)


def perform(item: Perform) -> Line:
    """Return the certificate of a motion and write its performance with feedback, if it is performed to the end."""
    robot, motion = cached_robot(item.robot), load_robot_motion(item.motion)
    found = certify(motion, robot, gains=True, name=Path(item.motion).stem)
    if found.performance is not None and found.loosely:
        path = Path(item.out)
        path.parent.mkdir(parents=True, exist_ok=True)
        save_rollout(path, found.performance)
    human = None if found.performance is None else human_error(found.performance, motion, robot)
    return {**found.values, "human_cm": human, "cpu": found.seconds}


def human_error(performance: Rollout, motion: RobotMotion, robot: Robot) -> float | None:
    """Return how far [cm] the robot's joints were from those of the person whom the motion follows."""
    did = performance.reordered(motion.joint_names).resampled(motion.fps)
    reached = min(len(did), len(motion))
    if reached < 2 or motion.human_joints is None:
        return None
    own = motion.frames(slice(reached))
    part = did.frames(slice(reached))
    shown = replace(own, root_pos=part.root_pos, root_quat=part.root_quat, joint_pos=part.joint_pos)
    value = measure(shown, robot)["position_error_cm"]
    return None if value is None else float(value)

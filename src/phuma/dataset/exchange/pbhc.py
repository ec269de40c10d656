"""The `.pkl` of PBHC and ASAP: a dictionary of motions by name, each with root, joints without wrists, and contacts.

Their G1 has 23 joints: wrists are fixed. Of a motion: `root_trans_offset` (T, 3), `root_rot` (T, 4) xyzw, `dof` (T, N),
`pose_aa` (T, 1 + N + 3, 3), rotation vectors of the root, of each joint about its axis, and of three bodies that are
fixed, `contact_mask` (T, 2) left and right, `fps`. Their files are joblib's or plain pickles.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from phuma.core import rotations as rot
from phuma.core.foot_contacts import in_contact
from phuma.core.robot_motion import RobotMotion
from phuma.core.rotations import Array
from phuma.dataset.exchange.format import Format, Names
from phuma.dataset.exchange.imported import Columns, consecutive, imported, number
from phuma.dataset.exchange.layout import prepared, recorded, single, to_xyzw
from phuma.dataset.exchange.phuma_npy import entries
from phuma.dataset.exchange.pickled import dumps
from phuma.errors import ReadError
from phuma.io.atomic import write_atomic
from phuma.io.probe import Probe
from phuma.io.safe_pickle import as_array, load_pickle
from phuma.robots.robot import Indices, Robot

KEYS = ("root_trans_offset", "root_rot", "dof")
FIXED = 3
"""Bodies at the end of `pose_aa` that no joint turns: two hands and the head"""
MOST_MOTIONS = 100_000


def write(motion: RobotMotion, robot: Robot, path: Path) -> None:
    """Write a file of one motion, named after the file, at the whole rate nearest to the motion's, without wrists."""
    fps = round(motion.fps)
    motion = prepared(motion, robot, fps)
    kept = without_wrists(robot)
    joints = motion.joint_pos[:, kept]
    root, turned = rot.to_rotvec(motion.root_quat), joints[..., None] * robot.joint_axis[kept]
    pose = np.concatenate([root[:, None], turned, np.zeros((len(motion), FIXED, 3))], axis=1)
    values = (single(motion.root_pos), single(to_xyzw(motion.root_quat)), single(joints))
    content = dict(zip(KEYS, values)) | {
        "pose_aa": single(pose), "contact_mask": single(_feet(motion)), "fps": fps, **_recorded(motion, kept),
    }  # fmt: skip
    write_atomic(path, lambda f: f.write(dumps({path.stem: content})))


def without_wrists(robot: Robot) -> Indices:
    """Return the indices of the joints that are not a wrist's."""
    return np.array([j for j, name in enumerate(robot.joint_names) if "wrist" not in name])


def _feet(motion: RobotMotion) -> Array:
    """Return (T, 2) 1 or 0, whether the heel or the toe of the left and of the right foot is in contact."""
    return in_contact(motion.contact).reshape(-1, 2, 2).any(axis=2).astype(float)


def _recorded(motion: RobotMotion, kept: Indices) -> dict[str, Array]:
    """Return what was recorded of a motion that was performed under physics, without that of wrists."""
    return {k: v[:, kept] if k.startswith("dof_") else v for k, v in recorded(motion).items() if k != "foot_contact"}


def read(path: Path, robot: Robot) -> list[RobotMotion]:
    """Read all motions of a file, one after another, with wrists at rest where it has none."""
    found = _motions(load_pickle(path))
    if not found:
        raise ReadError(path, f"holds no motion with {', '.join((*KEYS, 'fps'))}")
    if len(found) > MOST_MOTIONS:
        raise ReadError(path, f"holds {len(found):,} motions; at most {MOST_MOTIONS:,} are read")
    return consecutive([_read_one(path, robot, name, content) for name, content in found.items()])


def _motions(content: Any) -> dict[str, dict[Any, Any]]:
    """Return the motions of a file by name: those that it names, or the only one."""
    if not isinstance(content, dict):
        return {}
    if KEYS[0] in content:
        return {"": content}
    return {str(name): one for name, one in content.items() if isinstance(one, dict) and KEYS[0] in one}


def _read_one(path: Path, robot: Robot, name: str, content: dict[Any, Any]) -> RobotMotion:
    entries(path, content, (*KEYS, "fps"))
    root_pos, root_rot, dof = (as_array(path, key, content[key]) for key in KEYS)
    notes = [f"motion {name[:200]!r} of the file"] if name else []
    kept = without_wrists(robot)
    if dof.ndim == 2 and dof.shape[1] == len(kept) < robot.n_joints:
        whole = np.tile(robot.default_pose, (len(dof), 1))
        whole[:, kept] = dof
        dof = whole
        notes.append(f"the file has {len(kept)} joints; the wrists are at rest")
    columns = Columns(root_pos, root_rot, dof, KEYS)
    return imported(path, FORMAT.name, robot, number(path, "fps", content["fps"]), columns, notes=notes)


def recognises(probe: Probe) -> bool:
    """Tell whether a file is a pickle of such motions."""
    return probe.kind == "pickle" and bool(_motions(probe.content))


def names(robot: Robot) -> Names:
    """Return the names of the joints that are written."""
    return Names(tuple(robot.joint_names[j] for j in without_wrists(robot)))


FORMAT = Format(
    "pbhc", ".pkl", "PBHC's and ASAP's motions, without wrists", write, read, recognises, names=names, rate=round,
    all_joints=True,
)  # fmt: skip

"""A motion is written as BVH: our 22 joints by their names, y-up, centimetres, zero rotations are the T-pose."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from phuma.core import rotations as rot
from phuma.core.human_motion import HumanMotion
from phuma.core.rotations import Array
from phuma.core.skeleton import JOINTS, N_JOINTS, PARENTS, REST_TO_WORLD
from phuma.io.atomic import write_atomic

CENTIMETRES = 100.0


def write(path: Path, motion: HumanMotion) -> None:
    """Write the motion's joints and its path; a BVH file cannot hold the soles."""
    lines = ["HIERARCHY", *_joint_lines(0, motion.body.offsets * CENTIMETRES, "")]
    to_file = rot.conjugate(REST_TO_WORLD)
    quat = motion.joint_quat.copy()
    quat[:, 0] = rot.multiply(to_file, quat[:, 0])
    angles = np.degrees(_euler_zyx(quat))[:, _file_order()].reshape(len(motion), -1)
    table = np.concatenate([rot.rotate(to_file, motion.root_pos) * CENTIMETRES, angles], axis=1)
    lines += ["MOTION", f"Frames: {len(motion)}", f"Frame Time: {1 / motion.fps:.8f}"]
    lines += [" ".join(f"{v:.6f}" for v in row) for row in table]
    write_atomic(path, lambda f: f.write(("\n".join(lines) + "\n").encode()))


def _children(j: int) -> list[int]:
    return [k for k in range(N_JOINTS) if PARENTS[k] == j]


def _file_order(j: int = 0) -> list[int]:
    """Joints depth first, as a BVH file lists them."""
    return [j] + [i for k in _children(j) for i in _file_order(k)]


def _joint_lines(j: int, offsets: Array, indent: str) -> list[str]:
    inner = indent + "  "
    position = "6 Xposition Yposition Zposition" if j == 0 else "3"
    lines = [
        f"{indent}{'JOINT' if j else 'ROOT'} {JOINTS[j]}",
        indent + "{",
        inner + "OFFSET " + " ".join(f"{v:.6f}" for v in (offsets[j] if j else np.zeros(3))),
        inner + f"CHANNELS {position} Zrotation Yrotation Xrotation",
    ]
    for child in _children(j):
        lines += _joint_lines(child, offsets, inner)
    if not _children(j):
        lines += [inner + "End Site", inner + "{", inner + "  OFFSET 0 0 0", inner + "}"]
    return [*lines, indent + "}"]


def _euler_zyx(q: Array) -> Array:
    """(..., 3) angles a, b, c [rad] with R = Rz(a) Ry(b) Rx(c)."""
    m = rot.to_matrix(q)
    b = -np.arcsin(np.clip(m[..., 2, 0], -1, 1))
    return np.stack([np.arctan2(m[..., 1, 0], m[..., 0, 0]), b, np.arctan2(m[..., 2, 1], m[..., 2, 2])], axis=-1)

"""BVH files in the manners of several packages, made from a motion whose joints are known."""

from __future__ import annotations

import numpy as np

from phuma.core import rotations as rot
from phuma.core.skeleton import JOINTS, PARENTS, REST_TO_WORLD
from phuma.sources.bvh.writer import _euler_zyx

SIDES = (("left", "Left"), ("right", "Right"))


def _names(trunk: dict[str, str], limbs: dict[str, str], pattern: str = "{side}{name}") -> dict[str, str]:
    sided = {
        f"{low}_{ours}": pattern.format(side=side, name=theirs) for low, side in SIDES for ours, theirs in limbs.items()
    }
    return trunk | sided


MIXAMO_LIMBS = {
    "hip": "UpLeg", "knee": "Leg", "ankle": "Foot", "foot": "ToeBase", "collar": "Shoulder", "shoulder": "Arm",
    "elbow": "ForeArm", "wrist": "Hand",
}  # fmt: skip
TRUNK = {"pelvis": "Hips", "spine1": "Spine", "spine2": "Spine1", "spine3": "Spine2", "neck": "Neck", "head": "Head"}

CONVENTIONS = {
    "cmu": _names(
        TRUNK | {"spine1": "LowerBack", "spine2": "Spine", "spine3": "Spine1", "neck": "Neck1"}, MIXAMO_LIMBS
    ),
    "lafan1": _names(TRUNK, MIXAMO_LIMBS | {"foot": "Toe"}),
    "mixamo": _names({k: f"mixamorig:{v}" for k, v in TRUNK.items()}, MIXAMO_LIMBS, "mixamorig:{side}{name}"),
    "soma": _names(
        TRUNK | {"spine1": "Spine1", "spine2": "Spine2", "spine3": "Chest", "neck": "Neck2"},
        MIXAMO_LIMBS | {"hip": "Leg", "knee": "Shin"},
    ),
    "xsens": _names(
        TRUNK | {"spine1": "Chest", "spine2": "Chest2", "spine3": "Chest4"},
        {"hip": "Hip", "knee": "Knee", "ankle": "Ankle", "foot": "Toe", "collar": "Collar", "shoulder": "Shoulder",
         "elbow": "Elbow", "wrist": "Wrist"},
    ),
    "mvn": _names(
        TRUNK | {"pelvis": "Pelvis", "spine1": "L5", "spine2": "T12", "spine3": "T8"},
        MIXAMO_LIMBS | {"hip": "UpperLeg", "knee": "LowerLeg", "foot": "Toe", "shoulder": "UpperArm"},
    ),
    "smpl": {name: name for name in JOINTS},
    "biped": _names(
        TRUNK | {"pelvis": "Bip01 Pelvis"},
        {"hip": "Thigh", "knee": "Calf", "ankle": "Foot", "foot": "Toe0", "collar": "Clavicle", "shoulder": "UpperArm",
         "elbow": "Forearm", "wrist": "Hand"},
        "Bip01 {side[0]} {name}",
    ),
    "blender": _names(
        {k: v.lower() for k, v in TRUNK.items()},
        {"hip": "thigh", "knee": "shin", "ankle": "foot", "foot": "toe", "collar": "shoulder", "shoulder": "upper_arm",
         "elbow": "forearm", "wrist": "hand"},
        "{name}.{side[0]}",
    ),
}  # fmt: skip


def bvh_text(
    motion,
    names=None,
    axes=None,
    units_per_metre=100.0,
    up="y",
    t_pose_first=False,
    without=(),
) -> str:
    """A BVH file of `motion`: joint names by ours, each joint's own axes (wxyz, rest axes to joint axes: G_file =
    G K^-1), T-pose put in front or not, joints left out together with what hangs on them."""
    names = names or {name: name for name in JOINTS}
    axes = axes or {}
    k = np.stack([axes.get(name, rot.IDENTITY) for name in JOINTS])
    to_file = rot.conjugate(REST_TO_WORLD) if up == "y" else rot.IDENTITY
    quat = motion.joint_quat.copy()
    root = motion.root_pos
    if t_pose_first:
        stand = np.zeros((1, len(JOINTS), 4))
        stand[..., 0] = 1
        stand[:, 0] = REST_TO_WORLD
        quat = np.concatenate([stand, quat])
        root = np.concatenate([root[:1], root])
    quat[:, 0] = rot.multiply(to_file, quat[:, 0])
    local = rot.multiply(quat, rot.conjugate(k))
    for j in range(1, len(JOINTS)):
        local[:, j] = rot.multiply(k[PARENTS[j]], local[:, j])
    offsets = motion.body.offsets * units_per_metre
    order: list[int] = []
    lines = ["HIERARCHY"]

    def add(j: int, indent: str) -> None:
        order.append(j)
        offset = rot.rotate(k[PARENTS[j]], offsets[j]) if j else np.zeros(3)
        position = "6 Xposition Yposition Zposition" if j == 0 else "3"
        lines.append(f"{indent}{'JOINT' if j else 'ROOT'} {names[JOINTS[j]]}\n{indent}{{")
        lines.append(f"{indent} OFFSET " + " ".join(f"{v:.7f}" for v in offset))
        lines.append(f"{indent} CHANNELS {position} Zrotation Yrotation Xrotation")
        children = [c for c in range(len(JOINTS)) if PARENTS[c] == j]
        for c in (c for c in children if JOINTS[c] not in without):
            add(c, indent + " ")
        if not children or all(JOINTS[c] in without for c in children):
            end = rot.rotate(k[j], offsets[children[0]]) if children else np.zeros(3)
            lines.append(
                f"{indent} End Site\n{indent} {{\n{indent}  OFFSET "
                + " ".join(f"{v:.7f}" for v in end)
                + f"\n{indent} }}"
            )
        lines.append(f"{indent}}}")

    add(0, "")
    angles = np.degrees(_euler_zyx(local))[:, order].reshape(len(local), -1)
    table = np.concatenate([rot.rotate(to_file, root) * units_per_metre, angles], axis=1)
    lines += ["MOTION", f"Frames: {len(table)}", f"Frame Time: {1 / motion.fps:.7f}"]
    lines += [" ".join(f"{v:.6f}" for v in row) for row in table]
    return "\n".join(lines) + "\n"

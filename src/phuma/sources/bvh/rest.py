"""The joint axes of a BVH skeleton are brought into SMPL-X's rest axes.

For every matched joint j there is a constant rotation K_j from SMPL-X's rest axes into the joint's own, so that the
joint's rotation from rest is G_j(t) K_j. It comes from a reference pose in which the person stands with arms out, or,
where the file has none, from bone directions and the axes about which knees and elbows bend.
"""

from __future__ import annotations

from itertools import permutations, product
from typing import NamedTuple

import numpy as np

from phuma.core import rotations as rot
from phuma.core.rotations import Array
from phuma.core.skeleton import INDEX, JOINTS, PARENTS

LEFT, UP, AHEAD = np.eye(3)
SNAP_DEGREES = 30.0


class Samples(NamedTuple):
    """Samples are the matched joints at some instants, in the file's axes: our joint -> array over S instants."""

    position: dict[int, Array]
    """(S, 3)"""
    rotation: dict[int, Array]
    """(S, 4) wxyz"""

    def at(self, name: str) -> Array:
        """Return the positions (S, 3) of the joint of this name."""
        return self.position[INDEX[name]]

    def instant(self, k: int) -> Samples:
        """Return the sample of one instant."""
        cut = slice(k, k + 1)
        return Samples({j: p[cut] for j, p in self.position.items()}, {j: q[cut] for j, q in self.rotation.items()})


def _unit(v: Array) -> Array:
    return v / np.maximum(np.linalg.norm(v, axis=-1, keepdims=True), 1e-12)


def _triad(first: Array, second: Array) -> Array:
    """Right-handed axes (3, 3, columns) with the first axis along `first` and the second near `second`."""
    x = _unit(first)
    y = _unit(second - np.dot(second, x) * x)
    return np.stack([x, y, np.cross(x, y)], axis=1)


def _bone_targets() -> dict[int, tuple[int, Array]]:
    """Limb joints: the joint at the bone's end, and the bone's direction at rest."""
    out = {}
    for side, sign in (("left", 1.0), ("right", -1.0)):
        chain = {"hip": "knee", "knee": "ankle", "shoulder": "elbow", "elbow": "wrist"}
        for start, end in chain.items():
            out[INDEX[f"{side}_{start}"]] = (INDEX[f"{side}_{end}"], -UP if start in ("hip", "knee") else sign * LEFT)
    return out


BONES = _bone_targets()


def body_axes(pose: Samples) -> Array:
    """Return columns left, up, ahead (3, 3) of a standing person, in the file's axes, from hips and shoulders."""
    hips = pose.at("left_hip")[0], pose.at("right_hip")[0]
    top = 0.5 * (pose.at("left_shoulder")[0] + pose.at("right_shoulder")[0])
    up = _snap_axis(_unit(top - 0.5 * (hips[0] + hips[1])), 15.0)
    left = hips[0] - hips[1]
    left = _snap_axis(_unit(left - np.dot(left, up) * up), 5.0)
    return np.stack([left, up, np.cross(left, up)], axis=1)


def _snap_axis(v: Array, degrees: float) -> Array:
    """The coordinate axis next to the unit vector v, if it is nearer than the given angle."""
    i = int(np.argmax(np.abs(v)))
    return np.sign(v[i]) * np.eye(3)[i] if np.abs(v[i]) > np.cos(np.radians(degrees)) else v


def pose_angles(pose: Samples) -> dict[str, float]:
    """Return the degrees between each limb bone and its direction in a T-pose."""
    axes = body_axes(pose)
    out = {}
    for j, (end, target) in BONES.items():
        if end in pose.position:
            bone = _unit(pose.position[end][0] - pose.position[j][0])
            out[JOINTS[j]] = float(np.degrees(np.arccos(np.clip(bone @ axes @ target, -1, 1))))
    return out


def is_t_pose(pose: Samples, degrees: float = 20.0) -> bool:
    """Return whether every limb bone is within so many degrees of its direction in a T-pose."""
    return max(pose_angles(pose).values()) < degrees


def is_standing_pose(pose: Samples) -> bool:
    """Return whether legs are down, and arms straight and at the sides or out to them: a T-pose can be made of it."""
    angles = pose_angles(pose)
    axes = body_axes(pose)
    for side in ("left", "right"):
        if max(angles[f"{side}_hip"], angles[f"{side}_knee"]) > 35:
            return False
        upper = _unit(pose.at(f"{side}_elbow")[0] - pose.at(f"{side}_shoulder")[0])
        if angles[f"{side}_shoulder"] > 110 or abs(upper @ axes[:, 2]) > 0.5:
            return False
        if f"{side}_elbow" in angles and abs(angles[f"{side}_elbow"] - angles[f"{side}_shoulder"]) > 35:
            return False
    return True


def axes_from_pose(pose: Samples) -> dict[int, Array]:
    """Return K (4,) wxyz of each matched joint, from a reference pose.

    K = G_ref^-1 B C^-1, where B are the person's axes and C turns each limb bone the short way from where it is in the
    pose to where it is in a T-pose.
    """
    axes = rot.from_matrix(body_axes(pose))
    out = {}
    for j, g in pose.rotation.items():
        k = rot.multiply(rot.conjugate(g[0]), axes)
        if j in BONES and BONES[j][0] in pose.position:
            end, target = BONES[j]
            bone = rot.rotate(rot.conjugate(axes), pose.position[end][0] - pose.position[j][0])
            k = rot.multiply(k, rot.between(target, bone))
        out[j] = k
    return out


def axes_from_motion(samples: Samples, up: Array) -> dict[int, Array]:
    """Return K of each matched joint, from the motion alone.

    Pelvis: left is from hip to hip, up is the mean of the world's up. Trunk, head, wrists and toes: on average aligned
    with the joint below them. Limbs: the bone's direction and the axis about which it bends. Since joint axes are
    almost always laid along the body's, a result within 30 degrees of such axes is taken to be just that.
    """
    out: dict[int, Array] = {}
    pelvis = INDEX["pelvis"]

    def local(j: int, v: Array) -> Array:
        return rot.rotate(rot.conjugate(samples.rotation[j]), v)

    across = local(pelvis, samples.at("left_hip") - samples.at("right_hip")).mean(axis=0)
    upward = local(pelvis, np.broadcast_to(up, samples.position[pelvis].shape)).mean(axis=0)
    out[pelvis] = _snapped(_triad(across, upward))
    for j in (INDEX[n] for n in JOINTS):
        name = JOINTS[j]
        if j not in samples.rotation or j == pelvis:
            continue
        if j in BONES and BONES[j][0] in samples.position:
            out[j] = _limb_axes(samples, j)
        elif name.endswith("ankle"):
            out[j] = _foot_axes(samples, out, name.split("_")[0], up)
        else:
            below = _nearest_done(out, j)
            relative = rot.multiply(
                rot.conjugate(samples.rotation[j]), rot.multiply(samples.rotation[below], out[below])
            )
            out[j] = _snapped(rot.to_matrix(_mean_rotation(relative)))
    return out


def _nearest_done(done: dict[int, Array], j: int) -> int:
    while (j := PARENTS[j]) not in done:
        pass
    return j


def _limb_axes(samples: Samples, j: int) -> Array:
    """K of a thigh, shin, upper arm or forearm: bone direction, and the hinge of knee or elbow."""
    side, joint = JOINTS[j].split("_")
    upper = {"knee": "hip", "elbow": "shoulder"}.get(joint, joint)
    top, mid, end = {"hip": ("hip", "knee", "ankle"), "shoulder": ("shoulder", "elbow", "wrist")}[upper]
    first = samples.at(f"{side}_{mid}") - samples.at(f"{side}_{top}")
    bone_end, target = BONES[j]
    inverse = rot.conjugate(samples.rotation[j])
    bone = rot.rotate(inverse, samples.position[bone_end] - samples.position[j]).mean(axis=0)
    # Bending turns a shin back about the left axis, a left forearm ahead about the down axis, a right one about up.
    axis = LEFT if upper == "hip" else (-UP if side == "left" else UP)
    if INDEX[f"{side}_{end}"] in samples.position:
        second = samples.at(f"{side}_{end}") - samples.at(f"{side}_{mid}")
        hinge = rot.rotate(inverse, np.cross(_unit(first), _unit(second))).mean(axis=0)
    else:
        hinge = np.zeros(3)
    if np.linalg.norm(hinge) < 0.02:  # never bent: assume that the joint's axes are the body's
        hinge = _unit(bone) @ np.roll(np.eye(3), 1, axis=0)
    return _snapped(_triad(bone, hinge) @ _triad(target, axis).T)


def _foot_axes(samples: Samples, done: dict[int, Array], side: str, up: Array) -> Array:
    """K of an ankle: left as the shin's on average, and level when the foot stands flat."""
    knee, ankle, foot = (INDEX[f"{side}_{n}"] for n in ("knee", "ankle", "foot"))
    inverse = rot.conjugate(samples.rotation[ankle])
    shin = rot.multiply(samples.rotation[knee], done[knee])
    across = rot.rotate(inverse, rot.rotate(shin, LEFT)).mean(axis=0)
    if foot not in samples.position:
        ahead = rot.rotate(inverse, rot.rotate(shin, AHEAD)).mean(axis=0)
        return _snapped(_triad(across, np.cross(ahead, across)))
    toe = samples.position[foot] - samples.position[ankle]
    # A foot that stands has its ankle low: there the bone's slope is that of the flat foot.
    height = samples.position[ankle] @ up
    low = height < np.quantile(height, 0.25)
    rise = _unit(toe) @ up
    slope = float(np.clip(np.median(rise[low] if low.any() else rise), -0.8, 0.2))
    bone = rot.rotate(inverse, _unit(toe)).mean(axis=0)
    target = np.array([0.0, slope, np.sqrt(1 - slope**2)])
    return rot.from_matrix(_triad(bone, _snap_axis(_unit(across), SNAP_DEGREES)) @ _triad(target, LEFT).T)


def _mean_rotation(q: Array) -> Array:
    """The rotation next to all of q (S, 4) in the least-squares sense: the main eigenvector of sum q q^T."""
    return np.linalg.eigh(q.T @ q)[1][:, -1]


CUBE = np.array(
    [
        np.eye(3)[list(p)] * np.array(s)[:, None]
        for p in permutations(range(3))
        for s in product((1.0, -1.0), repeat=3)
        if np.linalg.det(np.eye(3)[list(p)] * np.array(s)[:, None]) > 0
    ]
)


def _snapped(m: Array) -> Array:
    """wxyz of the matrix m, or of the nearest of the 24 that permute the axes if that is within 30 degrees."""
    cosine = (np.einsum("kij,ij->k", CUBE, m) - 1) / 2
    best = int(np.argmax(cosine))
    return rot.from_matrix(CUBE[best] if cosine[best] > np.cos(np.radians(SNAP_DEGREES)) else m)

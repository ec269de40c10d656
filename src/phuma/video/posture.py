"""Find a body's posture from points in space, frame by frame and joint by joint: where the fit begins.

The pelvis leans with the trunk and turns with the hips; a bent knee or elbow shows the plane in which it bends, a
straight leg is turned as its foot is; feet point from heel to toe.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from phuma.core import rotations as rot
from phuma.core.rotations import Array
from phuma.core.skeleton import INDEX
from phuma.video.freedom import SIZE, USUAL, index_of
from phuma.video.posing import BONES

STRAIGHT = 0.25
"""Sine of a knee's or an elbow's bend below which its plane is found otherwise"""
Named = Mapping[str, Array]

REQUIRED = tuple(
    f"{side}_{name}" for name in ("shoulder", "elbow", "wrist", "hip", "knee", "ankle") for side in ("left", "right")
)
"""Points without which there is no posture"""


def posture(points: Named, lengths: Array) -> tuple[Array, Array]:
    """Return unknowns x (T, V) and rotations of the pelvis (T, 3, 3) that come near to points (T, 3), m, by name.

    All of REQUIRED are there; ears, nose, heels and toes are used if they are.
    """
    hips, shoulders = _middle(points, "hip"), _middle(points, "shoulder")
    pelvis = _axes(shoulders - hips, points["left_hip"] - points["right_hip"])
    chest = _axes(shoulders - hips, points["left_shoulder"] - points["right_shoulder"])
    x = np.zeros((len(hips), SIZE))
    x[:, 6:] = USUAL
    _put(x, ("spine1",), _between(pelvis, chest))
    if {"left_ear", "right_ear", "nose"} <= points.keys():
        ears = _middle(points, "ear")
        across = points["left_ear"] - points["right_ear"]
        ahead = points["nose"] - ears
        _put(x, ("neck",), np.clip(_between(chest, _axes(np.cross(ahead, across), across)), -1.0, 1.0))
    for side, sign in (("left", 1.0), ("right", -1.0)):
        _arm(x, points, chest, side, sign)
        _leg(x, points, pelvis, side)
    to_hips = 0.5 * (BONES[INDEX["left_hip"]] + BONES[INDEX["right_hip"]]) @ lengths
    x[:, :3] = hips - pelvis @ to_hips
    return x, pelvis


def _arm(x: Array, points: Named, chest: Array, side: str, sign: float) -> None:
    shoulder, elbow, wrist = (points[f"{side}_{n}"] for n in ("shoulder", "elbow", "wrist"))
    upper, fore = (_unit(_into(chest, v)) for v in (elbow - shoulder, wrist - elbow))
    rest = np.broadcast_to([sign, 0.0, 0.0], upper.shape)
    unbent = rot.rotate(rot.between(rest, upper), np.array([0.0, 0.0, 1.0]))
    ahead = _plane(fore - _dot(fore, upper) * upper, unbent)
    turn = _frame(sign * upper, ahead, order="xz")
    _put(x, (f"{side}_shoulder",), _continuous(rot.to_rotvec(rot.from_matrix(turn))))
    x[:, index_of(f"{side}_elbow", 1)] = np.arccos(np.clip(_dot(upper, fore), -1, 1))[:, 0]


def _leg(x: Array, points: Named, pelvis: Array, side: str) -> None:
    hip, knee, ankle = (points[f"{side}_{n}"] for n in ("hip", "knee", "ankle"))
    thigh, shank = (_unit(_into(pelvis, v)) for v in (knee - hip, ankle - knee))
    toe = points.get(f"{side}_foot_index", points.get(f"{side}_big_toe"))
    heel = points.get(f"{side}_heel")
    foot = None if toe is None or heel is None else _unit(_into(pelvis, toe - heel))
    forward = np.broadcast_to([0.0, 0.0, 1.0], thigh.shape) if foot is None else foot
    ahead = _plane(_dot(shank, thigh) * thigh - shank, _unit(forward - _dot(forward, thigh) * thigh))
    turn = _frame(-thigh, ahead, order="yz")
    _put(x, (f"{side}_hip",), _continuous(rot.to_rotvec(rot.from_matrix(turn))))
    bend = np.arccos(np.clip(_dot(thigh, shank), -1, 1))[:, 0]
    x[:, index_of(f"{side}_knee", 0)] = bend
    if foot is not None:
        below = turn @ rot.to_matrix(rot.from_axis("x", bend))
        turned = _frame(_unit(foot), -_unit(shank), order="zy")
        _put(x, (f"{side}_ankle",), np.clip(_between(below, turned), -0.6, 0.6))


def _put(x: Array, joints: tuple[str, ...], vector: Array) -> None:
    """Put rotation vectors (T, 3) into the unknowns of a joint."""
    for axis in range(3):
        x[:, index_of(joints[0], axis)] = vector[:, axis]


def _axes(up: Array, left: Array) -> Array:
    """Return (T, 3, 3) rotations whose columns are left, up and ahead: up as given, left as near as it can."""
    return _frame(_unit(up), _unit(np.cross(left, up)), order="yz")


def _frame(first: Array, second: Array, order: str) -> Array:
    """Return (T, 3, 3) the rotations of which one column, named by `order`, is `first`, and another one as near to
    `second` as it can be."""
    second = second - _dot(second, first) * first
    aside = np.roll(first, 1, axis=-1)
    none = np.linalg.norm(second, axis=-1, keepdims=True) < 1e-9
    second = _unit(np.where(none, aside - _dot(aside, first) * first, second))
    a, b = ("xyz".index(c) for c in order)
    out = np.empty((*first.shape, 3))
    out[..., a], out[..., b] = first, second
    third = 3 - a - b
    sign = 1.0 if (a, b) in ((0, 1), (1, 2), (2, 0)) else -1.0
    out[..., third] = sign * np.cross(first, second)
    return out


def _plane(shown: Array, otherwise: Array) -> Array:
    """Return unit vectors along `shown`, whose length is the sine of a bend, or along `otherwise` where that is
    small."""
    sine = np.linalg.norm(shown, axis=-1, keepdims=True)
    share = np.clip(sine / STRAIGHT, 0.0, 1.0)
    return _unit(share * shown / np.maximum(sine, 1e-9) + (1 - share) * otherwise)


def _between(a: Array, b: Array) -> Array:
    """Return (T, 3) rotation vectors from a to b, in the axes of a."""
    return _continuous(rot.to_rotvec(rot.from_matrix(a.transpose(0, 2, 1) @ b)))


def _continuous(vector: Array) -> Array:
    """Return rotation vectors of the same rotations with the whole turns that keep neighbours near each other."""
    out = vector.copy()
    for t in range(1, len(out)):
        angle = np.linalg.norm(out[t])
        if angle > 2.0:
            other = out[t] * (1 - 2 * np.pi / angle)
            if np.linalg.norm(other - out[t - 1]) < np.linalg.norm(out[t] - out[t - 1]):
                out[t] = other
    return out


def _middle(points: Named, name: str) -> Array:
    return 0.5 * (points[f"left_{name}"] + points[f"right_{name}"])


def _into(axes: Array, v: Array) -> Array:
    return (axes.transpose(0, 2, 1) @ v[..., None])[..., 0]


def _dot(a: Array, b: Array) -> Array:
    return np.sum(a * b, axis=-1, keepdims=True)


def _unit(v: Array) -> Array:
    """Return unit vectors along v, and (1, 0, 0) where it has no length."""
    length = np.linalg.norm(v, axis=-1, keepdims=True)
    return np.where(length > 1e-9, v / np.maximum(length, 1e-9), [1.0, 0.0, 0.0])

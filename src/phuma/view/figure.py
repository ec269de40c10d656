"""A person as solid bones and soles: where each one is in every frame."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from phuma import rotations as rot
from phuma.motion import HumanMotion
from phuma.rotations import Array
from phuma.skeleton import INDEX, JOINTS, N_JOINTS, PARENTS, POINTS_PER_REGION, REGIONS
from phuma.view import style

BONE_RADIUS, JOINT_RADIUS, HEAD_RADIUS = 0.020, 0.028, 0.095  # m
SOLE_THICKNESS = 0.012  # m
BONES = tuple(range(1, N_JOINTS))


@dataclass(frozen=True, eq=False)
class Figure:
    """Bones point along their own z, from parent to joint."""

    middle: Array
    """(T, 21, 3) m"""
    turn: Array
    """(T, 21, 4) wxyz"""
    length: Array
    """(21,) m"""


def figure_of(joints: Array) -> Figure:
    """From joints (T, 22, 3)."""
    start, end = joints[:, [PARENTS[j] for j in BONES]], joints[:, list(BONES)]
    along = end - start
    length = np.linalg.norm(along, axis=-1)
    up = np.broadcast_to([0.0, 0.0, 1.0], along.shape)
    turn = rot.between(up, np.where(length[..., None] > 1e-9, along, up))
    return Figure((start + end) / 2, turn, length.mean(axis=0))


def bone_mesh(bone: int, length: float) -> tuple[Array, Array]:
    """Vertices (V, 3) and faces (F, 3) of a bone with the joint at its end, a ball: of the head a larger one."""
    import trimesh

    parts = [trimesh.creation.cylinder(radius=BONE_RADIUS, height=max(length, 1e-3), sections=10)]
    balls = [(JOINT_RADIUS, length / 2)]
    if JOINTS[BONES[bone]] == "head":
        balls = [(HEAD_RADIUS, length / 2 + 0.8 * HEAD_RADIUS)]
    if JOINTS[BONES[bone]] == "spine1":
        balls.append((JOINT_RADIUS, -length / 2))  # the pelvis, which ends no bone
    for radius, height in balls:
        ball = trimesh.creation.icosphere(subdivisions=2, radius=radius)
        ball.apply_translation([0.0, 0.0, height])
        parts.append(ball)
    whole: trimesh.Trimesh = trimesh.util.concatenate(parts)  # type: ignore[assignment]
    return np.asarray(whole.vertices), np.asarray(whole.faces)


@dataclass(frozen=True, eq=False)
class Sole:
    """A region of a sole as a plate that goes with its joint."""

    vertices: Array
    """(V, 3) m around the middle of the region's points, in the joint's axes"""
    faces: Array
    """(F, 3)"""
    middle: Array
    """(T, 3) m"""
    turn: Array
    """(T, 4) wxyz"""


def soles_of(human: HumanMotion) -> list[Sole]:
    """(4) in the order of the regions; none where the body has no soles."""
    import trimesh

    if not len(human.body.soles):
        return []
    points = human.sole_positions().reshape(len(human), len(REGIONS), POINTS_PER_REGION, 3)
    out = []
    for r, region in enumerate(REGIONS):
        side, part = region.split("_")
        turn = human.pose.rotation[:, INDEX[f"{side}_{'ankle' if part == 'heel' else 'foot'}"]]
        middle = points[:, r].mean(axis=1)
        around = rot.rotate(rot.conjugate(turn)[:, None], points[:, r] - middle[:, None]).mean(axis=0)
        thick = np.array([0.0, SOLE_THICKNESS / 2, 0.0])  # y is up in a body's axes
        hull = trimesh.Trimesh(np.concatenate([around - thick, around + thick])).convex_hull
        out.append(Sole(np.asarray(hull.vertices), np.asarray(hull.faces), middle, turn))
    return out


def bone_colours() -> list[str]:
    """(21) left, right and trunk."""
    return [side_colour(JOINTS[j]) for j in BONES]


def side_colour(name: str) -> str:
    """Of a joint or a sole region, by its name."""
    return style.LEFT if name.startswith("left") else style.RIGHT if name.startswith("right") else style.TRUNK

"""Compute where the solid bones and soles of a person are in every frame."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from phuma.core import rotations as rot
from phuma.core.human_motion import HumanMotion
from phuma.core.rotations import Array
from phuma.core.skeleton import INDEX, JOINTS, N_JOINTS, PARENTS, POINTS_PER_REGION, REGIONS
from phuma.viewer import style

BONE_RADIUS, JOINT_RADIUS, HEAD_RADIUS = 0.020, 0.028, 0.095  # m
SOLE_THICKNESS = 0.012  # m
BONES = tuple(range(1, N_JOINTS))


@dataclass(frozen=True, eq=False)
class Figure:
    """Hold the pose of every bone in every frame; a bone points along its own z axis, from parent to joint."""

    middle: Array
    """(T, 21, 3) middle of each bone, m"""
    rotation: Array
    """(T, 21, 4) rotation of each bone, wxyz"""
    length: Array
    """(21,) mean length of each bone, m"""


def figure_of(joints: Array) -> Figure:
    """Return the figure of joints (T, 22, 3)."""
    start, end = joints[:, [PARENTS[j] for j in BONES]], joints[:, list(BONES)]
    along = end - start
    length = np.linalg.norm(along, axis=-1)
    up = np.broadcast_to([0.0, 0.0, 1.0], along.shape)
    rotation = rot.between(up, np.where(length[..., None] > 1e-9, along, up))
    return Figure((start + end) / 2, rotation, length.mean(axis=0))


def bone_mesh(bone: int, length: float) -> tuple[Array, Array]:
    """Return vertices (V, 3) and faces (F, 3) of a bone with a ball for the joint at its end, larger for the head."""
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
    """Hold a region of a sole as a plate that moves with its joint."""

    vertices: Array
    """(V, 3) vertices around the middle of the region's points, in the joint's axes, m"""
    faces: Array
    """(F, 3) faces, by the numbers of their vertices"""
    middle: Array
    """(T, 3) middle of the plate, m"""
    rotation: Array
    """(T, 4) rotation of the plate, wxyz"""


def soles_of(human: HumanMotion) -> list[Sole]:
    """Return the four soles in the order of the regions, or none where the body has no soles."""
    import trimesh

    if not len(human.body.soles):
        return []
    points = human.sole_positions().reshape(len(human), len(REGIONS), POINTS_PER_REGION, 3)
    out = []
    for r, region in enumerate(REGIONS):
        side, part = region.split("_")
        rotation = human.pose.rotation[:, INDEX[f"{side}_{'ankle' if part == 'heel' else 'foot'}"]]
        middle = points[:, r].mean(axis=1)
        around = rot.rotate(rot.conjugate(rotation)[:, None], points[:, r] - middle[:, None]).mean(axis=0)
        thick = np.array([0.0, SOLE_THICKNESS / 2, 0.0])  # y is up in a body's axes
        hull = trimesh.Trimesh(np.concatenate([around - thick, around + thick])).convex_hull
        out.append(Sole(np.asarray(hull.vertices), np.asarray(hull.faces), middle, rotation))
    return out


def bone_colours() -> list[str]:
    """Return the 21 colours of the bones, by side: left, right or trunk."""
    return [side_colour(JOINTS[j]) for j in BONES]


def side_colour(name: str) -> str:
    """Return the colour of a joint or a sole region, by its name."""
    return style.LEFT if name.startswith("left") else style.RIGHT if name.startswith("right") else style.TRUNK

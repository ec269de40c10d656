"""A rig is a robot's tree in plain numbers, as it is read from a compiled model: links, hinges, shapes.

It can be taken by another root and turned, and is then written as a model of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from phuma.core import rotations as rot
from phuma.core.rotations import Array
from phuma.robots.model import load_mujoco
from phuma.robots.onboarding.model_file import LEAST_MASS
from phuma.robots.onboarding.shapes import Shape, shapes_of

TRUNK, TRUNK_RADIUS = 0.15, 0.1  # of the robot's other mass, m: what a trunk gets that the file makes part of the world


@dataclass(frozen=True, eq=False)
class Hinge:
    """A hinge that turns its link about the line through `anchor` along `axis`, in the link's frame."""

    name: str
    axis: Array
    anchor: Array
    lower: float
    upper: float
    neutral: float
    """rad: where the model file draws it, within its range"""
    limited: bool = True
    coupled: bool = False
    """an equality constraint ties it to another joint"""
    armature: float = 0.0


@dataclass(frozen=True, eq=False)
class Link:
    """A link is a body: at zero angles its frame lies at `pos`, rotated by `quat` (wxyz), in its parent's."""

    name: str
    parent: int
    """-1: the root"""
    pos: Array
    quat: Array
    mass: float
    com: Array
    inertia: Array
    """(3,) about the axes of `inertia_quat`"""
    inertia_quat: Array
    hinges: tuple[Hinge, ...] = ()
    shapes: tuple[Shape, ...] = ()


class LinkPoses(NamedTuple):
    """These are the poses of all links in the world."""

    pos: Array
    """(B, 3)"""
    quat: Array
    """(B, 4) wxyz"""

    def point(self, link: int, local: Array) -> Array:
        """Return points (..., 3) of a link in the world."""
        return self.pos[link] + rot.rotate(self.quat[link], local)

    def local(self, link: int, point: Array) -> Array:
        """Return points (..., 3) of the world in a link's frame."""
        return rot.rotate(rot.conjugate(self.quat[link]), point - self.pos[link])


@dataclass(frozen=True, eq=False)
class Rig:
    """A rig lists links, parents before children.

    The root's own `pos` and `quat` are those that the file draws in the world.
    """

    links: tuple[Link, ...]
    up: Array
    """(3,) against gravity, in the world"""
    frozen: tuple[str, ...] = ()
    """joints that are no hinges, or cannot move: held where the file draws them"""
    free_root: bool = True
    """whether the file lets its root move"""
    names: dict[str, int] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", {link.name: b for b, link in enumerate(self.links)})

    def numbers(self, names: Sequence[str]) -> list[int]:
        """Return links by their names."""
        return [self.names[name] for name in names]

    def children(self, b: int) -> list[int]:
        """Return the links that hang on a link."""
        return [c for c, link in enumerate(self.links) if link.parent == b]

    def below(self, b: int) -> list[int]:
        """Return a link and all that hangs on it, parents first."""
        inside = {b}
        for c, link in enumerate(self.links):
            if link.parent in inside:
                inside.add(c)
        return sorted(inside)

    def path(self, b: int) -> list[int]:
        """Return the links from the root down to a link."""
        out: list[int] = []
        while b >= 0:
            out.append(b)
            b = self.links[b].parent
        return out[::-1]

    def hinges_of(self, links: Sequence[int]) -> list[tuple[int, Hinge]]:
        """Return the hinges of some links with the link that each moves, in their order."""
        return [(b, h) for b in links for h in self.links[b].hinges]

    def posed(self) -> LinkPoses:
        """Return the pose that the file draws, in the world."""
        pos, quat = np.zeros((len(self.links), 3)), np.zeros((len(self.links), 4))
        for b, link in enumerate(self.links):
            p, q = link.pos, link.quat
            for h in link.hinges:
                p, q = _then(p, q, *_turn(h.axis, h.anchor, h.neutral))
            up = link.parent
            pos[b], quat[b] = (p, q) if up < 0 else _then(pos[up], quat[up], p, q)
        return LinkPoses(pos, quat)


def carrier(rig: Rig, b: int) -> int:
    """Return the link that a link is fixed to, over as many as it takes: itself where it has joints."""
    while rig.links[b].parent >= 0 and not rig.links[b].hinges:
        b = rig.links[b].parent
    return b


def rigid(rig: Rig, b: int) -> list[int]:
    """Return a link and those fixed to it, parents first."""
    out = [b]
    for c in rig.below(b)[1:]:
        if rig.links[c].parent in out and not rig.links[c].hinges:
            out.append(c)
    return out


def _then(p: Array, q: Array, p2: Array, q2: Array) -> tuple[Array, Array]:
    """The frame (p2, q2) of the frame (p, q)."""
    return p + rot.rotate(q, p2), rot.multiply(q, q2)


def _turn(axis: Array, anchor: Array, angle: float) -> tuple[Array, Array]:
    """Return the motion that rotates by `angle` about a line."""
    q = rot.from_rotvec(angle * axis)
    return anchor - rot.rotate(q, anchor), q


def read_rig(model: Any, mimics: frozenset[str]) -> Rig:
    """Return the robot of a compiled model: of several trees in its world the one with the most joints.

    Where no tree can move freely and several have joints, the world itself is the trunk: so MuJoCo reads a robot whose
    base is fixed.
    """
    mujoco = load_mujoco()
    hinge, free = int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_FREE)
    kinds = [int(k) for k in model.jnt_type]
    trees = {int(r): 0 for r in model.body_rootid if r}
    floating = set()
    for j, kind in enumerate(kinds):
        root = int(model.body_rootid[model.jnt_bodyid[j]])
        trees[root] += kind == hinge
        floating |= {root} if kind == free else set()
    moving = [r for r, count in trees.items() if count]
    root = max(trees, key=lambda r: trees[r]) if trees else 0
    if len(moving) > 1 and not floating & set(moving):
        root = 0
    ids = [b for b in range(model.nbody) if root in (0, int(model.body_rootid[b]))]
    coupled = _coupled(model) | {j for j in range(model.njnt) if model.joint(j).name in mimics}
    frozen: list[str] = []
    links = [_link(model, b, ids, coupled, frozen) for b in ids]
    if root == 0:  # the world weighs nothing, a trunk does
        mass = TRUNK * sum(link.mass for link in links)
        links[0] = replace(links[0], mass=mass, inertia=np.full(3, 0.4 * mass * TRUNK_RADIUS**2))
    gravity = np.array(model.opt.gravity)
    size = np.linalg.norm(gravity)
    up = -gravity / size if size > 1e-6 else np.array([0.0, 0.0, 1.0])
    return Rig(tuple(links), up, tuple(frozen), root in floating)


def _coupled(model: Any) -> set[int]:
    """Joints that an equality constraint makes depend on another."""
    mujoco = load_mujoco()
    tied = int(mujoco.mjtEq.mjEQ_JOINT)
    found = zip(model.eq_type, model.eq_obj1id, model.eq_obj2id)
    return {int(a) for kind, a, b in found if int(kind) == tied and int(b) >= 0}


def _link(model: Any, b: int, ids: list[int], coupled: set[int], frozen: list[str]) -> Link:
    mujoco = load_mujoco()
    name = "base" if b == 0 else model.body(b).name or f"body_{b}"
    pos, quat = np.array(model.body_pos[b]), np.array(model.body_quat[b])
    hinges: list[Hinge] = []
    is_root = b == ids[0]
    for k in range(int(model.body_jntnum[b])):
        j = int(model.body_jntadr[b]) + k
        kind, own = int(model.jnt_type[j]), model.joint(j).name or f"{name}_joint{k if k else ''}"
        if is_root:  # joints of the root place the robot in the world, as its free joint will
            frozen += [own] if kind != int(mujoco.mjtJoint.mjJNT_FREE) else []
            continue
        lower, upper = (float(v) for v in model.jnt_range[j])
        limited = bool(model.jnt_limited[j])
        if kind != int(mujoco.mjtJoint.mjJNT_HINGE) or (limited and upper - lower < 1e-3):
            frozen.append(own)
            continue
        if not limited:
            lower, upper = -np.pi, np.pi
        axis, anchor = np.array(model.jnt_axis[j]), np.array(model.jnt_pos[j])
        ref = float(model.qpos0[int(model.jnt_qposadr[j])])
        # The file draws a joint at `ref`. Here a frame is that of zero angles: S(q - ref) = S(-ref) S(q), and S(-ref)
        # goes into the link's frame, past the joints before this one.
        back = _turn(axis, anchor, -ref)
        pos, quat = _then(pos, quat, *back)
        forth = _turn(axis, anchor, ref)
        hinges = [
            replace(h, axis=rot.rotate(forth[1], h.axis), anchor=forth[0] + rot.rotate(forth[1], h.anchor))
            for h in hinges
        ]
        hinges.append(
            Hinge(
                own,
                axis,
                anchor,
                lower,
                upper,
                float(np.clip(ref, lower, upper)),
                limited,
                j in coupled,
                float(model.dof_armature[int(model.jnt_dofadr[j])]),
            )
        )
    parent = -1 if is_root else ids.index(int(model.body_parentid[b]))
    return Link(
        name=name,
        parent=parent,
        pos=pos,
        quat=quat,
        mass=float(model.body_mass[b]),
        # Of a body without inertia MuJoCo reports a meaningless centre.
        com=np.array(model.body_ipos[b]) if model.body_mass[b] > 1.01 * LEAST_MASS else np.zeros(3),
        inertia=np.array(model.body_inertia[b]),
        inertia_quat=np.array(model.body_iquat[b]),
        hinges=tuple(hinges),
        shapes=tuple(shapes_of(model, b)),
    )

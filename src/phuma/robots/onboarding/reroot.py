"""A rig is rerooted at the pelvis, at the origin, with x ahead, y left, z up."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from phuma.core import rotations as rot
from phuma.core.rotations import Array
from phuma.robots.onboarding.ambiguities import Ambiguity
from phuma.robots.onboarding.limbs import Limbs
from phuma.robots.onboarding.rig import Rig, carrier

Z = np.array([0.0, 0.0, 1.0])


def reroot_at_pelvis(rig: Rig, limbs: Limbs, frame: Array) -> tuple[Rig, list[Ambiguity]]:
    """Return the rig with the pelvis as its root, at the origin, x ahead; and what changed by that."""
    ambiguities = []
    old = rig.links[0].name
    pelvis = carrier(rig, limbs.pelvis)
    if pelvis != 0:
        above = set(rig.path(pelvis)[:-1])
        carries = above & set(rig.path(limbs.chest))  # the trunk is above the pelvis in the file's tree
        keep = limbs.chest in above or (carries and limbs.chest not in rig.below(pelvis))
        drop = frozenset() if keep else frozenset({rig.links[pelvis].parent})
        rig = rerooted(rig, pelvis, drop)
        ambiguities.append(
            Ambiguity(
                f"The root of the file is {old!r}, but the legs hang on {rig.links[0].name!r}: that is the root of the "
                "written model" + (f"; {old!r} and what hangs on it beside the robot is left out." if drop else "."),
                f"nothing to do if {rig.links[0].name!r} is the pelvis. Motions hold its place and turn, not those of "
                f"{old!r}, and joints are in the order of the written model.",
            )
        )
    elif not rig.free_root:
        ambiguities.append(
            Ambiguity(
                f"The file fixes its root {old!r} in the world or moves it by other joints; the written model has a "
                "free joint there.",
                "nothing to do, unless another body is the pelvis.",
            )
        )
    to_new = rot.multiply(rot.conjugate(frame), rig.links[0].quat)
    angle = float(np.degrees(np.linalg.norm(rot.to_rotvec(to_new))))
    if angle > 0.01:
        rig = with_root_frame(rig, frame)
        ambiguities.append(
            Ambiguity(
                f"The root's axes of the written model are turned by {angle:.0f} degrees against those of the file: "
                "here x is ahead, y left, z up.",
                "nothing to do. Whoever plays motions on the file's own model has to turn root_quat back.",
            )
        )
    root = replace(rig.links[0], pos=np.zeros(3), quat=rot.IDENTITY)
    return replace(rig, links=(root, *rig.links[1:]), up=Z), ambiguities


def rerooted(rig: Rig, root: int, drop: frozenset[int] = frozenset()) -> Rig:
    """Return the same robot with another link as its root, and without the links `drop`.

    On the way from the new root to the old one parents become children. With  T_b = T_a O S_1 ... S_k  a link a hangs
    on b by  T_a = T_b S_k(-q_k) ... S_1(-q_1) O^-1 = T_b O^-1 (O S_k(-q_k) O^-1) ... (O S_1(-q_1) O^-1):  the same
    hinges in the frame of a, in reverse order, with axes turned round so that angles keep their sign.
    """
    way = rig.path(root)[::-1]  # from the new root up to the old one
    above = dict(zip(way[1:], way))  # of a link on the way: its new parent
    where, order = rig.posed(), _order(rig, root, above, drop)
    index = {b: n for n, b in enumerate(order)}
    links = []
    for b in order:
        link = rig.links[b]
        if b == root:
            link = replace(link, parent=-1, pos=where.pos[b], quat=where.quat[b], hinges=())
        elif b in above:
            child = rig.links[above[b]]
            back = rot.conjugate(child.quat)
            hinges = tuple(
                replace(h, axis=-rot.rotate(child.quat, h.axis), anchor=child.pos + rot.rotate(child.quat, h.anchor))
                for h in reversed(child.hinges)
            )
            link = replace(link, parent=index[above[b]], pos=-rot.rotate(back, child.pos), quat=back, hinges=hinges)
        else:
            link = replace(link, parent=index[link.parent])
        links.append(link)
    return replace(rig, links=tuple(links))


def _order(rig: Rig, root: int, above: dict[int, int], drop: frozenset[int]) -> list[int]:
    """Links depth first from a new root, children in the order of the file."""
    out, stack = [], [root]
    while stack:
        b = stack.pop()
        if b in drop:
            continue
        out.append(b)
        near = [c for c, link in enumerate(rig.links) if above.get(c) == b or (link.parent == b and c not in above)]
        # What hung on the way to the new root is still below it, except the way itself.
        stack += [c for c in reversed(near) if c != root]
    return out


def with_root_frame(rig: Rig, frame: Array) -> Rig:
    """Return the rig with the root's own axes rotated to `frame` (wxyz, in the world); everything stays where it is."""
    root = rig.links[0]
    to_new = rot.multiply(rot.conjugate(frame), root.quat)  # from the old axes to the new

    def moved(pos: Array, quat: Array) -> tuple[Array, Array]:
        return rot.rotate(to_new, pos), rot.multiply(to_new, quat)

    com, inertia_quat = moved(root.com, root.inertia_quat)
    shapes = tuple(s.moved(np.zeros(3), to_new) for s in root.shapes)
    links = [replace(root, quat=frame, com=com, inertia_quat=inertia_quat, shapes=shapes)]
    for link in rig.links[1:]:
        if link.parent == 0:
            pos, quat = moved(link.pos, link.quat)
            link = replace(link, pos=pos, quat=quat)
        links.append(link)
    return replace(rig, links=tuple(links))

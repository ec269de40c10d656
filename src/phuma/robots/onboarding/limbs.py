"""Legs, arms and trunk are found in a tree of links by what hangs where; names do not count."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np

from phuma.core.rotations import Array
from phuma.errors import ReadError
from phuma.robots.onboarding.ambiguities import some
from phuma.robots.onboarding.rig import LinkPoses, Rig

LEAST_JOINTS = 3  # of a limb
NEAR_GROUND = 0.12  # of the robot's height: who reaches down so far, stands
MIRROR = 0.05  # of the robot's height: by so much two limbs may miss being mirror images
ABOVE = 0.12  # of the robot's height: limbs that stand and start no more above the hips are more legs
BRANCH = 2.0  # of several parts that hang on a link, one so much larger than the others carries on the limb
SMALL = 0.6  # of the limb so far: parts that are smaller are fingers
HAND = ("finger", "thumb", "gripper", "claw", "jaw")
LOOKED_FOR = (
    "a humanoid has two legs, which are mirrored chains of three joints or more that reach the ground, and two arms, "
    "mirrored chains of three or more that start above the hips, upright as the file draws it"
)


@dataclass(frozen=True)
class Limbs:
    """Limbs are chains of links from the first that their joints move to foot or hand.

    They come in pairs, not yet left and right.
    """

    pelvis: int
    """the link that carries both legs"""
    chest: int
    """the link that carries both arms"""
    legs: tuple[list[int], list[int]]
    arms: tuple[list[int], list[int]]
    across: Array
    """(3,) unit vector in the world from the second leg to the first, level"""


@dataclass(frozen=True)
class _Chain:
    start: int
    links: list[int]
    joints: int
    anchors: Array
    """(J, 3) in the world"""
    lowest: float
    size: float


def find_limbs(rig: Rig, path: Path) -> Limbs:
    """Return the two legs and the two arms, or raise an error that says what was found instead."""
    where = rig.posed()
    points = [_points(rig, where, b) for b in range(len(rig.links))]
    heights = np.concatenate(points) @ rig.up
    ground, tall = float(heights.min()), float(np.ptp(heights))
    chains = {c: _chain(rig, where, points, c) for c in range(1, len(rig.links))}
    pairs = [
        (a, b)
        for body in range(len(rig.links))
        for a, b in combinations((chains[c] for c in rig.children(body)), 2)
        if min(a.joints, b.joints) >= LEAST_JOINTS and _mirrored(a, b, rig.up, MIRROR * tall)
    ]
    standing = [p for p in pairs if max(p[0].lowest, p[1].lowest) < ground + NEAR_GROUND * tall]
    found = _found(rig, chains, ground)
    if not standing:
        raise ReadError(path, f"{_missing_legs(rig, chains, ground, tall)}; {LOOKED_FOR}. Found: {found}")
    legs = min(standing, key=lambda p: (round(_start(p, rig.up) / tall, 2), -p[0].joints))
    across = _across(legs[0], legs[1], rig.up)
    used = {*rig.below(legs[0].start), *rig.below(legs[1].start)}
    others = [p for p in pairs if p[0].start not in used and p[1].start not in used]
    fore = [p for p in standing if p in others and p[0].anchors.size]
    hips = min(float(leg.anchors[0] @ rig.up) for leg in legs)
    if fore and all(arm.anchors[0] @ rig.up < hips + ABOVE * tall for pair in fore for arm in pair):
        count = 2 + 2 * len(fore)
        raise ReadError(path, f"{count} limbs reach the ground, as of a quadruped; {LOOKED_FOR}. Found: {found}")
    arms = [p for p in others if _start(p, rig.up) > hips]
    if not arms:
        ends = " and ".join(rig.links[leg.links[-1]].name for leg in legs)
        raise ReadError(path, f"only one pair of limbs, {ends}, so no legs or no arms; {LOOKED_FOR}. Found: {found}")
    best = max(arms, key=lambda p: min(p[0].size, p[1].size))
    legs_at, arms_at = rig.links[legs[0].start].parent, rig.links[best[0].start].parent
    return Limbs(legs_at, arms_at, (legs[0].links, legs[1].links), (best[0].links, best[1].links), across)


def _start(pair: tuple[_Chain, _Chain], up: Array) -> float:
    """How high a pair of limbs starts."""
    return min(float(limb.anchors[0] @ up) for limb in pair)


def _points(rig: Rig, where: LinkPoses, b: int) -> Array:
    """(P, 3) of a link in the world: its frame, its joints, its shapes."""
    link = rig.links[b]
    local = [np.zeros((1, 3)), *(h.anchor[None] for h in link.hinges), *(s.points for s in link.shapes)]
    return where.point(b, np.concatenate(local))


def _chain(rig: Rig, where: LinkPoses, points: list[Array], start: int) -> _Chain:
    """What hangs on a link, as one limb."""
    inside = rig.below(start)
    all_points = np.concatenate([points[b] for b in inside])
    lowest = float((all_points @ rig.up).min())
    links = _limb(rig, where, points, start)
    hinges = rig.hinges_of(links)
    anchors = np.array([where.point(b, h.anchor) for b, h in hinges]).reshape(-1, 3)
    first = anchors[0] if len(anchors) else where.pos[start]
    size = float(np.linalg.norm(all_points - first, axis=1).max())
    return _Chain(start, links, len(hinges), anchors, lowest, size)


def _limb(rig: Rig, where: LinkPoses, points: list[Array], start: int) -> list[int]:
    """From `start` down to where the limb divides into fingers or ends.

    Where several moving parts hang on a link, one that is much larger than the others carries the limb on. Of parts
    that are alike it is the heaviest, for the rods of a closed loop are as long as a shank but lighter; unless all are
    small beside the limb so far, as fingers are. A joint that follows another one is no part of a limb.
    """
    out = [start]
    while True:
        here = where.pos[out[-1]]
        ways = []
        for c in rig.children(out[-1]):
            inside = rig.below(c)
            if rig.hinges_of(inside):
                reach = np.linalg.norm(np.concatenate([points[b] for b in inside]) - here, axis=1).max()
                ways.append((float(reach), sum(rig.links[b].mass for b in inside), c))
        ways.sort(reverse=True)
        if not ways:
            return out
        if len(ways) > 1 and ways[0][0] < BRANCH * ways[1][0]:
            if ways[0][0] < SMALL * np.linalg.norm(here - where.pos[start]):
                return out
            ways.sort(key=lambda way: way[1], reverse=True)
        ahead = rig.links[ways[0][2]]
        if any(h.coupled for h in ahead.hinges) or _is_finger(ahead.name, *(h.name for h in ahead.hinges)):
            return out
        out.append(ways[0][2])


def _is_finger(*names: str) -> bool:
    return any(word in name.lower() for word in HAND for name in names)


def _mirrored(a: _Chain, b: _Chain, up: Array, miss: float) -> bool:
    """Whether the first joints of two chains are mirror images in an upright plane between them."""
    if abs(a.joints - b.joints) > 1:
        return False
    count = min(a.joints, b.joints, LEAST_JOINTS + 1)
    first, second = a.anchors[:count], b.anchors[:count]
    n = _across(a, b, up)
    if not np.isfinite(n).all():
        return False
    middle = (first.mean(axis=0) + second.mean(axis=0)) / 2
    image = first - 2 * ((first - middle) @ n)[:, None] * n
    return bool(np.linalg.norm(image - second, axis=1).max() < miss)


def _across(a: _Chain, b: _Chain, up: Array) -> Array:
    """Return the unit vector (3,) from b to a, level; NaN where they start at one point."""
    count = min(len(a.anchors), len(b.anchors))
    apart = a.anchors[:count].mean(axis=0) - b.anchors[:count].mean(axis=0)
    apart = apart - (apart @ up) * up
    size = np.linalg.norm(apart)
    return apart / size if size > 1e-3 else np.full(3, np.nan)


def _ends(rig: Rig, chains: dict[int, _Chain], b: int = 0) -> list[_Chain]:
    """The limbs below a link, those with most joints first. A chain from which another limb goes off is the trunk's."""
    out = []
    for c in rig.children(b):
        links = chains[c].links
        beside = [d for at in links[:-1] for d in rig.children(at) if d not in links]
        if any(chains[d].joints >= LEAST_JOINTS for d in beside):
            out += _ends(rig, chains, c)
        elif chains[c].joints:
            out.append(chains[c])
    return sorted(out, key=lambda chain: -chain.joints)


def _found(rig: Rig, chains: dict[int, _Chain], ground: float) -> str:
    def told(c: _Chain) -> str:
        joints = f"{c.joints} joint{'s' if c.joints > 1 else ''}"
        return f"{rig.links[c.links[-1]].name} ({joints}, down to {c.lowest - ground:.2f} m)"

    ends = _ends(rig, chains)
    if not ends:
        return f"no chain of joints, {len(rig.links)} {'bodies' if len(rig.links) > 1 else 'body'}"
    kind = "one chain of joints, which ends" if len(ends) == 1 else f"{len(ends)} chains of joints, which end"
    return f"{kind} at {some(map(told, ends), 8)}"


def _missing_legs(rig: Rig, chains: dict[int, _Chain], ground: float, tall: float) -> str:
    """Say what was found instead of two legs."""
    if len(_ends(rig, chains)) == 1:
        return "a single chain of joints, as of an arm"
    low = [c for c in _ends(rig, chains) if c.lowest < ground + NEAR_GROUND * tall and c.joints >= LEAST_JOINTS]
    if len(low) == 1:
        return f"only one leg: {rig.links[low[0].links[-1]].name} reaches the ground and has no mirror image"
    if low:
        return "no two legs: the chains that reach the ground are no mirror images of each other"
    return "no legs: no chain of three joints or more reaches the ground"

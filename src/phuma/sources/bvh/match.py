"""Joints of a BVH skeleton are matched to ours by names and by the tree.

Names differ between packages (CMU, LaFAN1, Mixamo, Xsens, SOMA, SMPL, ...), and the same name means different joints:
LeftLeg is the shin in CMU and the thigh in SOMA; LeftShoulder is the collar in Mixamo and the shoulder in Xsens. The
tree settles it: a limb is matched from its end upwards, and each joint must be an ancestor of the one before.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from phuma.core.skeleton import INDEX, JOINTS
from phuma.errors import ConfigError, ReadError
from phuma.io.json_file import read_json
from phuma.sources.bvh.parse import BvhJoint

# From the end of the limb upwards: our joint, and the words that name it.
LEG = (
    ("ankle", {"foot", "ankle"}),
    ("knee", {"leg", "lowerleg", "lowleg", "loleg", "shin", "knee", "calf", "shank", "tibia"}),
    ("hip", {"upleg", "upperleg", "thigh", "hip", "femur", "leg"}),
)
ARM = (
    ("wrist", {"hand", "wrist"}),
    ("elbow", {"forearm", "lowerarm", "lowarm", "loarm", "elbow", "radius"}),
    ("shoulder", {"arm", "upperarm", "uparm", "shoulder", "humerus", "shldr"}),
    ("collar", {"shoulder", "collar", "clavicle", "clav", "collarbone", "scapula"}),
)
TOE = {"foot", "toe", "toebase", "toes", "ball", "balltoe", "forefoot"}
OPTIONAL = {"wrist", "collar"}
REQUIRED = tuple(f"{side}_{j}" for side in ("left", "right") for j in ("hip", "knee", "ankle", "shoulder", "elbow"))


@dataclass(frozen=True)
class JointMap:
    """A joint map is what a user's `--joint-map` file settles."""

    joints: dict[str, str] = field(default_factory=dict)
    """our joint -> name in the file"""
    metres_per_unit: float | None = None
    up: str | None = None
    """"y" or "z" """


def load_joint_map(path: Path) -> JointMap:
    """Read {"joints": {"left_hip": "LThigh", ...}, "metres_per_unit": 0.01, "up": "y"}; every key may be left out."""
    try:
        data = read_json(path)
    except ReadError as e:
        raise ConfigError(f"{path}: cannot be read as a joint map: {e.problem}") from None
    joints = data.get("joints", {}) if isinstance(data, dict) else None
    if not isinstance(joints, dict) or not all(isinstance(v, str) for v in joints.values()):
        raise ConfigError(
            f'{path}: a joint map looks like {{"joints": {{"left_hip": "LThigh"}}, "metres_per_unit": 0.01}}'
        )
    unknown = sorted(set(joints) - set(JOINTS)) + sorted(set(data) - {"joints", "metres_per_unit", "up"})
    if unknown:
        raise ConfigError(f"{path}: unknown name {unknown[0]!r}; our joints are {', '.join(JOINTS)}")
    for theirs, count in Counter(joints.values()).items():
        if count > 1:
            ours = " and ".join(name for name, value in joints.items() if value == theirs)
            raise ConfigError(f"{path}: names {theirs!r} twice, as {ours}; each of them is a joint of its own")
    scale, up = data.get("metres_per_unit"), data.get("up")
    if scale is not None and not (isinstance(scale, (int, float)) and 1e-6 < scale < 1e3):
        raise ConfigError(
            f"{path}: metres_per_unit is {scale!r}; expected a number from 0.000001 to 1000, such as 0.01"
        )
    if up not in (None, "y", "z"):
        raise ConfigError(f"{path}: up is {up!r}; expected 'y' or 'z'")
    return JointMap(joints, scale, up)


def side_and_word(name: str) -> tuple[str, str]:
    """Return the side ("left", "right" or "") and the rest of a name in lower case without digits.

    `mixamorig:LeftUpLeg` is ("left", "upleg").
    """
    name = re.split(r"[:|/]", name)[-1]
    tokens = [t.lower() for t in re.findall(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+", name)]
    sides = {"l": "left", "left": "left", "r": "right", "right": "right"}
    found = [t for t in tokens if t in sides]
    if found:
        rest = [t for t in tokens if t not in sides]
        return sides[found[0]], "".join(t for t in rest if t not in ("bip", "def", "jnt", "bone"))
    word = "".join(tokens)
    for prefix, side in (("left", "left"), ("right", "right"), ("l", "left"), ("r", "right")):
        stem = word.removeprefix(prefix)
        if stem != word and any(stem in words for _, words in LEG + ARM):
            return side, stem
    return "", word


def match_joints(path: Path, joints: Sequence[BvhJoint], given: JointMap) -> dict[int, int]:
    """Return the file's joint index by our joint index. Spine joints, neck, toes, wrists and collars may be missing."""
    found = _given(path, joints, given)
    words = [side_and_word(j.name) for j in joints]
    for side in ("left", "right"):
        _match_limb(joints, words, side, LEG, found)
        _match_limb(joints, words, side, ARM, found)
        ankle = found.get(f"{side}_ankle")
        if ankle is not None and f"{side}_foot" not in found:
            toes = [i for i, (s, w) in enumerate(words) if s == side and w in TOE and ankle in _ancestors(joints, i)]
            if toes:
                found[f"{side}_foot"] = toes[0]
    _check_order(path, joints, found, given)
    missing = [name for name in REQUIRED if name not in found]
    if missing:
        names = ", ".join(j.name for j in joints if not j.is_end)
        raise ReadError(
            path,
            f"no joint of this skeleton was recognised as {missing[0]}"
            + (f" (nor {', '.join(missing[1:])})" if missing[1:] else "")
            + f". It has: {names}. Say which is which with --joint-map FILE: "
            f'{{"joints": {{"{missing[0]}": "NAME"}}}}',
        )
    _match_trunk(joints, words, found)
    return {INDEX[name]: i for name, i in found.items()}


def _given(path: Path, joints: Sequence[BvhJoint], given: JointMap) -> dict[str, int]:
    index: dict[str, int] = {}
    for i, j in enumerate(joints):
        if not j.is_end:
            index.setdefault(j.name, i)
    for ours, theirs in given.joints.items():
        if theirs not in index:
            raise ReadError(path, f"the joint map names {theirs!r} as {ours}; this skeleton has: {', '.join(index)}")
    return {ours: index[theirs] for ours, theirs in given.joints.items()}


def _check_order(path: Path, joints: Sequence[BvhJoint], found: dict[str, int], given: JointMap) -> None:
    """Raise a ReadError for a joint of the map that does not hang below the one it should."""
    for side in ("left", "right"):
        for limb in (("pelvis", "hip", "knee", "ankle", "foot"), ("collar", "shoulder", "elbow", "wrist")):
            names = [part if part == "pelvis" else f"{side}_{part}" for part in limb]
            for upper, lower in pairwise([name for name in names if name in found]):
                if {upper, lower} & set(given.joints) and found[upper] not in _ancestors(joints, found[lower]):
                    above = ", ".join(joints[i].name for i in _ancestors(joints, found[lower])) or "nothing"
                    low, high = joints[found[lower]].name, joints[found[upper]].name
                    raise ReadError(
                        path,
                        f"with the joint map {low!r} is the {lower} and {high!r} the {upper}, which is not above it; "
                        f"above it are: {above}",
                    )


def _ancestors(joints: Sequence[BvhJoint], i: int) -> list[int]:
    """From the parent up to the root."""
    out = []
    while (i := joints[i].parent) >= 0:
        out.append(i)
    return out


def _match_limb(
    joints: Sequence[BvhJoint],
    words: Sequence[tuple[str, str]],
    side: str,
    limb: Sequence[tuple[str, set[str]]],
    found: dict[str, int],
) -> None:
    """Add the joints of one limb, from its end upwards; the highest joint of a name is the limb's own."""
    below: int | None = None
    for joint, names in limb:
        key = f"{side}_{joint}"
        if key not in found:
            own = [i for i, (s, w) in enumerate(words) if s == side and w in names and not joints[i].is_end]
            if below is not None:
                up = _ancestors(joints, below)
                own = sorted((i for i in own if i in up), key=up.index)
            if own:
                found[key] = own[0]
            elif joint not in OPTIONAL:
                return
        below = found.get(key, below)


def _match_trunk(joints: Sequence[BvhJoint], words: Sequence[tuple[str, str]], found: dict[str, int]) -> None:
    """Pelvis and chest are where the limbs meet; the spine is what lies between them; head and neck have names."""

    def meet(a: int, b: int) -> int:
        up = [a, *_ancestors(joints, a)]
        return next(i for i in [b, *_ancestors(joints, b)] if i in up)

    found.setdefault("pelvis", meet(found["left_hip"], found["right_hip"]))
    tops = [found.get(f"{s}_collar", found[f"{s}_shoulder"]) for s in ("left", "right")]
    chest = meet(*(joints[t].parent for t in tops))
    path = [chest, *_ancestors(joints, chest)]
    spine = path[: path.index(found["pelvis"])][::-1] if found["pelvis"] in path else []
    if spine and not any(f"spine{k}" in found for k in (1, 2, 3)):
        # Three joints for as many as there are: the first, the chest, and one half way between.
        picks = {1: spine[:1], 2: [spine[0], spine[-1]]}.get(len(spine), [spine[0], spine[len(spine) // 2], spine[-1]])
        for name, i in zip(
            {1: ("spine3",), 2: ("spine1", "spine3")}.get(len(picks), ("spine1", "spine2", "spine3")), picks
        ):
            found[name] = i
    heads = [i for i, (s, w) in enumerate(words) if not s and w == "head" and not joints[i].is_end]
    if heads and "head" not in found:
        found["head"] = heads[0]
    if "head" in found and "neck" not in found:
        necks = [i for i in _ancestors(joints, found["head"]) if words[i][1].startswith("neck")]
        if necks:
            found["neck"] = necks[0]

"""A robot some of whose joints are locked is a robot with fewer joints, and its name says which.

`g1-lock-wrist` is the G1 with its wrists at the angles of its default pose, `g1-lock-elbow=90+wrist` also has its
elbows bent by 90 degrees. The name follows from the joints and angles alone, however they were asked for, and gives the
robot back: what is stored of one is never taken for another's.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from fnmatch import fnmatchcase

import numpy as np

from phuma.errors import ConfigError
from phuma.robots.robot import Robot

LOCK = "-lock-"
"""What is between a robot's name and what is locked"""
LONGEST = 150
"""Characters of a name, which is also a folder's"""
SAME = 1e-6
"""rad"""


def locked_joints(robot: Robot, patterns: Iterable[str]) -> dict[str, float]:
    """Return the angles [rad] of the joints that patterns such as `wrist*`, `waist_yaw` or `elbow*=90` [degrees] lock,
    in the robot's order; without an angle a joint is locked where it is in the default pose."""
    found: dict[str, float] = {}
    for text in patterns:
        pattern, equals, number = text.partition("=")
        for name in joints_like(robot, pattern):
            j = robot.joint_names.index(name)
            angle = float(robot.default_pose[j])
            if equals and abs((given := _degrees(robot, text, number)) - np.degrees(angle)) > np.degrees(SAME):
                angle = float(np.radians(given))
            if not robot.lower[j] - SAME <= angle <= robot.upper[j] + SAME:
                lower, upper = np.degrees([robot.lower[j], robot.upper[j]])
                raise ConfigError(f"--lock {text}: {name} moves between {lower:.1f} and {upper:.1f} degrees")
            if abs(found.setdefault(name, angle) - angle) > SAME:
                raise ConfigError(f"--lock {text}: {name} is locked at another angle, too; give it one")
    if len(found) == robot.n_joints:
        raise ConfigError(f"--lock: all {robot.n_joints} joints of {robot.name} would be locked; leave one free")
    return {name: found[name] for name in robot.joint_names if name in found}


def joints_like(robot: Robot, pattern: str) -> list[str]:
    """Return the joints that a pattern means: one by its name, those with these words in their names (`wrist`,
    `left_elbow`), or with `*` those whose names match it from any of their words on (`wrist*`)."""
    names = robot.joint_names
    if pattern in names:
        return [pattern]
    if set(pattern) & set("*?["):
        hits = [name for name in names if fnmatchcase(name, pattern) or fnmatchcase(name, f"*_{pattern}")]
    else:
        hits = [name for name in names if _within(_words(pattern), _words(name))]
    if not hits:
        known = dict.fromkeys(word for name in names for word in (*_words(name), name))
        near = get_close_matches(pattern.strip("*_"), known, n=1)
        hint = f"; did you mean {near[0] + '*' * ('*' in pattern)!r}?" if near else "."
        raise ConfigError(f"--lock {pattern}: {robot.name} has no such joint{hint} It has: {', '.join(names)}")
    return hits


def lock_robot(robot: Robot, locked: Mapping[str, float]) -> Robot:
    """Return a robot with these of its joints locked, each at an angle [rad]; what is below them is welded there."""
    from phuma.robots.model import read_links
    from phuma.robots.welding import robot_model

    if not locked:
        return robot
    free = [j for j, name in enumerate(robot.joint_names) if name not in locked]
    names = tuple(robot.joint_names[j] for j in free)
    own = ("lower", "upper", "velocity_limit", "torque_limit", "default_pose", "shared_pose", "armature", "stiffness",
           "damping")  # fmt: skip
    bare = replace(robot, name=robot.name + LOCK + lock_words(robot, locked), locked=dict(locked))
    links = read_links(robot_model(bare))
    assert links.joint_names == names
    assert links.body_names == robot.body_names
    out = replace(
        bare,
        joint_names=names,
        body_pos=links.body_pos,
        body_quat=links.body_quat,
        joint_body=links.joint_body,
        joint_axis=links.joint_axis,
        joint_anchor=links.joint_anchor,
        subsets={k: tuple(n for n in v if n in names) for k, v in robot.subsets.items()},
        **{name: getattr(robot, name)[free] for name in own},
    )
    return replace(out, default_height=robot.default_height + _rise(robot, out))


def _rise(robot: Robot, locked: Robot) -> float:
    """Return how much higher [m] the root stands if joints of the legs are locked at other angles than by default."""
    legs = leg_joints(robot) & set(locked.locked)
    if all(abs(locked.locked[n] - robot.default_pose[robot.joint_names.index(n)]) < SAME for n in legs):
        return 0.0
    from phuma.robots.check import stand

    lowest = [float(stand(r, r.default_pose).corners[..., 2].min()) for r in (robot, locked)]
    return lowest[0] - lowest[1]


def lock_words(robot: Robot, locked: Mapping[str, float]) -> str:
    """Return the words by which a name says what is locked: as few as mean these joints and no others."""
    groups: dict[str, list[str]] = {}
    for name, angle in locked.items():
        default = abs(angle - robot.default_pose[robot.joint_names.index(name)]) < SAME
        groups.setdefault("" if default else f"={np.degrees(angle):.6g}", []).append(name)
    out = "+".join(sorted(word + end for end, names in groups.items() for word in _cover(robot, names)))
    if len(robot.name + LOCK + out) > LONGEST:
        raise ConfigError(f"--lock: no name of {LONGEST} characters says which joints of {robot.name} are locked")
    return out


def _cover(robot: Robot, names: Sequence[str]) -> list[str]:
    """Return words of joints' names that mean these joints together: those first that mean most."""
    phrases = {}
    for name in names:
        words = _words(name)
        for begin in range(len(words)):
            for end in range(begin + 1, len(words) + 1):
                phrase = "_".join(words[begin:end])
                meant = joints_like(robot, phrase)
                if set(meant) <= set(names):
                    phrases[phrase] = set(meant)
    out, left = [], set(names)
    while left:
        best = min(phrases, key=lambda p: (-len(phrases[p] & left), len(_words(p)), p), default=None)
        if best is None or not phrases[best] & left:
            raise ConfigError(f"--lock: no words of its name mean joint {min(left)!r} of {robot.name} alone")
        out.append(best)
        left -= phrases[best]
    return out


def leg_joints(robot: Robot) -> set[str]:
    """Return the joints that carry the robot: those between its root and its soles."""
    from phuma.robots.kinematics import points_of  # compiled: not for `--help`

    joints = points_of(robot, robot.sole_body, robot.sole_point).joints
    return {robot.joint_names[j] for j in joints.ravel() if j >= 0}


def _degrees(robot: Robot, text: str, number: str) -> float:
    try:
        return float(f"{float(number):.6g}")
    except ValueError:
        raise ConfigError(f"--lock {text}: {number!r} is no angle in degrees, as in 'elbow*=90'") from None


def _words(name: str) -> list[str]:
    return re.findall(r"[^\W_]+", name)


def _within(words: Sequence[str], name: Sequence[str]) -> bool:
    """Return whether words stand one after another in a name."""
    return bool(words) and any(name[k : k + len(words)] == words for k in range(len(name)))

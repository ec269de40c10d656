"""A robot's folder is read into a `Robot`."""

from __future__ import annotations

import stat
from collections.abc import Iterable
from functools import cache, lru_cache
from pathlib import Path

import numpy as np

from phuma.core.names import known_name
from phuma.core.rotations import Array
from phuma.errors import ConfigError, ReadError
from phuma.robots.locking import LOCK, lock_robot, locked_joints
from phuma.robots.mapping import LARGEST, Mapped
from phuma.robots.model import HERE, Model, read_model
from phuma.robots.robot import KEYPOINTS, Indices, Robot

SIDES = ("left", "right")
SOLE_PARTS = ("heel", "toe", "inner", "outer", "corners")


@cache
def built_in_robots() -> tuple[str, ...]:
    """Return the names that `load_robot` knows without a folder."""
    return tuple(sorted(p.parent.name for p in HERE.glob("*/robot.json")))


def is_built_in(name: str) -> bool:
    """Return whether a name, which may be of an untrusted file, is a built-in robot's, joints locked or not."""
    if name in built_in_robots():
        return True
    try:
        return name.rpartition(LOCK)[0] in built_in_robots() and cached_robot(name).name == name
    except ConfigError:
        return False


def load_robot(spec: str | Path, lock: Iterable[str] = ()) -> Robot:
    """Return a built-in robot by its name, or the robot in a folder that holds model.xml and robot.json.

    Joints that the patterns of `lock` mean, such as `wrist*`, are locked where they are in the default pose, or at an
    angle in degrees: `elbow*=90`. The robot has them no more, and its name says so: `g1-lock-wrist` loads it, too.

    >>> phuma.load_robot("g1").n_joints, phuma.load_robot("g1", lock=["wrist*"]).n_joints
    (29, 23)
    """
    folder, words = _find(spec)
    return _locked(_load(folder), (*words, *lock))


def cached_robot(spec: str | Path) -> Robot:
    """Return what `load_robot` does, read again only when its files have changed: for many motions of one robot."""
    folder, words = _find(spec)
    return _load_once(folder, words, tuple(_state(folder / name) for name in ("model.xml", "robot.json")))


def spec_of(robot: Robot) -> str:
    """Return what `load_robot` loads this robot by: its name, or its folder and what is locked."""
    return robot.name if robot.folder.parent == HERE else f"{robot.folder}{robot.name[len(robot.folder.name) :]}"


def free_robot(robot: Robot) -> Robot:
    """Return the robot with no joint locked."""
    return cached_robot(robot.folder) if robot.locked else robot


def _locked(robot: Robot, patterns: tuple[str, ...]) -> Robot:
    return lock_robot(robot, locked_joints(robot, patterns))


def _state(file: Path) -> tuple[int, int] | None:
    """Return what changes when a file does; None where there is none."""
    try:
        about = file.stat()
    except OSError:
        return None
    return (about.st_mtime_ns, about.st_size) if stat.S_ISREG(about.st_mode) else None


@lru_cache(maxsize=8)
def _load_once(folder: Path, words: tuple[str, ...], _state: tuple[tuple[int, int] | None, ...]) -> Robot:
    return _locked(_load(folder), words)


def _load(folder: Path) -> Robot:
    model = read_model(folder / "model.xml")
    mapped = Mapped(folder / "robot.json", model.joint_names, model.body_names)
    _check_lengths(folder / "model.xml", model)
    velocity = _positive(mapped, "velocity_limit", mapped.joint_values("velocity_limit"))
    torque = _positive(mapped, "torque_limit", _else_model(mapped, "torque_limit", model.torque_limit))
    keypoint_body, keypoint_offset = _keypoints(mapped)
    sole_body, sole_point, sole_side, sole_corners = _soles(mapped)
    return Robot(
        name=folder.name,
        folder=folder,
        joint_names=model.joint_names,
        body_names=model.body_names,
        parents=model.parents,
        body_pos=model.body_pos,
        body_quat=model.body_quat,
        joint_body=model.joint_body,
        joint_axis=model.joint_axis,
        joint_anchor=model.joint_anchor,
        lower=model.lower,
        upper=model.upper,
        velocity_limit=velocity,
        torque_limit=torque,
        default_pose=_pose(mapped, "default_pose", model),
        default_height=_height(mapped),
        shared_pose=_pose(mapped, "shared_pose", model),
        keypoint_body=keypoint_body,
        keypoint_offset=keypoint_offset,
        sole_body=sole_body,
        sole_point=sole_point,
        sole_side=sole_side,
        sole_corners=sole_corners,
        subsets=_subsets(mapped),
        anchor_body=mapped.body_names[mapped.body(mapped.data["anchor_body"], "anchor_body")],
        key_bodies=tuple(mapped.body_names[mapped.body(b, "key_bodies")] for b in mapped.names("key_bodies")),
        armature=_else_model(mapped, "armature", model.armature),
        stiffness=_else_model(mapped, "stiffness", np.nan_to_num(model.stiffness)),
        damping=_else_model(mapped, "damping", np.nan_to_num(model.damping)),
    )


def _find(spec: str | Path) -> tuple[Path, tuple[str, ...]]:
    """Return a robot's folder, and the words that say what is locked."""
    if isinstance(spec, str) and spec in built_in_robots():
        return HERE / spec, ()
    folder = Path(spec)
    if folder.is_dir():
        return folder.resolve(), ()
    base, lock, words = str(spec).rpartition(LOCK)
    if lock and words:
        return _find(base)[0], tuple(words.split("+"))
    try:
        return HERE / known_name(str(spec), built_in_robots(), "robot"), ()
    except ConfigError as e:
        raise ConfigError(f"{e}, or give a folder with model.xml and robot.json") from None


def _check_lengths(path: Path, model: Model) -> None:
    """Raise a ReadError for a model whose bodies are farther from each other than a robot's."""
    far = np.abs(model.body_pos).max(axis=1)
    body = int(np.argmax(far))
    if not far[body] <= LARGEST:
        raise ReadError(
            path,
            f"body {model.body_names[body]!r} is {far[body]:,.4g} m from the one before; expected metres, at most "
            f"{LARGEST:g}: is the model in millimetres?",
        )


def _height(mapped: Mapped) -> float:
    value = mapped.number(mapped.data["default_height"], "default_height")
    if not -1 < value <= LARGEST:  # a root may have its origin at its feet
        raise mapped.fault(f"default_height is {value:g} m; expected more than -1 and at most {LARGEST:g}")
    return value


def _else_model(mapped: Mapped, key: str, of_model: Array) -> Array:
    """(N,) the mapping's values, and the model's where the mapping says nothing."""
    given = mapped.joint_values(key, default=np.nan)
    return np.where(np.isnan(given), of_model, given)


def _positive(mapped: Mapped, key: str, values: Array) -> Array:
    for name, value in zip(mapped.joint_names, values):
        if np.isnan(value):
            raise mapped.fault(f"{key} of joint {name!r} is neither here nor in the model; give it under {key!r}")
        if not value > 0:
            raise mapped.fault(f"{key} of joint {name!r} is {value:g}; it must be positive")
    return values


def _pose(mapped: Mapped, key: str, model: Model) -> Array:
    """(N,) angles of a pose, zero where it says nothing, within the limits."""
    pose = mapped.joint_values(key, default=0.0)
    for name, angle, lo, hi in zip(mapped.joint_names, pose, model.lower, model.upper):
        if not lo <= angle <= hi:
            raise mapped.fault(f"{key}: {name} at {angle:g} lies outside its range {lo:g} to {hi:g}")
    return pose


def _keypoints(mapped: Mapped) -> tuple[Indices, Array]:
    for name in mapped.table("keypoints"):
        if name not in KEYPOINTS:
            raise mapped.fault(f"keypoints: {name!r} is not one; they are {', '.join(KEYPOINTS)}")
    bodies, offsets = [], []
    for name in KEYPOINTS:
        entry = mapped.part("keypoints", name, ("body",), ("offset",))
        bodies.append(mapped.body(entry["body"], f"keypoints: {name}"))
        offsets.append(mapped.points(entry.get("offset", [0, 0, 0]), f"keypoints: {name}: offset", (3,)))
        same = [k for k, body in enumerate(bodies[:-1]) if body == bodies[-1] and (offsets[k] == offsets[-1]).all()]
        if same:
            raise mapped.fault(
                f"keypoints: {name} and {KEYPOINTS[same[0]]} are the same point of {mapped.body_names[bodies[-1]]!r}; "
                "each of them is a point of its own"
            )
    return np.array(bodies, dtype=np.intp), np.array(offsets)


def _soles(mapped: Mapped) -> tuple[Indices, Array, Array, Array]:
    bodies, points, sides, corners = [], [], [], []
    for side in SIDES:
        entry = mapped.part("soles", side, ("body", *SOLE_PARTS))
        body = mapped.body(entry["body"], f"soles: {side}")
        if body in bodies:
            raise mapped.fault(f"soles: left and right are both on {entry['body']!r}; each foot has a body of its own")
        bodies += [body] * 2
        of = {k: mapped.points(entry[k], f"soles: {side}: {k}", (4, 3) if k == "corners" else (3,)) for k in SOLE_PARTS}
        points += [of["heel"], of["toe"]]
        sides.append([of["inner"], of["outer"]])
        corners.append(of["corners"])
    return np.array(bodies, dtype=np.intp), np.array(points), np.array(sides), np.array(corners)


def _subsets(mapped: Mapped) -> dict[str, tuple[str, ...]]:
    """A subset is given by what it leaves out: {"21": {"without": ["*_wrist_*"]}}."""
    out = {}
    for name in mapped.table("subsets"):
        patterns = mapped.part("subsets", name, ("without",))["without"]
        if not isinstance(patterns, list):
            raise mapped.fault(f"subsets: {name}: without is {patterns!r}; expected a list of joint names")
        dropped = {i for p in patterns for i in mapped.joints_like(str(p), f"subsets: {name}")}
        out[name] = tuple(n for i, n in enumerate(mapped.joint_names) if i not in dropped)
    return out

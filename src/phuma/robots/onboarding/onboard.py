"""A robot's folder is made from an untrusted model file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from phuma.core.rotations import Array
from phuma.errors import ConfigError, ReadError
from phuma.io.atomic import write_atomic
from phuma.robots.check import check_robot
from phuma.robots.folder import load_robot
from phuma.robots.mapping import FORMAT
from phuma.robots.mesh_file import save_meshes
from phuma.robots.model import load_mujoco
from phuma.robots.onboarding import poses
from phuma.robots.onboarding.ambiguities import Ambiguity, as_text, some
from phuma.robots.onboarding.anatomy import Anatomy, find_anatomy
from phuma.robots.onboarding.collisions import colliding_shapes, excluded_pairs, shown_feet
from phuma.robots.onboarding.joint_roles import LinkPoint, flexion, straight_angle
from phuma.robots.onboarding.keypoints import SIDES
from phuma.robots.onboarding.model_file import ModelFile, UrdfLimit, read_model_file, read_urdf_limits
from phuma.robots.onboarding.motors import Motor, motors_of
from phuma.robots.onboarding.poses import ArmPose, BodyPoint, LegPose, Search
from phuma.robots.onboarding.rig import Rig, read_rig
from phuma.robots.onboarding.soles import Sole
from phuma.robots.onboarding.writer import model_xml, shown_meshes, shown_shapes
from phuma.robots.robot import KEYPOINTS, Robot
from phuma.robots.shapes import lightened_meshes

AMBIGUITIES = "ambiguities.md"


class OnboardedRobot(NamedTuple):
    """This is what came of a model file."""

    robot: Robot
    ambiguities: tuple[Ambiguity, ...]
    parts: Mapping[str, str]
    """joint -> what it serves as: hip, knee, ankle, waist, shoulder, elbow, wrist, or other"""


def onboard_robot(
    path: str | Path, out: str | Path, urdf: str | Path | None = None, allow_outside: bool = False
) -> OnboardedRobot:
    """Read a model file, find the human body in it, and write model.xml, robot.json and ambiguities.md into `out`.

    `allow_outside` lets the model name files outside its folder.
    """
    path, out = Path(path), Path(out)
    taken = [name for name in ("robot.json", "model.xml") if (out / name).exists()]
    if taken:
        raise ConfigError(f"{out} holds a {taken[0]} already, which would be overwritten; choose another --out")
    source = read_model_file(path, allow_outside)
    rig = read_rig(source.model, source.mimics)
    limits = source.limits if urdf is None else source.limits | _limits_for(rig, Path(urdf))
    body = find_anatomy(rig, path)
    ambiguities = [*source.ambiguities, *body.ambiguities, *_joint_ambiguities(body)]
    motors, more = motors_of(body.rig, source.model, limits, body.parts, body.leg_length)
    ambiguities += more
    comment = f"Written by `phuma robot init` from {path.name}: shapes are primitives, meshes are fitted by them."
    text, mapping = _describe(body, out.resolve().name, comment, motors, path)
    out.mkdir(parents=True, exist_ok=True)
    mapping = {"format": FORMAT, "title": _title(source, body), "source": path.name, **mapping}
    _write(out / "model.xml", text)
    _write(out / "robot.json", dumped(mapping))
    save_meshes(out, lightened_meshes(shown_meshes(body.rig)))
    robot = load_robot(out)
    ambiguities += [Ambiguity(finding.what, finding.edit) for finding in check_robot(robot)]
    _write(out / AMBIGUITIES, f"# Ambiguities of {robot.name}\n\n{as_text(ambiguities)}")
    return OnboardedRobot(robot, tuple(ambiguities), body.parts)


def _limits_for(rig: Rig, urdf: Path) -> dict[str, UrdfLimit]:
    """The limits of a URDF that is given beside the model, and that has to be of the same robot."""
    found = read_urdf_limits(urdf)
    names = [h.name for _, h in rig.hinges_of(range(len(rig.links)))]
    if not set(names) & set(found):
        problem = f"has limits of none of the model's joints; it has {some(found)}; the model {some(names)}"
        raise ReadError(urdf, problem)
    return found


def _write(path: Path, text: str) -> None:
    write_atomic(path, lambda f: f.write(text.encode()))


def _title(source: ModelFile, body: Anatomy) -> str:
    name = source.model.names[: source.model.names.index(b"\0")].decode(errors="replace") or source.path.stem
    return f"{name}, {len(body.parts)} joints"


def _describe(
    body: Anatomy, name: str, comment: str, motors: Mapping[str, Motor], path: Path
) -> tuple[str, dict[str, Any]]:
    """The model and the mapping."""
    rig = body.rig
    shapes = {"collision": colliding_shapes(body), "visual": shown_shapes(rig) | shown_feet(body)}
    model = _compiled(path, model_xml(rig, name, comment, motors, shapes, [], 0.0))
    search = Search(model, {h.name: h.neutral for _, h in rig.hinges_of(range(len(rig.links)))})
    legs, arms = _leg_poses(body), _arm_poses(body)
    shared = _within(model, poses.shared_pose(search, legs, arms))
    default = _within(model, poses.default_pose(search, legs, arms))
    under = [(foot + 1, corner) for foot, sole in zip(body.feet, body.soles) for corner in sole.corners.reshape(4, 3)]
    height = -float(poses.sole_heights(search, default, under).min())
    drawn = _within(model, search.neutral)
    excludes = excluded_pairs(body, model, [np.array(list(p.values())) for p in (drawn, shared, default)])
    text = model_xml(rig, name, comment, motors, shapes, excludes, height)
    return text, _mapping(body, motors, shared, default, height)


def _compiled(path: Path, text: str) -> Any:
    try:
        return load_mujoco().MjModel.from_xml_string(text)
    except ValueError as e:
        raise ReadError(
            path, f"its robot cannot be written as a model of its own: {' '.join(str(e).split())}"
        ) from None


def _within(model: Any, pose: Mapping[str, float]) -> dict[str, float]:
    """Angles in the model's order, to five digits, within their ranges."""
    names = [model.joint(j).name for j in range(1, model.njnt)]
    out = {}
    for name in names:
        lower, upper = (float(v) for v in model.joint(name).range)
        out[name] = min(max(round(pose[name], 5), lower), upper)
    return out


def _leg_poses(body: Anatomy) -> list[LegPose]:
    out = []
    for side, leg, sole in zip(SIDES, body.legs, body.soles):
        hip, knee, ankle = (_point(body.keypoints[f"{side}_{part}"]) for part in ("hip", "knee", "ankle"))
        joints = [a.hinge.name for a in leg.axes]
        out.append(LegPose(joints, hip, knee, ankle, leg.foot + 1, sole.normal, sole.ahead))
    return out


def _arm_poses(body: Anatomy) -> list[ArmPose]:
    out = []
    where = body.rig.posed()
    for side, sense, arm in zip(SIDES, (1, -1), body.arms):
        shoulder, elbow, wrist = (body.keypoints[f"{side}_{part}"] for part in ("shoulder", "elbow", "wrist"))
        ends = where.point(shoulder.link, shoulder.offset), where.point(wrist.link, wrist.offset)
        joints = [a.hinge.name for a in (*arm.shoulder, arm.elbow)]  # wrists stay: a bent one is no arm in a line
        straight, bends = straight_angle(arm.elbow, *ends), flexion(arm.elbow, *ends) or 1
        points = _point(shoulder), _point(elbow), _point(wrist)
        out.append(ArmPose(joints, *points, arm.elbow.hinge.name, straight, bends, sense))
    return out


def _point(point: LinkPoint) -> BodyPoint:
    return BodyPoint(point.link + 1, point.offset)  # MuJoCo counts the world as body 0


def _joint_ambiguities(body: Anatomy) -> list[Ambiguity]:
    out = []
    rig = body.rig
    hinges = rig.hinges_of(range(len(rig.links)))
    if rig.frozen:
        out.append(
            Ambiguity(
                f"Joints that are no hinges, cannot move, or place the root are fixed where the file draws them: "
                f"{some(rig.frozen)}.",
                "nothing to do, unless a limb needs one of them: then make it a hinge in the model file.",
            )
        )
    endless = [h.name for _, h in hinges if not h.limited]
    if endless:
        out.append(
            Ambiguity(
                f"Joints without limits are given half a turn to either side: {some(endless)}.",
                "give them their range in model.xml.",
            )
        )
    limb = {a.hinge.name for part in (*body.legs, *body.arms) for a in part.axes}
    tied = [h.name for _, h in hinges if h.coupled and h.name in limb]
    if tied:
        out.append(
            Ambiguity(
                f"Joints of limbs that the file ties to others by an equality are free here: {some(tied)}.",
                "whoever plays motions on the real robot has to leave the tied joint to its partner.",
            )
        )
    still = [n for n, part in body.parts.items() if part == "other"]
    if still:
        out.append(
            Ambiguity(
                f"No keypoint sees {len(still)} joints, so they stay where the file draws them: {some(still)}.",
                "nothing to do; another resting angle goes into default_pose of robot.json.",
            )
        )
    return out


def _mapping(
    body: Anatomy, motors: Mapping[str, Motor], shared: Mapping[str, float], default: Mapping[str, float], height: float
) -> dict[str, Any]:
    rig = body.rig
    key_bodies = [
        rig.links[0].name,
        *(rig.links[b].name for s in SIDES for b in _leg_bodies(body, s)),
        rig.links[body.chest].name,
        *(rig.links[body.keypoints[f"{s}_{p}"].link].name for s in SIDES for p in ("shoulder", "elbow", "wrist")),
    ]
    return {
        "comment": [
            "Made by `phuma robot init`; ambiguities.md lists what was ambiguous. `phuma robot check` looks it over."
        ],
        "velocity_limit": {name: motors[name].speed for name in shared},
        "default_pose": {n: v for n, v in default.items() if v},
        "default_height": round(height, 5),
        "shared_pose": {n: v for n, v in shared.items() if v},
        "keypoints": {
            name: _keypoint(rig.links[body.keypoints[name].link].name, body.keypoints[name]) for name in KEYPOINTS
        },
        "soles": {
            side: {"body": rig.links[leg.foot].name, **_sole(sole, sense)}
            for side, sense, leg, sole in zip(SIDES, (1, -1), body.legs, body.soles)
        },
        "anchor_body": rig.links[body.chest].name,
        "key_bodies": list(dict.fromkeys(key_bodies)),
    }


def _leg_bodies(body: Anatomy, side: str) -> list[int]:
    return [body.keypoints[f"{side}_hip"].link, body.keypoints[f"{side}_knee"].link, body.legs[SIDES.index(side)].foot]


def _keypoint(name: str, point: LinkPoint) -> dict[str, Any]:
    return {"body": name} if not point.offset.any() else {"body": name, "offset": _rounded(point.offset)}


def _sole(sole: Sole, sense: int) -> dict[str, Any]:
    """`sense` is 1 for the left foot, whose inner side is the smaller one."""
    inner, outer = (0, 1) if sense > 0 else (1, 0)
    c = sole.corners
    return {
        "heel": _rounded(c[0].mean(axis=0)),
        "toe": _rounded(c[1].mean(axis=0)),
        "inner": _rounded(c[:, inner].mean(axis=0)),
        "outer": _rounded(c[:, outer].mean(axis=0)),
        "corners": [_rounded(v) for v in (c[0, inner], c[0, outer], c[1, outer], c[1, inner])],
    }


def _rounded(v: Array) -> list[float]:
    return [round(float(x), 5) + 0.0 for x in v]


def dumped(mapping: Mapping[str, Any]) -> str:
    """Return JSON for people: a line for each entry of a table, lists of numbers on one line."""
    lines = []
    for key, value in mapping.items():
        if isinstance(value, dict) and value:
            inner = ",\n".join(f"    {json.dumps(k)}: {json.dumps(v)}" for k, v in value.items())
            lines.append(f"  {json.dumps(key)}: {{\n{inner}\n  }}")
        else:
            lines.append(f"  {json.dumps(key)}: {json.dumps(value)}")
    return "{\n" + ",\n".join(lines) + "\n}\n"

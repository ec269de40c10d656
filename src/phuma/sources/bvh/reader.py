"""A BVH file becomes a motion on the recording's own skeleton."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from phuma.core import rotations as rot
from phuma.core.human_motion import HumanMotion, precision_of
from phuma.core.provenance import Provenance
from phuma.core.rotations import Array
from phuma.core.skeleton import INDEX, N_JOINTS, PARENTS, REST_TO_WORLD
from phuma.errors import PhumaError, ReadError
from phuma.io.probe import Probe
from phuma.sources.bvh import rest
from phuma.sources.bvh.kinematics import forward, needed_joints
from phuma.sources.bvh.match import JointMap, load_joint_map, match_joints
from phuma.sources.bvh.parse import BvhFile, parse_bvh
from phuma.sources.bvh.skeleton import bvh_body
from phuma.sources.reader import ReadCfg

FORMAT = "bvh"
BLOCK = 4096  # frames converted at a time
SAMPLES = 400  # instants from which rest axes are estimated
LEG_RANGE = (0.55, 1.15)  # metres from hip to ankle that a person's leg can have
POSSIBLE_LEGS = (0.2, 2.0)  # metres that are believed where somebody says how long a unit is: children, giants
TYPICAL_LEG = 0.85  # metres
UNITS = {"m": 1.0, "cm": 0.01, "mm": 0.001, "inch": 0.0254, "CMU": 0.0254 / 0.45}
JUMP = 0.1  # metres that joints may move on average from one frame to the next


def recognises(probe: Probe) -> bool:
    """Return whether the file is BVH: its text begins with HIERARCHY."""
    return probe.kind == "text" and probe.text.lstrip().upper().startswith("HIERARCHY")


def read(probe: Probe, cfg: ReadCfg) -> list[HumanMotion]:
    """Return one person, on a body with the file's own bones."""
    path = probe.path
    given = load_joint_map(cfg.joint_map) if cfg.joint_map else JointMap()
    file = parse_bvh(path)
    mapping = match_joints(path, file.joints, given)
    samples = _sample(file, mapping)
    leg = _leg_length(samples)
    scale, unit = _scale(path, leg, given)
    up = given.up or _up_axis(file, mapping, samples, leg)
    axes, how = _rest_axes(file, mapping, samples, up)
    skip = _is_inserted_t_pose(file, mapping, scale)
    body = bvh_body(samples, axes, scale)
    notes = [f"own skeleton in {unit}, {up}-up, rest pose {how}"]
    if skip:
        notes.append("frame 0 is a T-pose put before the recording: left out, time begins after it")
    if len(file.values) != file.declared:
        notes.append(f"the header announces {file.declared} frames, the file has {len(file.values)}")
    try:
        root, quat = _convert(file, mapping, axes, scale, up, skip)
        provenance = Provenance(str(path), FORMAT, up=up, notes=tuple(notes))
        return [HumanMotion(body, root, quat, file.fps if cfg.rate is None else cfg.rate, provenance)]
    except PhumaError as e:
        raise ReadError(path, str(e)) from None


def _pose(file: BvhFile, mapping: dict[int, int], values: Array) -> rest.Samples:
    ends = _end_points(file, mapping)
    need = needed_joints(file.joints, [*mapping.values(), *ends.values()])
    position, rotation = forward(file.joints, need, values)
    return rest.Samples(
        {ours: position[i] for ours, i in (mapping | ends).items()}, {ours: rotation[i] for ours, i in mapping.items()}
    )


def _end_points(file: BvhFile, mapping: dict[int, int]) -> dict[int, int]:
    """Wrists and balls of the feet that are no joints but the end of a forearm or of a foot: points without axes."""
    out = {}
    for side in ("left", "right"):
        for ours, above in ((f"{side}_wrist", f"{side}_elbow"), (f"{side}_foot", f"{side}_ankle")):
            if INDEX[ours] not in mapping:
                children = [i for i, j in enumerate(file.joints) if j.parent == mapping[INDEX[above]]]
                lengths = [np.linalg.norm(file.joints[i].offset) for i in children]
                if children and max(lengths) > 0:
                    out[INDEX[ours]] = children[int(np.argmax(lengths))]
    return out


def _sample(file: BvhFile, mapping: dict[int, int]) -> rest.Samples:
    # Frame 0 may be a T-pose that is no part of the motion.
    first = 1 if len(file.values) > 2 else 0
    frames = np.unique(np.linspace(first, len(file.values) - 1, SAMPLES).astype(int))
    return _pose(file, mapping, file.values[frames])


def _leg_length(samples: rest.Samples) -> float:
    bones = [
        np.linalg.norm(samples.at(f"{s}_{a}") - samples.at(f"{s}_{b}"), axis=1).mean()
        for s in ("left", "right")
        for a, b in (("hip", "knee"), ("knee", "ankle"))
    ]
    return float(sum(bones) / 2)


def _scale(path: Path, leg: float, given: JointMap) -> tuple[float, str]:
    """Return metres per file unit: the unit in which the legs are a person's."""
    if given.metres_per_unit:
        long = leg * given.metres_per_unit
        if not POSSIBLE_LEGS[0] <= long <= POSSIBLE_LEGS[1]:
            fits = [scale for scale in UNITS.values() if LEG_RANGE[0] <= leg * scale <= LEG_RANGE[1]]
            raise ReadError(
                path,
                f"legs are {leg:g} units long: at the joint map's metres_per_unit of {given.metres_per_unit:g} that is "
                f"{long:,.4g} m, and a person's are {POSSIBLE_LEGS[0]:g} to {POSSIBLE_LEGS[1]:g} m. Give "
                f"{(fits or [TYPICAL_LEG / max(leg, 1e-9)])[0]:.3g}, or none where the unit is a usual one",
            )
        return given.metres_per_unit, f"units of {given.metres_per_unit:g} m"
    for unit, scale in UNITS.items():
        if LEG_RANGE[0] <= leg * scale <= LEG_RANGE[1]:
            return scale, f"{unit} units" if unit == "CMU" else unit
    raise ReadError(
        path,
        f"legs are {leg:g} units long, which is a person's leg in none of {', '.join(UNITS)}. "
        'Say how long a unit is with --joint-map FILE: {"metres_per_unit": 0.01}',
    )


def _up_axis(file: BvhFile, mapping: dict[int, int], samples: rest.Samples, leg: float) -> str:
    """The axis along which a T-pose in frame 0 stands; without one y, unless people stand along z as high as their legs
    are long. (Somebody who lies along z in a y-up file has the pelvis near the floor.)"""
    first = _pose(file, mapping, file.values[:1])
    if rest.is_t_pose(first):
        return "z" if abs(rest.body_axes(first)[2, 1]) > 0.8 else "y"
    ankles = 0.5 * (samples.at("left_ankle") + samples.at("right_ankle"))
    shoulders = 0.5 * (samples.at("left_shoulder") + samples.at("right_shoulder"))
    mean = (shoulders - ankles).mean(axis=0)
    height = np.median(samples.at("pelvis"), axis=0)[2] / leg
    return "z" if mean[2] > 0.8 * np.linalg.norm(mean) and 0.6 < height < 1.6 else "y"


def _rest_axes(file: BvhFile, mapping: dict[int, int], samples: rest.Samples, up: str) -> tuple[dict[int, Array], str]:
    """K of each joint and, in words, where it comes from."""
    first = _pose(file, mapping, file.values[:1])
    if rest.is_t_pose(first):
        return rest.axes_from_pose(first), "from the T-pose in frame 0"
    zero = np.zeros_like(file.values[:1])
    for j in file.joints:
        for c, (kind, axis) in enumerate(j.channels):
            if kind == "position":
                zero[0, j.first_channel + c] = j.offset[axis]
    neutral = _pose(file, mapping, zero)
    if rest.is_standing_pose(neutral):
        return rest.axes_from_pose(neutral), "from the offsets, which stand"
    world_up = np.eye(3)["xyz".index(up)]
    return rest.axes_from_motion(samples, world_up), "from bone directions and hinges"


def _is_inserted_t_pose(file: BvhFile, mapping: dict[int, int], scale: float) -> bool:
    """Whether frame 0 is a T-pose from which the recording jumps away."""
    if len(file.values) < 3:
        return False
    start = _pose(file, mapping, file.values[:3])
    if not rest.is_t_pose(start.instant(0)):
        return False
    moves = np.mean([np.linalg.norm(np.diff(p, axis=0), axis=1) for p in start.position.values()], axis=0) * scale
    return bool(moves[0] > JUMP or moves[0] > 0.02 + 5 * moves[1])


def _convert(
    file: BvhFile, mapping: dict[int, int], axes: dict[int, Array], scale: float, up: str, skip: bool
) -> tuple[Array, Array]:
    """Pelvis path (T, 3) in metres, z-up, and local rotations (T, 22, 4) wxyz."""
    values = file.values[1:] if skip else file.values
    to_world = REST_TO_WORLD if up == "y" else rot.IDENTITY
    root = np.empty((len(values), 3))
    quat = np.zeros((len(values), N_JOINTS, 4), dtype=precision_of(len(values)))
    quat[..., 0] = 1.0
    need = needed_joints(file.joints, mapping.values())
    for first in range(0, len(values), BLOCK):
        here = slice(first, min(first + BLOCK, len(values)))
        position, rotation = forward(file.joints, need, values[here])
        root[here] = rot.rotate(to_world, position[mapping[0]]) * scale
        world: dict[int, Array] = {}
        for j in range(N_JOINTS):
            parent = world[PARENTS[j]] if j else None
            if j in axes:
                world[j] = rot.multiply(rotation[mapping[j]], axes[j])
            else:
                assert parent is not None, "the pelvis is always matched"
                world[j] = parent
                continue
            quat[here, j] = (
                rot.multiply(to_world, world[j]) if parent is None else rot.multiply(rot.conjugate(parent), world[j])
            )
        quat[here] = rot.normalize(quat[here])
    quat.flags.writeable = False  # so that it need not be copied
    return root, quat

"""The MJCF of a robot is compiled by MuJoCo and read into arrays."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from phuma.core.rotations import Array
from phuma.errors import MissingExtraError, ReadError
from phuma.robots.robot import Indices
from phuma.robots.untrusted import check_count, check_folder_model

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Links:
    """The links of a model and the joints between them, in fields as of `Robot`."""

    body_names: tuple[str, ...]
    parents: Indices
    body_pos: Array
    body_quat: Array
    joint_names: tuple[str, ...]
    joint_body: Indices
    joint_axis: Array
    joint_anchor: Array


@dataclass(frozen=True)
class Model(Links):
    """A model holds links, joints and what the MJCF says of the motors, in fields as of `Robot`.

    NaN means that it says nothing.
    """

    lower: Array
    upper: Array
    torque_limit: Array
    armature: Array
    stiffness: Array
    damping: Array


def read_model(path: Path) -> Model:
    """Compile `path` and check that it is a robot: one tree of named bodies, a free root, limited hinges."""
    model = _compile(path)
    hinges = _hinges(path, model)
    links = read_links(model)
    _check_names(path, links.body_names, links.joint_names)
    lower, upper = _ranges(path, model, hinges, links.joint_names)
    torque, stiffness, damping = _motors(model, hinges)
    return Model(
        **vars(links),
        lower=lower,
        upper=upper,
        torque_limit=torque,
        armature=model.dof_armature[[int(model.jnt_dofadr[j]) for j in hinges]].copy(),
        stiffness=stiffness,
        damping=damping,
    )


def read_links(model: Any) -> Links:
    """Return the links of a compiled robot, whose joints but the first are hinges."""
    hinges = list(range(1, model.njnt))
    body_pos, body_quat = model.body_pos[1:].copy(), model.body_quat[1:].copy()
    body_pos[0], body_quat[0] = 0.0, (1.0, 0.0, 0.0, 0.0)  # the free joint places the root
    return Links(
        body_names=tuple(model.body(i).name for i in range(1, model.nbody)),
        parents=np.array([int(p) - 1 for p in model.body_parentid[1:]], dtype=np.intp),
        body_pos=body_pos,
        body_quat=body_quat,
        joint_names=tuple(model.joint(j).name for j in hinges),
        joint_body=np.array([int(model.jnt_bodyid[j]) - 1 for j in hinges], dtype=np.intp),
        joint_axis=model.jnt_axis[hinges].copy(),
        joint_anchor=model.jnt_pos[hinges].copy(),
    )


def load_mujoco() -> Any:
    """Return MuJoCo, or raise an error that says how to install it."""
    try:
        return import_module("mujoco")  # here, not above: `import phuma` stays light
    except ImportError:
        raise MissingExtraError("mujoco", "retarget", "a robot") from None


def touching_bodies(model: Any, pose: Array, depth: float = 0.0) -> set[tuple[int, int]]:
    """Return MuJoCo's numbers of the pairs of bodies that are deeper than `depth` [m] in one another in `pose` (N,)."""
    mujoco = load_mujoco()
    data = mujoco.MjData(model)
    data.qpos[:7], data.qpos[7:] = (0, 0, 0, 1, 0, 0, 0), pose
    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)
    mujoco.mj_collision(model, data)
    bodies = model.geom_bodyid[data.contact.geom].reshape(-1, 2)
    return {(int(min(pair)), int(max(pair))) for pair in bodies[data.contact.dist < -depth]}


def _compile(path: Path) -> Any:
    mujoco = load_mujoco()
    if not path.is_file():
        raise ReadError(path, "does not exist. A robot is a folder with model.xml and robot.json")
    if path.parent.parent != HERE:
        check_folder_model(path)
    try:
        model = mujoco.MjModel.from_xml_path(str(path))
    except (ValueError, OSError) as e:
        raise ReadError(path, f"MuJoCo cannot compile it: {e}") from None
    check_count(path, model)
    return model


def _hinges(path: Path, model: Any) -> list[int]:
    """Indices of the hinge joints, in their order; every other joint but the root's free one is a fault."""
    mujoco = load_mujoco()

    # MuJoCo 4: a numpy integer does not equal an enum member; only plain ints compare.
    free, hinge = int(mujoco.mjtJoint.mjJNT_FREE), int(mujoco.mjtJoint.mjJNT_HINGE)
    roots = [int(b) for b in range(1, model.nbody) if int(model.body_parentid[b]) == 0]
    if len(roots) != 1:
        names = ", ".join(model.body(b).name for b in roots) or "none"
        raise ReadError(
            path, f"has {len(roots)} bodies in the world ({names}); a robot is one tree, without a floor's body"
        )
    kinds = [int(k) for k in model.jnt_type]
    if free not in kinds:
        raise ReadError(path, f"has no free joint; add <freejoint/> to its root body {model.body(roots[0]).name!r}")
    for j, kind in enumerate(kinds):
        name, body = model.joint(j).name, int(model.jnt_bodyid[j])
        if kind == free and body == roots[0]:
            continue
        if kind != hinge:
            word = ("free", "ball", "slide", "hinge")[kind]
            raise ReadError(path, f"joint {name!r} is a {word} joint; only hinges can be driven, and a free root")
        if body == roots[0]:
            raise ReadError(path, f"joint {name!r} moves the root body {model.body(body).name!r} beside its free joint")
    return [j for j, kind in enumerate(kinds) if kind == hinge]


def _check_names(path: Path, bodies: tuple[str, ...], joints: tuple[str, ...]) -> None:
    for kind, names in (("body", bodies), ("joint", joints)):
        if "" in names:
            before = names[names.index("") - 1] if names.index("") else "the first"
            raise ReadError(path, f"a {kind} after {before} has no name; every body and joint needs one")
    if not joints:
        raise ReadError(path, "has no hinge joints")


def _ranges(path: Path, model: Any, hinges: list[int], names: tuple[str, ...]) -> tuple[Array, Array]:
    for j, name in zip(hinges, names):
        lo, hi = (float(v) for v in model.jnt_range[j])
        # MuJoCo takes an empty or reversed range for none at all, so this comes first.
        if not lo < hi and (lo, hi) != (0.0, 0.0):
            raise ReadError(
                path, f"joint {name!r} has the range {lo:g} to {hi:g}; the lower limit must be below the upper"
            )
        if not bool(model.jnt_limited[j]):
            raise ReadError(path, f"joint {name!r} has no limits; give it a range")
    return model.jnt_range[hinges, 0].copy(), model.jnt_range[hinges, 1].copy()


def _motors(model: Any, hinges: list[int]) -> tuple[Array, Array, Array]:
    """(N,) torque limits, the stricter of joint's and actuator's; stiffness and damping of position actuators."""
    mujoco = load_mujoco()

    nan = np.full(len(hinges), np.nan)
    torque, stiffness, damping = nan, nan.copy(), nan.copy()
    on_joint, affine = int(mujoco.mjtTrn.mjTRN_JOINT), int(mujoco.mjtBias.mjBIAS_AFFINE)
    for i, j in enumerate(hinges):
        ranges = [model.jnt_actfrcrange[j]] if bool(model.jnt_actfrclimited[j]) else []
        for a in range(model.nu):
            if int(model.actuator_trntype[a]) != on_joint or int(model.actuator_trnid[a, 0]) != j:
                continue
            if bool(model.actuator_forcelimited[a]):
                ranges.append(model.actuator_forcerange[a])
            if int(model.actuator_biastype[a]) == affine:
                stiffness[i], damping[i] = -model.actuator_biasprm[a, 1], -model.actuator_biasprm[a, 2]
        if ranges:
            torque[i] = min(min(-r[0], r[1]) for r in ranges)
    return torque, stiffness, damping

"""A body is read from the user's licensed SMPL-X model file, reduced on load to 22 joints and 88 sole points.

What is left out is exact to leave out: while jaw, eyes and fingers are at rest they move with the head and the wrists,
so their skinning weights are counted there and their pose blend shapes vanish. The reduced data is still part of the
model, so it is kept in the cache folder and written nowhere else.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from phuma.body.smplx_cache import cached_smplx, file_hash, remember
from phuma.body.space import ShapeSpace
from phuma.core.rotations import Array
from phuma.core.skeleton import N_JOINTS, N_SOLE, PARENTS
from phuma.errors import ConfigError, ReadError
from phuma.io.npz import load_npz, npz_headers
from phuma.io.probe import Probe
from phuma.io.safe_pickle import as_array, load_pickle

__all__ = ["GENDERS", "SOLE_VERTICES", "cached_smplx", "load_smplx"]

GENDERS = ("neutral", "male", "female")
SUFFIXES = (".npz", ".pkl")

VERTICES, MODEL_JOINTS = 10475, 55
KEYS = ("v_template", "shapedirs", "posedirs", "J_regressor", "weights", "kintree_table")
BODY_SHAPES = {400: 300, 20: 10}  # of all components of shape and expression, which share an array; else all are shape
MAX_SHAPES = 300
MAX_VALUE = 2.0**33  # the root's parent is often written as 2 ** 32 - 1

SOLE_VERTICES = np.array([
    8888, 8889, 8891, 8909, 8910, 8911, 8913, 8914, 8915, 8916, 8917,
    8918, 8919, 8920, 8921, 8922, 8923, 8924, 8925, 8929, 8930, 8934,
    5773, 5781, 5782, 5791, 5793, 5805, 5808, 5816, 5817, 5830, 5831,
    5859, 5860, 5906, 5907, 5908, 5909, 5912, 5914, 5915, 5916, 5917,
    8676, 8677, 8679, 8697, 8698, 8699, 8701, 8702, 8703, 8704, 8705,
    8706, 8707, 8708, 8709, 8710, 8711, 8712, 8713, 8714, 8715, 8716,
    8467, 8475, 8476, 8485, 8487, 8499, 8502, 8510, 8511, 8524, 8525,
    8553, 8554, 8600, 8601, 8602, 8603, 8606, 8608, 8609, 8610, 8611,
])  # fmt: skip
"""Left heel, left toe, right heel, right toe: the PHUMA paper's foot vertices, appendix A.1."""


def load_smplx(path: str | os.PathLike[str], gender: str = "neutral") -> ShapeSpace:
    """Return the shape space of a model file (`.npz` or `.pkl`), or of the file for `gender` in a folder of them."""
    file = find_model(Path(path), gender)
    Probe(file).check_size()
    digest = file_hash(file)
    known = cached_smplx(f"smplx:{digest[:12]}")
    if known is not None:
        return known
    space = _reduce(file, f"smplx:{digest[:12]}", _model_arrays(file))
    remember(space)
    return space


def find_model(path: Path, gender: str) -> Path:
    """Return the model file itself, or SMPLX_<GENDER>.npz or .pkl in the folder or its subfolder `smplx`."""
    if gender not in GENDERS:
        raise ConfigError(f"there is no SMPL-X model of gender {gender!r}; valid: {', '.join(GENDERS)}")
    if not path.is_dir():
        return path
    folders = [path, *(d for d in sorted(path.iterdir()) if d.is_dir() and d.name.lower() == "smplx")]
    files = [f for d in folders for f in sorted(d.iterdir()) if f.suffix.lower() in SUFFIXES and f.is_file()]
    for suffix in SUFFIXES:
        for file in files:
            if file.name.lower() == f"smplx_{gender}{suffix}":
                return file
    found = ", ".join(f.name for f in files) or "no .npz or .pkl file"
    raise ReadError(path, f"has no SMPLX_{gender.upper()}.npz or .pkl, here or in smplx/; found {found}")


def _model_arrays(path: Path) -> dict[str, Array]:
    """The arrays of KEYS, as floats."""
    try:
        with open(path, "rb") as f:
            zipped = f.read(2) == b"PK"
    except OSError as e:
        raise ReadError(path, f"cannot be opened: {e.strerror or e}") from None
    content: Mapping[Any, Any]
    if zipped:
        _check_keys(path, npz_headers(path))
        content = load_npz(path, KEYS)
    else:
        content = load_pickle(path)
        if not isinstance(content, dict):
            raise ReadError(path, f"is a pickle of a {type(content).__name__}; an SMPL-X model is a dictionary")
        _check_keys(path, content)
    arrays = {}
    with np.errstate(all="ignore"):
        for key in KEYS:
            array = np.asarray(as_array(path, key, content[key]), dtype=np.float64)
            if not (np.abs(array) < MAX_VALUE).all():
                raise ReadError(
                    path, f"{key} holds values that are not finite or beyond all measure; the file is damaged"
                )
            arrays[key] = array
    return arrays


def _check_keys(path: Path, content: Mapping[Any, Any]) -> None:
    missing = [k for k in KEYS if k not in content]
    if missing:
        raise ReadError(path, f"is not an SMPL-X model: it has no {', '.join(missing)}")


def _check_shapes(path: Path, a: dict[str, Array]) -> None:
    vertices = a["v_template"].shape[0] if a["v_template"].ndim else 0
    if vertices == 6890:
        joints = len(np.atleast_1d(a["J_regressor"]))
        model = {24: "an SMPL", 52: "an SMPL+H"}.get(joints, "an SMPL or SMPL+H")
        raise ReadError(path, f"is {model} model (6890 vertices, {joints} joints); SMPL-X is needed, with 10475 and 55")
    pose = 9 * (MODEL_JOINTS - 1)
    expected: dict[str, tuple[int | str, ...]] = {
        "v_template": (VERTICES, 3), "shapedirs": (VERTICES, 3, "shapes"), "posedirs": (VERTICES, 3, pose),
        "J_regressor": (MODEL_JOINTS, VERTICES), "weights": (VERTICES, MODEL_JOINTS),
        "kintree_table": (2, MODEL_JOINTS),
    }  # fmt: skip
    for key, shape in expected.items():
        found = a[key].shape
        if len(found) != len(shape) or any(isinstance(s, int) and s != n for s, n in zip(shape, found)):
            wanted = ", ".join(map(str, shape))
            raise ReadError(path, f"{key} has shape {found}; an SMPL-X model has ({wanted})")


def _body_ancestors(path: Path, kintree: Array) -> list[int]:
    """For each of the model's 55 joints the nearest of the 22 body joints on its way to the root, or itself."""
    parents = kintree[0].astype(np.int64)
    if tuple(parents[1:N_JOINTS]) != PARENTS[1:]:
        raise ReadError(path, "the first 22 joints of kintree_table are not SMPL-X's")
    ancestors = list(range(N_JOINTS))
    for j in range(N_JOINTS, MODEL_JOINTS):
        if not 0 <= parents[j] < j:
            raise ReadError(path, f"kintree_table gives joint {j} the parent {parents[j]}; expected an earlier joint")
        ancestors.append(ancestors[parents[j]])
    return ancestors


def _reduce(path: Path, name: str, a: dict[str, Array]) -> ShapeSpace:
    _check_shapes(path, a)
    ancestors = _body_ancestors(path, a["kintree_table"])
    components = int(a["shapedirs"].shape[-1])
    n_shape = min(BODY_SHAPES.get(components, components), MAX_SHAPES)
    regressor = a["J_regressor"][:N_JOINTS]
    shape_dirs = a["shapedirs"][..., :n_shape]
    return ShapeSpace(
        name=name,
        params=tuple(f"beta{i}" for i in range(n_shape)),
        joints=regressor @ a["v_template"],
        joint_dirs=np.tensordot(regressor, shape_dirs, axes=1),
        soles=a["v_template"][SOLE_VERTICES],
        sole_dirs=shape_dirs[SOLE_VERTICES],
        sole_weights=a["weights"][SOLE_VERTICES] @ np.eye(N_JOINTS)[ancestors],
        # The file's last axis is 54 joints by the 9 entries of R - 1, row by row; the body's 21 come first.
        pose_dirs=a["posedirs"][SOLE_VERTICES, :, : 9 * (N_JOINTS - 1)].reshape(N_SOLE, 3, N_JOINTS - 1, 3, 3),
    )

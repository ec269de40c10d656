"""A recording of SMPL's family is put on a body that is chosen here."""

from __future__ import annotations

import os
import re
from functools import lru_cache
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np

from phuma.body.fit import Family, fit_modes, fit_open_shape
from phuma.body.open import open_body
from phuma.body.smplx import GENDERS
from phuma.body.smplx import load_smplx as _load_smplx
from phuma.body.space import ShapeSpace
from phuma.core.body import Body
from phuma.core.rotations import Array
from phuma.errors import ConfigError, ReadError

__all__ = ["SmplShape", "check_body", "choose_body"]

Model = Literal["smplx", "smplh", "smpl"]
_MODEL_NAMES = {"smplx": "SMPL-X", "smplh": "SMPL+H", "smpl": "SMPL"}
FITTED_BETAS = 2
BETA_PRIOR = 1.5  # standard deviation; a population has 1


class SmplShape(NamedTuple):
    """A shape is what a recording says of its person."""

    model: Model
    """Whose betas they are: one model's are not those of another"""
    betas: Array | None = None
    """(B,), or None when the recording has none"""
    gender: str = "neutral"


@lru_cache(maxsize=8)
def load_smplx(path: str, gender: str) -> ShapeSpace:
    """Load a model once per process: reducing it takes seconds where the cache cannot be written."""
    return _load_smplx(path, gender)


def choose_body(
    spec: str, shape: SmplShape, root_pos: Array, joint_quat: Array, fps: float
) -> tuple[Body, tuple[str, ...]]:
    """Return the body that `spec` (`open` or `smplx:PATH`) gives a recording, and notes on how it was found.

    `root_pos` (T, 3) is the pelvis' path, of which only the changes count; `joint_quat` (T, 22, 4) is local, wxyz.
    """
    if spec == "open":
        open_shape, fit = fit_open_shape(root_pos, joint_quat, fps)
        return open_body(open_shape), (str(fit),)
    path = _model_path(spec)
    gender = shape.gender if shape.gender in GENDERS else "neutral"
    space = load_smplx(path, gender)
    if shape.model == "smplx" and shape.betas is not None:
        betas, notes = _usable_betas(space, shape.betas)
        return space.body(betas), notes + _gender_notes(path, gender)
    return _fitted_body(space, shape, root_pos, joint_quat, fps)


def check_body(spec: str) -> None:
    """Raise an error unless there is such a body, before a batch of recordings would fail for it one by one."""
    if spec == "open":
        return
    problems = []
    for gender in GENDERS:
        try:
            load_smplx(_model_path(spec), gender)
            return
        except ReadError as e:
            problems.append(str(e))
    raise ConfigError(f"--body {spec}: {problems[0]}")


def _model_path(spec: str) -> str:
    if not spec.startswith("smplx:") or spec == "smplx:":
        raise ConfigError(f"there is no body {spec!r}; valid: open, smplx:FILE (.npz or .pkl) or smplx:FOLDER")
    return spec.removeprefix("smplx:")


def _usable_betas(space: ShapeSpace, betas: Array) -> tuple[Array, tuple[str, ...]]:
    n = len(space.params)
    if not betas[n:].any():
        return betas[:n], ()
    return betas[:n], (f"{len(betas)} betas cut to the {n} of the body model",)


def _gender_notes(path: str | os.PathLike[str], gender: str) -> tuple[str, ...]:
    """A single file is taken for everybody; betas of one gender's model on another's are worth a note."""
    own = re.search(r"neutral|female|male", Path(path).name.lower())
    if own is None or own.group() == gender:
        return ()
    return (f"shape of the {gender} model put on the {own.group()} one; give a folder with one file per gender",)


def _fitted_body(
    space: ShapeSpace, shape: SmplShape, root_pos: Array, joint_quat: Array, fps: float
) -> tuple[Body, tuple[str, ...]]:
    k = min(FITTED_BETAS, len(space.params))
    mean = np.zeros(len(space.params))
    modes = np.eye(len(space.params))[:, :k]
    z, before, after = fit_modes(Family(space, mean, modes), np.full(k, BETA_PRIOR), root_pos, joint_quat, fps)
    why = "no shape in the recording" if shape.betas is None else f"{_MODEL_NAMES[shape.model]} betas are not SMPL-X's"
    found = ", ".join(f"beta{i} {v:.2f}" for i, v in enumerate(z))
    note = f"{why}: SMPL-X fitted, {found}, standing foot {100 * before:.1f} -> {100 * after:.1f} cm/s"
    return space.body(modes @ z), (note,)

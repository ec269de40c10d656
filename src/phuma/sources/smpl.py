"""The readers and writers of SMPL's family share rotation vectors, a translation, and whose shape it is.

The model moves a vertex v by R_0 (v - J_0) + J_0 + trans: the pelvis is at J_0 + trans, where J_0 is the rest pelvis of
the body. Layouts differ in which axis is up: z as here, or y, rotated by (x, y, z) -> (z, x, y).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import DTypeLike, NDArray

from phuma.body.choice import SmplShape, choose_body
from phuma.contacts.blocks import blocks_of
from phuma.core import rotations as rot
from phuma.core.arrays import checked, checked_fps
from phuma.core.human_motion import HumanMotion, precision_of
from phuma.core.provenance import Provenance
from phuma.core.rotations import Array
from phuma.core.skeleton import N_JOINTS, REST_TO_WORLD
from phuma.errors import ConfigError, PhumaError, ReadError
from phuma.sources.reader import ReadCfg

Up = Literal["y", "z"]
MAX_ANGLE = 8 * np.pi  # rad; no recording winds up that far, but degrees look like it
MAX_DISTANCE = 1e5  # m
MAX_BETA = 50.0


@dataclass(frozen=True)
class Layout:
    """A layout is what is the same for all files of a format."""

    format: str
    up: Up
    licence: str = "unknown"
    redistributable: bool | None = None
    assumed_fps: float | None = None
    """The rate of files that hold none"""


@dataclass(frozen=True, eq=False)
class SmplData:
    """This is a recording as its file has it."""

    trans: NDArray[Any]
    """(T, 3) metres"""
    rotvecs: NDArray[Any]
    """(T, 66) rotation vectors [rad] of the root and the 21 body joints"""
    fps: float | None
    """None when the file has no rate"""
    shape: SmplShape
    notes: tuple[str, ...] = ()
    licence: str | None = None
    """What the file itself says, where it says it; else the layout's holds"""
    redistributable: bool | None = None


def to_motion(path: Path, layout: Layout, data: SmplData, cfg: ReadCfg) -> HumanMotion:
    """Return the recording in the world, on the body that `cfg` asks for."""
    try:
        return _to_motion(path, layout, data, cfg)
    except (ReadError, ConfigError):
        raise
    except PhumaError as e:
        raise ReadError(path, str(e)) from None


def _to_motion(path: Path, layout: Layout, data: SmplData, cfg: ReadCfg) -> HumanMotion:
    fps, notes = _rate(layout, data.fps, cfg)
    trans = numbers("translation", data.trans, ("frames", 3), MAX_DISTANCE)
    rotvecs = numbers(
        "body rotations", data.rotvecs, ("frames", 3 * N_JOINTS), MAX_ANGLE, "are they in degrees?",
        dtype=precision_of(len(data.rotvecs)),
    )  # fmt: skip
    if len(trans) != len(rotvecs):
        raise PhumaError(f"has {len(trans)} frames of translation and {len(rotvecs)} of rotations; expected as many")
    if len(trans) < 2:
        raise PhumaError(f"has {len(trans)} frames; a motion needs at least 2")
    betas = data.shape.betas
    shape = data.shape if betas is None else data.shape._replace(betas=numbers("betas", betas, ("betas",), MAX_BETA))
    to_world = REST_TO_WORLD if layout.up == "y" else rot.IDENTITY
    quat = _quaternions(rotvecs, to_world)
    body, body_notes = choose_body(cfg.body, shape, rot.rotate(to_world, trans), quat, fps)
    return HumanMotion(
        body=body,
        root_pos=rot.rotate(to_world, trans + body.joints[0]),
        joint_quat=quat,
        fps=fps,
        provenance=Provenance(
            source=str(path),
            format=layout.format,
            licence=data.licence or layout.licence,
            redistributable=layout.redistributable if data.licence is None else data.redistributable,
            up=layout.up,
            notes=notes + data.notes + body_notes,
        ),
    )


def _quaternions(rotvecs: Array, to_world: Array) -> Array:
    """Return (T, 22, 4) wxyz from rotation vectors (T, 66), the root's turned by `to_world`; read-only."""
    quat = np.empty((len(rotvecs), N_JOINTS, 4), dtype=precision_of(len(rotvecs)))
    for here in blocks_of(len(rotvecs)):
        some = rot.from_rotvec(rotvecs[here].reshape(-1, N_JOINTS, 3))
        some[:, 0] = rot.multiply(to_world, some[:, 0])
        quat[here] = some
    quat.flags.writeable = False  # so that it need not be copied
    return quat


def from_motion(motion: HumanMotion, up: Up) -> tuple[Array, Array]:
    """Return translation (T, 3) and rotation vectors (T, 66) of a motion in a layout with that axis up, for writers."""
    to_layout = rot.conjugate(REST_TO_WORLD) if up == "y" else rot.IDENTITY
    quat = motion.joint_quat.copy()
    quat[:, 0] = rot.multiply(to_layout, quat[:, 0])
    trans = rot.rotate(to_layout, motion.root_pos) - motion.body.joints[0]
    return trans, rot.to_rotvec(quat).reshape(len(motion), -1)


def beside(motion: HumanMotion) -> dict[str, Any]:
    """Return what a written file says of its source: a licence of its own, where known, goes before the layout's."""
    origin = motion.provenance
    if origin.licence == "unknown":
        return {}
    may = -1 if origin.redistributable is None else int(origin.redistributable)
    return {"licence": origin.licence, "redistributable": np.array(may)}


def betas_of(motion: HumanMotion, count: int) -> Array:
    """Return the first betas (count,) of an SMPL-X body; zeros for a body of any other kind, which has none."""
    betas = np.zeros(count)
    if motion.body.name.startswith("smplx:"):
        own = list(motion.body.shape.values())[:count]
        betas[: len(own)] = own
    return betas


def numbers(
    name: str,
    value: NDArray[Any],
    shape: tuple[int | str, ...],
    limit: float,
    hint: str = "the file is damaged",
    dtype: DTypeLike = np.float64,
) -> Array:
    """Return `value` as floats of `shape`, all within the limit."""
    if value.dtype.kind not in "biuf":
        raise PhumaError(f"{name} is of type {value.dtype}; expected numbers")
    with np.errstate(all="ignore"):  # of strange bit patterns
        array = checked(name, value.astype(dtype, copy=False), shape, dtype)
    largest = float(max(array.max(initial=0.0), -array.min(initial=0.0)))
    if largest > limit:
        raise PhumaError(f"{name} reaches {largest:.4g}; expected at most {limit:.4g} ({hint})")
    return array


def _rate(layout: Layout, fps: float | None, cfg: ReadCfg) -> tuple[float, tuple[str, ...]]:
    """Return the rate in Hz and a note where it is an assumption; a rate that the user gives goes before the file's."""
    if cfg.rate is not None:
        return checked_fps(cfg.rate), ()
    if fps is not None:
        return checked_fps(fps), ()
    if layout.assumed_fps is None:
        raise PhumaError("has no frame rate; give it with --fps")
    note = f"{layout.assumed_fps:g} Hz assumed: {layout.format} files hold no rate; give the true one with --fps"
    return layout.assumed_fps, (note,)


def expect_shape(path: Path, name: str, found: tuple[int, ...], wanted: tuple[int | str, ...]) -> None:
    """Raise an error unless the shapes agree; a word stands for any length."""
    if len(found) != len(wanted) or any(isinstance(w, int) and w != n for w, n in zip(wanted, found)):
        raise ReadError(path, f"{name} has shape {found}; expected ({', '.join(map(str, wanted))})")


def one_number(path: Path, name: str, value: NDArray[Any]) -> float:
    """Return a scalar that may come wrapped in an array of one."""
    if value.size != 1 or value.dtype.kind not in "biuf":
        raise ReadError(path, f"{name} has shape {value.shape} of {value.dtype}; expected one number")
    with np.errstate(all="ignore"):
        return float(value.reshape(())[()])


def one_text(value: NDArray[Any]) -> str:
    """Return a word in lower case, from text or bytes; empty when it is none."""
    if value.size != 1 or value.dtype.kind not in "SU":
        return ""
    word = value.reshape(())[()]
    text = word.decode("latin1") if isinstance(word, bytes) else str(word)
    # Python 2's bytes, once printed and stored again, read b'female'.
    return text.strip().removeprefix("b").strip("'\" ").lower()


def one_shape(path: Path, betas: NDArray[Any]) -> Array | None:
    """Return the betas (B,) of a person, from one row or one per frame, of which the middle counts.

    It is None where there are no betas.
    """
    if betas.dtype.kind not in "biuf" or betas.ndim not in (1, 2):
        raise ReadError(path, f"betas has shape {betas.shape} of {betas.dtype}; expected (betas,) or (frames, betas)")
    if not betas.size:
        return None
    with np.errstate(all="ignore"):
        rows = np.atleast_2d(betas).astype(np.float64)
        # Where a value is not finite the middle may hide it: all rows count for that.
        return np.median(rows, axis=0) if np.isfinite(rows).all() else rows[~np.isfinite(rows).all(axis=1)][0]

"""The PHUMA dataset's humanoid `.npy`: a pickled dictionary of root_trans, root_ori (xyzw), dof_pos and fps."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.lib import format as npy_format

from phuma.core.robot_motion import RobotMotion
from phuma.dataset.exchange.format import Format
from phuma.dataset.exchange.imported import Columns, imported, number
from phuma.dataset.exchange.layout import prepared, recorded, single, to_xyzw
from phuma.dataset.exchange.pickled import dumps
from phuma.errors import ReadError
from phuma.io.atomic import write_atomic
from phuma.io.npz import npy_pickle_start
from phuma.io.probe import Probe
from phuma.io.safe_pickle import as_array, load_pickle
from phuma.robots.robot import Robot

KEYS = ("root_trans", "root_ori", "dof_pos")


def write(motion: RobotMotion, robot: Robot, path: Path) -> None:
    """Write what `numpy.save` makes of a dictionary, at the whole rate nearest to the motion's: readers cut fps to one.

    The header is NumPy's and the pickle is not: see `pickled`.
    """
    fps = round(motion.fps)
    motion = prepared(motion, robot, fps)
    values = (single(motion.root_pos), single(to_xyzw(motion.root_quat)), single(motion.joint_pos))
    content = dict(zip(KEYS, values)) | {"fps": fps} | recorded(motion)

    def save(f: BinaryIO) -> None:
        npy_format.write_array_header_1_0(f, {"descr": "|O", "fortran_order": False, "shape": ()})
        f.write(dumps(np.array(content, dtype=object)))

    write_atomic(path, save)


def read(path: Path, robot: Robot) -> list[RobotMotion]:
    """Read a file without running what its pickle may ask for."""
    holder = load_pickle(path, npy_pickle_start(path))
    content = holder.item() if getattr(holder, "shape", None) == () else holder
    return [read_dictionary(path, robot, FORMAT.name, content, KEYS)]


def read_dictionary(path: Path, robot: Robot, layout: str, content: object, keys: tuple[str, str, str]) -> RobotMotion:
    """Return the motion of a pickled dictionary that holds `keys` (root position, root xyzw, joints) and fps."""
    content = entries(path, content, (*keys, "fps"))
    root_pos, root_quat, joint_pos = (as_array(path, k, content[k]) for k in keys)
    return imported(
        path, layout, robot, number(path, "fps", content["fps"]), Columns(root_pos, root_quat, joint_pos, keys)
    )


def entries(path: Path, content: object, keys: Sequence[str]) -> dict[Any, Any]:
    """Return a dictionary that holds `keys`, or raise an error that says what it holds."""
    if not isinstance(content, dict):
        raise ReadError(path, f"holds {type(content).__name__}; expected a dictionary of {', '.join(keys)}")
    if missing := [k for k in keys if k not in content]:
        known = ", ".join(str(k)[:40] for k in list(content)[:20]) or "nothing"
        raise ReadError(path, f"holds no {missing[0]}; it has {known}")
    return content


def recognises(probe: Probe) -> bool:
    """Tell whether a file is an `.npy` that holds one object."""
    return probe.kind == "npy" and probe.arrays[""].dtype.hasobject and probe.arrays[""].shape == ()


FORMAT = Format("phuma", ".npy", "the PHUMA dataset's humanoid motions", write, read, recognises, rate=round)

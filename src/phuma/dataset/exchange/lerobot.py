"""LeRobot's dataset, version 3.0: all motions of a robot as episodes of one folder, in parquet with metadata.

`observation.state` (7 + N): root x y z [m], qw qx qy qz, joints [rad]; `observation.velocity` (6 + N): root linear in
the world [m/s], angular in the root's frame, joints [rad/s]; `action` (N): the joints of the next frame. 30 Hz. Columns
are named in `meta/info.json`, by which other datasets of robot motion are read, too.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phuma.core.performed_motion import PerformedMotion
from phuma.core.robot_motion import RobotMotion
from phuma.core.trajectory import split_qpos
from phuma.dataset.exchange.bodies import differences
from phuma.dataset.exchange.format import Format
from phuma.dataset.exchange.imported import Columns, consecutive, imported, number
from phuma.dataset.exchange.layout import prepared, single
from phuma.dataset.exchange.lerobot_folder import INFO, POSITION, ROOT, STATE, VELOCITY, gather
from phuma.dataset.exchange.parquet import read_columns, write_columns
from phuma.errors import ReadError
from phuma.io.json_file import read_json
from phuma.io.probe import Probe
from phuma.robots.robot import Robot

RATE = 30.0
MOST_FEATURES = 10_000
NAMES = tuple(f"{STATE}: {part}" for part in ("root position", "root rotation", "joints"))


def write(motion: RobotMotion, robot: Robot, path: Path) -> None:
    """Write one episode, at 30 Hz, without its numbers in a dataset, which `gather` gives it."""
    motion = prepared(motion, robot, RATE)
    recorded = motion.velocity if isinstance(motion, PerformedMotion) else None
    velocity = differences(motion) if recorded is None else recorded
    frame = np.arange(len(motion))
    state = np.concatenate([motion.root_pos, motion.root_quat, motion.joint_pos], axis=1)
    action = motion.joint_pos[np.minimum(frame + 1, len(motion) - 1)]
    columns = {STATE: single(state), VELOCITY: single(velocity), "action": single(action)}
    write_columns(path, {**columns, "timestamp": (frame / RATE).astype(np.float32), "frame_index": frame})


def read(path: Path, robot: Robot) -> list[RobotMotion]:
    """Read all episodes of a data file, by the names of the numbers of its states."""
    info = read_json(_info_of(path), max_bytes=64 << 20)
    names = _state_names(path, info)
    wanted = [*ROOT, *(joint + POSITION for joint in robot.joint_names)]
    if missing := [name for name in wanted if name not in names]:
        raise ReadError(
            path, f"{STATE} has no {missing[0]!r} of {robot.name}; {INFO} names {', '.join(names)[:300] or 'nothing'}"
        )
    columns = read_columns(path, [STATE, "episode_index"])
    state, episode = columns[STATE], columns["episode_index"]
    if state.ndim != 2 or state.shape[1] != len(names):
        raise ReadError(path, f"{STATE} has shape {state.shape}; {INFO} has {len(names)} names for its numbers")
    state = state[:, [names.index(name) for name in wanted]]
    fps = number(path, "fps", info.get("fps"))
    return consecutive([_episode(path, robot, fps, state[episode == k], int(k)) for k in np.unique(episode)])


def _episode(path: Path, robot: Robot, fps: float, state: NDArray[Any], index: int) -> RobotMotion:
    columns = Columns(*split_qpos(state), (NAMES[0], NAMES[1], NAMES[2]))
    return imported(path, FORMAT.name, robot, fps, columns, "wxyz", [f"episode {index} of the dataset"])


def _state_names(path: Path, info: Any) -> list[str]:
    """Return the names of the numbers of a state; a joint's may be followed by `.pos`, as motors' are there, or not."""
    try:
        names = info["features"][STATE]["names"]
        names = next(iter(names.values())) if isinstance(names, dict) and len(names) == 1 else names
        if not (isinstance(names, list) and len(names) <= MOST_FEATURES and all(isinstance(n, str) for n in names)):
            raise TypeError
    except (KeyError, TypeError, AttributeError):
        raise ReadError(path, f"{INFO} names no numbers of {STATE}; expected a list of names") from None
    return [n if n in ROOT or n.endswith(POSITION) else n + POSITION for n in names]


def _info_of(path: Path) -> Path:
    """Return the metadata of a data file, which lies at data/chunk-000/file-000.parquet beside meta."""
    return path.resolve().parent.parent.parent / INFO


def is_metadata(path: Path) -> bool:
    """Tell whether a file holds metadata of a dataset, and no motion."""
    return path.suffix == ".parquet" and any((parent / INFO.name).is_file() for parent in path.resolve().parents[:4])


def recognises(probe: Probe) -> bool:
    """Tell whether a file is parquet, with the metadata of a dataset in its place."""
    return probe.head.startswith(b"PAR1") and _info_of(probe.path).is_file()


FORMAT = Format(
    "lerobot", ".parquet", "a LeRobot dataset, version 3.0, 30 Hz", write, read, recognises,
    rate=lambda _: RATE, library="duckdb", gather=gather,
)  # fmt: skip

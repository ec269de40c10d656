"""Read worlds of a user's own from a file: JSON, an object of worlds by name, each an object of changes by name.

{"ice": {"friction": 0.15}, "tired": {"gains": 0.8, "delay": 1, "noise": 1.5}}
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from phuma.core.names import did_you_mean
from phuma.errors import ReadError
from phuma.io.json_file import read_json
from phuma.io.schema import BOOLEAN, Schema, Value, between
from phuma.sim.worlds import MAKER, WORLDS, World

MOST_BYTES = 1 << 20
LONGEST_NAME = 60
NAME = Value(
    f"a name of 1 to {LONGEST_NAME} printable characters",
    (str,),
    lambda text: text.isprintable() and 0 < len(text.strip()) <= LONGEST_NAME,
)
CHANGES: Mapping[str, Schema] = {
    "physics_dt": between(1e-4, 0.02),
    "simulator": Value("mujoco or mujoco_warp", (str,), lambda text: text in ("mujoco", "mujoco_warp")),
    "model": Value("the path of an MJCF", (str,), bool),
    "cone": Value("pyramidal or elliptic", (str,), lambda text: text in ("pyramidal", "elliptic")),
    "friction": between(0.01, 5.0),
    "mass": between(0.1, 10.0),
    "gains": between(0.1, 10.0),
    "delay": between(0, 25, (int,)),
    "noise": between(0.0, 100.0),
    "pushes": BOOLEAN,
}
"""What each change of a world may be."""


def read_worlds(path: str | Path) -> dict[str, World]:
    """Return the worlds of a file by their names; every fault of it is a ReadError. The path of a model is relative to
    the file's folder."""
    path = Path(path)
    content = read_json(path, MOST_BYTES)
    if not isinstance(content, dict) or not content:
        raise ReadError(path, 'has no worlds; expected an object like {"ice": {"friction": 0.15}}')
    return {name: _world(path, name, changes) for name, changes in content.items()}


def _world(path: Path, name: str, changes: object) -> World:
    if fault := NAME.fault(name, "a world's name"):
        raise ReadError(path, fault)
    if name in WORLDS or name == MAKER:
        raise ReadError(path, f"has a world {name!r}, which is built in; choose another name")
    if not isinstance(changes, dict) or not changes:
        raise ReadError(path, f'world {name!r} has no changes; expected an object like {{"friction": 0.15}}')
    for key, value in changes.items():
        if key not in CHANGES:
            raise ReadError(
                path,
                f"world {name!r} has an unknown change {key[:LONGEST_NAME]!r}{did_you_mean(key, CHANGES)}; there are: "
                f"{', '.join(CHANGES)}",
            )
        if fault := CHANGES[key].fault(value, f"{key} of world {name!r}"):
            raise ReadError(path, fault)
    given = {k: path.parent / v if k == "model" else v for k, v in changes.items()}
    return World(**given)

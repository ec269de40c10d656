"""A stranger's model file is looked at before MuJoCo loads it in this process, which could not be stopped any more.

What is made of bodies, joints and primitive shapes alone needs no more than this look: it can neither name a file nor
ask for an amount of anything. All else is compiled in a process with limits first.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from xml.parsers import expat

from phuma.errors import MissingExtraError, ReadError
from phuma.runtime.limited import LimitedProcess, LimitError
from phuma.runtime.process_pool import WorkerLimits

LIMITS = WorkerLimits(seconds=30.0, megabytes=2000)
MOST_BYTES = 64 << 20
MOST_BODIES, MOST_GEOMS = 1000, 20_000
"""A humanoid with all its fingers has a tenth of them"""
MOST_COPIES = 5000
"""Of elements, by <replicate> and its like; MuJoCo's time grows with their square"""
MOST_PLAIN, DEEPEST = 3000, 200
"""Elements, and elements in each other, of a model that needs no process"""
FOLDERS_ABOVE = 3
"""How far above a model file its ROS package may begin"""

PLAIN_ELEMENTS = frozenset((
    "mujoco", "compiler", "option", "default", "asset", "material", "worldbody", "body", "freejoint", "joint", "geom",
    "site", "inertial", "contact", "exclude", "actuator", "position", "motor", "keyframe", "key",
))  # fmt: skip
PLAIN_ATTRIBUTES = frozenset((
    "name", "model", "class", "childclass", "angle", "autolimits", "timestep", "pos", "quat", "euler", "axis", "range",
    "ref", "type", "size", "fromto", "mass", "diaginertia", "fullinertia", "armature", "damping", "stiffness",
    "frictionloss", "actuatorfrcrange", "rgba", "material", "group", "contype", "conaffinity", "friction", "specular",
    "shininess", "body1", "body2", "joint", "kp", "kv", "gear", "ctrlrange", "forcerange", "qpos",
))  # fmt: skip


class Element(NamedTuple):
    """An element of an XML file; what it is within does not matter here."""

    tag: str
    attributes: dict[str, str]


def check_folder_model(path: Path) -> None:
    """Check the model of a robot's folder, which may use files of that folder alone; every fault is a ReadError."""
    elements, depth = _elements(path)
    if depth <= DEEPEST and len(elements) <= MOST_PLAIN and all(map(_is_plain, elements)):
        return
    check_files(path, path.parent.resolve(), everything=True)
    in_limits(_compile, path)


def check_files(path: Path, home: Path, everything: bool, hint: str = "") -> None:
    """Check that the files a model names lie in `home` and are files; of an MJCF's includes, all that they name too.

    Without `everything` meshes and textures are not looked at.
    """
    todo, seen = [path], set()
    while todo:
        file = todo.pop()
        if file.resolve() in seen:
            continue
        seen.add(file.resolve())
        elements = _elements(file)[0]
        folders = [
            "",
            *(v for e in elements if e.tag == "compiler" for k, v in e.attributes.items() if k.endswith("dir")),
        ]
        for element, name in _named_files(elements, everything):
            found = [path.parent / folder / name for folder in folders]
            there = next((f for f in found if f.exists()), found[0])
            check_inside(file, there, home, hint)
            if there.exists() and not there.is_file():
                raise ReadError(file, f"names {there}, which is a folder or a device, not a file")
            if element.tag == "include" and there.exists():
                todo.append(there)


def check_inside(path: Path, file: Path, home: Path, hint: str) -> None:
    """Raise a ReadError if a file that the model at `path` names is not in `home`."""
    if not file.resolve().is_relative_to(home):
        raise ReadError(path, f"names {file.resolve()}, which is outside {home} and is not read{hint}")


def home_of(path: Path) -> Path:
    """Return the folder that a model file's own files are in: its folder or, of a ROS package, the package's.

    A package is a folder above that holds package.xml, or that the file names as `package://NAME/...`.
    """
    here = path.resolve().parent
    named = {
        value.split("://", 1)[1].split("/", 1)[0]
        for element in _elements(path)[0]
        for value in element.attributes.values()
        if value.startswith("package://")
    }
    above = [here, *list(here.parents)[:FOLDERS_ABOVE]]
    return next((f for f in above if (f / "package.xml").is_file() or f.name in named), here)


def in_limits(work: Any, path: Path, *more: Any) -> Any:
    """Return what `work` makes of a model file in a process with limits; beyond them it is a ReadError."""
    try:
        with LimitedProcess(_WithMujoco(work), LIMITS) as process:
            return process(path, *more)
    except LimitError as e:
        raise ReadError(path, f"MuJoCo cannot load it: it {e}") from None


class _WithMujoco:
    """Work that has MuJoCo imported before its time counts."""

    def __init__(self, work: Any) -> None:
        self.work = work

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        try:
            import mujoco
        except ImportError:
            raise MissingExtraError("mujoco", "retarget", "a robot") from None
        mujoco.set_mju_user_warning(_ignore)  # it would write a file into the current folder

    def __call__(self, *args: Any) -> Any:
        return self.work(*args)


def _ignore(_: str) -> None:
    pass


def check_count(path: Path, model: Any) -> None:
    """Raise a ReadError for a compiled model of more parts than any robot has."""
    for what, count, most in (("bodies", model.nbody, MOST_BODIES), ("shapes", model.ngeom, MOST_GEOMS)):
        if count > most:
            raise ReadError(path, f"has {count:,} {what}; a robot has at most {most:,}")


def _compile(path: Path) -> None:
    """Compile a model and pose it once, as all that uses it does."""
    import mujoco

    try:
        model = mujoco.MjModel.from_xml_path(str(path))
        check_count(path, model)
        mujoco.mj_forward(model, mujoco.MjData(model))
    except (ReadError, MemoryError):
        raise
    except Exception as e:  # a type of its own for what it calls fatal, among others
        raise ReadError(path, f"MuJoCo cannot compile it: {e}") from None


def _is_plain(element: Element) -> bool:
    return element.tag in PLAIN_ELEMENTS and PLAIN_ATTRIBUTES.issuperset(element.attributes)


def _named_files(elements: list[Element], everything: bool) -> Iterator[tuple[Element, str]]:
    for element in elements:
        for key, value in element.attributes.items():
            if key.startswith("file") and value and (everything or element.tag not in ("mesh", "texture", "skin")):
                yield element, value


def _elements(path: Path) -> tuple[list[Element], int]:
    """Return the elements of an XML file in their order, and how many are in each other at most."""
    found: list[Element] = []
    copies, total, deepest = [1], 0, 0  # how often each open element is there, and all together

    def begin(tag: str, attributes: dict[str, str]) -> None:
        nonlocal total, deepest
        found.append(Element(tag, attributes))
        copies.append(copies[-1] * _count(tag, attributes))
        total, deepest = total + copies[-1], max(deepest, len(copies))
        if total - len(found) > MOST_COPIES:
            raise ReadError(path, f"asks for {total:,} elements by copying; at most {MOST_COPIES:,} are made")

    def end(_: str) -> None:
        copies.pop()

    def refuse(*_: object) -> None:
        raise ReadError(path, "has a DOCTYPE, which no model needs and which could make it as large as it likes")

    parser = expat.ParserCreate("utf-8")  # as MuJoCo reads it, whatever the file says
    parser.StartElementHandler, parser.EndElementHandler, parser.StartDoctypeDeclHandler = begin, end, refuse
    try:
        parser.Parse(_bytes(path), True)
    except expat.ExpatError as e:
        raise ReadError(path, f"is not XML: {e}") from None
    return found, deepest


def _count(tag: str, attributes: dict[str, str]) -> int:
    """Return how many copies an element makes of what is in it; a count that is no number is MuJoCo's to refuse."""
    if tag not in ("replicate", "composite", "flexcomp"):
        return 1
    words = attributes.get("count", "").split()
    return math.prod(int(word) if len(word) < 10 else MOST_COPIES for word in words if word.isdecimal())


def _bytes(path: Path) -> bytes:
    try:
        if not path.is_file():  # reading a pipe would wait for somebody who writes to it
            raise ReadError(path, "is a folder or a device, not a file" if path.exists() else "does not exist")
        if (size := path.stat().st_size) > MOST_BYTES:
            raise ReadError(path, f"has {size:,} bytes; a model has at most {MOST_BYTES:,}")
        return path.read_bytes()
    except OSError as e:
        raise ReadError(path, f"cannot be opened: {e.strerror or e}") from None

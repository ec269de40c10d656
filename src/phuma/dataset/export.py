"""Export many robot motions in the layout of another tool, with a list of what they are beside them."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from phuma.contacts.performed import performed_motion
from phuma.core.robot_motion import RobotMotion
from phuma.dataset.dataset import Dataset
from phuma.dataset.describe import ROBOT_FILES, load_description
from phuma.dataset.exchange import format_named
from phuma.dataset.layout import Layout, make_folder
from phuma.dataset.manifest import clean_condition, quoted
from phuma.errors import ConfigError, PhumaError, ReadError, StorageError
from phuma.formats.robot_motion_file import load_robot_motion
from phuma.formats.rollout_file import load_rollout
from phuma.io.atomic import write_atomic
from phuma.io.inside import inside
from phuma.io.json_file import read_json
from phuma.io.names import unique_name
from phuma.robots import Robot, built_in_robots, cached_robot, is_built_in

RESULT = "export.json"
FORMAT = "phuma-export"
VERSION = 1
MOST_BYTES = 1 << 30
"""Largest export.json, which has a row per motion"""
COLUMNS = "clip, robot, recording, source, split, category, label, file, certified_file"
Row = dict[str, Any]


@dataclass(frozen=True)
class Selection:
    """The motions of a dataset to export; without a dataset, only the robot can be chosen."""

    where: str | None = None
    split: str | None = None
    robots: tuple[str, ...] = ()
    """Names of robots, or folders with model.xml and robot.json; all built-in ones where none is given, also those of a
    dataset that have joints locked"""
    certified: bool = False
    """Whether the performances of certified clips are exported, and nothing else"""

    def models(self, source: Path) -> dict[str, str]:
        """Return, by the robots' names, what loads each model."""
        if self.robots:
            return {cached_robot(s).name: s for s in self.robots}
        there = Layout(source).description.exists()
        own = filter(is_built_in, load_description(source).robots if there else ())
        return {name: name for name in (*built_in_robots(), *own)}


class Item(NamedTuple):
    """A motion to be exported."""

    path: Path
    name: str
    """Path below the robot's folder, without suffix: safe parts and forward slashes"""
    about: Mapping[str, Any]
    """Facts that are known without reading it: clip, source, and of a dataset also recording and split"""
    performance: Path | None = None
    """The rollout that is exported in its place; None for the motion itself"""


class Outcome(NamedTuple):
    """The outcome of one motion: its row, or its fault; neither for a motion of a robot that was not asked for."""

    row: Row | None = None
    failed: dict[str, str] | None = None


def find_items(source: Path, choice: Selection, leave_out: Path) -> list[Item]:
    """Return the kept clips of a dataset, one motion, or all motions in a folder."""
    if Layout(source).description.exists():
        items = _in_dataset(source, choice)
    elif choice.where or choice.split or choice.certified:
        raise ConfigError(f"{source} is no dataset, so --where, --split and --certified have no manifest to ask")
    else:
        items = _in_folder(source, leave_out)
    if not items and choice.certified:
        how = f"`phuma certify {shlex.quote(str(source))}` performs what was not performed yet"
        raise ConfigError(f"nothing to export in {source}: no clip there is chosen and certified; {how}")
    if not items:
        raise ConfigError(f"nothing to export in {source}: no robot motion there is kept and chosen")
    return items


def _in_dataset(root: Path, choice: Selection) -> list[Item]:
    condition = f"{clean_condition(choice.where)} AND kept AND file IS NOT NULL"
    if choice.split:
        condition += f" AND split = {quoted(choice.split)}"
    if choice.robots:
        condition += f" AND robot IN ({', '.join(map(quoted, choice.models(root)))})"
    if choice.certified:
        condition += " AND certified AND certified_file IS NOT NULL"
    taken: dict[str, set[str]] = defaultdict(set)  # by robot, as each has a folder of its own
    items = []
    for row in Dataset(root).rows(condition, COLUMNS):
        path, robot, performance = inside(root, row.pop("file")), row.pop("robot"), row.pop("certified_file")
        name = safe_name(f"{path.parent.name}/{row['clip']}")
        performed = inside(root, performance) if choice.certified else None
        items.append(Item(path, unique_name(name, taken[robot.lower()]), row, performed))
    return items


def _in_folder(source: Path, leave_out: Path) -> list[Item]:
    if not source.exists():
        raise ConfigError(f"{source} does not exist")
    folder = source if source.is_dir() else source.parent
    files = sorted(source.rglob("*.npz")) if source.is_dir() else [source]
    away = leave_out.resolve()
    taken: set[str] = set()
    items = []
    for file in files:
        if not file.name.startswith(".") and away not in file.resolve().parents:
            clip = file.relative_to(folder).with_suffix("").as_posix()
            items.append(
                Item(file, unique_name(safe_name(clip), taken), {"clip": clip, "source": folder.resolve().name})
            )
    return items


def safe_name(name: str) -> str:
    """Return a relative path that leads nowhere else, whatever the name: an untrusted manifest may name anything."""
    parts = [re.sub(r"[^A-Za-z0-9_.~-]+", "-", part).strip("-").lstrip(".") for part in name.split("/")]
    return "/".join(part for part in parts if part) or "motion"


def export_item(item: Item, out: Path, layout: str, models: Mapping[str, str], only: bool) -> Outcome:
    """Write one motion; a fault of it becomes a row, never an exception. `only`: other robots' motions are left out."""
    try:
        motion = load_robot_motion(item.path)
        if motion.robot not in models:
            if only:
                return Outcome()
            raise ReadError(item.path, f"is of robot {motion.robot!r}; name its folder with --robot")
        robot, chosen = cached_robot(models[motion.robot]), format_named(layout)
        if item.performance is not None:
            motion = _performed(item.performance, motion, robot)
        path = inside(out, f"{robot.name}/{item.name}{chosen.suffix}")
        make_folder(path.parent)
        chosen.save(motion, robot, path)
    except (ConfigError, StorageError):
        raise
    except Exception as e:  # whatever it is, it must not cost the rest of a long batch
        reason = e.problem if isinstance(e, ReadError) else str(e) if isinstance(e, PhumaError) else repr(e)
        return Outcome(failed={"source": str(item.path), "reason": reason})
    origin = motion.provenance
    return Outcome({
        **item.about, "file": path.relative_to(out).as_posix(), "robot": robot.name, "fps": chosen.rate(motion.fps),
        "licence": origin.licence, "redistributable": origin.redistributable,
        **({} if chosen.within is None else {"clipped": clipped_share(motion, robot, chosen.within)}),
    })  # fmt: skip


def clipped_share(motion: RobotMotion, robot: Robot, within: float) -> float:
    """Return the percentage of frames in which a joint is beyond a share of its range around the middle."""
    lower, upper = robot.middle_range(within)
    joints = motion.reordered(robot.joint_names).joint_pos
    return round(100 * float(np.mean(((joints < lower) | (joints > upper)).any(axis=1))), 3)


def _performed(path: Path, motion: RobotMotion, robot: Robot) -> RobotMotion:
    """Return the performance of a motion, with the origin of that."""
    rollout = load_rollout(path)
    if rollout.robot != robot.name:
        raise ReadError(path, f"is of robot {rollout.robot!r}; the clip is of {robot.name!r}")
    return performed_motion(rollout, robot, motion.provenance)


def gathered(rows: list[Row], out: Path, layout: str, models: Mapping[str, str]) -> list[Row]:
    """Return the rows of all files once those of a layout that has one dataset for all are gathered into it."""
    chosen = format_named(layout)
    if chosen.gather is None:
        return rows
    done: list[Row] = []
    for name in sorted({row["robot"] for row in rows}):
        of_robot = [{**row, "file": row["file"].removeprefix(f"{name}/")} for row in rows if row["robot"] == name]
        robot = cached_robot(models[name])
        made = chosen.gather(inside(out, name), robot, of_robot, of_robot[0]["fps"])
        done += [{**row, "file": f"{name}/{row['file']}"} for row in made]
    return done


def other_models(source: Path, identities: Mapping[str, str]) -> list[str]:
    """Return the robots whose models are not those that a dataset was made with; `identities` are those of today."""
    if not Layout(source).description.exists():
        return []
    before = load_description(source).config.get(ROBOT_FILES, {})
    return [name for name, identity in identities.items() if name in before and before[name] != identity]


def claim(out: Path, source: Path, robots: Iterable[str]) -> None:
    """Claim `out` for this export: an earlier export is replaced, anything else is left alone.

    `robots` are the folders that may come into being below it.
    """
    if out.resolve() in (source.resolve(), *source.resolve().parents):
        raise ConfigError(f"{source} lies in {out}, which this export would replace; choose another --out")
    if out.exists() and not out.is_dir():
        raise ConfigError(f"{out} is a file; choose another --out")
    before = _earlier(out / RESULT)
    if before is None and out.exists() and any(out.iterdir()):
        raise ConfigError(f"{out} exists and was not written by `phuma export`; choose another --out")
    make_folder(out)
    # From here until the list is written, the folder says of itself that it is not whole.
    names = sorted({*robots, *(before or ())})
    save_result(out, {"finished": False, "robots": dict.fromkeys(names)})
    for name in before or ():
        shutil.rmtree(out / name, ignore_errors=True)


def _earlier(path: Path) -> list[str] | None:
    """Return the folders of an export that was made, or begun, there; None where none was."""
    try:
        data = read_json(path, max_bytes=MOST_BYTES)
        names = [str(n) for n in data["robots"]] if data["format"] == FORMAT else None
    except (ReadError, TypeError, KeyError):
        return None
    return [n for n in names if n == Path(n).name and n.strip(".")] if names is not None else None


def save_result(out: Path, result: Mapping[str, Any]) -> Row:
    """Write export.json, which says what the files are."""
    content = {"format": FORMAT, "version": VERSION, **result}
    write_atomic(out / RESULT, lambda f: f.write(json.dumps(content, indent=1).encode()))
    return content


def orders(rows: Iterable[Row], layout: str, models: Mapping[str, str]) -> Row:
    """Return, by robot, the names of joints and bodies in the order in which they were written, and the angles [rad] of
    those that are locked."""
    names = sorted({row["robot"] for row in rows})
    out: Row = {}
    for name in names:
        robot = cached_robot(models[name])
        out[name] = format_named(layout).columns(robot)._asdict()
        if robot.locked:
            out[name]["locked"] = dict(robot.locked)
    return out


def licences(rows: Sequence[Row]) -> list[Row]:
    """Return sources by licence with their numbers of files; first those that may not be redistributed."""
    groups = Counter((row["source"], row["licence"], row["redistributable"]) for row in rows)
    rank = {False: 0, None: 1, True: 2}
    order = sorted(groups, key=lambda g: (rank[g[2]], g[0], g[1]))
    return [{"source": s, "licence": t, "redistributable": may, "files": groups[s, t, may]} for s, t, may in order]


def licence_warnings(groups: Sequence[Row]) -> list[str]:
    """Return what somebody has to know before redistributing an export; empty where all of it may be."""
    lines: list[str] = []
    for may, says in ((False, "May not be passed on:"), (None, "Not known whether it may be passed on:")):
        found = [g for g in groups if g["redistributable"] is may]
        lines += [says] * bool(found)
        lines += [f"  {g['source']}, files: {g['files']}, licence: {g['licence']}" for g in found]
    return lines

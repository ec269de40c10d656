"""Provide the viewer with a collection of clips: a dataset, or files of any kind.

What a clip needs to be opened is imported when one is: a list of clips is shown before that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from phuma.curation import CurateCfg
from phuma.dataset.dataset import Dataset, Entry
from phuma.dataset.search import PAGE_ROWS, Search, facets, search
from phuma.errors import ConfigError
from phuma.robots import Robot, load_robot
from phuma.sources import ReadCfg
from phuma.viewer.payload import Choice
from phuma.viewer.session import Opened
from phuma.viewer.show import Performer

if TYPE_CHECKING:
    from phuma.pipelines.scene_building import Piece

REMEMBERED = 32  # entries and performances that are kept in memory


class DatasetCollection:
    """Provide the clips of a dataset, kept or not, or those under a condition; nothing is written."""

    opening, comparing = "reading", "retargeting"

    def __init__(self, root: Path, robots: Sequence[Robot], where: str | None = None) -> None:
        self._dataset = Dataset(root) if where is None else Dataset(root).part(where)
        self._facets = facets(self._dataset)  # reads the manifest, so that its faults are reported at once
        self._robots = {robot.name: robot for robot in robots}
        """The robots that clips can be put on: those of the dataset, and others that were asked for."""
        self._perform = Performances()
        self._entry = lru_cache(maxsize=REMEMBERED)(self._dataset.entry)

    def about(self) -> dict[str, Any]:
        names = ("name", "label", "unit", "better")
        metrics = [{name: getattr(metric, name) for name in names} for metric in self._facets.metrics]
        return {"title": self._dataset.root.resolve().name, **asdict(self._facets), "metrics": metrics}

    def find(self, request: Mapping[str, str]) -> dict[str, Any]:
        return asdict(search(self._dataset, search_of(request)))

    def piece(self, clip: str, robot: str | None) -> Piece:
        from phuma.pipelines.scene_building import piece_of_entry

        return piece_of_entry(self._entry(clip, robot))

    def open(self, clip: str, robot: str | None, performers: Sequence[str] | None) -> Opened:
        from phuma.pipelines.scene_building import STORED, piece_of_entry, show_of, stored_performer

        entry = self._entry(clip, robot)
        stored = {f"{e.row['robot']}:{STORED}": e for e in self._dataset.entries_of(clip) if e.row["file"]}
        first = f"{entry.row['robot']}:{STORED}"
        chosen = list(dict.fromkeys([first] * (first in stored) if performers is None else performers))
        piece = piece_of_entry(entry)
        titles = {name: _stored_title(e) for name, e in stored.items()}
        done = {e.row["robot"]: e.row["method"] for e in stored.values()}
        titles |= method_titles(self._robots, piece, leave_out=done)
        check_choice(chosen, titles)

        def performer(name: str) -> Performer:
            if name in stored:
                robot = stored[name].row["robot"]
                if robot not in self._robots:
                    raise ConfigError(f"{clip} is of {robot}, which is none of {', '.join(self._robots)}; see --robot")
                return stored_performer(stored[name].motion(), self._robots[robot])
            return self._perform.get(clip, name, piece, self._robots)

        return Opened(show_of(piece, [performer(name) for name in chosen]), choices_of(titles, chosen))


class FileCollection:
    """Provide clips, recordings and robot motions from files."""

    opening, comparing = "reading", "retargeting"

    def __init__(
        self, paths: Sequence[Path], robots: Sequence[Robot], read_cfg: ReadCfg, curate_cfg: CurateCfg | None = None
    ) -> None:
        from phuma.pipelines.scene_building import pieces_of

        pieces = [piece for path in paths for piece in pieces_of(path, read_cfg, curate_cfg, robots)]
        self._pieces = {f"{k}": piece for k, piece in enumerate(pieces)}
        self._robots = {robot.name: robot for robot in robots}
        self._perform = Performances()

    def about(self) -> dict[str, Any]:
        kept = sum(_is_kept(piece) is True for piece in self._pieces.values())
        title = next(iter(self._pieces.values())).title if len(self._pieces) == 1 else f"{len(self._pieces)} motions"
        nothing: dict[str, Any] = dict.fromkeys(("robots", "categories", "splits", "sources", "metrics"), ())
        return {"title": title, "clips": len(self._pieces), "kept": kept, **nothing}

    def find(self, request: Mapping[str, str]) -> dict[str, Any]:
        """Return a page of the motions that match the words and the verdict of a request."""
        wanted = search_of(request)
        rows = [self._row(name, piece) for name, piece in self._pieces.items()]
        words = wanted.text.lower().split()
        rows = [row for row in rows if all(word in row["recording"].lower() for word in words)]
        if wanted.verdict:
            rows = [row for row in rows if row["kept"] is (wanted.verdict == "kept")]
        first = wanted.page * PAGE_ROWS
        pages = -(-len(rows) // PAGE_ROWS)
        return {"total": len(rows), "page": wanted.page, "pages": pages, "rows": rows[first : first + PAGE_ROWS]}

    def _row(self, name: str, piece: Piece) -> dict[str, Any]:
        start, end = piece.span
        reasons = [str(m) for m in piece.measures if not m.passed]
        return {
            "clip": name, "robot": None, "recording": piece.title, "start": start, "end": end, "category": None,
            "split": None, "kept": _is_kept(piece), "reasons": reasons, "label": None, "mirrored": False, "value": None,
        }  # fmt: skip

    def piece(self, clip: str, robot: str | None) -> Piece:
        if clip not in self._pieces:
            raise ConfigError(f"no motion {clip!r} is open")
        return self._pieces[clip]

    def open(self, clip: str, robot: str | None, performers: Sequence[str] | None) -> Opened:
        from phuma.pipelines.scene_building import show_of, stored_performer
        from phuma.retargeting import DEFAULT_METHOD

        piece = self.piece(clip, robot)
        done = {} if piece.motion is None else {piece.motion.robot: piece.motion.report.get("method")}
        titles = method_titles(self._robots, piece, leave_out=done)
        here = None
        if piece.motion is not None:
            here = stored_performer(
                piece.motion, self._robots.get(piece.motion.robot) or load_robot(piece.motion.robot)
            )
            titles = {here.id: f"{here.title} (stored)", **titles}
        default = here.id if here is not None else f"{next(iter(self._robots))}:{DEFAULT_METHOD}"
        chosen = [default] if performers is None else list(dict.fromkeys(performers))
        check_choice(chosen, titles)
        found = [
            here if here is not None and name == here.id else self._perform.get(clip, name, piece, self._robots)
            for name in chosen
        ]
        return Opened(show_of(piece, found), choices_of(titles, chosen))


class Performances:
    """Retarget clips on demand, one at a time, and remember the last results."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._done: dict[tuple[str, str], Performer] = {}

    def get(self, clip: str, choice: str, piece: Piece, robots: Mapping[str, Robot]) -> Performer:
        """Return the performance of a piece by a choice `ROBOT:METHOD`."""
        from phuma.pipelines.scene_building import perform

        robot, _, method = choice.partition(":")
        assert piece.clip is not None
        with self._lock:
            if (clip, choice) not in self._done:
                self._done[clip, choice] = perform(piece.clip, robots[robot], method)
                while len(self._done) > REMEMBERED:
                    del self._done[next(iter(self._done))]
            return self._done[clip, choice]


def search_of(request: Mapping[str, str]) -> Search:
    """Return the search that the query of a web address asks for."""
    names = ("text", "category", "split", "verdict", "source", "robot", "metric", "sort")
    given: dict[str, Any] = {name: request[name] for name in names if request.get(name)}
    for name, key in (("low", "min"), ("high", "max"), ("page", "page")):
        if request.get(key):
            try:
                given[name] = int(request[key]) if name == "page" else float(request[key])
            except ValueError:
                raise ConfigError(f"{key} is {request[key]!r}; expected a number") from None
    return Search(**given, descending=request.get("descending") == "1")


def method_titles(robots: Mapping[str, Robot], piece: Piece, leave_out: Mapping[str, str | None]) -> dict[str, str]:
    """Return the title of every choice of robot and method that is not stored; none without a human."""
    from phuma.retargeting import METHODS

    if piece.clip is None:
        return {}
    # The best method first.
    return {f"{r}:{m}": f"{r} by {m}" for r in robots for m in reversed(METHODS) if leave_out.get(r) != m}


def check_choice(chosen: Sequence[str], titles: Mapping[str, str]) -> None:
    """Raise a ConfigError for a choice that does not exist, and for too many."""
    from phuma.pipelines.scene_building import MOST

    for name in chosen:
        if name not in titles:
            raise ConfigError(f"no choice {name!r}; there are: {', '.join(titles)}")
    if len(chosen) > MOST:
        raise ConfigError(f"{len(chosen)} robots at once; at most {MOST}")


def choices_of(titles: Mapping[str, str], chosen: Sequence[str]) -> tuple[Choice, ...]:
    """Return all choices, with those that are chosen marked."""
    return tuple(Choice(name, title, name in chosen) for name, title in titles.items())


def _is_kept(piece: Piece) -> bool | None:
    """Return whether all measures passed; None where there are none."""
    return all(m.passed for m in piece.measures) if piece.measures else None


def _stored_title(entry: Entry) -> str:
    method = entry.row["method"]
    return f"{entry.row['robot']}{f' by {method}' if method else ''} (stored)"

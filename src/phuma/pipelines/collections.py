"""Provide the viewer with a collection of clips: a dataset, or files of any kind.

What a clip needs to be opened is imported when one is: a list of clips is shown before that. With `certify`, what was
not performed under physics yet can be, on the spot.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import lru_cache, partial
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from phuma.curation import CurateCfg
from phuma.dataset.dataset import Dataset, Entry
from phuma.dataset.review import ReviewFile, judgement
from phuma.dataset.search import PAGE_ROWS, Search, facets, search
from phuma.errors import ConfigError
from phuma.robots import Robot, is_built_in, load_robot, spec_of
from phuma.sources import ReadCfg
from phuma.viewer.formatting import typed
from phuma.viewer.payload import Choice
from phuma.viewer.session import Opened
from phuma.viewer.show import Performer

if TYPE_CHECKING:
    from phuma.core.robot_motion import RobotMotion
    from phuma.pipelines.choices import Offer, Stored
    from phuma.pipelines.scene_building import Piece

REMEMBERED = 32  # entries and performances that are kept in memory
RETARGETING, PERFORMING = "retargeting", "performing"


class DatasetCollection:
    """Provide the clips of a dataset, kept or not, or those under a condition; nothing is written."""

    opening = "reading"

    def __init__(
        self,
        root: Path,
        robots: Sequence[Robot],
        where: str | None = None,
        certify: bool = False,
        review: Path | None = None,
    ) -> None:
        self._review = None if review is None else ReviewFile(review, root)
        self._dataset = Dataset(root) if where is None else Dataset(root).part(where)
        self._facets = facets(self._dataset)  # reads the manifest, so that its faults are reported at once
        self._robots = {robot.name: robot for robot in robots}
        """The robots that clips can be put on: those of the dataset, and others that were asked for."""
        self._certify, self.comparing = certify, PERFORMING if certify else RETARGETING
        self._made = Performances()
        self._entry = lru_cache(maxsize=REMEMBERED)(self._dataset.entry)

    def about(self) -> dict[str, Any]:
        names = ("name", "label", "unit", "better")
        metrics = [{name: getattr(metric, name) for name in names} for metric in self._facets.metrics]
        return {"title": self._dataset.root.resolve().name, **asdict(self._facets), "metrics": metrics,
                "review": None if self._review is None else typed(self._review.path),
                "path": typed(self._dataset.root), "folders": folders_of(self._robots)}  # fmt: skip

    def find(self, request: Mapping[str, str]) -> dict[str, Any]:
        page = asdict(search(self._dataset, search_of(request)))
        if self._review is not None:
            for row in page["rows"]:
                row["review"] = judgement(self._review.judged, row["clip"])._asdict()
        return page

    def review(self, clip: str, verdict: str, label: str) -> dict[str, str]:
        """Write a judgement by hand; without a file for them it is an error."""
        if self._review is None:
            raise ConfigError("judgements are written to a file of yours: start `phuma view DATASET --review FILE.csv`")
        return self._review.judge(self._entry(clip, None).id, verdict, label)._asdict()

    def piece(self, clip: str, robot: str | None) -> Piece:
        from phuma.pipelines.scene_building import piece_of_entry

        return piece_of_entry(self._entry(clip, robot))

    def open(self, clip: str, robot: str | None, performers: Sequence[str] | None) -> Opened:
        from phuma.pipelines.choices import offers_of, opened
        from phuma.pipelines.scene_building import STORED, piece_of_entry

        entry = self._entry(clip, robot)
        piece = piece_of_entry(entry)
        stored = {e.row["robot"]: self._stored(e) for e in self._dataset.entries_of(clip) if e.row["file"]}
        offers = offers_of(piece, stored, self._robots, self._certify)
        first = f"{entry.row['robot']}:{STORED}"
        chosen = [first] * (first in offers) if performers is None else performers
        return opened(piece, offers, chosen, partial(self._made.get, clip))

    def _stored(self, entry: Entry) -> Stored:
        from phuma.pipelines.choices import Stored

        row = entry.row

        def robot() -> Robot:
            if row["robot"] not in self._robots:
                known = ", ".join(self._robots)
                raise ConfigError(f"{entry.id} is of {row['robot']}, which is none of {known}; see --robot")
            return self._robots[row["robot"]]

        performance = entry.performance if row["certified_file"] else None
        return Stored(robot, entry.motion, row["method"], performance, row["certified"])


class FileCollection:
    """Provide clips, recordings and robot motions, from files or as they are."""

    opening = "reading"

    def __init__(
        self,
        sources: Sequence[Path | Piece],
        robots: Sequence[Robot],
        read_cfg: ReadCfg,
        curate_cfg: CurateCfg | None = None,
        certify: bool = False,
    ) -> None:
        from phuma.pipelines.scene_building import pieces_of

        pieces = [
            piece
            for source in sources
            for piece in (pieces_of(source, read_cfg, curate_cfg, robots) if isinstance(source, Path) else [source])
        ]
        self._pieces = {f"{k}": piece for k, piece in enumerate(pieces)}
        self._robots = {robot.name: robot for robot in robots}
        self._certify, self.comparing = certify, PERFORMING if certify else RETARGETING
        self._made = Performances()

    def about(self) -> dict[str, Any]:
        kept = sum(_is_kept(piece) is True for piece in self._pieces.values())
        title = next(iter(self._pieces.values())).title if len(self._pieces) == 1 else f"{len(self._pieces)} motions"
        nothing: dict[str, Any] = dict.fromkeys(("robots", "categories", "splits", "sources", "metrics"), ())
        return {
            "title": title,
            "clips": len(self._pieces),
            "kept": kept,
            "folders": folders_of(self._robots),
            **nothing,
        }

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
        from phuma.pipelines.choices import offers_of, opened
        from phuma.pipelines.scene_building import STORED
        from phuma.retargeting import DEFAULT_METHOD

        piece = self.piece(clip, robot)
        stored = {} if piece.motion is None else {piece.motion.robot: self._stored(piece, piece.motion)}
        offers = offers_of(piece, stored, self._robots, self._certify)
        first = f"{piece.motion.robot}:{STORED}" if piece.motion else f"{next(iter(self._robots))}:{DEFAULT_METHOD}"
        return opened(piece, offers, [first] if performers is None else performers, partial(self._made.get, clip))

    def _stored(self, piece: Piece, motion: RobotMotion) -> Stored:
        from phuma.pipelines.choices import Stored

        return Stored(
            lambda: self._robots.get(motion.robot) or load_robot(motion.robot), lambda: motion,
            motion.report.get("method"), piece.performance,
        )  # fmt: skip


class Performances:
    """Make performers that take long on demand, one at a time, and remember the last of them."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._done: dict[tuple[str, str], Sequence[Performer]] = {}

    def get(self, clip: str, choice: str, offer: Offer) -> Sequence[Performer]:
        """Return the performers of a choice for a clip."""
        if not offer.computed:
            return offer.make()
        with self._lock:
            if (clip, choice) not in self._done:
                self._done[clip, choice] = offer.make()
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


def folders_of(robots: Mapping[str, Robot]) -> dict[str, str]:
    """Return what one would type to name each of the robots that are not built in."""
    return {name: typed(Path(spec_of(robot))) for name, robot in robots.items() if not is_built_in(name)}


def _is_kept(piece: Piece) -> bool | None:
    """Return whether all measures passed; None where there are none."""
    return all(m.passed for m in piece.measures) if piece.measures else None

"""The registry lists the readers, and finds the one for a file."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from phuma.core.human_motion import HumanMotion
from phuma.errors import ConfigError, PhumaError, ReadError
from phuma.formats.clip_file import is_clip
from phuma.formats.other_files import what_is
from phuma.io.names import unique_name
from phuma.io.probe import Probe
from phuma.sources import (
    amass_smplh,
    amass_smplx,
    bvh,
    film,
    freemocap,
    gem,
    gvhmr,
    motionx,
    phalp,
    phuma_human,
    prompthmr,
    tram,
    trc,
    wham,
)
from phuma.sources.reader import ReadCfg, Reader

READERS: tuple[Reader, ...] = (
    amass_smplx, amass_smplh, motionx, phuma_human, bvh, gvhmr, gem, tram, wham, prompthmr, phalp,
    freemocap, trc, film,
)  # fmt: skip
SUFFIXES = {".npz", ".npy", ".bvh", ".pkl", ".pt", ".trc", *film.SUFFIXES}
"""What a folder is searched for; a file that is named itself may be called anything."""


PROMISED = {
    **dict.fromkeys(film.SUFFIXES, "a film"), ".bvh": "BVH", ".npz": "arrays of NumPy's", ".npy": "an array of NumPy's",
    ".pt": "a file of torch's", ".pkl": "a pickle", ".fbx": "an animation (FBX)", ".glb": "an animation (glTF)",
    ".usd": "an animation (USD)", ".c3d": "markers (C3D)",
}  # fmt: skip
"""What a file's name says that it is"""


class Recording(NamedTuple):
    """A recording is a file to read, and the name it goes by in outputs."""

    path: Path
    name: str
    """The searched folder's name and the path below it, with forward slashes, without the suffix"""
    folder: Path
    """The folder that was searched; of a file that was named itself, the one it lies in"""


def recognise(probe: Probe) -> Reader:
    """Return the reader for a file's content, or raise an error that says what it seems to be and what is known."""
    if probe.path.is_dir():
        raise ReadError(probe.path, f"is {what_is(probe)}; name a file")
    if probe.kind == "empty":
        raise ReadError(probe.path, "is empty")
    if film.recognises(probe):  # of any size, as it is never held as a whole
        return film
    probe.check_size()
    for reader in READERS:
        if reader.recognises(probe):
            return reader
    if is_clip(probe):
        raise ReadError(probe.path, "is a clip that has been curated already, not a recording")
    if other := what_is(probe):
        raise ReadError(probe.path, f"is {other}")
    promised = PROMISED.get(probe.path.suffix.lower())
    if promised and probe.kind in ("text", "binary"):
        raise ReadError(
            probe.path, f"is called {promised}, but does not begin as such files do: it is damaged, or something else"
        )
    known = ", ".join(r.FORMAT for r in READERS)
    arrays = ", ".join(f"{n or 'array'} {h.shape}" for n, h in list(probe.arrays.items())[:8])
    looks = f"a {probe.kind} file" + (f" with {arrays}" if arrays else "")
    raise ReadError(probe.path, f"is {looks}: none of the layouts that are known ({known})")


def read_all(path: str | os.PathLike[str], cfg: ReadCfg | None = None) -> list[HumanMotion]:
    """Return every person in a recording, at the file's own rate; see `read`.

    >>> [motion.duration for motion in phuma.read_all("walk.bvh")]
    [2.0]
    """
    cfg = cfg or ReadCfg()
    probe = Probe(Path(path))
    motions = recognise(probe).read(probe, cfg)
    return motions if cfg.start is None and cfg.end is None else _cut(path, motions, cfg)


def _cut(path: str | os.PathLike[str], motions: Iterable[HumanMotion], cfg: ReadCfg) -> list[HumanMotion]:
    """Return what lies between start and end, seconds into the recording; some of its people may come later or go."""
    parts, problem = [], None
    for motion in motions:
        late = motion.provenance.start
        end = None if cfg.end is None else cfg.end - late
        try:
            parts.append(motion.cut(max(0.0, (cfg.start or 0.0) - late), end))
        except PhumaError as e:
            problem = problem or str(e)
    if not parts:
        raise ReadError(path, problem or "holds nobody")
    return parts


def read(path: str | os.PathLike[str], cfg: ReadCfg | None = None) -> HumanMotion:
    """Return the person in a recording of one, as a HumanMotion: z-up, metres, at the file's own rate.

    The format is recognised by content. `cfg` says whose body SMPL data is put on, the true rate where the file has
    none, and which part to take; what the reader had to decide is in `motion.provenance.notes`.

    >>> motion = phuma.read("walk.bvh")
    >>> motion.fps, motion.root_pos.shape
    (30.0, (60, 3))
    """
    motions = read_all(path, cfg)
    if len(motions) != 1:
        raise ReadError(path, f"holds {len(motions)} motions, of several people or parts; use read_all to get them")
    return motions[0]


def refuse_datasets(sources: Iterable[str | os.PathLike[str]]) -> None:
    """Raise an error where somebody names a finished dataset: nothing in it is a recording."""
    for source in map(Path, sources):
        if (source / "dataset.json").is_file():
            raise ConfigError(f"{source} is {what_is(Probe(source))}")


def find_recordings(
    sources: Iterable[str | os.PathLike[str]],
    leave_out: str | os.PathLike[str] | None = None,
    suffixes: Collection[str] = SUFFIXES,
) -> list[Recording]:
    """Find recordings: files as they are named; folders searched through, in order of path, but for `leave_out`.

    Names are unique, also where upper and lower case are the same.
    """
    found: list[Recording] = []
    taken: set[str] = set()
    for source in map(Path, sources):
        if source.is_dir():
            base = source.resolve().name or "root"
            names = [
                (f, f"{base}/{f.relative_to(source).with_suffix('').as_posix()}")
                for f in _walk(source, leave_out, suffixes)
            ]
        else:
            names = [(source, source.stem)]
        for path, name in names:
            name = "/".join(part if part.strip(".") else "_" for part in name.split("/"))
            found.append(Recording(path, unique_name(name, taken), source if source.is_dir() else source.parent))
    return found


def _walk(folder: Path, leave_out: str | os.PathLike[str] | None, suffixes: Collection[str]) -> list[Path]:
    """Return the candidates below a folder: by suffix, not hidden, not what lies beside recordings: a body's shape
    without a motion (AMASS has those), what a video model made on its way, and the film that it saw."""
    files = (f for f in _files(folder, leave_out) if f.suffix.lower() in suffixes)
    return sorted(f for f in files if f.is_file() and not _without_motion(f))


def skipped(sources: Iterable[str | os.PathLike[str]], leave_out: str | os.PathLike[str] | None = None) -> list[Path]:
    """Return the files below folders that `find_recordings` does not look at because of their names, in order of path;
    what lies beside recordings is none of them."""
    folders = [source for source in map(Path, sources) if source.is_dir()]
    return sorted(f for folder in folders for f in _files(folder, leave_out) if f.suffix.lower() not in SUFFIXES)


def _files(folder: Path, leave_out: str | os.PathLike[str] | None) -> Iterator[Path]:
    """Yield all files below a folder that are not hidden.

    Linked folders are followed, each folder once, so that a loop of links ends.
    """
    seen = {Path(leave_out).resolve()} if leave_out is not None else set()
    for root, dirs, names in os.walk(folder, followlinks=True):
        real = Path(root).resolve()
        if real in seen:
            dirs.clear()
            continue
        seen.add(real)
        dirs[:] = sorted(d for d in dirs if not d.startswith("."))
        yield from (Path(root) / n for n in names if not n.startswith("."))


def _without_motion(path: Path) -> bool:
    if tram.is_companion(path) or gvhmr.is_companion(path) or film.is_companion(path):
        return True
    if path.suffix.lower() != ".npz":
        return False
    try:
        return amass_smplx.is_shape_only(Probe(path))
    except ReadError:
        return False  # unreadable: reading it will say why

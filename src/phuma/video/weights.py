"""The weights of the networks: files out of public packages, fetched once by the user's own package client.

They belong to Google's MediaPipe (Apache-2.0). The packages are only unpacked, never installed or run; a file is used
only if it is bit for bit the one that is known here. Afterwards nothing needs a network.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from phuma.core.names import known_name
from phuma.errors import PhumaError
from phuma.io.atomic import write_atomic
from phuma.io.cache import cache_dir

PIP = (
    sys.executable, "-m", "pip", "download", "--disable-pip-version-check", "--quiet", "--retries", "2", "--no-deps",
    "--only-binary=:all:", "--implementation", "cp", "--python-version", "3.11", "--platform", "manylinux_2_28_x86_64",
    "mediapipe==0.10.21", "--dest",
)  # fmt: skip
NPM = ("npm", "pack", "--silent", "--ignore-scripts", "@mediapipe/pose@0.5.1675469404", "--pack-destination")
SECONDS = 1800  # for a package, on a slow line


@dataclass(frozen=True)
class Package:
    """A package that holds weights."""

    file: str
    """The name of the package's file; it is for another system perhaps, but nothing in it is run"""
    megabytes: int
    page: str
    command: tuple[str, ...]
    """Downloads it into the folder that is named after it"""


WHEEL = Package(
    "mediapipe-0.10.21-cp311-cp311-manylinux_2_28_x86_64.whl",
    36,
    "https://pypi.org/project/mediapipe/0.10.21/#files",
    PIP,
)
TARBALL = Package(
    "mediapipe-pose-0.5.1675469404.tgz", 41,
    "https://registry.npmjs.org/@mediapipe/pose/-/pose-0.5.1675469404.tgz", NPM,
)  # fmt: skip


@dataclass(frozen=True)
class Weights:
    """One file of weights, and where it comes from."""

    package: Package
    member: str
    size: int
    sha256: str

    @property
    def path(self) -> Path:
        """Return where the file lies, or will."""
        return folder() / Path(self.member).name


DETECTOR = Weights(
    WHEEL, "mediapipe/modules/pose_detection/pose_detection.tflite", 2_959_046,
    "9ba9dd3d42efaaba86b4ff0122b06f29c4122e756b329d89dca1e297fd8f866c",
)  # fmt: skip
LANDMARKERS = {
    "full": Weights(
        WHEEL, "mediapipe/modules/pose_landmark/pose_landmark_full.tflite", 6_440_512,
        "e9a5c5cb17f736fafd4c2ec1da3b3d331d6edbe8a0d32395855aeb2cdfd64b9f",
    ),
    "heavy": Weights(
        TARBALL, "package/pose_landmark_heavy.tflite", 27_709_200,
        "59e42d71bcd44cbdbabc419f0ff76686595fd265419566bd4009ef703ea8e1fe",
    ),
}  # fmt: skip


def folder() -> Path:
    """Return the folder of the weights in the user's cache. It need not exist."""
    return cache_dir() / "weights"


def landmarker_weights(model: str) -> Weights:
    """Return the weights of a model by its name."""
    return LANDMARKERS[known_name(model, LANDMARKERS, "model")]


def fetched(weights: Weights, say: Callable[[str], object] | None = None) -> Path:
    """Return the path of weights on this machine; what is not there is downloaded, once, and `say` is told before.

    A package that the user put into the folder is taken instead of downloading it.
    """
    if _is_whole(weights):
        return weights.path
    say = say or (lambda text: print(text, file=sys.stderr))
    try:
        folder().mkdir(parents=True, exist_ok=True)
    except OSError as e:
        raise PhumaError(f"{folder()}: cannot be made: {e.strerror}; set PHUMA_CACHE to a folder that can") from None
    package = folder() / weights.package.file
    if package.is_file():
        _take(package, weights)
        return weights.path
    inside = [w for w in (DETECTOR, *LANDMARKERS.values()) if w.package is weights.package]
    client = weights.package.command[0] if weights.package is TARBALL else "pip"
    say(
        f"the weights of the pose network are fetched by {client}, once: {weights.package.megabytes} MB, of which "
        f"{sum(w.size for w in inside) / 1e6:.0f} are kept in {folder()}"
    )
    with tempfile.TemporaryDirectory() as scratch:
        _download(weights, Path(scratch))
        for each in inside:
            _take(Path(scratch) / weights.package.file, each)
    return weights.path


def by_hand(weights: Weights) -> str:
    """Return what a user can do where downloading fails."""
    return (
        f"Download {weights.package.file} by hand from {weights.package.page} and put it, as it is, into {folder()} "
        f"(or only {weights.member} out of it); PHUMA_CACHE names another folder than {cache_dir()}"
    )


def _is_whole(weights: Weights) -> bool:
    try:
        return weights.path.stat().st_size == weights.size and _sha256(weights.path.read_bytes()) == weights.sha256
    except OSError:
        return False


def _download(weights: Weights, scratch: Path) -> None:
    program, *words = weights.package.command
    where = shutil.which(program)
    if where is None:
        raise PhumaError(f"{program} is not installed, which would fetch {weights.package.file}. {by_hand(weights)}")
    try:
        done = subprocess.run(
            [where, *words, str(scratch)], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=SECONDS,
            cwd=scratch,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise PhumaError(f"{weights.package.file} did not come within {SECONDS} s. {by_hand(weights)}") from None
    if done.returncode or not (scratch / weights.package.file).is_file():
        said = [line for line in (done.stderr + done.stdout).splitlines() if "rror" in line] or ["no reason was given"]
        raise PhumaError(f"{weights.package.file} could not be fetched ({said[-1].strip()[:200]}). {by_hand(weights)}")


def _take(package: Path, weights: Weights) -> None:
    """Write one member of a package to its place, if it is the one that is known."""
    try:
        data = _member(package, weights)
    except (OSError, KeyError, zipfile.BadZipFile, tarfile.TarError, EOFError, RuntimeError) as e:
        raise PhumaError(f"{package}: cannot be unpacked ({e}). Remove it, and: {by_hand(weights)}") from None
    if _sha256(data) != weights.sha256:
        raise PhumaError(f"{package}: {weights.member} is not the file that is known by its hash. {by_hand(weights)}")
    write_atomic(weights.path, lambda f: f.write(data))


def _member(package: Path, weights: Weights) -> bytes:
    """Return the bytes of one member, and not more than it should have."""
    if package.suffix == ".whl":
        with zipfile.ZipFile(package) as archive, archive.open(weights.member) as f:
            return f.read(weights.size + 1)
    with tarfile.open(package, "r:gz") as tar:
        file = tar.extractfile(weights.member)
        if file is None:
            raise KeyError(f"{weights.member} is no file")
        return file.read(weights.size + 1)


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def main(words: list[str]) -> int:
    """Fetch the detector and the models that are named, by default the one of every day."""
    try:
        for weights in (DETECTOR, *map(landmarker_weights, words or ["full"])):
            print(fetched(weights))
    except PhumaError as e:
        print(e, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

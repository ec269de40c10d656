"""The package as a library: every public name says what it does by an example, and the examples are run here."""

from __future__ import annotations

import doctest
import importlib
import os
from pathlib import Path

import pytest

pytest.importorskip("mujoco")
pytest.importorskip("duckdb")

import phuma
from phuma.sources import bvh
from phuma.synth import generate

NAMES = [name for name in phuma.__all__ if not name.startswith("__")]
FIRST = ("build",)
"""Examples whose result others use"""
TRAINED = ("train", "evaluate")
FILMED = ("from_video", "video")
LIBRARIES = {"Dataset": ("pandas", "torch"), "plot": ("matplotlib",), "render": ("imageio",), "view": ("viser",)}


def example(name: str) -> str:
    """The docstring of a public name; that of the folder `video` is the function's that it calls."""
    return (phuma.from_video if name == "video" else getattr(phuma, name)).__doc__ or ""


@pytest.fixture(scope="module")
def workplace(tmp_path_factory) -> Path:
    """A folder with what the examples speak of: walk.bvh, walk.npz and recordings."""
    folder = tmp_path_factory.mktemp("python")
    walk = generate("walk", 2.0).motion
    (folder / "recordings").mkdir()
    for path in ("walk.bvh", "recordings/walk.bvh"):
        bvh.write(folder / path, walk)
    bvh.write(folder / "recordings" / "squat.bvh", generate("squat", 2.0).motion)
    before = Path.cwd()
    os.chdir(folder)
    try:
        phuma.save("walk.npz", phuma.retarget("walk.bvh", robot="g1"))
        yield folder
    finally:
        os.chdir(before)


def run(name: str) -> None:
    found = doctest.DocTestParser().get_doctest(example(name), {"phuma": phuma}, name, None, None)
    said: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    runner.run(found, out=said.append)
    assert runner.failures == 0, "".join(said)


def test_every_public_name_has_an_example():
    assert [name for name in NAMES if ">>> " not in example(name)] == []


def test_examples_say_what_happens(workplace, capsys):
    """One after another in one folder, as a reader would type them."""
    for name in (*FIRST, *(n for n in NAMES if n not in (*FIRST, *TRAINED, *FILMED))):
        for library in LIBRARIES.get(name, ()):
            importlib.import_module(library)
        run(name)


@pytest.mark.slow
def test_examples_of_learning_say_what_happens(workplace, monkeypatch, capsys):
    pytest.importorskip("torch")
    from tests.cli.tracking_dataset import PRESETS, TINY

    monkeypatch.setitem(PRESETS, "tiny", TINY)
    if not Path("g1").exists():
        run("build")
    for name in TRAINED:
        run(name)


def test_the_folder_of_video_is_the_command_too():
    """Whatever of it was imported before."""
    importlib.import_module("phuma.video.film")
    assert callable(phuma.video)
    with pytest.raises(phuma.PhumaError, match="no film"):
        phuma.video("no film.mp4")


def test_a_folder_is_for_the_function_that_takes_all_of_it(workplace):
    with pytest.raises(phuma.PhumaError, match=r"recordings: is a folder; phuma\.retarget_all takes"):
        phuma.retarget("recordings")


def test_a_clip_of_a_dataset_shows_itself_in_a_line(workplace):
    if not Path("g1").exists():
        run("build")
    entry = phuma.open_dataset("g1")[0]
    assert repr(entry) == f"Entry({entry.id!r}, g1, kept)"

"""Every command on datasets works in a folder of any name, and takes no other folder for it."""

import json
import os
import shutil
from pathlib import Path

import pytest

from phuma.cli.main import main
from phuma.dataset.builder import OURS
from phuma.pipelines.build_dataset import BuildCfg, build_dataset
from phuma.pipelines.evaluate_policy import dataset_library
from phuma.pipelines.open_collection import collection_of
from phuma.robots import load_robot
from phuma.sources import ReadCfg, amass_smplx
from phuma.synth import generate
from tests.dataset.tiny import here, least

pytestmark = pytest.mark.slow

FOLDERS = {
    "split=test/ds": "split=train/ds",
    "kept=false": "kept=true",
    "data[1]": "data1",
    "da*ta": "dabta",
    "q?x": "qax",
    "it's": "its",
    "{a,b}": "a",
    "two\nlines": "two lines",
    "50%": "50",
    "%s %d": "x",
    "back\\slash": "backslash",
    '"quoted"; --': "quoted",
    "-é漢": "e",
}
"""A folder and one that it could be taken for"""


def say(capsys, *words: object) -> str:
    """The output of a command that went well."""
    assert main([str(word) for word in words]) == 0, capsys.readouterr().err
    return capsys.readouterr().out


@pytest.mark.parametrize(("name", "neighbour"), FOLDERS.items())
def test_every_command_works_in_a_folder_of_any_name(capsys, tmp_path_factory, tmp_path, name, neighbour):
    base, out = tmp_path / "of" / name, tmp_path / "made" / name
    amass_smplx.write(made(base / "sources") / "stand.npz", generate("stand", 1.5, 3).motion)
    shutil.copytree(least(tmp_path_factory.getbasetemp()), tmp_path / "of" / neighbour / "dataset")
    root = base / "dataset"
    build_dataset([base / "sources"], root, BuildCfg(("g1",), method="ik"), here)
    build_dataset([base / "sources"], root, BuildCfg(("g1",), method="ik"), here)

    (row,) = json.loads(say(capsys, "query", root, "SELECT recording, split, kept FROM manifest", "--json"))["rows"]
    assert row == ["sources/stand.npz", "train", True], "of this folder, and by the file's own values"
    assert json.loads(say(capsys, "status", root, "--json"))["clips"] == 1
    assert "no fault" in say(capsys, "verify", root)
    made(out)
    assert "1 clip of" in say(capsys, "select", root, "--where", "robot = 'g1'", "--out", out / "part")
    assert "no fault" in say(capsys, "verify", out / "part")
    say(capsys, "report", root)
    assert "stand" in (root / "report.html").read_text()
    say(capsys, "export", root, "--format", "csv", "--out", out / "csv")
    assert len(list((out / "csv").rglob("*.csv"))) == 1
    say(capsys, "import", out / "csv", "--robot", "g1", "--out", out / "part", "--jobs", "1")
    assert "no fault" in say(capsys, "verify", out / "part")

    assert len(dataset_library(root, load_robot("g1")).names) == 1
    collection = collection_of([root], [], ReadCfg())
    (found,) = collection.find({"text": "stand"})["rows"]
    assert collection.open(found["clip"], "g1", None).show
    assert not {*os.listdir(root)} - {*OURS, "dataset.json", "manifest.parquet", "report.html", ".lock"}


def made(folder: Path) -> Path:
    folder.mkdir(parents=True)
    return folder

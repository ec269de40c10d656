"""What `phuma study` answers to wrong use."""

import pytest

from phuma import __version__
from phuma.cli.main import main
from phuma.studies.frame.folder import StudyFolder


@pytest.fixture
def recordings(tmp_path):
    """Files that look like recordings; nothing here comes as far as to read them."""
    folder = tmp_path / "data"
    folder.mkdir()
    for n in range(6):
        (folder / f"{n}.bvh").write_text(f"HIERARCHY {n}")
    return folder


def answer(capsys, *words) -> tuple[int, str]:
    code = main(["study", *map(str, words)])
    return code, capsys.readouterr().err


def test_list_names_all(capsys):
    assert main(["study", "--list"]) == 0
    said = capsys.readouterr().out
    for name in ["curation", "retargeting", "datasets", "future", "transfer", "source", "path", "trackers"]:
        assert f"{name} " in said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["retargetting", "--data", "DATA", "--out", "OUT"], "did you mean 'retargeting'?"),
        (["curation", "--data", "EMPTY", "--out", "OUT"], "0 recordings found"),
        (["curation", "--data", "NOWHERE", "--out", "OUT"], "does not exist"),
        (
            ["curation", "--data", "DATA/0.bvh", "DATA/1.bvh", "--out", "OUT"],
            "2 recordings found; a study holds one in",
        ),
        (["curation", "--out", "OUT"], "--data is missing"),
        (["curation", "--data", "DATA"], "--out is missing"),
        (["--data", "DATA", "--out", "OUT"], "phuma study --list"),
        (["curation", "--data", "DATA", "--out", "OUT", "--budget", "-1"], "CPU minutes above zero"),
        (["trackers", "--data", "DATA", "--out", "OUT", "--budget", "1"], "too small"),
        (["curation", "--data", "DATA", "--out", "OUT", "--jobs", "0"], "at least 1"),
        (["curation", "--data", "DATA", "--out", "OUT", "--robot", "g2"], "g1"),
        (["curation", "--data", "DATASET", "--out", "OUT"], "dataset"),
        (["curation", "--data", "DATA", "--out", "DATASET"], "something else than a study"),
    ],
)
def test_wrong_use_is_answered(words, said, recordings, tmp_path, capsys):
    (tmp_path / "empty").mkdir()
    (tmp_path / "built").mkdir()
    (tmp_path / "built" / "dataset.json").write_text("{}")
    names = {"DATASET": tmp_path / "built", "DATA": recordings, "EMPTY": tmp_path / "empty",
             "NOWHERE": tmp_path / "no", "OUT": tmp_path / "out"}  # fmt: skip
    for name, path in names.items():
        words = [str(path) if word == name else word.replace(f"{name}/", f"{path}/") for word in words]
    code, text = answer(capsys, *words)
    assert code == 2
    assert said in text
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ({"study": "curation"}, "a study of study"),
        ({"data": "x"}, "data 'x'"),
        ({"robot": "h1_2"}, "robot"),
        ({"version": "0.0.1"}, "version"),
    ],
)
def test_one_folder_holds_one_study_of_one_data(other, said, recordings, tmp_path, capsys):
    from phuma.studies.frame.data import find_sources, split

    about = {"study": "retargeting", "robot": "g1", "data": split(find_sources([recordings])).digest}
    about["version"] = __version__
    StudyFolder(tmp_path / "out").begin(about | other)
    code, text = answer(capsys, "retargeting", "--data", recordings, "--out", tmp_path / "out", "--jobs", 1)
    assert code == 2
    assert said in text
    assert "choose another --out" in text


def test_recordings_that_cannot_be_read_are_said(recordings, tmp_path, capsys):
    """Six files that are no recordings: nothing is held out that could be judged on."""
    code, text = answer(capsys, "retargeting", "--data", recordings, "--out", tmp_path / "out", "--jobs", 1)
    assert code == 1
    assert "curation keeps no clip of the 2 recordings that are held out" in text

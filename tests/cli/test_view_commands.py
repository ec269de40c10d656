"""`phuma view`, `share` and `render` as a user runs them."""

import re
import shutil
import socket
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("duckdb")

from phuma.cli.main import main
from phuma.errors import ConfigError
from phuma.formats.robot_motion_file import save_robot_motion
from phuma.pipelines.open_collection import collection_of
from phuma.robots import load_robot
from phuma.sources import ReadCfg, amass_smplx
from phuma.synth import generate
from tests.cli.small_dataset import run
from tests.dataset.tiny import copied, edit_description
from tests.pipelines.test_scene_building import TwoPeople, registry
from tests.report_dataset import built, rows_on_disk
from tests.viewer.test_film import can_draw, waving
from tests.waiting import PATIENCE

iio = pytest.importorskip("imageio.v3")

pytestmark = pytest.mark.slow
pytest.importorskip("viser")
drawing = pytest.mark.skipif(not can_draw(), reason="no EGL or OSMesa on this machine")
SIZE = (160, 120)


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    return built(tmp_path_factory.getbasetemp())


@pytest.fixture(scope="module")
def stored(dataset):
    """A short clip that is stored for the G1: its row."""
    return min((r for r in rows_on_disk(dataset) if r["kept"] and r["robot"] == "g1"), key=lambda r: r["frames"])


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    path = tmp_path_factory.mktemp("recording") / "reach.npz"
    amass_smplx.write(path, generate("reach", 2.0, 0).motion)
    return path


@pytest.fixture(scope="module")
def wave(tmp_path_factory):
    path = tmp_path_factory.mktemp("wave") / "wave.npz"
    save_robot_motion(path, waving())
    return path


def robots_in(picture):
    """How many figures stand beside each other: dark columns, parted by wide gaps."""
    height, width = picture.shape[:2]
    dark = np.flatnonzero((picture[height // 4 : height * 5 // 8, :, :3].max(axis=-1) < 110).any(axis=0))
    return 1 + int((np.diff(dark) > width / 10).sum()) if len(dark) else 0


def render(capsys, *args):
    return run(capsys, "render", *args, "--size", "x".join(map(str, SIZE)), "--camera", "front")


# Pictures and films.


@drawing
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # imageio leaves ffmpeg's pipe open
def test_a_recording_by_two_methods_is_a_film_of_two_robots(capsys, tmp_path, recording):
    out = tmp_path / "two.mp4"
    code, said, _ = render(capsys, recording, "--end", "0.5", "--compare", "physink", "ik", "--out", out)
    assert (code, said) == (0, f"g1 by physink, g1 by ik in {out}\n")
    film = iio.imread(out)
    assert film.shape == (15, SIZE[1], SIZE[0], 3)
    assert iio.immeta(out)["fps"] == 30.0
    assert {robots_in(film[0]), robots_in(film[-1])} == {2}
    assert list(tmp_path.iterdir()) == [out]


@drawing
def test_a_datasets_clip_by_two_methods_is_a_film_of_its_length(capsys, tmp_path, dataset, stored):
    out = tmp_path / "two.gif"
    code, said, _ = render(capsys, dataset / stored["file"], "--compare", "physink,ik", "--out", out)
    assert (code, said) == (0, f"g1 by physink, g1 by ik in {out}\n")
    film = iio.imread(out)
    assert film.shape[:3] == (stored["frames"], SIZE[1], SIZE[0])
    assert robots_in(film[0]) == 2
    code, said, _ = render(capsys, dataset / stored["file"], "--out", tmp_path / "one.png")
    assert (code, said) == (0, f"g1 by physink+dynamics in {tmp_path / 'one.png'}\n")
    assert robots_in(iio.imread(tmp_path / "one.png")[: SIZE[1], : SIZE[0]]) == 1


@drawing
def test_a_clip_that_is_stored_for_one_robot_is_put_on_another(capsys, tmp_path, dataset, stored):
    def pictures(*options):
        out = tmp_path / "x.png"
        code, said, _ = render(capsys, dataset / stored["file"], *options, "--out", out)
        assert code == 0
        return said.removesuffix(f" in {out}\n"), iio.imread(out)

    own, g1 = pictures("--robot", "g1")
    other, h1_2 = pictures("--robot", "h1_2")
    both, two = pictures("--robot", "h1_2", "--robot", "g1")
    assert (own, other) == ("g1 by physink+dynamics", "h1_2 by physink+dynamics")
    assert both == f"{other}, {own}"
    assert (g1 != h1_2).any()
    assert robots_in(two[: SIZE[1], : SIZE[0]]) == 2


@drawing
def test_people_and_files_stand_beside_each_other(capsys, tmp_path, wave, monkeypatch):
    monkeypatch.setattr(registry, "READERS", (*registry.READERS, TwoPeople))
    (tmp_path / "dance.two").write_text("TWO")
    code, said, _ = render(capsys, wave, tmp_path / "dance.two", "--out", tmp_path / "x.png")
    assert (code, said.count("g1 by ")) == (0, 2)
    assert robots_in(iio.imread(tmp_path / "x.png")[: SIZE[1], : SIZE[0]]) == 3


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--compare", "magic"], "unknown method 'magic'; there are: ik, gmr"),
        (["--compare", ","], "no method given; there are: ik, gmr"),
        (["--robot", "atlas"], "atlas"),
        (["--size", "9x9"], "--size '9x9'; expected like 640x480"),
        (["--robot", "h1_2"], "wave.npz holds the motion of a g1 alone; .* give the recording or its clip"),
        (["--compare", "ik"], "wave.npz holds the motion of a g1 alone"),
    ],
)
@pytest.mark.parametrize("command", ["render", "share"])
def test_wrong_options_end_with_two_and_write_nothing(capsys, tmp_path, wave, command, options, says):
    if command == "share" and options[0] == "--size":
        return
    out = tmp_path / ("x.png" if command == "render" else "x.html")
    code, _, err = run(capsys, command, wave, "--out", out, *options)
    assert code == 2
    assert re.search(rf"phuma {command}: .*{says}", err), err
    assert list(tmp_path.iterdir()) == []


def test_more_than_can_be_seen_is_refused_before_anybody_works(capsys, tmp_path, wave):
    code, _, err = run(capsys, "render", *[wave] * 7, "--out", tmp_path / "x.png")
    assert code == 2
    assert "7 motions in one picture; at most 6" in err


# One page to pass on.


def test_a_clip_of_a_dataset_becomes_a_page(capsys, tmp_path, dataset, stored):
    out = tmp_path / "page.html"
    code, said, _ = run(capsys, "share", dataset / stored["file"], "--out", out)
    assert code == 0
    assert re.fullmatch(rf"{out} \(\d\.\d MB\)\n", said)
    assert list(tmp_path.iterdir()) == [out]
    page = out.read_text(encoding="utf-8")
    assert page.lower().startswith("<!doctype html>")
    assert "__VISER_EMBED_DATA__" in page
    for text in (stored["recording"], stored["clip"], "g1 by physink+dynamics", "kept"):
        assert f">{text}<" in page


def test_a_recording_is_put_on_robots_for_a_page(capsys, tmp_path, recording):
    out = tmp_path / "page.HTML"
    options = ["--robot", "h1_2", "--compare", "ik", "--layout", "overlay", "--end", "0.3"]
    code, _, _ = run(capsys, "share", recording, "--out", out, *options)
    assert code == 0
    page = out.read_text(encoding="utf-8")
    assert ">h1_2 by ik<" in page
    assert ">0.0 to 0.3 s<" in page


def test_a_page_is_of_one_person_and_ends_in_html(capsys, tmp_path, wave, monkeypatch):
    code, _, err = run(capsys, "share", wave, "--out", tmp_path / "page.pdf")
    assert code == 2
    assert "page.pdf: expected a name that ends in .html" in err
    code, _, err = run(capsys, "share", wave, "--out", tmp_path / "page.html", "--layout", "stack")
    assert code == 2
    assert "no layout 'stack'; there are: overlay, side" in err
    code, _, err = run(capsys, "share", tmp_path / "missing.bvh", "--out", tmp_path / "page.html")
    assert code == 1
    assert "missing.bvh: cannot be opened: No such file" in err
    assert list(tmp_path.iterdir()) == []
    monkeypatch.setattr(registry, "READERS", (*registry.READERS, TwoPeople))
    (tmp_path / "dance.two").write_text("TWO")
    code, _, err = run(capsys, "share", tmp_path / "dance.two", "--out", tmp_path / "page.html")
    assert code == 2
    assert "dance.two holds 2 people" in err


# The viewer; what it serves is tried in tests/view.


@pytest.mark.parametrize("port", ["-1", "65536"])
def test_a_port_that_is_none_is_refused(capsys, wave, port):
    code, _, err = run(capsys, "view", wave, "--port", port, "--no-browser")
    assert (code, err) == (2, f"phuma view: --port {port}; expected 0 to 65535\n")


def test_a_port_that_is_taken_is_named_with_what_helps(capsys, wave):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        code, out, err = run(capsys, "view", wave, "--port", port, "--no-browser")
    assert (code, out) == (1, "")
    assert f"cannot listen on 127.0.0.1:{port}" in err
    assert "--port 0 finds a free port" in err


def test_a_folder_that_is_no_dataset_is_told_how_to_become_one(capsys, tmp_path):
    code, _, err = run(capsys, "view", tmp_path, "--no-browser")
    assert code == 2
    assert f"{tmp_path} is no dataset: build one by `phuma build {tmp_path} --out DATASET`" in err


def test_one_dataset_at_a_time(capsys, dataset, wave):
    for sources in ([dataset, dataset], [dataset, wave], [wave, dataset]):
        code, _, err = run(capsys, "view", *sources, "--no-browser")
        assert (code, err) == (2, "phuma view: one dataset at a time, or any number of files\n")


def test_a_dataset_that_is_not_finished_says_what_to_do(capsys, dataset, tmp_path):
    copy = copied(dataset, tmp_path / "copy")
    edit_description(copy, finished=False)
    code, _, err = run(capsys, "view", copy, "--no-browser")
    assert code == 1
    assert "is not finished: run the same `phuma build` again" in err


def test_a_dataset_whose_manifest_is_damaged_is_named_at_once(capsys, dataset, tmp_path):
    copy = copied(dataset, tmp_path / "copy")
    (copy / "manifest.parquet").write_bytes(b"?")
    code, out, err = run(capsys, "view", copy, "--no-browser")
    assert (code, out) == (1, "")
    assert "manifest.parquet: is damaged" in err


def test_a_file_that_is_missing_or_holds_nothing_is_named(capsys, tmp_path, wave):
    (tmp_path / "notes.txt").write_text("hello")
    for name, says in (("missing.bvh", "cannot be opened: No such file"), ("notes.txt", "none of the layouts")):
        code, _, err = run(capsys, "view", wave, tmp_path / name, "--no-browser")
        assert code == 1
        assert re.search(rf"{name}: .*{says}", err), err


def test_a_dataset_of_a_robot_that_is_not_built_in_is_shown_with_its_folder(dataset, stored, tmp_path):
    folder = shutil.copytree(load_robot("g1").folder, tmp_path / "mine")
    copy = copied(dataset, tmp_path / "copy")
    edit_description(copy, robots=["g1", "h1_2", "mine"])
    with pytest.raises(ConfigError, match="is a dataset of mine, which is not built in: give its folder by --robot"):
        collection_of([copy], [], ReadCfg())
    choices = collection_of([copy], [str(folder)], ReadCfg()).open(stored["clip"], "g1", None).choices
    assert {c.id.split(":")[0] for c in choices} == {"g1", "h1_2", "mine"}


def test_a_robot_that_was_asked_for_can_be_chosen_beside_the_datasets_own(dataset, stored, tmp_path):
    folder = shutil.copytree(load_robot("g1").folder, tmp_path / "mine")
    choices = collection_of([dataset], [str(folder), "h1_2"], ReadCfg()).open(stored["clip"], "g1", None).choices
    assert list(dict.fromkeys(c.id.split(":")[0] for c in choices)) == ["g1", "h1_2", "mine"]


# What is not installed.


@pytest.mark.parametrize(
    ("module", "command", "extra"),
    [
        ("viser", "share", "view"),
        ("viser", "view", "view"),
        ("websockets", "view", "view"),
        ("imageio", "render", "render"),
        ("duckdb", "view DATASET", "dataset"),
    ],
)
def test_what_is_not_installed_is_named_with_what_installs_it(tmp_path, wave, dataset, module, command, extra):
    command, _, source = command.partition(" ")
    words = [command, str(dataset if source else wave)]
    words += ["--no-browser", "--port", "0"] if command == "view" else ["--out", str(tmp_path / f"x.{command}")]
    words = [w.replace(".share", ".html").replace(".render", ".png") for w in words]
    code = f"import sys; sys.modules[{module!r}] = None\nfrom phuma.cli.main import main; sys.exit(main({words!r}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=PATIENCE)
    assert done.returncode == 2, done
    assert f"needs {module}, which is not installed. Run: pip install 'phuma[{extra}]'" in done.stderr
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_help_names_what_can_be_given(capsys):
    for command in ("view", "share", "render"):
        with pytest.raises(SystemExit):
            main([command, "--help"])
        assert "--robot" in capsys.readouterr().out

"""A stranger's model neither hangs, nor takes all memory, nor reads what lies elsewhere; the error names the file."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mujoco")

from phuma.errors import ReadError
from phuma.robots import load_robot, untrusted
from phuma.robots.onboarding.model_file import read_model_file
from phuma.runtime.process_pool import WorkerLimits
from tests.robots.sample_robots import MODELS
from tests.robots.test_onboarding import box_stl
from tests.waiting import PATIENCE, wait_for

pytestmark = pytest.mark.slow

SOURCE = load_robot("g1").folder
BOX = '<geom type="box" size="1 1 1"/>'
HOSTILE = {
    "replicated": f'<worldbody><replicate count="100000000" offset="0 0 1"><body>{BOX}</body></replicate></worldbody>',
    "replicated twice": '<worldbody><replicate count="99"><replicate count="99"><body/></replicate></replicate>'
    "</worldbody>",
    "without end": f'<worldbody><replicate count="{"9" * 5000}"><body/></replicate></worldbody>',
    "cloth": '<worldbody><flexcomp name="f" type="grid" count="9000 9000 1"/></worldbody>',
    "height field": '<asset><hfield name="h" nrow="100000" ncol="100000" size="1 1 1 1"/></asset>'
    '<worldbody><geom type="hfield" hfield="h"/></worldbody>',
    "arena": f'<size memory="900G"/><worldbody><body name="a"><freejoint/>{BOX}</body></worldbody>',
    "texture": '<asset><texture name="t" type="2d" builtin="flat" width="1000000" height="1000000"/></asset>',
}
linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits memory")


@pytest.fixture
def folder(tmp_path) -> Path:
    return Path(shutil.copytree(SOURCE, tmp_path / "mine"))


def put(folder: Path, part: str) -> Path:
    """Put elements at the end of the model."""
    path = folder / "model.xml"
    path.write_text(path.read_text().replace("</mujoco>", f"{part}</mujoco>"))
    return path


@linux
@pytest.mark.parametrize("part", HOSTILE)
def test_what_asks_for_any_amount_is_refused_in_a_folder(folder, part):
    put(folder, HOSTILE[part])
    with pytest.raises(ReadError, match=r"model\.xml: "):
        load_robot(folder)


@linux
@pytest.mark.parametrize("part", ["replicated", "height field"])
def test_and_where_a_folder_is_made_of_it(folder, part):
    with pytest.raises(ReadError, match=r"model\.xml: "):
        read_model_file(put(folder, HOSTILE[part]))


@pytest.mark.parametrize("part", ["replicated", "replicated twice", "without end", "cloth"])
def test_copies_are_counted_before_any_is_made(folder, monkeypatch, part):
    monkeypatch.setattr(untrusted, "LimitedProcess", None)
    path = put(folder, HOSTILE[part])
    for read in (lambda: load_robot(folder), lambda: read_model_file(path)):
        with pytest.raises(ReadError, match=r"model\.xml: asks for [\d,]+ elements by copying; at most 5,000 are made"):
            read()


def test_time_is_limited(folder, monkeypatch):
    monkeypatch.setattr(untrusted, "LIMITS", WorkerLimits(seconds=1e-6))
    put(folder, "<statistic/>")
    with pytest.raises(ReadError, match=r"model\.xml: MuJoCo cannot load it: it took longer than 1e-06 s"):
        load_robot(folder)


def test_more_bodies_than_a_robot_has_are_refused(folder):
    bodies = "".join(f'<body name="b{k}" pos="{k} 0 9"/>' for k in range(untrusted.MOST_BODIES))
    path = put(folder, f"<worldbody>{bodies}</worldbody>")
    for read in (lambda: load_robot(folder), lambda: read_model_file(path)):
        with pytest.raises(ReadError, match="has 1,031 bodies; a robot has at most 1,000"):
            read()


NAMING = {
    "include": '<include file="{}"/>',
    "mesh": '<asset><mesh name="m" file="{}"/></asset>',
    "hfield": '<asset><hfield name="h" file="{}" size="1 1 1 1"/></asset>',
    "texture": '<asset><texture name="t" type="2d" file="{}"/></asset>',
}


@pytest.mark.parametrize("kind", NAMING)
@pytest.mark.parametrize("name", ["../secret.stl", "/etc/passwd", "link.stl"])
def test_a_folder_s_model_names_no_file_outside_of_it(folder, kind, name):
    (folder.parent / "secret.stl").write_bytes(box_stl((1, 1, 1), (0, 0, 0)))
    (folder / "link.stl").symlink_to(folder.parent / "secret.stl")
    put(folder, NAMING[kind].format(name))
    with pytest.raises(ReadError, match=r"model\.xml: names /.*, which is outside /.*mine and is not read"):
        load_robot(folder)


def test_what_an_included_file_names_counts_too(folder):
    (folder / "more.xml").write_text('<mujoco><include file="../other.xml"/></mujoco>')
    put(folder, '<include file="more.xml"/>')
    with pytest.raises(ReadError, match=r"more\.xml: names /.*/other\.xml, which is outside"):
        load_robot(folder)


def test_onboarding_reads_outside_only_where_it_is_allowed(tmp_path):
    shutil.copytree(MODELS / "scout", tmp_path / "scout")
    (tmp_path / "scout/legs.xml").rename(tmp_path / "legs.xml")
    model = tmp_path / "scout/scout.xml"
    model.write_text(model.read_text().replace('"legs.xml"', '"../legs.xml"'))
    with pytest.raises(ReadError, match=r"names /.*/legs\.xml, which is outside /.*; if it is meant, give --allow-out"):
        read_model_file(model)
    assert read_model_file(model, allow_outside=True).model.nbody > 1


def test_so_it_is_of_meshes_and_a_package_is_the_model_s_own(tmp_path):
    asset = '<asset><mesh name="m" file="../meshes/m.stl"/></asset>'
    for name in ("urdf", "meshes"):
        (tmp_path / "own" / name).mkdir(parents=True)
    (tmp_path / "own/meshes/m.stl").write_bytes(box_stl((1, 1, 1), (0, 0, 0)))
    model = tmp_path / "own/urdf/model.xml"
    model.write_text(f'<mujoco>{asset}<worldbody><geom type="mesh" mesh="m"/></worldbody></mujoco>')
    with pytest.raises(ReadError, match=r"names /.*/meshes/m\.stl, which is outside /.*/urdf.*--allow-outside"):
        read_model_file(model)
    (tmp_path / "own/package.xml").write_text("<package/>")
    assert read_model_file(model).model.nmesh == 1


@pytest.mark.parametrize("kind", NAMING)
def test_no_pipe_is_waited_for(folder, kind):
    os.mkfifo(folder / "pipe.stl")
    put(folder, NAMING[kind].format("pipe.stl"))
    with pytest.raises(ReadError, match=r"names /.*pipe\.stl, which is a folder or a device"):
        load_robot(folder)


def test_a_model_that_is_a_pipe_or_has_entities_is_refused(folder):
    bomb = '<!DOCTYPE m [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><mujoco model="&b;"/>'
    (folder / "model.xml").write_text(bomb)
    with pytest.raises(ReadError, match="has a DOCTYPE"):
        load_robot(folder)
    (folder / "model.xml").unlink()
    os.mkfifo(folder / "model.xml")
    with pytest.raises(ReadError, match=r"model\.xml: does not exist|is a folder or a device"):
        load_robot(folder)
    with pytest.raises(ReadError, match="is a folder or a device"):
        read_model_file(folder / "model.xml")


def test_the_built_in_robots_and_what_onboarding_writes_need_no_process(folder, monkeypatch):
    def refuse(*_: object) -> None:
        raise AssertionError("a process was started")

    monkeypatch.setattr(untrusted, "LimitedProcess", refuse)
    for robot in ("g1", "h1_2", folder):
        assert load_robot(robot).n_joints
    put(folder, "<statistic/>")
    with pytest.raises(AssertionError, match="a process was started"):
        load_robot(folder)


@linux
def test_a_signal_ends_the_command_though_mujoco_is_at_work(folder):
    """MuJoCo's part is taken by what is as deaf as it is, and never ends."""
    put(folder, "<statistic/>")
    code = (
        "import sys\n"
        "from phuma.robots import untrusted\n"
        "from phuma.runtime import limited\n"
        "class Told(limited.LimitedProcess):\n"
        "    def __call__(self, *args):\n"
        "        print(self.process.pid, flush=True)\n"
        "        return super().__call__(*args)\n"
        "untrusted.LimitedProcess = Told\n"
        "from tests.runtime.test_limited import deaf\n"
        "untrusted._compile = deaf\n"
        "from phuma.cli.main import main\n"
        "sys.exit(main(sys.argv[1:]))\n"
    )
    words = [sys.executable, "-c", code, "robot", "check", str(folder)]
    command = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert command.stdout is not None
    pid = int(command.stdout.readline())
    command.send_signal(signal.SIGTERM)
    _, said = command.communicate(timeout=PATIENCE)
    assert (command.returncode, said.split(";")[0]) == (130, "Stopped")
    wait_for(lambda: not Path(f"/proc/{pid}").exists())

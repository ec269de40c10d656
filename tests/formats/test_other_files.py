"""Files that are no recordings: they are named, with the next command."""

from __future__ import annotations

import io
import json
import pickle
import shlex
import tarfile
import zipfile
from pathlib import Path

import numpy as np
import pytest

from phuma.cli.main import main
from phuma.errors import ConfigError, ReadError
from phuma.sources import read_all
from phuma.sources.registry import refuse_datasets


def zipped(*names: str) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name in names:
            archive.writestr(name, b"x")
    return stream.getvalue()


def tarred() -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("a.bvh"))
    return stream.getvalue()


ROBOT = {"fps": 30.0, "root_pos": np.zeros((3, 3)), "root_rot": np.zeros((3, 4)), "dof_pos": np.zeros((3, 29))}
FILES: dict[str, tuple[bytes, str]] = {
    "a.m1v": (b"\0\0\x01\xb3" + b"\0" * 64, r"a film \(MPEG .*; convert it: ffmpeg -i \S*a\.m1v film\.mp4"),
    "a.m4a": (b"\0\0\0 ftypM4A " + b"\0" * 64, "a sound, in which nobody moves"),
    "a.wav": (b"RIFF\0\0\0\0WAVEfmt " + b"\0" * 64, "a sound"),
    "a.mp3": (b"ID3\x04" + b"\0" * 64, "a sound"),
    "a.png": (b"\x89PNG\r\n\x1a\n" + b"\0" * 64, "a picture, in which nobody moves"),
    "a.jpg": (b"\xff\xd8\xff\xe0" + b"\0" * 64, "a picture"),
    "a.fbx": (b"Kaydara FBX Binary  \0\x1a\0" + b"\0" * 64, r"an animation \(FBX\).*scene\.fbx.*export_anim\.bvh"),
    "ascii.fbx": (b"; FBX 7.4.0 project file\n", r"an animation \(FBX\)"),
    "a.glb": (b"glTF\x02\0\0\0" + b"\0" * 64, r"an animation \(glTF\).*import_scene\.gltf"),
    "a.gltf": (json.dumps({"asset": {"version": "2.0"}}).encode(), r"an animation \(glTF\)"),
    "a.usdc": (b"PXR-USDC" + b"\0" * 64, r"an animation \(USD\).*usd_import"),
    "a.usda": (b"#usda 1.0\n", r"an animation \(USD\)"),
    "a.usdz": (zipped("a.usdc"), r"an animation \(USD\)"),
    "a.c3d": (b"\x02\x50" + b"\0" * 1022, r"markers \(C3D\).*MoSh\+\+"),
    "a.zip": (zipped("a.bvh"), r"an archive \(zip\); unpack it"),
    "a.tar": (tarred(), r"an archive \(tar\)"),
    "a.gz": (b"\x1f\x8b\x08" + b"\0" * 64, r"an archive \(gzip\)"),
    "a.csv": (b",".join([b"0.5"] * 36) + b"\n", r"a robot's motion \(CSV\), .*; run: phuma import \S*a\.csv"),
    "named.csv": (b"x,y\n" + b",".join([b"0.5"] * 36) + b"\n", r"a robot's motion \(CSV\)"),
    "gmr.pkl": (pickle.dumps(ROBOT), r"a robot's motion \(pickle\).*phuma import"),
    "a.onnx": (b"\x08\x08\x12\x07pytorch" + b"\0" * 64, r"a policy \(ONNX\); run: phuma inspect"),
    "robot.xml": (b"<mujoco model='a'/>", "a robot's model; run: phuma robot init"),
    "a.json": (b'{"a": 1}', "a JSON file; run: phuma inspect"),
    "body.pkl": (
        pickle.dumps({"v_template": np.zeros((4, 3)), "J_regressor": np.zeros((2, 4))}), "a body model.*--body smplx:"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_is_no_recording_is_named_with_the_next_command(tmp_path: Path, name: str) -> None:
    data, message = FILES[name]
    (tmp_path / name).write_bytes(data)
    with pytest.raises(ReadError, match=rf"{name}: is {message}"):
        read_all(tmp_path / name)


def test_a_file_of_unknown_content_is_described_as_before(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("nothing")
    with pytest.raises(ReadError, match=r"is a text file: none of the layouts that are known \(amass-smplx, .*gvhmr"):
        read_all(tmp_path / "a.txt")


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("a.fbx", b"\0" * 99, r"an animation \(FBX\)"),
        ("a.mp4", b"not found", "a film"),
        ("a.pt", b"\x01x", "a file of"),
    ],
)
def test_a_file_that_is_not_what_its_name_says_is_told_by_its_name(tmp_path: Path, name, data, said) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(ReadError, match=rf"is called {said}.*, but does not begin as such files do"):
        read_all(tmp_path / name)


def test_control_characters_are_in_no_text(tmp_path: Path) -> None:
    (tmp_path / "a.data").write_bytes(b"\x01\x02 some bytes")
    with pytest.raises(ReadError, match="is a binary file"):
        read_all(tmp_path / "a.data")


def test_arrays_of_robots_are_named(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", joint_pos=np.zeros((3, 29)), body_pos_w=np.zeros((3, 5, 3)))
    with pytest.raises(ReadError, match=r"is a robot's motion \(npz\).*phuma import"):
        read_all(tmp_path / "a.npz")
    np.save(tmp_path / "b.npy", {"pred_cam_R": np.zeros((3, 3, 3)), "pred_cam_T": np.zeros((3, 3))}, allow_pickle=True)
    with pytest.raises(ReadError, match=r"is the camera of TRAM; name the tracks"):
        read_all(tmp_path / "b.npy")


def test_folders_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ReadError, match="is a folder; name a file"):
        read_all(tmp_path)
    (tmp_path / "dataset.json").write_text("{}")
    assert main(["inspect", str(tmp_path)]) != 0
    assert "is a dataset that is built already; run: phuma verify" in capsys.readouterr().err
    for command in ("curate", "build"):
        assert main([command, str(tmp_path), "--out", str(tmp_path / "out")]) == 2
        assert "is a dataset that is built already" in capsys.readouterr().err
    with pytest.raises(ConfigError):
        refuse_datasets([tmp_path])


@pytest.mark.parametrize("name", ["it's; touch x.m1v", 'a"; touch x; ".fbx', "a'); import os; ('.glb"])
def test_a_name_cannot_put_words_into_the_command(tmp_path: Path, name: str) -> None:
    """Whoever copies the command from the error runs the program that it names, and nothing else."""
    (tmp_path / name).write_bytes(FILES["a" + Path(name).suffix][0])
    with pytest.raises(ReadError) as error:
        read_all(tmp_path / name)
    film = name.endswith("m1v")
    command = error.value.problem.rpartition("convert it: " if film else "Blender: ")[2]
    words = shlex.split(command)
    assert words[:2] == (["ffmpeg", "-i"] if film else ["blender", "-b"])
    assert len(words) == 4
    assert "import os" not in words[-1]

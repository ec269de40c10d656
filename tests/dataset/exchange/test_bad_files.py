"""Files of strangers that are wrong: an error says which file, which value, and what was valid."""

from __future__ import annotations

import os
import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given

pytest.importorskip("mujoco")

from phuma.dataset.exchange import READ, export_motion, format_named, import_motion, recognise, table
from phuma.errors import ConfigError, PhumaError, ReadError
from phuma.formats.robot_motion_file import save_robot_motion
from phuma.io.probe import Probe
from phuma.robots import load_robot
from tests.dataset.exchange.made_up import FILES, made_up
from tests.fuzz import changes, damage, fuzzed, only_read_errors

BOTH = [name for name in READ if name in FILES]


@pytest.fixture(scope="module")
def robot():
    return load_robot("g1")


def content(robot, frames=3) -> dict:
    """A valid dictionary of the PHUMA dataset's kind."""
    motion = made_up(robot, frames=frames, fps=30.0)
    root_ori = np.roll(motion.root_quat, -1, axis=1)
    return {"root_trans": motion.root_pos.copy(), "root_ori": root_ori, "dof_pos": motion.joint_pos.copy(), "fps": 30}


def changed(values, at, value):
    out = np.array(values)
    out[at] = value
    return out


WRONG = {
    "too few joints": (
        lambda d: d | {"dof_pos": d["dof_pos"][:, :23]},
        "dof_pos has 23 joints; g1 has 29",
    ),
    "wrong shape": (
        lambda d: d | {"root_trans": d["root_trans"][:, :2]},
        r"root_trans has shape \(3, 2\); expected \(frames, 3\)",
    ),
    "no matrix": (
        lambda d: d | {"dof_pos": d["dof_pos"][0]},
        r"dof_pos has shape \(29,\); expected \(frames, 29\)",
    ),
    "frames differ": (
        lambda d: d | {"root_trans": d["root_trans"][:2]},
        "numbers of frames: root_trans 2, root_ori 3, dof_pos 3; they need to be the same, at least one",
    ),
    "no frames": (
        lambda d: {k: v if k == "fps" else v[:0] for k, v in d.items()},
        "numbers of frames: root_trans 0, root_ori 0, dof_pos 0; they need to be the same, at least one",
    ),
    "not finite": (
        lambda d: d | {"dof_pos": changed(d["dof_pos"], (1, 4), np.nan)},
        r"dof_pos holds nan at index \(1, 4\); every value must be finite",
    ),
    "zero quaternion": (
        lambda d: d | {"root_ori": changed(d["root_ori"], 2, 0.0)},
        r"root_ori of frame 2 has length 0; quaternions \(xyzw\) have length 1",
    ),
    "another quaternion order": (
        lambda d: d | {"root_ori": np.roll(d["root_ori"], 1, axis=1)},
        "root_ori tips the robot over when read as xyzw, as this layout has it, and not as wxyz",
    ),
    "degrees": (
        lambda d: d | {"dof_pos": changed(d["dof_pos"], (0, 0), -45.0)},
        "dof_pos reaches 45; expected at most 12.57 radians",
    ),
    "far away": (
        lambda d: d | {"root_trans": changed(d["root_trans"], (0, 0), 1e300)},
        r"root_trans holds 1e\+300 at index \(0, 0\); expected at most 1e\+09",
    ),
    "centimetres": (
        lambda d: d | {"root_trans": 100 * d["root_trans"]},
        "height in root_trans reaches 95; expected at most 10 metres above the ground",
    ),
    "rate": (lambda d: d | {"fps": 0}, "a frame rate of 0 is not plausible; expected between 5 and 1000"),
    "no rate": (lambda d: d | {"fps": "thirty"}, "fps is 'thirty'; expected a number"),
    "text": (lambda d: d | {"dof_pos": "none"}, "dof_pos is not an array of numbers"),
    "key": (
        lambda d: {k: v for k, v in d.items() if k != "dof_pos"},
        "holds no dof_pos; it has root_trans, root_ori, fps",
    ),
    "no dictionary": (lambda d: [d], "holds list; expected a dictionary of root_trans, root_ori, dof_pos, fps"),
}


@pytest.mark.parametrize("case", list(WRONG))
def test_wrong_dictionaries(tmp_path, robot, case):
    change, message = WRONG[case]
    wrong = change(content(robot))
    holder = np.empty((), dtype=object)
    holder[()] = wrong
    np.save(tmp_path / "a.npy", holder, allow_pickle=True)
    with pytest.raises(ReadError, match=r"a\.npy: " + message):
        import_motion(tmp_path / "a.npy", robot)
    if not isinstance(wrong, dict):
        return
    names = {"root_trans": "root_pos", "root_ori": "root_rot"}
    (tmp_path / "a.pkl").write_bytes(pickle.dumps({names.get(k, k): v for k, v in wrong.items()}))
    for old, new in names.items():
        message = message.replace(old, new)
    with pytest.raises(ReadError, match=r"a\.pkl: " + message):
        import_motion(tmp_path / "a.pkl", robot)


class Bomb:
    """A pickle that would run a command."""

    def __reduce__(self):
        return os.system, ("touch exploded",)


@pytest.mark.parametrize("name", ["phuma", "gmr"])
def test_pickles_execute_nothing(tmp_path, robot, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "a"
    if name == "phuma":
        with open(path, "wb") as f:
            np.save(f, content(robot) | {"fps": Bomb()}, allow_pickle=True)
    else:
        path.write_bytes(pickle.dumps(Bomb()))
    with pytest.raises(ReadError, match=r"a: is a pickle that asks for \w+\.system; only plain data is read"):
        import_motion(path, robot)
    assert not (tmp_path / "exploded").exists()


def lines(robot, frames=3) -> list[str]:
    d = content(robot, frames)
    rows = np.concatenate([d["root_trans"], d["root_ori"], d["dof_pos"]], axis=1)
    return [",".join(f"{v:.6f}" for v in row) for row in rows]


WRONG_TABLES = {
    "other robot": (
        lambda t: [line.rsplit(",", 2)[0] for line in t],
        "line 1 has 34 columns; expected 36: 7 of the root and the 29 joints of g1",
    ),
    "torn": (lambda t: [*t[:2], t[2][:50]], r"line 3 has \d columns; expected 36"),
    "header": (
        lambda t: [",".join(["Frame", *["root_translateX"] * 35]), *t],
        "begins with a header .'Frame,root_translateX.*; tables of format csv have none",
    ),
    "words": (lambda t: [t[0], t[1].replace(",", ",x", 1)], r"line 2 holds 'x0\.\d+'; expected numbers"),
    "not finite": (
        lambda t: [t[0].rsplit(",", 1)[0] + ",inf"],
        r"joints holds inf at index \(0, 28\); every value must be finite",
    ),
    "zero quaternion": (
        lambda t: [",".join([*t[0].split(",")[:3], *"0000", *t[0].split(",")[7:]])],
        r"root qx qy qz qw of frame 0 has length 0; quaternions \(xyzw\) have length 1",
    ),
    "nothing": (lambda t: ["", " "], "numbers of frames: root x y z 0, .*at least one"),
}


@pytest.mark.parametrize("case", list(WRONG_TABLES))
def test_wrong_tables(tmp_path, robot, case):
    change, message = WRONG_TABLES[case]
    (tmp_path / "a.csv").write_text("\n".join(change(lines(robot))))
    with pytest.raises(ReadError, match=r"a\.csv: " + message):
        import_motion(tmp_path / "a.csv", robot, "csv")


def test_tables_may_have_a_mark_blank_lines_and_other_line_ends(tmp_path, robot):
    (tmp_path / "a.csv").write_bytes(b"\xef\xbb\xbf" + "\r\n".join([*lines(robot), "", ""]).encode())
    assert len(import_motion(tmp_path / "a.csv", robot, "csv")) == 3


def test_tables_are_not_read_when_too_large_or_no_text(tmp_path, robot, monkeypatch):
    path = tmp_path / "a.csv"
    path.write_bytes(b"1,2\xff\n")
    with pytest.raises(ReadError, match=r"a\.csv: is not a table: it is not text in UTF-8"):
        import_motion(path, robot, "csv")
    with pytest.raises(ReadError, match=r"b\.csv: cannot be opened: No such file"):
        import_motion(tmp_path / "b.csv", robot, "csv")
    monkeypatch.setattr(table, "MAX_BYTES", 3)
    with pytest.raises(ReadError, match=r"a\.csv: has 5 bytes; tables of at most 3 are read"):
        import_motion(path, robot, "csv")


def without_names(d: dict) -> dict:
    return {k: v for k, v in d.items() if not k.endswith("_names")}


WRONG_TRACKING = {
    "root in joint_pos": (
        lambda d: without_names(d) | {"joint_pos": np.zeros((3, 36))},
        r"joint_pos has shape \(3, 36\); expected \(frames, 29\): the joints of g1, without the root",
    ),
    "world among the bodies": (
        lambda d: without_names(d) | {k: np.repeat(d[k], 2, 1)[:, :31] for k in ("body_pos_w", "body_quat_w")},
        "has 31 bodies without names; g1 has 30",
    ),
    "flat": (
        lambda d: d | {"body_pos_w": d["body_pos_w"].reshape(3, -1)},
        r"body_pos_w has shape \(3, 90\) and body_quat_w \(3, 30, 4\); expected \(T, B, 3\) and \(T, B, 4\)",
    ),
    "text": (
        lambda d: d | {"body_pos_w": d["body_pos_w"].astype(str)},
        "joint_pos, body_pos_w and body_quat_w are not all numbers",
    ),
    "names too few": (
        lambda d: d | {"joint_names": d["joint_names"][1:]},
        "joint_names has 28 names; joint_pos has 29",
    ),
    "other names": (
        lambda d: d | {"joint_names": np.array(["tail", *d["joint_names"][1:]])},
        "has no joint 'left_hip_pitch_joint' of g1; it has tail, left_hip_roll_joint",
    ),
    "no root": (
        lambda d: d | {"body_names": np.array(["world", *d["body_names"][1:]])},
        "has no body 'pelvis' of g1; it has world, left_hip_pitch_link",
    ),
    "not finite": (
        lambda d: d | {"body_pos_w": changed(d["body_pos_w"], (1, 7, 0), np.nan)},
        "bodies are nan cm on average from where the joints put them",
    ),
    "zero quaternion": (
        lambda d: d | {"body_quat_w": np.zeros_like(d["body_quat_w"])},
        r"body_quat_w of frame 0 has length 0; quaternions \(wxyz\) have length 1",
    ),
    "rate": (lambda d: d | {"fps": np.array([50, 50])}, r"fps is '\[50 50\]'; expected a number"),
}


@pytest.mark.parametrize("case", list(WRONG_TRACKING))
def test_wrong_tracking_files(tmp_path, robot, case):
    change, message = WRONG_TRACKING[case]
    export_motion(made_up(robot, frames=3), robot, tmp_path / "good", "mjlab")
    np.savez(tmp_path / "a.npz", **change(dict(np.load(tmp_path / "good"))))
    with pytest.raises(ReadError, match=r"a\.npz: " + message):
        import_motion(tmp_path / "a.npz", robot)


def test_the_robot_must_be_the_right_one(tmp_path, robot):
    other = load_robot("h1_2")
    for name in BOTH:
        export_motion(made_up(robot), robot, tmp_path / "a", name)
        with pytest.raises(ReadError, match=r"36|29|23|left_hip_pitch|no joint"):
            import_motion(tmp_path / "a", other, name)
    with pytest.raises(PhumaError, match="no joint 'left_hip_pitch_joint' in this motion"):
        export_motion(replace(made_up(robot), joint_names=tuple(map(str, range(29)))), robot, tmp_path / "b", "csv")
    assert not (tmp_path / "b").exists()


def test_what_is_not_known_is_said(tmp_path, robot):
    (tmp_path / "empty").write_bytes(b"")
    with pytest.raises(ReadError, match="empty: is empty"):
        import_motion(tmp_path / "empty", robot)
    np.savez(tmp_path / "a.npz", angles=np.zeros((4, 3)))
    known = r"is a npz file with angles \(4, 3\): none of the robot layouts that are read \(phuma, csv, kimodo, "
    with pytest.raises(ReadError, match=known):
        recognise(Probe(tmp_path / "a.npz"))
    save_robot_motion(tmp_path / "own.npz", made_up(robot))
    with pytest.raises(ReadError, match="is a robot motion of this program already; nothing needs to be imported"):
        import_motion(tmp_path / "own.npz", robot)
    with pytest.raises(ConfigError, match="unknown format 'fbx'; there are: phuma, csv, kimodo, bones-seed, mjlab"):
        format_named("fbx")
    with pytest.raises(ConfigError, match="format 'beyondmimic' is only written; read are: phuma, csv, kimodo, "):
        import_motion(tmp_path / "own.npz", robot, "beyondmimic")
    with pytest.raises(ConfigError, match="format 'kimodo' is only read; written are: phuma, csv, mjlab, "):
        export_motion(made_up(robot), robot, tmp_path / "b", "kimodo")


@pytest.mark.parametrize("name", BOTH)
@given(edits=changes)
@fuzzed
def test_damaged_files_give_errors_and_nothing_else(tmp_path, robot, name, edits):
    export_motion(made_up(robot, frames=2), robot, tmp_path / "good", name)
    (tmp_path / "bad").write_bytes(damage((tmp_path / "good").read_bytes(), edits))
    only_read_errors(ReadError, lambda: import_motion(tmp_path / "bad", robot, name))

"""The demo's policy on a robot that it was not trained on, by the code in docs/formats/policy.md and its metadata."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
import mujoco
import onnx
import onnxruntime

from phuma.cli.demo import POLICY, TRACKED
from phuma.formats.robot_motion_file import load_robot_motion
from phuma.learning.deploy.onnx_policy import load_onnx
from phuma.learning.deploy.reference_file import save_reference
from phuma.learning.motions.library import library_of
from phuma.sim.model import passive_joints
from tests.conftest import ROOT

FILE = POLICY / "policy.onnx"
NEAR = 0.03
"""m, mean over frames and key bodies; it was 0.025 when this was written"""


@pytest.fixture(scope="module")
def loop():
    """The documented code."""
    page = (ROOT / "docs" / "formats" / "policy.md").read_text()
    there: dict = {"np": np, "json": json, "mujoco": mujoco}
    for code in re.findall(r"```python\n(.*?)```", page, re.DOTALL):
        exec(code, there)
    return there["loop"]


@pytest.fixture(scope="module")
def motion(g1, tmp_path_factory):
    path = tmp_path_factory.mktemp("motion") / "motion.npz"
    squat = load_robot_motion(POLICY / f"{TRACKED}.npz")
    save_reference(path, library_of(g1, [(TRACKED, squat, None)]), 0, load_onnx(FILE).info)
    return dict(np.load(path))


def on_a_floor(path: Path):
    """A model of a robot with a floor, at MuJoCo's usual step."""
    spec = mujoco.MjSpec.from_file(str(path))
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 1])
    spec.option.timestep = 0.002
    return spec.compile()


def distance(model, qpos, motion, bodies) -> float:
    """Mean distance in m of bodies from where the motion has them, over all frames."""
    data, columns = mujoco.MjData(model), [model.joint(str(name)).qposadr[0] for name in motion["joint_names"]]

    def places(frame):
        data.qpos[:] = frame
        mujoco.mj_kinematics(model, data)
        return np.array([data.body(name).xpos for name in bodies])

    off = []
    for t, reached in enumerate(qpos):
        wanted = np.zeros(model.nq)
        wanted[:7] = *motion["root_pos"][t], *motion["root_quat"][t]
        wanted[columns] = motion["joint_pos"][t]
        off.append(np.linalg.norm(places(reached) - places(wanted), axis=1).mean())
    return float(np.mean(off))


@pytest.mark.parametrize("whose", ["ours", "menagerie's"])
def test_the_demo_s_squat_is_tracked_by_metadata_alone(g1, loop, motion, whose):
    if whose == "ours":
        file = g1.model_file
    elif "PHUMA_MENAGERIE" in os.environ:
        file = Path(os.environ["PHUMA_MENAGERIE"]) / "unitree_g1" / "g1.xml"
    else:
        pytest.skip("PHUMA_MENAGERIE names no copy of mujoco_menagerie")
    model = on_a_floor(file)
    qpos = loop(model, onnxruntime.InferenceSession(FILE), motion)
    assert len(qpos) == len(motion["joint_pos"])
    assert np.ptp(motion["root_pos"][:, 2]) > 0.1, "it is a squat"
    assert distance(model, qpos, motion, g1.key_bodies) < NEAR


def test_metadata_tells_what_the_joints_do_by_themselves(g1):
    info = load_onnx(FILE).info
    for name, values in passive_joints(g1)._asdict().items():
        assert getattr(info, name) == tuple(values.tolist())
    assert info.armature == tuple(g1.armature.tolist())


def test_an_older_file_does_not_tell_and_is_read(tmp_path):
    """Version 1, which has no stage, and the first files of version 2."""
    for version, lacking in ((1, {"stage", "differences", "history"}), (2, {"history"})):
        model = onnx.load(FILE)
        gone = {"armature", "friction_loss", "passive_damping", *lacking}
        kept = {entry.key: entry.value for entry in model.metadata_props if entry.key not in gone}
        del model.metadata_props[:]
        onnx.helper.set_model_props(model, kept | {"format_version": str(version)})
        (tmp_path / "older.onnx").write_bytes(model.SerializeToString())
        info = load_onnx(tmp_path / "older.onnx").info
        assert (info.armature, info.friction_loss, info.stage, info.history) == ((), (), "policy", 1)

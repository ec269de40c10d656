"""Clips survive the disk, carry no model of anybody's, and damaged ones say so."""

import json
from dataclasses import replace

import numpy as np
import pytest

from phuma.core.clip import Clip
from phuma.core.curation_metrics import CURATION_METRICS
from phuma.curation import CurateCfg, curate
from phuma.errors import PhumaError, ReadError
from phuma.formats.clip_file import load_clip, save_clip
from phuma.io.probe import Probe
from phuma.sources import read
from phuma.synth import generate
from tests.sources.bvh_files import bvh_text


@pytest.fixture
def clip() -> Clip:
    return curate(generate("kick", seconds=4.0, seed=2).motion, CurateCfg(contacts="stance")).clips[0]


def assert_same(a: Clip, b: Clip) -> None:
    np.testing.assert_allclose(a.motion.root_pos, b.motion.root_pos, atol=1e-6)
    np.testing.assert_allclose(a.motion.joint_quat, b.motion.joint_quat, atol=1e-6)
    np.testing.assert_allclose(a.motion.sole_positions(), b.motion.sole_positions(), atol=1e-5)
    np.testing.assert_allclose(a.contact.ratio, b.contact.ratio, atol=1e-6)
    np.testing.assert_allclose(a.contact.paper, b.contact.paper, atol=1e-6)
    assert a.motion.provenance == b.motion.provenance
    assert a.verdict == b.verdict
    assert (a.motion.fps, a.ground, a.start) == (b.motion.fps, b.ground, b.start)


def test_what_is_saved_is_loaded(tmp_path, clip):
    save_clip(tmp_path / "a.npz", clip)
    loaded = load_clip(tmp_path / "a.npz")
    assert_same(loaded, clip)
    save_clip(tmp_path / "b.npz", loaded)
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


def test_mirrored_clips_and_own_skeletons_survive_too(tmp_path, clip):
    save_clip(tmp_path / "a.npz", clip.mirror())
    assert_same(load_clip(tmp_path / "a.npz"), clip.mirror())
    (tmp_path / "m.bvh").write_text(bvh_text(generate("walk", seconds=4.0, seed=1).motion))
    own = curate(read(tmp_path / "m.bvh")).clips[0].mirror()
    save_clip(tmp_path / "b.npz", own)
    assert_same(load_clip(tmp_path / "b.npz"), own)


def test_every_posed_joint_is_stored_for_those_who_have_no_body(tmp_path, clip):
    save_clip(tmp_path / "a.npz", clip)
    with np.load(tmp_path / "a.npz") as data:
        np.testing.assert_allclose(data["joints"], clip.motion.pose.position, atol=1e-5)
        assert data["joints"].dtype == np.float32


def test_a_licensed_model_stays_at_home(tmp_path, clip):
    """Rest joints and soles of a SMPL-X body are in no clip; joints come back from where they were, soles do not."""
    body = replace(clip.motion.body, name="smplx:0123456789ab", shape={"beta0": 0.5})
    save_clip(tmp_path / "a.npz", replace(clip, motion=replace(clip.motion, body=body)))
    with np.load(tmp_path / "a.npz") as data:
        assert not [name for name in data if name.startswith("body")]
        assert "0123456789ab" in str(data["meta"])
    loaded = load_clip(tmp_path / "a.npz").motion
    np.testing.assert_allclose(loaded.pose.position, clip.motion.pose.position, atol=1e-5)
    with pytest.raises(PhumaError, match="Give the file again"):
        loaded.sole_positions()


def test_a_damaged_clip_is_an_error_that_names_it(tmp_path, clip):
    path = tmp_path / "a.npz"
    save_clip(path, clip)
    whole = path.read_bytes()
    for length in range(0, len(whole), len(whole) // 60):
        path.write_bytes(whole[:length])
        with pytest.raises(ReadError, match=r"a\.npz"):
            load_clip(path)


def test_a_newer_version_says_how_to_get_the_program_that_reads_it(tmp_path, clip):
    save_clip(tmp_path / "a.npz", clip)
    with np.load(tmp_path / "a.npz") as data:
        arrays = dict(data) | {"version": np.int64(99)}
    np.savez(tmp_path / "b.npz", **arrays)
    with pytest.raises(ReadError, match=r"version 99, newer than this program's 3: pip install -U phuma"):
        load_clip(tmp_path / "b.npz")


def test_a_clip_is_no_recording(tmp_path, clip):
    save_clip(tmp_path / "a.npz", clip)
    with pytest.raises(ReadError, match="curated already"):
        read(tmp_path / "a.npz")
    assert Probe(tmp_path / "a.npz").kind == "npz"


def test_contacts_of_another_length_are_refused(clip):
    with pytest.raises(PhumaError, match="has contacts of 119 frames"):
        Clip(clip.motion, clip.contact.frames(0, 119), clip.verdict, clip.ground)


def rewritten(path, version, measures):
    """The same file with another version and other measures."""
    with np.load(path) as data:
        arrays = dict(data)
    meta = json.loads(str(arrays["meta"])) | {"measures": measures}
    np.savez(path, **arrays | {"version": np.int64(version), "meta": json.dumps(meta)})


def test_a_clip_of_version_2_has_one_kind_of_contacts(tmp_path, clip):
    save_clip(tmp_path / "a.npz", clip)
    with np.load(tmp_path / "a.npz") as data:
        assert (data["contact"] != data["contact_paper"]).any()
        arrays = {name: data[name] for name in data if name != "contact_paper"} | {"version": np.int64(2)}
    np.savez(tmp_path / "b.npz", **arrays)
    before = load_clip(tmp_path / "b.npz").contact
    np.testing.assert_array_equal(before.paper, before.ratio)
    np.testing.assert_array_equal(before.ratio, clip.contact.ratio)


def test_a_clip_of_version_1_is_read_and_its_metrics_have_the_names_of_today(tmp_path, clip):
    save_clip(tmp_path / "a.npz", clip)
    force = {"name": "helping_force", "value": 0.42, "limit": 0.15, "bound": "below", "unit": " body weights"}
    jerk = {"name": "root_jerk", "value": 5.0, "limit": 50.0, "bound": "below", "unit": " m/s^3"}
    rewritten(tmp_path / "a.npz", 1, [force, jerk])
    loaded = load_clip(tmp_path / "a.npz")
    assert loaded.verdict.metrics == {"external_support_force": 0.42, "root_jerk": 5.0}
    assert [m.metric for m in loaded.verdict.measures] == [
        CURATION_METRICS[name] for name in ("external_support_force", "root_jerk")
    ]
    assert loaded.verdict.reasons == (
        "external_support_force: a force of 42 % of the body weight, held for a second, comes from elsewhere than the "
        "ground (at most 15 %)",
    )


def test_a_metric_that_is_declared_elsewhere_is_told_as_the_file_has_it(tmp_path, clip):
    save_clip(tmp_path / "a.npz", clip)
    grace = {"name": "grace", "value": 2.0, "limit": 3.0, "bound": "above", "unit": "swans"}
    rewritten(tmp_path / "a.npz", 2, [grace])
    loaded = load_clip(tmp_path / "a.npz")
    assert loaded.verdict.reasons == ("grace: 2 swans, needs > 3 swans",)
    save_clip(tmp_path / "b.npz", loaded)
    assert load_clip(tmp_path / "b.npz").verdict == loaded.verdict

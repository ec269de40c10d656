"""A certificate is what a fresh simulation shows, of one motion or of a dataset, whoever asks and how often."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("mujoco")
pytest.importorskip("numba")
pytest.importorskip("duckdb")

import phuma
from phuma.control.bundle import strands_of
from phuma.control.dynamics import SUBSTEPS
from phuma.dataset.dataset import Dataset
from phuma.dataset.verify import verify
from phuma.errors import ConfigError
from phuma.formats.rollout_file import load_rollout, save_rollout
from phuma.pipelines.certify import CertifyCfg, certify
from phuma.pipelines.certify_dataset import certify_dataset
from phuma.runtime.process_pool import Done
from phuma.sim.coordinates import Coordinates
from phuma.sim.feedback import Strands
from phuma.sim.mujoco_cpu import MujocoSimulation
from tests.dataset.tiny import copied, here, least
from tests.learning.sample_motions import dip, robot_motion, stand

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def certificate(g1):
    return certify(dip(g1), g1, gains=True, name="dip")


def test_a_knee_bend_is_certified(g1, certificate):
    assert certificate.certified
    assert certificate.loosely
    assert certificate.reason is None
    assert certificate.error_mm < 10
    assert certificate.robust_pushes > 50
    assert certificate.values == phuma.certify(dip(g1), "g1", name="dip").values


def test_a_file_holds_all_that_makes_it_happen_again(g1, certificate, tmp_path):
    """From the first state of the file, the file's targets lead through the file's states, to the end."""
    save_rollout(tmp_path / "dip.npz", certificate.performance)
    stored = load_rollout(tmp_path / "dip.npz")
    assert stored.report == certificate.values
    simulation = MujocoSimulation(g1, 1, SUBSTEPS, threads=1)
    simulation.restore(stored.qpos[:1], stored.velocity[:1])
    for t, target in enumerate(stored.target):
        simulation.step(target[None])
        np.testing.assert_allclose(simulation.qpos[0], stored.qpos[t + 1], atol=1e-6)
    simulation.close()
    assert stored.gains.shape == (len(stored) - 1, g1.n_joints, 2 * (6 + g1.n_joints))


def test_forces_bear_the_robot_and_motors_stay_within_their_limits(g1, certificate):
    performance = certificate.performance
    weight = 9.81 * 33.3
    vertical = performance.foot_force[:, :, 2].sum(axis=1)
    assert vertical[10:].mean() == pytest.approx(weight, rel=0.15)
    assert (np.abs(performance.torque) <= g1.torque_limit * (1 + 1e-9)).all()


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda root: root + [0, 0, 0.8], "lost at .* body weights that nobody gives"),
        (lambda root: root + np.linspace(0, 1, len(root))[:, None] * [0, 0, 6], "lost at"),
        (lambda root: np.concatenate([root[:15], root[15:] + [3, 0, 0]]), "cannot be followed: it jumps at"),
    ],
)
def test_what_cannot_be_is_told_with_its_reason(g1, change, reason):
    """It begins in the air, flies off, jumps."""
    still = stand(g1)
    moved = robot_motion(g1, change(still.root_pos), still.root_quat, still.joint_pos)
    found = certify(moved, g1, "quick")
    assert not found.certified
    assert not found.loosely
    assert re.search(reason, found.reason), found.reason


def test_a_motion_that_begins_in_the_floor_is_performed_or_told(g1):
    still = stand(g1)
    found = certify(replace(still, root_pos=still.root_pos - [0, 0, 0.1]), g1, "quick")
    assert found.certified or found.reason


def test_a_bundle_comes_back_from_beside_the_motion(g1, tmp_path):
    """Each begins off the performance, follows from its own targets, and stays up; along each that arrives there is
    feedback, for which it is no deviation."""
    found = certify(dip(g1), g1, bundle=2, name="dip")
    save_rollout(tmp_path / "dip.npz", found.performance)
    performance = load_rollout(tmp_path / "dip.npz")
    bundle = performance.bundle
    assert len(bundle) == 2
    assert bundle.whole.sum() >= 1
    strands = strands_of(performance, g1)
    assert len(strands) == 1 + bundle.whole.sum()
    ways, both = iter(strands[1:]), Strands([strands])
    ends = np.cumsum(bundle.frames).astype(int)
    for n, (first, frames, end) in enumerate(zip(bundle.first.astype(int), bundle.frames.astype(int), ends)):
        qpos, qvel = bundle.qpos[end - frames : end], bundle.qvel[end - frames : end]
        targets = bundle.target[end - frames - n : end - n - 1]
        assert np.abs(qvel[0] - performance.velocity[first]).max() > 0.01
        simulation = MujocoSimulation(g1, 1, SUBSTEPS, threads=1)
        simulation.restore(qpos[:1], qvel[:1])
        for t, target in enumerate(targets):
            simulation.step(target[None])
            np.testing.assert_allclose(simulation.qpos[0], qpos[t + 1], atol=1e-5)
        simulation.close()
        if bundle.whole[n]:
            begin, own = next(ways)
            assert (begin, len(own)) == (first, len(targets))
            aimed, cost = both.aim(Coordinates(qpos[:1], qvel[:1]), np.array([0]), np.array([first]))
            np.testing.assert_allclose(aimed[0], targets[0], atol=1e-3)
            assert cost < 1e-3
            assert abs(qpos[-1, 2] - performance.root_pos[first + len(targets), 2]) < 0.05


def test_no_such_effort():
    with pytest.raises(ConfigError, match="unknown effort 'much'; there are: quick, normal, thorough"):
        CertifyCfg("much")


def content(root):
    return {p.relative_to(root): p.read_bytes() for p in sorted(root.rglob("*")) if p.is_file() and p.name != ".lock"}


@pytest.fixture(scope="module")
def certified(tmp_path_factory):
    root = copied(least(tmp_path_factory.getbasetemp()), tmp_path_factory.mktemp("certified") / "a")
    assert certify_dataset(root, CertifyCfg("quick"), here) == []
    return root


def test_a_dataset_says_what_is_certified_and_is_whole(certified):
    (row,) = Dataset(certified).rows("certified")
    assert row["certified_effort"] == "quick"
    assert row["certified_reason"] is None
    (entry,) = Dataset(certified).entries("certified")
    assert entry.performance().motion == entry.id
    assert [fault for fault in verify(certified) if fault.grave] == []
    for rejected in Dataset(certified).rows("NOT kept"):
        assert rejected["certified"] is None


def test_what_is_done_is_not_done_again_and_the_bytes_are_the_same(certified, tmp_path):
    before = content(certified)

    def nobody(work, items):
        assert not items
        return iter(())

    certify_dataset(certified, CertifyCfg("quick"), nobody)
    assert content(certified) == before


def test_whoever_is_killed_leaves_a_dataset_that_ends_the_same(certified, tmp_path_factory):
    """The record is written last: without it the files do not count, whole or not."""
    root = copied(least(tmp_path_factory.getbasetemp()), tmp_path_factory.mktemp("killed") / "a")

    class Killed(Exception):
        pass

    def killed(work, items):
        from phuma.dataset import amend

        def die(*_):
            raise Killed

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(amend, "save_record", die)
            yield Done(0, work(items[0]), None)

    with pytest.raises(Killed):
        certify_dataset(root, CertifyCfg("quick"), killed)
    assert not Dataset(root).rows("certified")
    certify_dataset(root, CertifyCfg("quick"), here)
    assert content(root) == content(certified)


def test_a_performance_that_was_damaged_is_named_and_done_again(certified, tmp_path):
    root = copied(certified, tmp_path / "a")
    (file,) = (root / "certified").rglob("*.npz")
    file.write_bytes(b"nothing")
    (fault,) = [fault for fault in verify(root) if fault.grave]
    assert "certify" in fault.mend
    certify_dataset(root, CertifyCfg("quick"), here)
    assert content(root) == content(certified)


def test_a_greater_effort_is_only_made_for_what_is_not_certified(certified):
    def nobody(work, items):
        assert not items
        return iter(())

    certify_dataset(certified, CertifyCfg("thorough"), nobody)


def test_nothing_to_certify_is_an_error(certified):
    with pytest.raises(ConfigError, match="no kept clip under \"category = 'run'\"; nothing to certify"):
        certify_dataset(certified, CertifyCfg(), here, where="category = 'run'")

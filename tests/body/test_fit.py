from __future__ import annotations

import numpy as np
import pytest

from phuma.body import OPEN_SPACE, OpenShape, ShapeSpace, open_body
from phuma.body.choice import SmplShape, choose_body
from phuma.body.fit import fit_open_shape
from phuma.core import rotations as rot
from phuma.core.skeleton import N_JOINTS
from tests.planted import squat, walk


@pytest.mark.parametrize("fps", [30.0, 120.0])
@pytest.mark.parametrize("stature", [1.55, 1.72, 1.9])
@pytest.mark.parametrize("make", [walk, squat])
def test_leg_length_is_found_where_feet_stand(make, stature: float, fps: float) -> None:
    truth = open_body(OpenShape(stature=stature))
    motion = make(truth, seconds=6.0, fps=fps)
    shape, fit = fit_open_shape(motion.root_pos, motion.joint_quat, fps)
    assert abs(open_body(shape).leg_length - truth.leg_length) < (0.005 if make is walk else 0.03)
    assert fit.slip_after <= fit.slip_before + 0.005


def test_jitter_does_not_make_people_shorter() -> None:
    """Noise makes every foot move; a fit that takes it for sliding shrinks the legs until nothing moves."""
    truth = open_body(OpenShape(stature=1.9))
    motion = walk(truth, seconds=10.0, fps=60.0)
    rng = np.random.default_rng(0)
    quat = rot.multiply(motion.joint_quat, rot.from_rotvec(rng.normal(0, 0.005, (*motion.joint_quat.shape[:2], 3))))
    shape, _ = fit_open_shape(motion.root_pos + rng.normal(0, 0.003, motion.root_pos.shape), quat, motion.fps)
    assert abs(open_body(shape).leg_length - truth.leg_length) < 0.02


def test_the_average_body_stays_when_nothing_is_known() -> None:
    still = np.tile(rot.IDENTITY, (60, N_JOINTS, 1))
    shape, _ = fit_open_shape(np.zeros((60, 3)), still, 30.0)
    assert shape.stature == pytest.approx(OpenShape().stature, abs=1e-3)
    shape, _ = fit_open_shape(np.zeros((1, 3)), still[:1], 30.0)
    assert shape == OpenShape()


def test_a_constant_shift_or_turn_of_the_world_changes_nothing() -> None:
    motion = walk(open_body(OpenShape(stature=1.85)))
    shape, _ = fit_open_shape(motion.root_pos, motion.joint_quat, 30.0)
    yaw = rot.from_axis("z", 1.1)
    quat = motion.joint_quat.copy()
    quat[:, 0] = rot.multiply(yaw, quat[:, 0])
    other, _ = fit_open_shape(rot.rotate(yaw, motion.root_pos) + np.array([5, -3, 1]), quat, 30.0)
    assert other.lengths() == pytest.approx(shape.lengths(), abs=1e-6)


def person_space() -> ShapeSpace:
    """A shape space of a person's proportions with two betas: size, and legs alone."""
    average = OpenShape().lengths()
    legs = average * (np.arange(len(average)) == 1)
    modes = np.stack([0.04 * average, 0.02 * legs], axis=1)
    return ShapeSpace(
        name="smplx:0123456789ab", params=("beta0", "beta1"), joints=OPEN_SPACE.joint_dirs @ average,
        joint_dirs=OPEN_SPACE.joint_dirs @ modes, soles=OPEN_SPACE.sole_dirs @ average,
        sole_dirs=OPEN_SPACE.sole_dirs @ modes, sole_weights=OPEN_SPACE.sole_weights,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("shape", "why"),
    [
        (SmplShape("smplh", np.full(16, 2.0)), "SMPL+H betas are not SMPL-X's"),
        (SmplShape("smpl", np.full(10, 2.0)), "SMPL betas are not SMPL-X's"),
        (SmplShape("smplx", None), "no shape in the recording"),
    ],
)
@pytest.mark.parametrize("beta", [-1.5, 1.5])
def test_betas_of_another_model_are_not_used_but_fitted(monkeypatch, shape: SmplShape, why: str, beta: float) -> None:
    space = person_space()
    monkeypatch.setattr("phuma.body.choice.load_smplx", lambda path, gender: space)
    truth = space.body([beta, 0.5])
    motion = walk(truth)
    body, notes = choose_body("smplx:model.npz", shape, motion.root_pos, motion.joint_quat, motion.fps)
    assert abs(body.leg_length - truth.leg_length) < 0.03
    assert len(notes) == 1
    assert notes[0].startswith(f"{why}: SMPL-X fitted, beta0")

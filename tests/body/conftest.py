"""A made-up model file with SMPL-X's real keys and sizes."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse

VERTICES, JOINTS = 10475, 55
HAND = [20, 25, 26, 20, 28, 29, 20, 31, 32, 20, 34, 35, 20, 37, 38]
PARENTS = [-1, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 9, 12, 13, 14, 16, 17, 18, 19, 15, 15, 15]
PARENTS += HAND + [21 if p == 20 else p + 15 for p in HAND]


def random_model(shapes: int = 400) -> dict[str, np.ndarray]:
    """Nothing like a person, but well-formed: every weight and every blend shape is in use."""
    rng = np.random.default_rng(7)
    regressor = np.zeros((JOINTS, VERTICES))
    weights = np.zeros((VERTICES, JOINTS))
    for row in regressor:
        row[rng.choice(VERTICES, 30, replace=False)] = rng.dirichlet(np.ones(30))
    joints = np.argsort(rng.random((VERTICES, JOINTS)), axis=1)[:, :6]
    np.put_along_axis(weights, joints, rng.dirichlet(np.ones(6), VERTICES), axis=1)
    kintree = np.array([PARENTS, range(JOINTS)], dtype=np.int64) % 2**32
    return {
        "v_template": rng.normal(scale=0.5, size=(VERTICES, 3)).astype(np.float32),
        "shapedirs": 0.02 * rng.standard_normal((VERTICES, 3, shapes), dtype=np.float32),
        "posedirs": 0.01 * rng.standard_normal((VERTICES, 3, 486), dtype=np.float32),
        "J_regressor": regressor,
        "weights": weights,
        "kintree_table": kintree.astype(np.uint32),
        "f": np.zeros((10, 3), dtype=np.uint32),
    }


@pytest.fixture(scope="session")
def model() -> dict[str, np.ndarray]:
    return random_model()


@pytest.fixture(scope="session")
def model_npz(model, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("models") / "SMPLX_NEUTRAL.npz"
    np.savez(path, part2num=np.array({"an": "object"}, dtype=object), **model)
    return path


@pytest.fixture(scope="session")
def small_model() -> dict[str, np.ndarray]:
    return random_model(shapes=20)


@pytest.fixture(scope="session")
def model_pkl(small_model, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("models") / "SMPLX_NEUTRAL.pkl"
    content = {**small_model, "J_regressor": scipy.sparse.csc_matrix(small_model["J_regressor"])}
    path.write_bytes(pickle.dumps(content, 2))
    return path
